/* Paillier's scheme: every message under keys of small primes, laws under larger ones, and what is
 * refused. */
#include "crypto/paillier.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/paillier-key.h"
#include "tests/lib/check.h"

enum { MANY = 13 };

static const dpi_paillier_options small = {.bits = 256}, tiny = {.bits = 128};

static dpi_paillier_key *make_key(const dpi_paillier_options *options)
{
    dp_error err = {0};
    dpi_paillier_key *key;
    dpi_seed seed = {.key = "keys of tests"};
    assert_ok(dpi_paillier_generate_seeded(options, &seed, &key, &err), err.text);
    return key;
}

static dpi_paillier_public *read_key(const dpi_paillier_options *options,
                                     const dpi_paillier_key *key)
{
    dp_error err = {0};
    dpi_paillier_public *public;
    unsigned char bytes[9 * 256];
    dpi_paillier_write_public(key, bytes);
    assert_ok(dpi_paillier_read_public(options, dpi_paillier_public_bytes(options->bits), bytes,
                                       &public, &err),
              err.text);
    return public;
}

/* c^lambda mod n^2 by GMP's integers, as the scheme is defined. */
static void decrypt_plainly(const dpi_paillier_key *key, const mpz_t p, const mpz_t q,
                            const mp_limb_t *c, mpz_t m)
{
    mpz_t n, square, lambda, x, scale, a, b;
    mpz_inits(n, square, lambda, x, scale, a, b, NULL);
    mpz_mul(n, p, q);
    mpz_mul(square, n, n);
    mpz_sub_ui(a, p, 1);
    mpz_sub_ui(b, q, 1);
    mpz_lcm(lambda, a, b);
    mpz_import(x, dpi_paillier_limbs(key), -1, sizeof *c, 0, 0, c);
    mpz_powm(x, x, lambda, square);
    mpz_sub_ui(x, x, 1);
    mpz_divexact(x, x, n);
    assert_int_not_equal(mpz_invert(scale, lambda, n), 0);
    mpz_mul(m, x, scale);
    mpz_mod(m, m, n);
    mpz_mul_2exp(a, m, 1);
    if (mpz_cmp(a, n) > 0)
        mpz_sub(m, m, n);
    mpz_clears(n, square, lambda, x, scale, a, b, NULL);
}

