/* Logistic(loc, scale) on the real line: the law of loc + scale times the log odds of a uniform
 * number.
 *
 * With z = (x - loc) / scale the density is e^-z / (1 + e^-z)^2 / scale, whose logarithm is
 * -log(1 + e^z) - log(1 + e^-z) - log scale: terms of one sign, even in z. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id standardised(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
}

/* -log(1 + e^a), the logarithm of the distribution function at -a. */
static dpi_id log_share(dpi_graph *g, dpi_id a)
{
    return dpi_unary(g, &dpi_op_neg, dpi_unary(g, &dpi_op_softplus, a));
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_share(g, standardised(g, x, arg));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_share(g, dpi_unary(g, &dpi_op_neg, standardised(g, x, arg)));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id both = dpi_add(g, log_cdf(g, x, arg), log_survival(g, x, arg));
    return dpi_sub(g, both, dpi_unary(g, &dpi_op_log, arg[1]));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return dpi_into_real(*arg[0] + *arg[1] * gsl_ran_logistic(rng, 1));
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[0];
}

/* The slope of the log density in z is -tanh(z / 2). */
static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    for (size_t j = 0; j < n; j++) {
        double z = (y[j] - *arg[0]) / *arg[1], fall = tanh(0.5 * z);
        s[2 * j] = fall / *arg[1];
        s[2 * j + 1] = (z * fall - 1) / *arg[1];
    }
}

/* The log odds of a Beta(1, 1) number. */
static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    size_t n = dpi_outcomes_logit_beta(1, 1, y, mass);
    for (size_t j = 0; j < n; j++)
        y[j] = dpi_into_real(*arg[0] + *arg[1] * y[j]);
    return n;
}

const dpi_family dpi_logistic_distribution = {
    .name = "logistic_distribution",
    .formula = "-log(1 + e^z) - log(1 + e^-z) - log scale, z = (x - loc) / scale",
    .n_args = 2,
    .arg_name = {"loc", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
    .role = {DPI_LOCATION, DPI_SCALE},
    .odd_in = 1,
};
