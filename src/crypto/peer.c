/* The other side's part of Paillier's scheme: what a public key and ciphertexts must be, and
 * encryption without the primes. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/paillier-key.h"
#include "crypto/prime.h"
#include "crypto/slots.h"

enum { PRIME_ROUNDS = 24 };

/* DP_EPEER unless n may be the modulus of a key of that many bits. */
static dp_status check_modulus(size_t bits, size_t limbs, const mp_limb_t *n, dp_error *err)
{
    const char *wrong = NULL;
    mpz_t number;
    mpz_roinit_n(number, n, (mp_size_t)limbs);
    if (dpi_limbs_bits(limbs, n) != bits)
        wrong = "has another size";
    else if ((n[0] & 1) == 0)
        wrong = "is even";
    else if (dpi_prime_has_small_factor(limbs, n))
        wrong = "has a small factor";
    else if (mpz_perfect_power_p(number))
        wrong = "is a power";
    else if (mpz_probab_prime_p(number, PRIME_ROUNDS) != 0)
        wrong = "is prime";
    if (wrong == NULL)
        return DP_OK;
    return dpi_fail(err, DP_EPEER, "the other side's Paillier key, to be of %zu bits, %s", bits,
                    wrong);
}

/* The table of s = base^n mod n^2. */
static dp_status make_comb(dpi_paillier_public *k, dp_error *err)
{
    mp_limb_t base[DPI_LIMBS_MOST] = {0};
    const mp_limb_t *number[1] = {base}, *exponent[1] = {k->n};
    dp_status status = dpi_paillier_base(NULL, k->limbs, k->n, base, err);
    if (status != DP_OK)
        return status;
    size_t eight = dpi_montgomery_eight(k->ring);
    uint64_t *space =
        dpi_montgomery_alloc(k->ring, 1 + dpi_montgomery_power_space(k->ring) / eight);
    if (space == NULL)
        return dpi_fail_nomem(err);
    dpi_montgomery_enter(k->ring, 1, number, space);
    dpi_montgomery_power(k->ring, 1, space, exponent, k->limbs * DPI_LIMB_BITS, space + eight,
                         space);
    status = dpi_comb_new(k->ring, space, k->exponent_bits, &k->comb, err);
    dpi_montgomery_release(k->ring, space);
    return status;
}

dp_status dpi_paillier_public_new(const dpi_paillier_options *options, size_t limbs,
                                  const mp_limb_t *n, dpi_paillier_public **key, dp_error *err)
{
    dpi_paillier_options settled;
    *key = NULL;
    dp_status status = dpi_paillier_settle(options, &settled, err);
    if (status != DP_OK)
        return status;
    dpi_paillier_public *k = dpi_alloc(1, sizeof *k);
    if (k == NULL)
        return dpi_fail_nomem(err);
    k->exponent_bits = settled.exponent_bits;
    k->limbs = limbs;
    mpn_copyi(k->n, n, (mp_size_t)limbs);
    dpi_limbs_mul(limbs, n, limbs, n, k->square);
    const mp_limb_t *square = k->square;
    status = dpi_montgomery_new(settled.backend, DPI_PUBLIC, 2 * limbs, 1, &square, &k->ring, err);
    if (status == DP_OK && !settled.whole_alone)
        status = make_comb(k, err);
    if (status == DP_OK)
        *key = k;
    else
        dpi_paillier_public_free(k);
    return status;
}

dp_status dpi_paillier_read_public(const dpi_paillier_options *options, size_t n,
                                   const unsigned char *bytes, dpi_paillier_public **key,
                                   dp_error *err)
{
    mp_limb_t number[DPI_LIMBS_MOST / 2], roots[DPI_PROOF_ROOTS * DPI_LIMBS_MOST / 2];
    dpi_paillier_options settled;
    *key = NULL;
    dp_status status = dpi_paillier_settle(options, &settled, err);
    if (status != DP_OK)
        return status;
    if (n != dpi_paillier_public_bytes(settled.bits))
        return dpi_fail(err, DP_EPEER,
                        "the other side's Paillier key has %zu bytes; one of %zu bits has %zu", n,
                        settled.bits, dpi_paillier_public_bytes(settled.bits));
    size_t limbs = settled.bits / DPI_LIMB_BITS;
    dpi_limbs_from_bytes(limbs, bytes, number);
    dpi_limbs_from_bytes(DPI_PROOF_ROOTS * limbs, bytes + limbs * sizeof *number, roots);
    status = check_modulus(settled.bits, limbs, number, err);
    if (status == DP_OK && !dpi_proof_holds(limbs, number, roots))
        status = dpi_fail(err, DP_EPEER,
                          "the other side's Paillier key comes without a proof of its form");
    return status != DP_OK ? status : dpi_paillier_public_new(&settled, limbs, number, key, err);
}

void dpi_paillier_public_free(dpi_paillier_public *key)
{
    if (key == NULL)
        return;
    dpi_comb_free(key->comb);
    dpi_montgomery_free(key->ring);
    dpi_free(key);
}

