/* Means, spreads, quantiles and covariances of global latents. */
#include <gsl/gsl_sort.h>
#include <math.h>

#include "fit/latents.h"

enum { DRAWS = DPI_HYPERCUBE };

static double quantile(const double *sorted, double q)
{
    double place = q * DRAWS - 0.5;
    size_t i = (size_t)place;
    return sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]);
}

static double mean_of(const double *draws)
{
    double mean = 0;
    for (size_t i = 0; i < DRAWS; i++)
        mean += draws[i] / DRAWS;
    return mean;
}

static dp_summary summarise(double *draws)
{
    double mean = mean_of(draws), square = 0;
    for (size_t i = 0; i < DRAWS; i++)
        square += (draws[i] - mean) * (draws[i] - mean);
    gsl_sort(draws, 1, DRAWS);
    return (dp_summary){.mean = mean,
                        .sd = sqrt(square / (DRAWS - 1)),
                        .q05 = quantile(draws, 0.05),
                        .q50 = quantile(draws, 0.5),
                        .q95 = quantile(draws, 0.95)};
}

/* The draws of latents of n numbers in all, [n][DRAWS], in the arena. */
static dp_status spread(const dp_fit *fit, dpi_arena *arena, size_t n_names,
                        const char *const *names, size_t n, double **draws, dp_error *err)
{
    dpi_latents l = {0};
    dp_status status = dpi_latents_init(&l, fit, arena, names, n_names, err);
    if (status == DP_OK && l.size != n)
        status = dpi_fail(err, DP_ESHAPE, "latent '%s'%s %zu numbers, not %zu", names[0],
                          n_names > 1 ? " and those beside it have" : " has", l.size, n);
    *draws = status == DP_OK ? dpi_arena_alloc(arena, n, DRAWS * sizeof **draws) : NULL;
    if (status == DP_OK && *draws == NULL)
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
    double *draws;
    for (size_t e = 0; e < n; e++)
        summary[e] = (dp_summary){NAN, NAN, NAN, NAN, NAN};
    dp_status status = spread(fit, &arena, 1, &name, n, &draws, err);
    for (size_t e = 0; status == DP_OK && e < n; e++)
        summary[e] = summarise(draws + e * DRAWS);
    dpi_arena_free(&arena);
    return status;
}

static double covariance_of(const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < DRAWS; i++)
        sum += a[i] * b[i];
    return sum / (DRAWS - 1);
}

dp_status dp_fit_covariance(const dp_fit *fit, size_t n_names, const char *const *names, size_t n,
                            double *covariance, dp_error *err)
{
    dpi_arena arena = {0};
    double *draws;
    for (size_t e = 0; e < n; e++)
        for (size_t f = 0; f < n; f++)
            covariance[e * n + f] = NAN;
    if (n_names == 0)
        return dpi_fail(err, DP_EINVAL, "no latent is named; give at least one");
    dp_status status = spread(fit, &arena, n_names, names, n, &draws, err);
    for (size_t e = 0; status == DP_OK && e < n; e++) {
        double mean = mean_of(draws + e * DRAWS);
        for (size_t i = 0; i < DRAWS; i++)
            draws[e * DRAWS + i] -= mean;
    }
    for (size_t e = 0; status == DP_OK && e < n; e++)
        for (size_t f = 0; f <= e; f++)
            covariance[e * n + f] = covariance[f * n + e] =
                covariance_of(draws + e * DRAWS, draws + f * DRAWS);
    dpi_arena_free(&arena);
    return status;
}
