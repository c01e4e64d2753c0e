/* What runs cost, and the noise that they need. */
#include "svi/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

/* Numbers beside the gradient: a loss in every fourth step, and a count. */
static const dp_svi_opts everything = {.sigma = 3,
                                       .delta = 1e-5,
                                       .clip = 2,
                                       .steps = 12,
                                       .loss_every = 4,
                                       .loss_clip = 5,
                                       .loss_sigma = 4,
                                       .clip_quantile = 0.7,
                                       .clip_sigma = 2,
                                       .public_units = 40};

/* Full batches are Gaussian, whose precisions add up: mu^2 = sum of 1 / sigma^2 over all
 * releases. */
static void full_batches_cost_the_sum_of_precisions(void **state)
{
    (void)state;
    for (uint64_t steps = 1; steps <= 12; steps++) {
        dp_error err = {0};
        double epsilon, expected;
        double precision = (double)steps * (1. / 9 + 0.7 * 0.7 / 4) + (double)(steps / 4) / 16;
        dp_svi_opts o = everything;
        o.sampling = DP_SAMPLING_FULL, o.rate = 1;
        dp_mechanism one = {
            .sampling = DP_SAMPLING_FULL, .sigma = 1 / sqrt(precision), .rate = 1, .steps = 1};
        assert_ok(dpi_cost_epsilon(&o, steps, &epsilon, &err), err.text);
        assert_ok(dp_epsilon(&one, o.delta, &expected, &err), err.text);
        assert_close(epsilon, expected, 2e-4, 0);
        assert_true(epsilon >= expected * (1 - 2e-5));
    }
}

/* One batch serves gradient and loss: the cost of two Gaussians on two batches would be too low. */
static void numbers_of_one_batch_are_one_release(void **state)
{
    (void)state;
    dp_error err = {0};
    double together;
    dp_interval apart;
    dp_svi_opts o = everything;
    o.sampling = DP_SAMPLING_POISSON, o.rate = 0.1, o.loss_every = 1, o.clip_quantile = 0;
    o.sigma = o.loss_sigma = 1, o.steps = 100;
    dp_mechanism two[2] = {{.sampling = o.sampling, .sigma = 1, .rate = 0.1, .steps = 100}};
    two[1] = two[0];
    assert_ok(dpi_cost_epsilon(&o, 100, &together, &err), err.text);
    assert_ok(dp_account_epsilon(two, 2, o.delta, 0, &apart, &err), err.text);
    assert_true(together > 1.2 * apart.upper);
}

static void every_step_of_an_epoch_is_accounted_for_with_a_loss(void **state)
{
    (void)state;
    dp_mechanism list[DPI_COST_MOST];
    dp_svi_opts o = everything;
    o.sampling = DP_SAMPLING_ALLOCATION, o.epoch = 6, o.rate = 1. / 6;
    assert_int_equal(dpi_cost_list(&o, 7, list), 1);
    assert_int_equal(list[0].steps, 12);
    assert_close(list[0].sigma, 1 / sqrt(1. / 9 + 0.7 * 0.7 / 4 + 1. / 16), 1e-14, 0);
}

static void the_noise_is_raised_until_everything_fits(void **state)
{
    (void)state;
    const dp_sampling samplings[] = {DP_SAMPLING_FULL, DP_SAMPLING_POISSON, DP_SAMPLING_FIXED};
    for (int k = 0; k < 3; k++) {
        dp_error err = {0};
        double epsilon;
        dp_svi_opts o = everything, alone;
        o.sampling = samplings[k], o.rate = k == 0 ? 1 : 0.25, o.epsilon = 2;
        o.loss_sigma = 20, o.clip_sigma = 10, o.steps = 40;
        alone = o;
        alone.loss_every = 0, alone.clip_quantile = 0;
        assert_ok(dpi_cost_calibrate(&o, &err), err.text);
        assert_ok(dpi_cost_calibrate(&alone, &err), err.text);
        assert_ok(dpi_cost_epsilon(&o, o.steps, &epsilon, &err), err.text);
        assert_true(o.sigma > alone.sigma && epsilon <= 2 && epsilon > 2 * 0.99);
        o.clip_sigma = 0.1;
        assert_int_equal(dpi_cost_calibrate(&o, &err), DP_EDOMAIN);
        assert_contains(err.text, "the least that would do is clip_sigma");
        assert_true(isinf(o.sigma));
    }
}

/* The number behind `name` in a message. */
static double told(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

/* What a refusal says would do is taken, and a tenth less is not. */
static void a_refusal_says_the_least_noise_that_would_do(void **state)
{
    (void)state;
    const struct {
        dp_sampling sampling;
        uint64_t loss_every;
    } cases[] = {{DP_SAMPLING_FULL, 0}, {DP_SAMPLING_POISSON, 0}, {DP_SAMPLING_FIXED, 1}};
    for (int k = 0; k < 3; k++)
        for (int which = 0; which < 4; which++) {
            dp_error err = {0};
            dp_svi_opts o = everything, tried;
            o.sampling = cases[k].sampling, o.rate = k == 0 ? 1 : 0.25, o.epsilon = 2;
            o.loss_every = cases[k].loss_every, o.steps = 40, o.clip_sigma = 0.3;
            tried = o;
            assert_int_equal(dpi_cost_calibrate(&tried, &err), DP_EDOMAIN);
            double share = which % 2 == 0 ? 1 : 0.9;
            if (which < 2) {
                o.clip_sigma = share * told(err.text, "clip_sigma ");
                o.loss_sigma = k == 2 ? share * told(err.text, "loss_sigma ") : o.loss_sigma;
            } else if (strstr(err.text, "or epsilon ") != NULL) {
                o.epsilon = share * told(err.text, "or epsilon ");
            } else {
                continue;
            }
            err = (dp_error){0};
            assert_int_equal(dpi_cost_calibrate(&o, &err), share == 1 ? DP_OK : DP_EDOMAIN);
        }
}

/* Epochs are accounted for from sigma 0.4 on.  The gradient alone needs little more, and with what
 * is beside it the whole step falls below that until the gradient's noise is raised. */
static void a_search_goes_on_where_the_account_does_not_reach(void **state)
{
    (void)state;
    dp_error err = {0};
    double epsilon;
    dp_svi_opts o = {.delta = 1e-5,
                     .epsilon = 10.5,
                     .clip = 1,
                     .steps = 10,
                     .epoch = 10,
                     .rate = 0.1,
                     .sampling = DP_SAMPLING_ALLOCATION,
                     .loss_every = 1,
                     .loss_clip = 1,
                     .loss_sigma = 0.6};
    assert_ok(dpi_cost_calibrate(&o, &err), err.text);
    assert_ok(dpi_cost_epsilon(&o, o.steps, &epsilon, &err), err.text);
    assert_true(epsilon <= o.epsilon && epsilon > 0.98 * o.epsilon && o.sigma > 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_batches_cost_the_sum_of_precisions),
        cmocka_unit_test(numbers_of_one_batch_are_one_release),
        cmocka_unit_test(every_step_of_an_epoch_is_accounted_for_with_a_loss),
        cmocka_unit_test(the_noise_is_raised_until_everything_fits),
        cmocka_unit_test(a_refusal_says_the_least_noise_that_would_do),
        cmocka_unit_test(a_search_goes_on_where_the_account_does_not_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
