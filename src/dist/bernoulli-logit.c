/* Bernoulli with the log odds as its parameter: y in {0, 1}. */
#include "dist/family.h"
#include "num/special.h"

static dpi_id log_density(dpi_graph *g, dpi_id y, const dpi_id arg[])
{
    return dpi_sub(g, dpi_times(g, y, arg[0]), dpi_unary(g, &dpi_op_softplus, arg[0]));
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return gsl_rng_uniform(rng) < dpi_logistic(*arg[0]);
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
};
