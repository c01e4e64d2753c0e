/* The certified trade-off curve put to the test: programs that do what they say stand it, and each
 * sampling with 70 % of its noise is refuted. */
#include "audit/audit.h"

#include <math.h>

#include "audit/claim.h"
#include "random/grid.h"
#include "tests/lib/check.h"

/* Three bounds in each of eight audits of programs that are right are off with probability 1e-11
 * each. */
static const double sure = 1 - 1e-11;

static double noise_share = 1; /* of what the program draws */

void __real_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);
void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);

/* The sum on its grid plus a share of the noise; the roundings in between are not looked at. */
void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out)
{
    __real_dpi_grid_round(g, n, steps, worth, out);
    for (size_t j = 0; j < n; j++) {
        double sum = steps[j] * (DPI_GRID_KEPT_SCALE / DPI_GRID_SCALE) * worth;
        out[j] = sum + noise_share * (out[j] - sum);
    }
}

static const dp_audit_opts runs_of[] = {
    {.sampling = DP_SAMPLING_FULL, .epsilon = 4, .delta = 1e-5, .steps = 3, .runs = 40000},
    {.sampling = DP_SAMPLING_POISSON,
     .rate = 0.1,
     .epsilon = 4,
     .delta = 1e-5,
     .steps = 10,
     .runs = 40000},
    {.sampling = DP_SAMPLING_FIXED,
     .rate = 0.1,
     .epsilon = 4,
     .delta = 1e-5,
     .steps = 10,
     .runs = 40000},
    {.sampling = DP_SAMPLING_ALLOCATION,
     .epoch = 10,
     .epsilon = 4,
     .delta = 1e-5,
     .steps = 10,
     .runs = 20000},
};

enum { SAMPLINGS = sizeof runs_of / sizeof *runs_of };

static dp_audit_result audit(dp_audit_opts o, double share, uint64_t seed)
{
    dp_error err = {0};
    dp_audit_result r;
    o.confidence = sure;
    noise_share = share;
    dp_status status = dpi_audit(&o, seed, &r, &err);
    noise_share = 1;
    assert_ok(status, err.text);
    assert_close(r.epsilon_certified, o.epsilon, 3e-3, 0);
    return r;
}

/* Who sees the releases has an attack as strong as the worst case, so that what it measures lies
 * near to the curve. */
static void programs_that_are_right_are_not_refuted(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLINGS; i++)
        for (int target = 0; target < 2; target++) {
            dp_audit_opts o = runs_of[i];
            o.target = (dp_audit_target)target;
            o.runs = 5000;
            dp_audit_result r = audit(o, 1, 17 + i);
            if (target == DP_AUDIT_GRADIENTS)
                assert_true(r.curve_true_positives > 0.6 * r.curve_certified);
            if (r.refuted || !(r.curve_true_positives <= r.curve_certified))
                fail_msg("sampling %d: %g of true positives are measured, %g certified",
                         (int)o.sampling, r.curve_true_positives, r.curve_certified);
            assert_true(r.curve_false_positives > 0 && r.curve_certified > r.curve_false_positives);
        }
}

static void seven_tenths_of_the_noise_are_seen_at_each_sampling(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLINGS; i++) {
        dp_audit_result r = audit(runs_of[i], 0.7, 23 + i);
        if (!r.refuted)
            fail_msg("sampling %d: %g of true positives are measured, %g certified",
                     (int)runs_of[i].sampling, r.curve_true_positives, r.curve_certified);
        assert_true(r.curve_true_positives > 1.02 * r.curve_certified);
    }
}

static void what_goes_with_a_sampling_is_checked(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_audit_result r;
    const dp_audit_opts fixed = {
        .sampling = DP_SAMPLING_FIXED, .rate = 0.1, .sigma = 1, .delta = 1e-5, .runs = 100};
    dp_audit_opts o = fixed;
    o.rate = M_SQRT1_2;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "at most 1000 records");
    o.rate = 1;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "below 1");
    o = fixed, o.runs = 0, o.canaries = 100;
    assert_fails(dp_audit(&o, &r, &err), DP_EUNSUPPORTED, &err, "replaced");
    o = fixed, o.epoch = 10;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "epoch is 10");
    o = fixed, o.sampling = DP_SAMPLING_ALLOCATION, o.rate = 0;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "epoch is 0");
    o.epoch = 10, o.steps = 15;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "whole epochs");
    assert_true(isnan(r.curve_certified) && !r.refuted);
}

/* Halves of scores in order, as dpi_separate leaves them. */
static void fill(size_t n, double *scores, double moved)
{
    for (size_t half = 0; half < 2; half++)
        for (size_t i = 0; i < n / 2; i++)
            scores[half * (n / 2) + i] = ((double)i + 0.5) / (double)(n / 2) + moved;
}

/* Scores uniform on [0, 1] and on [m, 1 + m]: TPR = FPR + m; full batches with mu allow Phi(mu +
 * Phi^-1(FPR)). */
static void the_curve_decides_and_not_one_rate(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double without[N], with[N];
    double *const scores[2] = {without, with};
    const dp_mechanism run = {
        .sampling = DP_SAMPLING_FULL, .sigma = 2, .rate = 1, .steps = 1}; /* mu = 1/2 */
    dpi_claim claim;
    fill(N, without, 0);
    fill(N, with, 0.05);
    assert_int_equal(dpi_claim_judge(&run, N, scores, 1e-3, &claim, NULL), DP_OK);
    assert_true(claim.refuted); /* at 0.001: 0.051 where Phi(.5 - 3.09) = 0.0048 are allowed */
    assert_true(claim.true_positives > 0.03 && claim.certified < 0.03);
    fill(N, with, 0.001);
    assert_int_equal(dpi_claim_judge(&run, N, scores, 1e-3, &claim, NULL), DP_OK);
    assert_false(claim.refuted);
    fill(N, with, 0);
    assert_int_equal(dpi_claim_judge(&run, N, scores, 1e-3, &claim, NULL), DP_OK);
    assert_false(claim.refuted);
}

/* The same with the worlds exchanged: few scores at the lower end without the canary. */
static void both_orders_of_the_worlds_are_judged(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double without[N], with[N];
    double *const scores[2] = {without, with};
    const dp_mechanism run = {.sampling = DP_SAMPLING_FULL, .sigma = 2, .rate = 1, .steps = 1};
    dpi_claim claim;
    fill(N, without, 0);
    fill(N, with, 0);
    for (size_t half = 0; half < 2; half++) /* 5 % of the scores without lie at the bottom */
        for (size_t i = 0; i < N / 40; i++)
            without[half * (N / 2) + i] = -1;
    assert_int_equal(dpi_claim_judge(&run, N, scores, 1e-3, &claim, NULL), DP_OK);
    assert_true(claim.refuted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_that_are_right_are_not_refuted),
        cmocka_unit_test(seven_tenths_of_the_noise_are_seen_at_each_sampling),
        cmocka_unit_test(what_goes_with_a_sampling_is_checked),
        cmocka_unit_test(the_curve_decides_and_not_one_rate),
        cmocka_unit_test(both_orders_of_the_worlds_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