size_t dpi_paillier_public_limbs(const dpi_paillier_public *key)
{
    return 2 * key->limbs;
}

const dpi_montgomery *dpi_paillier_public_ring(const dpi_paillier_public *key)
{
    return key->ring;
}

/* unit[limbs] = sum_j 2^(bits j) over the slots: what a message is multiplied with. */
static void fill_slots(const dpi_slots *slots, size_t limbs, mp_limb_t *unit)
{
    mpn_zero(unit, (mp_size_t)limbs);
    unit[0] = 1;
    for (size_t j = 1; slots != NULL && j < slots->count; j++) {
        size_t at = j * slots->bits;
        unit[at / DPI_LIMB_BITS] |= (mp_limb_t)1 << at % DPI_LIMB_BITS;
    }
}

void dpi_paillier_encode_public(const dpi_paillier_public *key, const dpi_slots *slots,
                                size_t count, const int64_t *m, mp_limb_t *c)
{
    size_t wide = 2 * key->limbs;
    mp_limb_t unit[DPI_LIMBS_MOST / 2], scratch[DPI_LIMBS_MOST];
    fill_slots(slots, key->limbs, unit);
    for (size_t i = 0; i < count; i++) {
        mp_limb_t *number = c + i * wide, other[DPI_LIMBS_MOST] = {0};
        mp_limb_t product[DPI_LIMBS_MOST / 2 + 1], residue[DPI_LIMBS_MOST / 2];
        mp_limb_t sign = (uint64_t)m[i] >> 63;
        mp_limb_t magnitude = ((uint64_t)m[i] ^ (0 - sign)) + sign;
        product[key->limbs] = mpn_mul_1(product, unit, (mp_size_t)key->limbs, magnitude);
        dpi_limbs_mod(key->limbs + 1, product, key->limbs, key->n, residue);
        dpi_limbs_mul(key->limbs, residue, key->limbs, key->n, number);
        dpi_limbs_sub_mod(wide, other, number, key->square, other);
        mpn_cnd_swap(sign, number, other, (mp_size_t)wide);
        (void)mpn_sec_add_1(number, number, (mp_size_t)wide, 1, scratch);
    }
}

/* c[count] *= s^r for fresh r, for at most eight of them. */
static dp_status randomise(const dpi_paillier_public *key, size_t count, uint64_t *eights,
                           mp_limb_t *c, dp_error *err)
{
    size_t wide = 2 * key->limbs, eight = dpi_montgomery_eight(key->ring);
    mp_limb_t r[DPI_LANES][DPI_LIMBS_MOST / 2];
    const mp_limb_t *exponent[DPI_LANES], *number[DPI_LANES];
    mp_limb_t *result[DPI_LANES];
    uint64_t *factor = eights + eight;
    dp_status status = dpi_limbs_random(NULL, sizeof r, r, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        exponent[i] = r[i];
        number[i] = result[i] = c + i * wide;
    }
    dpi_comb_power(key->comb, count, exponent, factor, eights);
    dpi_montgomery_enter(key->ring, count, number, factor);
    dpi_montgomery_multiply(key->ring, count, eights, factor, eights);
    dpi_montgomery_leave(key->ring, count, eights, result);
    return DP_OK;
}

dp_status dpi_paillier_encrypt_public(const dpi_paillier_public *key, size_t count,
                                      const int64_t *m, mp_limb_t *c, dp_error *err)
{
    if (key->comb == NULL)
        dpi_misuse("dpi_paillier_encrypt_public", "the key was made for whole zeros alone");
    static const int64_t zeros[DPI_LANES] = {0};
    uint64_t *eights = dpi_montgomery_alloc(key->ring, 2);
    dp_status status = eights == NULL ? dpi_fail_nomem(err) : DP_OK;
    for (size_t at = 0; at < count && status == DP_OK; at += DPI_LANES) {
        size_t some = count - at < DPI_LANES ? count - at : DPI_LANES;
        mp_limb_t *to = c + at * dpi_paillier_public_limbs(key);
        dpi_paillier_encode_public(key, NULL, some, m != NULL ? m + at : zeros, to);
        status = randomise(key, some, eights, to, err);
    }
    dpi_montgomery_release(key->ring, eights);
    dpi_limbs_wipe_stack();
    return status;
}

/* y[limbs] uniform in Z_n^* but for 2^-64. */
static dp_status draw_unit(const dpi_paillier_public *key, mp_limb_t *y, dp_error *err)
{
    mp_limb_t wide[DPI_LIMBS_MOST / 2 + 1];
    size_t n = key->limbs;
    do {
        dp_status status = dpi_limbs_random(NULL, (n + 1) * sizeof *wide, wide, err);
        if (status != DP_OK)
            return status;
        dpi_limbs_mod(n + 1, wide, n, key->n, y);
    } while (!dpi_limbs_coprime(n, y, n, key->n));
    return DP_OK;
}

