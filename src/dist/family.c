/* The table of families. */
#include "dist/family.h"

const dpi_family *const dpi_families[] = {
    &dpi_normal,          &dpi_half_normal,    &dpi_log_normal,  &dpi_student_t,
    &dpi_cauchy,          &dpi_half_cauchy,    &dpi_laplace,     &dpi_exponential,
    &dpi_gamma,           &dpi_inverse_gamma,  &dpi_beta,        &dpi_uniform,
    &dpi_bernoulli_logit, &dpi_binomial_logit, &dpi_poisson_log, &dpi_categorical_logit,
};
const size_t dpi_n_families = sizeof dpi_families / sizeof dpi_families[0];
