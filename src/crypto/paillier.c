/* The holder's encryption and decryption, modulo p^2 and q^2.
 *
 * Four ciphertexts fill the eight lanes: lane 2 i is ciphertext i modulo p^2, lane 2 i + 1 modulo
 * q^2.  With L(u) = (u - 1) / p, and because (1 + n)^(p-1) = 1 - n mod p^2,
 *
 *   m mod p = L(c^(p-1) mod p^2) / L((1 + n)^(p-1) mod p^2) = L(c^(p-1) mod p^2) (-1 / q) mod p
 *   1 + m n mod p^2 = 1 + p (m q mod p)
 *
 * and two residues are joined by x = x_p + p ((x_q - x_p) / p mod q). */
#include "crypto/paillier.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "crypto/paillier-key.h"

enum { TOGETHER = DPI_PAILLIER_TOGETHER, WIDE = 2 * DPI_PAILLIER_HALF };

dpi_paillier_desk *dpi_paillier_desk_new(const dpi_paillier_key *key)
{
    dpi_paillier_desk *d = dpi_secret_alloc(1, sizeof *d);
    size_t eight = dpi_montgomery_eight(key->pair);
    if (d == NULL)
        return NULL;
    d->eights = dpi_montgomery_alloc(key->pair, 2 + dpi_montgomery_power_space(key->pair) / eight);
    if (d->eights == NULL) {
        dpi_secret_free(d);
        return NULL;
    }
    d->second = d->eights + eight;
    d->space = d->second + eight;
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        d->number_at[lane] = d->result_at[lane] = d->number[lane];
        d->exponent_at[lane] = d->exponent[lane / 2];
    }
    return d;
}

void dpi_paillier_desk_free(const dpi_paillier_key *key, dpi_paillier_desk *d)
{
    if (d == NULL)
        return;
    dpi_montgomery_release(key->pair, d->eights);
    dpi_secret_free(d);
    dpi_limbs_wipe_stack();
}

/* number = 1 + m n modulo the square of prime i. */
static void encode(const dpi_paillier_key *key, int i, const mp_limb_t *magnitude,
                   mp_limb_t negative, mp_limb_t *number)
{
    size_t h = key->half;
    mp_limb_t small[DPI_PAILLIER_HALF], product[WIDE], zero[DPI_PAILLIER_HALF] = {0};
    dpi_limbs_mod(2 * h, magnitude, h, key->prime[i], small);
    dpi_limbs_mul(h, small, h, key->other[i], product);
    dpi_limbs_mod(2 * h, product, h, key->prime[i], small);
    dpi_limbs_sub_mod(h, zero, small, key->prime[i], product);
    mpn_cnd_swap(negative, small, product, (mp_size_t)h);
    dpi_limbs_mul(h, small, h, key->prime[i], number);
    (void)mpn_sec_add_1(number, number, (mp_size_t)(2 * h), 1, product);
}

dp_status dpi_paillier_encrypt_some(const dpi_paillier_key *key, dpi_paillier_desk *d, size_t count,
                                    mp_limb_t *c, dp_error *err)
{
    const dpi_montgomery *m = key->pair;
    size_t h = key->half, lanes = 2 * count;
    dp_status status = dpi_limbs_random(NULL, sizeof d->exponent, d->exponent, err);
    if (status != DP_OK)
        return status;
    dpi_comb_power(key->comb, lanes, d->exponent_at, d->second, d->eights);
    for (size_t lane = 0; lane < lanes; lane++)
        encode(key, (int)(lane % 2), d->message[lane / 2], d->negative[lane / 2], d->number[lane]);
    dpi_montgomery_enter(m, lanes, d->number_at, d->second);
    dpi_montgomery_multiply(m, lanes, d->eights, d->second, d->eights);
    dpi_montgomery_leave(m, lanes, d->eights, d->result_at);
    for (size_t i = 0; i < count; i++)
        dpi_limbs_join(2 * h, d->number[2 * i], d->number[2 * i + 1], key->square[0],
                       key->square[1], key->join_squares, c + i * 4 * h);
    return DP_OK;
}

