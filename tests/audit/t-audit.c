/* What the program is measured to leak, beside what it is certified to. */
#include "audit/audit.h"

#include <math.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* Nearly certain: each bound is off with probability 1e-10. */
static const double sure = 1 - 1e-10;

/* At 99 % and with a fixed seed, bounds that come near to the truth may be above it by chance. */
static dp_audit_result audit(const dp_audit_opts *opts, uint64_t seed)
{
    dp_error err = {0};
    dp_audit_result result;
    assert_ok(dpi_audit(opts, seed, &result, &err), err.text);
    assert_true(result.confidence > 0 && result.delta == opts->delta);
    if (opts->confidence == sure)
        assert_false(result.refuted);
    if (!(result.epsilon_measured_lower <= result.epsilon_certified))
        fail_msg("epsilon is measured to be at least %g and certified to be at most %g",
                 result.epsilon_measured_lower, result.epsilon_certified);
    if (opts->confidence == sure && result.epsilon_as_gaussian > result.epsilon_certified)
        fail_msg("by its mu, epsilon is measured to be at least %g and certified to be at most %g",
                 result.epsilon_as_gaussian, result.epsilon_certified);
    return result;
}

/* epsilon of mu = 1: what 1 release of sigma 1, 4 of 2 and 16 of 4 cost. */
static double epsilon_of_one(void)
{
    double epsilon;
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 1};
    assert_int_equal(dp_epsilon(&m, 1e-5, &epsilon, NULL), DP_OK);
    return epsilon;
}

static dp_audit_opts full_batch(int target, uint64_t root)
{
    return (dp_audit_opts){.target = (dp_audit_target)target,
                           .sampling = DP_SAMPLING_FULL,
                           .sigma = (double)root,
                           .delta = 1e-5,
                           .steps = root * root};
}

static void at_full_batch_at_least_half_of_epsilon_is_found(void **state)
{
    (void)state;
    for (int target = 0; target < 2; target++) {
        dp_audit_opts o = full_batch(target, 1);
        o.runs = 200000;
        dp_audit_result r = audit(&o, 7);
        assert_close(r.epsilon_certified, epsilon_of_one(), 1e-4, 0);
        assert_true(r.confidence == 0.99);
        assert_true(r.epsilon_measured_lower >= 0.5 * r.epsilon_certified);
        assert_true(r.epsilon_as_gaussian >= 0.9 * r.epsilon_certified);
        assert_true(r.steps == 1 && r.canaries == 1 && r.runs == 2 * o.runs && r.rate == 1);
        assert_true(r.false_positives > 0 && r.false_negatives < 1);
    }
}

static void several_steps_leak_what_they_are_certified_to_together(void **state)
{
    (void)state;
    for (int target = 0; target < 2; target++)
        for (uint64_t root = 2; root <= 4; root *= 2) {
            dp_audit_opts o = full_batch(target, root);
            o.runs = 80000 / root;
            o.confidence = sure;
            dp_audit_result r = audit(&o, 1000 * root);
            assert_close(r.epsilon_certified, epsilon_of_one(), 1e-4, 0);
            assert_true(r.epsilon_measured_lower >= 0.2 * r.epsilon_certified);
            assert_true(r.epsilon_as_gaussian >= 0.75 * r.epsilon_certified);
            assert_true(r.steps == root * root);
        }
}

static void poisson_sampling_leaks_no_more_than_is_certified(void **state)
{
    (void)state;
    for (int target = 0; target < 2; target++)
        for (int many = 0; many < 2; many++) {
            dp_audit_opts o = {.target = (dp_audit_target)target,
                               .sampling = DP_SAMPLING_POISSON,
                               .rate = many ? 0.25 : 0.5,
                               .sigma = many ? 1 : 0.6,
                               .delta = 1e-5,
                               .steps = many ? 6 : 1,
                               .runs = many ? 10000 : 40000};
            dp_audit_result r = audit(&o, 77);
            assert_true(r.epsilon_certified > 2 && isnan(r.epsilon_as_gaussian));
            assert_true(r.epsilon_measured_lower >= r.epsilon_certified * (many ? 0.1 : 0.3));
        }
}

