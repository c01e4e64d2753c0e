#include "random/grid.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/chi.h"

enum { DRAWS = 1000000, GROUP = 2 * DPI_GRID_GROUP };
static int64_t draw[DRAWS], other[DRAWS];
static dpi_stream stream;

static int setup(void **state)
{
    (void)state;
    if (sodium_init() < 0)
        return 1;
    dpi_stream_start_seeded(&stream, 31, "test");
    dpi_stream_grid(&stream, DRAWS, draw);
    return 0;
}

static void every_instruction_set_gives_the_same_integers(void **state)
{
    (void)state;
    for (size_t k = 0; k < dpi_n_grid_kernels; k++) {
        if (!dpi_grid_kernels[k].runs_here())
            continue;
        dpi_stream_start_seeded(&stream, 31, "test");
        memset(other, 0, sizeof other);
        dpi_stream_grid_with(&dpi_grid_kernels[k], &stream, DRAWS, other);
        assert_memory_equal(other, draw, sizeof draw);
    }
}

static const uint64_t no_more[6],
    all_more[6] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

/* Whatever a kernel decides is what the exact way says, whatever the bits below are. */
static size_t check_kernels(const uint64_t in[GROUP])
{
    size_t undecided = 0;
    for (size_t k = 0; k < dpi_n_grid_kernels; k++) {
        int64_t out[GROUP];
        if (!dpi_grid_kernels[k].runs_here())
            continue;
        (void)dpi_grid_kernels[k].make(1, in, out);
        for (int i = 0; i < GROUP; i++) {
            const uint64_t word[2] = {in[i % DPI_GRID_GROUP],
                                      in[DPI_GRID_GROUP + i % DPI_GRID_GROUP]};
            undecided += out[i] == DPI_GRID_UNDECIDED;
            if (out[i] == DPI_GRID_UNDECIDED)
                continue;
            assert_int_equal(out[i], dpi_grid_exact(word, no_more, i >= DPI_GRID_GROUP));
            assert_int_equal(out[i], dpi_grid_exact(word, all_more, i >= DPI_GRID_GROUP));
        }
    }
    return undecided;
}

static void what_is_decided_is_exact(void **state)
{
    (void)state;
    uint64_t in[GROUP];
    dpi_stream_start_seeded(&stream, 32, "test");
    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < GROUP; i++)
            in[i] = dpi_stream_u64(&stream);
        (void)check_kernels(in);
    }
}

/* Words near all ends of their ranges: radius small and large, angle near its limits and its
 * middle. */
static void ends_of_ranges_are_exact_or_undecided(void **state)
{
    (void)state;
    const uint64_t middle = UINT64_C(1) << 61,
                   angles[] = {0, middle - 1024, middle, 2 * middle - 1024};
    size_t undecided = 0;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t in[GROUP], step = UINT64_C(1) << bit;
        for (int i = 0; i < DPI_GRID_GROUP; i++) {
            in[i] = i % 2 == 0 ? step - 1 : ~(step - 1);
            in[DPI_GRID_GROUP + i] = angles[i / 2 % 4] ^ (uint64_t)bit << 4;
        }
        undecided += check_kernels(in);
    }
    assert_true(undecided > 0);
}

/* The definition of grid.c in long double, which is good for 2^-60 of r. */
static void exact_integers_are_box_muller_of_the_words(void **state)
{
    (void)state;
    const long double pi = 3.14159265358979323846264338327950288L;
    dpi_stream_start_seeded(&stream, 33, "test");
    for (int i = 0; i < 2000; i++) {
        uint64_t word[2] = {dpi_stream_u64(&stream) >> i % 40, dpi_stream_u64(&stream)};
        long double u =
            ((long double)word[0] + (long double)(word[1] & 1023) * 0x1p-10L) * 0x1p-64L;
        long double r = sqrtl(-2 * logl(u + 0x1p-75L));
        long double x = ((long double)(word[1] << 2 >> 12) + 0.5L) * 0x1p-52L * pi / 2 - pi / 4;
        long double sign = word[1] >> 63 != 0 ? -1 : 1, c = cosl(x), s = sinl(x);
        bool swap = (word[1] >> 62 & 1) != 0;
        uint64_t half[6] = {UINT64_C(1) << 63, 0, 0, UINT64_C(1) << 63, 0, 0};
        for (int which = 0; which < 2; which++) {
            long double z = sign * r * (swap != (which == 1) ? s : c) * 0x1p32L;
            assert_close((double)((long double)dpi_grid_exact(word, half, which) - z), 0, 0,
                         0.5 + 1e-4);
        }
    }
}