dp_status dpi_paillier_encrypt(const dpi_paillier_key *key, size_t count, const int64_t *m,
                               mp_limb_t *c, dp_error *err)
{
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    if (d == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    for (size_t at = 0; at < count && status == DP_OK; at += TOGETHER) {
        size_t some = count - at < TOGETHER ? count - at : TOGETHER;
        for (size_t i = 0; i < some; i++) {
            uint64_t sign = (uint64_t)m[at + i] >> 63;
            d->negative[i] = sign;
            d->message[i][0] = ((uint64_t)m[at + i] ^ (0 - sign)) + sign;
        }
        status = dpi_paillier_encrypt_some(key, d, some, c + at * dpi_paillier_limbs(key), err);
    }
    dpi_paillier_desk_free(key, d);
    return status;
}

dp_status dpi_paillier_encrypt_wide(const dpi_paillier_key *key, const mpz_t m, mp_limb_t *c,
                                    dp_error *err)
{
    size_t limbs = mpz_size(m), n = 2 * key->half;
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    if (d == NULL)
        return dpi_fail_nomem(err);
    mp_limb_t *half = d->exponent[0];
    (void)mpn_rshift(half, key->n, (mp_size_t)n, 1);
    if (limbs <= n)
        mpn_copyi(d->message[0], mpz_limbs_read(m), (mp_size_t)limbs);
    d->negative[0] = mpz_sgn(m) < 0;
    dp_status status = DP_OK;
    if (limbs > n || mpn_cmp(d->message[0], half, (mp_size_t)n) > 0)
        status = dpi_fail(err, DP_EDOMAIN,
                          "a number of %zu bits does not fit a key of %zu bits; scale it down",
                          mpz_sizeinbase(m, 2), dpi_limbs_bits(n, key->n));
    else
        status = dpi_paillier_encrypt_some(key, d, 1, c, err);
    dpi_paillier_desk_free(key, d);
    return status;
}

/* residue[half] = m modulo prime i, from u = c^(p - 1) modulo its square.  Gives 0 where u is 1
 * modulo the prime, as it is unless the prime divides c. */
static mp_limb_t decode(const dpi_paillier_key *key, int i, mp_limb_t *u, mp_limb_t *residue)
{
    size_t h = key->half;
    mp_limb_t quotient[WIDE], product[WIDE];
    dpi_limbs_divide(2 * h, u, h, key->prime[i], quotient, residue);
    residue[0] ^= 1;
    mp_limb_t bad = !dpi_limbs_are_zero(h, residue);
    dpi_limbs_mul(h, quotient, h, key->scale[i], product);
    dpi_limbs_mod(2 * h, product, h, key->prime[i], residue);
    return bad;
}

mp_limb_t dpi_paillier_decrypt_some(const dpi_paillier_key *key, dpi_paillier_desk *d, size_t count,
                                    const mp_limb_t *c)
{
    const dpi_montgomery *m = key->pair;
    size_t h = key->half, lanes = 2 * count;
    mp_limb_t bad = 0, other[WIDE], half[WIDE];
    const mp_limb_t *less_one[DPI_LANES];
    for (size_t lane = 0; lane < lanes; lane++) {
        less_one[lane] = key->less_one[lane % 2];
        dpi_limbs_mod(4 * h, c + lane / 2 * 4 * h, 2 * h, key->square[lane % 2], d->number[lane]);
    }
    dpi_montgomery_enter(m, lanes, d->number_at, d->eights);
    dpi_montgomery_power(m, lanes, d->eights, less_one, h * DPI_LIMB_BITS, d->space, d->eights);
    dpi_montgomery_leave(m, lanes, d->eights, d->result_at);
    for (size_t lane = 0; lane < lanes; lane++)
        bad |= decode(key, (int)(lane % 2), d->number[lane], d->number[lane]);
    (void)mpn_rshift(half, key->n, (mp_size_t)(2 * h), 1);
    for (size_t i = 0; i < count; i++) {
        dpi_limbs_join(h, d->number[2 * i], d->number[2 * i + 1], key->prime[0], key->prime[1],
                       key->join, d->message[i]);
        (void)mpn_sub_n(other, key->n, d->message[i], (mp_size_t)(2 * h));
        d->negative[i] = mpn_sub_n(d->exponent[i], half, d->message[i], (mp_size_t)(2 * h));
        mpn_cnd_swap(d->negative[i], d->message[i], other, (mp_size_t)(2 * h));
    }
    return bad;
}

dp_status dpi_paillier_refuse(dp_error *err)
{
    return dpi_fail(err, DP_EPEER,
                    "the other side sent what is no ciphertext of a number within the bound; end "
                    "the session without saying so");
}

dp_status dpi_paillier_decrypt(const dpi_paillier_key *key, size_t count, const mp_limb_t *c,
                               int64_t bound, int64_t *m, dp_error *err)
{
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    mp_limb_t bad = bound < 0;
    if (d == NULL) {
        memset(m, 0, count * sizeof *m);
        return dpi_fail_nomem(err);
    }
    for (size_t at = 0; at < count; at += TOGETHER) {
        size_t some = count - at < TOGETHER ? count - at : TOGETHER;
        bad |= dpi_paillier_decrypt_some(key, d, some, c + at * dpi_paillier_limbs(key));
        for (size_t i = 0; i < some; i++) {
            uint64_t magnitude = d->message[i][0], sign = 0 - d->negative[i];
            bad |= !dpi_limbs_are_zero(2 * key->half - 1, d->message[i] + 1);
            bad |= magnitude > (uint64_t)bound;
            magnitude &= (uint64_t)INT64_MAX;
            m[at + i] = (int64_t)((magnitude ^ sign) - sign);
        }
    }
    dpi_paillier_desk_free(key, d);
    if (bad == 0)
        return DP_OK;
    memset(m, 0, count * sizeof *m);
    return dpi_paillier_refuse(err);
}

dp_status dpi_paillier_decrypt_wide(const dpi_paillier_key *key, const mp_limb_t *c, mpz_t m,
                                    dp_error *err)
{
    mp_size_t n = (mp_size_t)(2 * key->half);
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    mpz_set_ui(m, 0);
    if (d == NULL)
        return dpi_fail_nomem(err);
    mp_limb_t bad = dpi_paillier_decrypt_some(key, d, 1, c);
    if (bad == 0) {
        mpn_copyi(mpz_limbs_write(m, n), d->message[0], n);
        mpz_limbs_finish(m, d->negative[0] != 0 ? -n : n);
    }
    dpi_paillier_desk_free(key, d);
    return bad == 0 ? DP_OK : dpi_paillier_refuse(err);
}
