/* Numbers of fixed width against GMP's integers, primes against its test, and Montgomery products
 * of every back end. */
#include "crypto/limbs.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/comb.h"
#include "crypto/prime.h"
#include "tests/lib/check.h"

enum { MOST = 40, ROUNDS = 400 };

static void draw(dpi_seed *seed, size_t n, mp_limb_t *out)
{
    dp_error err = {0};
    assert_ok(dpi_limbs_random(seed, n * sizeof *out, out, &err), err.text);
}

static void read_limbs(mpz_t to, size_t n, const mp_limb_t *from)
{
    mpz_import(to, n, -1, sizeof *from, 0, 0, from);
}

static void assert_is(const mpz_t expected, size_t n, const mp_limb_t *found)
{
    mpz_t number;
    mpz_init(number);
    read_limbs(number, n, found);
    assert_int_equal(mpz_cmp(expected, number), 0);
    mpz_clear(number);
}

/* High limbs of the divisor are zeros now and then. */
static void operations_agree_with_integers(void **state)
{
    (void)state;
    dpi_seed seed = {.key = "limbs"};
    mpz_t a, d, x, y;
    mpz_inits(a, d, x, y, NULL);
    for (size_t round = 0; round < ROUNDS; round++) {
        mp_limb_t la[MOST], ld[MOST], product[2 * MOST], q[MOST], r[MOST];
        size_t an = 1 + round % MOST, dn = 1 + round / 3 % MOST;
        draw(&seed, an, la);
        draw(&seed, dn, ld);
        if (round % 5 == 0 && dn > 2)
            ld[dn - 1] = ld[dn - 2] = 0;
        ld[0] |= 1;
        read_limbs(a, an, la);
        read_limbs(d, dn, ld);
        mpz_mul(x, a, d);
        dpi_limbs_mul(an, la, dn, ld, product);
        assert_is(x, an + dn, product);
        mpz_fdiv_qr(x, y, a, d);
        dpi_limbs_divide(an, la, dn, ld, q, r);
        assert_is(x, an, q);
        assert_is(y, dn, r);
        dpi_limbs_mod(an, la, dn, ld, r);
        assert_is(y, dn, r);
        mpz_neg(x, y);
        mpz_mod(x, x, d);
        memset(q, 0, sizeof q);
        dpi_limbs_sub_mod(dn, q, r, ld, q);
        assert_is(x, dn, q);
        bool found = dpi_limbs_invert(dn, r, ld, q);
        assert_int_equal(found, mpz_invert(x, y, d) != 0 && mpz_cmp_ui(d, 1) > 0);
        if (found)
            assert_is(x, dn, q);
        assert_int_equal(dpi_limbs_bits(dn, ld), mpz_sizeinbase(d, 2));
        mpz_gcd(x, a, d);
        assert_int_equal(dpi_limbs_coprime(an, la, dn, ld), mpz_cmp_ui(x, 1) == 0);
    }
    mpz_clears(a, d, x, y, NULL);
}

static void bytes_have_the_little_end_first(void **state)
{
    (void)state;
    unsigned char bytes[16];
    mp_limb_t back[2];
    const mp_limb_t a[2] = {0x0102030405060708u, 0xf1f2f3f4f5f6f7f8u};
    dpi_limbs_to_bytes(2, a, bytes);
    assert_int_equal(bytes[0], 8);
    assert_int_equal(bytes[15], 0xf1);
    dpi_limbs_from_bytes(2, bytes, back);
    assert_memory_equal(a, back, sizeof a);
    assert_int_equal(dpi_limbs_bits(2, (const mp_limb_t[]){0, 0}), 0);
    assert_true(dpi_limbs_are_zero(2, (const mp_limb_t[]){0, 0}));
    assert_false(dpi_limbs_are_zero(2, (const mp_limb_t[]){0, 1}));
}

static void primes_are_primes_of_their_size(void **state)
{
    (void)state;
    dpi_seed seed = {.key = "primes"};
    for (size_t bits = 64; bits <= 512; bits += 64)
        for (int round = 0; round < 5; round++) {
            dp_error err = {0};
            mp_limb_t prime[MOST];
            mpz_t p;
            assert_ok(dpi_prime_draw(&seed, bits, prime, &err), err.text);
            mpz_init(p);
            read_limbs(p, bits / 64, prime);
            assert_int_not_equal(mpz_probab_prime_p(p, 40), 0);
            assert_int_equal(mpz_sizeinbase(p, 2), bits);
            assert_int_equal(mpz_tstbit(p, bits - 2), 1);
            assert_int_equal(mpz_fdiv_ui(p, 4), 3);
            assert_false(dpi_prime_has_small_factor(bits / 64, prime));
            mpz_clear(p);
        }
}

/* All numbers that are 3 mod 4 below a limit, among them the Carmichael number 8911. */
static void the_test_of_primes_is_right_for_small_numbers(void **state)
{
    (void)state;
    dpi_seed seed = {.key = "small numbers"};
    for (mp_limb_t number = 7; number < 10000; number += 4) {
        dp_error err = {0};
        bool passes, prime = true;
        for (mp_limb_t d = 3; d * d <= number; d += 2)
            prime = prime && number % d != 0;
        assert_ok(dpi_prime_test(&seed, 1, &number, 20, &passes, &err), err.text);
        assert_int_equal(passes, prime);
        assert_int_equal(dpi_prime_has_small_factor(1, &number), !prime);
    }
}

static void a_seed_gives_the_same_bytes_and_the_system_others(void **state)
{
    (void)state;
    dpi_seed a = {.key = "s"}, b = {.key = "s"};
    mp_limb_t x[4], y[4], z[4];
    draw(&a, 4, x);
    draw(&b, 4, y);
    assert_memory_equal(x, y, sizeof x);
    draw(&b, 4, y);
    draw(NULL, 4, z);
    assert_memory_not_equal(x, y, sizeof x);
    assert_memory_not_equal(x, z, sizeof x);
    draw(NULL, 4, y);
    assert_memory_not_equal(z, y, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_agree_with_integers),
        cmocka_unit_test(bytes_have_the_little_end_first),
        cmocka_unit_test(primes_are_primes_of_their_size),
        cmocka_unit_test(the_test_of_primes_is_right_for_small_numbers),
        cmocka_unit_test(a_seed_gives_the_same_bytes_and_the_system_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