/* Every integer is reached: with cos x = 1 up to 2^-106, u of one integer after the other. */
static void no_integer_is_missing(void **state)
{
    (void)state;
    const int64_t starts[] = {1 << 20, INT64_C(3) << 30, (INT64_C(5) << 32) + 12345};
    const uint64_t more[6] = {0};
    for (int k = 0; k < 3; k++)
        for (int64_t wanted = starts[k]; wanted < starts[k] + 300; wanted++) {
            long double z = (long double)wanted * 0x1p-32L;
            uint64_t gap = (uint64_t)(-expm1l(-z * z / 2) * 0x1p64L); /* 1 - u */
            const uint64_t word[2] = {UINT64_MAX - gap, UINT64_C(1) << 61};
            assert_int_equal(dpi_grid_exact(word, more, 0), wanted);
        }
}

static void a_few_are_the_first_of_many(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        dpi_stream_start_seeded(&stream, 31, "test");
        memset(other, 0x11, 80 * sizeof *other);
        dpi_stream_grid(&stream, n, other);
        assert_memory_equal(other, draw, n * sizeof *other);
        assert_int_equal(other[n], INT64_C(0x1111111111111111));
    }
}

/* Two words of a pair from the stream's leading words and the trailing ones under the piece's key,
 * bit by bit. */
static void words_of(const uint32_t *leading, const unsigned char *trailing, uint64_t word[GROUP])
{
    for (int i = 0; i < DPI_GRID_GROUP; i++) {
        const uint32_t a = leading[i], b = leading[DPI_GRID_GROUP + i];
        const uint32_t c = dpi_load32(trailing + 8 * i), d = dpi_load32(trailing + 8 * i + 4);
        uint64_t u = 0, low10 = 0, f = 0;
        for (int bit = 0; bit < 74; bit++) {
            uint64_t next = bit < 32   ? a >> (31 - bit) & 1
                            : bit < 39 ? b >> (38 - bit) & 1
                            : bit < 71 ? c >> (70 - bit) & 1
                                       : d >> (73 - bit) & 1;
            u = bit < 64 ? 2 * u + next : u;
            low10 = bit < 64 ? 0 : 2 * low10 + next;
        }
        for (int bit = 0; bit < 52; bit++)
            f = 2 * f + (bit < 23 ? b >> (29 - bit) & 1 : d >> (54 - bit) & 1);
        word[i] = u;
        word[DPI_GRID_GROUP + i] = (uint64_t)(b >> 30) << 62 | f << 10 | low10;
    }
}

/* What grid.c says of the stream, piece by piece; it may stand anywhere, the words do not depend on
 * where its buffers end. */
static void numbers_are_those_of_the_stated_bytes(void **state)
{
    (void)state;
    for (size_t skip_bytes = 0; skip_bytes < 40; skip_bytes += 3) {
        unsigned char bytes[40], key[DPI_STREAM_KEY], nonce[8] = {0}, trailing[4 * DPI_GRID_PIECE];
        dpi_stream plain;
        dpi_stream_start_seeded(&stream, 34, "test");
        dpi_stream_bytes(&stream, skip_bytes, bytes);
        plain = stream;
        dpi_stream_grid(&stream, 2 * DPI_GRID_PIECE, other);
        for (size_t g = 0; g < 2 * DPI_GRID_PIECE / GROUP; g++) {
            const size_t in_piece = g % (DPI_GRID_PIECE / GROUP);
            uint32_t leading[GROUP];
            uint64_t in[GROUP];
            int64_t out[GROUP];
            if (in_piece == 0) {
                dpi_stream_bytes(&plain, sizeof key, key);
                (void)crypto_stream_chacha20(trailing, sizeof trailing, nonce, key);
            }
            for (int i = 0; i < GROUP; i++)
                leading[i] = dpi_stream_u32(&plain);
            words_of(leading, trailing + 8 * DPI_GRID_GROUP * in_piece, in);
            (void)dpi_grid_portable(1, in, out);
            for (int i = 0; i < GROUP; i++)
                assert_true(out[i] == other[GROUP * g + (size_t)i] || out[i] == DPI_GRID_UNDECIDED);
        }
        assert_int_equal(dpi_stream_u64(&plain), dpi_stream_u64(&stream));
    }
}

