/* What one record more or less changes in a release: its own clipped gradient and nothing else, also
 * where rounding decides what the other records' gradients are. */
#include <math.h>
#include <string.h>

#include "infer/svi.h"
#include "tests/lib/check.h"

enum { WIDTH = 40, MOST = 600 };

static double x_values[MOST * WIDTH], y_values[MOST];

/* A reproducible number in (-1, 1). */
static double next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* All records are one row whose numbers add up to nothing but rounding errors, which depend on the
 * order in which they are added. */
static void fill(uint64_t seed)
{
    double sum = 0;
    for (size_t j = 0; j + 1 < WIDTH; j++)
        sum += x_values[j] = next_number(&seed);
    x_values[WIDTH - 1] = -sum;
    for (size_t i = 0; i < MOST; i++) {
        memcpy(x_values + i * WIDTH, x_values, WIDTH * sizeof *x_values);
        y_values[i] = 1;
    }
}

/* The first release for y ~ Bernoulli(logit 1e18 x.w) at w = 1, on the first n records. */
static void release_at_rounding(size_t n, double release[WIDTH])
{
    dp_error err = {0};
    dp_svi *svi;
    double loc[WIDTH], log_scale[WIDTH];
    dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE, .clip = 1, .steps = 1, .seed = 1};
    for (size_t j = 0; j < WIDTH; j++)
        loc[j] = 1, log_scale[j] = -60;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(n);
    assert_true(m != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", WIDTH, dp_normal(0, 10));
    dp_expr sum = dp_dot(dp_data(rows, "x", WIDTH), w);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_scale(1e18, sum)));
    dp_dataset_real(data, "x", WIDTH, x_values);
    dp_dataset_real(data, "y", 1, y_values);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.loc", WIDTH, loc, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.log_scale", WIDTH, log_scale, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    memcpy(release, svi->release, WIDTH * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* 460 and 461 records: 204 and 205 in the second chunk, which is where a product of all records of a
 * chunk was once worth a call of BLAS. */
static void the_other_records_do_not_notice(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 255, 256, 300, 460, 511};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        fill(seed);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            double before[WIDTH], after[WIDTH], norm2 = 0;
            release_at_rounding(sizes[k], before);
            release_at_rounding(sizes[k] + 1, after);
            for (size_t j = 0; j < WIDTH; j++)
                norm2 += (after[j] - before[j]) * (after[j] - before[j]);
            if (!(sqrt(norm2) <= 1 + 1e-9))
                fail_msg("%zu records and one more: the sum differs by %g clips", sizes[k],
                         sqrt(norm2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_records_do_not_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
