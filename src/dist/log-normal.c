/* e^Normal(loc, scale) on the positive numbers. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/map.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id log_x = dpi_log_of(g, x);
    dpi_id z = dpi_standardized(g, log_x, arg[0], arg[1]);
    dpi_id kernel = dpi_sub(g, dpi_scale(g, -0.5, dpi_unary(g, &dpi_op_square, z)), log_x);
    dpi_id norm =
        dpi_add(g, dpi_unary(g, &dpi_op_log, arg[1]), dpi_constant(g, 0.5 * log(2 * M_PI)));
    return dpi_sub(g, kernel, norm);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_normal.log_cdf(g, dpi_unary(g, &dpi_op_log, x), arg);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_normal.log_survival(g, dpi_unary(g, &dpi_op_log, x), arg);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_positive(exp(*arg[0] + gsl_ran_gaussian(rng, *arg[1])));
}

static dpi_id from_normal(dpi_graph *g, dpi_id noise, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_exp, dpi_add(g, arg[0], dpi_times(g, arg[1], noise)));
}

/* As of the normal, log x having the mean loc. */
static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    return dpi_sub(g, dpi_normal.expected(g, loc, scale, arg), loc);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_log_normal_moment(g, 1, arg[0], arg[1]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = (log(y[j]) - *arg[0]) / *arg[1];
        s[2 * j] = z / *arg[1];
        s[2 * j + 1] = (z * z - 1) / *arg[1];
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_normal(y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = *arg[0] + *arg[1] * y[j];
    dpi_map_double(DPI_MAP_EXP, n, y, y);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(y[j]);
    return n;
}

const dpi_family dpi_log_normal = {
    .name = "log_normal",
    .formula = "-((log x - loc) / scale)^2 / 2 - log x - log scale - log(2 pi) / 2",
    .n_args = 2,
    .arg_name = {"loc", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_ABOVE_ZERO,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .from_normal = from_normal,
    .expected = expected,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE},
};
