/* Adding nodes: shape, constant folding, reuse of equal nodes, errors in the user's terms. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "graph/kernel.h"

enum { FIRST_TABLE = 64 };

void dpi_graph_init(dpi_graph *g, dpi_arena *arena, dp_error *err)
{
    *g = (dpi_graph){.arena = arena, .err = err};
}

const dpi_node *dpi_get(const dpi_graph *g, dpi_id id)
{
    if (id < 0 || (size_t)id >= g->n_nodes)
        dpi_misuse(__func__, "no such node");
    return &g->nodes[id];
}

bool dpi_is_constant(const dpi_graph *g, dpi_id id, double value)
{
    const dpi_node *node = dpi_get(g, id);
    return dpi_is_number(node) && node->attr.value == value;
}

/* Sources other than numbers differ by what they stand for, so they are never merged. */
static bool mergeable(const dpi_node *node)
{
    return !dpi_is_source(node) || dpi_is_number(node) || dpi_is_ones(node);
}

static size_t hash(const dpi_node *node)
{
    uint64_t h = (uint64_t)(uintptr_t)node->op;
    h = dpi_hash_mix(dpi_hash_mix(h, (uint64_t)node->in[0]), (uint64_t)node->in[1]);
    h = dpi_attr_hash(&node->attr, h);
    return (size_t)(h ^ (h >> 32));
}

/* The slot in the table that holds an equal node, or the empty slot where it belongs. */
static dpi_id *find_slot(const dpi_graph *g, const dpi_node *node)
{
    size_t mask = g->table_size - 1;
    for (size_t i = hash(node) & mask;; i = (i + 1) & mask) {
        dpi_id *slot = &g->table[i];
        if (*slot == DPI_NONE)
            return slot;
        const dpi_node *other = &g->nodes[*slot];
        if (other->op == node->op && other->in[0] == node->in[0] && other->in[1] == node->in[1] &&
            dpi_attr_same(&other->attr, &node->attr))
            return slot;
    }
}

static bool grow_table(dpi_graph *g)
{
    if (g->table_size > 2 * g->n_nodes)
        return true;
    size_t size = g->table_size == 0 ? FIRST_TABLE : 2 * g->table_size;
    dpi_id *table = dpi_arena_alloc(g->arena, size, sizeof *table);
    if (table == NULL)
        return false;
    for (size_t i = 0; i < size; i++)
        table[i] = DPI_NONE;
    g->table = table;
    g->table_size = size;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (mergeable(&g->nodes[i]))
            *find_slot(g, &g->nodes[i]) = (dpi_id)i;
    return true;
}

/* Makes room for one more node, and where it can be reused *slot where its id belongs, or that of
 * an equal node; NULL where it cannot.  False, with an error, when memory is out. */
static bool prepare(dpi_graph *g, const dpi_node *node, dpi_id **slot)
{
    *slot = NULL;
    if (g->n_nodes >= INT32_MAX ||
        !dpi_arena_grow(g->arena, (void **)&g->nodes, &g->capacity, g->n_nodes + 1, sizeof *node) ||
        !grow_table(g)) {
        (void)dpi_fail_nomem(g->err);
        return false;
    }
    if (mergeable(node))
        *slot = find_slot(g, node);
    return true;
}

static dpi_id append(dpi_graph *g, const dpi_node *node, dpi_id *slot)
{
    if (slot != NULL)
        *slot = (dpi_id)g->n_nodes;
    g->nodes[g->n_nodes] = *node;
    g->nodes[g->n_nodes].where = g->where;
    return (dpi_id)g->n_nodes++;
}

static dpi_id add_node(dpi_graph *g, const dpi_node *node)
{
    dpi_id *slot;
    if (!prepare(g, node, &slot))
        return DPI_NONE;
    return slot != NULL && *slot != DPI_NONE ? *slot : append(g, node, slot);
}

