/* Values of the model's graph for records and draws: expressions, means, outcomes, densities. */
#include <math.h>
#include <string.h>

#include "fit/walk.h"
#include "model/factor.h"
#include "svi/check.h"

static void fill_nan(size_t n, double *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
}

static size_t draws_of(const dp_given *given)
{
    return given != NULL && given->draws != NULL ? given->draws->n : 1;
}

static size_t records_of(const dp_given *given)
{
    return given != NULL && given->data != NULL ? given->data->n : 0;
}

/* What there are values of. */
enum { DRAWS = 1, RECORDS = 2 };

/* DP_EINVAL for values of records without a data set; DP_ESHAPE unless n is the product of size
 * and of the numbers of what there are values of. */
static dp_status check_size(const dp_given *given, int of, size_t size, size_t n, dp_error *err)
{
    size_t draws = draws_of(given), records = records_of(given), all;
    if ((of & RECORDS) != 0 && (given == NULL || given->data == NULL))
        return dpi_fail(err, DP_EINVAL,
                        "a value of each record is asked for without records; give a data set");
    if (dpi_mul((of & DRAWS) != 0 ? draws : 1, (of & RECORDS) != 0 ? records : 1, &all) &&
        dpi_mul(all, size, &all) && all == n)
        return DP_OK;
    if (of == DRAWS)
        return dpi_fail(err, DP_ESHAPE,
                        "there are %zu draws of %zu numbers, of no record; give room for their "
                        "product, not for %zu",
                        draws, size, n);
    if (of == RECORDS)
        return dpi_fail(err, DP_ESHAPE,
                        "there are %zu records with %zu numbers each, averaged over the draws; "
                        "give room for their product, not for %zu",
                        records, size, n);
    return dpi_fail(err, DP_ESHAPE,
                    "there are %zu draws of %zu records with %zu numbers each; give room for their "
                    "product, not for %zu",
                    draws, records, size, n);
}

static size_t next_chunk(const dpi_walk *w, size_t first)
{
    return w->n_records - first < w->chunk ? w->n_records - first : w->chunk;
}

/* ---- expressions ---- */

dp_expr dp_fit_expr(dp_fit *fit, const char *name)
{
    dp_model *m = fit->model;
    dpi_id id = dpi_fit_find(fit, name);
    if (id == DPI_NONE)
        (void)dpi_fail(&m->err, DP_ENAME,
                       "the fitted model has no latent, parameter, deterministic value or column "
                       "'%s'; dp_draws_name and dp_fit_columns tell the latents and the columns",
                       name);
    return (dp_expr){.model = m, .id = id};
}

/* The place among the sites of an observed column, or n_sites. */
static size_t find_observed(const dp_fit *fit, const char *column)
{
    size_t i = 0;
    while (i < fit->n_sites[0] && (fit->model->sites[i].kind != DPI_OBSERVED ||
                                   strcmp(fit->model->sites[i].name, column) != 0))
        i++;
    return i;
}

/* Where the mean of an observed column is. */
static dp_status find_mean(const dp_fit *fit, const char *column, dpi_id *id, dp_error *err)
{
    size_t i = find_observed(fit, column);
    const char *why;
    *id = DPI_NONE;
    dp_status status = dpi_check_drawn(fit->model, fit->n_sites[0], column, err);
    if (status != DP_OK)
        return status;
    if (i == fit->n_sites[0])
        return dpi_fail(err, DP_ENAME,
                        "the model observes no column '%s'; dp_fit_columns tells which it does",
                        column);
    *id = fit->mean[0][i];
    if (*id != DPI_NONE)
        return DP_OK;
    const dpi_family *family = fit->model->sites[i].family;
    while (family->form != NULL && family->no_mean == NULL)
        family = family->base;
    why = family->no_mean;
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "column '%s' has no expected value: %s; draw it with dp_fit_simulate", column,
                    why != NULL ? why : "its family has none in closed form");
}

dp_expr dp_fit_mean(dp_fit *fit, const char *column)
{
    dp_expr mean = {.model = fit->model};
    if (find_mean(fit, column, &mean.id, &fit->model->err) != DP_OK)
        mean.id = DPI_NONE;
    return mean;
}