/* ---- sums that are rounded ---- */

enum { SUMS = 200 * DPI_GRID_PIECE };
static double steps[SUMS], rounded[SUMS];

/* Whole numbers of steps of all sizes; every other one such that its sum with the noise is within
 * three steps of the middle between two numbers that are kept, which all of the integer must be
 * right for. */
static void fill_steps(void)
{
    const int64_t unit = INT64_C(1) << DPI_GRID_DROPPED;
    dpi_stream_start_seeded(&stream, 37, "test");
    for (size_t j = 0; j < SUMS; j++) {
        int64_t size = (int64_t)dpi_stream_u64(&stream) >> (2 + dpi_stream_below(&stream, 61));
        int64_t near = size % 1000 * unit + unit / 2 + (int64_t)(j % 7) - 3;
        steps[j] = (double)(j % 2 == 0 ? size : near - draw[j]);
    }
}

/* The sum's lowest bits dropped, as the definition has it, in integers. */
static int64_t wanted_of(double sum_steps, int64_t noise)
{
    __int128 twice = 2 * ((__int128)(int64_t)sum_steps + noise) + (1 << DPI_GRID_DROPPED);
    __int128 unit = (__int128)2 << DPI_GRID_DROPPED;
    return (int64_t)((twice - ((twice % unit) + unit) % unit) / unit);
}

/* The same to the bit as if all integers were there, with every instruction set and for any
 * length. */
static void rounded_sums_are_those_of_the_integers(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 700, 1023, DPI_GRID_PIECE};
    fill_steps();
    for (size_t k = 0; k < dpi_n_grid_kernels; k++) {
        dpi_grid g;
        if (!dpi_grid_kernels[k].runs_here())
            continue;
        for (size_t c = 0, n; c < sizeof sizes / sizeof *sizes; c++) {
            dpi_stream_start_seeded(&stream, 31, "test");
            dpi_grid_begin(&g, &dpi_grid_kernels[k], &stream);
            n = sizes[c];
            memset(rounded, 0, sizeof rounded);
            for (size_t j = 0; j < (n == DPI_GRID_PIECE ? SUMS : n); j += n)
                dpi_grid_round(&g, n, steps + j, 0.5, rounded + j);
            dpi_grid_end(&g);
            for (size_t j = 0; j < (n == DPI_GRID_PIECE ? SUMS : n); j++)
                if (rounded[j] != 0.5 * (double)wanted_of(steps[j], draw[j]))
                    fail_msg("number %zu of %zu, %s", j, n, dpi_grid_kernels[k].name);
            assert_true(rounded[n == DPI_GRID_PIECE ? 0 : n] == 0 || n == DPI_GRID_PIECE);
        }
    }
}

/* Puts leading words near 0 and near 2^32, for u, at the head of the stream's next group; counts
 * the numbers that are out of single precision's range. */
static size_t put_extreme_words(int bit)
{
    const uint32_t step = UINT32_C(1) << bit;
    uint32_t in[GROUP];
    float y[GROUP];
    size_t beyond = 0;
    dpi_stream_refill(&stream);
    unsigned char *first = stream.buffer + DPI_STREAM_BUFFER - stream.left + DPI_STREAM_KEY;
    for (int i = 0; i < DPI_GRID_GROUP; i++)
        for (int k = 0; k < 4; k++)
            first[4 * i + k] = (unsigned char)((i % 2 == 0 ? step - 1 : ~(step - 1)) >> 8 * k);
    for (int i = 0; i < GROUP; i++)
        in[i] = dpi_load32(first + 4 * i);
    dpi_rough_portable(1, in, y);
    for (int i = 0; i < GROUP; i++)
        beyond += isnan(y[i]) != 0;
    return beyond;
}

/* One pair in 10^6 by chance.  Half of the sums are on both sides of the middle between two numbers
 * that are kept. */
