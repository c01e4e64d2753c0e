/* The public constructors of distributions of rows and matrices. */
#include <tacit/multivariate.h>

#include <tacit/algebra.h>

#include "dist/family.h"

dp_dist dp_multivariate_normal_cholesky(dp_expr loc, dp_expr factor)
{
    return (dp_dist){.family = &dpi_multivariate_normal, .arg = {loc, factor}};
}

dp_dist dp_multivariate_normal_covariance(dp_expr loc, dp_expr covariance)
{
    return (dp_dist){.family = &dpi_multivariate_normal, .arg = {loc, dp_cholesky(covariance)}};
}

dp_dist dp_multivariate_normal_precision(dp_expr loc, dp_expr precision)
{
    return (dp_dist){.family = &dpi_multivariate_normal_precision,
                     .arg = {loc, dp_cholesky(precision)}};
}

dp_dist dp_multivariate_normal_low_rank(dp_expr loc, dp_expr factor, dp_expr variance)
{
    return (dp_dist){.family = &dpi_multivariate_normal_low_rank, .arg = {loc, factor, variance}};
}

dp_dist dp_multivariate_student_t(dp_expr df, dp_expr loc, dp_expr factor)
{
    return (dp_dist){.family = &dpi_multivariate_student_t, .arg = {df, loc, factor}};
}

dp_dist dp_lkj_cholesky(double eta)
{
    return dp_lkj_cholesky_v(dp_num(eta));
}

dp_dist dp_lkj_cholesky_v(dp_expr eta)
{
    return (dp_dist){.family = &dpi_lkj_cholesky, .arg = {eta}};
}

dp_dist dp_unit_vector(void)
{
    return (dp_dist){.family = &dpi_unit_vector};
}

dp_dist dp_wishart_cholesky(dp_expr df, dp_expr scale_factor)
{
    return (dp_dist){.family = &dpi_wishart_cholesky, .arg = {df, scale_factor}};
}

dp_dist dp_inverse_wishart_cholesky(dp_expr df, dp_expr scale_factor)
{
    return (dp_dist){.family = &dpi_inverse_wishart_cholesky, .arg = {df, scale_factor}};
}

dp_dist dp_gaussian_random_walk(dp_expr loc, dp_expr first_scale, dp_expr scale)
{
    return (dp_dist){.family = &dpi_gaussian_random_walk, .arg = {loc, first_scale, scale}};
}

dp_dist dp_autoregressive(dp_expr loc, dp_expr first_scale, dp_expr scale, dp_expr coefficients)
{
    return (dp_dist){.family = &dpi_autoregressive, .arg = {loc, first_scale, scale, coefficients}};
}
