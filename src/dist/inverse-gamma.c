/* 1 / Gamma(shape, rate = scale) on the positive numbers. */
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/map.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id shape = arg[0], scale = arg[1];
    dpi_id log_x = dpi_unary(g, &dpi_op_log, x);
    dpi_id power = dpi_times(g, shape, dpi_sub(g, dpi_unary(g, &dpi_op_log, scale), log_x));
    dpi_id decay = dpi_add(g, dpi_div(g, scale, x), log_x);
    return dpi_sub(g, dpi_sub(g, power, decay), dpi_unary(g, &dpi_op_lgamma, shape));
}

/* 1 / x is gamma. */
static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_UPPER, arg[0], dpi_div(g, arg[1], x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_tail_node(g, &dpi_op_log_gamma_tail, DPI_LOWER, arg[0], dpi_div(g, arg[1], x));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(*arg[1] / gsl_ran_gamma(rng, *arg[0], 1));
}

static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id power = dpi_times(g, arg[0], dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[1]), loc));
    dpi_id mean = dpi_times(g, arg[1], dpi_log_normal_moment(g, -1, loc, scale));
    return dpi_sub(g, dpi_sub(g, power, dpi_add(g, mean, loc)),
                   dpi_unary(g, &dpi_op_lgamma, arg[0]));
}

/* scale / (shape - 1) for shape > 1, else infinite. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id less = dpi_sub(g, arg[0], dpi_constant(g, 1));
    return dpi_div(g, arg[1], dpi_apply(g, &dpi_op_max, less, dpi_constant(g, 0), NULL));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double shape = *arg[0], scale = *arg[1], level = log(scale) - dpi_polygamma(0, shape);
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = level - log(y[j]);
        s[2 * j + 1] = shape / scale - 1 / y[j];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    double level = dpi_into_positive(*arg[1] / *arg[0]);
    size_t n = dpi_outcomes_log_gamma(*arg[0], y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = -y[j];
    dpi_map_double(DPI_MAP_EXP, n, y, y);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(level * dpi_into_positive(y[j]));
    return n;
}

const dpi_family dpi_inverse_gamma = {
    .name = "inverse_gamma",
    .formula = "shape log(scale / x) - log x - scale / x - log Gamma(shape)",
    .n_args = 2,
    .arg_name = {"shape", "scale"},
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
