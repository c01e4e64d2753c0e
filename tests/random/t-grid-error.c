/* The error bound of the kernels (grid.c), measured: the parts of their code, before rounding,
 * compared with the C library in long double. */
#include <math.h>
#include <sodium.h>

#include "tests/random/chi.h"
#include "tests/random/kernel.h"

static dpi_stream stream;

/* z0 and z1 of the middle of what two words leave open. */
static long double box_muller(uint64_t w0, uint64_t w1, long double z[2])
{
    const long double pi = 3.14159265358979323846264338327950288L;
    /* 1 - u where u is near 1, both to 2^-64 of themselves. */
    long double low = (long double)(w1 & 1023) * 0x1p-10L + 0x1p-11L;
    long double gap = ((long double)~w0 + (1 - low)) * 0x1p-64L;
    long double log_u = gap < 0.25L ? log1pl(-gap) : logl(((long double)w0 + low) * 0x1p-64L);
    long double r = sqrtl(-2 * log_u);
    long double x = ((long double)(w1 << 2 >> 12) + 0.5L) * 0x1p-52L * pi / 2 - pi / 4;
    long double sign = w1 >> 63 != 0 ? -1 : 1;
    bool swap = (w1 >> 62 & 1) != 0;
    z[0] = sign * r * (swap ? sinl(x) : cosl(x));
    z[1] = sign * r * (swap ? cosl(x) : sinl(x));
    return r;
}

/* r cos x and r sin x as the kernels compute them; r^2. */
static double computed(uint64_t w0, uint64_t w1, double z[2])
{
    word_double first = {w0, w0}, second = {w1, w1};
    real_double pair[2];
    real_double square =
        minus_two_log_double(first >> 12, (first & 0xfff) << 10 | (second & 0x3ff));
    polar_double(root_double(square), second, pair);
    z[0] = pair[0][0];
    z[1] = pair[1][0];
    return square[0];
}

/* Words 0 thinned out towards 0 and towards 2^64, where the radius is large and small. */
static void draw_words(int k, uint64_t *w0, uint64_t *w1)
{
    *w0 = dpi_stream_u64(&stream);
    *w1 = dpi_stream_u64(&stream);
    *w0 = k % 2 == 0 ? *w0 >> k % 27 : ~(*w0 >> k % 41);
}

/* Shares of the bound that are used: at most one; below a tenth this would see nothing. */
static void check_share(double most)
{
    if (most > 1 || most < 0.1)
        fail_msg("%.3g of the bound was used", most);
}

static void the_error_stays_within_its_bound(void **state)
{
    (void)state;
    double most = 0;
    dpi_stream_start_seeded(&stream, 41, "test");
    for (int k = 0; k < 300000; k++) {
        uint64_t w0, w1;
        draw_words(k, &w0, &w1);
        long double z[2], r = box_muller(w0, w1, z);
        double got[2], square = computed(w0, w1, got);
        if (square < DPI_GRID_LEAST || square > DPI_GRID_MOST)
            continue;
        for (int i = 0; i < 2; i++) {
            double bound = (double)(r * DPI_GRID_RELATIVE) + 0x1p-53;
            most = fmax(most, (double)fabsl(got[i] - z[i]) / bound);
        }
    }
    check_share(most);
}

/* Of single precision, which reads leading words: what follows them is all that it can be, and most
 * often at its ends.  Of the bound's 5120 v 4700 are its share. */
static void the_error_of_single_precision_stays_within_its_bound(void **state)
{
    (void)state;
    double most = 0;
    dpi_stream_start_seeded(&stream, 42, "test");
    for (int k = 0; k < 300000; k++) {
        uint64_t w0, w1, of_u = (1 << 25) - 1, of_f = (UINT64_C(1) << 39) - 1;
        draw_words(k, &w0, &w1);
        if (k % 3 > 0) {
            w0 = k % 3 == 1 ? w0 | of_u : w0 & ~of_u;
            w1 = k % 5 > 2 ? w1 | of_f : w1 & ~of_f;
        }
        uint32_t in[2 * DPI_GRID_GROUP] = {0};
        float y[2 * DPI_GRID_GROUP];
        in[0] = (uint32_t)(w0 >> 32);
        in[DPI_GRID_GROUP] = (uint32_t)(w1 >> 39 << 7 | (w0 >> 25 & 0x7f));
        rough_under_test(1, in, y);
        long double z[2];
        (void)box_muller(w0, w1, z);
        for (int i = 0; i < 2 && !isnan(y[0]); i++)
            most = fmax(most, (double)fabsl(y[i * DPI_GRID_GROUP] - 64 * z[i]));
    }
    check_share(most / (4700.0 / 5120 * (double)DPI_ROUGH_BOUND));
}

/* ---- what time could tell ---- */

static double density(double x)
{
    return exp(-x * x / 2) * 0.39894228040143268;
}

/* What whether both numbers of a pair, one of them, or none was undecided tells of a shift of the
 * first, given that the release has them in a square of this side at (a, b): Fisher information,
 * times the square's probability.  Beyond the circle both are; within it each is once in 1600. */
static double told_in_square(double a, double b, double side)
{
    enum { STRIPS = 400 };
    const double chance = 1 / 1600.0, other = 1 - chance, root_half = sqrt(0.5);
    double all = 0, beyond = 0, move_all = 0, move_beyond = 0;
    for (int k = 0; k < STRIPS; k++) {
        double y = b + (k + 0.5) * side / STRIPS, weight = density(y) * side / STRIPS;
        double edge = sqrt(fmax((double)DPI_ROUGH_MOST - y * y, 0)), from = fmax(a, edge);
        double to = a + side;
        all += weight * (erfc(a * root_half) - erfc(to * root_half)) / 2;
        move_all += weight * (density(a) - density(to));
        if (from >= to)
            continue;
        beyond += weight * (erfc(from * root_half) - erfc(to * root_half)) / 2;
        move_beyond += weight * ((from > a ? 0 : density(a)) - density(to));
    }
    double p = beyond / all, move = (move_beyond - p * move_all) / all;
    if (p <= 0 || p >= 1)
        return 0;
    double both = p + (1 - p) * chance * chance, rest = 1 - p;
    double each = (1 - chance * chance) * (1 - chance * chance) / both +
                  (2 * chance * other + other * other) / rest;
    return all * move * move * each;
}

/* The figure of grid.c: the sum over the squares that the circle crosses, beside 1 that the release
 * itself tells. */
static void what_time_could_tell_is_as_stated(void **state)
{
    (void)state;
    const double side = 1.0 / (1 << DPI_GRID_KEPT), most = (double)DPI_ROUGH_MOST;
    double told = 0;
    for (double b = 0; b * b < most; b += side)
        for (double a = 0; a * a + b * b < most; a += side)
            if ((a + side) * (a + side) + (b + side) * (b + side) > most)
                told += 4 * told_in_square(a, b, side);
    assert_close(told, 4.2e-4, 0.02, 0);
}

static int setup(void **state)
{
    (void)state;
    return sodium_init() < 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_stays_within_its_bound),
        cmocka_unit_test(the_error_of_single_precision_stays_within_its_bound),
        cmocka_unit_test(what_time_could_tell_is_as_stated),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
