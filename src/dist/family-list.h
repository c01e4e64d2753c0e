/* The one list of families of single numbers: their declarations and their table are made from it.
 *
 * A family is X(name) here and the row dpi_name in its own file (family.h).  Nothing that outlives
 * a program holds a place in the list: files name families by the name in the row. */
#ifndef DPI_DIST_FAMILY_LIST_H
#define DPI_DIST_FAMILY_LIST_H

/* clang-format off */
#define DPI_FAMILIES(X)                                                                            \
    X(normal) X(half_normal) X(log_normal) X(student_t) X(cauchy) X(half_cauchy) X(laplace)        \
    X(gumbel) X(exponential) X(gamma) X(inverse_gamma) X(beta) X(uniform)                          \
    X(half_student_t) X(logistic_distribution) X(asymmetric_laplace) X(chi_squared) X(weibull)     \
    X(pareto) X(beta_mean) X(kumaraswamy) X(skew_normal) X(von_mises)                              \
    X(bernoulli_logit) X(binomial_logit) X(poisson_log) X(categorical_logit) X(chance_logit)       \
    X(negative_binomial_log) X(negative_binomial) X(geometric_logit)                               \
    X(ordered_logistic) X(ordered_probit) X(beta_binomial)
/* clang-format on */

#endif
