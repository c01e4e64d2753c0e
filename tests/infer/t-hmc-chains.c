/* Long chains of the sampler, against densities whose moments are known: an effective number of
 * draws, which is stated, bounds the error.  Seeds are fixed, and a bound is that of a false
 * failure in 1e9: 6.2 standard errors. */
#include "infer/hmc.h"

#include <math.h>
#include <stdlib.h>

#include "tests/infer/densities.h"
#include "tests/lib/check.h"

enum { N = DENSITY_N };
static const double far = 6.2; /* standard errors */

/* Mean of f over draws of coordinate i. */
static double mean_over(size_t all, size_t n, size_t i, const double *draws, double (*f)(double))
{
    double sum = 0;
    for (size_t t = 0; t < all; t++)
        sum += f(draws[t * n + i]) / (double)all;
    return sum;
}

static double same(double x)
{
    return x;
}

/* Means, variances and covariances, of at least `number` effective draws. */
static void assert_normal(size_t all, const double *draws, double number)
{
    for (int i = 0; i < N; i++) {
        double mean = mean_over(all, N, (size_t)i, draws, same), sd = sqrt(density_variance(i));
        assert_close(mean, density_mean[i], 0, far * sd / sqrt(number));
        for (int j = 0; j <= i; j++) {
            double covariance = 0, sum = 0, scale = sd * sqrt(density_variance(j));
            for (int k = 0; k <= j; k++)
                covariance += density_root[i][k] * density_root[j][k];
            for (size_t t = 0; t < all; t++)
                sum += (draws[t * N + (size_t)i] - density_mean[i]) *
                       (draws[t * N + (size_t)j] - density_mean[j]) / (double)all;
            double r = covariance / scale;
            assert_close(sum, covariance, 0, far * scale * sqrt((1 + r * r) / number));
        }
    }
}

static void a_warm_up_finds_a_normal_density(void **state)
{
    (void)state;
    double factor[N * N];
    for (int i = 0; i < N * N; i++)
        factor[i] = density_root[i / N][i % N] * (i / N == i % N ? 1.3 : 0.9);
    const struct {
        bool adapt;
        const double *factor;
        size_t warmup, gradients; /* at most */
    } ways[] = {{false, factor, 100, 30000}, {true, factor, 100, 30000}, {true, NULL, 500, 160000}};
    for (int w = 0; w < 3; w++) {
        density_told t = {.slope = 1, .settled = 4};
        dpi_hmc_report report;
        dpi_hmc_opts opts = {.chains = 4,
                             .warmup = ways[w].warmup,
                             .draws = 1000,
                             .factor = ways[w].factor,
                             .adapt = ways[w].adapt};
        double *draws = hmc_run((dpi_target){.n = N, .log_density = density_normal, .of = &t}, opts,
                                8, &report);
        assert_normal(4000, draws, 1000);
        assert_true(report.r_hat < 1.02 && report.ess > 1500 && report.divergent == 0);
        assert_int_equal(report.gradients, t.calls);
        assert_true(t.calls < ways[w].gradients);
        assert_close(report.acceptance, 0.85, 0, 0.1);
        assert_false(t.grew); /* nothing is allocated on the way */
        free(draws);
    }
}

static void the_step_is_made_for_the_acceptance_asked_for(void **state)
{
    (void)state;
    double last = INFINITY, right = 1, asked[] = {0.5, 0.7, 0.9, 0.97};
    for (int i = 0; i < 4; i++) {
        dpi_hmc_opts opts = {.chains = 2, .warmup = 600, .draws = 300, .acceptance = asked[i]};
        dpi_hmc_report report;
        free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, opts, 9,
                     &report));
        assert_close(report.acceptance, asked[i], 0, 0.1);
        assert_true(report.step < last);
        last = report.step;
    }
}

static double from_log(double z)
{
    return exp(z);
}

static double from_odds(double z)
{
    return 1 / (1 + exp(-z));
}

static void bounded_numbers_are_found_behind_their_maps(void **state)
{
    (void)state;
    dpi_hmc_opts opts = {.chains = 4, .warmup = 300, .draws = 1000, .adapt = true};
    dpi_hmc_report report;
    double *draws = hmc_run((dpi_target){.n = 2, .log_density = density_bounded, .of = NULL}, opts,
                            10, &report);
    double number = 1000;
    assert_close(mean_over(4000, 2, 0, draws, from_log), 2.5 / 3, 0,
                 far * sqrt(2.5) / 3 / sqrt(number));
    assert_close(mean_over(4000, 2, 1, draws, from_odds), 0.4, 0, far * 0.2 / sqrt(number));
    assert_true(report.ess > 1000 && report.r_hat < 1.02);
    free(draws);
}

