/* What a step releases: clipped records, a sum divided by the public rate, nothing of records whose
 * gradient is no number; and where many steps lead. */
#include <math.h>
#include <string.h>

#include "fit/fit.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/witness.h"

enum { N = 40, D = 3 };

static double x_values[N * D], y_values[N];

/* Records whose gradients have lengths from 0 to 100. */
static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        y_values[i] = (double)(i % 2);
        for (size_t j = 0; j < D; j++)
            x_values[i * D + j] = (double)((i * 7 + j * 3) % 11) * (i % 5 == 0 ? 10 : 0.05);
    }
}

typedef dp_dist (*likelihood)(dp_expr);

/* A run and the data set that it borrows. */
typedef struct started {
    dp_svi *svi;
    dp_dataset *data;
} started;

static void stop(started run)
{
    dp_svi_free(run.svi);
    dp_dataset_free(run.data);
}

/* y ~ likelihood(x . w), w ~ N(0, 10), on the first n records. */
static started start(likelihood of, size_t n, const dp_svi_opts *opts)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(n);
    assert_true(m != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 10));
    dp_observe(rows, "y", of(dp_dot(dp_data(rows, "x", D), w)));
    dp_dataset_real(data, "x", D, x_values);
    dp_dataset_real(data, "y", 1, y_values);
    assert_ok(dp_svi_new(m, NULL, data, opts, &svi, &err), err.text);
    dp_model_free(m);
    return (started){svi, data};
}

/* The release of a run's first step; or its sum before noise, in units of the clip norm, where
 * there is noise. */
static void first_release(likelihood of, size_t n, const dp_svi_opts *opts, double release[D])
{
    dp_error err = {0};
    const double loc[D] = {1, 1, 1}, log_scale[D] = {-20, -20, -20};
    started run = start(of, n, opts);
    dp_svi *svi = run.svi;
    assert_int_equal(svi->objective.n_release, D);
    assert_ok(dp_svi_set(svi, "w.loc", D, loc, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.log_scale", D, log_scale, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    memcpy(release, svi->release.out, D * sizeof *release);
    if (opts->sigma > 0)
        witness_sum(D, release);
    for (size_t j = 0; j < D && opts->sigma > 0; j++)
        release[j] *= opts->sigma;
    stop(run);
}

static dp_dist around(dp_expr mean)
{
    return dp_normal_v(mean, dp_num(1));
}

static double norm(const double v[D])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void one_record_more_changes_the_sum_by_at_most_clip(void **state)
{
    (void)state;
    const double clips[] = {1e-3, 0.5, 20};
    fill();
    for (size_t c = 0; c < sizeof clips / sizeof clips[0]; c++) {
        double before[D], after[D], largest = 0;
        dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE, .clip = clips[c], .steps = 1, .seed = 1};
        for (size_t n = 1; n < N; n++) {
            first_release(dp_bernoulli_logit, n, &opts, before);
            first_release(dp_bernoulli_logit, n + 1, &opts, after);
            for (size_t k = 0; k < D; k++)
                after[k] -= before[k];
            largest = fmax(largest, norm(after));
            assert_true(norm(after) <= clips[c]); /* nothing is left to rounding */
        }
        assert_true(largest > 0.99 * clips[c]);
    }
}

/* The difference that a long gradient makes; the grid moves it by its step sqrt(D). */
static void eta_is_what_clipping_leaves(void **state)
{
    (void)state;
    const double sigmas[] = {1, 1000};
    dp_error err = {0};
    fill();
    for (int single = 0; single < 2; single++)
        for (size_t k = 0; k < 2; k++) {
            const dp_svi_opts opts = {.delta = 1e-6,
                                      .clip = 3,
                                      .sigma = sigmas[k],
                                      .steps = 1,
                                      .precision = single ? DP_SINGLE : DP_DOUBLE,
                                      .seed = 1};
            double before[D], after[D], grid = sigmas[k] * 0x1p-32 * sqrt(D);
            dp_privacy privacy;
            started run = start(around, 21, &opts);
            assert_ok(dp_svi_privacy(run.svi, &privacy, &err), err.text);
            stop(run);
            first_release(around, 20, &opts, before);
            first_release(around, 21, &opts, after);
            for (size_t j = 0; j < D; j++)
                after[j] -= before[j];
            assert_true(privacy.eta > grid && privacy.eta < 1e-2);
            assert_close(norm(after), 1 - privacy.eta, 0, grid + 1e-9);
        }
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1};
    dp_privacy privacy;
    started run = start(around, 21, &opts);
    assert_ok(dp_svi_privacy(run.svi, &privacy, &err), err.text);
    assert_true(privacy.eta == 0);
    stop(run);
}

