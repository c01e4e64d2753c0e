/* Ancestral sampling: latents in the order of their declaration, each from its arguments' values,
 * and then back through the bijectors of support.h:
 *
 *   positive  z = log x
 *   unit      z = log(x / (1 - x)), and likewise of (x - low) / (high - low)
 *   from      z = log(x - low), at least that of the smallest normal number
 *   rows      as their support says (support-rows.c)
 *
 * Draws are independent, whatever funnels the prior has, which a Markov chain would be long in. */
#include "infer/prior.h"

#include <gsl/gsl_math.h>
#include <math.h>

#include "exec/run.h"
#include "model/model.h"
#include "random/gsl.h"

typedef struct drawing {
    const dp_model *model;
    dpi_run *run;
    dpi_arena arena;
    double *arg[DPI_MAX_ARGS], *value; /* the numbers of a latent's arguments, and its own */
} drawing;

static const dpi_shape *shape_of(const drawing *a, dpi_id id)
{
    return &dpi_get(&a->model->graph, id)->shape;
}

static dp_status make_run(drawing *a, dp_error *err)
{
    const dp_model *m = a->model;
    dpi_id *wanted = dpi_arena_alloc(&a->arena, m->n_sites, (DPI_MAX_ARGS + 1) * sizeof *wanted);
    size_t n = 0;
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (const dpi_site *site = m->sites; site < m->sites + m->n_sites; site++) {
        if (site->kind != DPI_LATENT)
            continue;
        wanted[n++] = site->value;
        for (int k = 0; k < site->family->n_args; k++)
            wanted[n++] = site->arg[k];
    }
    dpi_run_spec spec = {.graph = &m->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    return dpi_run_new(&spec, &a->run, err);
}

/* Room for the largest latent, and the largest of each argument. */
static dp_status make_room(drawing *a, dp_error *err)
{
    size_t value = 1, arg[DPI_MAX_ARGS] = {0};
    for (const dpi_site *site = a->model->sites; site < a->model->sites + a->model->n_sites;
         site++) {
        if (site->kind != DPI_LATENT)
            continue;
        size_t size = dpi_shape_size(shape_of(a, site->value));
        value = size > value ? size : value;
        for (int k = 0; k < site->family->n_args; k++) {
            size = dpi_shape_size(shape_of(a, site->arg[k]));
            arg[k] = size > arg[k] ? size : arg[k];
        }
    }
    a->value = dpi_arena_alloc(&a->arena, value, sizeof *a->value);
    bool made = a->value != NULL;
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        made =
            made && (a->arg[k] = dpi_arena_alloc(&a->arena, arg[k] + 1, sizeof **a->arg)) != NULL;
    return made ? DP_OK : dpi_fail_nomem(err);
}

static double free_number(dpi_support_kind support, double x, double low, double high)
{
    switch (support) {
    case DPI_ABOVE_ZERO:
        return log(x);
    case DPI_UNIT:
        return log(x) - log1p(-x);
    case DPI_CIRCLE:
        return log(dpi_into_positive(M_PI + x)) - log(dpi_into_positive(M_PI - x));
    case DPI_INTERVAL:
        return log(x - low) - log(high - x);
    case DPI_UP_TO:
        return -log(dpi_into_positive(low - x));
    case DPI_FROM:
        return log(dpi_into_positive(x - low));
    default:
        return x;
    }
}

/* Draws a latent and writes its free numbers; gives their count. */
static size_t draw_latent(drawing *a, const dpi_site *site, gsl_rng *rng, double *z)
{
    const dpi_shape *shape = shape_of(a, site->value);
    const double *arg[DPI_MAX_ARGS] = {NULL};
    size_t size = dpi_shape_size(shape), arg_size[DPI_MAX_ARGS] = {1, 1};
    size_t row = dpi_value_size(site->family, shape);
    dpi_run_globals(a->run);
    for (int k = 0; k < site->family->n_args; k++) {
        arg_size[k] = dpi_shape_size(shape_of(a, site->arg[k]));
        dpi_run_read(a->run, site->arg[k], 0, arg_size[k], a->arg[k]);
        arg[k] = a->arg[k];
    }
    dpi_draw_site(site->family, rng, arg, arg_size, size, row, a->value);
    dpi_run_write(a->run, site->value, 0, size, a->value);
    const dpi_row_support *rows = dpi_supports[site->family->support].rows;
    if (rows != NULL) {
        size_t n = shape->dim[shape->n_dims - 1], n_free = rows->n_free(n);
        for (size_t e = 0; e < size / row; e++)
            rows->free(n, a->value + e * row, z + e * n_free);
        return size / row * n_free;
    }
    for (size_t e = 0; e < size; e++)
        z[e] = free_number(site->family->support, a->value[e], a->arg[0][e % arg_size[0]],
                           a->arg[1][e % arg_size[1]]);
    return size;
}

dp_status dpi_prior_draw(const dp_model *model, size_t d, size_t n, dp_rng *rng, double *theta,
                         dp_error *err)
{
    drawing a = {.model = model};
    gsl_rng source = dpi_rng_gsl(rng);
    dp_status status = make_room(&a, err);
    if (status == DP_OK)
        status = make_run(&a, err);
    for (size_t k = 0; k < n && status == DP_OK; k++) {
        size_t at = 0; /* a block for each latent, in their order */
        for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++)
            if (site->kind == DPI_LATENT)
                at += draw_latent(&a, site, &source, theta + k * d + at);
    }
    dpi_run_free(a.run);
    dpi_arena_free(&a.arena);
    return status;
}
