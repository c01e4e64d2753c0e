/* A model: its life, the caller's place, and its names.
 *
 * Every declaring call records the caller's place in graph.where, so that errors of plain
 * arithmetic can say after which declaration they came.  Names of columns, sites and parameters
 * share one space, because they share the names of the data set's columns and of the result. */
#include "model/declare.h"

#include <string.h>

#include "base/name.h"

dp_model *dp_model_new(void)
{
    dp_model *m = dpi_alloc(1, sizeof *m);
    if (m != NULL)
        dpi_graph_init(&m->graph, &m->arena, &m->err);
    return m;
}

dp_model *dp_guide_new(const dp_model *model)
{
    if (model == NULL)
        dpi_misuse(__func__, "NULL model");
    dp_model *guide = dp_model_new();
    if (guide != NULL) {
        guide->of = model;
        if (model->err.status != DP_OK)
            (void)dpi_fail(&guide->err, model->err.status, "%s", model->err.text);
    }
    return guide;
}

void dp_model_free(dp_model *m)
{
    if (m == NULL)
        return;
    dpi_arena_free(&m->arena);
    dpi_free(m);
}

dp_status dp_model_status(const dp_model *m)
{
    return m->err.status;
}

const char *dp_model_error(const dp_model *m)
{
    return m->err.status == DP_OK ? NULL : m->err.text;
}

bool dpi_enter(dp_model *m, const char *name, const char *file, int line)
{
    if (m == NULL || name == NULL)
        dpi_misuse("tacit/model.h", "NULL model or name");
    const char *base = strrchr(file, '/');
    m->graph.where = (dpi_where){base != NULL ? base + 1 : file, line};
    return m->err.status == DP_OK;
}

dp_expr dpi_expression(dp_model *m, dpi_id id)
{
    return (dp_expr){.model = m, .id = id};
}

const dpi_site *dpi_find_site(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_sites; i++)
        if (strcmp(m->sites[i].name, name) == 0)
            return &m->sites[i];
    return NULL;
}

dpi_id dpi_find_source(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->graph.n_nodes; i++) {
        const dpi_node *node = &m->graph.nodes[i];
        if (node->name != NULL && strcmp(node->name, name) == 0)
            return (dpi_id)i;
    }
    return DPI_NONE;
}

/* Where the name was given to a source or site, or NULL. */
static const dpi_where *place_of_name(const dp_model *m, const char *name)
{
    dpi_id id = dpi_find_source(m, name);
    const dpi_site *site = dpi_find_site(m, name);
    return id != DPI_NONE ? &dpi_get(&m->graph, id)->where : site != NULL ? &site->where : NULL;
}

bool dpi_name_is_good(dp_model *m, const char *name)
{
    const char *fault = dpi_name_fault(name);
    if (fault != NULL)
        FAIL(m, DP_ENAME, "a name %s", fault);
    return fault == NULL;
}

bool dpi_name_is_new(dp_model *m, const char *name)
{
    if (!dpi_name_is_good(m, name))
        return false;
    const dpi_where *place = place_of_name(m, name);
    if (place != NULL) {
        FAIL(m, DP_ENAME,
             "the name '%s' was used at %s:%d; give this one another name, or use the "
             "expression that the first call returned",
             name, place->file, place->line);
        return false;
    }
    return true;
}

void dp_model_seed(dp_model *m, uint64_t seed)
{
    m->seed = seed;
}