/* Half-normal numbers; coordinates that are begun anew do not move a chain. */
static void a_warm_up_stays_inside(void **state)
{
    (void)state;
    double outside = -INFINITY, start[] = {0.01, 0.5, 1, 2};
    dpi_hmc_opts opts = {.chains = 4, .warmup = 300, .draws = 1000, .start = start, .adapt = true};
    dpi_hmc_report report;
    double *draws = hmc_run((dpi_target){.n = 1, .log_density = density_half, .of = &outside}, opts,
                            19, &report);
    assert_close(mean_over(4000, 1, 0, draws, same), 0.79788, 0, far * 0.6028 / sqrt(200));
    assert_true(report.divergent > 0 && report.r_hat < 1.05 && report.ess > 200);
    free(draws);
}

/* A gradient of the wrong size or sign leaves the draws right, at a price that the report names:
 * the energy is then lost by the way that is gone, however small the steps. */
static void a_wrong_gradient_is_noticed(void **state)
{
    (void)state;
    double right = 1, wrong[] = {1.5, 0.6, 0, -1};
    dpi_hmc_report good, bad;
    dpi_hmc_opts opts = {.chains = 2, .warmup = 100, .draws = 100, .depth = 8}, shorter = opts;
    free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, opts, 12,
                 &good));
    shorter.warmup = 0;
    shorter.step = good.step / 4;
    free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &right}, shorter, 12,
                 &bad));
    assert_true(bad.acceptance > 0.97);
    assert_int_equal(good.cut, 0);
    for (int i = 0; i < 4; i++) {
        free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &wrong[i]}, shorter,
                     12, &bad));
        assert_true(bad.acceptance < 0.8); /* shorter steps do not help */
        free(hmc_run((dpi_target){.n = 20, .log_density = density_white, .of = &wrong[i]}, opts, 12,
                     &bad));
        assert_true(bad.step < good.step / 50 && bad.cut > 190);
        assert_true((double)bad.gradients / bad.ess > 50 * (double)good.gradients / good.ess);
    }
}

static void chains_in_two_modes_are_told(void **state)
{
    (void)state;
    const double apart[] = {-20, 21, -19, 20}, together[] = {19, 21, 20, 20.5};
    dpi_hmc_opts opts = {.chains = 4, .warmup = 200, .draws = 200, .adapt = true};
    dpi_hmc_report report;
    opts.start = apart;
    free(hmc_run((dpi_target){.n = 1, .log_density = density_two_modes, .of = NULL}, opts, 13,
                 &report));
    assert_true(report.r_hat > 1.5 && report.ess < 20);
    opts.start = together;
    free(hmc_run((dpi_target){.n = 1, .log_density = density_two_modes, .of = NULL}, opts, 13,
                 &report));
    assert_true(report.r_hat < 1.05 && report.ess > 100);
}

static void equal_seeds_give_equal_draws(void **state)
{
    (void)state;
    density_told t = {.slope = 1};
    dpi_hmc_opts opts = {.chains = 2, .warmup = 60, .draws = 20, .adapt = true};
    dpi_hmc_report report[3];
    double *draws[3];
    for (int i = 0; i < 3; i++)
        draws[i] = hmc_run((dpi_target){.n = N, .log_density = density_normal, .of = &t}, opts,
                           i < 2 ? 14 : 15, &report[i]);
    assert_memory_equal(draws[0], draws[1], 2 * 20 * N * sizeof(double));
    assert_true(report[0].step == report[1].step && report[0].ess == report[1].ess);
    assert_memory_not_equal(draws[0], draws[2], 2 * 20 * N * sizeof(double));
    for (int i = 0; i < 3; i++)
        free(draws[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_up_finds_a_normal_density),
        cmocka_unit_test(the_step_is_made_for_the_acceptance_asked_for),
        cmocka_unit_test(bounded_numbers_are_found_behind_their_maps),
        cmocka_unit_test(a_warm_up_stays_inside),
        cmocka_unit_test(a_wrong_gradient_is_noticed),
        cmocka_unit_test(chains_in_two_modes_are_told),
        cmocka_unit_test(equal_seeds_give_equal_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
