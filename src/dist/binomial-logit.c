/* Binomial with the log odds as its parameter: y successes in n trials.
 *
 * y logit - n log(1 + e^logit) is taken as -y log(1 + e^-logit) - (n - y) log(1 + e^logit): nothing
 * cancels.
 *
 * The binomial coefficient does not depend on the log odds: where only gradients are asked for, its
 * nodes are not run. */
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

/* GSL counts in int: more trials are done in parts, whose successes add up. */
static const double trials_at_once = 1 << 30;

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double left = *arg[0], p = dpi_logistic(*arg[1]), successes = 0;
    while (left > 0) {
        double now = left < trials_at_once ? left : trials_at_once;
        successes += gsl_ran_binomial(rng, p, (unsigned)now);
        left -= now;
    }
    return successes;
}

const dpi_family dpi_binomial_logit = {
    .name = "binomial_logit",
    .formula = "y logit - trials log(1 + e^logit) + log C(trials, y)",
    .n_args = 2,
    .arg_name = {"trials", "logit"},
    .arg_domain = {DPI_NOT_NEGATIVE, DPI_ANY},
    .support = DPI_COUNT_TO,
    .log_density = log_density,
    .draw = draw,
};