/* Evaluates an operation on constant numbers. */
static bool fold(const dpi_graph *g, const dpi_node *node, double *value)
{
    double in[2] = {0, 0};
    if (dpi_is_source(node) || node->shape.n_dims > 0 || node->shape.per_record)
        return false;
    for (int k = 0; k < node->op->n_inputs; k++) {
        const dpi_node *input = &g->nodes[node->in[k]];
        if (!dpi_is_number(input))
            return false;
        in[k] = input->attr.value;
    }
    dpi_call call = {.n = 1,
                     .in = {&in[0], &in[1]},
                     .out = value,
                     .in_size = {1, 1},
                     .out_size = 1,
                     .attr = &node->attr};
    dpi_kernels[node->op->id].run(&call);
    return true;
}

static dpi_id fail_shape(dpi_graph *g, const dpi_op *op, dpi_id a, dpi_id b, const char *why)
{
    char left[2][DPI_SHAPE_TEXT], name[2][64];
    const char *file = g->where.file != NULL ? g->where.file : "model";
    const char *call = op->call != NULL ? op->call : op->name;
    if (op->n_inputs < 2)
        (void)dpi_fail(g->err, DP_ESHAPE, "after %s:%d: %s: '%s' is %s; %s", file, g->where.line,
                       call, dpi_node_text(g, a, name[0], sizeof name[0]),
                       dpi_shape_text(&dpi_get(g, a)->shape, left[0]), why);
    else
        (void)dpi_fail(g->err, DP_ESHAPE, "after %s:%d: %s: left '%s' is %s, right '%s' is %s; %s",
                       file, g->where.line, call, dpi_node_text(g, a, name[0], sizeof name[0]),
                       dpi_shape_text(&dpi_get(g, a)->shape, left[0]),
                       dpi_node_text(g, b, name[1], sizeof name[1]),
                       dpi_shape_text(&dpi_get(g, b)->shape, left[1]), why);
    return DPI_NONE;
}

/* Sets the shape and the attributes that follow from the inputs; what is wrong with them, or
 * NULL. */
static const char *fit(const dpi_graph *g, dpi_node *node)
{
    const dpi_op *op = node->op;
    const dpi_shape *shape[2] = {NULL, NULL};
    for (int k = 0; k < op->n_inputs; k++)
        shape[k] = &dpi_get(g, node->in[k])->shape;
    const char *why = op->shape(shape[0], shape[1], &node->attr, &node->shape);
    return why == NULL && op->misfit != NULL ? op->misfit(g, node) : why;
}

dpi_id dpi_apply(dpi_graph *g, const dpi_op *op, dpi_id a, dpi_id b, const dpi_attr *attr)
{
    if (g->err->status != DP_OK || (op->n_inputs > 0 && a == DPI_NONE) ||
        (op->n_inputs > 1 && b == DPI_NONE))
        return DPI_NONE;
    dpi_node node = {.op = op, .in = {a, b}};
    if (attr != NULL)
        node.attr = *attr;
    const char *why = fit(g, &node);
    if (why != NULL)
        return fail_shape(g, op, a, b, why);
    dpi_id same = op->simplify != NULL ? op->simplify(g, &node) : DPI_NONE;
    if (same != DPI_NONE)
        return same;
    double value;
    if (fold(g, &node, &value))
        return dpi_constant(g, value);
    return add_node(g, &node);
}

/* Whether a value [K] or [K][n] meets a column of group numbers below K, not of another plate: what
 * is asked of expressions. */
static bool is_picked(const dpi_graph *g, const dpi_node *node)
{
    const dpi_shape *value = &dpi_get(g, node->in[0])->shape;
    const dpi_node *number = dpi_get(g, node->in[1]);
    return dpi_is_groups(number) && value->n_dims >= 1 && value->dim[0] == number->attr.number &&
           (value->plate[0] == 0 || number->attr.rows == 0 ||
            (size_t)value->plate[0] == number->attr.rows);
}

/* What is wrong with a node of a stored graph, or NULL. */
static const char *misfit_of_stored(const dpi_graph *g, const dpi_node *node)
{
    for (int k = 0; k < 2; k++)
        if (k < node->op->n_inputs ? node->in[k] < 0 || (size_t)node->in[k] >= g->n_nodes
                                   : node->in[k] != DPI_NONE)
            return "its inputs are not nodes before it";
    if (node->op->by_groups && !is_picked(g, node))
        return "its group numbers are no index column over the groups of its value";
    dpi_node again = *node;
    const char *why = fit(g, &again);
    if (why == NULL && !dpi_attr_same(&again.attr, &node->attr))
        why = "its attributes are not those that its inputs give";
    size_t size = dpi_shape_size(&again.shape);
    return why == NULL && (size == 0 || size == SIZE_MAX) ? "it has no size" : why;
}

