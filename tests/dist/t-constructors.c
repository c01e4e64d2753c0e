/* Every constructor puts every argument where its family looks for it. */
#include <tacit/dist.h>

#include <string.h>

#include "dist/form.h"
#include "tests/lib/check.h"

/* The family's name, and its arguments by name in the order in which the header gives them. */
static void check(dp_dist found, const char *family, const char *names, double first, double second,
                  double third)
{
    const double value[] = {first, second, third};
    char joined[64] = "";
    dpi_arena arena = {0};
    dpi_no_form wrong;
    const dpi_family *row = dpi_dist_family(&arena, &found, &wrong);
    assert_non_null(row);
    assert_string_equal(row->name, family);
    for (int k = 0; k < DPI_MAX_ARGS; k++) {
        assert_null(found.arg[k].model);
        if (k < row->n_args) {
            assert_true(found.arg[k].value == value[k]);
            (void)strcat(strcat(joined, k > 0 ? " " : ""), row->arg_name[k]);
        }
    }
    assert_string_equal(joined, names);
    dpi_arena_free(&arena);
}

static void numbers_are_expressions_without_a_model(void **state)
{
    (void)state;
    dp_expr e = dp_num(-2.713);
    assert_null(e.model);
    assert_true(e.value == -2.713);
}

static void constructors_of_numbers_keep_the_order(void **state)
{
    (void)state;
    check(dp_normal(0.31, 1.7), "normal", "loc scale", 0.31, 1.7, 0);
    check(dp_half_normal(1.9), "half_normal", "scale", 1.9, 0, 0);
    check(dp_log_normal(0.37, 1.3), "log_normal", "loc scale", 0.37, 1.3, 0);
    check(dp_student_t(3.1, 0.7, 1.1), "student_t", "df loc scale", 3.1, 0.7, 1.1);
    check(dp_cauchy(0.41, 2.3), "cauchy", "loc scale", 0.41, 2.3, 0);
    check(dp_half_cauchy(2.9), "half_cauchy", "scale", 2.9, 0, 0);
    check(dp_flat(), "flat", "", 0, 0, 0);
    check(dp_flat_positive(), "flat_positive", "", 0, 0, 0);
    check(dp_laplace(0.43, 3.1), "laplace", "loc scale", 0.43, 3.1, 0);
    check(dp_gumbel(0.47, 3.3), "gumbel", "loc scale", 0.47, 3.3, 0);
    check(dp_exponential(3.7), "exponential", "rate", 3.7, 0, 0);
    check(dp_gamma(4.1, 4.3), "gamma", "shape rate", 4.1, 4.3, 0);
    check(dp_inverse_gamma(4.7, 5.3), "inverse_gamma", "shape scale", 4.7, 5.3, 0);
    check(dp_beta(5.9, 6.1), "beta", "a b", 5.9, 6.1, 0);
    check(dp_half_student_t(2.3, 2.7), "half_student_t", "df scale", 2.3, 2.7, 0);
    check(dp_logistic_distribution(0.53, 3.3), "logistic_distribution", "loc scale", 0.53, 3.3, 0);
    check(dp_asymmetric_laplace(0.59, 3.7, 0.3), "asymmetric_laplace", "loc scale quantile", 0.59,
          3.7, 0.3);
    check(dp_chi_squared(3.9), "chi_squared", "df", 3.9, 0, 0);
    check(dp_weibull(4.9, 5.1), "weibull", "shape scale", 4.9, 5.1, 0);
    check(dp_pareto(5.3, 5.7), "pareto", "minimum shape", 5.3, 5.7, 0);
    check(dp_kumaraswamy(2.3, 2.7), "kumaraswamy", "a b", 2.3, 2.7, 0);
    check(dp_skew_normal(0.47, 3.3, -1.7), "skew_normal", "loc scale shape", 0.47, 3.3, -1.7);
    check(dp_von_mises(0.51, 3.7), "von_mises", "loc concentration", 0.51, 3.7, 0);
    check(dp_beta_mean(0.61, 6.7), "beta_mean", "mean precision", 0.61, 6.7, 0);
    check(dp_dirichlet(1.3), "dirichlet", "concentration", 1.3, 0, 0);
    check(dp_mixture(dp_num(6.1), dp_exponential(6.3)), "mixture of exponential", "weights rate",
          6.1, 6.3, 0);
    check(dp_mixture(dp_num(6.1), dp_normal(6.2, 6.3)), "mixture of normal", "weights loc scale",
          6.1, 6.2, 6.3);
    check(dp_uniform(-6.7, 7.1), "uniform", "low high", -6.7, 7.1, 0);
}

