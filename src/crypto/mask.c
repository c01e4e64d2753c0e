#include "crypto/mask.h"

#include <string.h>

#include "base/error.h"
#include "crypto/paillier-key.h"

enum { HALF_MOST = DPI_LIMBS_MOST / 2 };

size_t dpi_mask_slots(size_t key_bits, unsigned bits)
{
    return key_bits > DPI_MASK_SLACK + 1 ? (key_bits - 1 - DPI_MASK_SLACK) / bits : 0;
}

/* to[n] = from[n] 2^by or from / 2^by, rounded down and without what passes the n limbs. */
static void shift_up(size_t n, const mp_limb_t *from, size_t by, mp_limb_t *to)
{
    size_t limbs = by / DPI_LIMB_BITS, bits = by % DPI_LIMB_BITS;
    for (size_t i = n; i-- > 0;) {
        mp_limb_t high = i >= limbs ? from[i - limbs] : 0;
        mp_limb_t low = i > limbs ? from[i - limbs - 1] : 0;
        to[i] = bits == 0 ? high : high << bits | low >> (DPI_LIMB_BITS - bits);
    }
}

static void shift_down(size_t n, const mp_limb_t *from, size_t by, mp_limb_t *to)
{
    size_t limbs = by / DPI_LIMB_BITS, bits = by % DPI_LIMB_BITS;
    for (size_t i = 0; i < n; i++) {
        mp_limb_t low = i + limbs < n ? from[i + limbs] : 0;
        mp_limb_t high = i + limbs + 1 < n ? from[i + limbs + 1] : 0;
        to[i] = bits == 0 ? low : low >> bits | high << (DPI_LIMB_BITS - bits);
    }
}

/* ---- units: encryptions without randomness ---- */

/* number[n] = r 2^low, r uniform below floor((n - 1) / 2^low) + 1. */
static dp_status draw_mask(const dpi_paillier_public *key, size_t low, mp_limb_t *number,
                           dp_error *err)
{
    size_t n = key->limbs, limbs = n;
    mp_limb_t top[HALF_MOST], wide[HALF_MOST + 1], r[HALF_MOST];
    shift_down(n, key->n, low, top); /* n is odd */
    (void)mpn_add_1(top, top, (mp_size_t)n, 1);
    while (limbs > 1 && top[limbs - 1] == 0)
        limbs--;
    /* 64 bits more than n has: the remainder is uniform but for 2^-64 in all. */
    dp_status status = dpi_limbs_random(NULL, (n + 1) * sizeof *wide, wide, err);
    if (status != DP_OK)
        return status;
    mpn_zero(r, (mp_size_t)n);
    dpi_limbs_mod(n + 1, wide, limbs, top, r);
    shift_up(n, r, low, number);
    return DP_OK;
}

/* unit = 1 + n m of the message that brings `count` numbers above 0 and masks what is beyond. */
static dp_status make_unit(const dpi_paillier_public *key, size_t count, unsigned bits, bool bare,
                           mp_limb_t *unit, dp_error *err)
{
    size_t n = key->limbs;
    mp_limb_t number[HALF_MOST] = {0};
    dp_status status = bare ? DP_OK : draw_mask(key, count * bits, number, err);
    for (size_t j = 0; j < count; j++) {
        size_t at = bits * j + bits - 1;
        number[at / DPI_LIMB_BITS] |= (mp_limb_t)1 << at % DPI_LIMB_BITS;
    }
    dpi_limbs_mul(n, number, n, key->n, unit);
    (void)mpn_add_1(unit, unit, (mp_size_t)(2 * n), 1);
    return status;
}

static void enter(const dpi_paillier_public *key, size_t lanes, const mp_limb_t *numbers,
                  uint64_t *eight)
{
    const mp_limb_t *number[DPI_LANES];
    for (size_t i = 0; i < lanes; i++)
        number[i] = numbers + i * 2 * key->limbs;
    dpi_montgomery_enter(key->ring, lanes, number, eight);
}

static void leave(const dpi_paillier_public *key, size_t lanes, const uint64_t *eight,
                  mp_limb_t *numbers)
{
    mp_limb_t *number[DPI_LANES];
    for (size_t i = 0; i < lanes; i++)
        number[i] = numbers + i * 2 * key->limbs;
    dpi_montgomery_leave(key->ring, lanes, eight, number);
}

/* ---- packing ---- */

/* Ciphertexts that are packed: c[count]. */
typedef struct packing {
    const dpi_packing *how;
    size_t count;
    const mp_limb_t *c;
} packing;

/* How many stand in result `at`. */
static size_t numbers_in(const packing *p, size_t at)
{
    size_t slots = p->how->slots, left = p->count - at * slots;
    return left < slots ? left : slots;
}

/* sum *= encryptions of zero; room[1] and numbers[lanes]. */
static dp_status hide(const dpi_packing *how, size_t lanes, uint64_t *sum, uint64_t *room,
                      mp_limb_t *numbers, dp_error *err)
{
    dp_status status = dpi_zeros_take(how->zeros, lanes, numbers, err);
    if (status != DP_OK)
        return status;
    enter(how->key, lanes, numbers, room);
    dpi_montgomery_multiply(how->key->ring, lanes, sum, room, sum);
    return DP_OK;
}

