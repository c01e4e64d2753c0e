/* What one record more or less changes in a release: its own clipped gradient and nothing else,
 * also where rounding decides what the other records' gradients are. */
#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { WIDTH = 40, MOST = 600 };

static double x_values[MOST * WIDTH], y_values[MOST];

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
    memcpy(release, svi->release.out, WIDTH * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* 460 and 461 records: 204 and 205 in the second chunk, which is where a product of all records of
 * a chunk was once worth a call of BLAS. */
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
            if (!(sqrt(norm2) <= 1))
                fail_msg("%zu records and one more: the sum differs by %g clips", sizes[k],
                         sqrt(norm2));
        }
    }
}

/* Models whose records' gradients are made in different forms: a scaled vector, an outer product,
 * plain values beside a scattered one. */
typedef void (*writer)(dp_model *m, dp_plate rows, dp_expr x);

static void scaled_vector(dp_model *m, dp_plate rows, dp_expr x)
{
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(x, dp_sample(m, "w", 2, dp_normal(0, 10)))));
}

static void outer_product(dp_model *m, dp_plate rows, dp_expr x)
{
    dp_expr w = dp_sample_in(dp_plate_new(m, "inputs", 2), "w", 3, dp_normal(0, 10));
    dp_observe(rows, "k", dp_categorical_logit(dp_matmul(x, w)));
}

static void several_parts(dp_model *m, dp_plate rows, dp_expr x)
{
    dp_plate groups = dp_plate_new(m, "groups", 3);
    dp_expr w = dp_sample(m, "w", 2, dp_normal(0, 10)), s = dp_sample(m, "s", 1, dp_half_normal(1)),
            a = dp_sample_in(groups, "a", 1, dp_normal(0, 1));
    dp_expr loc = dp_mul(dp_pick(a, dp_index(rows, "g", groups)), dp_dot(x, w));
    dp_observe(rows, "y", dp_normal_v(loc, s));
}

/* The norm of what one record adds to a release, x = (size, size / 2) and w = at / size
 * throughout. */