static void a_record_without_a_finite_gradient_cannot_be_told(void **state)
{
    (void)state;
    double without[D], with[D];
    dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE, .clip = 1, .steps = 1, .seed = 1};
    fill();
    x_values[20 * D] = 1e300; /* e^(1e300): the rate overflows */
    first_release(dp_poisson_log, 20, &opts, without);
    first_release(dp_poisson_log, 21, &opts, with);
    assert_true(norm(without) > 0);
    assert_memory_equal(without, with, sizeof with);
}

static void a_batch_is_divided_by_the_public_rate(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    const double rate = 0.25, clip = 1e-3;
    dp_error err = {0};
    size_t taken = 0;
    dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE,
                        .clip = clip,
                        .sampling = DP_SAMPLING_POISSON,
                        .rate = rate,
                        .step_size = 1e-6,
                        .steps = STEPS,
                        .seed = 5};
    fill();
    x_values[0] = x_values[1] = x_values[2] = 1; /* a gradient well above clip in every step */
    started run = start(dp_bernoulli_logit, 1, &opts);
    dp_svi *svi = run.svi;
    for (int t = 0; t < STEPS; t++) {
        assert_ok(dp_svi_step(svi, &err), err.text);
        double length = norm(svi->release.out);
        assert_true(length == 0 || (length <= clip / rate && length > 0.9999 * clip / rate));
        taken += length != 0;
    }
    /* Hoeffding: off by more than 0.165 with probability below 2 e^(-2 400 0.165^2) < 1e-9. */
    assert_close((double)taken / STEPS, rate, 0, 0.165);
    assert_true(dp_svi_done(svi));
    assert_int_equal(dp_svi_step(svi, &err), DP_ESTATE);
    assert_contains(err.text, "make a new run");
    stop(run);
}

/* A share of 0.7 at x = 1 and of 0.4 at x = -1, 1000 records each: logits a + b and a - b. */
static void without_privacy_the_posterior_is_that_of_the_data(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    static double x[ROWS], y[ROWS];
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_summary a, b;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = i % 2 == 0 ? 1 : -1;
        y[i] = i / 2 < (i % 2 == 0 ? 700 : 400);
    }
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr left = dp_sample(m, "a", 1, dp_normal(0, 10)),
            right = dp_sample(m, "b", 1, dp_normal(0, 10));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(left, dp_mul(right, dp_data(rows, "x", 1)))));
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1500, .average = 0.25, .seed = 3};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "a", 1, &a, &err), err.text);
    assert_ok(dp_fit_summary(fit, "b", 1, &b, &err), err.text);
    double plus = log(0.7 / 0.3), minus = log(0.4 / 0.6), sd = 1 / sqrt(1000 * (0.21 + 0.24));
    assert_close(a.mean, (plus + minus) / 2, 0, 0.01);
    assert_close(b.mean, (plus - minus) / 2, 0, 0.01);
    assert_close(a.sd, sd, 0.1, 0);
    assert_close(b.sd, sd, 0.1, 0);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void an_unseeded_run_is_private(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy p;
    dp_svi_opts opts = {.clip = 1, .delta = 1e-4, .epsilon = 1, .steps = 2};
    fill();
    started run = start(dp_bernoulli_logit, N, &opts);
    dp_svi *svi = run.svi;
    assert_ok(dp_svi_privacy(svi, &p, &err), err.text);
    assert_true(p.is_private && p.epsilon == 0 && p.steps == 0);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &p, &err), err.text);
    assert_true(p.is_private);
    assert_null(p.why_not);
    assert_true(p.epsilon > 0.9 && p.epsilon <= 1);
    assert_true(p.delta == 1e-4);
    stop(run);
}

/* A prior of scale 1e-110 has gradients about 1e110 / 1e-110, whose squares overflow. */
static void a_gradient_beyond_adam_is_told(void **state)
{
    (void)state;
    double y[2] = {0, 1};
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(2);
    assert_true(m != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "y", dp_bernoulli_logit(dp_sample(m, "w", 1, dp_normal(0, 1e-110))));
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 10, .seed = 3};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_int_equal(dp_svi_run(svi, NULL, &err), DP_EDOMAIN);
    assert_contains(err.text, "no longer finite");
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_record_more_changes_the_sum_by_at_most_clip),
        cmocka_unit_test(eta_is_what_clipping_leaves),
        cmocka_unit_test(a_record_without_a_finite_gradient_cannot_be_told),
        cmocka_unit_test(a_batch_is_divided_by_the_public_rate),
        cmocka_unit_test(without_privacy_the_posterior_is_that_of_the_data),
        cmocka_unit_test(a_gradient_beyond_adam_is_told),
        cmocka_unit_test(an_unseeded_run_is_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
