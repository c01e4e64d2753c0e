/* What the phases of a fit cost together, against the closed form of Gaussian mechanisms: releases
 * of multipliers sigma_k are one with mu^2 = sum 1 / sigma_k^2, whose
 *
 *   delta(epsilon) = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu)
 *
 * (Dong, Roth and Su 2022, corollary 2.13), by GSL's normal distribution. */
#include "infer/budget.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "random/failure.h"
#include "tests/lib/check.h"

static double exact_delta(double mu, double epsilon)
{
    return gsl_cdf_ugaussian_P(mu / 2 - epsilon / mu) -
           exp(epsilon) * gsl_cdf_ugaussian_Q(mu / 2 + epsilon / mu);
}

/* Of what each release says of itself. */
static double mu_of(const dpi_budget *b)
{
    double square = 0;
    for (int k = 0; k < DPI_N_STAGES; k++)
        square += (double)b->releases[k] / (b->sigmas[k] * b->sigmas[k]);
    return sqrt(square);
}

static const double epsilons[] = {0.01, 0.1, 0.3, 1, 2.5, 4, 8, 20};
static const double deltas[] = {1e-10, 1e-6, 1e-5, 1e-3, 0.1};
static const uint64_t rounds[] = {0, 1, 3, 16, 100, 1000};

enum { EPSILONS = sizeof epsilons / sizeof *epsilons, DELTAS = sizeof deltas / sizeof *deltas };

static void all_phases_together_cost_what_may_be_spent(void **state)
{
    dp_error err = {0};
    (void)state;
    for (size_t i = 0; i < EPSILONS; i++)
        for (size_t j = 0; j < DELTAS; j++)
            for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
                dp_fit_opts o = {.epsilon = epsilons[i], .delta = deltas[j], .rounds = rounds[k]};
                dpi_budget b;
                assert_ok(dpi_budget_init(&b, &o, &err), err.text);
                double delta = exact_delta(mu_of(&b), o.epsilon);
                if (!(delta <= o.delta && b.epsilon <= o.epsilon && b.delta <= o.delta))
                    fail_msg("epsilon %g, delta %g: spent %.17g, %.17g; the closed form has %.17g",
                             o.epsilon, o.delta, b.epsilon, b.delta, delta);
                /* Little is left: calibration is good to 1e-4 of sigma. */
                assert_true(exact_delta(mu_of(&b) * (1 + 3e-4), o.epsilon) > o.delta);
                assert_true(exact_delta(mu_of(&b), b.epsilon) <= b.delta);
                assert_true(b.accounted < o.delta && b.accounted > 0.99 * o.delta);
            }
}

static void what_is_accounted_for_is_what_is_done(void **state)
{
    dp_error err = {0};
    dpi_budget b;
    (void)state;
    dp_fit_opts o = {.epsilon = 1, .delta = 1e-6, .rounds = 7};
    assert_ok(dpi_budget_init(&b, &o, &err), err.text);
    assert_true(b.noisy);
    assert_int_equal(b.releases[DPI_STAGE_MAIN], 7);
    for (int k = 0; k < DPI_N_STAGES; k++) {
        assert_non_null(dpi_stage_names[k]);
        assert_true(b.releases[k] > 0 && b.sigmas[k] >= b.sigma);
        assert_int_equal(b.list[k].sampling, DP_SAMPLING_FULL);
        assert_true(b.list[k].rate == 1 && b.list[k].sigma == b.sigmas[k]);
        assert_int_equal(b.list[k].steps, b.releases[k]);
        assert_int_equal(b.list[k].adjacency, 0);
    }
    assert_close(1 / mu_of(&b), b.sigma, 1e-12, 0);
    assert_true(b.releases[DPI_STAGE_CURVATURE] > 1);
    o.rounds = 3; /* there are not as many rounds as looks */
    assert_ok(dpi_budget_init(&b, &o, &err), err.text);
    assert_int_equal(b.releases[DPI_STAGE_CURVATURE], 1);
}

static void a_fit_without_privacy_has_no_noise_and_no_guarantee(void **state)
{
    dp_error err = {0};
    dpi_budget b;
    (void)state;
    dp_fit_opts o = {.mode = DP_NO_PRIVACY};
    assert_ok(dpi_budget_init(&b, &o, &err), err.text);
    assert_true(!b.noisy && isinf(b.epsilon) && b.delta == 1);
    for (int k = 0; k < DPI_N_STAGES; k++)
        assert_true(b.sigmas[k] == 0 && b.releases[k] > 0);
}

/* On an error nothing is certified. */
static void budgets_that_are_none_are_refused(void **state)
{
    static const double wrong[][2] = {{0, 1e-6},     {-1, 1e-6}, {INFINITY, 1e-6}, {NAN, 1e-6},
                                      {1, 0},        {1, 1},     {1, -1},          {1, NAN},
                                      {1, INFINITY}, {1, 2}};
    dp_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dpi_budget b;
        dp_fit_opts o = {.epsilon = wrong[i][0], .delta = wrong[i][1]};
        assert_fails(dpi_budget_init(&b, &o, &err), DP_EDOMAIN, &err, i < 4 ? "epsilon" : "delta");
        assert_true(isinf(b.epsilon) && b.delta == 1);
    }
}

/* Noise beyond what the accountant looks for. */
static void budgets_without_a_noise_are_refused(void **state)
{
    static const double wrong[][2] = {{1e-7, 1e-9}, {1e4, 1e-6}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dp_error err = {0};
        dpi_budget b;
        dp_fit_opts o = {.epsilon = wrong[i][0], .delta = wrong[i][1]};
        assert_int_equal(dpi_budget_init(&b, &o, &err), DP_EACCURACY);
        assert_true(isinf(b.epsilon));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_phases_together_cost_what_may_be_spent),
        cmocka_unit_test(what_is_accounted_for_is_what_is_done),
        cmocka_unit_test(a_fit_without_privacy_has_no_noise_and_no_guarantee),
        cmocka_unit_test(budgets_that_are_none_are_refused),
        cmocka_unit_test(budgets_without_a_noise_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
