/* Poisson with the logarithm of its mean as the parameter. */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id kernel = dpi_sub(g, dpi_times(g, y, arg[0]), dpi_unary(g, &dpi_op_exp, arg[0]));
    return dpi_sub(g, kernel, dpi_unary(g, &dpi_op_lgamma, dpi_add(g, y, dpi_constant(g, 1))));
}

/* That y + 1 events take longer than this one unit of time. */
static dpi_id log_cdf(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1));
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_UPPER, next,
                         dpi_unary(g, &dpi_op_exp, arg[0]));
}

static dpi_id log_survival(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1));
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_LOWER, next,
                         dpi_unary(g, &dpi_op_exp, arg[0]));
}

/* GSL counts in unsigned int.  Above this mean a rounded normal number stands in: its distribution
 * function is off by about 1 / (6 sqrt(2 pi mean)), the first term of Edgeworth's series, 2e-6. */
static const double normal_from = 1 << 30;

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double mean = exp(*arg[0]);
    if (!isfinite(mean))
        return NAN;
    if (mean < normal_from)
        return gsl_ran_poisson(rng, mean);
    return round(mean + gsl_ran_gaussian(rng, sqrt(mean)));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_exp, arg[0]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double mean = exp(*arg[0]);
    for (size_t j = 0; j < n; j++)
        s[j] = y[j] - mean;
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_poisson(exp(*arg[0]), y, mass);
}

const dpi_family dpi_poisson_log = {
    .name = "poisson_log",
    .formula = "y log_rate - e^log_rate - log y!",
    .n_args = 1,
    .arg_name = {"log_rate"},
    .arg_domain = {DPI_ANY},
    .support = DPI_COUNT,
    .tied = true,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
