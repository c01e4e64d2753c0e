/* Quadratic likelihoods with exact priors. */
#include "infer/surrogate.h"

#include <math.h>
#include <string.h>

#include "num/linalg.h"
#include "num/matrix.h"

static dp_status make_run(dpi_surrogate *s, dp_error *err)
{
    const dpi_objective *o = &s->view->objective;
    dpi_id *wanted = dpi_arena_alloc(&s->arena, 2 * o->n_blocks + 1, sizeof *wanted);
    size_t n = 0;
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    if (o->prior != DPI_NONE)
        wanted[n++] = o->prior;
    for (size_t b = 0; b < o->n_blocks; b++) {
        wanted[n++] = o->blocks[b].node;
        if (o->blocks[b].gradient != DPI_NONE)
            wanted[n++] = o->blocks[b].gradient;
    }
    dpi_run_spec spec = {.graph = &o->graph, .wanted = wanted, .n_wanted = n, .chunk = 1};
    return dpi_run_new(&spec, &s->run, err);
}

static void prior_slope(void *of, const double *z, double *gradient)
{
    (void)dpi_surrogate_prior(of, z, gradient);
}

static bool find_scalings(dpi_surrogate *s)
{
    const dpi_model_view *view = s->view;
    dpi_scaled *plates = dpi_arena_alloc(&s->arena, view->n_reads + 1, sizeof *plates);
    size_t n = 0;
    s->there = dpi_arena_alloc(&s->arena, s->d, sizeof *s->there);
    if (s->there == NULL || plates == NULL)
        return false;
    for (const dpi_read *a = view->reads; a < view->reads + view->n_reads; a++)
        if (a->members > 0)
            plates[n++] = (dpi_scaled){a->block->offset, a->members, a->size};
    return dpi_loosening_init(&s->as, plates, n, s->d, prior_slope, s, &s->arena);
}

dp_status dpi_surrogate_init(dpi_surrogate *s, const dpi_model_view *r, dp_error *err)
{
    size_t d = r->objective.n_theta;
    *s = (dpi_surrogate){.view = r, .d = d};
    s->centre = dpi_arena_alloc(&s->arena, d, sizeof *s->centre);
    s->linear = dpi_arena_alloc(&s->arena, d, sizeof *s->linear);
    s->precision = dpi_arena_alloc(&s->arena, d * d, sizeof *s->precision);
    s->kept_linear = dpi_arena_alloc(&s->arena, d, sizeof *s->kept_linear);
    s->kept_precision = dpi_arena_alloc(&s->arena, d * d, sizeof *s->kept_precision);
    s->away = dpi_arena_alloc(&s->arena, d, sizeof *s->away);
    s->gradient = dpi_arena_alloc(&s->arena, d, sizeof *s->gradient);
    s->tilt = dpi_arena_alloc(&s->arena, d, sizeof *s->tilt);
    bool all = s->centre != NULL && s->linear != NULL && s->precision != NULL && s->away != NULL &&
               s->gradient != NULL && s->tilt != NULL &&
               dpi_excess_init(&s->excess, d, &s->arena) &&
               dpi_doubt_init(&s->doubt, d, &s->arena) && s->kept_linear != NULL &&
               s->kept_precision != NULL && dpi_rows_init(&s->rows, d, DPI_ROWS_WHOLE, &s->arena);
    dp_status status = all ? make_run(s, err) : dpi_fail_nomem(err);
    if (status == DP_OK && !find_scalings(s))
        status = dpi_fail_nomem(err);
    if (status != DP_OK)
        dpi_surrogate_free(s);
    return status;
}

dp_status dpi_surrogate_twin(const dpi_surrogate *s, dpi_surrogate *twin, dp_error *err)
{
    dp_status status = dpi_surrogate_init(twin, s->view, err);
    if (status != DP_OK)
        return status;
    memcpy(twin->centre, s->centre, s->d * sizeof *s->centre);
    memcpy(twin->linear, s->linear, s->d * sizeof *s->linear);
    memcpy(twin->precision, s->precision, s->d * s->d * sizeof *s->precision);
    dpi_excess_copy(&twin->excess, &s->excess);
    dpi_doubt_copy(&twin->doubt, &s->doubt);
    memcpy(twin->as.loose, s->as.loose, s->as.n * sizeof *s->as.loose);
    return DP_OK;
}

