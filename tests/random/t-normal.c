#include "random/normal.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/numbers.h"
#include "tests/random/chi.h"

enum { DRAWS = 1000000 };
static double draw[DRAWS];
static dpi_stream stream, copy;

static int setup(void **state)
{
    (void)state;
    if (sodium_init() < 0)
        return 1;
    dpi_stream_start_seeded(&stream, 21, "test");
    dpi_stream_normals(&stream, DRAWS, draw);
    return 0;
}

/* A stream whose next words are given. */
static void start_with(const uint64_t *word, size_t n)
{
    dpi_stream_start_seeded(&stream, 1, "test");
    dpi_stream_refill(&stream);
    for (size_t i = 0; i < 8 * n; i++)
        stream.buffer[DPI_STREAM_BUFFER - stream.left + i] =
            (unsigned char)(word[i / 8] >> i % 8 * 8);
}

/* The definition of normal.c, computed with the C library in long double. */
static void numbers_are_box_muller_of_the_words(void **state)
{
    (void)state;
    const long double pi = 3.14159265358979323846264338327950288L;
    dpi_stream_start_seeded(&stream, 22, "test");
    dpi_stream_start_seeded(&copy, 22, "test");
    for (int i = 0; i < 50000; i++) {
        double z[2];
        dpi_stream_normals(&stream, 2, z);
        uint64_t w0 = dpi_stream_u64(&copy), w1 = dpi_stream_u64(&copy);
        double u = (double)(w0 >> 12) * 0x1p-52;
        u += ((double)((w0 & 0xfff) * 1024 + (w1 & 1023)) + 0.5) * 0x1p-74;
        long double r = sqrtl(-2 * logl(u));
        long double x = ((long double)(w1 >> 12) + 0.5L) * 0x1p-52L * pi / 2 - pi / 4;
        long double c = cosl(x), s = sinl(x), sign = w1 >> 11 & 1 ? -1 : 1;
        bool swap = (w1 >> 10 & 1) != 0;
        double tolerance = 1e-15 * (double)r;
        assert_close(z[0], (double)(sign * r * (swap ? s : c)), 0, tolerance);
        assert_close(z[1], (double)(sign * r * (swap ? c : s)), 0, tolerance);
    }
}

static void moments_are_those_of_a_standard_normal(void **state)
{
    (void)state;
    const double moment[] = {0, 1, 0, 3, 0, 15}, variance[] = {1, 2, 15, 96, 945, 10170};
    for (int k = 0; k < 6; k++) {
        double sum = 0;
        for (int i = 0; i < DRAWS; i++)
            sum += pow(draw[i], k + 1);
        assert_standard((sum / DRAWS - moment[k]) / sqrt(variance[k] / DRAWS));
    }
}

static void distribution_function_is_uniform(void **state)
{
    (void)state;
    static size_t count[1000];
    for (int i = 0; i < DRAWS; i++)
        count[(int)(gsl_cdf_ugaussian_P(draw[i]) * 1000)]++;
    assert_plausible(chi_square_p(1000, count, NULL));
}

/* Kolmogorov and Smirnov; P(sqrt n D > d) <= 2 exp(-2 d^2) (Massart). */
static void distance_to_the_distribution_function_is_small(void **state)
{
    (void)state;
    enum { N = 200000 };
    static double sorted[N];
    memcpy(sorted, draw, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, ascending);
    double d = 0;
    for (int i = 0; i < N; i++) {
        double p = gsl_cdf_ugaussian_P(sorted[i]);
        d = fmax(d, fmax(p - (double)i / N, (i + 1.0) / N - p));
    }
    assert_plausible(2 * exp(-2 * N * d * d));
}

/* The smaller tail probability of a count under its Poisson limit. */
static double poisson_p(unsigned count, double mean)
{
    double more = count == 0 ? 1 : gsl_cdf_poisson_Q(count - 1, mean);
    return fmin(more, gsl_cdf_poisson_P(count, mean));
}

static void tails_have_their_weight(void **state)
{
    (void)state;
    for (double t = 2; t < 4.6; t += 0.5) {
        unsigned above = 0, below = 0;
        for (int i = 0; i < DRAWS; i++) {
            above += draw[i] > t;
            below += draw[i] < -t;
        }
        assert_plausible(poisson_p(above, DRAWS * gsl_cdf_ugaussian_Q(t)));
        assert_plausible(poisson_p(below, DRAWS * gsl_cdf_ugaussian_Q(t)));
    }
}

