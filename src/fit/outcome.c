/* Outcomes of records: draws of observed columns, one or all side by side. */
#include <math.h>
#include <string.h>

#include "fit/walk.h"
#include "model/factor.h"

/* The observed sites that are drawn. */
typedef struct outcomes {
    const dpi_site **site; /* [n] */
    size_t n, size;        /* size: numbers of one record in all of them */
    dpi_id *wanted;        /* [n_wanted] their arguments */
    size_t n_wanted;
} outcomes;

static dp_status choose(const dp_fit *fit, const char *column, dpi_arena *arena, outcomes *o,
                        dp_error *err)
{
    const dp_model *m = fit->model;
    size_t most = fit->n_sites[0];
    *o = (outcomes){.site = dpi_arena_alloc(arena, most, sizeof *o->site),
                    .wanted = dpi_arena_alloc(arena, most, DPI_MAX_ARGS * sizeof *o->wanted)};
    if (o->site == NULL || o->wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < most; i++) {
        const dpi_site *site = &m->sites[i];
        if (site->kind != DPI_OBSERVED || (column != NULL && strcmp(site->name, column) != 0))
            continue;
        o->site[o->n++] = site;
        o->size += dpi_shape_size(&dpi_get(&m->graph, site->value)->shape);
        for (int k = 0; k < site->family->n_args; k++)
            o->wanted[o->n_wanted++] = site->arg[k];
    }
    return o->n > 0 ? DP_OK
                    : dpi_fail(err, DP_ENAME,
                               "the model observes no column '%s'; dp_fit_columns tells which it "
                               "does",
                               column != NULL ? column : "");
}

static dp_status simulate(const dp_fit *fit, const outcomes *o, const dp_given *given,
                          double *values, dp_error *err)
{
    size_t draws = given->draws != NULL ? given->draws->n : 1;
    dpi_walk w;
    dp_status status = dpi_walk_init(&w, fit, given, true, o->wanted, o->n_wanted, err);
    for (size_t k = 0; status == DP_OK && k < o->n; k++)
        status = dpi_walk_room(&w, &w.model, o->site[k], err);
    for (size_t d = 0; status == DP_OK && d < draws; d++) {
        dpi_walk_draw(&w, d);
        for (size_t first = 0, m; first < w.n_records; first += m, values += m * o->size) {
            m = w.n_records - first < w.chunk ? w.n_records - first : w.chunk;
            dpi_walk_records(&w, first, m);
            double *out = values;
            for (size_t k = 0; k < o->n; k++) {
                dpi_walk_sample(&w, &w.model, o->site[k], m, out, o->size);
                out += dpi_shape_size(&dpi_get(&fit->model->graph, o->site[k]->value)->shape);
            }
        }
    }
    dpi_walk_free(&w);
    return status;
}

static dp_status check(const dp_given *given, size_t size, size_t n, dp_error *err)
{
    size_t all;
    if (given == NULL || given->data == NULL || given->rng == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "outcomes are drawn for records: give a data set (dp_dataset_new(n) "
                        "without columns where the model reads none) and a dp_rng");
    size_t draws = given->draws != NULL ? given->draws->n : 1;
    if (dpi_mul(draws, given->data->n, &all) && dpi_mul(all, size, &all) && all == n)
        return DP_OK;
    return dpi_fail(err, DP_ESHAPE,
                    "there are %zu draws of %zu records with %zu numbers each; give room for their "
                    "product, not for %zu",
                    draws, given->data->n, size, n);
}

dp_status dp_fit_simulate(const dp_fit *fit, const char *column, const dp_given *given, size_t n,
                          double *values, dp_error *err)
{
    dpi_arena arena = {0};
    outcomes o;
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    dp_status status = dpi_check_drawn(fit->model, fit->n_sites[0], column, err);
    if (status == DP_OK)
        status = choose(fit, column, &arena, &o, err);
    if (status == DP_OK)
        status = check(given, o.size, n, err);
    if (status == DP_OK)
        status = simulate(fit, &o, given, values, err);
    dpi_arena_free(&arena);
    return status;
}
