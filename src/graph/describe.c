/* Writing graphs into growing strings.  A failed allocation is remembered in the string and
 * reported once, at the end. */
#include "graph/describe.h"

#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "graph/op.h"

enum { PIECE = 256 };

static void append(dpi_bytes *s, const char *text)
{
    dpi_bytes_add(s, text, strlen(text));
}

static void print(dpi_bytes *s, const char *format, ...) DPI_PRINTF(2, 3);

/* Appends at most PIECE - 1 characters. */
static void print(dpi_bytes *s, const char *format, ...)
{
    char piece[PIECE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    append(s, piece);
}

/* Appends blanks until the line that began at `start` has `width` columns, but at least one. */
static void pad_to(dpi_bytes *s, size_t start, size_t width)
{
    do
        append(s, " ");
    while (!s->failed && s->n - start < width);
}

static dp_status finish(dpi_bytes *s, char **text, dp_error *err)
{
    dpi_bytes_add(s, "", 1);
    *text = s->failed ? NULL : (char *)s->at;
    if (!s->failed)
        return DP_OK;
    dpi_bytes_free(s);
    return dpi_fail_nomem(err);
}

/* Text that may hold anything, with control characters as '?', and with '"' and '\' escaped for a
 * quoted string of Graphviz. */
static void append_name(dpi_bytes *s, const char *name, bool for_dot)
{
    for (; *name != 0; name++) {
        char c = (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name;
        if (for_dot && (c == '"' || c == '\\'))
            append(s, "\\");
        append(s, (const char[]){c, 0});
    }
}

/* A number without the locale's decimal point. */
static void append_number(dpi_bytes *s, double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", value);
    for (char *c = text; *c != 0; c++)
        if (strchr("0123456789+-.einfa", *c) == NULL)
            *c = '.';
    append(s, text);
}

static bool is_chosen(const bool *chosen, size_t i)
{
    return chosen == NULL || chosen[i];
}

/* varies[i]: the node depends on an input.  NULL when memory is out. */
static bool *varying_nodes(const dpi_graph *g)
{
    bool *varies = dpi_alloc(g->n_nodes, sizeof *varies);
    for (size_t i = 0; varies != NULL && i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        varies[i] = dpi_is_input(node);
        for (int k = 0; k < node->op->n_inputs; k++)
            varies[i] = varies[i] || varies[node->in[k]];
    }
    return varies;
}

static bool is_crossing(const dpi_graph *g, const bool *varies, const dpi_node *node)
{
    if (node->op->n_inputs != 2)
        return false;
    bool per_record[2];
    for (int k = 0; k < 2; k++)
        per_record[k] = g->nodes[node->in[k]].shape.per_record;
    return per_record[0] != per_record[1] && varies[node->in[per_record[0] ? 1 : 0]];
}

/* Evaluating the nodes once: operations and memory for the values, in bytes. */
typedef struct cost {
    size_t n_nodes, n_crossings;
    double global_flops, record_flops; /* once, and for each record */
    double global_bytes, record_bytes;
} cost;

static cost cost_of(const dpi_graph *g, const bool *varies, const bool *chosen)
{
    cost all = {0};
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        if (!is_chosen(chosen, i))
            continue;
        bool records = node->shape.per_record;
        double bytes = (double)dpi_shape_size(&node->shape) * sizeof(double);
        *(records ? &all.record_bytes : &all.global_bytes) += bytes;
        /* A sum over records is global and has its work at each record. */
        bool each = records || node->op->over_records;
        *(each ? &all.record_flops : &all.global_flops) += node->op->flops(node);
        all.n_crossings += is_crossing(g, varies, node);
        all.n_nodes++;
    }
    return all;
}

/* An input as the user knows it: its name, a constant's value, or its number. */
static void append_input(dpi_bytes *s, const dpi_graph *g, dpi_id id, bool for_dot)
{
    const dpi_node *node = &g->nodes[id];
    if (node->name != NULL)
        append_name(s, node->name, for_dot);
    else if (dpi_is_number(node))
        append_number(s, node->attr.value);
    else
        print(s, "#%d", (int)id);
}

/* "matmul(W', x)", "polygamma 1(a)", "slice 2 ... 4(#7)". */
static void append_operation(dpi_bytes *s, const dpi_graph *g, const dpi_node *node, bool for_dot)
{
    append(s, node->op->name);
    if (dpi_is_number(node)) {
        append(s, " ");
        append_number(s, node->attr.value);
    }
    if (node->op->detail != NULL) {
        char text[PIECE] = "";
        node->op->detail(node, text, sizeof text);
        append(s, text);
    }
    for (int k = 0; k < node->op->n_inputs; k++) {
        append(s, k == 0 ? "(" : ", ");
        append_input(s, g, node->in[k], for_dot);
        if (node->op->transposes && node->attr.transpose[k])
            append(s, "'");
    }
    append(s, node->op->n_inputs > 0 ? ")" : "");
}

static void append_where(dpi_bytes *s, const dpi_where *where, bool for_dot)
{
    if (where->file == NULL)
        append(s, "-");
    else
        append_name(s, where->file, for_dot);
    if (where->file != NULL)
        print(s, ":%d", where->line);
}

static void append_shape(dpi_bytes *s, const dpi_shape *shape)
{
    char buffer[DPI_SHAPE_TEXT];
    append(s, dpi_shape_text(shape, buffer));
}

static void append_line(dpi_bytes *s, const dpi_graph *g, size_t i, bool crossing)
{
    const dpi_node *node = &g->nodes[i];
    size_t start = s->n;
    print(s, "%5zu%c ", i, crossing ? '*' : ' ');
    append_name(s, node->name != NULL ? node->name : "-", false);
    pad_to(s, start, 24);
    append_operation(s, g, node, false);
    pad_to(s, start, 52);
    append_shape(s, &node->shape);
    pad_to(s, start, 80);
    print(s, "%10.0f  ", node->op->flops(node));
    append_where(s, &node->where, false);
    pad_to(s, start, 112);
    append(s, node->op->formula);
    append(s, "\n");
}

dp_status dpi_graph_text(const dpi_graph *g, const bool *chosen, char **text, dp_error *err)
{
    *text = NULL;
    dpi_bytes s = {0};
    bool *varies = varying_nodes(g);
    if (varies == NULL)
        return dpi_fail_nomem(err);
    append(&s,
           "    #  name             operation                   shape                            "
           "flops  where               formula\n");
    for (size_t i = 0; i < g->n_nodes; i++)
        if (is_chosen(chosen, i))
            append_line(&s, g, i, is_crossing(g, varies, &g->nodes[i]));
    const cost all = cost_of(g, varies, chosen);
    print(&s, "%zu nodes, %zu crossings (*)\n", all.n_nodes, all.n_crossings);
    print(&s, "once:            %.0f flops, %.0f bytes\n", all.global_flops, all.global_bytes);
    print(&s, "for each record: %.0f flops, %.0f bytes\n", all.record_flops, all.record_bytes);
    dpi_free(varies);
    return finish(&s, text, err);
}

static void append_dot_node(dpi_bytes *s, const dpi_graph *g, size_t i, bool crossing)
{
    const dpi_node *node = &g->nodes[i];
    print(s, "  n%zu [label=\"", i);
    if (node->name != NULL) {
        append_name(s, node->name, true);
        append(s, "\\n");
    }
    append_operation(s, g, node, true);
    append(s, "\\n");
    append_shape(s, &node->shape);
    append(s, "\", tooltip=\"");
    append_where(s, &node->where, true);
    append(s, ", ");
    append_name(s, node->op->formula, true);
    print(s, ", %.0f flops\", fillcolor=\"%s\"%s];\n", node->op->flops(node),
          node->shape.per_record ? "#fff2b3" : "#cfe2f3",
          crossing ? ", color=\"#cc0000\", penwidth=3" : "");
    for (int k = 0; k < node->op->n_inputs; k++)
        print(s, "  n%d -> n%zu%s;\n", (int)node->in[k], i,
              crossing && !g->nodes[node->in[k]].shape.per_record
                  ? " [color=\"#cc0000\", penwidth=2]"
                  : "");
}

dp_status dpi_graph_dot(const dpi_graph *g, const bool *chosen, char **text, dp_error *err)
{
    *text = NULL;
    dpi_bytes s = {0};
    bool *varies = varying_nodes(g);
    if (varies == NULL)
        return dpi_fail_nomem(err);
    const cost all = cost_of(g, varies, chosen);
    append(&s, "digraph model {\n  node [shape=box, style=\"filled\", fontname=\"Helvetica\"];\n");
    print(&s, "  label=\"blue: global, %.0f flops, %.0f bytes\\l", all.global_flops,
          all.global_bytes);
    print(&s, "yellow: per record, %.0f flops, %.0f bytes each\\l", all.record_flops,
          all.record_bytes);
    print(&s, "red: %zu crossings\\l\";\n", all.n_crossings);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (is_chosen(chosen, i))
            append_dot_node(&s, g, i, is_crossing(g, varies, &g->nodes[i]));
    append(&s, "}\n");
    dpi_free(varies);
    return finish(&s, text, err);
}
