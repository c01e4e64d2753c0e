/* Attackers' success, mu, Renyi divergences and posteriors. */
#include <tacit/accountant.h>

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dp_mechanism gaussian(dp_sampling sampling, double sigma, double q, double steps)
{
    return (dp_mechanism){
        .sampling = sampling, .sigma = sigma, .rate = q, .steps = (uint64_t)steps};
}

static dp_mechanism poisson(double sigma, double q, double steps)
{
    return gaussian(DP_SAMPLING_POISSON, sigma, q, steps);
}

static dp_interval tpr_of(const dp_mechanism *list, size_t n, double fpr)
{
    dp_error err = {0};
    dp_interval tpr = {0};
    assert_ok(dp_account_tpr(list, n, fpr, 0, &tpr, &err), err.text);
    return tpr;
}

/* The interval holds the exact figure, known to `known`, and is as narrow as asked. */
static void check_interval(dp_interval i, double exact, double known)
{
    if (!(i.lower <= exact * (1 + known) && exact * (1 - known) <= i.upper &&
          i.upper - i.lower <= 1e-3 * i.upper))
        fail_msg("[%.12g, %.12g] for %.12g", i.lower, i.upper, exact);
}

static double mu_of(const dp_mechanism *list, size_t n, double least)
{
    dp_error err = {0};
    double mu = NAN;
    assert_ok(dp_account_mu(list, n, least, &mu, &err), err.text);
    return mu;
}

static double renyi_of(const dp_mechanism *list, size_t n, double order)
{
    dp_error err = {0};
    double divergence = NAN;
    assert_ok(dp_account_renyi(list, n, order, &divergence, &err), err.text);
    return divergence;
}

/* Exact rates of both directions, by contour quadrature of the tails of the privacy loss. */
static const struct {
    double sigma, q, steps, fpr, remove, add;
} rates[] = {
    {1.5, 128 / 60000.0, 9375, 0.001, 0.001674568638, 0.001651874093},
    {1.5, 128 / 60000.0, 9375, 0.01, 0.01498834978, 0.01486920059},
    {1.5, 128 / 60000.0, 9375, 0.1, 0.1300090742, 0.129651605},
    {1, 0.01, 1000, 0.001, 0.004068447881, 0.00332443242},
    {1, 0.01, 1000, 0.1, 0.1942011316, 0.1874850663},
    {20, 0.1, 100000, 0.01, 0.2283400477, 0.228235451},
};

static void true_positive_rates_are_those_of_the_tails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        dp_mechanism m = poisson(rates[i].sigma, rates[i].q, rates[i].steps);
        dp_interval tpr = tpr_of(&m, 1, rates[i].fpr);
        check_interval(tpr, fmax(rates[i].remove, rates[i].add), 1e-9);
        assert_close(tpr.estimate, fmax(rates[i].remove, rates[i].add), 1e-8, 0);
    }
}

static void a_gaussian_follows_its_own_curve(void **state)
{
    (void)state;
    const dp_mechanism list[] = {gaussian(DP_SAMPLING_FULL, 2, 1, 3),
                                 gaussian(DP_SAMPLING_FULL, 1, 1, 1)};
    double mu = sqrt(3 / 4.0 + 1), fprs[] = {1e-6, 0.0123, 0.5, 0.987};
    for (int i = 0; i < 4; i++)
        check_interval(tpr_of(list, 2, fprs[i]),
                       gsl_cdf_ugaussian_P(gsl_cdf_ugaussian_Pinv(fprs[i]) + mu), 1e-10);
    assert_close(mu_of(list, 2, 1e-3), mu, 1e-12, 0);
    assert_true(mu_of(list, 2, 1e-3) >= mu);
    assert_close(renyi_of(list, 2, 7), 7 * mu * mu / 2, 1e-12, 0);
}

/* By the engines, not in closed form: rate just below 1 is nearly a Gaussian. */
static void beyond_one_half_the_curve_goes_on(void **state)
{
    (void)state;
    dp_mechanism m = poisson(2, 0.999999, 3);
    double mu = sqrt(3) / 2, fprs[] = {0.3, 0.5, 0.9};
    for (int i = 0; i < 3; i++)
        check_interval(tpr_of(&m, 1, fprs[i]),
                       gsl_cdf_ugaussian_P(gsl_cdf_ugaussian_Pinv(fprs[i]) + mu), 1e-4);
}

