/* Exponential(rate) on the positive numbers. */
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[0]), dpi_times(g, arg[0], x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_neg, dpi_times(g, arg[0], x));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_log1mexp, log_survival(g, x, arg));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(gsl_ran_exponential(rng, 1) / *arg[0]);
}

static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id decay = dpi_times(g, arg[0], dpi_log_normal_moment(g, 1, loc, scale));
    return dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[0]), decay);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_div(g, dpi_constant(g, 1), arg[0]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++)
        s[j] = 1 / *arg[0] - y[j];
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_exponential(DPI_SMOOTH_OUTCOMES, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(y[j] / *arg[0]);
    return n;
}

const dpi_family dpi_exponential = {
    .name = "exponential",
    .formula = "log rate - rate x",
    .n_args = 1,
    .arg_name = {"rate"},
    .arg_domain = {DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .tied = true,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .expected = expected,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SCALE},
};
