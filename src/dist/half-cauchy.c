/* |Cauchy(0, scale)| on the positive numbers.  The square of x / scale overflows above 1e154; the
 * log density is then -INFINITY. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, x, arg[0]);
    dpi_id kernel = dpi_unary(g, &dpi_op_log1p, dpi_unary(g, &dpi_op_square, z));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[0]), dpi_constant(g, log(M_PI_2)));
    return dpi_unary(g, &dpi_op_neg, dpi_add(g, kernel, norm));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id angle = dpi_unary(g, &dpi_op_atan, dpi_div(g, x, arg[0]));
    return dpi_unary(g, &dpi_op_log, dpi_scale(g, M_2_PI, angle));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_unary(g, &dpi_op_neg, dpi_div(g, x, arg[0]));
    dpi_id tail = dpi_unary(g, &dpi_op_log_cauchy_cdf, z);
    return dpi_add(g, tail, dpi_constant(g, M_LN2));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(fabs(gsl_ran_cauchy(rng, *arg[0])));
}

/* z^2 - 1 over z^2 + 1. */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = y[j] / *arg[0];
        s[j] = (1 - 2 / (1 + z * z)) / *arg[0];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_half_student_t(1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(*arg[0] * y[j]);
    return n;
}

const dpi_family dpi_half_cauchy = {
    .name = "half_cauchy",
    .formula = "-log(1 + (x / scale)^2) - log scale - log(pi / 2)",
    .n_args = 1,
    .arg_name = {"scale"},
    .arg_domain = {DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .no_mean = "the mean of a half-Cauchy distribution is infinite; its median is scale",
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SCALE},
};