/* Randomised response of two answers, once: the curve has a corner at (u, v). */
static void randomised_response_has_a_corner(void **state)
{
    (void)state;
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL,
                      .noise = DP_NOISE_RANDOMISED_RESPONSE,
                      .adjacency = DP_REPLACE_ONE,
                      .sigma = 0.5,
                      .rate = 1,
                      .steps = 1,
                      .categories = 2};
    check_interval(tpr_of(&m, 1, 0.25), 0.75, 1e-12);
    check_interval(tpr_of(&m, 1, 0.1), 0.3, 1e-12);
    check_interval(tpr_of(&m, 1, 0.5), 0.75 + 0.25 / 3, 1e-12);
    assert_close(renyi_of(&m, 1, 3), 0.5 * log(0.75 * 9 + 0.25 / 9), 1e-12, 0);
}

static void rates_rise_with_steps_and_with_the_false_positive_rate(void **state)
{
    (void)state;
    dp_mechanism few = poisson(1.2, 0.02, 200), many = poisson(1.2, 0.02, 300);
    dp_interval low = tpr_of(&few, 1, 0.01), more = tpr_of(&few, 1, 0.012),
                high = tpr_of(&many, 1, 0.01);
    assert_true(low.upper < more.lower && low.upper < high.lower);
    assert_true(low.lower > 0.01);
}

static void fixed_batches_have_a_gap_and_their_bounds_hold(void **state)
{
    (void)state;
    dp_mechanism fixed = gaussian(DP_SAMPLING_FIXED, 4, 0.01, 1000);
    dp_mechanism reached = poisson(2, 0.01, 1000);
    dp_interval both = tpr_of(&fixed, 1, 0.01), inner = tpr_of(&reached, 1, 0.01);
    assert_true(both.lower <= inner.upper && inner.lower <= both.lower * (1 + 2e-3));
    assert_true(both.upper > inner.upper && both.upper < 1.5 * inner.upper);
}

static void mu_covers_the_curve_and_hardly_more(void **state)
{
    (void)state;
    dp_mechanism m = poisson(1, 0.01, 1000);
    double mu = mu_of(&m, 1, 1e-3), needed = 0;
    for (size_t i = 3; i < 5; i++)
        needed = fmax(needed, gsl_cdf_ugaussian_Pinv(rates[i].remove) -
                                  gsl_cdf_ugaussian_Pinv(rates[i].fpr));
    assert_true(mu >= needed * (1 - 1e-9));
    assert_true(mu <= needed * 1.01);
}

/* Sum over whole orders by brute force, and convexity between them. */
static void renyi_of_sampling_is_the_binomial_sum(void **state)
{
    (void)state;
    double q = 0.01, sigma = 1.5;
    dp_mechanism m = poisson(sigma, q, 250);
    for (int a = 2; a <= 5; a++) {
        double sum = 0, choose = 1;
        for (int j = 0; j <= a; choose *= (double)(a - j) / (j + 1), j++)
            sum += choose * pow(1 - q, a - j) * pow(q, j) * exp(j * (j - 1) / (2 * sigma * sigma));
        double exact = 250 * log(sum) / (a - 1);
        assert_close(renyi_of(&m, 1, a), exact, 1e-11, 0);
        assert_true(renyi_of(&m, 1, a) >= exact * (1 - 1e-11));
    }
    dp_mechanism rare = poisson(1, 1e-8, 1e6); /* q^2 (e^(1/sigma^2) - 1) a step */
    assert_close(renyi_of(&rare, 1, 2), 1e6 * 1e-16 * (exp(1) - 1), 1e-6, 0);
    double between = renyi_of(&m, 1, 2.25), below = renyi_of(&m, 1, 2), above = renyi_of(&m, 1, 3);
    assert_close(1.25 * between, 0.75 * below + 0.25 * 2 * above, 1e-10, 0);
    assert_true(renyi_of(&m, 1, 1.01) > 0 && renyi_of(&m, 1, 300) < INFINITY);
}

static void renyi_of_laplace_is_the_closed_form(void **state)
{
    (void)state;
    dp_mechanism m = {
        .sampling = DP_SAMPLING_FULL, .noise = DP_NOISE_LAPLACE, .sigma = 2, .rate = 1, .steps = 4};
    double a = 2.385, b = 2;
    double k = log(a / (2 * a - 1) * exp((a - 1) / b) + (a - 1) / (2 * a - 1) * exp(-a / b));
    assert_close(renyi_of(&m, 1, a), 4 * k / (a - 1), 1e-12, 0);
}

static void posterior_follows_bayes(void **state)
{
    (void)state;
    assert_close(dp_posterior_belief(log(3), 0.5), 0.75, 1e-15, 0);
    assert_close(dp_posterior_belief(0, 0.123), 0.123, 1e-15, 0);
    assert_close(dp_posterior_belief(1e308, 1e-300), 1, 0, 0);
    assert_close(dp_posterior_belief(2, 0.01), 0.01 * exp(2) / (0.99 + 0.01 * exp(2)), 1e-14, 0);
    const double bad[][2] = {{-1, 0.5}, {NAN, 0.5}, {1, 0}, {1, 1}, {1, NAN}, {1, -INFINITY}};
    for (int i = 0; i < 6; i++)
        assert_true(isnan(dp_posterior_belief(bad[i][0], bad[i][1])));
}

