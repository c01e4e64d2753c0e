/* A weight that meets a sequence and then its mean, in single precision, whose sums go through
 * chains of floats: the same bits on any number of threads, a record more or less moves a sum by
 * its clip at most, and sums are near those in double precision. */
#include "exec/chains.h"

#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/equal.h"

enum { ROWS = 200, WIDTH = 230, PLACES = 2, SIZE = WIDTH * WIDTH + WIDTH };

static double x[ROWS * PLACES * WIDTH], y[ROWS], start[WIDTH * WIDTH];

static double next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void fill(void)
{
    uint64_t r = 7;
    for (size_t i = 0; i < (size_t)ROWS * PLACES * WIDTH; i++)
        x[i] = next_number(&r);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = next_number(&r) < 0;
    for (size_t i = 0; i < (size_t)WIDTH * WIDTH; i++)
        start[i] = 0.1 * next_number(&r);
}

static dp_model *write_model(void)
{
    const dp_window all = {.image = {1, PLACES}, .size = {1, PLACES}};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), inputs = dp_plate_new(m, "inputs", WIDTH);
    dp_expr w = dp_param_in(inputs, "w", WIDTH, 0), u = dp_param(m, "u", WIDTH, 0.3);
    dp_expr h = dp_reshape(dp_data(rows, "x", (size_t)PLACES * WIDTH), PLACES, WIDTH);
    h = dp_flatten(dp_avg_pool2d(dp_gelu(dp_matmul(h, w)), &all));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_gelu(dp_matmul(h, w)), u)));
    return m;
}

/* What is released of the first n records in the last of o.steps steps. */
static void sum_of(size_t n, dp_svi_opts o, double release[SIZE])
{
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = write_model();
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", (size_t)PLACES * WIDTH, x);
    dp_dataset_real(data, "y", 1, y);
    o.seed = 5;
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_null(svi->sum.factors);
    assert_int_equal(svi->objective.n_release, SIZE);
    assert_ok(dp_svi_set(svi, "w", (size_t)WIDTH * WIDTH, start, &err), err.text);
    for (uint64_t k = 0; k < o.steps; k++)
        assert_ok(dp_svi_step(svi, &err), err.text);
    memcpy(release, svi->release.out, SIZE * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

static double distance(const double *a, const double *b)
{
    double norm2 = 0;
    for (size_t e = 0; e < SIZE; e++)
        norm2 += (a[e] - b[e]) * (a[e] - b[e]);
    return sqrt(norm2);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static double one[SIZE], release[SIZE];
    dp_svi_opts o = {.sigma = 1, .delta = 1e-6, .clip = 0.5, .steps = 2, .precision = DP_SINGLE};
    sum_of(ROWS, o, one);
    for (o.threads = 2; o.threads < 6; o.threads++) {
        sum_of(ROWS, o, release);
        assert_memory_equal(release, one, sizeof one);
    }
}

static void a_record_changes_a_sum_by_its_clip_at_most(void **state)
{
    (void)state;
    static double before[SIZE], after[SIZE];
    const size_t sizes[] = {1, 63, 64, 127, 128, ROWS - 1};
    dp_svi_opts o = {
        .mode = DP_WITHOUT_GUARANTEE, .clip = 0.125, .steps = 1, .precision = DP_SINGLE};
    double most = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        assert_true(dpi_chain_records(3, sizes[k], o.clip) > 0);
        sum_of(sizes[k], o, before);
        sum_of(sizes[k] + 1, o, after);
        most = fmax(most, distance(before, after) / o.clip);
    }
    print_message("# a record changes a sum by up to %.6f clips\n", most);
    assert_true(most <= 1 && most > 0.998);
}

static void precisions_agree(void **state)
{
    (void)state;
    static double narrow[SIZE], wide[SIZE], none[SIZE];
    dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE, .clip = 1e4, .steps = 1};
    sum_of(ROWS, o, wide);
    o.precision = DP_SINGLE;
    sum_of(ROWS, o, narrow);
    double off = distance(narrow, wide) / distance(wide, none);
    print_message("# off by %.2g of the norm\n", off);
    assert_true(off > 0 && off < 1e-5);
}

/* What is left to rounding in a sum is 0.94 2^-11 clips (exec/chains.c), and must be kept by the
 * chains that a step chooses. */
static void rounding_stays_within_what_is_left_to_it(void **state)
{
    (void)state;
    const size_t sizes[] = {128, 400, 850}; /* the most records whose sums have chains, of 8 */
    double most = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const equal_sum sum = {.n = sizes[k], .inputs = 40, .outputs = 40};
        assert_true(dpi_chain_records(1, sum.n, equal_clip(&sum)) > 0);
        most = fmax(most, equal_off(&sum));
    }
    print_message("# sums are off by up to %.3g clips, %.3g are left\n", most, 0.94 * 0x1p-11);
    assert_true(most > 1e-6); /* chains of floats it is */
    assert_true(most <= 0.94 * 0x1p-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_record_changes_a_sum_by_its_clip_at_most),
        cmocka_unit_test(precisions_agree),
        cmocka_unit_test(rounding_stays_within_what_is_left_to_it),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
