#include "random/poisson.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "tests/random/chi.h"

static dpi_stream stream;
static size_t out[100001];

static dpi_bernoulli rate_of(double q)
{
    dpi_bernoulli rate;
    dp_error err = {0};
    assert_ok(dpi_bernoulli_set(&rate, q, &err), err.text);
    return rate;
}

static void refuses_what_is_no_rate(void **state)
{
    (void)state;
    const double bad[] = {0, -0.5, 1.0000000000000002, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++) {
        dpi_bernoulli rate = rate_of(1);
        dp_error err = {0};
        assert_int_equal(dpi_bernoulli_set(&rate, bad[i], &err), DP_EDOMAIN);
        assert_contains(err.text, "sampling rate");
        dpi_stream_start_seeded(&stream, 1, "test");
        assert_int_equal(dpi_poisson_subset(&stream, 10000, &rate, out), 0);
    }
}

/* first / 256 + rest / 256 is q, without rounding. */
static void nothing_of_the_rate_is_lost(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 2, "test");
    for (int i = 0; i < 10000; i++) {
        double q = ldexp(dpi_stream_uniform(&stream), -(int)dpi_stream_below(&stream, 200));
        dpi_bernoulli rate = rate_of(q);
        assert_true(rate.rest >= 0 && rate.rest < 1);
        assert_true((rate.first + rate.rest) / 256 == q);
        assert_true(fma(q, 256, -rate.first) == rate.rest);
    }
}

/* A subset of one record from a stream whose next bytes are `byte` and then words. */
static bool draw_with(const dpi_bernoulli *rate, unsigned char byte, const uint64_t *word, size_t n)
{
    dpi_stream_start_seeded(&stream, 3, "test");
    dpi_stream_refill(&stream);
    unsigned char *next = stream.buffer + (DPI_STREAM_BUFFER - stream.left);
    next[0] = byte;
    for (size_t i = 0; i < 8 * n; i++)
        next[1 + i] = (unsigned char)(word[i / 8] >> i % 8 * 8);
    size_t index = 7;
    return dpi_poisson_subset(&stream, 1, rate, &index) == 1;
}

/* The largest bits below q are in, q itself and more are out. */
static void bits_are_compared_to_the_last(void **state)
{
    (void)state;
    const uint64_t none[1] = {UINT64_MAX};
    /* 53 digits, 1.0110 ... 1: 8 in the first byte, 45 at the top of the next word. */
    dpi_bernoulli rate = rate_of(0x1.6a09e667f3bcdp-1);
    const uint64_t digits = UINT64_C(0x04f333f9de680000);
    assert_int_equal(rate.first, 0xb5);
    const uint64_t under = digits - 1, over = digits + 1;
    assert_true(draw_with(&rate, 0xb4, none, 1));
    assert_false(draw_with(&rate, 0xb6, none, 1));
    assert_true(draw_with(&rate, 0xb5, &under, 1));
    assert_false(draw_with(&rate, 0xb5, &digits, 1));
    assert_false(draw_with(&rate, 0xb5, &over, 1));
    rate = rate_of(0x1p-60);
    const uint64_t is_in = 4095, is_out = 4096;
    assert_true(draw_with(&rate, 0, &is_in, 1));
    assert_false(draw_with(&rate, 0, &is_out, 1));
    assert_false(draw_with(&rate, 1, &is_in, 1));
    rate = rate_of(0.5); /* one digit: a tie has no further digits to win by */
    const uint64_t zero = 0;
    assert_true(draw_with(&rate, 127, none, 1));
    assert_false(draw_with(&rate, 128, &zero, 1));
}

static void the_smallest_double_is_a_rate(void **state)
{
    (void)state;
    dpi_bernoulli rate = rate_of(0x1p-1074); /* digit 1074 = 8 + 16 * 64 + 42 */
    uint64_t word[17] = {0};
    word[16] = (UINT64_C(1) << 22) - 1;
    assert_true(draw_with(&rate, 0, word, 17));
    word[16]++;
    assert_false(draw_with(&rate, 0, word, 17));
    word[16] = 0;
    word[9] = 1;
    assert_false(draw_with(&rate, 0, word, 17));
}

/* Inclusion counts and counts of neighbours in `runs` subsets of n. */
static void check_way(double q, bool sparse, size_t n, int runs)
{
    static size_t single[2000], pair[2000];
    dpi_bernoulli rate = rate_of(q);
    rate.sparse = sparse;
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (int r = 0; r < runs; r++) {
        size_t count = dpi_poisson_subset(&stream, n, &rate, out);
        assert_true(count <= n);
        for (size_t i = 0; i < count; i++) {
            assert_true(out[i] < n && (i == 0 || out[i - 1] < out[i]));
            single[out[i]]++;
            pair[out[i]] += i > 0 && out[i - 1] + 1 == out[i];
        }
    }
    double sum = 0, sum_pair = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        double off = (double)single[i] - runs * q, off_pair = (double)pair[i] - runs * q * q;
        sum += off * off / (runs * q * (1 - q));
        total += off;
        if (i > 0)
            sum_pair += off_pair * off_pair / (runs * q * q * (1 - q * q));
    }
    assert_plausible(chi_p(sum, (double)n));
    assert_standard(total / sqrt((double)n * runs * q * (1 - q)));
    /* Neighbouring pairs share a record: their statistic spreads at most twice as much. */
    if (runs * q * q > 10)
        assert_plausible(chi_p(sum_pair / 2, (double)n / 2));
}

static void check_rate(double q, size_t n, int runs)
{
    check_way(q, false, n, runs);
    if (rate_of(q).sparse)
        check_way(q, true, n, runs);
}

