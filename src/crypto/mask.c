#include "crypto/mask.h"

#include <string.h>

#include "base/error.h"
#include "crypto/paillier-key.h"

/* top = floor((n - 1) / 2^bits) + 1: how many r there are. */
static void count_masks(const dpi_paillier_public *key, unsigned bits, mp_limb_t *top)
{
    size_t n = key->limbs;
    if (bits < DPI_LIMB_BITS) {
        (void)mpn_rshift(top, key->n, (mp_size_t)n, bits);
    } else {
        mpn_copyi(top, key->n + 1, (mp_size_t)(n - 1));
        top[n - 1] = 0;
    }
    (void)mpn_add_1(top, top, (mp_size_t)n, 1); /* n is odd */
}

/* unit = 1 + r 2^bits n < n^2. */
static dp_status draw_unit(const dpi_paillier_public *key, unsigned bits, const mp_limb_t *top,
                           mp_limb_t *unit, dp_error *err)
{
    size_t n = key->limbs;
    mp_limb_t wide[DPI_LIMBS_MOST / 2 + 1], r[DPI_LIMBS_MOST / 2], shifted[DPI_LIMBS_MOST / 2 + 1];
    /* 64 bits more than n has: a remainder is uniform but for 2^-64 in all. */
    dp_status status = dpi_limbs_random(NULL, (n + 1) * sizeof *wide, wide, err);
    size_t limbs = n;
    while (limbs > 1 && top[limbs - 1] == 0)
        limbs--;
    if (status != DP_OK)
        return status;
    mpn_zero(r, (mp_size_t)n);
    dpi_limbs_mod(n + 1, wide, limbs, top, r);
    if (bits < DPI_LIMB_BITS) {
        (void)mpn_lshift(shifted, r, (mp_size_t)n, bits);
    } else {
        shifted[0] = 0;
        mpn_copyi(shifted + 1, r, (mp_size_t)(n - 1));
    }
    dpi_limbs_mul(n, shifted, n, key->n, unit);
    unit[0] |= 1; /* a multiple of 2^bits ends in 0 */
    return DP_OK;
}

/* c[count] *= by[count] modulo n^2, at most eight. */
static void multiply(const dpi_paillier_public *key, size_t count, const mp_limb_t *by,
                     uint64_t *eights, mp_limb_t *c)
{
    const dpi_montgomery *ring = key->ring;
    size_t wide = 2 * key->limbs, eight = dpi_montgomery_eight(ring);
    const mp_limb_t *factor[DPI_LANES], *number[DPI_LANES];
    mp_limb_t *out[DPI_LANES];
    for (size_t i = 0; i < count; i++) {
        factor[i] = by + i * wide;
        number[i] = out[i] = c + i * wide;
    }
    dpi_montgomery_enter(ring, count, factor, eights);
    dpi_montgomery_enter(ring, count, number, eights + eight);
    dpi_montgomery_multiply(ring, count, eights, eights + eight, eights);
    dpi_montgomery_leave(ring, count, eights, out);
}

dp_status dpi_paillier_mask(const dpi_paillier_public *key, size_t count, unsigned bits,
                            mp_limb_t *c, dp_error *err)
{
    size_t wide = 2 * key->limbs;
    mp_limb_t top[DPI_LIMBS_MOST / 2], unit[DPI_LANES * DPI_LIMBS_MOST];
    if (bits < 2 || bits > DPI_MASK_BITS || 2 * bits > key->limbs * DPI_LIMB_BITS)
        return dpi_fail(err, DP_EINVAL, "a mask leaves 2 to 64 bits, at most half of the key's");
    uint64_t *eights = dpi_montgomery_alloc(key->ring, 2);
    if (eights == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    count_masks(key, bits, top);
    for (size_t at = 0; status == DP_OK && at < count; at += DPI_LANES) {
        size_t some = count - at < DPI_LANES ? count - at : DPI_LANES;
        for (size_t i = 0; status == DP_OK && i < some; i++)
            status = draw_unit(key, bits, top, unit + i * wide, err);
        if (status == DP_OK)
            multiply(key, some, unit, eights, c + at * wide);
    }
    dpi_montgomery_release(key->ring, eights);
    dpi_limbs_wipe_stack();
    return status;
}

dp_status dpi_paillier_fill(const dpi_paillier_public *key, size_t count, const int64_t *m,
                            mp_limb_t *c, dp_error *err)
{
    size_t wide = 2 * key->limbs;
    mp_limb_t unit[DPI_LANES * DPI_LIMBS_MOST];
    uint64_t *eights = dpi_montgomery_alloc(key->ring, 2);
    if (eights == NULL)
        return dpi_fail_nomem(err);
    for (size_t at = 0; at < count; at += DPI_LANES) {
        size_t some = count - at < DPI_LANES ? count - at : DPI_LANES;
        dpi_paillier_encode_public(key, NULL, some, m + at, unit);
        multiply(key, some, unit, eights, c + at * wide);
    }
    dpi_montgomery_release(key->ring, eights);
    dpi_limbs_wipe_stack();
    return DP_OK;
}

/* The low bits of a number of 64, as a signed one. */
static int64_t low_bits(uint64_t number, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    number &= sign | (sign - 1);
    return (int64_t)((number ^ sign) - sign);
}

dp_status dpi_paillier_decrypt_masked(const dpi_paillier_key *key, size_t count, const mp_limb_t *c,
                                      unsigned bits, int64_t *m, dp_error *err)
{
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    mp_limb_t bad = 0;
    if (d == NULL) {
        memset(m, 0, count * sizeof *m);
        return dpi_fail_nomem(err);
    }
    for (size_t at = 0; at < count; at += DPI_LANES / 2) {
        size_t some = count - at < DPI_LANES / 2 ? count - at : DPI_LANES / 2;
        bad |= dpi_paillier_decrypt_some(key, d, some, c + at * dpi_paillier_limbs(key));
        for (size_t i = 0; i < some; i++) { /* n minus its size, where it counts as negative */
            uint64_t size = d->message[i][0], flip = 0 - d->negative[i];
            m[at + i] = low_bits((key->n[0] & flip) + ((size ^ flip) - flip), bits);
        }
    }
    dpi_paillier_desk_free(key, d);
    if (bad == 0)
        return DP_OK;
    memset(m, 0, count * sizeof *m);
    return dpi_paillier_refuse(err);
}