dpi_id dpi_put_back(dpi_graph *g, const dpi_node *node)
{
    dpi_node copy = {.op = node->op, .in = {node->in[0], node->in[1]}, .attr = node->attr};
    dpi_id *slot;
    if (g->err->status != DP_OK)
        return DPI_NONE;
    const char *why = misfit_of_stored(g, node);
    if (why == NULL)
        (void)fit(g, &copy);
    /* What could be simplified may be a chain of any length, along which simplifying would recurse
     * when something is built on it. */
    if (why == NULL && node->op->simplify != NULL && node->op->simplify(g, &copy) != DPI_NONE)
        why = "it would have been simplified";
    if (why == NULL) {
        if (!prepare(g, &copy, &slot))
            return DPI_NONE;
        if (slot == NULL || *slot == DPI_NONE)
            return append(g, &copy, slot);
        why = "there is an equal node before it";
    }
    (void)dpi_fail(g->err, DP_EDATA, "node %zu, %.32s: %s", g->n_nodes, node->op->name, why);
    return DPI_NONE;
}

dpi_id dpi_source(dpi_graph *g, const dpi_op *op, const char *name, dpi_attr attr)
{
    if (g->err->status != DP_OK)
        return DPI_NONE;
    dpi_node node = {.op = op, .in = {DPI_NONE, DPI_NONE}, .shape = attr.shape, .attr = attr};
    if (name != NULL && (node.name = dpi_arena_strdup(g->arena, name)) == NULL) {
        (void)dpi_fail_nomem(g->err);
        return DPI_NONE;
    }
    return add_node(g, &node);
}

static void make_source(dpi_graph *g, dpi_id id, const dpi_op *op, const char *name)
{
    const dpi_node *old = dpi_get(g, id);
    if (!old->shape.per_record)
        dpi_misuse(__func__, "a column has a value of each record");
    g->nodes[id] = (dpi_node){.op = op,
                              .in = {DPI_NONE, DPI_NONE},
                              .shape = old->shape,
                              .attr = {.shape = old->shape},
                              .name = name,
                              .where = old->where};
}

void dpi_read_instead(dpi_graph *g, dpi_id id, const char *name)
{
    make_source(g, id, &dpi_op_data, name);
}

void dpi_set_instead(dpi_graph *g, dpi_id id)
{
    make_source(g, id, &dpi_op_input, NULL);
}

dpi_id dpi_constant(dpi_graph *g, double value)
{
    return dpi_source(g, &dpi_op_const, NULL, (dpi_attr){.value = value});
}

dpi_id dpi_constant_array(dpi_graph *g, dpi_shape shape, const double *values)
{
    size_t size = dpi_shape_size(&shape);
    if (shape.per_record)
        dpi_misuse(__func__, "a constant is one value for all records");
    if (g->err->status != DP_OK)
        return DPI_NONE;
    if (shape.n_dims == 0)
        return dpi_constant(g, *values);
    double *copy = dpi_arena_alloc(g->arena, size, sizeof *copy);
    if (copy == NULL) {
        (void)dpi_fail_nomem(g->err);
        return DPI_NONE;
    }
    memcpy(copy, values, size * sizeof *copy);
    return dpi_source(g, &dpi_op_const, NULL, (dpi_attr){.shape = shape, .array = copy});
}

void dpi_mark(const dpi_graph *g, dpi_id id, bool *needed)
{
    needed[id] = true;
    for (dpi_id i = id; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->nodes[i].op->n_inputs; k++)
            needed[g->nodes[i].in[k]] = true;
}

const char *dpi_node_text(const dpi_graph *g, dpi_id id, char *buffer, size_t size)
{
    const dpi_node *node = dpi_get(g, id);
    if (node->name != NULL)
        (void)snprintf(buffer, size, "%s", node->name);
    else if (dpi_is_number(node))
        (void)snprintf(buffer, size, "%g", node->attr.value);
    else
        (void)snprintf(buffer, size, "%s(...)", node->op->name);
    return buffer;
}