static void errors_give_the_worst_value_and_a_remedy(void **state)
{
    (void)state;
    dp_mechanism m = poisson(1, 0.01, 1000), none = {0};
    dp_mechanism shuffled = gaussian(DP_SAMPLING_SHUFFLE, 1, 0.01, 100);
    dp_mechanism fixed = gaussian(DP_SAMPLING_FIXED, 1, 0.01, 100);
    const double bad[] = {0, 1, -1, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++) {
        dp_error err = {0};
        dp_interval tpr;
        double value = 0;
        assert_int_equal(dp_account_tpr(&m, 1, bad[i], 0, &tpr, &err), DP_EDOMAIN);
        assert_true(tpr.lower == 0 && tpr.upper == 1 && isnan(tpr.estimate));
        assert_contains(err.text, "fpr");
        assert_int_equal(dp_account_mu(&m, 1, bad[i], &value, NULL), DP_EDOMAIN);
        assert_true(value == INFINITY);
        value = 0;
        if (bad[i] != INFINITY || i == 4)
            assert_int_equal(dp_account_renyi(&m, 1, bad[i], &value, NULL), DP_EDOMAIN);
        assert_true(value == INFINITY);
    }
    dp_interval tpr;
    double value = 0;
    assert_int_equal(dp_account_tpr(&none, 1, 0.1, 0, &tpr, NULL), DP_EDOMAIN);
    assert_int_equal(dp_account_tpr(&m, 0, 0.1, 0, &tpr, NULL), DP_EDOMAIN);
    assert_int_equal(dp_account_tpr(&m, 1, 0.1, NAN, &tpr, NULL), DP_EDOMAIN);
    assert_int_equal(dp_account_tpr(&shuffled, 1, 0.1, 0, &tpr, NULL), DP_EMISMATCH);
    assert_int_equal(dp_account_renyi(&fixed, 1, 2, &value, NULL), DP_EMISMATCH);
    assert_int_equal(dp_account_renyi(&m, 1, 1e7, &value, NULL), DP_EACCURACY);
    const dp_mechanism mixed[] = {m, fixed};
    assert_int_equal(dp_account_tpr(mixed, 2, 0.1, 0, &tpr, NULL), DP_EMISMATCH);
}

/* Memory that fails once either spoils the search, which then takes another road, or the answer. */
static void failed_allocations_give_the_worst_value_or_a_bound(void **state)
{
    (void)state;
    dp_mechanism m = poisson(2, 0.1, 40);
    size_t refused = 0;
    for (size_t k = 1;; k += 1 + k / 3) {
        dp_interval tpr;
        dp_error err = {0};
        size_t before = faulty_live();
        faulty_fail(k);
        dp_status status = dp_account_tpr(&m, 1, 0.05, 0.05, &tpr, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), before);
        if (status == DP_OK)
            assert_true(tpr.lower > 0.09 && tpr.upper < 0.12 && tpr.lower <= tpr.upper);
        else {
            assert_int_equal(status, DP_ENOMEM);
            assert_true(tpr.lower == 0 && tpr.upper == 1);
            refused++;
        }
        if (!failed)
            break;
    }
    assert_true(refused >= 3);
    double mu = 0;
    faulty_fail(2);
    assert_int_equal(dp_account_mu(&m, 1, 0.01, &mu, NULL), DP_ENOMEM);
    faulty_fail(0);
    assert_true(mu == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_positive_rates_are_those_of_the_tails),
        cmocka_unit_test(a_gaussian_follows_its_own_curve),
        cmocka_unit_test(beyond_one_half_the_curve_goes_on),
        cmocka_unit_test(randomised_response_has_a_corner),
        cmocka_unit_test(rates_rise_with_steps_and_with_the_false_positive_rate),
        cmocka_unit_test(fixed_batches_have_a_gap_and_their_bounds_hold),
        cmocka_unit_test(mu_covers_the_curve_and_hardly_more),
        cmocka_unit_test(renyi_of_sampling_is_the_binomial_sum),
        cmocka_unit_test(renyi_of_laplace_is_the_closed_form),
        cmocka_unit_test(posterior_follows_bayes),
        cmocka_unit_test(errors_give_the_worst_value_and_a_remedy),
        cmocka_unit_test(failed_allocations_give_the_worst_value_or_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
