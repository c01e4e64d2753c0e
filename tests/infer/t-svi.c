/* The release of a step, and the whole run under failing memory. */
#include "infer/svi.h"

#include <math.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 40, STEPS = 3000 };

static double x[N], y[N];

static dp_model *make_model(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_observe(rows, "y", dp_normal_v(dp_mul(dp_data(rows, "x", 1), w), s));
    return m;
}

static dp_dataset *make_data(void)
{
    dp_dataset *data = dp_dataset_new(N);
    if (data == NULL)
        return NULL;
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i % 5 - 2;
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

/* The noise of each release is N(0, (sigma clip)^2): its squares over 2 * 3000 numbers, divided by
 * that, sum to chi-square; the limits are 6.2 standard deviations.  Half the noise is off by 40. */
static void noise_has_the_size_that_is_accounted(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = make_model();
    dp_dataset *data = make_data();
    const dp_svi_opts o = {.sigma = 7, .delta = 1e-3, .clip = 0.3, .steps = STEPS, .seed = 4};
    double square = 0, largest = 0;
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_int_equal(svi->objective.n_release, 2);
    while (!dp_svi_done(svi)) {
        assert_ok(dp_svi_step(svi, &err), err.text);
        for (int k = 0; k < 2; k++) {
            double z = svi->disguise[k] / (o.sigma * o.clip);
            square += z * z / (2 * STEPS);
            largest = fmax(largest, fabs(svi->release[k] - svi->disguise[k]));
        }
    }
    assert_close(square, 1, 0, 6.2 * sqrt(2.0 / (2 * STEPS)));
    assert_true(largest > 0 &&
                largest <= N * o.clip * (1 + 1e-12)); /* what is disguised is clipped */
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* All of a run; DP_OK, or the first error. */
static dp_status scenario(void)
{
    dp_svi *svi = NULL;
    dp_posterior *posterior = NULL;
    dp_privacy privacy;
    dp_summary summary[1];
    dp_model *m = make_model();
    dp_dataset *data = make_data();
    const dp_svi_opts o = {.sigma = 7, .delta = 1e-3, .clip = 0.3, .steps = 2, .seed = 4};
    dp_status status = m == NULL || data == NULL ? DP_ENOMEM : DP_OK;
    if (status == DP_OK)
        status = dp_svi_new(m, NULL, data, &o, &svi, NULL);
    if (status == DP_OK)
        status = dp_svi_run(svi, NULL, NULL);
    if (status == DP_OK)
        status = dp_svi_privacy(svi, &privacy, NULL);
    if (status == DP_OK)
        status = dp_posterior_new(svi, &posterior, NULL);
    if (status == DP_OK)
        status = dp_posterior_summary(posterior, "w", 1, summary, NULL);
    dp_posterior_free(posterior);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t before = faulty_live(), k = 1;
    for (;; k++) {
        faulty_fail(k);
        dp_status status = scenario();
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), before);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        if (!failed)
            break;
    }
    assert_true(k > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_has_the_size_that_is_accounted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
