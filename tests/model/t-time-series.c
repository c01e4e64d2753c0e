/* Random walks and autoregressions by public calls: fits beside the same models written out. */
#include <math.h>

#include "tests/lib/check.h"
#include <tacit/fit.h>
#include <tacit/infer.h>
#include <tacit/model.h>
#include <tacit/multivariate.h>

enum { TIMES = 12 };

/* A level that walks, as one latent or as the sums of independent steps. */
static dp_model *level_model(bool as_sums)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), times = dp_plate_new(m, "times", TIMES);
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1)), level;
    if (as_sums) {
        dp_expr first = dp_mul(dp_num(2), dp_sample(m, "first", 1, dp_normal(0, 1)));
        dp_expr steps = dp_mul(sd, dp_sample(m, "steps", TIMES - 1, dp_normal(0, 1)));
        level = dp_cumulative_sum(dp_concat(first, steps));
    } else
        level = dp_sample(m, "walk", TIMES, dp_gaussian_random_walk(dp_num(0), dp_num(2), sd));
    (void)dp_deterministic(m, "level", level);
    dp_observe(rows, "y", dp_normal_v(dp_pick(level, dp_index(rows, "t", times)), dp_num(1)));
    return m;
}

/* The level at the last time, of a draw. */
static double last_level(bool as_sums, const dp_draws *draws, size_t i)
{
    const double *at = dp_draws_values(draws) + i * dp_draws_size(draws);
    size_t n, sd = dp_draws_find(draws, "sd", &n);
    size_t first = dp_draws_find(draws, as_sums ? "first" : "walk", &n);
    if (!as_sums)
        return at[first + TIMES - 1];
    double sum = 0;
    size_t steps = dp_draws_find(draws, "steps", &n);
    for (size_t t = 0; t < n; t++)
        sum += at[steps + t];
    return 2 * at[first] + at[sd] * sum;
}

typedef struct found {
    dp_summary sd;
    double mean, spread; /* of the last level */
} found;

static found fit_level(bool as_sums, const dp_dataset *data)
{
    enum { DRAWS = 4000 };
    dp_error err = {0};
    dp_fit *fit;
    dp_draws *draws;
    dp_rng *rng;
    found f = {.mean = 0};
    dp_model *m = level_model(as_sums);
    assert_ok(dp_model_status(m), dp_model_error(m));
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "sd", 1, &f.sd, &err), err.text);
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, DRAWS, rng, &draws, &err), err.text);
    for (size_t i = 0; i < DRAWS; i++)
        f.mean += last_level(as_sums, draws, i) / DRAWS;
    for (size_t i = 0; i < DRAWS; i++)
        f.spread += pow(last_level(as_sums, draws, i) - f.mean, 2) / DRAWS;
    f.spread = sqrt(f.spread);
    dp_draws_free(draws);
    dp_rng_free(rng);
    dp_fit_free(fit);
    dp_model_free(m);
    return f;
}

/* Within 10 standard errors of 1000 effective draws. */
static void a_walk_is_the_sum_of_its_steps(void **state)
{
    (void)state;
    enum { SEEN = 5 * TIMES };
    double seen_y[SEEN];
    int32_t t[SEEN];
    for (int32_t i = 0; i < SEEN; i++) {
        t[i] = i / 5;
        seen_y[i] = 2 * sin(0.4 * t[i]) + sin(17.0 * i);
    }
    dp_dataset *data = dp_dataset_new(SEEN);
    dp_dataset_index(data, "t", t);
    dp_dataset_real(data, "y", 1, seen_y);
    const found walk = fit_level(false, data), sums = fit_level(true, data);
    assert_close(walk.sd.mean, sums.sd.mean, 0, 0.3 * sums.sd.sd);
    assert_close(walk.sd.sd, sums.sd.sd, 0.3, 0);
    assert_close(walk.mean, sums.mean, 0, 0.3 * sums.spread);
    assert_close(walk.spread, sums.spread, 0.3, 0);
    dp_dataset_free(data);
}

/* Both coefficients of a stationary series, from many short ones. */
static void coefficients_are_learnt_from_observed_series(void **state)
{
    (void)state;
    enum { LONG = 8, SERIES = 300 };
    static double x_of[SERIES][LONG], e[LONG * SERIES];
    static const double zero[LONG] = {0};
    dp_error err = {0};
    dp_rng *rng;
    dp_svi *svi;
    dp_fit *fit;
    dp_summary c[2], noise[1];
    assert_ok(dp_rng_new(31, &rng, &err), err.text);
    dp_rng_normal(rng, (size_t)LONG * SERIES, e);
    for (size_t i = 0; i < (size_t)LONG * SERIES; i++) {
        double *own = x_of[i / LONG];
        size_t at = i % LONG;
        own[at] = at < 2 ? e[i] : 0.6 * own[at - 1] - 0.3 * own[at - 2] + 0.5 * e[i];
    }
    dp_rng_free(rng);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr scale = dp_sample(m, "scale", 1, dp_half_normal(1)),
            weights = dp_sample(m, "c", 2, dp_normal(0, 1));
    dp_observe(rows, "x", dp_autoregressive(dp_constant(m, LONG, zero), dp_num(1), scale, weights));
    dp_dataset *data = dp_dataset_new(SERIES);
    dp_dataset_real(data, "x", LONG, x_of[0]);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 500,
                           .step_size = 0.03,
                           .sampling = DP_SAMPLING_FULL,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "c", 2, c, &err), err.text);
    assert_ok(dp_fit_summary(fit, "scale", 1, noise, &err), err.text);
    assert_close(c[0].mean, 0.6, 0, 0.12); /* 6 standard errors */
    assert_close(c[1].mean, -0.3, 0, 0.12);
    assert_close(noise[0].mean, 0.5, 0.1, 0);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_is_the_sum_of_its_steps),
        cmocka_unit_test(coefficients_are_learnt_from_observed_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