/* At most eight of them; room for a power and an eight. */
static dp_status some_whole_zeros(const dpi_paillier_public *key, size_t count, uint64_t *room,
                                  mp_limb_t *c, dp_error *err)
{
    size_t wide = 2 * key->limbs;
    const mp_limb_t *exponent[DPI_LANES], *number[DPI_LANES];
    mp_limb_t *result[DPI_LANES];
    dp_status status = DP_OK;
    mpn_zero(c, (mp_size_t)(count * wide));
    for (size_t i = 0; i < count && status == DP_OK; i++) {
        exponent[i] = key->n;
        number[i] = result[i] = c + i * wide;
        status = draw_unit(key, result[i], err);
    }
    if (status != DP_OK)
        return status;
    dpi_montgomery_enter(key->ring, count, number, room);
    dpi_montgomery_power(key->ring, count, room, exponent, key->limbs * DPI_LIMB_BITS,
                         room + dpi_montgomery_eight(key->ring), room);
    dpi_montgomery_leave(key->ring, count, room, result);
    return DP_OK;
}

dp_status dpi_paillier_whole_zeros(const dpi_paillier_public *key, size_t count, mp_limb_t *c,
                                   dp_error *err)
{
    size_t eight = dpi_montgomery_eight(key->ring);
    uint64_t *room =
        dpi_montgomery_alloc(key->ring, 1 + dpi_montgomery_power_space(key->ring) / eight);
    dp_status status = room == NULL ? dpi_fail_nomem(err) : DP_OK;
    for (size_t at = 0; at < count && status == DP_OK; at += DPI_LANES)
        status = some_whole_zeros(key, count - at < DPI_LANES ? count - at : DPI_LANES, room,
                                  c + at * 2 * key->limbs, err);
    if (status != DP_OK)
        mpn_zero(c, (mp_size_t)(count * 2 * key->limbs));
    dpi_montgomery_release(key->ring, room);
    dpi_limbs_wipe_stack();
    return status;
}

void dpi_paillier_make_steps(const dpi_paillier_public *key, size_t count, const mp_limb_t *z,
                             mp_limb_t *step)
{
    size_t n = key->limbs;
    mp_limb_t residue[DPI_LIMBS_MOST / 2];
    for (size_t i = 0; i < count; i++) { /* z n mod n^2 = (z mod n) n */
        dpi_limbs_mod(2 * n, z + i * 2 * n, n, key->n, residue);
        dpi_limbs_mul(n, residue, n, key->n, step + i * 2 * n);
    }
    dpi_limbs_wipe_stack();
}

void dpi_paillier_add_steps(const dpi_paillier_public *key, size_t count, const int64_t *m,
                            const mp_limb_t *step, mp_limb_t *z)
{
    size_t wide = 2 * key->limbs;
    mp_limb_t up[DPI_LIMBS_MOST], down[DPI_LIMBS_MOST], sum[DPI_LIMBS_MOST + 1];
    for (size_t i = 0; i < count; i++) {
        mp_limb_t *number = z + i * wide, sign = (uint64_t)m[i] >> 63;
        mpn_copyi(up, step + i * wide, (mp_size_t)wide);
        (void)mpn_sub_n(down, key->square, up, (mp_size_t)wide);
        mpn_cnd_swap(sign, up, down, (mp_size_t)wide);
        mp_limb_t magnitude = ((uint64_t)m[i] ^ (0 - sign)) + sign;
        sum[wide] = mpn_mul_1(sum, up, (mp_size_t)wide, magnitude);
        sum[wide] += mpn_add_n(sum, sum, number, (mp_size_t)wide);
        dpi_limbs_mod(wide + 1, sum, wide, key->square, number);
    }
    dpi_limbs_wipe_stack();
}

dp_status dpi_paillier_check(const dpi_paillier_public *key, size_t count, const mp_limb_t *c,
                             dp_error *err)
{
    mp_limb_t product[DPI_LIMBS_MOST], residue[DPI_LIMBS_MOST], wide[DPI_LIMBS_MOST];
    size_t n = key->limbs;
    bool good = true;
    mpn_zero(product, (mp_size_t)n);
    product[0] = 1;
    for (size_t i = 0; i < count && good; i++) {
        const mp_limb_t *one = c + i * 2 * n;
        good = mpn_cmp(one, key->square, (mp_size_t)(2 * n)) < 0;
        dpi_limbs_mod(2 * n, one, n, key->n, residue);
        dpi_limbs_mul(n, product, n, residue, wide);
        dpi_limbs_mod(2 * n, wide, n, key->n, product);
    }
    /* Zero has every factor in common with n. */
    if (good && dpi_limbs_coprime(n, product, n, key->n))
        return DP_OK;
    return dpi_fail(err, DP_EPEER,
                    "the other side sent %zu numbers of which one is no ciphertext under its key",
                    count);
}
