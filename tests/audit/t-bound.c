/* The statistics of audits: against exact rational arithmetic (Python's fractions), and on
 * simulated attackers whose epsilon is known. */
#include "audit/bound.h"

#include <math.h>

#include <tacit/accountant.h>
#include <tacit/random.h>

#include "tests/lib/check.h"

enum { RUNS = 100000 };

static double without[RUNS], with[RUNS];

static void rates_have_the_bounds_of_clopper_and_pearson(void **state)
{
    (void)state;
    assert_close(dpi_rate_lower(5, 10, 0.025), 0.18708602844739852, 1e-8, 0);
    assert_close(dpi_rate_upper(5, 10, 0.025), 0.8129139715526015, 1e-8, 0);
    assert_close(dpi_rate_upper(0, 10, 0.025), 0.30849710781876083, 1e-8, 0);
    assert_close(dpi_rate_lower(90, 137, 0.005), 0.5446888679337147, 1e-8, 0);
    assert_close(dpi_rate_upper(90, 137, 0.005), 0.7579648996317583, 1e-8, 0);
    assert_true(dpi_rate_lower(0, 10, 0.025) == 0 && dpi_rate_upper(10, 10, 0.025) == 1);
    assert_close(dpi_rate_lower(10, 10, 0.025), 1 - 0.30849710781876083, 1e-8, 0);
    /* 10^8 trials: the normal approximation is good to a thousandth of the width */
    double upper = dpi_rate_upper(50000000, 100000000, 0.005);
    assert_close((upper - 0.5) / 5e-5, 2.5758293, 1e-3, 0);
}

static void one_run_has_the_p_value_of_its_theorem(void **state)
{
    (void)state;
    const double odds_of_three = log(3);
    assert_close(dpi_one_run_p_value(100, 100, 80, odds_of_three, 0), 0.14883105044299125, 1e-7, 0);
    assert_close(dpi_one_run_p_value(1000, 60, 55, odds_of_three, 1e-5), 0.0022645161231194524,
                 1e-7, 0);
    assert_close(dpi_one_run_p_value(200, 50, 38, 0, 1e-3), 0.02129476005884716, 1e-7, 0);
    assert_close(dpi_one_run_epsilon(1000, 60, 55, 1e-5, 0.01), 1.337748582932541, 1e-4, 0);
    assert_true(dpi_one_run_epsilon(1000, 60, 30, 1e-5, 0.01) == 0);
    assert_true(dpi_one_run_epsilon(1000, 0, 0, 1e-5, 0.01) == 0);
    assert_true(dpi_one_run_epsilon(1000, 60, 55, 0.4, 0.01) == 0); /* delta allows all */
}

/* Scores N(0, 1) and N(mu, 1). */
static dpi_separation separate(double mu, double delta, double alpha)
{
    dp_error err = {0};
    dp_rng *rng;
    double *const scores[2] = {without, with};
    dpi_separation found;
    assert_ok(dp_rng_new(11, &rng, &err), err.text);
    dp_rng_normal(rng, RUNS, without);
    dp_rng_normal(rng, RUNS, with);
    for (size_t i = 0; i < RUNS; i++)
        with[i] += mu;
    dp_rng_free(rng);
    dpi_separate(RUNS, scores, delta, alpha, &found);
    return found;
}

static void normal_scores_show_most_of_their_epsilon(void **state)
{
    (void)state;
    const double mus[] = {0.5, 1, 2};
    for (int k = 0; k < 3; k++) {
        dp_error err = {0};
        dpi_separation found = separate(mus[k], 1e-5, 0.01);
        double epsilon;
        dp_mechanism gauss = {
            .sampling = DP_SAMPLING_FULL, .sigma = 1 / mus[k], .rate = 1, .steps = 1};
        assert_ok(dp_epsilon(&gauss, 1e-5, &epsilon, &err), err.text);
        assert_true(found.epsilon <= epsilon && found.epsilon >= 0.4 * epsilon);
        assert_true(found.mu <= mus[k] && found.mu >= 0.9 * mus[k]);
    }
}

static void equal_worlds_show_nothing(void **state)
{
    (void)state;
    dpi_separation found = separate(0, 1e-5, 0.01);
    assert_true(found.epsilon == 0 && found.mu == 0);
}

/* In 50000 runs that decide, the rate of what never happened is below 0.00011 (log 200 / 50000). */
static void worlds_apart_show_all_that_so_many_runs_can(void **state)
{
    (void)state;
    assert_close(separate(50, 1e-5, 0.01).epsilon, log(50000 / log(200)), 1e-3, 0);
}

/* An event that is frequent without the canary and rare with it. */
static void both_directions_are_looked_at(void **state)
{
    (void)state;
    double *const scores[2] = {without, with};
    dpi_separation found;
    for (size_t i = 0; i < RUNS; i++) {
        without[i] = i % 10 == 3 ? -1 : 1;
        with[i] = i % 1000 == 3 ? -1 : 1;
    }
    dpi_separate(RUNS, scores, 1e-5, 0.01, &found);
    assert_true(found.epsilon < log(100) && found.epsilon > log(100) - 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_have_the_bounds_of_clopper_and_pearson),
        cmocka_unit_test(one_run_has_the_p_value_of_its_theorem),
        cmocka_unit_test(normal_scores_show_most_of_their_epsilon),
        cmocka_unit_test(equal_worlds_show_nothing),
        cmocka_unit_test(worlds_apart_show_all_that_so_many_runs_can),
        cmocka_unit_test(both_directions_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
