/* The error bound of single precision (grid.c), with all leading parts of u and all angles: r cos x
 * is off by what r is off, r times what cos x is off, and half a unit of the product's last
 * place. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/random/kernel.h"

static const uint32_t all = UINT32_C(1) << 23;
static const double v = 0x1p-24;

/* By how much cos x and sin x are off, the bits that are not read being all zeros or all ones. */
static double most_off_of_angles(void)
{
    const double quarter = acos(0) / 2;
    double most = 0;
    for (uint32_t f = 0; f < all; f += ROUGH_LANES) {
        word_single words = {f << 7, (f + 1) << 7, (f + 2) << 7, (f + 3) << 7};
        real_single pair[2];
        polar_single((four){1, 1, 1, 1}, words, pair);
        for (int i = 0; i < ROUGH_LANES; i++)
            for (int end = 0; end < 2; end++) {
                double x = (double)(f + (uint32_t)(i + end)) * 0x1p-22 * quarter - quarter;
                most = fmax(most, fabs((double)pair[0][i] - cos(x)));
                most = fmax(most, fabs((double)pair[1][i] - sin(x)));
            }
    }
    return most;
}

/* 2^6 r of u = n 2^-39, in double. */
static double radius(double n)
{
    double gap = (0x1p39 - n) * 0x1p-39;
    return 64 * sqrt(-2 * (gap < 0.25 ? log1p(-gap) : log(n * 0x1p-39)));
}

/* The most that 2^6 r cos x can be off with four leading parts of u from `high` on and 16 bits that
 * follow. */
static double most_off_of_radii(uint32_t high, uint32_t low, double of_angle)
{
    word_single highs = {high, high + 1, high + 2, high + 3}, lows = {low, low, low, low};
    real_single square = minus_two_log_single(highs, lows);
    real_single r = root_single(square) * (float)DPI_GRID_KEPT_SCALE;
    double most = 0;
    for (int i = 0; i < ROUGH_LANES; i++)
        for (int end = 0; end < 2; end++) {
            double n = (double)highs[i] * 0x1p16 + (double)(low + (uint32_t)end);
            if (square[i] < DPI_ROUGH_LEAST || square[i] > DPI_ROUGH_MOST)
                continue;
            double exact = radius(n), got = (double)r[i];
            most = fmax(most, fabs(got - exact) + exact * of_angle + got * v);
        }
    return most;
}

static void no_leading_word_goes_beyond_the_bound(void **state)
{
    (void)state;
    const uint32_t lows[] = {0, 1, 255, 32767, 32768, 43210, 65534, 65535};
    double of_angle = most_off_of_angles(), most = 0;
    assert_true(of_angle < 4.4 * v);
    for (uint32_t high = 0; high < all; high += ROUGH_LANES)
        for (size_t k = 0; k < sizeof lows / sizeof *lows; k++)
            most = fmax(most, most_off_of_radii(high, lows[k], of_angle));
    if (most > 2110 * v || most < 1000 * v)
        fail_msg("off by %.0f 2^-24", most / v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_leading_word_goes_beyond_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
