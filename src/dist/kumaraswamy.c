/* Kumaraswamy(a, b) on (0, 1): 1 - (1 - x^a)^b is uniform (Kumaraswamy 1980, J. Hydrology 46, 79;
 * Jones 2009, Stat. Methodology 6, 70).  Unlike Beta's, its distribution function is elementary.
 *
 * log(1 - x^a) is taken from a log x, which keeps its digits at both ends. */
#include <gsl/gsl_randist.h>
#include <math.h>

#include "dist/form.h"

/* log(1 - x^a) */
static dpi_id log_rest(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id power = dpi_times(g, arg[0], dpi_unary(g, &dpi_op_log, x));
    return dpi_unary(g, &dpi_op_log1mexp, power);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_times(g, arg[1], log_rest(g, x, arg));
}

/* Kept finite where x^a rounds to 0. */
static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_log_one_less(g, dpi_unary(g, &dpi_op_neg, log_survival(g, x, arg)));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id one = dpi_constant(g, 1);
    dpi_id power = dpi_times(g, dpi_sub(g, arg[0], one), dpi_unary(g, &dpi_op_log, x));
    dpi_id rest = dpi_times(g, dpi_sub(g, arg[1], one), log_rest(g, x, arg));
    dpi_id norm = dpi_add(g, dpi_unary(g, &dpi_op_log, arg[0]), dpi_unary(g, &dpi_op_log, arg[1]));
    return dpi_add(g, norm, dpi_add(g, power, rest));
}

/* The number whose survival is e^-e. */
static double from_exponential(double e, const double *const arg[])
{
    return dpi_into_unit(exp(log(-expm1(-e / *arg[1])) / *arg[0]));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return from_exponential(gsl_ran_exponential(rng, 1), arg);
}

/* b B(1 + 1 / a, b) */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id first = dpi_add(g, dpi_constant(g, 1), dpi_div(g, dpi_constant(g, 1), arg[0]));
    dpi_id top =
        dpi_add(g, dpi_unary(g, &dpi_op_lgamma, first), dpi_unary(g, &dpi_op_lgamma, arg[1]));
    dpi_id whole = dpi_unary(g, &dpi_op_lgamma, dpi_add(g, first, arg[1]));
    return dpi_times(g, arg[1], dpi_unary(g, &dpi_op_exp, dpi_sub(g, top, whole)));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double a = *arg[0], b = *arg[1];
    for (size_t j = 0; j < n; j++) {
        double l = log(y[j]);
        s[2 * j] = 1 / a + l - (b - 1) * (l / expm1(-a * l));
        s[2 * j + 1] = 1 / b + log(-expm1(a * l));
    }
}

/* log x is smooth in the logarithm of the exponential number. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_log_gamma(1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = from_exponential(exp(y[j]), arg);
    return n;
}

const dpi_family dpi_kumaraswamy = {
    .name = "kumaraswamy",
    .formula = "log a + log b + (a - 1) log x + (b - 1) log(1 - x^a)",
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