static void records_are_included_at_the_rate_and_independently(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 4, "test");
    check_rate(1.0 / 300, 500, 20000); /* below one byte: nothing but ties */
    check_rate(1.0 / 100, 50, 200000);
    check_rate(5.5 / 256, 100, 50000); /* half of the ties are in, rare words */
    check_rate(10.0 / 500, 500, 10000);
    check_rate(0.1, 100, 50000);
    check_rate(0.377, 2000, 5000); /* several buffers */
    check_rate(200.5 / 256, 60, 50000);
    check_rate(255.9 / 256, 60, 50000);
}

/* Compared with 8 bits alone, 200.5/256 would be 200/256 or 201/256. */
static void sizes_are_binomial(void **state)
{
    (void)state;
    enum { N = 20 };
    const double rates[] = {0.01, 0.05, 0.3, 0.8};
    dpi_stream_start_seeded(&stream, 5, "test");
    for (int r = 0; r < 4; r++) {
        dpi_bernoulli rate = rate_of(rates[r]);
        size_t count[N + 1] = {0};
        double p[N + 1];
        for (int i = 0; i < 200000; i++)
            count[dpi_poisson_subset(&stream, N, &rate, out)]++;
        size_t cells = 0;
        double lump_p = 0;
        size_t lump = 0;
        for (unsigned k = 0; k <= N; k++) { /* cells of fewer than 10 expected are put together */
            double prob = gsl_ran_binomial_pdf(k, rates[r], N);
            if (prob * 200000 < 10) {
                lump += count[k];
                lump_p += prob;
            } else {
                count[cells] = count[k];
                p[cells++] = prob;
            }
        }
        count[cells] = lump;
        p[cells++] = lump_p;
        assert_plausible(chi_square_p(cells, count, p));
    }
}

static void subsets_may_be_empty_or_everything(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 6, "test");
    dpi_bernoulli rate = rate_of(0.5);
    size_t empty = 0, full = 0;
    for (int i = 0; i < 10000; i++) {
        size_t count = dpi_poisson_subset(&stream, 4, &rate, out);
        empty += count == 0;
        full += count == 4;
    }
    assert_standard(((double)empty - 625) / sqrt(10000 * 15 / 256.0));
    assert_standard(((double)full - 625) / sqrt(10000 * 15 / 256.0));
    assert_int_equal(dpi_poisson_subset(&stream, 0, &rate, out), 0);
    rate = rate_of(1);
    out[100000] = 77;
    assert_int_equal(dpi_poisson_subset(&stream, 100000, &rate, out), 100000);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(out[i], i);
    rate = rate_of(0x1p-60);
    assert_int_equal(dpi_poisson_subset(&stream, 100000, &rate, out), 0);
    rate = rate_of(1 - 0x1p-53);
    assert_int_equal(dpi_poisson_subset(&stream, 100000, &rate, out), 100000);
    assert_int_equal(out[100000], 77);
}

/* 10^15 records would be 7 PiB of bytes to compare; that their subset is right by its size and its
 * spread says that time and memory go with the subset. */
static void small_rates_cost_by_the_member(void **state)
{
    (void)state;
    const size_t n = (size_t)1000000 * 1000000 * 1000;
    dpi_bernoulli rate = rate_of(1e-11);
    dpi_stream_start_seeded(&stream, 7, "test");
    size_t room = dpi_poisson_room(&rate, n);
    assert_true(room > 10000 && room < 15000);
    double members = 0, squares = 0, place = 0;
    enum { RUNS = 300 };
    for (int r = 0; r < RUNS; r++) {
        size_t count = dpi_poisson_subset(&stream, n, &rate, out);
        assert_true(count <= room);
        members += (double)count;
        squares += ((double)count - 1e4) * ((double)count - 1e4);
        for (size_t i = 0; i < count; i++)
            place += (double)out[i] / (double)n - 0.5;
        for (size_t i = 1; i < count; i++)
            assert_true(out[i - 1] < out[i] && out[i] < n);
    }
    assert_standard((members - RUNS * 1e4) / sqrt(RUNS * 1e4));
    assert_plausible(chi_p(squares / 1e4, RUNS));
    assert_standard(place / sqrt(members / 12));
}

/* A stream of bytes 254: one record in 40 is a member, which no random stream gives at this
 * rate. */
static void a_subset_beyond_chance_is_no_subset(void **state)
{
    (void)state;
    dpi_bernoulli rate = rate_of(0.0001);
    dpi_stream_start_seeded(&stream, 8, "test");
    dpi_stream_refill(&stream);
    memset(stream.buffer, 0xfe, sizeof stream.buffer);
    assert_true(dpi_poisson_room(&rate, 100000) < 300);
    stream.left = 4056;
    assert_true(dpi_poisson_subset(&stream, 100000, &rate, out) == SIZE_MAX);
    assert_int_equal(dpi_poisson_room(&rate, 50), 50);
    rate = rate_of(0.5);
    assert_int_equal(dpi_poisson_room(&rate, 100000), 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_rate),
        cmocka_unit_test(nothing_of_the_rate_is_lost),
        cmocka_unit_test(bits_are_compared_to_the_last),
        cmocka_unit_test(the_smallest_double_is_a_rate),
        cmocka_unit_test(records_are_included_at_the_rate_and_independently),
        cmocka_unit_test(sizes_are_binomial),
        cmocka_unit_test(subsets_may_be_empty_or_everything),
        cmocka_unit_test(small_rates_cost_by_the_member),
        cmocka_unit_test(a_subset_beyond_chance_is_no_subset),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