size_t dp_expr_size(dp_expr e)
{
    if (e.model == NULL)
        return 1;
    bool known = e.id >= 0 && (size_t)e.id < e.model->graph.n_nodes;
    return known ? dpi_shape_size(&dpi_get(&e.model->graph, e.id)->shape) : 0;
}

/* ---- values ---- */

/* All values of one node: [draws][records][size] or [draws][size]. */
static dp_status evaluate(const dp_fit *fit, dpi_id id, const dp_given *given, double *values,
                          dp_error *err)
{
    const dpi_shape shape = dpi_get(&fit->model->graph, id)->shape;
    size_t size = dpi_shape_size(&shape), draws = draws_of(given);
    dpi_walk w;
    dp_status status = dpi_walk_init(&w, fit, given, shape.per_record, &id, 1, err);
    for (size_t d = 0; status == DP_OK && d < draws; d++) {
        dpi_walk_draw(&w, d);
        if (!shape.per_record) {
            dpi_run_read(w.model.run, id, 0, size, values);
            values += size;
        }
        for (size_t first = 0, m; first < w.n_records; first += m, values += m * size) {
            m = next_chunk(&w, first);
            dpi_walk_records(&w, first, m);
            dpi_run_read(w.model.run, id, 0, m * size, values);
        }
    }
    dpi_walk_free(&w);
    return status;
}

dp_status dp_fit_evaluate(const dp_fit *fit, dp_expr e, const dp_given *given, size_t n,
                          double *values, dp_error *err)
{
    const dp_model *m = fit->model;
    fill_nan(n, values);
    if (e.model != m)
        return dpi_fail(err, DP_EINVAL,
                        "the expression is not of this fit; begin with dp_fit_expr or dp_fit_mean");
    if (e.id < 0 || (size_t)e.id >= m->graph.n_nodes)
        return m->err.status != DP_OK ? dpi_fail(err, m->err.status, "%s", m->err.text)
                                      : dpi_fail(err, DP_EINVAL, "the expression has no value");
    const dpi_shape *shape = &dpi_get(&m->graph, e.id)->shape;
    dp_status status = check_size(given, shape->per_record ? DRAWS | RECORDS : DRAWS,
                                  dpi_shape_size(shape), n, err);
    return status == DP_OK ? evaluate(fit, e.id, given, values, err) : status;
}

dp_status dp_fit_predict(const dp_fit *fit, const char *column, const dp_given *given, size_t n,
                         double *values, dp_error *err)
{
    dpi_id id;
    dpi_walk w;
    fill_nan(n, values);
    dp_status status = find_mean(fit, column, &id, err);
    if (status != DP_OK)
        return status;
    size_t size = dpi_shape_size(&dpi_get(&fit->model->graph, id)->shape), draws = draws_of(given);
    status = check_size(given, RECORDS, size, n, err);
    if (status != DP_OK)
        return status;
    status = dpi_walk_init(&w, fit, given, true, &id, 1, err);
    double *one = status == DP_OK ? dpi_arena_alloc(&w.arena, w.chunk, size * sizeof *one) : NULL;
    if (status == DP_OK && one == NULL)
        status = dpi_fail_nomem(err);
    for (size_t i = 0; status == DP_OK && i < n; i++)
        values[i] = 0;
    for (size_t d = 0; status == DP_OK && d < draws; d++) {
        dpi_walk_draw(&w, d);
        for (size_t first = 0, m; first < w.n_records; first += m) {
            m = next_chunk(&w, first);
            dpi_walk_records(&w, first, m);
            dpi_run_read(w.model.run, id, 0, m * size, one);
            for (size_t i = 0; i < m * size; i++)
                values[first * size + i] += one[i] / (double)draws;
        }
    }
    dpi_walk_free(&w);
    return status;
}

dp_status dp_fit_log_density(const dp_fit *fit, const dp_given *given, size_t n, double *values,
                             dp_error *err)
{
    fill_nan(n, values);
    dp_status status = check_size(given, DRAWS | RECORDS, 1, n, err);
    if (status == DP_OK && n > 0 && given->data->err.status == DP_OK)
        status = dpi_check_observations(&fit->objective, given->data, err);
    return status == DP_OK ? evaluate(fit, fit->log_density, given, values, err) : status;
}
