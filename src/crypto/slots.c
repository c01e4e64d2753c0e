/* Messages of several slots, as numbers of two's complement while they are put together and taken
 * apart.  Time depends on sizes alone. */
#include "crypto/slots.h"

#include <string.h>

#include "base/error.h"
#include "crypto/paillier-key.h"

enum { SLACK = 2 /* bits above the slots: the sign, and |m| < n / 2 */, MOST_BITS = 64 };

size_t dpi_slots_room(size_t key_bits, unsigned bits)
{
    return key_bits <= SLACK || bits == 0 ? 0 : (key_bits - SLACK) / bits;
}

static dp_status check_slots(const dpi_paillier_key *key, dpi_slots slots, dp_error *err)
{
    size_t n_bits = dpi_limbs_bits(2 * key->half, key->n);
    if (slots.bits >= 2 && slots.bits <= MOST_BITS && slots.count >= 1 &&
        slots.count <= dpi_slots_room(n_bits, slots.bits))
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "%zu slots of %u bits in a key of %zu bits; 2 to %d bits a slot, together at "
                    "most %zu",
                    slots.count, slots.bits, n_bits, (int)MOST_BITS, n_bits - SLACK);
}

/* 1 where |v| > most. */
static uint64_t is_beyond(int64_t v, int64_t most)
{
    uint64_t sign = (uint64_t)v >> 63, magnitude = ((uint64_t)v ^ (0 - sign)) + sign;
    return magnitude > (uint64_t)most;
}

/* Negates a number of two's complement where flag is 1. */
static void negate_if(mp_limb_t flag, size_t n, mp_limb_t *a)
{
    mp_limb_t carry = flag;
    for (size_t i = 0; i < n; i++) {
        a[i] = (a[i] ^ (0 - flag)) + carry;
        carry &= a[i] == 0;
    }
}

/* a += v 2^at, for a of n limbs in two's complement. */
static void add_at(size_t n, mp_limb_t *a, size_t at, int64_t v)
{
    size_t limb = at / DPI_LIMB_BITS, shift = at % DPI_LIMB_BITS;
    mp_limb_t filling = 0 - ((uint64_t)v >> 63), below = (uint64_t)v << shift;
    mp_limb_t above =
        shift == 0 ? filling : (uint64_t)v >> (DPI_LIMB_BITS - shift) | filling << shift;
    mp_limb_t carry = 0;
    for (size_t i = limb; i < n; i++) {
        mp_limb_t term = i == limb ? below : i == limb + 1 ? above : filling;
        mp_limb_t sum = a[i] + carry;
        carry = sum < carry;
        a[i] = sum + term;
        carry |= a[i] < sum;
    }
}

/* The lowest slot of a, with its sign. */
static int64_t lowest(const mp_limb_t *a, unsigned bits)
{
    uint64_t high = (uint64_t)1 << (bits - 1), mask = high | (high - 1);
    return (int64_t)(((a[0] & mask) ^ high) - high);
}

/* a / 2^bits, rounded down, in two's complement. */
static void shift_down(size_t n, mp_limb_t *a, unsigned bits)
{
    mp_limb_t filling = 0 - (a[n - 1] >> (DPI_LIMB_BITS - 1));
    for (size_t i = 0; i < n; i++) {
        mp_limb_t above = i + 1 < n ? a[i + 1] : filling;
        a[i] = bits == DPI_LIMB_BITS ? above : a[i] >> bits | above << (DPI_LIMB_BITS - bits);
    }
}

dp_status dpi_slots_encrypt(const dpi_paillier_key *key, dpi_slots slots, size_t count,
                            const int64_t *m, mp_limb_t *c, dp_error *err)
{
    size_t limbs = 2 * key->half;
    uint64_t beyond = 0;
    dp_status status = check_slots(key, slots, err);
    if (status != DP_OK)
        return status;
    int64_t most = (int64_t)(((uint64_t)1 << (slots.bits - 1)) - 1);
    for (size_t i = 0; i < count * slots.count; i++)
        beyond |= is_beyond(m[i], most);
    if (beyond != 0)
        return dpi_fail(err, DP_EDOMAIN, "a number does not fit a slot of %u bits with its sign",
                        slots.bits);
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    if (d == NULL)
        return dpi_fail_nomem(err);
    for (size_t at = 0; at < count && status == DP_OK; at += DPI_PAILLIER_TOGETHER) {
        size_t some = count - at < DPI_PAILLIER_TOGETHER ? count - at : DPI_PAILLIER_TOGETHER;
        for (size_t i = 0; i < some; i++) {
            mpn_zero(d->message[i], (mp_size_t)limbs);
            for (size_t j = 0; j < slots.count; j++)
                add_at(limbs, d->message[i], j * slots.bits, m[(at + i) * slots.count + j]);
            d->negative[i] = d->message[i][limbs - 1] >> (DPI_LIMB_BITS - 1);
            negate_if(d->negative[i], limbs, d->message[i]);
        }
        status = dpi_paillier_encrypt_some(key, d, some, c + at * dpi_paillier_limbs(key), err);
    }
    dpi_paillier_desk_free(key, d);
    return status;
}

/* The slots of a message, |m| and its sign; not 0 when it is none. */
static uint64_t take_apart(dpi_slots slots, size_t limbs, mp_limb_t negative, mp_limb_t *message,
                           int64_t bound, int64_t *m)
{
    uint64_t bad = 0;
    negate_if(negative, limbs, message);
    for (size_t j = 0; j < slots.count; j++) {
        m[j] = lowest(message, slots.bits);
        bad |= is_beyond(m[j], bound);
        /* What is left after v is taken away is a multiple of the slot: it borrows where v < 0. */
        uint64_t borrow = (uint64_t)m[j] >> 63;
        shift_down(limbs, message, slots.bits);
        for (size_t i = 0; i < limbs; i++) {
            message[i] += borrow;
            borrow &= message[i] == 0;
        }
    }
    return bad | !dpi_limbs_are_zero(limbs, message);
}

dp_status dpi_slots_decrypt(const dpi_paillier_key *key, dpi_slots slots, size_t count,
                            const mp_limb_t *c, int64_t bound, int64_t *m, dp_error *err)
{
    dp_status status = check_slots(key, slots, err);
    uint64_t bad = 0;
    if (status != DP_OK)
        return status;
    if (bound < 0 || is_beyond(bound, (int64_t)(((uint64_t)1 << (slots.bits - 1)) - 1)))
        return dpi_fail(err, DP_EINVAL, "a bound that does not fit a slot of %u bits", slots.bits);
    dpi_paillier_desk *d = dpi_paillier_desk_new(key);
    if (d == NULL)
        return dpi_fail_nomem(err);
    for (size_t at = 0; at < count; at += DPI_PAILLIER_TOGETHER) {
        size_t some = count - at < DPI_PAILLIER_TOGETHER ? count - at : DPI_PAILLIER_TOGETHER;
        bad |= dpi_paillier_decrypt_some(key, d, some, c + at * dpi_paillier_limbs(key));
        for (size_t i = 0; i < some; i++)
            bad |= take_apart(slots, 2 * key->half, d->negative[i], d->message[i], bound,
                              m + (at + i) * slots.count);
    }
    dpi_paillier_desk_free(key, d);
    if (bad == 0)
        return DP_OK;
    memset(m, 0, count * slots.count * sizeof *m);
    return dpi_paillier_refuse(err);
}
