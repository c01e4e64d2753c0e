#include "svi/release.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "random/grid.h"
#include "random/noise.h"
#include "tests/lib/check.h"

enum { N = 3000, LONG = 3 * DPI_RELEASE_BLOCK + 77, BLOCKS = 4 };
static double sum[LONG], moved[LONG], last[LONG], lost[LONG];
static int64_t integers[LONG];
static int64_t expected[N];
static unsigned char keys[BLOCKS * DPI_STREAM_KEY];

static dp_noise *source(uint64_t seed)
{
    dp_error err = {0};
    dp_noise *made;
    assert_ok(dp_noise_new_seeded(seed, &made, &err), err.text);
    return made;
}

/* The integers that a source of this seed adds. */
static void expect_noise(uint64_t seed)
{
    dp_error err = {0};
    dpi_stream *stream;
    dp_noise *twin = source(seed);
    assert_ok(dpi_noise_stream(twin, &stream, &err), err.text);
    dpi_stream_grid(stream, N, expected);
    dp_noise_free(twin);
}

/* A release of n numbers, in one block or, from the last block on, in several. */
static dp_status protect(dp_noise *from, double sd, size_t n, double *of, double *out,
                         dp_error *err)
{
    dpi_release r = {
        .n = n, .noisy = true, .sd = sd, .rate = 1, .sum = of, .out = out, .keys = keys};
    dp_status status = dpi_release_begin(&r, from, err);
    for (size_t b = dpi_release_blocks(n); status == DP_OK && b > 0; b--)
        dpi_release_block(&r, b - 1, NULL, NULL);
    dpi_release_end(&r);
    return status;
}

/* Both the sum and the noise are whole numbers of steps, of whose sum the low bits are dropped. */
static void a_release_is_an_integer_times_its_step(void **state)
{
    (void)state;
    dp_error err = {0};
    const double sd = 0.7, step = 0.7 / 4294967296.0;
    expect_noise(5);
    for (int j = 0; j < N; j++)
        sum[j] = last[j] = sin(j) * exp(j % 20 - 10);
    dp_noise *from = source(5);
    assert_ok(protect(from, sd, N, sum, moved, &err), err.text);
    for (int j = 0; j < N; j++) {
        int64_t integer = (int64_t)nearbyint(last[j] / step) + expected[j];
        assert_close(moved[j], (double)dpi_grid_dropped(integer) * (sd / 64), 0, 0);
        assert_true(sum[j] == 0);
    }
    dp_noise_free(from);
}

/* Low digits of a sum leave no trace: sums that round to the same integers give the same
 * release. */
static void digits_below_the_step_do_not_matter(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int j = 0; j < N; j++) {
        sum[j] = (j - N / 2) * 0x1p-30;
        moved[j] = sum[j] + 0.49 * 0x1p-32 * cos(j);
    }
    dp_noise *one = source(6), *other = source(6);
    assert_ok(protect(one, 1, N, sum, last, &err), err.text);
    assert_ok(protect(other, 1, N, moved, lost, &err), err.text);
    assert_memory_equal(last, lost, N * sizeof *last);
    dp_noise_free(one);
    dp_noise_free(other);
}

/* Two sums at distance 1 are put on the grid at distance 1 + sigma 2^-32 sqrt(n) at most, and the
 * worst pair comes near: all numbers of one are just below a half, all of the other just above. */
static void the_grid_moves_sums_apart_by_its_share_at_most(void **state)
{
    (void)state;
    const double sigma = 1e6, step = sigma * 0x1p-32;
    double distance = 0, at_first = 0;
    for (int j = 0; j < N; j++) {
        double a = (j + 0.5 - 1e-6) * step, b = (j + 0.5 + 1e-6) * step;
        double on_grid = (rint(a / step) - rint(b / step)) * step;
        at_first += (a - b) * (a - b);
        distance += on_grid * on_grid;
    }
    distance = sqrt(distance) - sqrt(at_first);
    assert_true(distance <= dpi_release_share(sigma, N));
    assert_close(distance, dpi_release_share(sigma, N), 1e-5, 0);
}

static void enormous_sums_and_nan_stay_within_the_integers(void **state)
{
    (void)state;
    dp_error err = {0};
    double wild[4] = {INFINITY, -1e300, NAN, 1e19}, out[4];
    const double ends[4] = {0x1p30, -0x1p30, -0x1p30, 0x1p30};
    dp_noise *from = source(7);
    assert_ok(protect(from, 1, 4, wild, out, &err), err.text);
    for (int j = 0; j < 4; j++)
        assert_close(out[j], ends[j], 0, 8);
    dp_noise_free(from);
}

