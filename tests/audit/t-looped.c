/* Whole fits by the loop under attack: with all of their noise they stand it, and with 70 % of it
 * they are refuted. */
#include "audit/looped.h"

#include <math.h>

#include "audit/audit.h"
#include "random/grid.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

/* Three bounds in an audit that is right are off with probability 1e-11 each. */
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

static dp_audit_opts about(size_t runs)
{
    return (dp_audit_opts){.target = DP_AUDIT_LOOP,
                           .sampling = DP_SAMPLING_FULL,
                           .epsilon = 10,
                           .delta = 1e-5,
                           .runs = runs,
                           .confidence = sure};
}

static dp_audit_result audit(size_t runs, double share, uint64_t seed)
{
    dp_error err = {0};
    dp_audit_result r;
    dp_audit_opts o = about(runs);
    noise_share = share;
    dp_status status = dpi_audit(&o, seed, &r, &err);
    noise_share = 1;
    assert_ok(status, err.text);
    assert_true(r.epsilon_certified <= 10 && r.epsilon_certified > 9.97);
    assert_true(r.delta == 1e-5 && r.steps == 1 && r.rate == 1 && r.canaries == 1);
    return r;
}

static void a_fit_that_is_right_is_not_refuted(void **state)
{
    (void)state;
    dp_audit_result r = audit(2500, 1, 17);
    assert_false(r.refuted);
    assert_true(r.curve_true_positives > 0.5 * r.curve_certified);
    assert_true(r.epsilon_as_gaussian > 0.5 * r.epsilon_certified);
}

static void seven_tenths_of_the_noise_are_seen(void **state)
{
    (void)state;
    dp_audit_result r = audit(2500, 0.7, 23);
    assert_true(r.refuted);
}

/* All but what the count's quantile leaves of it: 1 - .95 .1 (1 - (50/95)^2) of its square.  The
 * score of a fit is normal around half of that, with or without a minus, and has it for variance:
 * within 7 standard deviations. */
static void the_canary_uses_up_what_is_accounted_for(void **state)
{
    const double left = 1 - 0.95 * 0.1 * (1 - 0.25 / (0.95 * 0.95));
    dp_error err = {0};
    dpi_looped q;
    (void)state;
    assert_ok(dpi_looped_init(&q, &err), err.text);
    for (double epsilon = 0.1; epsilon < 50; epsilon *= 5)
        for (int world = 0; world < 2; world++) {
            dpi_looped_seen seen;
            dp_privacy p;
            const dp_fit_opts o = {.epsilon = epsilon, .delta = 1e-5, .seed = 5};
            assert_ok(dpi_looped_run(&q, world, &o, &seen, &p, &err), err.text);
            assert_close(seen.square, left / (p.sigma * p.sigma), 1e-4, 0);
            assert_close(seen.score, (world - 0.5) * seen.square, 0, 7 * sqrt(seen.square));
        }
    dpi_looped_free(&q);
}

static void what_a_fit_chooses_is_not_asked_for(void **state)
{
    dp_error err = {0};
    dp_audit_result r;
    (void)state;
    dp_audit_opts o = about(100);
    o.sampling = DP_SAMPLING_POISSON, o.rate = 0.1;
    assert_fails(dp_audit(&o, &r, &err), DP_EUNSUPPORTED, &err, "full batches");
    o = about(0), o.canaries = 100;
    assert_fails(dp_audit(&o, &r, &err), DP_EUNSUPPORTED, &err, "many runs");
    o = about(100), o.steps = 2;
    assert_fails(dp_audit(&o, &r, &err), DP_EINVAL, &err, "steps 2");
    o = about(100), o.sigma = 1, o.epsilon = 0;
    assert_fails(dp_audit(&o, &r, &err), DP_EINVAL, &err, "give epsilon");
    o = about(100), o.epsilon = 0;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "epsilon");
    o = about(100), o.rate = 0.5;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "rate is 0.5");
    o = about(100), o.epsilon = 1e-9;
    assert_fails(dp_audit(&o, &r, &err), DP_EDOMAIN, &err, "raise epsilon");
    assert_true(isinf(r.epsilon_certified) && isnan(r.curve_certified) && !r.refuted);
}

static void every_failing_allocation_is_survived(void **state)
{
    const dp_fit_opts o = {.epsilon = 10, .delta = 1e-5, .seed = 7};
    size_t live = faulty_live(), k = 0;
    int failed = 1;
    (void)state;
    while (failed) {
        dpi_looped q;
        dpi_looped_seen seen;
        dp_privacy p;
        faulty_fail(++k);
        dp_status status = dpi_looped_init(&q, NULL);
        if (status == DP_OK)
            status = dpi_looped_run(&q, 1, &o, &seen, &p, NULL);
        failed = faulty_failed();
        faulty_fail(0);
        /* The accountant can do without some. */
        assert_true(status == DP_OK || (failed && status == DP_ENOMEM));
        dpi_looped_free(&q);
        assert_int_equal(faulty_live(), live);
    }
    assert_true(k > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_that_is_right_is_not_refuted),
        cmocka_unit_test(seven_tenths_of_the_noise_are_seen),
        cmocka_unit_test(the_canary_uses_up_what_is_accounted_for),
        cmocka_unit_test(what_a_fit_chooses_is_not_asked_for),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
