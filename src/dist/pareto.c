/* Pareto(minimum, shape) from the minimum > 0 up: log(x / minimum) is exponential with rate shape.
 *
 * The minimum is a known number (dist.h): what is seen tells of it by lying above it, not by a
 * score, whose mean is not 0; so no score is made in it. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/form.h"

/* log x - log minimum */
static dpi_id log_ratio(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_sub(g, dpi_unary(g, &dpi_op_log, x), dpi_unary(g, &dpi_op_log, arg[0]));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_neg, dpi_times(g, arg[1], log_ratio(g, x, arg)));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id less = dpi_sub(g, dpi_unary(g, &dpi_op_log, arg[1]), dpi_unary(g, &dpi_op_log, x));
    return dpi_add(g, log_survival(g, x, arg), less);
}

/* Close to the minimum a difference of logarithms would have no digits left; at the minimum, where
 * an outcome may lie, the logarithm is kept finite. */
static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id above = dpi_div(g, dpi_sub(g, x, arg[0]), arg[0]);
    dpi_id power = dpi_times(g, arg[1], dpi_unary(g, &dpi_op_log1p, above));
    return dpi_log_one_less(g, power);
}

static double above(double e, const double *const arg[])
{
    return fmin(fmax(exp(log(*arg[0]) + e / *arg[1]), *arg[0]), dpi_into_real(INFINITY));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return above(gsl_ran_exponential(rng, 1), arg);
}

/* shape minimum / (shape - 1) for shape > 1, else infinite. */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id less = dpi_sub(g, arg[1], dpi_constant(g, 1));
    dpi_id more = dpi_apply(g, &dpi_op_max, less, dpi_constant(g, 0), NULL);
    return dpi_times(g, arg[0], dpi_div(g, arg[1], more));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = 0;
        s[2 * j + 1] = 1 / *arg[1] - (log(y[j]) - log(*arg[0]));
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_exponential(DPI_SMOOTH_OUTCOMES, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = above(y[j], arg);
    return n;
}

const dpi_family dpi_pareto = {
    .name = "pareto",
    .formula = "log shape + shape log minimum - (shape + 1) log x",
    .n_args = 2,
    .arg_name = {"minimum", "shape"},
    .arg_domain = {DPI_POSITIVE, DPI_POSITIVE},
    .support = DPI_FROM,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_SCALE, DPI_SHAPE},
};
