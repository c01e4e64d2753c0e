/* Releases that are made in waves: the same bits on any number of threads, and a record more or
 * less changes them by at most the clip norm, in both precisions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"
#include "tests/svi/equal.h"

enum {
    ROWS = 1100,
    INPUTS = 180,
    OUTPUTS = 290,
    SIZE = INPUTS * OUTPUTS + OUTPUTS,
    MOST = SIZE + 5
};

static double x[ROWS * INPUTS];

static void fill(void)
{
    uint64_t r = 3;
    for (size_t i = 0; i < (size_t)ROWS * INPUTS; i++)
        x[i] = next_number(&r);
}

/* A dense layer; with two draws for each record, and a column that is drawn, where there is a
 * guide. */
static void write_model(dp_model *m, dp_model *guide)
{
    dp_plate rows = dp_unit_plate(m, "rows"), inputs = dp_plate_new(m, "inputs", INPUTS);
    dp_expr w = dp_param_in(inputs, "w", OUTPUTS, 0.01), b = dp_param(m, "b", OUTPUTS, 0.1);
    dp_expr h = dp_add(dp_matmul(dp_data(rows, "x", INPUTS), w), b);
    dp_expr at = dp_sum(dp_add(dp_softplus(h), dp_gelu(h)));
    if (guide != NULL) {
        dp_plate same = dp_unit_plate(guide, "rows");
        at = dp_add(at,
                    dp_add(dp_sample_in(rows, "z", 1, dp_normal(0, 1)), dp_data(rows, "odd", 1)));
        at = dp_add(at, dp_sum(dp_sample_in(rows, "v", 2, dp_normal(0, 1))));
        (void)dp_sample_in(same, "z", 1, dp_normal_v(dp_param(guide, "loc", 1, 0.3), dp_num(1)));
        (void)dp_sample_in(same, "v", 2, dp_normal_v(dp_param(guide, "at", 2, 0.3), dp_num(1)));
    }
    dp_observe(rows, "y", dp_normal_v(at, dp_num(30)));
}

static void sum_of(size_t n, dp_svi_opts o, double release[MOST])
{
    dp_error err = {0};
    dp_svi *svi;
    static double y[ROWS];
    static unsigned char odds[ROWS];
    dp_model *m = dp_model_new(), *guide = o.mode == DP_PRIVATE ? dp_guide_new(m) : NULL;
    dp_dataset *data = dp_dataset_new(n);
    for (size_t i = 0; i < n; i++) {
        y[i] = 200 + 50 * x[i];
        odds[i] = (unsigned char)(i % 8);
    }
    write_model(m, guide);
    dp_dataset_real(data, "x", INPUTS, x);
    dp_dataset_real(data, "y", 1, y);
    if (guide != NULL)
        dp_dataset_bernoulli(data, "odd", 1, 7, odds);
    o.steps = 2;
    o.seed = 9;
    assert_ok(dp_svi_new(m, guide, data, &o, &svi, &err), err.text);
    assert_non_null(svi->sum.factors);
    assert_in_range(svi->objective.n_release, SIZE, MOST);
    for (int k = 0; k < 2 && o.mode == DP_PRIVATE; k++)
        assert_ok(dp_svi_step(svi, &err), err.text);
    if (o.mode != DP_PRIVATE)
        assert_ok(dp_svi_step(svi, &err), err.text);
    if (o.loss_every > 0) /* no sum without noise stays */
        assert_true(*dpi_factors_extra(svi->sum.factors, 0) == 0);
    memcpy(release, svi->release.out, svi->objective.n_release * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(guide);
    dp_model_free(m);
}

/* 1100 records are 18 tasks and three waves; 100 are two tasks. */
static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static double one[MOST], release[MOST];
    const size_t sizes[] = {1, 100, ROWS}, threads[] = {2, 3, 5};
    fill();
    for (int single = 0; single < 2; single++)
        for (int k = 0; k < 3; k++) {
            dp_svi_opts o = {.sigma = 2,
                             .delta = 1e-6,
                             .clip = 300, /* of some records, and which is counted */
                             .clip_quantile = .5,
                             .clip_sigma = 3,
                             .clip_speed = .1,
                             .public_units = 1,
                             .loss_every = 1,
                             .loss_clip = 1e4,
                             .loss_sigma = 30,
                             .precision = single ? DP_SINGLE : DP_DOUBLE};
            sum_of(sizes[k], o, one);
            o.threads = threads[k];
            sum_of(sizes[k], o, release);
            assert_memory_equal(release, one, sizeof one);
        }
}

