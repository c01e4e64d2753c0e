/* The holder's keys: how they are made and what they keep.
 *
 * p and q have their two highest bits set, so n has exactly twice their bits; neither divides the
 * other less one, so n is coprime to (p - 1)(q - 1).  gcd(p - 1, q - 1) = 2, as the short exponents
 * ask for, so that -x^2 generates, but for a negligible part of all x, numbers of large order. */
#include "crypto/paillier-key.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "crypto/prime.h"

enum { CLOSE = 100 /* the highest bits of p and q that are not all the same */ };

dp_status dpi_paillier_settle(const dpi_paillier_options *options, dpi_paillier_options *settled,
                              dp_error *err)
{
    *settled = *options;
    if (options->bits == 0 || options->bits % 128 != 0 || options->bits > DPI_PAILLIER_BITS)
        return dpi_fail(err, DP_EINVAL,
                        "a Paillier key of %zu bits; ask for 2048 or 3072 (at most %d)",
                        options->bits, (int)DPI_PAILLIER_BITS);
    if (settled->exponent_bits == 0)
        settled->exponent_bits = options->bits / 2;
    if (settled->exponent_bits % DPI_LIMB_BITS != 0 || settled->exponent_bits > options->bits)
        return dpi_fail(err, DP_EINVAL,
                        "exponents of %zu bits; ask for a multiple of 64 up to %zu, or 0 for %zu",
                        options->exponent_bits, options->bits, options->bits / 2);
    if (settled->backend == NULL)
        settled->backend = dpi_montgomery_fastest();
    return DP_OK;
}

dp_status dpi_paillier_base(dpi_seed *seed, size_t limbs, const mp_limb_t *n, mp_limb_t *base,
                            dp_error *err)
{
    mp_limb_t wide[DPI_LIMBS_ROOM], zero[DPI_LIMBS_MOST] = {0};
    dp_status status = DP_OK;
    do {
        status = dpi_limbs_random(seed, (limbs + 1) * sizeof *wide, wide, err);
        if (status != DP_OK)
            return status;
        dpi_limbs_mod(limbs + 1, wide, limbs, n, base);
    } while (!dpi_limbs_coprime(limbs, base, limbs, n));
    dpi_limbs_mul(limbs, base, limbs, base, wide);
    dpi_limbs_mod(2 * limbs, wide, limbs, n, base);
    dpi_limbs_sub_mod(limbs, zero, base, n, base);
    return DP_OK;
}

/* The numbers that follow from p and q; false where they do not fit together. */
static bool derive(dpi_paillier_key *k)
{
    mp_limb_t zero[DPI_PAILLIER_HALF] = {0}, small[2 * DPI_PAILLIER_HALF];
    size_t h = k->half;
    dpi_limbs_mul(h, k->prime[0], h, k->prime[1], k->n);
    bool fit = true;
    for (int i = 0; i < 2; i++) {
        const mp_limb_t *prime = k->prime[i];
        dpi_limbs_mul(h, prime, h, prime, k->square[i]);
        mpn_copyi(k->less_one[i], prime, (mp_size_t)h);
        k->less_one[i][0] ^= 1;
        dpi_limbs_mod(h, k->prime[1 - i], h, prime, k->other[i]);
        dpi_limbs_sub_mod(h, zero, k->other[i], prime, small);
        fit = dpi_limbs_invert(h, small, prime, k->scale[i]) && fit;
    }
    dpi_limbs_mod(h, k->prime[0], h, k->prime[1], small);
    fit = dpi_limbs_invert(h, small, k->prime[1], k->join) && fit;
    dpi_limbs_mod(2 * h, k->square[0], 2 * h, k->square[1], small);
    return dpi_limbs_invert(2 * h, small, k->square[1], k->join_squares) && fit;
}

/* The table of s = base^n modulo p^2 and q^2. */
static dp_status make_comb(dpi_paillier_key *k, dpi_seed *seed, dp_error *err)
{
    mp_limb_t base[2 * DPI_PAILLIER_HALF], residue[2][2 * DPI_PAILLIER_HALF];
    const mp_limb_t *residues[2] = {residue[0], residue[1]}, *exponent[2] = {k->n, k->n};
    size_t n = 2 * k->half;
    dp_status status = dpi_paillier_base(seed, n, k->n, base, err);
    if (status != DP_OK)
        return status;
    for (int i = 0; i < 2; i++)
        dpi_limbs_mod(n, base, n, k->square[i], residue[i]);
    size_t eight = dpi_montgomery_eight(k->pair);
    uint64_t *space =
        dpi_montgomery_alloc(k->pair, 1 + dpi_montgomery_power_space(k->pair) / eight);
    if (space == NULL)
        return dpi_fail_nomem(err);
    dpi_montgomery_enter(k->pair, 2, residues, space);
    dpi_montgomery_power(k->pair, 2, space, exponent, n * DPI_LIMB_BITS, space + eight, space);
    status = dpi_comb_new(k->pair, space, k->exponent_bits, &k->comb, err);
    dpi_montgomery_release(k->pair, space);
    return status;
}

