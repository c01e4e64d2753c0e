/* The public calls: references, closed forms, safe ends, laws and refusals. */
#include <tacit/accountant.h>

#include <math.h>
#include <stdio.h>

#include "tests/accountant/oracle.h"
#include "tests/lib/check.h"

static dp_mechanism poisson(double sigma, double q, double steps)
{
    return (dp_mechanism){
        .sampling = DP_SAMPLING_POISSON, .sigma = sigma, .rate = q, .steps = (uint64_t)steps};
}

static double epsilon_of(dp_mechanism m, double delta)
{
    dp_error err = {0};
    double epsilon = NAN;
    assert_ok(dp_epsilon(&m, delta, &epsilon, &err), err.text);
    return epsilon;
}

static double delta_of(dp_mechanism m, double epsilon)
{
    dp_error err = {0};
    double delta = NAN;
    assert_ok(dp_delta(&m, epsilon, &delta, &err), err.text);
    return delta;
}

/* Not below the exact value, which is known to 1e-9, and at most 1e-3 above. */
static void check_upper(double bound, double exact)
{
    if (!(bound >= exact * (1 - 1e-9) && bound <= exact * (1 + 1e-3)))
        fail_msg("bound %.12g for exact %.12g (%+.2e)", bound, exact, bound / exact - 1);
}

static void bounds_the_reference_table(void **state)
{
    (void)state;
    for (int i = 0; i < oracle_table_size; i++) {
        const reference *r = &oracle_table[i];
        check_upper(epsilon_of(poisson(r->sigma, r->q, r->steps), r->delta),
                    fmax(r->remove, r->add));
    }
}

static void bounds_every_row_of_the_reference_file(void **state)
{
    (void)state;
    char path[4096], line[1024];
    if (oracle_file("poisson.csv", path) == NULL) {
        print_message("# no folder of references: skipped\n");
        skip();
    }
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    int rows = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        double sigma, q, steps, delta, low, high;
        assert_int_equal(
            sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &sigma, &q, &steps, &delta, &low, &high), 6);
        double bound = epsilon_of(poisson(sigma, q, steps), delta);
        if (!(bound >= low && bound <= high * (1 + 1e-3)))
            fail_msg("%s: bound %.12g outside [%.12g, %.12g (1 + 1e-3)]", line, bound, low, high);
        rows++;
    }
    (void)fclose(f);
    assert_true(rows >= 40);
}

static void full_batches_follow_the_closed_form(void **state)
{
    (void)state;
    /* mu = 1 and delta of Balle and Wang at eps = 1; inverses computed with 40 digits. */
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 1};
    assert_close(delta_of(m, 1), 0.12693673750664394, 1e-11, 0);
    check_upper(epsilon_of(m, 1e-5), 4.377178095681223);
    assert_close(epsilon_of(m, 1e-5), 4.377178095681223, 1e-11, 0);
    m = (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = 5, .rate = 1, .steps = 100};
    assert_close(epsilon_of(m, 1e-12), 15.641125779460983, 1e-11, 0);
    m = (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = 50, .rate = 1, .steps = 1000};
    assert_close(epsilon_of(m, 1e-3), 1.7939472003584784, 1e-11, 0);
    m.sampling = DP_SAMPLING_POISSON;
    assert_close(epsilon_of(m, 1e-3), 1.7939472003584784, 1e-11, 0);
}

static void nearly_full_batches_meet_the_closed_form(void **state)
{
    (void)state;
    double full = epsilon_of(
        (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = 20, .rate = 1, .steps = 100}, 1e-6);
    double nearly = epsilon_of(poisson(20, 1 - 1e-9, 100), 1e-6);
    assert_close(nearly, full, 1e-3, 0);
}

static void noise_is_the_least_that_is_enough(void **state)
{
    (void)state;
    for (int i = 0; i < oracle_noise_size; i++) {
        const noise_reference *r = &oracle_noise[i];
        dp_error err = {0};
        double sigma = NAN;
        assert_ok(dp_approximate_sigma(r->epsilon, r->delta, r->q, (uint64_t)r->steps,
                                       DP_SAMPLING_POISSON, &sigma, &err),
                  err.text);
        assert_close(sigma, r->sigma, 1e-4, 0);
        assert_true(epsilon_of(poisson(sigma, r->q, r->steps), r->delta) <= r->epsilon);
        assert_true(epsilon_of(poisson(sigma * 0.9999, r->q, r->steps), r->delta) > r->epsilon);
    }
}