static void a_record_changes_a_sum_by_its_clip_at_most(void **state)
{
    (void)state;
    static double before[MOST], after[MOST];
    const size_t sizes[] = {0, 63, 64, 127, 128, 640, 1000};
    double most = 0;
    fill();
    for (int single = 0; single < 2; single++)
        for (size_t k = 1; k < sizeof sizes / sizeof sizes[0]; k++) {
            double norm2 = 0, clip = 3;
            dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                             .clip = clip,
                             .precision = single ? DP_SINGLE : DP_DOUBLE};
            sum_of(sizes[k], o, before);
            sum_of(sizes[k] + 1, o, after);
            for (size_t e = 0; e < SIZE; e++)
                norm2 += (after[e] - before[e]) * (after[e] - before[e]);
            most = fmax(most, sqrt(norm2) / clip);
        }
    print_message("# a record changes a sum by up to %.6f clips\n", most);
    assert_true(most <= 1 && most > 0.998);
}

/* One record, down to subnormal numbers and up to where gradients overflow and add nothing; factors
 * that are kept are floats in single precision, for clip norms within their range. */
static void no_record_is_too_small_or_too_large_to_be_clipped(void **state)
{
    (void)state;
    static double release[MOST];
    const double clips[] = {1e-100, 1e-19, 1, 1e19, 1e25};
    int clipped = 0;
    for (int single = 0; single < 2; single++)
        for (int power = single ? -45 : -320; power < (single ? 39 : 308); power += single ? 4 : 29)
            for (int c = 0; c < 5; c++) {
                double norm2 = 0, clip = clips[c];
                dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                                 .clip = clip,
                                 .optimizer = DP_SGD, /* remembers no squares */
                                 .step_size = 1e-30,
                                 .precision = single ? DP_SINGLE : DP_DOUBLE};
                fill();
                for (size_t i = 0; i < INPUTS; i++)
                    x[i] *= pow(10, power - (i % 3 == 0 ? 20 : 0));
                sum_of(1, o, release);
                for (size_t e = 0; e < SIZE; e++)
                    norm2 += release[e] / clip * (release[e] / clip);
                if (!(norm2 <= 1))
                    fail_msg("x = 1e%d, clip %g: norm is %.15g clips", power, clip, sqrt(norm2));
                clipped += norm2 > 0.998;
            }
    print_message("# %d records were clipped\n", clipped);
    assert_true(clipped > 70);
}

/* Gradients that no clipping changes: off by what rounding makes of the records' values. */
static void precisions_agree(void **state)
{
    (void)state;
    static double wide[MOST], narrow[MOST];
    double off = 0, norm = 0;
    fill();
    dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE, .clip = 1e4, .precision = DP_DOUBLE};
    sum_of(200, o, wide);
    o.precision = DP_SINGLE;
    sum_of(200, o, narrow);
    for (size_t e = 0; e < SIZE; e++) {
        off += (wide[e] - narrow[e]) * (wide[e] - narrow[e]);
        norm += wide[e] * wide[e];
    }
    print_message("# off by %.2g of the norm\n", sqrt(off / norm));
    assert_true(norm > 100 && off > 0);
    assert_true(sqrt(off / norm) < 1e-5);
}

/* What is left to rounding in a sum is 0.94 2^-11 clips (exec/factors.c), and must be kept by the
 * chains that a step chooses.  Chains of 64 would lose twice the bound at the largest size. */
static void rounding_stays_within_what_is_left_to_it(void **state)
{
    (void)state;
    const size_t sizes[] = {229, 600, ROWS};
    double most = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        most = fmax(most, equal_off(&(equal_sum){sizes[k], INPUTS, OUTPUTS, true}));
    print_message("# sums are off by up to %.3g clips, %.3g are left\n", most, 0.94 * 0x1p-11);
    assert_true(most > 1e-6); /* chains of floats it is */
    assert_true(most <= 0.94 * 0x1p-11);
}

/* A batch without records leaves nothing of the batch before, whose release lies where its sum is
 * made.  Of 40 batches of one record on average a third are such. */
static void a_batch_of_none_is_a_sum_of_none(void **state)
{
    enum { STEPS = 40, RECORDS = 100 };
    dp_error err = {0};
    dp_svi *svi;
    static const double y[RECORDS];
    size_t none = 0, some = 0;
    (void)state;
    fill();
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(RECORDS);
    write_model(m, NULL);
    dp_dataset_real(data, "x", INPUTS, x);
    dp_dataset_real(data, "y", 1, y);
    const dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                           .clip = 1,
                           .sampling = DP_SAMPLING_POISSON,
                           .rate = 1. / RECORDS,
                           .steps = STEPS,
                           .seed = 9};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_non_null(svi->sum.factors);
    for (int k = 0; k < STEPS; k++) {
        double most = 0;
        assert_ok(dp_svi_step(svi, &err), err.text);
        for (size_t e = 0; e < svi->objective.n_release; e++)
            most = fmax(most, fabs(svi->release.out[e]));
        none += most == 0;
        some += most > 0;
    }
    assert_true(none >= 5 && some >= 15);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_of_none_is_a_sum_of_none),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_record_changes_a_sum_by_its_clip_at_most),
        cmocka_unit_test(no_record_is_too_small_or_too_large_to_be_clipped),
        cmocka_unit_test(precisions_agree),
        cmocka_unit_test(rounding_stays_within_what_is_left_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