static void radii_out_of_range_are_left_to_the_integers(void **state)
{
    (void)state;
    const int64_t half = INT64_C(1) << (DPI_GRID_DROPPED - 1);
    size_t beyond = 0;
    dpi_stream_start_seeded(&stream, 39, "test");
    for (int bit = 0; bit < 32; bit++) {
        beyond += put_extreme_words(bit);
        for (size_t k = 0; k < dpi_n_grid_kernels; k++) {
            dpi_stream one = stream, two = stream;
            dpi_grid g;
            if (!dpi_grid_kernels[k].runs_here())
                continue;
            dpi_stream_grid_with(&dpi_grid_kernels[k], &one, GROUP, other);
            for (int i = 0; i < GROUP; i++)
                steps[i] = i % 4 > 1 ? 0 : (double)(half - other[i] - i % 2);
            dpi_grid_begin(&g, &dpi_grid_kernels[k], &two);
            dpi_grid_round(&g, GROUP, steps, 1, rounded);
            dpi_grid_end(&g);
            for (int i = 0; i < GROUP; i++)
                assert_true(rounded[i] == (double)dpi_grid_dropped((int64_t)steps[i] + other[i]));
        }
    }
    assert_true(beyond > 100 && beyond < 32 * GROUP - 100);
}

static void dropping_bits_rounds_to_the_nearest(void **state)
{
    (void)state;
    const int64_t unit = INT64_C(1) << DPI_GRID_DROPPED, half = unit / 2;
    const int64_t most = INT64_C(1) << 62;
    for (int64_t k = -3; k <= 3; k++) {
        assert_int_equal(dpi_grid_dropped(k * unit), k);
        assert_int_equal(dpi_grid_dropped(k * unit + half - 1), k);
        assert_int_equal(dpi_grid_dropped(k * unit - half), k);
        assert_int_equal(dpi_grid_dropped(k * unit - half - 1), k - 1);
    }
    assert_int_equal(dpi_grid_dropped(most), most / unit);
    assert_int_equal(dpi_grid_dropped(-most), -most / unit);
}

/* Single precision decides all but 2.5 2^-12 of the numbers, the share of its bound, and pairs at
 * the ends of the range of radii: P(r^2 > 30) = e^-15. */
static void what_single_precision_leaves_is_as_rare_as_stated(void **state)
{
    (void)state;
    uint32_t in[GROUP];
    float y[GROUP];
    size_t count = 0, n = 2 * (size_t)DRAWS;
    dpi_stream_start_seeded(&stream, 38, "test");
    for (size_t k = 0; k < n / GROUP; k++) {
        for (int i = 0; i < GROUP; i++)
            in[i] = dpi_stream_u32(&stream);
        dpi_rough_portable(1, in, y);
        for (int i = 0; i < GROUP; i++)
            count += !(fabsf(y[i] - rintf(y[i])) <= 0.5F - DPI_ROUGH_BOUND);
    }
    double mean = (double)n * (2 * (double)DPI_ROUGH_BOUND + exp(-15) + 0x1p-29);
    assert_standard(((double)count - mean) / sqrt(2 * mean)); /* those of a pair go together */
}

/* 2 E(r) 2^-17 = 1.912e-5, and 2^-24 for the ends. */
static void undecided_numbers_are_as_rare_as_stated(void **state)
{
    (void)state;
    uint64_t in[GROUP];
    size_t count = 0, n = 4 * (size_t)DRAWS;
    dpi_stream_start_seeded(&stream, 35, "test");
    for (size_t k = 0; k < n / GROUP; k++) {
        int64_t out[GROUP];
        for (int i = 0; i < GROUP; i++)
            in[i] = dpi_stream_u64(&stream);
        if (!dpi_grid_portable(1, in, out))
            continue;
        for (int i = 0; i < GROUP; i++)
            count += out[i] == DPI_GRID_UNDECIDED;
    }
    double mean = (double)n * 2 * (sqrt(acos(0)) * 0x1p-17 + 0x1p-21);
    assert_standard(((double)count - mean) / sqrt(mean));
}

static double unit(int64_t k)
{
    return (double)k * (1 / DPI_GRID_SCALE);
}

