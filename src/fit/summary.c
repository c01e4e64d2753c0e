/* Means, spreads, quantiles and covariances of global latents, from n draws of each of their
 * numbers: the fit's own, or those of the guide's hypercube. */
#include <gsl/gsl_sort.h>
#include <math.h>

#include "fit/latents.h"

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

dp_status dp_fit_summary(const dp_fit *fit, const char *name, size_t n, dp_summary *summary,
                         dp_error *err)
{
    dpi_arena arena = {0};
    const size_t count = dpi_latents_count(fit);
    double *draws = NULL;
    for (size_t e = 0; e < n; e++)
        summary[e] = (dp_summary){NAN, NAN, NAN, NAN, NAN};
    dp_status status = spread(fit, &arena, 1, &name, n, &draws, err);
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