static void noise_of_full_batches_is_the_closed_form(void **state)
{
    (void)state;
    dp_error err = {0};
    double sigma = NAN;
    assert_ok(
        dp_approximate_sigma(1.7939472003584784, 1e-3, 1, 1000, DP_SAMPLING_FULL, &sigma, &err),
        err.text);
    assert_close(sigma, 50, 1e-8, 0);
    assert_true(
        epsilon_of(
            (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = 1000},
            1e-3) <= 1.7939472003584784);
}

static void delta_and_epsilon_are_inverse(void **state)
{
    (void)state;
    for (int i = 0; i < oracle_table_size; i++) {
        const reference *r = &oracle_table[i];
        double exact = fmax(r->remove, r->add);
        double delta = delta_of(poisson(r->sigma, r->q, r->steps), exact);
        if (!(delta >= r->delta * (1 - 1e-6) && delta <= r->delta * 1.02))
            fail_msg("row %d: delta %.10g for exact %.10g", i, delta, r->delta);
    }
    /* Published advantage of the run with sigma 1.5. */
    double tv = delta_of(poisson(1.5, 0.0021333333333333334, 9375), 0);
    assert_close(tv, 0.06151743147873, 1e-3, 0);
    assert_true(tv >= 0.06151743147873);
}

/* A simple generator is enough to scatter points. */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static double between(uint64_t *seed, double low, double high)
{
    return low * pow(high / low, uniform(seed));
}

/* Each bound may lie 1e-3 above its exact value (or a part in 1e5 of delta away). */
static void check_order(double smaller, double larger)
{
    assert_true(smaller == smaller && larger == larger);
    if (!(smaller <= larger * (1 + 1.1e-3) + 1e-6))
        fail_msg("%.12g should not exceed %.12g", smaller, larger);
}

static void epsilon_is_monotone_everywhere(void **state)
{
    (void)state;
    uint64_t seed = 20260101;
    for (int i = 0; i < 60; i++) {
        double sigma = between(&seed, 0.5, 50), q = between(&seed, 1e-4, 0.9);
        double steps = floor(between(&seed, 1, 1e5)), delta = between(&seed, 1e-10, 0.01);
        double here = epsilon_of(poisson(sigma, q, steps), delta);
        check_order(epsilon_of(poisson(sigma * 1.07, q, steps), delta), here);
        check_order(here, epsilon_of(poisson(sigma, fmin(1, q * 1.07), steps), delta));
        check_order(here, epsilon_of(poisson(sigma, q, floor(steps * 1.07) + 1), delta));
        check_order(epsilon_of(poisson(sigma, q, steps), delta * 1.3), here);
    }
}

static void refuses(dp_mechanism m, double delta, dp_status status, const char *says)
{
    dp_error err = {0};
    double epsilon = NAN, found = NAN;
    assert_int_equal(dp_epsilon(&m, delta, &epsilon, &err), status);
    assert_contains(err.text, says);
    assert_true(epsilon == INFINITY);
    assert_int_equal(dp_epsilon(&m, delta, &epsilon, NULL), status);
    if (delta == 1e-5) {
        assert_int_equal(dp_delta(&m, 1, &found, NULL), status);
        assert_true(found == 1);
    }
}

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    const dp_mechanism good = poisson(1, 0.01, 100);
    dp_mechanism m = good;
    const double wrong_sigma[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        m.sigma = wrong_sigma[i];
        refuses(m, 1e-5, DP_EDOMAIN, "sigma is");
    }
    m = good;
    const double wrong_rate[] = {0, -0.1, 1.01, NAN};
    for (int i = 0; i < 4; i++) {
        m.rate = wrong_rate[i];
        refuses(m, 1e-5, DP_EDOMAIN, "rate is");
    }
    m = good;
    m.steps = 0;
    refuses(m, 1e-5, DP_EDOMAIN, "steps is 0");
    const double wrong_delta[] = {0, -1e-5, 1, 2, NAN};
    for (int i = 0; i < 5; i++)
        refuses(good, wrong_delta[i], DP_EDOMAIN, "delta is");
    m = good;
    m.sampling = DP_SAMPLING_NONE_GIVEN;
    refuses(m, 1e-5, DP_EDOMAIN, "name the sampler");
    m.sampling = DP_SAMPLING_FULL;
    refuses(m, 1e-5, DP_EDOMAIN, "full batches have rate 1");
    const double wrong_epsilon[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        dp_error err = {0};
        double delta = NAN;
        assert_int_equal(dp_delta(&good, wrong_epsilon[i], &delta, &err), DP_EDOMAIN);
        assert_contains(err.text, "epsilon is");
        assert_true(delta == 1);
    }
}

