/* Geometric: failures before the first success, whose log odds are the parameter.
 *
 * log p + y log(1 - p) is taken as -log(1 + e^-logit) - y log(1 + e^logit).  It is the negative
 * binomial with dispersion 1 and mean e^-logit. */
#include <math.h>

#include <gsl/gsl_rng.h>

#include "dist/family.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id fail = dpi_times(g, y, dpi_unary(g, &dpi_op_softplus, arg[0]));
    dpi_id succeed = dpi_unary(g, &dpi_op_softplus, dpi_unary(g, &dpi_op_neg, arg[0]));
    return dpi_unary(g, &dpi_op_neg, dpi_add(g, fail, succeed));
}

/* That the first y + 1 all fail. */
static dpi_id log_survival(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id next = dpi_add(g, y, dpi_constant(g, 1));
    return dpi_unary(g, &dpi_op_neg, dpi_times(g, next, dpi_unary(g, &dpi_op_softplus, arg[0])));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_log1mexp, log_survival(g, y, arg));
}

/* By inversion: y is at least k with chance (1 - p)^k.  Counts that double does not hold are as
 * good as none. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double y = floor(-log(gsl_rng_uniform_pos(rng)) / dpi_softplus(*arg[0]));
    return isfinite(y) ? y : NAN;
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_neg, arg[0]));
}

static void score(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[])
{
    (void)arg_size;
    double p = dpi_logistic(*arg[0]), q = dpi_logistic(-*arg[0]);
    for (size_t j = 0; j < n; j++)
        s[j] = q - y[j] * p;
}

static size_t outcomes(const double *const arg[], size_t arg_size, double y[], double mass[])
{
    (void)arg_size;
    return dpi_outcomes_negative_binomial(exp(-*arg[0]), 1, y, mass);
}

const dpi_family dpi_geometric_logit = {
    .name = "geometric_logit",
    .formula = "-log(1 + e^-logit) - y log(1 + e^logit)",
    .n_args = 1,
    .arg_name = {"logit"},
    .arg_domain = {DPI_ANY},
    .support = DPI_COUNT,
    .tied = true,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