static void one_run_finds_a_part(void **state)
{
    (void)state;
    for (int target = 0; target < 2; target++)
        for (int sampled = 0; sampled < 3; sampled++) {
            static const dp_sampling sampling[] = {DP_SAMPLING_FULL, DP_SAMPLING_POISSON,
                                                   DP_SAMPLING_ALLOCATION};
            dp_audit_opts o = {.target = (dp_audit_target)target,
                               .sampling = sampling[sampled],
                               .rate = sampled == 1 ? 0.5 : 0,
                               .epoch = sampled == 2 ? 2 : 0,
                               .epsilon = 4,
                               .delta = 1e-5,
                               .steps = 2,
                               .canaries = 3000};
            dp_audit_result r = audit(&o, 5);
            assert_close(r.epsilon_certified, 4, 1e-3, 0);
            assert_true(r.epsilon_measured_lower > (sampled ? 0.3 : 0.9));
            assert_true(r.runs == 1 && r.canaries == 3000 && r.correct <= r.guesses);
            assert_true(2 * r.correct > r.guesses && isnan(r.false_positives));
            assert_true(!r.refuted && isnan(r.curve_certified));
        }
}

/* Unseeded, as for users: off with probability 1e-10 each. */
static void an_audit_without_a_seed_holds_almost_surely(void **state)
{
    (void)state;
    dp_audit_result r;
    dp_audit_opts o = {.sampling = DP_SAMPLING_FULL,
                       .sigma = 0.5,
                       .delta = 1e-3,
                       .steps = 2,
                       .runs = 30000,
                       .confidence = sure};
    assert_int_equal(dp_audit(&o, &r, NULL), DP_OK);
    assert_true(r.epsilon_measured_lower <= r.epsilon_certified);
    assert_true(r.epsilon_as_gaussian <= r.epsilon_certified);
    assert_true(r.epsilon_as_gaussian > r.epsilon_certified / 2);
    o.sampling = DP_SAMPLING_POISSON;
    o.rate = 0.5;
    assert_int_equal(dp_audit(&o, &r, NULL), DP_OK);
    assert_true(r.epsilon_measured_lower <= r.epsilon_certified);
    o.runs = 0;
    o.canaries = 3000;
    assert_int_equal(dp_audit(&o, &r, NULL), DP_OK);
    assert_true(r.epsilon_measured_lower <= r.epsilon_certified);
}

static void refused(dp_audit_opts o, dp_status wanted, const char *why)
{
    dp_error err = {0};
    dp_audit_result r;
    assert_int_equal(dp_audit(&o, &r, &err), wanted);
    assert_contains(err.text, why);
    assert_true(r.epsilon_certified == INFINITY && r.epsilon_measured_lower == 0);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const dp_audit_opts good = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .delta = 1e-5};
    dp_audit_opts o = good;
    o.sampling = DP_SAMPLING_NONE_GIVEN;
    refused(o, DP_EUNSUPPORTED, "sampling 0 has no audit");
    o = good, o.target = (dp_audit_target)99;
    refused(o, DP_EINVAL, "target 99");
    o = good, o.runs = 99;
    refused(o, DP_EDOMAIN, "runs is 99");
    o = good, o.canaries = 9;
    refused(o, DP_EDOMAIN, "canaries is 9");
    o = good, o.canaries = 100, o.runs = 100;
    refused(o, DP_EINVAL, "give one of the two");
    o = good, o.confidence = 1;
    refused(o, DP_EDOMAIN, "confidence is 1");
    o = good, o.delta = 0;
    refused(o, DP_EDOMAIN, "delta is 0");
    o = good, o.sigma = 0;
    refused(o, DP_EDOMAIN, "epsilon is 0");
    o = good, o.sampling = DP_SAMPLING_POISSON;
    refused(o, DP_EDOMAIN, "rate is 0");
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int one = 0; one < 2; one++) {
        dp_audit_opts o = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .delta = 1e-5};
        o.runs = one ? 0 : 100;
        o.canaries = one ? 10 : 0;
        size_t before = faulty_live(), k = 1;
        for (;; k++) {
            dp_audit_result r;
            faulty_fail(k);
            dp_status status = dpi_audit(&o, 3, &r, NULL);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(faulty_live(), before);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_true(failed == (r.epsilon_certified == INFINITY));
            if (!failed)
                break;
        }
        assert_true(k > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_full_batch_at_least_half_of_epsilon_is_found),
        cmocka_unit_test(several_steps_leak_what_they_are_certified_to_together),
        cmocka_unit_test(poisson_sampling_leaks_no_more_than_is_certified),
        cmocka_unit_test(one_run_finds_a_part),
        cmocka_unit_test(an_audit_without_a_seed_holds_almost_surely),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
