/* The sampler's transition, and its errors.
 *
 * Many chains that start from exact, independent draws have exact, independent draws after any
 * number of transitions, so that chi-square tests of their last draws have the power of independent
 * numbers: that is how the transition itself is tested.  What is left to long chains is the
 * warm-up (t-hmc-chains.c).  Seeds are fixed, and a bound is that of a false failure in 1e9. */
#include "infer/hmc.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/infer/densities.h"
#include "tests/lib/check.h"

enum { N = DENSITY_N, BINS = 20 };

/* Fails unless numbers, which are uniform on (0, 1) if all is right, fill the bins evenly. */
static void assert_uniform(size_t all, const double *u)
{
    double count[BINS] = {0}, chi = 0, expected = (double)all / BINS;
    for (size_t t = 0; t < all; t++)
        count[(size_t)fmin(BINS - 1, u[t] * BINS)]++;
    for (int b = 0; b < BINS; b++)
        chi += (count[b] - expected) * (count[b] - expected) / expected;
    if (gsl_cdf_chisq_Q(chi, BINS - 1) < 1e-9)
        print_error("chi-square %g of %d bins\n", chi, BINS);
    assert_true(gsl_cdf_chisq_Q(chi, BINS - 1) >= 1e-9);
}

/* ---- the transition ---- */

enum { MANY = 10000 };

typedef struct walk {
    double step;
    int depth;
    size_t draws;
} walk;

static const walk walks[] = {{0.15, 5, 1}, {0.45, 10, 2}, {0.9, 10, 3}, {1.6, 10, 3}};

/* Of exact draws, the last ones after a walk; u is for distribution functions. */
static double *last_draws(dpi_target target, const walk *w, const double *factor,
                          const double *start)
{
    dpi_hmc_opts opts = {.chains = MANY, .draws = w->draws, .depth = w->depth, .factor = factor};
    dpi_hmc_report report;
    opts.step = w->step;
    opts.start = start;
    double *draws = hmc_run(target, opts, 11, &report), *last = hmc_room(MANY * target.n);
    assert_true(report.step == w->step);
    for (size_t c = 0; c < MANY; c++)
        memcpy(last + c * target.n, draws + (c * w->draws + w->draws - 1) * target.n,
               target.n * sizeof *last);
    free(draws);
    return last;
}

/* The gradient's factor is no part of what is right: see nuts.c. */
static void a_transition_leaves_a_heavy_tail_as_it_is(void **state)
{
    (void)state;
    double *start = hmc_room(2 * MANY), *u = hmc_room(MANY), slopes[] = {1, 0.6, -0.5};
    const double factor[4] = {1.5, NAN, -0.7, 0.8};
    dp_rng *rng = hmc_rng(3);
    dp_rng_uniform(rng, 2 * MANY, start);
    for (size_t i = 0; i < 2 * MANY; i++)
        start[i] = gsl_cdf_tdist_Pinv(start[i], 5);
    for (int s = 0; s < 3; s++)
        for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) {
            dpi_target target = {.n = 2, .log_density = density_student, .of = &slopes[s]};
            double *last = last_draws(target, &walks[w], w % 2 ? factor : NULL, start);
            for (int i = 0; i < 2; i++) {
                for (size_t c = 0; c < MANY; c++)
                    u[c] = gsl_cdf_tdist_P(last[2 * c + (size_t)i], 5);
                assert_uniform(MANY, u);
            }
            free(last);
        }
    dp_rng_free(rng);
    free(start);
    free(u);
}

/* The sum of squares and one of the pairs, too: what is dependent shows there. */
static void a_transition_leaves_a_funnel_as_it_is(void **state)
{
    (void)state;
    double *start = hmc_room(2 * MANY), *u = hmc_room(MANY);
    dpi_target target = {.n = 2, .log_density = density_funnel, .of = NULL};
    dp_rng *rng = hmc_rng(4);
    dp_rng_normal(rng, 2 * MANY, start);
    for (size_t c = 0; c < MANY; c++)
        start[2 * c + 1] *= exp(start[2 * c] / 2);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) {
        double *last = last_draws(target, &walks[w], NULL, start);
        for (int what = 0; what < 3; what++) {
            for (size_t c = 0; c < MANY; c++) {
                double a = last[2 * c], b = last[2 * c + 1] * exp(-a / 2);
                u[c] = what == 0   ? gsl_cdf_ugaussian_P(a)
                       : what == 1 ? gsl_cdf_ugaussian_P(b)
                                   : gsl_cdf_ugaussian_P((a + b) / sqrt(2));
            }
            assert_uniform(MANY, u);
        }
        free(last);
    }
    dp_rng_free(rng);
    free(start);
    free(u);
}

static void a_transition_stays_inside(void **state)
{
    (void)state;
    double *start = hmc_room(MANY), *u = hmc_room(MANY), outside[] = {-INFINITY, NAN, INFINITY};
    dp_rng *rng = hmc_rng(5);
    dp_rng_normal(rng, MANY, start);
    for (size_t c = 0; c < MANY; c++)
        start[c] = fabs(start[c]);
    for (int k = 0; k < 3; k++) {
        dpi_target target = {.n = 1, .log_density = density_half, .of = &outside[k]};
        double *last = last_draws(target, &walks[1], NULL, start);
        for (size_t c = 0; c < MANY; c++) {
            assert_true(last[c] > 0);
            u[c] = 2 * gsl_cdf_ugaussian_P(last[c]) - 1;
        }
        assert_uniform(MANY, u);
        free(last);
    }
    dp_rng_free(rng);
    free(start);
    free(u);
}