static double contribution(writer write, double size, double at, double clip)
{
    dp_error err = {0};
    dp_svi *svi;
    double x[2] = {size, size / 2}, y = 1, w[6], scale[6], norm2 = 0;
    int32_t number = 2;
    dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE,
                        .clip = clip,
                        .optimizer = DP_SGD, /* Adam would square a gradient of 1e200 */
                        .step_size = 1e-250,
                        .steps = 1,
                        .seed = 1};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(1);
    assert_true(m != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    write(m, rows, dp_data(rows, "x", 2));
    dp_dataset_real(data, "x", 2, x);
    dp_dataset_real(data, "y", 1, &y);
    dp_dataset_index(data, "k", &number);
    dp_dataset_index(data, "g", &number);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    for (int j = 0; j < 6; j++)
        w[j] = isfinite(at / size) ? at / size * (j + 1) : 0, scale[j] = -800;
    size_t n = write == outer_product ? 6 : 2;
    assert_ok(dp_svi_set(svi, "w.loc", n, w, &err), err.text);
    assert_ok(dp_svi_set(svi, "w.log_scale", n, scale, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    for (size_t k = 0; k < svi->objective.n_release; k++)
        norm2 += svi->release.out[k] / clip * (svi->release.out[k] / clip);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return sqrt(norm2);
}

static void no_record_is_too_small_or_too_large_to_be_clipped(void **state)
{
    (void)state;
    const writer models[] = {scaled_vector, outer_product, several_parts};
    const double clips[] = {1e-100, 1e-15, 1, 1e100}, places[] = {0, 0.7, 40, 350, 365, 600};
    size_t clipped = 0;
    for (int k = 0; k < 3; k++)
        for (int power = -320; power <= 308; power += power > 295 ? 1 : 11)
            for (int c = 0; c < 4; c++)
                for (int p = 0; p < 6; p++) {
                    double norm = contribution(models[k], pow(10, power), places[p], clips[c]);
                    clipped += norm > 0.999;
                    if (!(norm <= 1))
                        fail_msg("model %d, x = 1e%d, at %g, clip %g: norm is %.15g clips", k,
                                 power, places[p], clips[c], norm);
                }
    assert_true(clipped > 500);
}

/* 2^17 records with the same gradient of one clip, whose numbers round: added one by one they lose
 * 1e-7, systematically.  The sum may be off by 2^-37 clip for each chunk of 256 (svi.c). */
static void long_sums_lose_nothing(void **state)
{
    (void)state;
    enum { ROWS = 1 << 17 };
    const double clip = 0.1 / (1 - 0x1p-16);
    static double ones[ROWS];
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE, .clip = clip, .steps = 1, .seed = 1};
    for (size_t i = 0; i < ROWS; i++)
        ones[i] = 1;
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    assert_true(m != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_scale(1e6, w), dp_num(1)));
    dp_dataset_real(data, "y", 1, ones);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    assert_close(fabs(svi->release.out[0]), 0.1 * ROWS, 0, 0x1p-37 * clip * ROWS / 256);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Parameters after some noisy steps of a model with groups and a latent of each record, on data
 * whose gradients all overflow: `kind` chooses two data sets that have nothing else in common. */
static void fit_records_that_add_nothing(int kind, dp_svi_opts opts, double theta[8])
{
    enum { ROWS = 300 };
    dp_error err = {0};
    dp_svi *svi;
    double x[ROWS], y[ROWS];
    int32_t group[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (kind == 0 ? 1e300 : -3e305) * (double)(1 + i % 7);
        y[i] = kind == 0 ? 0 : (double)(i % 50);
        group[i] = kind == 0 ? 1 : (int32_t)(i % 3);
    }
    dp_model *m = dp_model_new(), *guide = dp_guide_new(m);
    dp_dataset *data = dp_dataset_new(ROWS);
    assert_true(m != NULL && guide != NULL && data != NULL);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", 3);
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal(0, 1));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_expr steep = dp_square(dp_mul(dp_data(rows, "x", 1), dp_param(m, "b", 1, 1)));
    dp_expr effect = dp_pick(a, dp_index(rows, "g", groups));
    dp_observe(rows, "y", dp_poisson_log(dp_mul(steep, dp_add(effect, z))));
    dp_plate same = dp_unit_plate(guide, "rows"), as_model = dp_plate_new(guide, "groups", 3);
    dp_expr loc = dp_param_in(as_model, "loc", 1, 0.5);
    (void)dp_sample_in(as_model, "a", 1, dp_normal_v(loc, dp_num(0.1)));
    dp_expr slope = dp_param(guide, "slope", 1, 1e-300);
    dp_expr of_record = dp_mul(dp_data(same, "x", 1), slope);
    (void)dp_sample_in(same, "z", 1, dp_normal_v(of_record, dp_num(1)));
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "g", group);
    assert_ok(dp_svi_new(m, guide, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_int_equal(svi->objective.n_theta, 5);
    memcpy(theta, svi->optimizer.theta, 5 * sizeof *theta);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(guide);
    dp_model_free(m);
}

/* Whatever reaches the parameters past the release would tell the two data sets apart. */
static void records_that_add_nothing_leave_no_trace(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++)
        for (int sampled = 0; sampled < 2; sampled++) {
            double one[8], other[8];
            dp_svi_opts opts = {.sigma = 2, .delta = 1e-3, .clip = 1, .steps = 20, .seed = 7};
            opts.form = form == 0 ? DP_FORM_LATENTS : DP_FORM_PARAMETERS;
            opts.sampling = sampled ? DP_SAMPLING_POISSON : DP_SAMPLING_FULL;
            opts.rate = sampled ? 0.3 : 1;
            fit_records_that_add_nothing(0, opts, one);
            fit_records_that_add_nothing(1, opts, other);
            assert_memory_equal(one, other, 5 * sizeof *one);
            assert_true(one[0] != 0.5 && one[1] != 0.5);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_records_do_not_notice),
        cmocka_unit_test(records_that_add_nothing_leave_no_trace),
        cmocka_unit_test(long_sums_lose_nothing),
        cmocka_unit_test(no_record_is_too_small_or_too_large_to_be_clipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