/* eight = number j of results first ... first + lanes - 1, 1 where the last has so many not. */
static void enter_numbers(const packing *p, size_t first, size_t j, size_t lanes,
                          mp_limb_t *numbers, uint64_t *eight)
{
    size_t wide = 2 * p->how->key->limbs;
    for (size_t i = 0; i < lanes; i++) {
        const mp_limb_t *from = p->c + ((first + i) * p->how->slots + j) * wide;
        mpn_zero(numbers + i * wide, (mp_size_t)wide);
        numbers[i * wide] = 1;
        if (j < numbers_in(p, first + i))
            mpn_copyi(numbers + i * wide, from, (mp_size_t)wide);
    }
    enter(p->how->key, lanes, numbers, eight);
}

/* Results first ... first + lanes - 1 by Horner's rule, the last number first, side by side in
 * lanes; room[3] eights. */
static dp_status pack_some(const packing *p, size_t first, size_t lanes, uint64_t *room,
                           mp_limb_t *packed, dp_error *err)
{
    const dpi_packing *how = p->how;
    const dpi_paillier_public *key = how->key;
    size_t wide = 2 * key->limbs, eight = dpi_montgomery_eight(key->ring);
    uint64_t *sum = room, *next = room + eight;
    mp_limb_t numbers[DPI_LANES * DPI_LIMBS_MOST];
    dp_status status = DP_OK;
    for (size_t i = 0; status == DP_OK && i < lanes; i++)
        status =
            make_unit(key, numbers_in(p, first + i), how->bits, how->bare, numbers + i * wide, err);
    if (status != DP_OK)
        return status;
    enter(key, lanes, numbers, room + 2 * eight);
    size_t last = numbers_in(p, first) - 1; /* none after it has more */
    enter_numbers(p, first, last, lanes, numbers, sum);
    for (size_t j = last; j-- > 0;) {
        for (unsigned k = 0; k < how->bits; k++)
            dpi_montgomery_multiply(key->ring, lanes, sum, sum, sum);
        enter_numbers(p, first, j, lanes, numbers, next);
        dpi_montgomery_multiply(key->ring, lanes, sum, next, sum);
    }
    dpi_montgomery_multiply(key->ring, lanes, sum, room + 2 * eight, sum);
    if (how->zeros != NULL)
        status = hide(how, lanes, sum, next, numbers, err);
    if (status == DP_OK)
        leave(key, lanes, sum, packed + first * wide);
    return status;
}

dp_status dpi_paillier_pack(const dpi_packing *how, size_t count, const mp_limb_t *c,
                            mp_limb_t *packed, dp_error *err)
{
    const packing p = {.how = how, .count = count, .c = c};
    const dpi_paillier_public *key = how->key;
    size_t slots = how->slots;
    if (how->bits < 2 || how->bits > DPI_MASK_BITS || slots < 1 ||
        slots > dpi_mask_slots(key->limbs * DPI_LIMB_BITS, how->bits))
        return dpi_fail(err, DP_EINVAL, "so many numbers of %u bits are not packed into one",
                        how->bits);
    uint64_t *room = dpi_montgomery_alloc(key->ring, 3);
    if (room == NULL)
        return dpi_fail_nomem(err);
    size_t results = (count + slots - 1) / slots;
    dp_status status = DP_OK;
    for (size_t at = 0; status == DP_OK && at < results; at += DPI_LANES)
        status = pack_some(&p, at, results - at < DPI_LANES ? results - at : DPI_LANES, room,
                           packed, err);
    dpi_montgomery_release(key->ring, room);
    dpi_limbs_wipe_stack();
    return status;
}

/* ---- unpacking ---- */

/* Numbers 0 ... count - 1 of a sum of n limbs. */
static void take_numbers(size_t n, const mp_limb_t *sum, unsigned bits, size_t count, int64_t *m)
{
    const uint64_t half = UINT64_C(1) << (bits - 1), mask = half | (half - 1);
    for (size_t j = 0; j < count; j++) {
        size_t limb = j * bits / DPI_LIMB_BITS, shift = j * bits % DPI_LIMB_BITS;
        uint64_t low = sum[limb] >> shift;
        uint64_t high = shift > 0 && limb + 1 < n ? sum[limb + 1] << (DPI_LIMB_BITS - shift) : 0;
        m[j] = (int64_t)(((low | high) & mask) - half);
    }
}

dp_status dpi_paillier_unpack(const dpi_paillier_key *key, size_t slots, unsigned bits,
                              size_t count, const mp_limb_t *packed, int64_t *m, dp_error *err)
{
    const size_t n = 2 * key->half, results = (count + slots - 1) / slots;
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    mp_limb_t bad = 0, other[2 * DPI_PAILLIER_HALF];
    if (d == NULL) {
        memset(m, 0, count * sizeof *m);
        return dpi_fail_nomem(err);
    }
    for (size_t at = 0; at < results; at += DPI_PAILLIER_TOGETHER) {
        size_t some = results - at < DPI_PAILLIER_TOGETHER ? results - at : DPI_PAILLIER_TOGETHER;
        bad |= dpi_paillier_decrypt_some(key, d, some, packed + at * dpi_paillier_limbs(key));
        for (size_t i = 0; i < some; i++) { /* n less its size, where it counts as negative */
            size_t first = (at + i) * slots, left = count - first;
            (void)mpn_sub_n(other, key->n, d->message[i], (mp_size_t)n);
            mpn_cnd_swap(d->negative[i], d->message[i], other, (mp_size_t)n);
            take_numbers(n, d->message[i], bits, left < slots ? left : slots, m + first);
        }
    }
    dpi_paillier_desk_free(key, d);
    dpi_limbs_wipe_stack();
    if (bad == 0)
        return DP_OK;
    memset(m, 0, count * sizeof *m);
    return dpi_paillier_refuse(err);
}
