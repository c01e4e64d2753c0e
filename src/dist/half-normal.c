/* |Normal(0, scale)| on the positive numbers. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, x, arg[0]);
    dpi_id kernel = dpi_scale(g, -0.5, dpi_unary(g, &dpi_op_square, z));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[0]), dpi_constant(g, 0.5 * log(M_PI_2)));
    return dpi_sub(g, kernel, norm);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_scale(g, M_SQRT1_2, dpi_div(g, x, arg[0]));
    return dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_erf, z));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, x, arg[0]);
    dpi_id tail = dpi_log_normal_cdf_node(g, 0, dpi_unary(g, &dpi_op_neg, z));
    return dpi_add(g, tail, dpi_constant(g, M_LN2));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(fabs(gsl_ran_gaussian(rng, *arg[0])));
}

static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id in_scales = dpi_sub(g, loc, dpi_unary(g, &dpi_op_log, arg[0]));
    dpi_id kernel = dpi_scale(g, -0.5, dpi_log_normal_moment(g, 2, in_scales, scale));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[0]), dpi_constant(g, 0.5 * log(M_PI_2)));
    return dpi_sub(g, kernel, norm);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_scale(g, sqrt(M_2_PI), arg[0]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = y[j] / *arg[0];
        s[j] = (z * z - 1) / *arg[0];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_half_normal(y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(*arg[0] * y[j]);
    return n;
}

const dpi_family dpi_half_normal = {
    .name = "half_normal",
    .formula = "-(x / scale)^2 / 2 - log scale - log(pi / 2) / 2",
    .n_args = 1,
    .arg_name = {"scale"},
    .arg_domain = {DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
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
