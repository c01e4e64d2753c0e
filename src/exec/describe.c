/* A model as text: its sites, one line each, then the nodes of its graph; and for Graphviz.
 *
 *   latent    w    [3]      normal(0, 2.5)       a.c:12
 *   gradient  w    [3]      from its factors: 6 flops a record, 27 if made
 *   observed  y    a number, one per record   bernoulli_logit(#7)   a.c:13
 *   computed  eta  a number, one per record   #6                    a.c:14
 *
 * An argument is a number, a name, or the node with that number in the list below.  Sites are few:
 * the cost is that of the graph's text. */
#include <string.h>

#include "exec/decomposition.h"
#include "graph/describe.h"
#include "graph/op.h"
#include "model/objective.h"

enum { ARGUMENT_TEXT = 64, FORM_TEXT = 96 };

/* A number, with a point in every locale; a name; or "#7" for node 7. */
static const char *argument_text(const dpi_graph *g, dpi_id id, char text[ARGUMENT_TEXT])
{
    const dpi_node *node = dpi_get(g, id);
    if (node->name != NULL)
        return node->name;
    if (dpi_is_number(node)) {
        (void)snprintf(text, ARGUMENT_TEXT, "%.6g", node->attr.value);
        char *comma = strchr(text, ',');
        if (comma != NULL)
            *comma = '.';
        return text;
    }
    (void)snprintf(text, ARGUMENT_TEXT, "#%d", (int)id);
    return text;
}

static bool write_site(const dp_model *m, const dpi_site *site, FILE *out)
{
    static const char *const kinds[] = {
        [DPI_LATENT] = "latent",          [DPI_OBSERVED] = "observed", [DPI_PARAM] = "parameter",
        [DPI_DETERMINISTIC] = "computed", [DPI_FACTOR] = "factor",
    };
    char shape[DPI_SHAPE_TEXT], text[ARGUMENT_TEXT];
    const dpi_node *value = dpi_get(&m->graph, site->value);
    const char *from = site->family != NULL ? site->family->name
                       : site->kind == DPI_DETERMINISTIC || site->kind == DPI_FACTOR
                           ? argument_text(&m->graph, site->value, text)
                           : "no prior";
    bool good = fprintf(out, "%-9s  %-15s  %-26s  %s", kinds[site->kind], site->name,
                        dpi_shape_text(&value->shape, shape), from) > 0;
    for (int k = 0; site->family != NULL && k < site->family->n_args; k++)
        good = good && fprintf(out, "%s%s", k == 0 ? "(" : ", ",
                               argument_text(&m->graph, site->arg[k], text)) > 0;
    return good && fprintf(out, "%s  %s:%d\n", site->family != NULL ? ")" : "", site->where.file,
                           site->where.line) > 0;
}

/* Writes what `describe` makes of the graph. */
static dp_status write_graph(const dp_model *m, FILE *out,
                             dp_status (*describe)(const dpi_graph *, const bool *, char **,
                                                   dp_error *))
{
    char *text = NULL;
    if (m->err.status != DP_OK)
        return m->err.status;
    dp_status status = describe(&m->graph, NULL, &text, NULL);
    if (status == DP_OK && fputs(text, out) < 0)
        status = DP_EIO;
    dpi_free(text);
    return status;
}

static bool write_part(const dpi_objective *o, size_t k, FILE *out)
{
    char shape[DPI_SHAPE_TEXT], text[FORM_TEXT];
    dpi_decomposition d;
    dpi_decompose(&o->graph, o->part[k], DPI_CHEAPEST, &d);
    bool good =
        fprintf(out, "gradient   %-15s  %-26s  %s: %.0f flops a record", dpi_objective_name(o, k),
                dpi_shape_text(&dpi_get(&o->graph, o->crossing[k])->shape, shape),
                dpi_decomposition_text(&d, text, sizeof text), d.flops) > 0;
    if (d.way != DPI_MADE)
        good = good && fprintf(out, ", %.0f if made", d.made_flops) > 0;
    return good && fputs("\n", out) >= 0;
}

/* How norms and sums of the gradients of each record are had, where the model (with the guide that
 * `m` is) can be fitted; nothing where it cannot. */
static dp_status write_parts(const dp_model *m, FILE *out)
{
    dpi_objective o;
    const dpi_objective_spec spec = {.model = m->of != NULL ? m->of : m,
                                     .guide = m->of != NULL ? m : NULL,
                                     .cut = DP_FORM_LATENTS,
                                     .population = 1,
                                     .init_scale = 1};
    dp_error err = {0};
    dp_status status = dpi_objective_init(&o, &spec, &err);
    if (status != DP_OK)
        return status == DP_ENOMEM ? status : DP_OK;
    for (size_t k = 0; k < o.n_parts && status == DP_OK; k++)
        status = write_part(&o, k, out) ? DP_OK : DP_EIO;
    dpi_objective_free(&o);
    return status;
}

dp_status dp_model_describe(const dp_model *m, FILE *out)
{
    for (size_t i = 0; m->err.status == DP_OK && i < m->n_sites; i++)
        if (!write_site(m, &m->sites[i], out))
            return DP_EIO;
    dp_status status = m->err.status == DP_OK ? write_parts(m, out) : DP_OK;
    return status == DP_OK ? write_graph(m, out, dpi_graph_text) : status;
}

dp_status dp_model_dot(const dp_model *m, FILE *out)
{
    return write_graph(m, out, dpi_graph_dot);
}