static void a_deviation_out_of_range_releases_nothing(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY, 1e-251, 1e251};
    dp_noise *from = source(8);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dp_error err = {0};
        double held[2] = {3, 4}, out[2] = {5, 6};
        assert_int_equal(protect(from, bad[k], 2, held, out, &err), DP_EDOMAIN);
        assert_contains(err.text, "standard deviation");
        assert_true(out[0] == 5 && out[1] == 6);
    }
    dp_noise_free(from);
}

/* Calls of dpi_release_then: every number once, when it is there. */
static void check_piece(void *user, size_t first, size_t n)
{
    unsigned char *seen = user;
    for (size_t j = first; j < first + n; j++) {
        assert_true(isfinite(moved[j]) && seen[j] == 0 && sum[j] == 0);
        seen[j] = 1;
    }
}

/* Blocks from the first and from the last on, and with a key of its own each: no noise occurs
 * twice. */
static void blocks_may_be_made_in_any_order(void **state)
{
    (void)state;
    dp_error err = {0};
    static unsigned char seen[LONG];
    size_t equal = 0;
    dp_noise *one = source(9), *other = source(9);
    assert_int_equal(dpi_release_blocks(LONG), BLOCKS);
    assert_ok(protect(one, 1, LONG, sum, lost, &err), err.text);
    dpi_release r = {
        .n = LONG, .noisy = true, .sd = 1, .rate = 2, .sum = sum, .out = moved, .keys = keys};
    for (size_t j = 0; j < LONG; j++)
        moved[j] = NAN;
    assert_ok(dpi_release_begin(&r, other, &err), err.text);
    for (size_t b = 0; b < BLOCKS; b++)
        dpi_release_block(&r, b, check_piece, seen);
    dpi_release_end(&r);
    for (size_t j = 0; j < LONG; j++) {
        assert_true(moved[j] == lost[j] / 2 && seen[j] == 1);
        equal += j >= DPI_RELEASE_BLOCK && moved[j] == moved[j - DPI_RELEASE_BLOCK];
        lost[j] = 0;
    }
    assert_true(equal < LONG / 50); /* by chance LONG / 227 */
    for (size_t k = 0; k < sizeof keys; k++)
        assert_int_equal(keys[k], 0);
    dp_noise_free(one);
    dp_noise_free(other);
}

/* What ranks add up and release at the end is to the bit what one process releases at once. */
static void sums_of_ranks_are_released_alike(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_noise *one = source(10), *other = source(10);
    for (int j = 0; j < LONG; j++)
        sum[j] = last[j] = sin(j) * exp(j % 40 - 20);
    assert_ok(protect(one, 0.7, LONG, sum, lost, &err), err.text);
    dpi_release r = {.n = LONG,
                     .noisy = true,
                     .sd = 0.7,
                     .rate = 1,
                     .sum = last,
                     .out = moved,
                     .whole = integers,
                     .keys = keys};
    assert_ok(dpi_release_begin(&r, other, &err), err.text);
    for (size_t b = 0; b < BLOCKS; b++)
        dpi_release_block(&r, b, NULL, NULL);
    dpi_release_end(&r);
    dpi_release_whole(&r, integers);
    assert_memory_equal(moved, lost, sizeof moved);
    dp_noise_free(one);
    dp_noise_free(other);
}

/* The last task's sum is added as dpi_add_compensated would, and nothing of either stays. */
static void the_last_sum_is_added_on_the_way(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int with_lost = 0; with_lost < 2; with_lost++) {
        for (int j = 0; j < LONG; j++) {
            sum[j] = 1e9 * sin(j);
            last[j] = cos(j);
            lost[j] = with_lost ? 1e-8 * cos(3 * j) : 0;
            moved[j] = 0;
        }
        dpi_release r = {.n = LONG,
                         .rate = 0.25,
                         .sum = sum,
                         .last = last,
                         .lost = with_lost ? lost : NULL,
                         .out = moved};
        assert_ok(dpi_release_begin(&r, NULL, &err), err.text);
        for (size_t b = 0; b < BLOCKS; b++)
            dpi_release_block(&r, b, NULL, NULL);
        dpi_release_end(&r);
        for (int j = 0; j < LONG; j++) {
            double whole = 1e9 * sin(j) + (cos(j) - (with_lost ? 1e-8 * cos(3 * j) : 0));
            assert_true(moved[j] == whole / 0.25);
            assert_true(sum[j] == 0 && last[j] == 0 && lost[j] == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_an_integer_times_its_step),
        cmocka_unit_test(digits_below_the_step_do_not_matter),
        cmocka_unit_test(the_grid_moves_sums_apart_by_its_share_at_most),
        cmocka_unit_test(enormous_sums_and_nan_stay_within_the_integers),
        cmocka_unit_test(a_deviation_out_of_range_releases_nothing),
        cmocka_unit_test(blocks_may_be_made_in_any_order),
        cmocka_unit_test(sums_of_ranks_are_released_alike),
        cmocka_unit_test(the_last_sum_is_added_on_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