void dpi_surrogate_free(dpi_surrogate *s)
{
    dpi_run_free(s->run);
    dpi_arena_free(&s->arena);
    *s = (dpi_surrogate){.d = 0};
}

/* ---- as it is drawn ---- */

void dpi_surrogate_loosen(dpi_surrogate *s, const double *z)
{
    dpi_loosening_choose(&s->as, s->precision, s->d + 1, z);
}

void dpi_surrogate_drawn(const dpi_surrogate *s, double *z)
{
    dpi_loosening_drawn(&s->as, z);
}

void dpi_surrogate_tied(const dpi_surrogate *s, double *z)
{
    dpi_loosening_tied(&s->as, z);
}

/* Leaves the tied z in s->there. */
static void tie(dpi_surrogate *s, const double *z)
{
    memcpy(s->there, z, s->d * sizeof *z);
    dpi_surrogate_tied(s, s->there);
}

void dpi_surrogate_precision(dpi_surrogate *s, const double *z, double *precision)
{
    size_t d = s->d;
    memcpy(precision, s->precision, d * d * sizeof *precision);
    tie(s, z);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < d; i++) {
            for (size_t k = 0; k < s->as.n; k++)
                if (s->as.loose[k])
                    dpi_scaling_pull(&s->as.scalings[k], s->there, precision + i * d);
            for (size_t j = 0; j < i && side == 0; j++) { /* rows become columns */
                double keep = precision[i * d + j];
                precision[i * d + j] = precision[j * d + i];
                precision[j * d + i] = keep;
            }
        }
}

/* ---- densities ---- */

static double prior_at(const dpi_surrogate *s, const double *z, double *gradient)
{
    const dpi_objective *o = &s->view->objective;
    double prior = 0;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
        if (dpi_run_numbers(s->run, b->node) > 0)
            dpi_run_write(s->run, b->node, 0, b->size, z + b->offset);
    dpi_run_globals(s->run);
    if (o->prior != DPI_NONE)
        dpi_run_read(s->run, o->prior, 0, 1, &prior);
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
        if (b->gradient != DPI_NONE)
            dpi_run_read(s->run, b->gradient, 0, b->size, gradient + b->offset);
        else
            memset(gradient + b->offset, 0, b->size * sizeof *gradient);
    return prior;
}

double dpi_surrogate_prior(dpi_surrogate *s, const double *z, double *gradient)
{
    tie(s, z);
    double prior = prior_at(s, s->there, gradient);
    return prior + dpi_loosening_pull(&s->as, s->there, gradient);
}

/* The log likelihood at s->away, which is of the scale as it looks; leaves its gradient in
 * s->gradient. */
static double likelihood(dpi_surrogate *s)
{
    double sum = 0;
    if (s->doubt.half > 0)
        return dpi_doubt_at(&s->doubt, s->away, s->gradient);
    dpi_rows_combine(&s->rows, s->away, s->gradient);
    for (size_t i = 0; i < s->d; i++) {
        sum += s->away[i] * (s->linear[i] - s->gradient[i] / 2);
        s->gradient[i] = s->linear[i] - s->gradient[i];
    }
    return sum;
}

static double log_density(void *of, const double *z, double *gradient)
{
    dpi_surrogate *s = of;
    tie(s, z);
    double sum = prior_at(s, s->there, gradient);
    size_t scale = s->excess.scale;
    for (size_t i = 0; i < s->d; i++)
        s->away[i] = s->there[i] - s->centre[i];
    if (scale < s->d)
        s->away[scale] = dpi_excess_at(&s->excess, s->away, s->tilt);
    sum += likelihood(s);
    for (size_t i = 0; i < s->d; i++)
        gradient[i] += i == scale ? 0 : s->gradient[i];
    for (size_t i = 0; i < s->d && scale < s->d; i++)
        gradient[i] += s->tilt[i] * s->gradient[scale];
    return sum + dpi_loosening_pull(&s->as, s->there, gradient);
}

dpi_target dpi_surrogate_target(dpi_surrogate *s)
{
    dpi_rows_set(&s->rows, s->precision);
    return (dpi_target){.n = s->d,
                        .log_density = log_density,
                        .of = s,
                        .scalings = s->as.held,
                        .n_scalings = dpi_loosening_held(&s->as)};
}

