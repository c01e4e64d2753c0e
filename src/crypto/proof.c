/* n-th roots as a proof that n and phi(n) have no factor in common. */
#include "crypto/proof.h"

#include <sodium.h>

#include "base/error.h"
#include "crypto/rlwe-sample.h"

enum { MOST = DPI_LIMBS_MOST / 2 /* limbs of n */ };

/* ---- what the roots are of ---- */

static void begin(size_t limbs, const mp_limb_t *n, dpi_rlwe_stream *stream)
{
    unsigned char bytes[MOST * sizeof *n], seed[DPI_RLWE_SEED];
    dpi_limbs_to_bytes(limbs, n, bytes);
    (void)crypto_generichash(seed, sizeof seed, bytes, limbs * sizeof *n, NULL, 0);
    dpi_rlwe_start(stream, seed, "tacit Paillier n-th roots");
}

/* number[limbs] below n, uniform but for 2^-64. */
static void next(dpi_rlwe_stream *stream, size_t limbs, const mp_limb_t *n, mp_limb_t *number)
{
    unsigned char bytes[(MOST + 1) * sizeof *n];
    mp_limb_t wide[MOST + 1];
    dpi_rlwe_bytes(stream, (limbs + 1) * sizeof *wide, bytes);
    dpi_limbs_from_bytes(limbs + 1, bytes, wide);
    dpi_limbs_mod(limbs + 1, wide, limbs, n, number);
}

/* ---- by whoever has the primes ---- */

/* exponent[half] = 1 / n mod prime - 1.  That is 2 times an odd number, by which the inverse is
 * found first; both are odd, as n is. */
static bool find_exponent(size_t half, const mp_limb_t *n, const mp_limb_t *prime,
                          mp_limb_t *exponent)
{
    mp_limb_t odd[MOST / 2], residue[MOST / 2], other[MOST / 2];
    (void)mpn_rshift(odd, prime, (mp_size_t)half, 1);
    dpi_limbs_mod(2 * half, n, half, odd, residue);
    bool found = dpi_limbs_invert(half, residue, odd, exponent);
    (void)mpn_add_n(other, exponent, odd, (mp_size_t)half);
    mpn_cnd_swap(1 - (exponent[0] & 1), exponent, other, (mp_size_t)half);
    return found;
}

/* root[half] = number^exponent mod prime. */
static void find_root(size_t half, const mp_limb_t *number, const mp_limb_t *exponent,
                      const mp_limb_t *prime, mp_limb_t *scratch, mp_limb_t *root)
{
    mp_limb_t residue[MOST / 2];
    dpi_limbs_mod(2 * half, number, half, prime, residue);
    mpn_sec_powm(root, residue, (mp_size_t)half, exponent, half * DPI_LIMB_BITS, prime,
                 (mp_size_t)half, scratch);
}

dp_status dpi_proof_make(size_t half, const mp_limb_t *n, const mp_limb_t *const primes[2],
                         const mp_limb_t *join, mp_limb_t *roots, dp_error *err)
{
    mp_limb_t exponent[2][MOST / 2], root[2][MOST / 2], number[MOST];
    mp_size_t h = (mp_size_t)half, itch = mpn_sec_powm_itch(h, half * DPI_LIMB_BITS, h);
    mp_limb_t *scratch = dpi_secret_alloc((size_t)itch, sizeof *scratch);
    dpi_rlwe_stream stream;
    bool good = true;
    if (scratch == NULL)
        return dpi_fail_nomem(err);
    for (int i = 0; i < 2; i++)
        good = good && find_exponent(half, n, primes[i], exponent[i]);
    begin(2 * half, n, &stream);
    for (size_t k = 0; good && k < DPI_PROOF_ROOTS; k++) {
        next(&stream, 2 * half, n, number);
        for (int i = 0; i < 2; i++)
            find_root(half, number, exponent[i], primes[i], scratch, root[i]);
        dpi_limbs_join(half, root[0], root[1], primes[0], primes[1], join, roots + k * 2 * half);
    }
    dpi_secret_free(scratch);
    dpi_limbs_wipe_stack();
    sodium_memzero(exponent, sizeof exponent);
    sodium_memzero(root, sizeof root);
    return good ? DP_OK : dpi_fail(err, DP_EINVAL, "the primes of a key do not fit together");
}

/* ---- by whoever has not ---- */

bool dpi_proof_holds(size_t limbs, const mp_limb_t *n, const mp_limb_t *roots)
{
    mp_limb_t number[MOST];
    mpz_t modulus, root, expected, power;
    dpi_rlwe_stream stream;
    bool good = true;
    mpz_init(power);
    mpz_roinit_n(modulus, n, (mp_size_t)limbs);
    begin(limbs, n, &stream);
    for (size_t k = 0; good && k < DPI_PROOF_ROOTS; k++) {
        next(&stream, limbs, n, number);
        mpz_powm(power, mpz_roinit_n(root, roots + k * limbs, (mp_size_t)limbs), modulus, modulus);
        good = mpz_cmp(root, modulus) < 0 &&
               mpz_cmp(power, mpz_roinit_n(expected, number, (mp_size_t)limbs)) == 0;
    }
    mpz_clear(power);
    return good;
}
