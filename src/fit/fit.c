/* Making a fit, and what is known of it without running anything. */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "dist/family.h"
#include "fit/kept.h"
#include "fit/report.h"
#include "svi/svi.h"

static const double any_scale = 0.1; /* where a mean-field guide would start; nothing starts here */

static dp_status copy_columns(dp_fit *fit, const dpi_fit_parts *from, dp_error *err)
{
    dp_fit_column *columns = dpi_arena_alloc(&fit->arena, from->n_columns, sizeof *columns);
    if (columns == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < from->n_columns; k++) {
        columns[k] = from->columns[k];
        columns[k].name = dpi_arena_strdup(&fit->arena, from->columns[k].name);
        if (columns[k].name == NULL)
            return dpi_fail_nomem(err);
    }
    fit->parts.columns = columns;
    return DP_OK;
}

/* A copy of a text of the privacy statement; false when memory is out. */
static bool copy_text(dp_fit *fit, const char **text)
{
    if (*text == NULL)
        return true;
    *text = dpi_arena_strdup(&fit->arena, *text);
    return *text != NULL;
}

static dp_status copy_parts(dp_fit *fit, const dpi_fit_parts *from, dp_error *err)
{
    double *theta = dpi_arena_alloc(&fit->arena, from->n_theta, sizeof *theta);
    if (theta == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < from->n_theta; i++) {
        theta[i] = from->theta[i];
        if (!isfinite(theta[i]))
            return dpi_fail(err, DP_EDOMAIN,
                            "the parameters are not finite; there is no fit to keep");
    }
    fit->parts.theta = theta;
    for (int k = 0; k < 2 && from->image[k] != NULL; k++) {
        unsigned char *image = dpi_arena_alloc(&fit->arena, from->image_size[k], 1);
        if (image == NULL)
            return dpi_fail_nomem(err);
        memcpy(image, from->image[k], from->image_size[k]);
        fit->parts.image[k] = image;
    }
    fit->privacy = *from->privacy;
    fit->parts.privacy = &fit->privacy;
    if (!copy_text(fit, &fit->privacy.why_not) || !copy_text(fit, &fit->privacy.warning) ||
        !copy_text(fit, &fit->privacy.adjacency))
        return dpi_fail_nomem(err);
    return copy_columns(fit, from, err);
}

static dp_status make_objective(dp_fit *fit, dp_error *err)
{
    const dpi_fit_parts *p = &fit->parts;
    /* The number of units has a part in gradients alone, which are not run here. */
    dpi_objective_spec spec = {.model = p->model,
                               .guide = p->guide,
                               .cut = p->form,
                               .population = 1,
                               .init_scale = any_scale};
    dp_status status = dpi_objective_init(&fit->objective, &spec, err);
    if (status == DP_OK && fit->objective.n_theta != p->n_theta)
        status = dpi_fail(err, DP_EINVAL, "the model has %zu parameters, and %zu are given",
                          fit->objective.n_theta, p->n_theta);
    return status;
}

/* The mean of a site's distribution in the shape of its value, of each record; DPI_NONE where there
 * is none. */
static dpi_id add_mean(dp_model *m, const dpi_site *site)
{
    dpi_graph *g = &m->graph;
    const char *why;
    const dpi_shape shape = dpi_get(g, site->value)->shape;
    dpi_id mean = dpi_mean(g, site->family, site->arg, &why);
    if (mean == DPI_NONE)
        return DPI_NONE;
    if (!site->family->vector_arg && dpi_get(g, mean)->shape.n_dims < shape.n_dims)
        mean = dpi_expand(g, mean, shape);
    if (mean != DPI_NONE && !dpi_get(g, mean)->shape.per_record)
        mean = dpi_times(g, mean, dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL));
    return mean;
}

static dp_status add_means(dp_fit *fit, dp_model *m, int which, dp_error *err)
{
    fit->n_sites[which] = m->n_sites;
    fit->mean[which] = dpi_arena_alloc(&fit->arena, m->n_sites, sizeof *fit->mean[which]);
    if (fit->mean[which] == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < m->n_sites; i++) {
        const dpi_site *site = &m->sites[i];
        bool has_one =
            site->kind == DPI_OBSERVED || (site->kind == DPI_LATENT && m->of != NULL &&
                                           dpi_get(&m->graph, site->value)->shape.per_record);
        fit->mean[which][i] = has_one ? add_mean(m, site) : DPI_NONE;
    }
    return m->err.status == DP_OK ? DP_OK : dpi_fail(err, m->err.status, "%s", m->err.text);
}

static dp_status add_log_density(dp_fit *fit, dp_error *err)
{
    dp_model *m = fit->model;
    dpi_id sum = DPI_NONE;
    for (size_t i = 0; i < fit->n_sites[0]; i++) {
        const dpi_site *site = &m->sites[i];
        if (site->kind != DPI_OBSERVED && site->kind != DPI_FACTOR)
            continue;
        dpi_id term = site->kind == DPI_FACTOR
                          ? site->value
                          : dpi_log_density(&m->graph, site->family, site->value, site->arg);
        sum = sum == DPI_NONE ? term : dpi_add(&m->graph, sum, term);
    }
    fit->log_density = sum;
    return m->err.status == DP_OK ? DP_OK : dpi_fail(err, m->err.status, "%s", m->err.text);
}

