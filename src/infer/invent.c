/* Columns are laid out as the data set takes them; only those that the model reads are there, so
 * that nothing else has to be sound. */
#include "infer/invent.h"

#include <string.h>

#include "data/dataset.h"
#include "graph/op.h"

/* The record that each new one is. */
static dp_status choose(dpi_invented *to, const dp_dataset *from, size_t n, dp_rng *rng,
                        uint64_t **chosen, dp_error *err)
{
    *chosen = dpi_arena_alloc(&to->arena, n, sizeof **chosen);
    if (*chosen == NULL)
        return dpi_fail_nomem(err);
    if (from != NULL && from->n != n)
        return dp_rng_below(rng, from->n, n, *chosen, err);
    for (size_t i = 0; i < n; i++)
        (*chosen)[i] = i;
    return DP_OK;
}

static void *gather(dpi_invented *to, size_t n, size_t row, const uint64_t *chosen,
                    const void *values)
{
    char *out = dpi_arena_alloc(&to->arena, n, row);
    for (size_t i = 0; out != NULL && i < n; i++)
        memcpy(out + i * row, (const char *)values + chosen[i] * row, row);
    return out;
}

static dp_status copy(dpi_invented *to, const dpi_column *c, const uint64_t *chosen, dp_error *err)
{
    size_t n = to->data->n;
    void *values = NULL;
    if (c->real != NULL)
        values = gather(to, n, c->size * sizeof *c->real, chosen, c->real);
    else if (c->index != NULL)
        values = gather(to, n, c->size * sizeof *c->index, chosen, c->index);
    else
        values = gather(to, n, c->size, chosen, c->bytes);
    if (values == NULL)
        return dpi_fail_nomem(err);
    if (c->real != NULL)
        dp_dataset_real(to->data, c->name, c->size, values);
    else if (c->index != NULL)
        dp_dataset_indices(to->data, c->name, c->size, values);
    else
        dp_dataset_bytes(to->data, c->name, c->size, c->most, values);
    return DP_OK;
}

static dp_status draw_groups(dpi_invented *to, const dpi_node *node, size_t size, dp_rng *rng,
                             dp_error *err)
{
    size_t n = to->data->n * size;
    uint64_t *drawn = dpi_arena_alloc(&to->arena, n, sizeof *drawn);
    int32_t *groups = dpi_arena_alloc(&to->arena, n, sizeof *groups);
    if (drawn == NULL || groups == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dp_rng_below(rng, node->attr.number, n, drawn, err);
    for (size_t i = 0; i < n && status == DP_OK; i++)
        groups[i] = (int32_t)drawn[i];
    if (status == DP_OK)
        dp_dataset_indices(to->data, node->name, size, groups);
    return status;
}

static dp_status draw_column(dpi_invented *to, const dpi_node *node, dp_rng *rng, dp_error *err)
{
    size_t size = dpi_shape_size(&node->shape);
    if (dpi_is_groups(node))
        return draw_groups(to, node, size, rng, err);
    double *values = dpi_arena_alloc(&to->arena, to->data->n, size * sizeof *values);
    if (values == NULL)
        return dpi_fail_nomem(err);
    dp_rng_normal(rng, to->data->n * size, values);
    dp_dataset_real(to->data, node->name, size, values);
    return DP_OK;
}

static dp_status add_column(dpi_invented *to, const dpi_node *node, const dp_dataset *from,
                            const uint64_t *chosen, dp_rng *rng, dp_error *err)
{
    if (dpi_dataset_find(to->data, node->name) != NULL)
        return DP_OK;
    if (from == NULL)
        return draw_column(to, node, rng, err);
    const dpi_column *column = dpi_dataset_find(from, node->name);
    if (column == NULL)
        return dpi_fail(err, DP_ENAME,
                        "the model reads a column '%s', which the plan's columns lack; add it, or "
                        "give no columns, and all are invented",
                        node->name);
    if (column->drawn)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "column '%s' is drawn in each use, which dp_fit_private does not take",
                        node->name);
    return copy(to, column, chosen, err);
}

static dp_status check(const dp_dataset *from, size_t n, dp_error *err)
{
    if (n == 0)
        return dpi_fail(err, DP_EINVAL,
                        "records is 0; say how many there will be, from public knowledge");
    if (from == NULL)
        return DP_OK;
    if (from->err.status != DP_OK)
        return dpi_fail(err, from->err.status, "%s", from->err.text);
    if (from->unit != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a column names the units, and dp_fit_private takes single records");
    return DP_OK;
}

dp_status dpi_invent(dpi_invented *to, const dpi_model_view *view, const dp_dataset *from, size_t n,
                     dp_rng *rng, dp_error *err)
{
    const dpi_graph *g = &view->objective.graph;
    uint64_t *chosen;
    *to = (dpi_invented){.data = NULL};
    dp_status status = check(from, n, err);
    if (status == DP_OK)
        status = choose(to, from, n, rng, &chosen, err);
    if (status == DP_OK && (to->data = dp_dataset_new(n)) == NULL)
        status = dpi_fail_nomem(err);
    for (size_t i = 0; i < g->n_nodes && status == DP_OK; i++)
        if (dpi_is_column(&g->nodes[i]) && strcmp(g->nodes[i].name, view->seen->name) != 0)
            status = add_column(to, &g->nodes[i], from, chosen, rng, err);
    if (status == DP_OK && to->data->err.status != DP_OK)
        status = dpi_fail(err, to->data->err.status, "%s", to->data->err.text);
    return status;
}

void dpi_invented_free(dpi_invented *to)
{
    dp_dataset_free(to->data);
    to->data = NULL;
    dpi_arena_free(&to->arena);
}

dp_status dpi_invented_with(const dpi_invented *from, const char *name, const double *outcomes,
                            dp_dataset **data, dp_error *err)
{
    dp_dataset *d = *data = dp_dataset_new(from->data->n);
    if (d == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < from->data->n_columns; k++) {
        const dpi_column *c = &from->data->columns[k];
        if (c->real != NULL)
            dp_dataset_real(d, c->name, c->size, c->real);
        else if (c->index != NULL)
            dp_dataset_indices(d, c->name, c->size, c->index);
        else
            dp_dataset_bytes(d, c->name, c->size, c->most, c->bytes);
    }
    dp_dataset_real(d, name, 1, outcomes);
    if (d->err.status == DP_OK)
        return DP_OK;
    dp_status status = dpi_fail(err, d->err.status, "%s", d->err.text);
    dp_dataset_free(d);
    *data = NULL;
    return status;
}
