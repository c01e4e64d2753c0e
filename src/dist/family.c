/* The table of families, and draws with a look at the arguments. */
#include "dist/family.h"

#include <math.h>

const dpi_family *const dpi_families[] = {
    &dpi_normal,          &dpi_half_normal,    &dpi_log_normal,  &dpi_student_t,
    &dpi_cauchy,          &dpi_half_cauchy,    &dpi_laplace,     &dpi_exponential,
    &dpi_gamma,           &dpi_inverse_gamma,  &dpi_beta,        &dpi_uniform,
    &dpi_bernoulli_logit, &dpi_binomial_logit, &dpi_poisson_log, &dpi_categorical_logit,
};
const size_t dpi_n_families = sizeof dpi_families / sizeof dpi_families[0];

bool dpi_in_domain(dpi_domain domain, double x)
{
    return isfinite(x) && (domain != DPI_POSITIVE || x > 0) &&
           (domain != DPI_NOT_NEGATIVE || (x >= 0 && x == floor(x)));
}

double dpi_draw(const dpi_family *family, gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    for (int k = 0; k < family->n_args && !family->vector_arg; k++)
        if (!dpi_in_domain(family->arg_domain[k], *arg[k]))
            return NAN;
    if (family->support == DPI_INTERVAL && !(*arg[0] < *arg[1]))
        return NAN;
    return family->draw(rng, arg, arg_size);
}
