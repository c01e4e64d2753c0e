/* The public constructors: a family and its arguments in the order of its row. */
#include <tacit/dist.h>

#include "dist/family.h"

dp_expr dp_num(double value)
{
    return (dp_expr){.value = value};
}

static dp_dist of_numbers(const dpi_family *family, double first, double second, double third)
{
    return (dp_dist){.family = family, .arg = {dp_num(first), dp_num(second), dp_num(third)}};
}

static dp_dist of_expressions(const dpi_family *family, dp_expr first, dp_expr second)
{
    return (dp_dist){.family = family, .arg = {first, second, dp_num(0)}};
}

dp_dist dp_normal(double loc, double scale)
{
    return of_numbers(&dpi_normal, loc, scale, 0);
}

dp_dist dp_normal_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_normal, loc, scale);
}

dp_dist dp_half_normal(double scale)
{
    return of_numbers(&dpi_half_normal, scale, 0, 0);
}

dp_dist dp_half_normal_v(dp_expr scale)
{
    return of_expressions(&dpi_half_normal, scale, dp_num(0));
}

dp_dist dp_log_normal(double loc, double scale)
{
    return of_numbers(&dpi_log_normal, loc, scale, 0);
}

dp_dist dp_log_normal_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_log_normal, loc, scale);
}

dp_dist dp_student_t(double df, double loc, double scale)
{
    return of_numbers(&dpi_student_t, df, loc, scale);
}

dp_dist dp_student_t_v(dp_expr df, dp_expr loc, dp_expr scale)
{
    return (dp_dist){.family = &dpi_student_t, .arg = {df, loc, scale}};
}

dp_dist dp_cauchy(double loc, double scale)
{
    return of_numbers(&dpi_cauchy, loc, scale, 0);
}

dp_dist dp_cauchy_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_cauchy, loc, scale);
}

dp_dist dp_half_cauchy(double scale)
{
    return of_numbers(&dpi_half_cauchy, scale, 0, 0);
}

dp_dist dp_half_cauchy_v(dp_expr scale)
{
    return of_expressions(&dpi_half_cauchy, scale, dp_num(0));
}

dp_dist dp_half_student_t(double df, double scale)
{
    return of_numbers(&dpi_half_student_t, df, scale, 0);
}

dp_dist dp_half_student_t_v(dp_expr df, dp_expr scale)
{
    return of_expressions(&dpi_half_student_t, df, scale);
}

dp_dist dp_logistic_distribution(double loc, double scale)
{
    return of_numbers(&dpi_logistic_distribution, loc, scale, 0);
}

dp_dist dp_logistic_distribution_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_logistic_distribution, loc, scale);
}

dp_dist dp_gumbel(double loc, double scale)
{
    return of_numbers(&dpi_gumbel, loc, scale, 0);
}

dp_dist dp_gumbel_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_gumbel, loc, scale);
}

dp_dist dp_laplace(double loc, double scale)
{
    return of_numbers(&dpi_laplace, loc, scale, 0);
}

dp_dist dp_laplace_v(dp_expr loc, dp_expr scale)
{
    return of_expressions(&dpi_laplace, loc, scale);
}

dp_dist dp_asymmetric_laplace(double loc, double scale, double quantile)
{
    return of_numbers(&dpi_asymmetric_laplace, loc, scale, quantile);
}

dp_dist dp_asymmetric_laplace_v(dp_expr loc, dp_expr scale, dp_expr quantile)
{
    return (dp_dist){.family = &dpi_asymmetric_laplace, .arg = {loc, scale, quantile}};
}

dp_dist dp_exponential(double rate)
{
    return of_numbers(&dpi_exponential, rate, 0, 0);
}

dp_dist dp_exponential_v(dp_expr rate)
{
    return of_expressions(&dpi_exponential, rate, dp_num(0));
}

dp_dist dp_gamma(double shape, double rate)
{
    return of_numbers(&dpi_gamma, shape, rate, 0);
}

dp_dist dp_gamma_v(dp_expr shape, dp_expr rate)
{
    return of_expressions(&dpi_gamma, shape, rate);
}