static dp_status build(dp_fit *fit, const dpi_fit_parts *parts, dp_error *err)
{
    dp_status status = copy_parts(fit, parts, err);
    if (status == DP_OK)
        status = make_objective(fit, err);
    if (status == DP_OK)
        status = add_means(fit, fit->model, 0, err);
    if (status == DP_OK && fit->guide != NULL)
        status = add_means(fit, fit->guide, 1, err);
    if (status == DP_OK)
        status = add_log_density(fit, err);
    if (status == DP_OK)
        status = dpi_kept_new(fit, parts, &fit->kept, err);
    fit->parts.draws = fit->kept != NULL ? fit->kept->values : NULL;
    if (status == DP_OK)
        status = dpi_report_copy(fit, parts, err);
    if (status == DP_OK && parts->source != NULL)
        status = dp_fit_set_source(fit, parts->source, err);
    return status == DP_OK ? dpi_report_quantities(fit, err) : status;
}

dp_status dpi_fit_new(const dpi_fit_parts *parts, dp_fit **out, dp_error *err)
{
    *out = NULL;
    dp_fit *fit = dpi_alloc(1, sizeof *fit);
    if (fit == NULL) {
        dp_model_free(parts->guide);
        dp_model_free(parts->model);
        return dpi_fail_nomem(err);
    }
    fit->parts = *parts;
    fit->model = parts->model;
    fit->guide = parts->guide;
    fit->parts.own = dpi_identity_hold(parts->own);
    dp_status status = build(fit, parts, err);
    if (status == DP_OK)
        *out = fit;
    else
        dp_fit_free(fit);
    return status;
}

void dp_fit_free(dp_fit *fit)
{
    if (fit == NULL)
        return;
    dpi_identity_release(fit->parts.own);
    dp_draws_free(fit->kept);
    dpi_objective_free(&fit->objective);
    dp_model_free(fit->guide);
    dp_model_free(fit->model);
    dpi_arena_free(&fit->arena);
    dpi_free(fit);
}

void dp_fit_privacy(const dp_fit *fit, dp_privacy *privacy)
{
    *privacy = fit->privacy;
}

const dp_fit_column *dp_fit_columns(const dp_fit *fit, size_t *n)
{
    *n = fit->parts.n_columns;
    return fit->parts.columns;
}

size_t dpi_fit_chunk(const dp_fit *fit)
{
    return fit->objective.n_release >= DPI_SVI_LARGE_RELEASE ? DPI_SVI_LARGE_CHUNK : DPI_SVI_CHUNK;
}

const dpi_block *dpi_fit_block(const dp_fit *fit, const char *name)
{
    for (size_t k = 0; k < fit->objective.n_blocks; k++)
        if (strcmp(fit->objective.blocks[k].name, name) == 0)
            return &fit->objective.blocks[k];
    return NULL;
}

size_t dp_fit_size(const dp_fit *fit, const char *name)
{
    dpi_id id = dpi_fit_find(fit, name);
    const dpi_block *block = dpi_fit_block(fit, name);
    if (id != DPI_NONE)
        return dpi_shape_size(&dpi_get(&fit->model->graph, id)->shape);
    if (block != NULL)
        return block->size;
    for (size_t k = 0; k < fit->parts.n_columns; k++) /* that the guide alone reads */
        if (strcmp(fit->parts.columns[k].name, name) == 0)
            return fit->parts.columns[k].size;
    return 0;
}

dp_status dp_fit_parameter(const dp_fit *fit, const char *name, size_t n, double *values,
                           dp_error *err)
{
    const dpi_block *block = dpi_fit_block(fit, name);
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    if (block == NULL)
        return dpi_fail(err, DP_ENAME,
                        "there is no parameter '%s'; the mean-field guide's are '<latent>.loc' and "
                        "'<latent>.log_scale'",
                        name);
    if (block->size != n)
        return dpi_fail(err, DP_ESHAPE, "parameter '%s' has %zu numbers, not %zu", name,
                        block->size, n);
    memcpy(values, fit->parts.theta + block->offset, n * sizeof *values);
    return DP_OK;
}

dpi_id dpi_fit_find(const dp_fit *fit, const char *name)
{
    const dp_model *m = fit->model;
    for (size_t i = 0; i < fit->n_sites[0]; i++)
        if (strcmp(m->sites[i].name, name) == 0)
            return m->sites[i].value;
    for (size_t i = 0; i < m->graph.n_nodes; i++)
        if (m->graph.nodes[i].name != NULL && strcmp(m->graph.nodes[i].name, name) == 0)
            return (dpi_id)i;
    return DPI_NONE;
}

dp_status dpi_fit_may_read(const dp_fit *fit, const dp_dataset *data, dp_error *err)
{
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    if (fit->parts.own != NULL && data->identity == fit->parts.own)
        return dpi_fail(err, DP_EPRIVACY,
                        "these are the records of the run, and what is computed from them is not "
                        "public; give other records, which are");
    return DP_OK;
}
