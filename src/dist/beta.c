/* Beta(a, b) on (0, 1). */
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/map.h"
#include "num/special.h"

static dpi_id log_beta(dpi_graph *g, dpi_id a, dpi_id b)
{
    dpi_id sum = dpi_unary(g, &dpi_op_lgamma, dpi_add(g, a, b));
    return dpi_sub(g, dpi_add(g, dpi_unary(g, &dpi_op_lgamma, a), dpi_unary(g, &dpi_op_lgamma, b)),
                   sum);
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id minus_one = dpi_constant(g, -1);
    dpi_id rest = dpi_unary(g, &dpi_op_log1p, dpi_unary(g, &dpi_op_neg, x));
    dpi_id low = dpi_times(g, dpi_add(g, arg[0], minus_one), dpi_unary(g, &dpi_op_log, x));
    dpi_id high = dpi_times(g, dpi_add(g, arg[1], minus_one), rest);
    return dpi_sub(g, dpi_add(g, low, high), log_beta(g, arg[0], arg[1]));
}

static dpi_id log_odds(dpi_graph *g, dpi_id x)
{
    dpi_id rest = dpi_unary(g, &dpi_op_log1p, dpi_unary(g, &dpi_op_neg, x));
    return dpi_sub(g, dpi_unary(g, &dpi_op_log, x), rest);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_beta_tail_node(g, arg[0], arg[1], log_odds(g, x));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_beta_tail_node(g, arg[1], arg[0], dpi_unary(g, &dpi_op_neg, log_odds(g, x)));
}

/* Below this shape, 1 / shape overflows; long before, all mass is at the ends: x is above 1/2 with
 * probability a / (a + b), and then 1 to double precision. */
static const double at_the_ends = 1e-300;

/* Two Gamma numbers, whose sum may overflow, or GSL's method (Johnk 1964) for two small shapes,
 * whose Gamma numbers may both be 0. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    double a = *arg[0], b = *arg[1];
    (void)arg_size;
    if (a < at_the_ends && b < at_the_ends)
        return dpi_into_unit(gsl_rng_uniform(rng) * (a / b + 1) < a / b);
    if (a <= 1 && b <= 1)
        return dpi_into_unit(gsl_ran_beta(rng, a, b));
    double x = gsl_ran_gamma(rng, a, 1), y = gsl_ran_gamma(rng, b, 1);
    return dpi_into_unit(1 / (1 + y / x));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_div(g, arg[0], dpi_add(g, arg[0], arg[1]));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double a = *arg[0], b = *arg[1], level = dpi_polygamma(0, a + b);
    double below = level - dpi_polygamma(0, a), above = level - dpi_polygamma(0, b);
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = log(y[j]) + below;
        s[2 * j + 1] = log1p(-y[j]) + above;
    }
}

/* An outcome is at most 1 - 2^-53, as a draw is: where b is below 1/2 the tail beyond is felt. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_logit_beta(*arg[0], *arg[1], y, mass);
    double odds = dpi_into_positive(*arg[0] / *arg[1]);
    dpi_map_double(DPI_MAP_EXP, n, y, y);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_unit(1 / (1 + 1 / (odds * dpi_into_positive(y[j]))));
    return n;
}

const dpi_family dpi_beta = {
    .name = "beta",
    .formula = "(a - 1) log x + (b - 1) log(1 - x) - log B(a, b)",
    .n_args = 2,
    .arg_name = {"a", "b"},
    .arg_domain = {DPI_POSITIVE, DPI_POSITIVE},
    .support = DPI_UNIT,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