static void constructors_of_expressions_keep_the_order(void **state)
{
    (void)state;
    const dp_expr a = dp_num(0.71), b = dp_num(1.73), c = dp_num(2.79);
    check(dp_normal_v(a, b), "normal", "loc scale", 0.71, 1.73, 0);
    check(dp_half_normal_v(a), "half_normal", "scale", 0.71, 0, 0);
    check(dp_log_normal_v(a, b), "log_normal", "loc scale", 0.71, 1.73, 0);
    check(dp_student_t_v(a, b, c), "student_t", "df loc scale", 0.71, 1.73, 2.79);
    check(dp_cauchy_v(a, b), "cauchy", "loc scale", 0.71, 1.73, 0);
    check(dp_half_cauchy_v(a), "half_cauchy", "scale", 0.71, 0, 0);
    check(dp_laplace_v(a, b), "laplace", "loc scale", 0.71, 1.73, 0);
    check(dp_gumbel_v(a, b), "gumbel", "loc scale", 0.71, 1.73, 0);
    check(dp_exponential_v(a), "exponential", "rate", 0.71, 0, 0);
    check(dp_gamma_v(a, b), "gamma", "shape rate", 0.71, 1.73, 0);
    check(dp_inverse_gamma_v(a, b), "inverse_gamma", "shape scale", 0.71, 1.73, 0);
    check(dp_beta_v(a, b), "beta", "a b", 0.71, 1.73, 0);
    check(dp_half_student_t_v(a, b), "half_student_t", "df scale", 0.71, 1.73, 0);
    check(dp_logistic_distribution_v(a, b), "logistic_distribution", "loc scale", 0.71, 1.73, 0);
    check(dp_asymmetric_laplace_v(a, b, c), "asymmetric_laplace", "loc scale quantile", 0.71, 1.73,
          2.79);
    check(dp_chi_squared_v(a), "chi_squared", "df", 0.71, 0, 0);
    check(dp_weibull_v(a, b), "weibull", "shape scale", 0.71, 1.73, 0);
    check(dp_pareto_v(5.9, b), "pareto", "minimum shape", 5.9, 1.73, 0);
    check(dp_kumaraswamy_v(a, b), "kumaraswamy", "a b", 0.71, 1.73, 0);
    check(dp_skew_normal_v(a, b, c), "skew_normal", "loc scale shape", 0.71, 1.73, 2.79);
    check(dp_von_mises_v(a, b), "von_mises", "loc concentration", 0.71, 1.73, 0);
    check(dp_beta_mean_v(a, b), "beta_mean", "mean precision", 0.71, 1.73, 0);
    check(dp_ordered(dp_normal_v(a, b)), "ordered normal", "loc scale", 0.71, 1.73, 0);
    check(dp_dirichlet_v(a), "dirichlet", "concentration", 0.71, 0, 0);
    check(dp_bernoulli_logit(a), "bernoulli_logit", "logit", 0.71, 0, 0);
    check(dp_chance_logit(a), "chance_logit", "logit", 0.71, 0, 0);
    check(dp_binomial_logit(a, b), "binomial_logit", "trials logit", 0.71, 1.73, 0);
    check(dp_poisson_log(a), "poisson_log", "log_rate", 0.71, 0, 0);
    check(dp_negative_binomial_log(a, b), "negative_binomial_log", "log_mean dispersion", 0.71,
          1.73, 0);
    check(dp_negative_binomial(a, b), "negative_binomial", "mean dispersion", 0.71, 1.73, 0);
    check(dp_beta_binomial(a, b, c), "beta_binomial", "trials mean precision", 0.71, 1.73, 2.79);
    check(dp_multinomial_logit(a, b), "multinomial_logit", "trials logits", 0.71, 1.73, 0);
    check(dp_dirichlet_multinomial(a, b), "dirichlet_multinomial", "trials concentration", 0.71,
          1.73, 0);
    check(dp_geometric_logit(a), "geometric_logit", "logit", 0.71, 0, 0);
    check(dp_ordered_logistic(dp_num(0.25), a), "ordered_logistic", "cutpoints", 0.71 - 0.25, 0, 0);
    check(dp_ordered_probit(dp_num(0.25), a), "ordered_probit", "cutpoints", 0.71 - 0.25, 0, 0);
    check(dp_categorical_logit(a), "categorical_logit", "logits", 0.71, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_expressions_without_a_model),
        cmocka_unit_test(constructors_of_numbers_keep_the_order),
        cmocka_unit_test(constructors_of_expressions_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
