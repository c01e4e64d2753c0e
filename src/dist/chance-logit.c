/* A chance x in [0, 1] beside Bernoulli's log odds: the mean of Bernoulli's log density over draws
 * y that are 1 with chance x, x log p + (1 - x) log(1 - p) with p = 1 / (1 + e^-logit).
 *
 * x logit - log(1 + e^logit) is its short form, which cancels where x is near p and p near 0 or 1.
 * Both terms of -(1 - x) log(1 + e^logit) - x log(1 + e^-logit) have one sign: no digit is lost,
 * neither of the value nor, where x is 0 or 1, of the derivative.  It is not normalised in x; draws
 * are 0 or 1, for which it is Bernoulli's. */
#include "dist/family.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), x);
    dpi_id of_zero = dpi_unary(g, &dpi_op_softplus, arg[0]);
    dpi_id of_one = dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, arg[0]));
    dpi_id surprise = dpi_add(g, dpi_times(g, rest, of_zero), dpi_times(g, x, of_one));
    return dpi_unary(g, &dpi_op_neg, surprise);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return gsl_rng_uniform(rng) < dpi_logistic(*arg[0]);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_logistic, arg[0]);
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double p = dpi_logistic(*arg[0]), q = dpi_logistic(-*arg[0]);
    for (size_t j = 0; j < n; j++)
        s[j] = y[j] * q - (1 - y[j]) * p;
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_binary(*arg[0], y, mass);
}

const dpi_family dpi_chance_logit = {
    .name = "chance_logit",
    .formula = "x logit - log(1 + e^logit)",
    .n_args = 1,
    .arg_name = {"logit"},
    .arg_domain = {DPI_ANY},
    .support = DPI_CHANCE,
    .log_density = log_density,
    .draw = draw,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