/* ---- the likelihood ---- */

/* By what the variance of score i differs from that at c: outcomes there look to have another scale
 * than their errors have. */
static double ratio_of(const dpi_released *what, size_t i)
{
    return i != what->scale ? what->ratio : 1;
}

/* N^-1 for N = J + v Q^-1.  Where v is less than a share of J that rounding can hide, as without
 * noise, that share stands in for it, so that what is not known at all has an inverse. */
static dp_status invert_variance(size_t d, const dpi_released *what, double *inverse, dp_error *err)
{
    double size = 0;
    for (size_t e = 0; e < d * d; e++)
        size += what->square[e] * what->variance[e] / (double)d;
    dp_status status = DP_EDOMAIN;
    for (double share = 1e-10; share < 1e-3 && status == DP_EDOMAIN; share *= 10) {
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) {
                double v = sqrt(fmax(what->noise[i], share * size)) *
                           sqrt(fmax(what->noise[j], share * size));
                double ratio = sqrt(ratio_of(what, i)) * sqrt(ratio_of(what, j));
                inverse[i * d + j] = ratio * what->variance[i * d + j] + v * what->back[i * d + j];
            }
        status = dpi_matrix_invert(d, inverse, inverse, NULL); /* an error would stay */
    }
    if (status == DP_ENOMEM)
        return dpi_fail_nomem(err);
    return status == DP_OK ? DP_OK
                           : dpi_fail(err, status, "the variance of what was released is none");
}

void dpi_surrogate_keep(dpi_surrogate *s, double weight)
{
    size_t d = s->d;
    if (weight == 0) {
        memset(s->kept_linear, 0, d * sizeof *s->kept_linear);
        memset(s->kept_precision, 0, d * d * sizeof *s->kept_precision);
        return;
    }
    dpi_matrix_times(d, s->precision, s->centre, s->gradient);
    for (size_t i = 0; i < d; i++)
        s->kept_linear[i] = weight * (s->linear[i] + s->gradient[i]);
    for (size_t e = 0; e < d * d; e++)
        s->kept_precision[e] = weight * s->precision[e];
}

/* The kept likelihood, z'(linear) - z'(precision) z / 2, around the new centre. */
static void join_kept(dpi_surrogate *s)
{
    size_t d = s->d;
    dpi_matrix_times(d, s->kept_precision, s->centre, s->gradient);
    for (size_t i = 0; i < d; i++)
        s->linear[i] += s->kept_linear[i] - s->gradient[i];
    for (size_t e = 0; e < d * d; e++)
        s->precision[e] += s->kept_precision[e];
}

dp_status dpi_surrogate_set(dpi_surrogate *s, const dpi_released *what, dp_error *err)
{
    size_t d = s->d;
    double *inverse = dpi_alloc(2 * d + 1, d * sizeof *inverse);
    if (inverse == NULL)
        return dpi_fail_nomem(err);
    double *free = inverse + d * d, *lifted = free + d * d;
    dp_status status = invert_variance(d, what, inverse, err);
    if (status == DP_OK) {
        memcpy(s->centre, what->centre, d * sizeof *s->centre);
        dpi_matrix_times(d, inverse, what->score, lifted);
        dpi_matrix_times(d, what->slope, lifted, s->linear);
        dpi_matrix_product(d, what->slope, inverse, free);
        dpi_matrix_product(d, free, what->slope, s->precision);
        join_kept(s);
        const dpi_excess_of of = {.scale = what->scale,
                                  .records = what->records,
                                  .bend = what->bend,
                                  .power = what->power,
                                  .kept = what->kept,
                                  .ratio = what->ratio,
                                  .spread = what->spread,
                                  .slope = what->slope,
                                  .inverse = inverse,
                                  .score = what->score};
        status = dpi_excess_set(&s->excess, &of, err);
    }
    if (status == DP_OK) {
        const dpi_doubt_of of = {.sd = what->doubt,
                                 .dense = s->view->p,
                                 .lengths = what->lengths,
                                 .inverse = inverse,
                                 .slope = what->slope,
                                 .score = what->score};
        status = dpi_doubt_set(&s->doubt, &of, err);
    }
    dpi_free(inverse);
    return status;
}
