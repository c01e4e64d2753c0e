#include "crypto/modulus.h"

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static uint64_t below(uint64_t *seed, uint64_t q)
{
    return (uint64_t)((next_number(seed) + 1) / 2 * (double)q) % q;
}

static void primes_are_those_of_a_sieve(void **state)
{
    (void)state;
    enum { TOP = 20000 };
    static bool composite[TOP];
    for (size_t i = 2; i < TOP; i++) {
        assert_int_equal(dpi_prime(i), !composite[i]);
        for (size_t j = 2 * i; j < TOP; j += i)
            composite[j] = true;
    }
    assert_false(dpi_prime(0));
    assert_false(dpi_prime(1));
}

/* The least composite numbers that pass for the first 4, 8 and 11 primes as bases (OEIS A014233),
 * and Mersenne's prime of 61 bits. */
static void strong_pseudoprimes_are_no_primes(void **state)
{
    (void)state;
    assert_false(dpi_prime(3215031751ULL));
    assert_false(dpi_prime(341550071728321ULL));
    assert_false(dpi_prime(3825123056546413051ULL));
    assert_true(dpi_prime((1ULL << 61) - 1));
}

static void found_primes_are_the_largest(void **state)
{
    (void)state;
    /* 12289 is the well-known prime of 2048 | q - 1; 2^50 - 27 is the largest below 2^50 at all. */
    assert_int_equal(dpi_modulus_find(14, 4096, 0), 12289);
    assert_int_equal(dpi_modulus_find(50, 1, 0), (1ULL << 50) - 27);
    uint64_t above = 1ULL << 50;
    for (size_t skip = 0; skip < 8; skip++) {
        uint64_t q = dpi_modulus_find(50, 16384, skip);
        assert_true(q != 0 && q < above && q % 16384 == 1);
        for (uint64_t between = q + 16384; between < above; between += 16384)
            assert_false(dpi_prime(between));
        above = q;
    }
    assert_int_equal(dpi_modulus_find(51, 2, 0), 0);
    assert_int_equal(dpi_modulus_find(10, 1 << 12, 0), 0);
    assert_int_equal(dpi_modulus_find(14, 4096, 5), 0);
}

static void only_small_primes_make_a_modulus(void **state)
{
    (void)state;
    dpi_modulus m;
    assert_false(dpi_modulus_make(0, &m));
    assert_false(dpi_modulus_make(2, &m));
    assert_false(dpi_modulus_make(12289 * 3, &m));
    assert_false(dpi_modulus_make((1ULL << 61) - 1, &m));
    assert_true(dpi_modulus_make(12289, &m));
    assert_int_equal(m.bits, 14);
}

/* a b mod q bit by bit. */
static uint64_t plainly(uint64_t a, uint64_t b, uint64_t q)
{
    uint64_t sum = 0;
    for (int i = 63; i >= 0; i--)
        sum = (2 * sum + (b >> i & 1) * a) % q;
    return sum;
}

static void products_are_right_at_all_sizes(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int bits = 2; bits <= 50; bits++) {
        dpi_modulus m;
        assert_true(dpi_modulus_make(dpi_modulus_find(bits, 1, 0), &m));
        const uint64_t edges[] = {0, 1, 2, m.q / 2, m.q - 2, m.q - 1};
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < 6; j++)
                assert_int_equal(dpi_modulus_multiply(&m, edges[i] % m.q, edges[j] % m.q),
                                 plainly(edges[i] % m.q, edges[j] % m.q, m.q));
        for (int i = 0; i < 2000; i++) {
            uint64_t a = below(&seed, m.q), b = below(&seed, m.q);
            assert_int_equal(dpi_modulus_multiply(&m, a, b), plainly(a, b, m.q));
            assert_int_equal(dpi_modulus_add(&m, a, b), (a + b) % m.q);
            assert_int_equal(dpi_modulus_subtract(&m, a, b), (a + m.q - b) % m.q);
            if (a != 0)
                assert_int_equal(dpi_modulus_multiply(&m, a, dpi_modulus_inverse(&m, a)), 1);
        }
    }
}

static void signed_numbers_have_residues(void **state)
{
    (void)state;
    dpi_modulus m;
    assert_true(dpi_modulus_make(12289, &m));
    assert_int_equal(dpi_modulus_signed(&m, -1), 12288);
    assert_int_equal(dpi_modulus_signed(&m, -12288), 1);
    assert_int_equal(dpi_modulus_signed(&m, 0), 0);
    assert_int_equal(dpi_modulus_signed(&m, 12288), 12288);
    assert_int_equal(dpi_modulus_reduce(&m, UINT64_MAX), UINT64_MAX % 12289);
}

static void roots_have_their_order(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 8192; n *= 2) {
        dpi_modulus m;
        assert_true(dpi_modulus_make(dpi_modulus_find(50, 2 * n, 1), &m));
        assert_int_equal(dpi_modulus_power(&m, dpi_modulus_root(&m, n), n), m.q - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primes_are_those_of_a_sieve),
        cmocka_unit_test(strong_pseudoprimes_are_no_primes),
        cmocka_unit_test(found_primes_are_the_largest),
        cmocka_unit_test(only_small_primes_make_a_modulus),
        cmocka_unit_test(products_are_right_at_all_sizes),
        cmocka_unit_test(signed_numbers_have_residues),
        cmocka_unit_test(roots_have_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
