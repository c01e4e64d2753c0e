/* Means, spreads, quantiles and covariances of global latents, from n draws of each of their
 * numbers: the fit's own, or those of the guide's hypercube.  Of values computed from them the
 * first three, from the same draws. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "fit/draws.h"

/* The draw in the middle of the i-th of n equal parts stands at (i + 1/2) / n; straight lines lie
 * between, and beyond the first and the last nothing changes. */
static double quantile(size_t n, const double *sorted, double q)
{
    double place = q * (double)n - 0.5, last = (double)(n - 1);
    place = place < 0 ? 0 : place > last ? last : place;
    size_t i = (size_t)place;
    return i == n - 1 ? sorted[i] : sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]);
}

static double mean_of(size_t n, const double *draws)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += draws[i] / (double)n;
    return mean;
}

static dp_summary summarise(size_t n, double *draws)
{
    double mean = mean_of(n, draws), square = 0;
    for (size_t i = 0; i < n; i++)
        square += (draws[i] - mean) * (draws[i] - mean);
    gsl_sort(draws, 1, n);
    return (dp_summary){.mean = mean,
                        .sd = sqrt(square / (double)(n - 1)),
                        .q05 = quantile(n, draws, 0.05),
                        .q50 = quantile(n, draws, 0.5),
                        .q95 = quantile(n, draws, 0.95)};
}

/* The draws of latents of n numbers in all, [n][count], in the arena. */
static dp_status spread(const dp_fit *fit, dpi_arena *arena, size_t n_names,
                        const char *const *names, size_t n, double **draws, dp_error *err)
{
    dpi_latents l = {0};
    size_t row;
    dp_status status = dpi_latents_init(&l, fit, arena, names, n_names, err);
    if (status == DP_OK && l.size != n)
        status = dpi_fail(err, DP_ESHAPE, "latent '%s'%s %zu numbers, not %zu", names[0],
                          n_names > 1 ? " and those beside it have" : " has", l.size, n);
    if (status == DP_OK && (!dpi_mul(dpi_latents_count(fit), sizeof **draws, &row) ||
                            (*draws = dpi_arena_alloc(arena, n, row)) == NULL))
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_latents_spread(&l, *draws, err);
    dpi_latents_free(&l);
    return status;
}

/* The global value of that name that is computed, or NULL. */
static const dp_fit_quantity *find_computed(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_fit_quantity *all = dp_fit_quantities(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (all[k].role == DP_FIT_DETERMINISTIC && !all[k].per_record &&
            strcmp(all[k].name, name) == 0)
            return &all[k];
    return NULL;
}

static void transpose(size_t rows, size_t columns, const double *from, double *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t e = 0; e < columns; e++)
            to[e * rows + i] = from[i * columns + e];
}

/* The guide's draws of all global latents together, as the hypercube has them. */
static dp_status draw_all(const dp_fit *fit, dpi_arena *arena, dp_draws **draws, dp_error *err)
{
    dpi_latents l = {0};
    double *spreads = NULL;
    dp_status status = dpi_draws_new(fit, dpi_latents_count(fit), draws, err);
    if (status == DP_OK && (*draws)->size == 0)
        return DP_OK;
    if (status == DP_OK)
        status = dpi_latents_init(&l, fit, arena, NULL, 0, err);
    if (status == DP_OK &&
        (spreads = dpi_arena_alloc(arena, (*draws)->n * sizeof *spreads, (*draws)->size)) == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_latents_spread(&l, spreads, err);
    if (status == DP_OK)
        transpose((*draws)->size, (*draws)->n, spreads, (*draws)->values);
    dpi_latents_free(&l);
    return status;
}

/* As spread, of a computed value. */
static dp_status compute(const dp_fit *fit, dpi_arena *arena, const dp_fit_quantity *q, size_t n,
                         double **draws, dp_error *err)
{
    const dp_expr e = {.model = fit->model, .id = dpi_fit_find(fit, q->name)};
    const size_t count = dpi_latents_count(fit);
    dp_draws *own = NULL;
    size_t row;
    if (q->size != n)
        return dpi_fail(err, DP_ESHAPE, "'%s' has %zu numbers, not %zu", q->name, q->size, n);
    double *values = NULL;
    dp_status status = fit->kept == NULL ? draw_all(fit, arena, &own, err) : DP_OK;
    if (status == DP_OK && (!dpi_mul(count, 2 * sizeof *values, &row) ||
                            (values = dpi_arena_alloc(arena, n, row)) == NULL))
        status = dpi_fail_nomem(err);
    const dp_given given = {.draws = own != NULL ? own : fit->kept};
    if (status == DP_OK)
        status = dp_fit_evaluate(fit, e, &given, n * count, values, err);
    if (status == DP_OK) {
        *draws = values + n * count;
        transpose(count, n, values, *draws);
    }
    dp_draws_free(own);
    return status;
}

dp_status dp_fit_summary(const dp_fit *fit, const char *name, size_t n, dp_summary *summary,
                         dp_error *err)
{
    dpi_arena arena = {0};
    const size_t count = dpi_latents_count(fit);
    double *draws = NULL;
    for (size_t e = 0; e < n; e++)
        summary[e] = (dp_summary){NAN, NAN, NAN, NAN, NAN};
    const dp_fit_quantity *computed = find_computed(fit, name);
    dp_status status = computed != NULL ? compute(fit, &arena, computed, n, &draws, err)
                                        : spread(fit, &arena, 1, &name, n, &draws, err);
    for (size_t e = 0; status == DP_OK && e < n; e++)
        summary[e] = summarise(count, draws + e * count);
    dpi_arena_free(&arena);
    return status;
}

static double covariance_of(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum / (double)(n - 1);
}

dp_status dp_fit_covariance(const dp_fit *fit, size_t n_names, const char *const *names, size_t n,
                            double *covariance, dp_error *err)
{
    dpi_arena arena = {0};
    const size_t count = dpi_latents_count(fit);
    double *draws = NULL;
    for (size_t e = 0; e < n; e++)
        for (size_t f = 0; f < n; f++)
            covariance[e * n + f] = NAN;
    if (n_names == 0)
        return dpi_fail(err, DP_EINVAL, "no latent is named; give at least one");
    dp_status status = spread(fit, &arena, n_names, names, n, &draws, err);
    for (size_t e = 0; status == DP_OK && e < n; e++) {
        double mean = mean_of(count, draws + e * count);
        for (size_t i = 0; i < count; i++)
            draws[e * count + i] -= mean;
    }
    for (size_t e = 0; status == DP_OK && e < n; e++)
        for (size_t f = 0; f <= e; f++)
            covariance[e * n + f] = covariance[f * n + e] =
                covariance_of(count, draws + e * count, draws + f * count);
    dpi_arena_free(&arena);
    return status;
}
