#include "crypto/rlwe-sample.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "tests/lib/check.h"

enum { MANY = 1 << 20, MORE = 1 << 22 };

static int8_t small[MORE];
static uint64_t large[MANY];
static const unsigned char seed[DPI_RLWE_SEED] = "a seed of 32 bytes, always same.";

static void start(dpi_rlwe_stream *r, const char *label)
{
    dpi_rlwe_start(r, seed, label);
}

/* Pearson's statistic of counts against chances, beyond which it comes once in 1e10. */
static void check_counts(size_t kinds, const size_t *count, const double *chance)
{
    double statistic = 0, total = 0;
    for (size_t i = 0; i < kinds; i++)
        total += (double)count[i];
    for (size_t i = 0; i < kinds; i++) {
        const double expected = total * chance[i];
        statistic += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    }
    assert_true(statistic < gsl_cdf_chisq_Qinv(1e-10, (double)kinds - 1));
}

static void ternary_numbers_are_uniform(void **state)
{
    (void)state;
    dpi_rlwe_stream r;
    start(&r, "ternary");
    dpi_rlwe_ternary(&r, MORE, small);
    /* One by one: 2^22, so that a byte of 256 too many would show. */
    size_t single[3] = {0};
    for (size_t i = 0; i < MORE; i++)
        single[small[i] + 1]++;
    check_counts(3, single, (const double[]){1.0 / 3, 1.0 / 3, 1.0 / 3});
    /* Triples, so that neighbours are seen to be independent too. */
    size_t count[27] = {0};
    double chance[27];
    for (size_t i = 0; i + 2 < MORE; i += 3) {
        assert_true(small[i] >= -1 && small[i] <= 1);
        count[(small[i] + 1) * 9 + (small[i + 1] + 1) * 3 + small[i + 2] + 1]++;
    }
    for (size_t i = 0; i < 27; i++)
        chance[i] = 1.0 / 27;
    check_counts(27, count, chance);
}

static void wide_numbers_are_uniform(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    static int64_t wide[N];
    static const int bits[] = {1, 3, 24, 50, 63};
    dpi_rlwe_stream r;
    start(&r, "wide");
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
        /* By their highest bits, by their lowest, and both of neighbours. */
        const int64_t half = (int64_t)1 << (bits[b] - 1);
        const int top = bits[b] < 3 ? 0 : bits[b] - 3;
        const size_t kinds = bits[b] < 3 ? 2 : 8;
        size_t high[8] = {0}, low[8] = {0}, both[64] = {0};
        double chance[64];
        dpi_rlwe_wide(&r, bits[b], N, wide);
        for (size_t i = 0; i < N; i++) {
            assert_true(wide[i] >= -half && wide[i] < half);
            const uint64_t up = (uint64_t)wide[i] + (uint64_t)half;
            high[up >> top]++;
            low[up % kinds]++;
            if (i % 2 == 1)
                both[(((uint64_t)wide[i - 1] + (uint64_t)half) >> top) * kinds + up % kinds]++;
        }
        for (size_t i = 0; i < 64; i++)
            chance[i] = 1.0 / (double)kinds;
        check_counts(kinds, high, chance);
        check_counts(kinds, low, chance);
        for (size_t i = 0; i < 64; i++)
            chance[i] /= (double)kinds;
        check_counts(kinds * kinds, both, chance);
    }
}

static void errors_are_binomial(void **state)
{
    (void)state;
    dpi_rlwe_stream r;
    start(&r, "errors");
    dpi_rlwe_errors(&r, MANY, small);
    enum { EDGE = 12 }; /* beyond it: one kind a side */
    size_t count[2 * EDGE + 1] = {0};
    double chance[2 * EDGE + 1] = {0};
    for (size_t i = 0; i < MANY; i++) {
        const int e = small[i] < -EDGE ? -EDGE : small[i] > EDGE ? EDGE : small[i];
        assert_in_range(small[i] + DPI_RLWE_COINS, 0, 2 * DPI_RLWE_COINS);
        count[e + EDGE]++;
    }
    /* The difference of two counts is a count of heads in 42 coins, less 21. */
    for (int k = 0; k <= 2 * DPI_RLWE_COINS; k++) {
        const int e = k - DPI_RLWE_COINS, at = e < -EDGE ? -EDGE : e > EDGE ? EDGE : e;
        chance[at + EDGE] += exp(lgamma(43) - lgamma(k + 1) - lgamma(43 - k) - 42 * log(2));
    }
    check_counts(2 * EDGE + 1, count, chance);
}

