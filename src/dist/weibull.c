/* Weibull(shape, scale) on the positive numbers: (x / scale)^shape is exponential with rate 1.
 *
 * With t = shape log(x / scale) the log density is log shape - log x + t - e^t; the logarithms of x
 * and scale are subtracted, as their quotient need not be a double. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/map.h"

static dpi_id log_power(dpi_graph *g, dpi_id log_x, const dpi_id arg[])
{
    return dpi_times(g, arg[0], dpi_sub(g, log_x, dpi_unary(g, &dpi_op_log, arg[1])));
}

/* t of a number where e^t is one too.  Above, all is less likely than e^-(e^700), without a slope;
 * what is infinite would be no number in a product with 0, as forms leave a term out. */
static dpi_id bounded(dpi_graph *g, dpi_id log_x, const dpi_id arg[])
{
    dpi_id less = dpi_unary(g, &dpi_op_neg, log_power(g, log_x, arg));
    return dpi_unary(g, &dpi_op_neg, dpi_apply(g, &dpi_op_max, less, dpi_constant(g, -700), NULL));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id log_x = dpi_unary(g, &dpi_op_log, x), t = bounded(g, log_x, arg);
    dpi_id kernel = dpi_sub(g, t, dpi_unary(g, &dpi_op_exp, t));
    return dpi_add(g, kernel, dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[0]), log_x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id t = bounded(g, dpi_unary(g, &dpi_op_log, x), arg);
    return dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_exp, t));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_cloglog, bounded(g, dpi_unary(g, &dpi_op_log, x), arg));
}

/* The number whose (x / scale)^shape is e. */
static double from_exponential(double e, const double *const arg[])
{
    return dpi_into_positive(exp(log(e) / *arg[0] + log(*arg[1])));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return from_exponential(gsl_ran_exponential(rng, 1), arg);
}

/* For log x normal, e^t is a moment of it. */
static dpi_id expected(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[])
{
    dpi_id t = log_power(g, loc, arg), spread = dpi_times(g, arg[0], scale);
    dpi_id kernel = dpi_sub(g, t, dpi_log_normal_moment(g, 1, t, spread));
    return dpi_add(g, kernel, dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[0]), loc));
}

/* scale Gamma(1 + 1 / shape) */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id one = dpi_constant(g, 1), more = dpi_add(g, one, dpi_div(g, one, arg[0]));
    dpi_id factor = dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_lgamma, more));
    return dpi_times(g, arg[1], factor);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double shape = *arg[0], scale = *arg[1];
    for (size_t j = 0; j < n; j++) {
        double t = shape * (log(y[j]) - log(scale)), fall = expm1(t);
        s[2 * j] = (1 - t * fall) / shape;
        s[2 * j + 1] = shape * fall / scale;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_log_gamma(1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = y[j] / *arg[0] + log(*arg[1]);
    dpi_map_double(DPI_MAP_EXP, n, y, y);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_positive(y[j]);
    return n;
}

const dpi_family dpi_weibull = {
    .name = "weibull",
    .formula = "log shape - log x + t - e^t, t = shape log(x / scale)",
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