static void shuffled_epochs_are_refused(void **state)
{
    (void)state;
    dp_mechanism m = {.sampling = DP_SAMPLING_SHUFFLE, .sigma = 1, .rate = 0.01, .steps = 100};
    refuses(m, 1e-5, DP_EMISMATCH, "DP_SAMPLING_ALLOCATION");
    dp_error err = {0};
    double sigma = NAN;
    assert_int_equal(dp_approximate_sigma(1, 1e-5, 0.01, 100, DP_SAMPLING_SHUFFLE, &sigma, &err),
                     DP_EMISMATCH);
    assert_true(sigma == INFINITY);
}

static void refuses_what_it_cannot_resolve(void **state)
{
    (void)state;
    refuses(poisson(0.01, 0.1, 10), 1e-5, DP_EACCURACY, "sigma is");
    refuses(poisson(1, 1e-12, 10), 1e-5, DP_EACCURACY, "rate is");
    refuses(poisson(1, 0.1, 1e15), 1e-5, DP_EACCURACY, "steps is");
    refuses(poisson(1, 0.1, 10), 1e-200, DP_EACCURACY, "delta is");
}

static void noise_search_refuses(void **state)
{
    (void)state;
    const struct {
        double epsilon, delta, q;
        uint64_t steps;
        dp_status status;
        const char *says;
    } cases[] = {
        {0, 1e-5, 0.01, 100, DP_EDOMAIN, "epsilon is"},
        {-1, 1e-5, 0.01, 100, DP_EDOMAIN, "epsilon is"},
        {NAN, 1e-5, 0.01, 100, DP_EDOMAIN, "epsilon is"},
        {1, 0, 0.01, 100, DP_EDOMAIN, "delta is"},
        {1, 1, 0.01, 100, DP_EDOMAIN, "delta is"},
        {1, 1e-5, 0, 100, DP_EDOMAIN, "rate is"},
        {1, 1e-5, 2, 100, DP_EDOMAIN, "rate is"},
        {1, 1e-5, 0.01, 0, DP_EDOMAIN, "steps is 0"},
        {1e4, 1e-5, 0.01, 100, DP_EACCURACY, "outside"},
        {1e-3, 1e-12, 1, 1000000000, DP_EACCURACY, "outside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dp_error err = {0};
        double sigma = NAN;
        assert_int_equal(dp_approximate_sigma(cases[i].epsilon, cases[i].delta, cases[i].q,
                                              cases[i].steps, DP_SAMPLING_POISSON, &sigma, &err),
                         cases[i].status);
        assert_contains(err.text, cases[i].says);
        assert_true(sigma == INFINITY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_the_reference_table),
        cmocka_unit_test(bounds_every_row_of_the_reference_file),
        cmocka_unit_test(full_batches_follow_the_closed_form),
        cmocka_unit_test(nearly_full_batches_meet_the_closed_form),
        cmocka_unit_test(noise_is_the_least_that_is_enough),
        cmocka_unit_test(noise_of_full_batches_is_the_closed_form),
        cmocka_unit_test(delta_and_epsilon_are_inverse),
        cmocka_unit_test(epsilon_is_monotone_everywhere),
        cmocka_unit_test(refuses_what_is_out_of_range),
        cmocka_unit_test(shuffled_epochs_are_refused),
        cmocka_unit_test(refuses_what_it_cannot_resolve),
        cmocka_unit_test(noise_search_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
