/* The release of a step, and the whole run under failing memory. */
#include "fit/fit.h"
#include "svi/svi.h"

#include <math.h>

#include "exec/value.h"
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

/* y ~ N(x.w, 1) where x is 0: no record has a gradient, and the release is noise. */
static dp_svi *noise_alone(dp_dataset **data, const dp_svi_opts *o)
{
    static const double zeros[2 * N];
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = dp_model_new();
    *data = dp_dataset_new(N);
    assert_true(m != NULL && *data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 2, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", 2), w), dp_num(1)));
    dp_dataset_real(*data, "x", 2, zeros);
    dp_dataset_real(*data, "y", 1, zeros);
    assert_ok(dp_svi_new(m, NULL, *data, o, &svi, &err), err.text);
    assert_int_equal(svi->objective.n_release, 2);
    dp_model_free(m);
    return svi;
}

/* The noise of each release is N(0, (sigma clip)^2): its squares over 2 * 3000 numbers, divided by
 * that, sum to chi-square; the limits are 6.2 standard deviations.  Half the noise is off by 40.
 * Neighbouring steps do not have the same noise, of which 1 / (128 sqrt pi) of 6000 rounded numbers
 * are equal by chance, 26 in the mean and 75 or more with a probability below 1e-12; and none of it
 * stays in memory. */
static void noise_has_the_size_that_is_accounted(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    const dp_svi_opts o = {.sigma = 7, .delta = 1e-3, .clip = 0.3, .steps = STEPS, .seed = 4};
    double square = 0, last[2] = {0, 0};
    size_t equal = 0;
    dp_svi *svi = noise_alone(&data, &o);
    while (!dp_svi_done(svi)) {
        assert_ok(dp_svi_step(svi, &err), err.text);
        for (int k = 0; k < 2; k++) {
            double z = svi->release.out[k] / (o.sigma * o.clip);
            square += z * z / (2 * STEPS);
            equal += z == last[k];
            assert_true(svi->sum.total[k] == 0);
            last[k] = z;
        }
    }
    assert_close(square, 1, 0, 6.2 * sqrt(2.0 / (2 * STEPS)));
    assert_true(equal < 75);
    dp_svi_free(svi);
    dp_dataset_free(data);
}

/* A latent of each record, drawn by the guide. */
static dp_svi *with_record_latents(dp_dataset **data, const dp_svi_opts *o)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = dp_model_new();
    *data = make_data();
    assert_true(m != NULL && *data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal_v(w, dp_num(1)));
    dp_observe(rows, "y", dp_normal_v(z, dp_num(1)));
    dp_model *guide = dp_guide_new(m);
    assert_non_null(guide);
    dp_plate same = dp_unit_plate(guide, "rows");
    (void)dp_sample(guide, "w", 1, dp_normal_v(dp_param(guide, "loc", 1, 0), dp_num(0.1)));
    dp_expr of_record = dp_mul(dp_param(guide, "slope", 1, 0.5), dp_data(same, "x", 1));
    (void)dp_sample_in(same, "z", 1, dp_normal_v(of_record, dp_num(0.5)));
    assert_ok(dp_svi_new(m, guide, *data, o, &svi, &err), err.text);
    dp_model_free(guide);
    dp_model_free(m);
    return svi;
}

/* Draws of records are secrets: they come from the source of the noise, keyed by 256 bits, not from
 * the guide's generator, which has a seed of 64.  Normal numbers are made in pairs, of which no two
 * records have one each: what a record draws has nothing to do with who is beside it. */
static void draws_of_records_come_from_the_secret_source(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    dp_noise *twin;
    const dp_svi_opts o = {.sigma = 7, .delta = 1e-3, .clip = 0.3, .steps = 1, .seed = 4};
    double expected[N];
    size_t found = 0;
    dp_svi *svi = with_record_latents(&data, &o);
    assert_ok(dp_svi_step(svi, &err), err.text);
    assert_ok(dp_noise_new_seeded(4, &twin, &err), err.text);
    for (int i = 0; i < N; i++)
        assert_ok(dp_noise_normal(twin, 1, 1, &expected[i], &err), err.text);
    for (size_t k = 0; k < svi->objective.n_noise; k++) {
        if (!dpi_get(&svi->objective.graph, svi->objective.noise[k])->shape.per_record)
            continue;
        const double *drawn = dpi_run_value(svi->run, svi->objective.noise[k]);
        assert_memory_equal(drawn, expected, sizeof expected);
        found++;
    }
    assert_int_equal(found, 1);
    for (size_t k = 0; k < svi->objective.n_release; k++) /* sums without noise are not kept */
        assert_true(svi->release.out[k] != 0 && svi->sum.workers[0].part[k] == 0 &&
                    svi->sum.total[k] == 0);
    dp_noise_free(twin);
    dp_svi_free(svi);
    dp_dataset_free(data);
}