/* A trajectory in a white density that neither stops early nor goes round: of a half to one and a
 * half half-turns, 3.14 / step leapfrogs each, rounded to what doublings give. */
static void trajectories_end_at_the_turn(void **state)
{
    (void)state;
    double right = 1;
    for (double step = 1.1; step > 0.04; step *= 0.87) {
        dpi_hmc_opts opts = {.chains = 1, .draws = 400, .step = step};
        dpi_hmc_report report;
        free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, opts, 6,
                     &report));
        double turns = (double)report.gradients / 400 * step / 3.14;
        assert_true(turns > 0.4 && turns < 2.1);
        assert_int_equal(report.cut, 0);
        assert_int_equal(report.divergent, 0);
    }
}

static void what_ends_trajectories_is_counted(void **state)
{
    (void)state;
    double right = 1;
    dpi_hmc_opts opts = {.chains = 2, .draws = 100, .depth = 3, .step = 0.01};
    dpi_hmc_report report;
    free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, opts, 7,
                 &report));
    assert_int_equal(report.cut, 200);
    assert_int_equal(report.gradients, 2 + 200 * 7);
    assert_true(report.acceptance > 0.99);
    opts.step = 100;
    free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, opts, 7,
                 &report));
    assert_int_equal(report.divergent, 200);
    assert_true(report.acceptance < 1e-9 && report.r_hat == INFINITY && report.ess == 0);
}

/* ---- errors ---- */

static void refuse(dpi_hmc_opts opts, dp_status expected, const char *why)
{
    static const double start[2 * N] = {0};
    density_told t = {.slope = 1};
    dpi_target target = {.n = N, .log_density = density_normal, .of = &t};
    dpi_hmc_report report;
    dp_error err = {0};
    dp_rng *rng = hmc_rng(16);
    double *draws = hmc_room(2 * 5 * N);
    opts.start = start;
    assert_fails(dpi_hmc(&target, &opts, rng, draws, &report, &err), expected, &err, why);
    assert_true(report.r_hat == INFINITY && report.ess == 0);
    assert_true(expected == DP_EINVAL || (isnan(draws[0]) && isnan(draws[opts.draws * N - 1])));
    dp_rng_free(rng);
    free(draws);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    double factor[N * N] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    dpi_hmc_opts good = {.chains = 2, .draws = 5, .factor = factor};
    dpi_hmc_opts bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].chains = 0;
    bad[1].draws = SIZE_MAX;
    bad[2].depth = 21;
    bad[3].acceptance = 1;
    bad[4].step = NAN;
    refuse(bad[0], DP_EINVAL, "0, 5 and one are given");
    refuse(bad[1], DP_EINVAL, "are too many");
    refuse(bad[2], DP_EDOMAIN, "21 doublings");
    refuse(bad[3], DP_EDOMAIN, "acceptance 1;");
    refuse(bad[4], DP_EDOMAIN, "step");
    factor[4] = 0;
    refuse(bad[5], DP_EDOMAIN, "positive diagonal");
    factor[4] = 1;
    factor[6] = NAN;
    refuse(bad[5], DP_EDOMAIN, "not finite");
}

static void a_start_outside_is_refused(void **state)
{
    (void)state;
    double outside = -INFINITY, start[] = {1, -1}, draws[8] = {0};
    dpi_target target = {.n = 1, .log_density = density_half, .of = &outside};
    dpi_hmc_opts opts = {.chains = 2, .draws = 4, .start = start};
    dpi_hmc_report report;
    dp_error err = {0};
    dp_rng *rng = hmc_rng(17);
    assert_fails(dpi_hmc(&target, &opts, rng, draws, &report, &err), DP_EDOMAIN, &err,
                 "chain 1 starts where");
    assert_true(isnan(draws[0]) && isnan(draws[7]));
    dp_rng_free(rng);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    density_told t = {.slope = 1};
    const double start[2 * N] = {0};
    double *draws = hmc_room(2 * 10 * N);
    dpi_target target = {.n = N, .log_density = density_normal, .of = &t};
    dpi_hmc_opts opts = {.chains = 2, .warmup = 40, .draws = 10, .start = start, .adapt = true};
    dpi_hmc_report report;
    dp_rng *rng = hmc_rng(18);
    size_t before = faulty_live(), k = 0;
    for (bool failed = true; failed;) {
        dp_error err = {0};
        faulty_fail(++k);
        dp_status status = dpi_hmc(&target, &opts, rng, draws, &report, &err);
        failed = faulty_failed();
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_true(isnan(draws[0]) == failed && (report.r_hat == INFINITY || !failed));
        assert_int_equal(faulty_live(), before);
    }
    faulty_fail(0);
    assert_true(k > 2);
    dp_rng_free(rng);
    free(draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transition_leaves_a_heavy_tail_as_it_is),
        cmocka_unit_test(a_transition_leaves_a_funnel_as_it_is),
        cmocka_unit_test(a_transition_stays_inside),
        cmocka_unit_test(trajectories_end_at_the_turn),
        cmocka_unit_test(what_ends_trajectories_is_counted),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_start_outside_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
