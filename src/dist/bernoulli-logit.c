/* Bernoulli with the log odds as its parameter: y in {0, 1}.
 *
 * y logit - log(1 + e^logit) is -log(1 + e^(s logit)) with s = 1 - 2y, which keeps all digits of
 * value and derivative where y is nearly certain. */
#include "dist/family.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    dpi_id sign = dpi_sub(g, dpi_constant(g, 1), dpi_scale(g, 2, y));
    dpi_id surprise = dpi_unary(g, &dpi_op_softplus, dpi_times(g, sign, arg[0]));
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

const dpi_family dpi_bernoulli_logit = {
    .name = "bernoulli_logit",
    .formula = "y logit - log(1 + e^logit)",
    .n_args = 1,
    .arg_name = {"logit"},
    .arg_domain = {DPI_ANY},
    .support = DPI_BINARY,
    .log_density = log_density,
    .draw = draw,
    .mean = mean,
    .score = score,
    .outcomes = outcomes,
};
