#include "infer/release.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "random/grid.h"
#include "random/noise.h"
#include "tests/lib/check.h"

enum { N = 3000 };
static double sum[N], moved[N];
static int64_t noise[N], expected[N];

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

/* Both the sum and the noise are whole numbers of steps, also where doubles are coarser. */
static void a_release_is_an_integer_times_the_step(void **state)
{
    (void)state;
    dp_error err = {0};
    const double sd = 0.7, step = 0.7 / 4294967296.0;
    expect_noise(5);
    for (int j = 0; j < N; j++)
        sum[j] = moved[j] = sin(j) * exp(j % 20 - 10);
    dp_noise *from = source(5);
    assert_ok(dpi_release_protect(from, sd, N, sum, noise, &err), err.text);
    for (int j = 0; j < N; j++) {
        double integer = nearbyint(moved[j] / step) + (double)expected[j];
        assert_close(sum[j], integer * step, 0, 0);
        assert_int_equal(noise[j], 0);
    }
    dp_noise_free(from);
}

/* Low digits of a sum leave no trace: sums that round to the same integers give the same release. */
static void digits_below_the_step_do_not_matter(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int j = 0; j < N; j++) {
        sum[j] = (j - N / 2) * 0x1p-30;
        moved[j] = sum[j] + 0.49 * 0x1p-32 * cos(j);
    }
    dp_noise *one = source(6), *other = source(6);
    assert_ok(dpi_release_protect(one, 1, N, sum, noise, &err), err.text);
    assert_ok(dpi_release_protect(other, 1, N, moved, noise, &err), err.text);
    assert_memory_equal(sum, moved, sizeof sum);
    dp_noise_free(one);
    dp_noise_free(other);
}

/* Two sums at distance 1 are put on the grid at distance 1 + sigma 2^-32 sqrt(n) at most, and the worst
 * pair comes near: all numbers of one are just below a half, all of the other just above. */
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
    double wild[4] = {INFINITY, -1e300, NAN, 1e19};
    const double ends[4] = {0x1p30, -0x1p30, -0x1p30, 0x1p30};
    dp_noise *from = source(7);
    assert_ok(dpi_release_protect(from, 1, 4, wild, noise, &err), err.text);
    for (int j = 0; j < 4; j++)
        assert_close(wild[j], ends[j], 0, 8);
    dp_noise_free(from);
}

static void a_deviation_out_of_range_releases_nothing(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY, 1e-251, 1e251};
    dp_noise *from = source(8);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dp_error err = {0};
        double held[2] = {3, 4};
        assert_int_equal(dpi_release_protect(from, bad[k], 2, held, noise, &err), DP_EDOMAIN);
        assert_contains(err.text, "standard deviation");
        assert_true(held[0] == 0 && held[1] == 0);
    }
    dp_noise_free(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_an_integer_times_the_step),
        cmocka_unit_test(digits_below_the_step_do_not_matter),
        cmocka_unit_test(the_grid_moves_sums_apart_by_its_share_at_most),
        cmocka_unit_test(enormous_sums_and_nan_stay_within_the_integers),
        cmocka_unit_test(a_deviation_out_of_range_releases_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
