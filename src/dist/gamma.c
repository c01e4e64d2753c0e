/* Gamma(shape, rate) on the positive numbers.
 *
 * The logarithms of rate and x are added, not the numbers multiplied: with a small shape x is as
 * small as 1e-300 on a normal day. */
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/map.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id shape = arg[0], rate = arg[1];
    dpi_id log_x = dpi_unary(g, &dpi_op_log, x);
    dpi_id power = dpi_times(g, shape, dpi_add(g, dpi_unary(g, &dpi_op_log, rate), log_x));
    dpi_id decay = dpi_add(g, dpi_times(g, rate, x), log_x);
    return dpi_sub(g, dpi_sub(g, power, decay), dpi_unary(g, &dpi_op_lgamma, shape));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_LOWER, arg[0], dpi_times(g, arg[1], x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_UPPER, arg[0], dpi_times(g, arg[1], x));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(gsl_ran_gamma(rng, *arg[0], 1) / *arg[1]);
}

static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id power = dpi_times(g, arg[0], dpi_add(g, dpi_unary(g, &dpi_op_log, arg[1]), loc));
    dpi_id mean = dpi_times(g, arg[1], dpi_log_normal_moment(g, 1, loc, scale));
    return dpi_sub(g, dpi_sub(g, power, dpi_add(g, mean, loc)),
                   dpi_unary(g, &dpi_op_lgamma, arg[0]));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_div(g, arg[0], arg[1]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double shape = *arg[0], rate = *arg[1], level = log(rate) - dpi_polygamma(0, shape);
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = level + log(y[j]);
        s[2 * j + 1] = shape / rate - y[j];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    double mean = dpi_into_positive(*arg[0] / *arg[1]);
    size_t n = dpi_outcomes_log_gamma(*arg[0], y, mass);
    dpi_map_double(DPI_MAP_EXP, n, y, y);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(mean * dpi_into_positive(y[j]));
    return n;
}

const dpi_family dpi_gamma = {
    .name = "gamma",
    .formula = "shape log(rate x) - log x - rate x - log Gamma(shape)",
    .n_args = 2,
    .arg_name = {"shape", "rate"},
    .arg_domain = {DPI_POSITIVE, DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .expected = expected,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SHAPE, DPI_SCALE},
};
