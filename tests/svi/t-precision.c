/* Runs in single precision: near those in double, the same to the bit on any number of threads,
 * refused where the name is unknown. */
#include <math.h>
#include <string.h>

#include <tacit/tacit.h>

#include "tests/lib/check.h"

enum { N = 2000, D = 12 };

static double x[N][D], y[N];

static void simulate(void)
{
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++)
            x[i][j] = sin(1.7 * (double)(i * D + j) + 0.3 * (double)(i % 97));
        y[i] = x[i][0] - 0.5 * x[i][1] + 0.2 * x[i][2] > 0;
    }
}

/* A record's own latent under a guide from its data, which meets a weight matrix. */
static dp_model *write_model(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), three = dp_plate_new(m, "three", 3);
    (void)dp_plate_new(m, "twelve", D);
    dp_expr z = dp_sample_in(rows, "z", 3, dp_normal(0, 1));
    dp_expr w = dp_param_in(three, "w", 9, 0.1), v = dp_sample(m, "v", 9, dp_normal(0, 1));
    dp_expr h = dp_matmul(z, w), logit = dp_dot(dp_add(dp_softplus(h), dp_gelu(h)), v);
    dp_observe(rows, "y", dp_bernoulli_logit(logit));
    return m;
}

static dp_model *write_guide(const dp_model *m)
{
    dp_model *q = dp_guide_new(m);
    dp_plate rows = dp_unit_plate(q, "rows"), twelve = dp_plate_new(q, "twelve", D);
    dp_expr loc = dp_matmul(dp_data(rows, "x", D), dp_param_in(twelve, "loc", 3, 0.05));
    (void)dp_sample_in(rows, "z", 3, dp_normal_v(loc, dp_exp(dp_param(q, "log_sd", 3, -1))));
    (void)dp_sample(q, "v", 9, dp_normal_v(dp_param(q, "v_loc", 9, 0.2), dp_num(0.1)));
    return q;
}

static dp_status fit(dp_precision precision, size_t threads, size_t n, double *loc, dp_error *err)
{
    dp_model *m = write_model(), *q = write_guide(m);
    dp_dataset *data = dp_dataset_new(N);
    dp_svi *svi;
    dp_svi_opts opts = {.sigma = 1,
                        .delta = 1e-6,
                        .clip = 1,
                        .steps = 20,
                        .threads = threads,
                        .precision = precision,
                        .seed = 7};
    dp_dataset_real(data, "x", D, x[0]);
    dp_dataset_real(data, "y", 1, y);
    dp_status status = dp_svi_new(m, q, data, &opts, &svi, err);
    if (status == DP_OK)
        status = dp_svi_run(svi, NULL, err);
    if (status == DP_OK)
        status = dp_svi_get(svi, "loc", n, loc, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(q);
    dp_model_free(m);
    return status;
}

static void single_precision_is_near_double(void **state)
{
    (void)state;
    double wide[3 * D], single[3 * D], differs = 0;
    dp_error err = {0};
    assert_ok(fit(DP_DOUBLE, 1, 3 * D, wide, &err), err.text);
    assert_ok(fit(DP_SINGLE, 1, 3 * D, single, &err), err.text);
    for (size_t i = 0; i < 3 * D; i++) {
        assert_close(single[i], wide[i], 0, 1e-3);
        differs += fabs(single[i] - wide[i]);
    }
    assert_true(differs > 0);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    double one[3 * D], more[3 * D];
    dp_error err = {0};
    assert_ok(fit(DP_SINGLE, 1, 3 * D, one, &err), err.text);
    for (size_t threads = 2; threads <= 5; threads += 3) {
        assert_ok(fit(DP_SINGLE, threads, 3 * D, more, &err), err.text);
        assert_memory_equal(one, more, sizeof one);
    }
}

/* y ~ N(x . w, 1) with plain w: one float for each parameter, and gradients that are a part of the
 * release. */
static dp_svi *begin_plain(const dp_dataset *data, uint64_t steps)
{
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY,
                              .sampling = DP_SAMPLING_FULL,
                              .optimizer = DP_SGD,
                              .step_size = 1e-4,
                              .schedule = DP_CONSTANT,
                              .steps = steps,
                              .precision = DP_SINGLE,
                              .seed = 7};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_param(m, "w", D, 0.5);
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", D), w), dp_num(1)));
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    dp_model_free(m);
    return svi;
}

/* The floats that records read are those of the parameters as they are now: a second step is the
 * first one of a run that begins where it begins. */
static void every_step_reads_the_last_parameters(void **state)
{
    (void)state;
    dp_error err = {0};
    double before[D], once[D], twice[D];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, x[0]);
    dp_dataset_real(data, "y", 1, y);
    dp_svi *one = begin_plain(data, 2), *other = begin_plain(data, 1);
    assert_ok(dp_svi_step(one, &err), err.text);
    assert_ok(dp_svi_get(one, "w", D, before, &err), err.text);
    assert_ok(dp_svi_set(other, "w", D, before, &err), err.text);
    assert_ok(dp_svi_step(one, &err), err.text);
    assert_ok(dp_svi_step(other, &err), err.text);
    assert_ok(dp_svi_get(one, "w", D, twice, &err), err.text);
    assert_ok(dp_svi_get(other, "w", D, once, &err), err.text);
    assert_memory_equal(once, twice, sizeof once);
    assert_true(once[0] != before[0] && once[D - 1] != before[D - 1]);
    dp_svi_free(one);
    dp_svi_free(other);
    dp_dataset_free(data);
}

static void an_unknown_precision_is_refused(void **state)
{
    (void)state;
    double none[3 * D];
    dp_error err = {0};
    assert_int_equal(fit((dp_precision)2, 1, 3 * D, none, &err), DP_EINVAL);
    assert_non_null(strstr(err.text, "DP_SINGLE"));
}

int main(void)
{
    simulate();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_precision_is_near_double),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(every_step_reads_the_last_parameters),
        cmocka_unit_test(an_unknown_precision_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
