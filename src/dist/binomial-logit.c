/* Binomial with the log odds as its parameter: y successes in n trials.
 *
 * y logit - n log(1 + e^logit) is taken as -y log(1 + e^-logit) - (n - y) log(1 + e^logit): nothing
 * cancels.
 *
 * The binomial coefficient does not depend on the log odds: where only gradients are asked for, its
 * nodes are not run. */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "num/special.h"

/* log n! */
static dpi_id log_factorial(dpi_graph *g, dpi_id n)
{
    return dpi_unary(g, &dpi_op_lgamma, dpi_add(g, n, dpi_constant(g, 1)));
}

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id n = arg[0], logit = arg[1];
    dpi_id fail = dpi_times(g, dpi_sub(g, n, y), dpi_unary(g, &dpi_op_softplus, logit));
    dpi_id succeed = dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, logit));
    dpi_id kernel = dpi_add(g, dpi_times(g, y, succeed), fail);
    dpi_id ways = dpi_add(g, log_factorial(g, y), log_factorial(g, dpi_sub(g, n, y)));
    return dpi_sub(g, dpi_sub(g, log_factorial(g, n), ways), kernel);
}

/* Both are incomplete beta functions of y + 1 and n - y.  Where y is n, the latter is 0; this
 * stands for it, whose powers are numbers: then P(Y > y) is about as small, and P(Y <= y) is 1. */
static const double least_shape = 1e-150;

static dpi_id failures(dpi_graph *g, dpi_id n, dpi_id y)
{
    return dpi_apply(g, &dpi_op_max, dpi_sub(g, n, y), dpi_constant(g, least_shape), NULL);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1));
    return dpi_beta_tail_node(g, failures(g, arg[0], y), next, dpi_unary(g, &dpi_op_neg, arg[1]));
}

static dpi_id log_survival(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1));
    return dpi_beta_tail_node(g, next, failures(g, arg[0], y), arg[1]);
}

/* GSL counts in int: more trials are done in parts, whose successes add up.  Where the variance is
 * above 2^30 a rounded normal number stands in, off by 2e-6 in the distribution function as in
 * poisson-log.c.  What is left beyond 2^48 trials has successes (or failures) so rare, p < 4e-6,
 * that they are Poisson numbers, off by at most p (Barbour and Hall 1984, Math. Proc. Camb. Phil.
 * Soc. 95, 473). */
static const double trials_at_once = 1 << 30, normal_from = 1 << 30, rare_from = 0x1p48;

static double in_parts(gsl_rng *rng, double trials, double p)
{
    double successes = 0;
    for (double left = trials; left > 0; left -= trials_at_once)
        successes +=
            gsl_ran_binomial(rng, p, (unsigned)(left < trials_at_once ? left : trials_at_once));
    return successes;
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double trials = *arg[0], p = dpi_logistic(*arg[1]), q = dpi_logistic(-*arg[1]);
    double mean = trials * p, variance = mean * q;
    if (variance > normal_from) {
        double x = round(mean + gsl_ran_gaussian(rng, sqrt(mean) * sqrt(q)));
        return x < 0 ? 0 : x > trials ? trials : x;
    }
    if (trials <= rare_from)
        return in_parts(rng, trials, p);
    return p < q ? gsl_ran_poisson(rng, mean) : trials - gsl_ran_poisson(rng, trials * q);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_times(g, arg[0], dpi_unary(g, &dpi_op_logistic, arg[1]));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double p = dpi_logistic(*arg[1]), q = dpi_logistic(-*arg[1]);
    for (size_t j = 0; j < n; j++) {
        s[2 * j] = 0;
        s[2 * j + 1] = y[j] * q - (*arg[0] - y[j]) * p;
    }
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_binomial(*arg[0], *arg[1], y, mass);
}

const dpi_family dpi_binomial_logit = {
    .name = "binomial_logit",
    .formula = "y logit - trials log(1 + e^logit) + log C(trials, y)",
    .n_args = 2,
    .arg_name = {"trials", "logit"},
    .arg_domain = {DPI_NOT_NEGATIVE, DPI_ANY},
    .support = DPI_COUNT_TO,
    .tied = true,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