static void residues_are_uniform(void **state)
{
    (void)state;
    dpi_rlwe_stream r;
    dpi_modulus m;
    assert_true(dpi_modulus_make(97, &m)); /* a quarter of the words is turned down */
    start(&r, "uniform");
    dpi_rlwe_uniform(&r, &m, MANY, large);
    size_t count[97] = {0};
    double chance[97];
    for (size_t i = 0; i < MANY; i++) {
        assert_true(large[i] < 97);
        count[large[i]]++;
    }
    for (size_t i = 0; i < 97; i++)
        chance[i] = 1.0 / 97;
    check_counts(97, count, chance);
}

/* ChaCha20 of libsodium under BLAKE2b of the label, keyed by the seed. */
static void bytes_are_the_keystream(void **state)
{
    (void)state;
    enum { N = 20000 };
    static unsigned char got[N], expected[N];
    unsigned char key[32], nonce[8] = {0};
    assert_int_equal(crypto_generichash(key, 32, (const unsigned char *)"x", 1, seed, 32), 0);
    assert_int_equal(crypto_stream_chacha20(expected, N, nonce, key), 0);
    dpi_rlwe_stream r;
    start(&r, "x");
    size_t at = 0;
    for (size_t step = 64; at + step <= N; at += step)
        dpi_rlwe_bytes(&r, step, got + at);
    assert_memory_equal(got, expected, at);
}

static void labels_and_seeds_tell_streams_apart(void **state)
{
    (void)state;
    dpi_rlwe_stream r;
    unsigned char a[32], b[32], other[DPI_RLWE_SEED];
    start(&r, "one");
    dpi_rlwe_bytes(&r, 32, a);
    start(&r, "two");
    dpi_rlwe_bytes(&r, 32, b);
    assert_memory_not_equal(a, b, 32);
    start(&r, "one");
    dpi_rlwe_bytes(&r, 32, b);
    assert_memory_equal(a, b, 32);
    memcpy(other, seed, sizeof other);
    other[31] ^= 1;
    dpi_rlwe_start(&r, other, "one");
    dpi_rlwe_bytes(&r, 32, b);
    assert_memory_not_equal(a, b, 32);
}

static void lengths_do_not_change_what_comes(void **state)
{
    (void)state;
    dpi_rlwe_stream r;
    static int8_t whole[5000], first[5000];
    start(&r, "errors");
    dpi_rlwe_errors(&r, 5000, whole);
    start(&r, "errors");
    dpi_rlwe_errors(&r, 3, first);
    assert_memory_equal(first, whole, 3);
    start(&r, "ternary");
    dpi_rlwe_ternary(&r, 5000, whole);
    start(&r, "ternary");
    dpi_rlwe_ternary(&r, 200, first);
    assert_memory_equal(first, whole, 200);
}

static void seeds_come_from_the_system_and_streams_are_wiped(void **state)
{
    (void)state;
    dp_error err = {0};
    unsigned char a[DPI_RLWE_SEED], b[DPI_RLWE_SEED];
    assert_ok(dpi_rlwe_seed(a, &err), err.text);
    assert_ok(dpi_rlwe_seed(b, &err), err.text);
    assert_memory_not_equal(a, b, sizeof a);
    dpi_rlwe_stream r;
    static const dpi_rlwe_stream none;
    dpi_rlwe_start(&r, a, "x");
    dpi_rlwe_bytes(&r, sizeof b, b);
    dpi_rlwe_end(&r);
    assert_memory_equal(&r, &none, sizeof r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ternary_numbers_are_uniform),
        cmocka_unit_test(wide_numbers_are_uniform),
        cmocka_unit_test(errors_are_binomial),
        cmocka_unit_test(residues_are_uniform),
        cmocka_unit_test(bytes_are_the_keystream),
        cmocka_unit_test(labels_and_seeds_tell_streams_apart),
        cmocka_unit_test(lengths_do_not_change_what_comes),
        cmocka_unit_test(seeds_come_from_the_system_and_streams_are_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