/* Every message under n = p q, once encrypted by the holder and once by the other side. */
static void check_all_messages(mp_limb_t p, mp_limb_t q)
{
    dp_error err = {0};
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    size_t limbs, n = p * q;
    int64_t half = (int64_t)(n - 1) / 2, *m = calloc(n, sizeof *m), *back = calloc(n, sizeof *m);
    mp_limb_t(*c)[4] = calloc(n, sizeof *c);
    mpz_t plain, big_p, big_q;
    assert_ok(dpi_paillier_of_primes(&tiny, 1, &p, &q, &key, &err), err.text);
    const mp_limb_t *modulus = dpi_paillier_modulus(key, &limbs);
    assert_int_equal(limbs, 2);
    assert_int_equal(modulus[0], n);
    assert_ok(dpi_paillier_public_new(&tiny, limbs, modulus, &public, &err), err.text);
    mpz_init(plain);
    mpz_init_set_ui(big_p, p);
    mpz_init_set_ui(big_q, q);
    for (size_t i = 0; i < n; i++)
        m[i] = (int64_t)i - half;
    for (int side = 0; side < 2; side++) {
        assert_ok(side == 0 ? dpi_paillier_encrypt(key, n, m, c[0], &err)
                            : dpi_paillier_encrypt_public(public, n, m, c[0], &err),
                  err.text);
        assert_ok(dpi_paillier_decrypt(key, n, c[0], half, back, &err), err.text);
        assert_memory_equal(m, back, n * sizeof *m);
        for (size_t i = 0; i < n; i++) {
            decrypt_plainly(key, big_p, big_q, c[i], plain);
            assert_int_equal(mpz_get_si(plain), m[i]);
        }
    }
    mpz_clears(plain, big_p, big_q, NULL);
    free(m);
    free(back);
    free(c);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void every_message_comes_back_under_small_primes(void **state)
{
    (void)state;
    static const mp_limb_t primes[] = {7, 11, 19, 23, 31, 43, 47, 59, 67, 71, 79, 83};
    enum { N = sizeof primes / sizeof *primes };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if ((primes[i] - 1) % primes[j] != 0)
                check_all_messages(primes[i], primes[j]);
}

static void draw_messages(int64_t m[MANY])
{
    uint64_t number = 5;
    for (int i = 0; i < MANY; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        m[i] = (int64_t)number >> i;
    }
    m[0] = INT64_MAX;
    m[1] = -INT64_MAX;
    m[2] = 0;
}

static void numbers_of_64_bits_come_back(void **state)
{
    (void)state;
    static const size_t bits[] = {256, 384, 2048};
    for (int b = 0; b < 3; b++) {
        dp_error err = {0};
        dpi_paillier_options options = {.bits = bits[b], .exponent_bits = b == 2 ? 448 : 0};
        dpi_paillier_key *key = make_key(&options);
        dpi_paillier_public *public = read_key(&options, key);
        mp_limb_t *c = calloc(MANY, dpi_paillier_limbs(key) * sizeof *c);
        int64_t m[MANY], back[MANY];
        draw_messages(m);
        assert_int_equal(dpi_paillier_public_limbs(public), dpi_paillier_limbs(key));
        for (int side = 0; side < 2; side++) {
            assert_ok(side == 0 ? dpi_paillier_encrypt(key, MANY, m, c, &err)
                                : dpi_paillier_encrypt_public(public, MANY, m, c, &err),
                      err.text);
            assert_ok(dpi_paillier_check(public, MANY, c, &err), err.text);
            assert_ok(dpi_paillier_decrypt(key, MANY, c, INT64_MAX, back, &err), err.text);
            assert_memory_equal(m, back, sizeof m);
        }
        free(c);
        dpi_paillier_public_free(public);
        dpi_paillier_free(key);
    }
}

/* A product of ciphertexts is a sum, a power a multiple; 1 + m n is of m. */
static void products_are_sums(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key(&small);
    dpi_paillier_public *public = read_key(&small, key);
    const int64_t m[3] = {-1234567, 7654321, -99};
    mp_limb_t c[3][8], result[8];
    mpz_t x[3], square;
    size_t limbs;
    int64_t back;
    assert_ok(dpi_paillier_encrypt(key, 2, m, c[0], &err), err.text);
    dpi_paillier_encode_public(public, NULL, 1, m + 2, c[2]);
    mpz_init(square);
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    mpz_import(square, limbs, -1, sizeof *n, 0, 0, n);
    mpz_mul(square, square, square);
    for (int i = 0; i < 3; i++) {
        mpz_init(x[i]);
        mpz_import(x[i], 8, -1, sizeof *result, 0, 0, c[i]);
    }
    mpz_powm_ui(x[1], x[1], 1000, square);
    mpz_mul(x[0], x[0], x[1]);
    mpz_mul(x[0], x[0], x[2]);
    mpz_mod(x[0], x[0], square);
    memset(result, 0, sizeof result);
    mpz_export(result, NULL, -1, sizeof *result, 0, 0, x[0]);
    assert_ok(dpi_paillier_decrypt(key, 1, result, INT64_MAX, &back, &err), err.text);
    assert_int_equal(back, m[0] + 1000 * m[1] + m[2]);
    mpz_clears(x[0], x[1], x[2], square, NULL);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void wide_numbers_come_back_up_to_half_of_n(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key(&small);
    mp_limb_t c[8];
    size_t limbs;
    mpz_t m, back;
    mpz_inits(m, back, NULL);
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    mpz_import(m, limbs, -1, sizeof *n, 0, 0, n);
    mpz_fdiv_q_2exp(m, m, 1);
    for (int i = 0; i < 6; i++) {
        assert_ok(dpi_paillier_encrypt_wide(key, m, c, &err), err.text);
        assert_ok(dpi_paillier_decrypt_wide(key, c, back, &err), err.text);
        assert_int_equal(mpz_cmp(m, back), 0);
        if (i % 2 == 1)
            mpz_tdiv_q_2exp(m, m, 61);
        mpz_neg(m, m);
    }
    mpz_import(m, limbs, -1, sizeof *n, 0, 0, n);
    mpz_cdiv_q_2exp(m, m, 1);
    assert_fails(dpi_paillier_encrypt_wide(key, m, c, &err), DP_EDOMAIN, &err, "scale it down");
    mpz_neg(m, m);
    assert_fails(dpi_paillier_encrypt_wide(key, m, c, &err), DP_EDOMAIN, &err, "scale it down");
    mpz_mul_2exp(m, m, 1000);
    assert_fails(dpi_paillier_encrypt_wide(key, m, c, &err), DP_EDOMAIN, &err, "scale it down");
    mpz_clears(m, back, NULL);
    dpi_paillier_free(key);
}

static void two_encryptions_differ(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key(&small);
    dpi_paillier_public *public = read_key(&small, key);
    const int64_t m[MANY] = {0};
    mp_limb_t c[2 * MANY][8];
    assert_ok(dpi_paillier_encrypt(key, MANY, m, c[0], &err), err.text);
    assert_ok(dpi_paillier_encrypt_public(public, MANY, NULL, c[MANY], &err), err.text);
    for (int i = 0; i < 2 * MANY; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(c[i], c[j], sizeof c[i]);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void a_plaintext_beyond_the_bound_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key(&small);
    const int64_t m[4] = {1000, -1000, 1001, -1001};
    int64_t back[3];
    mp_limb_t c[4][8];
    mpz_t wide;
    assert_ok(dpi_paillier_encrypt(key, 4, m, c[0], &err), err.text);
    assert_ok(dpi_paillier_decrypt(key, 2, c[0], 1000, back, &err), err.text);
    assert_fails(dpi_paillier_decrypt(key, 3, c[0], 1000, back, &err), DP_EPEER, &err, "bound");
    assert_true(back[0] == 0 && back[1] == 0 && back[2] == 0);
    assert_fails(dpi_paillier_decrypt(key, 1, c[3], 1000, back, &err), DP_EPEER, &err, "bound");
    assert_fails(dpi_paillier_decrypt(key, 1, c[0], -1, back, &err), DP_EPEER, &err, "bound");
    mpz_init_set_ui(wide, 1);
    mpz_mul_2exp(wide, wide, 64); /* 0 modulo 2^64 */
    assert_ok(dpi_paillier_encrypt_wide(key, wide, c[0], &err), err.text);
    assert_fails(dpi_paillier_decrypt(key, 1, c[0], INT64_MAX, back, &err), DP_EPEER, &err,
                 "bound");
    mpz_clear(wide);
    dpi_paillier_free(key);
}

static void what_is_no_ciphertext_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    const mp_limb_t p[1] = {0xffffffffffffff43u}, q[1] = {0xffffffffffffff53u};
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    size_t limbs;
    int64_t back;
    mp_limb_t c[3][4];
    const int64_t m[3] = {1, 2, 3};
    assert_ok(dpi_paillier_of_primes(&tiny, 1, p, q, &key, &err), err.text);
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    assert_ok(dpi_paillier_public_new(&tiny, limbs, n, &public, &err), err.text);
    assert_ok(dpi_paillier_encrypt_public(public, 3, m, c[0], &err), err.text);
    assert_ok(dpi_paillier_check(public, 3, c[0], &err), err.text);
    assert_ok(dpi_paillier_check(public, 0, c[0], &err), err.text);
    const mp_limb_t bad[5][4] = {
        {0}, {n[0], n[1], 0, 0}, {p[0], 0, 0, 0}, {0, q[0], 0, 0}, {~0ul, ~0ul, ~0ul, ~0ul}};
    for (int i = 0; i < 5; i++) {
        memcpy(c[1], bad[i], sizeof c[1]);
        assert_fails(dpi_paillier_check(public, 3, c[0], &err), DP_EPEER, &err, "no ciphertext");
        if (i < 4)
            assert_fails(dpi_paillier_decrypt(key, 1, c[1], INT64_MAX, &back, &err), DP_EPEER, &err,
                         "no ciphertext");
    }
    dpi_limbs_mul(2, n, 2, n, c[1]); /* n^2 itself, and the last that is one */
    assert_fails(dpi_paillier_check(public, 3, c[0], &err), DP_EPEER, &err, "no ciphertext");
    c[1][0]--;
    assert_ok(dpi_paillier_check(public, 3, c[0], &err), err.text);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void expect_refusal(const mpz_t n, const char *why)
{
    dp_error err = {0};
    unsigned char bytes[9 * 32] = {0};
    dpi_paillier_public *public;
    mpz_export(bytes, NULL, -1, 1, 0, 0, n);
    assert_fails(dpi_paillier_read_public(&small, sizeof bytes, bytes, &public, &err), DP_EPEER,
                 &err, why);
    assert_null(public);
}

static void malformed_keys_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    unsigned char bytes[32] = {0};
    dpi_paillier_public *public;
    mpz_t n, p;
    mpz_inits(n, p, NULL);
    assert_fails(dpi_paillier_read_public(&small, 32, bytes, &public, &err), DP_EPEER, &err,
                 "32 bytes");
    expect_refusal(n, "another size");
    mpz_ui_pow_ui(n, 2, 255);
    expect_refusal(n, "even");
    mpz_nextprime(p, n);
    expect_refusal(p, "prime");
    mpz_ui_pow_ui(n, 2, 241);
    mpz_nextprime(p, n);
    mpz_mul_ui(p, p, 32749);
    expect_refusal(p, "small factor");
    mpz_ui_pow_ui(n, 2, 128);
    mpz_sub_ui(n, n, 159); /* the largest prime below 2^128 */
    mpz_mul(n, n, n);
    expect_refusal(n, "a power");
    mpz_ui_pow_ui(n, 2, 254);
    mpz_nextprime(p, n);
    expect_refusal(p, "another size");
    mpz_clears(n, p, NULL);
}

/* Of the numbers below n = p q one in p has an n-th root where p divides q - 1. */
static void a_key_without_proof_of_its_form_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    unsigned char bytes[9 * 32], good[sizeof bytes];
    dpi_paillier_public *public;
    dpi_paillier_key *key = make_key(&small), *other;
    mpz_t n, p, q;
    dpi_paillier_write_public(key, good);
    for (size_t root = 0; root < DPI_PROOF_ROOTS; root++) {
        memcpy(bytes, good, sizeof bytes);
        bytes[(root + 1) * 32 + root] ^= 1;
        assert_fails(dpi_paillier_read_public(&small, sizeof bytes, bytes, &public, &err), DP_EPEER,
                     &err, "proof");
        assert_null(public);
    }
    assert_ok(dpi_paillier_generate(&small, &other, &err), err.text);
    dpi_paillier_write_public(other, bytes);
    memcpy(bytes, good, 32);
    assert_fails(dpi_paillier_read_public(&small, sizeof bytes, bytes, &public, &err), DP_EPEER,
                 &err, "proof");
    mpz_init(n);
    mpz_init_set_str(p, "1000000000000000000000", 16);
    mpz_nextprime(p, p);
    mpz_init_set_ui(q, 3);
    mpz_mul_2exp(q, q, 85);
    do { /* q = 2 k p + 1 */
        mpz_add_ui(q, q, 1);
        mpz_mul(n, q, p);
        mpz_mul_2exp(n, n, 1);
        mpz_add_ui(n, n, 1);
    } while (mpz_probab_prime_p(n, 30) == 0);
    mpz_mul(n, n, p);
    expect_refusal(n, "proof");
    mpz_clears(n, p, q, NULL);
    dpi_paillier_free(other);
    dpi_paillier_free(key);
}

static void encrypt_anyway(void *of)
{
    mp_limb_t c[8];
    dp_status status = dpi_paillier_encrypt_public(of, 1, NULL, c, NULL);
    (void)status;
}

static void a_key_for_answers_has_no_table(void **state)
{
    (void)state;
    dp_error err = {0};
    unsigned char bytes[9 * 32];
    dpi_paillier_options options = small;
    dpi_paillier_key *key = make_key(&small);
    dpi_paillier_public *public;
    mp_limb_t c[3][8];
    int64_t m[3];
    options.whole_alone = true;
    dpi_paillier_write_public(key, bytes);
    assert_ok(dpi_paillier_read_public(&options, sizeof bytes, bytes, &public, &err), err.text);
    assert_ok(dpi_paillier_whole_zeros(public, 3, c[0], &err), err.text);
    assert_ok(dpi_paillier_decrypt(key, 3, c[0], 0, m, &err), err.text);
    assert_aborts(encrypt_anyway, public);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void options_are_checked(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key;
    dpi_paillier_options none = {0}, odd = {.bits = 2047},
                         long_exponent = {.bits = 256, .exponent_bits = 320},
                         odd_exponent = {.bits = 256, .exponent_bits = 100}, large = {.bits = 8192};
    assert_fails(dpi_paillier_generate(&none, &key, &err), DP_EINVAL, &err, "2048");
    assert_fails(dpi_paillier_generate(&odd, &key, &err), DP_EINVAL, &err, "2047");
    assert_fails(dpi_paillier_generate(&large, &key, &err), DP_EINVAL, &err, "8192");
    assert_fails(dpi_paillier_generate(&long_exponent, &key, &err), DP_EINVAL, &err, "320");
    assert_fails(dpi_paillier_generate(&odd_exponent, &key, &err), DP_EINVAL, &err, "100");
    assert_null(key);
    dpi_paillier_free(NULL);
    dpi_paillier_public_free(NULL);
}

/* Of the system's randomness: another modulus each time, of exactly the size. */
static void keys_have_their_size_and_differ(void **state)
{
    (void)state;
    mp_limb_t before[4] = {0};
    for (int i = 0; i < 20; i++) {
        dp_error err = {0};
        dpi_paillier_key *key;
        size_t limbs;
        assert_ok(dpi_paillier_generate(&small, &key, &err), err.text);
        const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
        assert_int_equal(limbs, 4);
        assert_int_equal(dpi_limbs_bits(limbs, n), 256);
        assert_int_equal(n[0] & 3, 1);
        assert_memory_not_equal(before, n, sizeof before);
        memcpy(before, n, sizeof before);
        dpi_paillier_free(key);
    }
}

/* p and q are 3 mod 4 and have only 2 in common before them; -x^2 is no square modulo either. */
static void keys_are_what_short_exponents_need(void **state)
{
    (void)state;
    mpz_t prime[2], base, common;
    mpz_inits(prime[0], prime[1], base, common, NULL);
    for (int i = 0; i < 20; i++) {
        dp_error err = {0};
        dpi_paillier_key *key;
        mp_limb_t number[2];
        assert_ok(dpi_paillier_generate(&tiny, &key, &err), err.text);
        assert_ok(dpi_paillier_base(NULL, 2, key->n, number, &err), err.text);
        mpz_import(base, 2, -1, sizeof *number, 0, 0, number);
        for (int k = 0; k < 2; k++) {
            mpz_import(prime[k], 1, -1, sizeof *number, 0, 0, key->prime[k]);
            assert_int_equal(mpz_fdiv_ui(prime[k], 4), 3);
            assert_int_equal(mpz_legendre(base, prime[k]), -1);
            mpz_sub_ui(prime[k], prime[k], 1);
        }
        mpz_gcd(common, prime[0], prime[1]);
        assert_int_equal(mpz_cmp_ui(common, 2), 0);
        dpi_paillier_free(key);
    }
    mpz_clears(prime[0], prime[1], base, common, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_comes_back_under_small_primes),
        cmocka_unit_test(numbers_of_64_bits_come_back),
        cmocka_unit_test(products_are_sums),
        cmocka_unit_test(wide_numbers_come_back_up_to_half_of_n),
        cmocka_unit_test(two_encryptions_differ),
        cmocka_unit_test(a_plaintext_beyond_the_bound_is_refused),
        cmocka_unit_test(what_is_no_ciphertext_is_refused),
        cmocka_unit_test(malformed_keys_are_refused),
        cmocka_unit_test(a_key_without_proof_of_its_form_is_refused),
        cmocka_unit_test(a_key_for_answers_has_no_table),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(keys_have_their_size_and_differ),
        cmocka_unit_test(keys_are_what_short_exponents_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