static dp_status make_key(const dpi_paillier_options *options, size_t limbs,
                          mp_limb_t primes[2][DPI_PAILLIER_HALF], dpi_seed *seed,
                          dpi_paillier_key **key, dp_error *err)
{
    dpi_paillier_key *k = dpi_secret_alloc(1, sizeof *k);
    if (k == NULL)
        return dpi_fail_nomem(err);
    const mp_limb_t *squares[2] = {k->square[0], k->square[1]};
    dp_status status = DP_OK;
    k->half = limbs;
    k->exponent_bits = options->exponent_bits;
    memcpy(k->prime, primes, sizeof k->prime);
    if (!derive(k))
        status = dpi_fail(err, DP_EINVAL, "the primes of a key do not fit together");
    const mp_limb_t *const prime[2] = {k->prime[0], k->prime[1]};
    if (status == DP_OK)
        status = dpi_proof_make(limbs, k->n, prime, k->join, k->roots, err);
    if (status == DP_OK)
        status =
            dpi_montgomery_new(options->backend, DPI_SECRET, 2 * limbs, 2, squares, &k->pair, err);
    if (status == DP_OK)
        status = make_comb(k, seed, err);
    if (status == DP_OK)
        *key = k;
    else
        dpi_paillier_free(k);
    return status;
}

/* gcd(p - 1, q - 1) = 2, and p and q are not close.  Halves of p - 1 and q - 1 are odd, and one has
 * an inverse modulo the other just if they have no factor in common: GMP's integers, which would
 * say it faster, are for public numbers. */
static bool fit_together(size_t limbs, mp_limb_t primes[2][DPI_PAILLIER_HALF])
{
    mp_limb_t half[2][DPI_PAILLIER_HALF], between[DPI_PAILLIER_HALF], rest[DPI_PAILLIER_HALF];
    for (int i = 0; i < 2; i++)
        (void)mpn_rshift(half[i], primes[i], (mp_size_t)limbs, 1);
    if (mpn_sub_n(between, primes[0], primes[1], (mp_size_t)limbs) != 0)
        (void)mpn_sub_n(between, primes[1], primes[0], (mp_size_t)limbs);
    bool apart = dpi_limbs_bits(limbs, between) + CLOSE > limbs * DPI_LIMB_BITS;
    apart = apart && !dpi_limbs_are_zero(limbs, between);
    dpi_limbs_mod(limbs, half[0], limbs, half[1], rest);
    return dpi_limbs_invert(limbs, rest, half[1], between) && apart;
}

dp_status dpi_paillier_generate_seeded(const dpi_paillier_options *options, dpi_seed *seed,
                                       dpi_paillier_key **key, dp_error *err)
{
    mp_limb_t primes[2][DPI_PAILLIER_HALF];
    dpi_paillier_options settled;
    *key = NULL;
    dp_status status = dpi_paillier_settle(options, &settled, err);
    if (status != DP_OK)
        return status;
    size_t limbs = settled.bits / 128;
    bool found = false;
    while (status == DP_OK && !found) {
        for (int i = 0; i < 2 && status == DP_OK; i++)
            status = dpi_prime_draw(seed, limbs * DPI_LIMB_BITS, primes[i], err);
        found = status == DP_OK && fit_together(limbs, primes);
    }
    if (status == DP_OK)
        status = make_key(&settled, limbs, primes, seed, key, err);
    dpi_limbs_wipe_stack();
    sodium_memzero(primes, sizeof primes);
    return status;
}

dp_status dpi_paillier_generate(const dpi_paillier_options *options, dpi_paillier_key **key,
                                dp_error *err)
{
    return dpi_paillier_generate_seeded(options, NULL, key, err);
}

dp_status dpi_paillier_of_primes(const dpi_paillier_options *options, size_t limbs,
                                 const mp_limb_t *p, const mp_limb_t *q, dpi_paillier_key **key,
                                 dp_error *err)
{
    mp_limb_t primes[2][DPI_PAILLIER_HALF] = {{0}};
    dpi_paillier_options settled;
    *key = NULL;
    dp_status status = dpi_paillier_settle(options, &settled, err);
    if (status != DP_OK)
        return status;
    mpn_copyi(primes[0], p, (mp_size_t)limbs);
    mpn_copyi(primes[1], q, (mp_size_t)limbs);
    status = make_key(&settled, limbs, primes, NULL, key, err);
    sodium_memzero(primes, sizeof primes);
    return status;
}

void dpi_paillier_free(dpi_paillier_key *key)
{
    if (key == NULL)
        return;
    dpi_comb_free(key->comb);
    dpi_montgomery_free(key->pair);
    dpi_secret_free(key);
}

size_t dpi_paillier_public_bytes(size_t bits)
{
    return (1 + DPI_PROOF_ROOTS) * (bits / 8);
}

void dpi_paillier_write_public(const dpi_paillier_key *key, unsigned char *bytes)
{
    size_t n = 2 * key->half;
    dpi_limbs_to_bytes(n, key->n, bytes);
    dpi_limbs_to_bytes(DPI_PROOF_ROOTS * n, key->roots, bytes + n * sizeof(mp_limb_t));
}

const mp_limb_t *dpi_paillier_modulus(const dpi_paillier_key *key, size_t *limbs)
{
    *limbs = 2 * key->half;
    return key->n;
}

size_t dpi_paillier_limbs(const dpi_paillier_key *key)
{
    return 4 * key->half;
}
