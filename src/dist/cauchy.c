/* Cauchy(loc, scale) on the real line.  The square of z overflows for |z| > 1e154; the log density
 * is then -INFINITY. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    dpi_id kernel = dpi_unary(g, &dpi_op_log1p, dpi_unary(g, &dpi_op_square, z));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[1]), dpi_constant(g, log(M_PI)));
    return dpi_unary(g, &dpi_op_neg, dpi_add(g, kernel, norm));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    return dpi_unary(g, &dpi_op_log_cauchy_cdf, z);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, arg[0], x), arg[1]);
    return dpi_unary(g, &dpi_op_log_cauchy_cdf, z);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_real(*arg[0] + gsl_ran_cauchy(rng, *arg[1]));
}

/* z over 1 + z^2 is taken as 1 over z + 1 / z, which does not overflow. */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[0]) / *arg[1];
        s[2 * j] = z == 0 ? 0 : 2 / (z + 1 / z) / *arg[1];
        s[2 * j + 1] = (1 - 2 / (1 + z * z)) / *arg[1];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_student_t(1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_real(*arg[0] + *arg[1] * y[j]);
    return n;
}

const dpi_family dpi_cauchy = {
    .name = "cauchy",
    .formula = "-log(1 + ((x - loc) / scale)^2) - log scale - log pi",
    .n_args = 2,
    .arg_name = {"loc", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .no_mean = "a Cauchy distribution has no mean; its median is loc",
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE},
    .odd_in = 1,
};
