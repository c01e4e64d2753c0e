/* Negative binomial by its mean and its dispersion, made of that by the logarithm of the mean. */
#include <math.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    const dpi_id of_log[] = {dpi_log_of(g, arg[0]), arg[1]};
    return dpi_negative_binomial_log.log_density(g, y, of_log);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    const dpi_id of_log[] = {dpi_log_of(g, arg[0]), arg[1]};
    return dpi_negative_binomial_log.log_cdf(g, y, of_log);
}

static dpi_id log_survival(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    const dpi_id of_log[] = {dpi_log_of(g, arg[0]), arg[1]};
    return dpi_negative_binomial_log.log_survival(g, y, of_log);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double log_mean = log(*arg[0]);
    const double *const of_log[] = {&log_mean, arg[1]};
    return dpi_negative_binomial_log.draw(rng, of_log, arg_size);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    double log_mean = log(*arg[0]);
    dpi_negative_binomial_log.score(n, y, (const double *const[]){&log_mean, arg[1]}, arg_size, s);
    for (size_t j = 0; j < n; j++)
        s[2 * j] /= *arg[0];
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_negative_binomial(*arg[0], *arg[1], y, mass);
}

const dpi_family dpi_negative_binomial = {
    .name = "negative_binomial",
    .formula = "log Gamma(dispersion + y) - log Gamma(dispersion) - log y! - y log(1 + e^-t) "
               "- dispersion log(1 + e^t), t = log mean - log dispersion",
    .n_args = 2,
    .arg_name = {"mean", "dispersion"},
    .arg_domain = {DPI_POSITIVE, DPI_POSITIVE},
    .support = DPI_COUNT,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