/* Tails are as fine as doubles to 8 standard deviations and go on to 10. */
static void far_tails_are_fine_and_long(void **state)
{
    (void)state;
    double z[2], last = 0;
    const uint64_t middle = UINT64_C(1) << 63; /* x = pi/2 2^-53: all of the radius is in z0 */
    const uint64_t smallest[] = {0, middle}, low_bits[] = {0, middle | 0x3ff};
    const uint64_t largest[] = {UINT64_MAX, middle | 0x3ff};
    start_with(smallest, 2);
    dpi_stream_normals(&stream, 2, z);
    assert_close(z[0], sqrt(150 * log(2)), 1e-15, 0);
    start_with(low_bits, 2);
    dpi_stream_normals(&stream, 2, z);
    assert_close(z[0], sqrt(-2 * log(1023.5 * 0x1p-74)), 1e-15, 0);
    start_with(largest, 2);
    dpi_stream_normals(&stream, 2, z);
    assert_close(z[0], 0, 0, 2e-8);
    /* exp(-8^2/2) = 2^-46.2 = 2^17.8 2^-64: about 233000 values lie beyond 8 in word 0 alone. */
    for (uint64_t w = 233000; w < 233100; w++) {
        const uint64_t words[] = {w, middle};
        start_with(words, 2);
        dpi_stream_normals(&stream, 2, z);
        assert_close(z[0], 8, 1e-3, 0);
        if (last > 0)
            assert_true(z[0] < last && last - z[0] < 1e-6);
        last = z[0];
    }
}

static void pairs_have_no_preferred_direction(void **state)
{
    (void)state;
    size_t count[360] = {0};
    double product = 0, squares = 0, lagged = 0;
    for (int i = 0; i + 3 < DRAWS; i += 2) {
        double x = draw[i], y = draw[i + 1];
        int degree = (int)((atan2(y, x) / 3.14159265358979 + 1) * 180);
        count[degree > 359 ? 359 : degree]++;
        product += x * y;
        squares += (x * x - 1) * (y * y - 1);
        lagged += y * draw[i + 2];
    }
    double n = DRAWS / 2.0 - 1;
    assert_plausible(chi_square_p(360, count, NULL));
    assert_standard(product / sqrt(n));
    assert_standard(squares / sqrt(4 * n));
    assert_standard(lagged / sqrt(n));
}

static void any_number_may_be_asked_for(void **state)
{
    (void)state;
    double all[64], part[65];
    for (size_t n = 0; n <= 64; n++) {
        dpi_stream_start_seeded(&stream, 23, "test");
        dpi_stream_normals(&stream, 64, all);
        dpi_stream_start_seeded(&stream, 23, "test");
        for (size_t i = 0; i < 65; i++)
            part[i] = 77;
        dpi_stream_normals(&stream, n, part);
        assert_memory_equal(part, all, n * sizeof *all);
        assert_true(part[n] == 77);
    }
}

/* In whole pairs, wherever the stream's buffers end. */
static void rows_have_pairs_of_their_own(void **state)
{
    (void)state;
    enum { ROWS = 70, MOST = 35 };
    static double rows[ROWS * MOST + 1], row[MOST + 1];
    for (size_t size = 1; size <= MOST; size++) {
        dpi_stream_start_seeded(&stream, 24, "test");
        dpi_stream_start_seeded(&copy, 24, "test");
        rows[ROWS * size] = 77;
        dpi_stream_normal_rows(&stream, ROWS, size, rows);
        for (size_t r = 0; r < ROWS; r++) {
            dpi_stream_normals(&copy, size + size % 2, row);
            assert_memory_equal(rows + r * size, row, size * sizeof *row);
        }
        assert_true(rows[ROWS * size] == 77);
        assert_int_equal(stream.left, copy.left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_box_muller_of_the_words),
        cmocka_unit_test(moments_are_those_of_a_standard_normal),
        cmocka_unit_test(distribution_function_is_uniform),
        cmocka_unit_test(distance_to_the_distribution_function_is_small),
        cmocka_unit_test(tails_have_their_weight),
        cmocka_unit_test(far_tails_are_fine_and_long),
        cmocka_unit_test(pairs_have_no_preferred_direction),
        cmocka_unit_test(any_number_may_be_asked_for),
        cmocka_unit_test(rows_have_pairs_of_their_own),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