dp_dist dp_chi_squared(double df)
{
    return of_numbers(&dpi_chi_squared, df, 0, 0);
}

dp_dist dp_chi_squared_v(dp_expr df)
{
    return of_expressions(&dpi_chi_squared, df, dp_num(0));
}

dp_dist dp_weibull(double shape, double scale)
{
    return of_numbers(&dpi_weibull, shape, scale, 0);
}

dp_dist dp_weibull_v(dp_expr shape, dp_expr scale)
{
    return of_expressions(&dpi_weibull, shape, scale);
}

dp_dist dp_pareto(double minimum, double shape)
{
    return of_numbers(&dpi_pareto, minimum, shape, 0);
}

dp_dist dp_pareto_v(double minimum, dp_expr shape)
{
    return of_expressions(&dpi_pareto, dp_num(minimum), shape);
}

dp_dist dp_inverse_gamma(double shape, double scale)
{
    return of_numbers(&dpi_inverse_gamma, shape, scale, 0);
}

dp_dist dp_inverse_gamma_v(dp_expr shape, dp_expr scale)
{
    return of_expressions(&dpi_inverse_gamma, shape, scale);
}

dp_dist dp_beta(double a, double b)
{
    return of_numbers(&dpi_beta, a, b, 0);
}

dp_dist dp_beta_v(dp_expr a, dp_expr b)
{
    return of_expressions(&dpi_beta, a, b);
}

dp_dist dp_beta_mean(double mean, double precision)
{
    return of_numbers(&dpi_beta_mean, mean, precision, 0);
}

dp_dist dp_beta_mean_v(dp_expr mean, dp_expr precision)
{
    return of_expressions(&dpi_beta_mean, mean, precision);
}

dp_dist dp_kumaraswamy(double a, double b)
{
    return of_numbers(&dpi_kumaraswamy, a, b, 0);
}

dp_dist dp_kumaraswamy_v(dp_expr a, dp_expr b)
{
    return of_expressions(&dpi_kumaraswamy, a, b);
}

dp_dist dp_skew_normal(double loc, double scale, double shape)
{
    return of_numbers(&dpi_skew_normal, loc, scale, shape);
}

dp_dist dp_skew_normal_v(dp_expr loc, dp_expr scale, dp_expr shape)
{
    return (dp_dist){.family = &dpi_skew_normal, .arg = {loc, scale, shape}};
}

dp_dist dp_von_mises(double loc, double concentration)
{
    return of_numbers(&dpi_von_mises, loc, concentration, 0);
}

dp_dist dp_von_mises_v(dp_expr loc, dp_expr concentration)
{
    return of_expressions(&dpi_von_mises, loc, concentration);
}

dp_dist dp_flat(void)
{
    return (dp_dist){.family = &dpi_flat};
}

dp_dist dp_flat_positive(void)
{
    return (dp_dist){.family = &dpi_flat_positive};
}

dp_dist dp_uniform(double low, double high)
{
    return of_numbers(&dpi_uniform, low, high, 0);
}

dp_dist dp_bernoulli_logit(dp_expr logit)
{
    return of_expressions(&dpi_bernoulli_logit, logit, dp_num(0));
}

dp_dist dp_chance_logit(dp_expr logit)
{
    return of_expressions(&dpi_chance_logit, logit, dp_num(0));
}

dp_dist dp_binomial_logit(dp_expr trials, dp_expr logit)
{
    return of_expressions(&dpi_binomial_logit, trials, logit);
}

dp_dist dp_poisson_log(dp_expr log_rate)
{
    return of_expressions(&dpi_poisson_log, log_rate, dp_num(0));
}

dp_dist dp_categorical_logit(dp_expr logits)
{
    return of_expressions(&dpi_categorical_logit, logits, dp_num(0));
}

dp_dist dp_dirichlet(double concentration)
{
    return of_numbers(&dpi_dirichlet, concentration, 0, 0);
}

dp_dist dp_dirichlet_v(dp_expr concentration)
{
    return of_expressions(&dpi_dirichlet, concentration, dp_num(0));
}
