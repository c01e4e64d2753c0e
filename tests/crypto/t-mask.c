/* Masks: what is declared comes through, and nothing beyond it. */
#include <string.h>

#include "crypto/mask.h"
#include "tests/lib/check.h"

static dp_status pack(const dpi_paillier_public *public, size_t slots, unsigned bits, bool bare,
                      size_t count, const mp_limb_t *c, mp_limb_t *packed, dp_error *err)
{
    const dpi_packing how = {.key = public, .slots = slots, .bits = bits, .bare = bare};
    return dpi_paillier_pack(&how, count, c, packed, err);
}

static dpi_paillier_key *key_of(size_t bits, dpi_paillier_public **public)
{
    dp_error err = {0};
    dpi_paillier_key *key;
    size_t limbs;
    const dpi_paillier_options options = {.bits = bits};
    assert_ok(dpi_paillier_generate(&options, &key, &err), err.text);
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    assert_ok(dpi_paillier_public_new(&options, limbs, n, public, &err), err.text);
    return key;
}

static void declared_bits_come_through(void **state)
{
    (void)state;
    enum { N = 11, KEY = 512, LIMBS = KEY / 32 };
    dp_error err = {0};
    dpi_paillier_public *public;
    dpi_paillier_key *key = key_of(KEY, &public);
    mp_limb_t c[N * LIMBS], packed[N * LIMBS];
    for (unsigned bits = 2; bits <= 64; bits++)
        for (size_t slots = 1; slots <= dpi_mask_slots(KEY, bits) && slots <= N + 1; slots += 3) {
            const int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
            const int64_t m[N] = {0, 1, -1, most, -most, most - 1, 1 - most, 1, -1, 0, most / 3};
            int64_t back[N];
            assert_ok(dpi_paillier_encrypt(key, N, m, c, &err), err.text);
            assert_ok(pack(public, slots, bits, bits % 2 == 0, N, c, packed, &err), err.text);
            assert_ok(dpi_paillier_unpack(key, slots, bits, N, packed, back, &err), err.text);
            assert_memory_equal(m, back, sizeof m);
        }
    assert_fails(pack(public, 1, 65, false, N, c, packed, &err), DP_EINVAL, &err, "65 bits");
    assert_fails(pack(public, 9, 50, false, N, c, packed, &err), DP_EINVAL, &err, "50 bits");
    memset(c, 0, sizeof c);
    int64_t back[N];
    assert_fails(dpi_paillier_unpack(key, 1, 20, N, c, back, &err), DP_EPEER, &err, "bound");
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

/* Sixteenths of n in which masked messages fall: chi-square with 15 degrees of freedom, beyond 77
 * with chance 1e-9 (77.0 has 2.6e-10).  A mask of half the length, or none, puts all in one. */
static void what_is_beyond_is_uniform(void **state)
{
    (void)state;
    enum { BITS = 20, N = 1600, BINS = 16 };
    dp_error err = {0};
    dpi_paillier_public *public;
    dpi_paillier_key *key = key_of(256, &public);
    size_t limbs;
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    mpz_t modulus, message, z;
    mpz_inits(modulus, message, z, NULL);
    mpn_copyi(mpz_limbs_write(modulus, (mp_size_t)limbs), n, (mp_size_t)limbs);
    mpz_limbs_finish(modulus, (mp_size_t)limbs);
    for (int huge = 0; huge < 2; huge++) {
        unsigned in[BINS] = {0};
        mp_limb_t fresh[8], c[8];
        mpz_set_ui(message, 77);
        if (huge != 0) { /* as a reader of weights would send */
            mpz_fdiv_q_ui(message, modulus, 3);
            mpz_clrbit(message, 0);
        }
        assert_ok(dpi_paillier_encrypt_wide(key, message, fresh, &err), err.text);
        for (int i = 0; i < N; i++) {
            assert_ok(pack(public, 1, BITS, false, 1, fresh, c, &err), err.text);
            assert_ok(dpi_paillier_decrypt_wide(key, c, z, &err), err.text);
            mpz_mod(z, z, modulus);
            mpz_mul_ui(z, z, BINS);
            mpz_fdiv_q(z, z, modulus);
            in[mpz_get_ui(z)]++;
        }
        double chi = 0;
        for (int k = 0; k < BINS; k++)
            chi += (in[k] - (double)N / BINS) * (in[k] - (double)N / BINS) / ((double)N / BINS);
        assert_true(chi < 77);
    }
    mpz_clears(modulus, message, z, NULL);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

/* c[limbs] = y^n mod n^2 for a y of Jacobi symbol -1. */
static void draw_odd_zero(const dpi_paillier_public *public, const mpz_t n, size_t limbs,
                          mp_limb_t *c)
{
    dp_error err = {0};
    mpz_t x;
    mpz_init(x);
    do {
        assert_ok(dpi_paillier_whole_zeros(public, 1, c, &err), err.text);
        mpz_import(x, limbs, -1, sizeof *c, 0, 0, c);
    } while (mpz_jacobi(x, n) != -1);
    mpz_clear(x);
}

/* The Jacobi symbol of an answer to a ciphertext of symbol -1 is (-1)^w times that of the zero
 * that hides it: a zero of short exponent has always 1, and the answer tells whether w is odd.
 * All of 64 whole ones are of one symbol with chance 2^-63. */
static void an_answer_tells_nothing_but_its_message(void **state)
{
    (void)state;
    enum { KEY = 256, LIMBS = KEY / 32, N = 64, BITS = 20 };
    dp_error err = {0};
    dpi_paillier_public *public;
    dpi_paillier_key *key = key_of(KEY, &public);
    mpz_t n, x;
    size_t limbs;
    mpz_inits(n, x, NULL);
    const mp_limb_t *modulus = dpi_paillier_modulus(key, &limbs);
    mpz_import(n, limbs, -1, sizeof *modulus, 0, 0, modulus);
    for (dpi_zeros_kind kind = DPI_ZEROS_SHORT; kind <= DPI_ZEROS_WHOLE; kind++) {
        mp_limb_t c[LIMBS], packed[LIMBS];
        int odd = 0;
        int64_t back;
        dpi_packing how = {.key = public, .slots = 1, .bits = BITS};
        assert_ok(dpi_zeros_new(public, kind, N, &how.zeros, &err), err.text);
        draw_odd_zero(public, n, LIMBS, c);
        for (int i = 0; i < N; i++) {
            assert_ok(dpi_paillier_pack(&how, 1, c, packed, &err), err.text);
            mpz_import(x, LIMBS, -1, sizeof *packed, 0, 0, packed);
            odd += mpz_jacobi(x, n) == -1;
            assert_ok(dpi_paillier_unpack(key, 1, BITS, 1, packed, &back, &err), err.text);
            assert_int_equal(back, 0);
        }
        assert_true(kind == DPI_ZEROS_SHORT ? odd == N : odd > 0 && odd < N);
        dpi_zeros_free(how.zeros);
    }
    mpz_clears(n, x, NULL);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declared_bits_come_through),
        cmocka_unit_test(what_is_beyond_is_uniform),
        cmocka_unit_test(an_answer_tells_nothing_but_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