/* A standard deviation that overflows, for want of a source that fails. */
static void a_step_without_noise_releases_nothing(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_dataset *data;
    double before, after;
    const dp_svi_opts o = {
        .mode = DP_WITHOUT_GUARANTEE, .sigma = 1, .clip = 1e10, .steps = 3, .seed = 4};
    dp_svi *svi = with_record_latents(&data, &o);
    svi->opts.sigma = 1e300;
    dp_privacy privacy;
    assert_ok(dp_svi_get(svi, "slope", 1, &before, &err), err.text);
    assert_int_equal(dp_svi_step(svi, NULL), DP_EDOMAIN);
    assert_ok(dp_svi_get(svi, "slope", 1, &after, &err), err.text);
    assert_true(before == after);
    for (size_t k = 0; k < svi->objective.n_release; k++)
        assert_true(svi->release.out[k] == 0 && svi->sum.workers[0].part[k] == 0 &&
                    svi->sum.total[k] == 0);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_int_equal(privacy.steps, 0);
    dp_svi_free(svi);
    dp_dataset_free(data);
}

/* All of a run; DP_OK, or the first error. */
static dp_status scenario(void)
{
    dp_svi *svi = NULL;
    dp_fit *fit = NULL;
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
        status = dp_svi_finish(svi, &fit, NULL);
    if (status == DP_OK)
        status = dp_fit_summary(fit, "w", 1, summary, NULL);
    dp_fit_free(fit);
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

/* Of all that is allocated, dp_svi_bytes leaves out the sources of randomness and names of threads;
 * and it is all there before the first step. */
static void memory_is_stated_beforehand(void **state)
{
    (void)state;
    enum { ROWS = 2000, WIDE = 300 };
    static double wide[ROWS];
    dp_error err = {0};
    size_t stated[2];
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", WIDE, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_sum(dp_mul(dp_data(rows, "x", 1), w)), dp_num(1)));
    dp_dataset_real(data, "x", 1, wide);
    dp_dataset_real(data, "y", 1, wide);
    for (size_t k = 0; k < 2; k++) {
        dp_svi *svi;
        const dp_svi_opts o = {
            .sigma = 2, .delta = 1e-6, .clip = 1, .steps = 3, .seed = 1, .threads = 1 + k};
        size_t before = faulty_bytes();
        assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
        size_t taken = faulty_bytes() - before;
        stated[k] = dp_svi_bytes(svi);
        assert_true(taken >= stated[k] && taken < stated[k] + 65536);
        assert_ok(dp_svi_run(svi, NULL, &err), err.text);
        assert_int_equal(faulty_bytes() - before, taken);
        assert_int_equal(dp_svi_bytes(svi), stated[k]);
        dp_svi_free(svi);
        assert_int_equal(faulty_bytes(), before);
    }
    assert_true(stated[0] > 256 * WIDE * sizeof(double) && stated[1] > stated[0] * 3 / 2);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* What is told to everybody is no function of the records: neither of how many there are, nor of
 * whether two of them are of one unit. */
static void memory_does_not_tell_the_number_of_records(void **state)
{
    (void)state;
    enum { MOST = 3000 };
    static double values[MOST];
    static int32_t person[2][MOST];
    const size_t rows[] = {2, 20, 300, MOST}; /* a prior divided by 1 is another graph */
    const dp_svi_opts opts[] = {
        {.sampling = DP_SAMPLING_FULL},
        {.sampling = DP_SAMPLING_POISSON, .rate = 0.5},
        {.sampling = DP_SAMPLING_FIXED, .batch = 1},
        {.sampling = DP_SAMPLING_ALLOCATION, .epoch = 3},
        {.sampling = DP_SAMPLING_FULL, .threads = 8, .precision = DP_SINGLE},
        {.sampling = DP_SAMPLING_FULL, .form = DP_FORM_PARAMETERS, .loss_every = 1},
    };
    for (size_t i = 0; i < MOST; i++)
        person[0][i] = (int32_t)i, person[1][i] = (int32_t)(i / 2);
    for (size_t k = 0; k < sizeof opts / sizeof *opts; k++)
        for (int units = 0; units < 2; units++) {
            size_t stated = 0;
            for (size_t j = 0; j < 4 + 4 * (size_t)units; j++) {
                dp_error err = {0};
                dp_svi *svi;
                dp_svi_opts o = opts[k];
                o.mode = DP_NO_PRIVACY, o.steps = 3;
                dp_dataset *data = dp_dataset_new(rows[j % 4]);
                dp_model *m = make_model();
                dp_dataset_real(data, "x", 1, values);
                dp_dataset_real(data, "y", 1, values);
                dp_dataset_index(data, "person", person[j / 4]);
                if (units)
                    dp_dataset_unit(data, "person");
                assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
                stated = stated == 0 ? dp_svi_bytes(svi) : stated;
                assert_int_equal(dp_svi_bytes(svi), stated);
                dp_svi_free(svi);
                dp_dataset_free(data);
                dp_model_free(m);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_has_the_size_that_is_accounted),
        cmocka_unit_test(draws_of_records_come_from_the_secret_source),
        cmocka_unit_test(a_step_without_noise_releases_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(memory_is_stated_beforehand),
        cmocka_unit_test(memory_does_not_tell_the_number_of_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