static void distribution_function_is_uniform(void **state)
{
    (void)state;
    static size_t count[1000];
    for (int i = 0; i < DRAWS; i++)
        count[(int)(gsl_cdf_ugaussian_P(unit(draw[i])) * 1000)]++;
    assert_plausible(chi_square_p(1000, count, NULL));
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Anderson and Darling.  A^2 tends to the sum of chi-squares over j (j + 1), so P(A^2 > a) is near
 * sqrt 3 P(chi_1^2 > 2 a) for large a. */
static void distance_to_the_distribution_function_is_small(void **state)
{
    (void)state;
    enum { N = 200000 };
    memcpy(other, draw, N * sizeof *other);
    qsort(other, N, sizeof *other, ascending);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (2 * i + 1) * (log(gsl_cdf_ugaussian_P(unit(other[i]))) +
                              log(gsl_cdf_ugaussian_Q(unit(other[N - 1 - i]))));
    double a2 = -N - sum / N;
    assert_plausible(fmin(1, sqrt(3) * chi_p(2 * a2, 1)));
}

static void lowest_bits_are_uniform(void **state)
{
    (void)state;
    static size_t low[4096], middle[4096];
    for (int i = 0; i < DRAWS; i++) {
        low[draw[i] & 4095]++;
        middle[draw[i] >> 12 & 4095]++;
    }
    assert_plausible(chi_square_p(4096, low, NULL));
    assert_plausible(chi_square_p(4096, middle, NULL));
}

static void moments_and_products_are_those_of_independent_normals(void **state)
{
    (void)state;
    double square = 0, fourth = 0, sum = 0, next = 0, pair = 0;
    for (int i = 0; i + GROUP < DRAWS; i++) {
        double z = unit(draw[i]);
        sum += z;
        square += z * z;
        fourth += z * z * z * z;
        next += z * unit(draw[i + 1]);
        pair += z * z * unit(draw[i + DPI_GRID_GROUP]) * unit(draw[i + DPI_GRID_GROUP]);
    }
    double n = DRAWS - GROUP;
    assert_standard(sum / sqrt(n));
    assert_standard((square - n) / sqrt(2 * n));
    assert_standard((fourth - 3 * n) / sqrt(96 * n));
    assert_standard(next / sqrt(n));
    assert_standard((pair - n) / sqrt(16 * n)); /* variance 8, and 4 twice for neighbours */
}

/* Pairs with u < 2^-24: r^2 - 48 log 2 is exponential with mean 2, hence the tails beyond 6 have
 * their rate. */
static void radii_beyond_six_have_their_rate(void **state)
{
    (void)state;
    enum { N = 4000 };
    static double excess[N];
    size_t count[20] = {0};
    dpi_stream_start_seeded(&stream, 36, "test");
    for (int i = 0; i < N; i++) {
        uint64_t word[2] = {dpi_stream_u64(&stream) >> 24, dpi_stream_u64(&stream)}, more[6];
        for (int k = 0; k < 6; k++)
            more[k] = dpi_stream_u64(&stream);
        double a = unit(dpi_grid_exact(word, more, 0)), b = unit(dpi_grid_exact(word, more, 1));
        excess[i] = exp(-(a * a + b * b - 48 * log(2)) / 2);
        count[(int)(excess[i] * 20)]++;
    }
    assert_plausible(chi_square_p(20, count, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_same_integers),
        cmocka_unit_test(what_is_decided_is_exact),
        cmocka_unit_test(ends_of_ranges_are_exact_or_undecided),
        cmocka_unit_test(exact_integers_are_box_muller_of_the_words),
        cmocka_unit_test(no_integer_is_missing),
        cmocka_unit_test(a_few_are_the_first_of_many),
        cmocka_unit_test(numbers_are_those_of_the_stated_bytes),
        cmocka_unit_test(rounded_sums_are_those_of_the_integers),
        cmocka_unit_test(radii_out_of_range_are_left_to_the_integers),
        cmocka_unit_test(dropping_bits_rounds_to_the_nearest),
        cmocka_unit_test(what_single_precision_leaves_is_as_rare_as_stated),
        cmocka_unit_test(undecided_numbers_are_as_rare_as_stated),
        cmocka_unit_test(distribution_function_is_uniform),
        cmocka_unit_test(distance_to_the_distribution_function_is_small),
        cmocka_unit_test(lowest_bits_are_uniform),
        cmocka_unit_test(moments_and_products_are_those_of_independent_normals),
        cmocka_unit_test(radii_beyond_six_have_their_rate),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
