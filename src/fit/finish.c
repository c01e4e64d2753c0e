/* From a run to its fit. */
#include <string.h>

#include "fit/fit.h"
#include "graph/op.h"
#include "model/store.h"
#include "svi/svi.h"

static bool is_observed(const dpi_objective *o, const char *name)
{
    for (size_t k = 0; k < o->n_observations; k++)
        if (strcmp(o->observations[k].name, name) == 0)
            return true;
    return false;
}

dp_status dpi_fit_list_columns(const dpi_objective *o, const dp_dataset *data, dpi_arena *arena,
                               dpi_fit_parts *parts, dp_error *err)
{
    const dpi_graph *g = &o->graph;
    dp_fit_column *columns = dpi_arena_alloc(arena, g->n_nodes, sizeof *columns);
    if (columns == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        if (!dpi_is_column(node))
            continue;
        const dpi_column *column = dpi_dataset_find(data, node->name);
        dp_fit_column *c = &columns[parts->n_columns++];
        *c = (dp_fit_column){.name = node->name,
                             .size = dpi_shape_size(&node->shape),
                             .groups = dpi_is_groups(node) ? node->attr.number : 0,
                             .observed = is_observed(o, node->name)};
        if (column == NULL) /* nothing asked for its values */
            continue;
        c->kind = column->index != NULL   ? DP_FIT_INDEX
                  : column->bytes != NULL ? DP_FIT_BYTES
                                          : DP_FIT_REAL;
        c->most = column->most;
        c->drawn = column->drawn;
    }
    parts->columns = columns;
    return DP_OK;
}

dp_status dpi_fit_restore_models(const dpi_bytes image[2], dpi_fit_parts *parts, dp_error *err)
{
    for (int k = 0; k < 2; k++) {
        parts->image[k] = image[k].at;
        parts->image_size[k] = image[k].n;
    }
    dp_status status =
        dpi_model_restore(NULL, parts->image[0], parts->image_size[0], &parts->model, err);
    if (status == DP_OK && parts->image[1] != NULL)
        status = dpi_model_restore(parts->model, parts->image[1], parts->image_size[1],
                                   &parts->guide, err);
    if (status != DP_OK)
        dp_model_free(parts->model);
    return status;
}

dp_status dpi_fit_of_run(const dp_svi *s, dp_fit **fit, dp_error *err)
{
    dp_privacy privacy;
    *fit = NULL;
    dp_status status = dpi_svi_guarantee(s, &privacy, err);
    return status == DP_OK ? dpi_fit_said(s, &(dpi_fit_parts){.privacy = &privacy}, fit, err)
                           : status;
}

dp_status dpi_fit_said(const dp_svi *s, const dpi_fit_parts *said, dp_fit **fit, dp_error *err)
{
    dpi_arena arena = {0};
    dpi_fit_parts parts = *said;
    parts.form = s->opts.form;
    parts.precision = s->opts.precision;
    parts.theta = dpi_optimizer_result(&s->optimizer);
    parts.n_theta = s->objective.n_theta;
    parts.asked_delta = s->delta;
    parts.own = s->opts.mode == DP_NO_PRIVACY ? NULL : s->data->identity;
    *fit = NULL;
    dp_status status = dpi_fit_list_columns(&s->objective, s->data, &arena, &parts, err);
    if (status == DP_OK)
        status = dpi_fit_restore_models(s->image, &parts, err);
    if (status == DP_OK)
        status = dpi_fit_new(&parts, fit, err);
    dpi_arena_free(&arena);
    return status;
}

dp_status dp_svi_finish(const dp_svi *s, dp_fit **fit, dp_error *err)
{
    if (s == NULL || fit == NULL)
        dpi_misuse(__func__, "NULL run or result");
    *fit = NULL;
    if (s->optimizer.done == 0)
        return dpi_fail(err, DP_ESTATE,
                        "no step is done, and the start is not a fit; call dp_svi_run or "
                        "dp_svi_step first");
    return dpi_fit_of_run(s, fit, err);
}
