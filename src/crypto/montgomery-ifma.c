/* Eight products at a time with AVX-512 IFMA: digits of 52 bits, one residue in each 64-bit lane.
 *
 * An eight is [digits][8]: digit k of all lanes is one vector.  Products are almost reduced: with
 * R = 2^(52 D) > 4 N and factors below 2 N, (a b + m N) / R < 2 N, so nothing is subtracted.
 * Four digits of b are taken at a time; the four digits of m that clear the lowest four columns
 * come first, then each column adds sixteen half products in registers.  A column sums at most 4 D
 * numbers below 2^52, which 64 bits hold for D < 1024, so carries wait until the end (Gueron and
 * Krasnov, Journal of Cryptographic Engineering 2, 2012, have lazy carries with floating vectors).
 * No instruction and no address depends on a residue. */
#include <string.h>

#include "base/compiler.h"
#include "crypto/limbs.h"
#include "crypto/montgomery.h"

enum { DIGIT = 52, ROWS = 4, LARGEST = 2 * DPI_LIMBS_MOST };

static size_t count_digits(size_t limbs)
{
    size_t digits = (limbs * DPI_LIMB_BITS + 2 + DIGIT - 1) / DIGIT;
    return (digits + ROWS - 1) / ROWS * ROWS;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define IFMA __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))
#define INLINE static inline __attribute__((always_inline)) IFMA

static bool is_usable(void)
{
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512ifma") != 0;
}

static void split(const dpi_montgomery *m, const mp_limb_t *limbs, uint64_t *one)
{
    size_t bits = m->limbs * DPI_LIMB_BITS;
    for (size_t k = 0; k < m->words; k++)
        one[k] = k * DIGIT < bits ? dpi_montgomery_window(limbs, bits, k * DIGIT, DIGIT) : 0;
}

static void join(const dpi_montgomery *m, const uint64_t *one, mp_limb_t *limbs)
{
    mpn_zero(limbs, (mp_size_t)m->limbs);
    for (size_t k = 0; k < m->digits; k++) {
        size_t limb = k * DIGIT / DPI_LIMB_BITS, shift = k * DIGIT % DPI_LIMB_BITS;
        if (limb < m->limbs)
            limbs[limb] |= one[k] << shift;
        if (shift > DPI_LIMB_BITS - DIGIT && limb + 1 < m->limbs)
            limbs[limb + 1] |= one[k] >> (DPI_LIMB_BITS - shift);
    }
}

/* Columns of an 8 by 8 matrix become rows. */
INLINE void transpose(__m512i *r)
{
    __m512i pair[8], four[8];
    DPI_UNROLL
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    DPI_UNROLL
    for (int i = 0; i < 8; i += 4) {
        DPI_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            four[i + odd] = _mm512_shuffle_i64x2(pair[i + odd], pair[i + 2 + odd], 0x88);
            four[i + 2 + odd] = _mm512_shuffle_i64x2(pair[i + odd], pair[i + 2 + odd], 0xdd);
        }
    }
    DPI_UNROLL
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0x88);
        r[i + 4] = _mm512_shuffle_i64x2(four[i], four[i + 4], 0xdd);
    }
}

IFMA static void pack(const dpi_montgomery *m, const uint64_t *const *ones, uint64_t *eight)
{
    for (size_t k = 0; k < m->words; k += 8) {
        __m512i r[8];
        DPI_UNROLL
        for (int i = 0; i < 8; i++)
            r[i] = _mm512_loadu_si512(ones[i] + k);
        transpose(r);
        DPI_UNROLL
        for (int i = 0; i < 8; i++)
            _mm512_store_si512(eight + (k + (size_t)i) * 8, r[i]);
    }
}

IFMA static void unpack(const dpi_montgomery *m, const uint64_t *eight, uint64_t *const *ones)
{
    for (size_t k = 0; k < m->words; k += 8) {
        __m512i r[8];
        DPI_UNROLL
        for (int i = 0; i < 8; i++)
            r[i] = _mm512_load_si512(eight + (k + (size_t)i) * 8);
        transpose(r);
        DPI_UNROLL
        for (int i = 0; i < 8; i++)
            _mm512_storeu_si512(ones[i] + k, r[i]);
    }
}

/* What one column sums: two chains, so that additions do not wait for each other. */
typedef struct sums {
    __m512i low, high;
} sums;

/* Four digits of b and of m. */
typedef struct digits {
    __m512i b[ROWS], m[ROWS];
} digits;

INLINE void add_low(sums *c, __m512i a, __m512i n, const digits *x, int r)
{
    c->low = _mm512_madd52lo_epu64(c->low, a, x->b[r]);
    c->high = _mm512_madd52lo_epu64(c->high, n, x->m[r]);
}

INLINE void add_high(sums *c, __m512i a, __m512i n, const digits *x, int r)
{
    c->low = _mm512_madd52hi_epu64(c->low, a, x->b[r]);
    c->high = _mm512_madd52hi_epu64(c->high, n, x->m[r]);
}

INLINE __m512i sum_of(sums c)
{
    return _mm512_add_epi64(c.low, c.high);
}

/* Column j, 0 ... 3, from the digits of m that are known; then the one that clears it.  Gives what
 * is carried out of it. */
INLINE __m512i clear_column(int j, __m512i t, const __m512i *a, const __m512i *n, __m512i inverse,
                            digits *x)
{
    const __m512i zero = _mm512_setzero_si512();
    sums c = {t, zero};
    DPI_UNROLL
    for (int r = 0; r < j; r++) {
        add_low(&c, a[j - r], n[j - r], x, r);
        add_high(&c, a[j - r - 1], n[j - r - 1], x, r);
    }
    c.low = _mm512_madd52lo_epu64(sum_of(c), a[0], x->b[j]);
    x->m[j] = _mm512_madd52lo_epu64(zero, c.low, inverse);
    c.low = _mm512_madd52lo_epu64(c.low, n[0], x->m[j]);
    return _mm512_srli_epi64(c.low, DIGIT);
}

/* Two columns that all four rows meet: j and j + 1, behind a and n. */
INLINE void add_columns(__m512i *to, const __m512i *t, const __m512i *a, const __m512i *n,
                        const digits *x)
{
    const __m512i zero = _mm512_setzero_si512();
    sums first = {t[0], zero}, second = {t[1], zero};
    add_low(&first, a[0], n[0], x, 0);
    add_low(&second, a[1], n[1], x, 0);
    add_high(&first, a[-1], n[-1], x, 0);
    add_high(&second, a[0], n[0], x, 0);
    add_low(&first, a[-1], n[-1], x, 1);
    add_low(&second, a[0], n[0], x, 1);
    add_high(&first, a[-2], n[-2], x, 1);
    add_high(&second, a[-1], n[-1], x, 1);
    add_low(&first, a[-2], n[-2], x, 2);
    add_low(&second, a[-1], n[-1], x, 2);
    add_high(&first, a[-3], n[-3], x, 2);
    add_high(&second, a[-2], n[-2], x, 2);
    add_low(&first, a[-3], n[-3], x, 3);
    add_low(&second, a[-2], n[-2], x, 3);
    add_high(&first, a[-4], n[-4], x, 3);
    add_high(&second, a[-3], n[-3], x, 3);
    to[0] = sum_of(first);
    to[1] = sum_of(second);
}

/* Column d + s, which rows above s alone meet. */
INLINE __m512i last_column(int s, const __m512i *a, const __m512i *n, const digits *x)
{
    sums c = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    add_high(&c, a[-1], n[-1], x, s);
    DPI_UNROLL
    for (int r = s + 1; r < ROWS; r++) {
        add_low(&c, a[s - r], n[s - r], x, r);
        add_high(&c, a[s - r - 1], n[s - r - 1], x, r);
    }
    return sum_of(c);
}

/* t = (t + a (four digits of b) + m n) / 2^208, with d digits, not carried. */
INLINE void add_rows(size_t d, __m512i *t, const __m512i *a, const __m512i *b, const __m512i *n,
                     __m512i inverse)
{
    digits x = {{b[0], b[1], b[2], b[3]}, {b[0], b[0], b[0], b[0]}};
    __m512i carry = clear_column(0, t[0], a, n, inverse, &x);
    carry = clear_column(1, _mm512_add_epi64(t[1], carry), a, n, inverse, &x);
    carry = clear_column(2, _mm512_add_epi64(t[2], carry), a, n, inverse, &x);
    carry = clear_column(3, _mm512_add_epi64(t[3], carry), a, n, inverse, &x);
    for (size_t j = ROWS; j < d; j += 2)
        add_columns(t + j - ROWS, t + j, a + j, n + j, &x);
    t[d - 4] = last_column(0, a + d, n + d, &x);
    t[d - 3] = last_column(1, a + d, n + d, &x);
    t[d - 2] = last_column(2, a + d, n + d, &x);
    t[d - 1] = last_column(3, a + d, n + d, &x);
    t[0] = _mm512_add_epi64(t[0], carry);
}

IFMA static void multiply(const dpi_montgomery *m, size_t lanes, const uint64_t *a,
                          const uint64_t *b, uint64_t *out)
{
    __m512i t[LARGEST];
    const __m512i inverse = _mm512_loadu_si512(m->inverse);
    const __m512i mask = _mm512_set1_epi64(((long long)1 << DIGIT) - 1);
    __m512i carry = _mm512_setzero_si512();
    if (dpi_montgomery_few(m, lanes, a, b, out))
        return;
    for (size_t k = 0; k < m->digits; k++)
        t[k] = carry;
    for (size_t k = 0; k < m->digits; k += ROWS)
        add_rows(m->digits, t, (const __m512i *)a, (const __m512i *)b + k,
                 (const __m512i *)m->modulus, inverse);
    for (size_t k = 0; k < m->digits; k++) {
        carry = _mm512_add_epi64(t[k], carry);
        _mm512_store_si512(out + 8 * k, _mm512_and_si512(carry, mask));
        carry = _mm512_srli_epi64(carry, DIGIT);
    }
    for (size_t k = m->digits; k < m->words; k++)
        _mm512_store_si512(out + 8 * k, _mm512_setzero_si512());
}

/* A table is [words / 8][entries][8 words][period]: it is read from one end to the other. */
static void put(const dpi_montgomery *m, size_t period, size_t entries, size_t entry,
                const uint64_t *eight, uint64_t *table)
{
    for (size_t k = 0; k < m->words; k++) {
        uint64_t *to = table + ((k / 8 * entries + entry) * 8 + k % 8) * period;
        memcpy(to, eight + k * DPI_LANES, period * sizeof *to);
    }
}

INLINE __m512i spread(size_t period, const uint64_t *from)
{
    if (period == 1)
        return _mm512_set1_epi64((long long)*from);
    if (period == 2)
        return _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)from));
    return _mm512_loadu_si512(from);
}

INLINE void select_of(const dpi_montgomery *m, size_t period, size_t entries, const uint64_t *table,
                      const uint64_t *index, uint64_t *eight)
{
    const __m512i wanted = _mm512_loadu_si512(index);
    for (size_t k = 0; k < m->words; k += 8) {
        __m512i kept[8];
        DPI_UNROLL
        for (size_t i = 0; i < 8; i++)
            kept[i] = _mm512_setzero_si512();
        for (size_t e = 0; e < entries; e++) {
            __mmask8 is = _mm512_cmpeq_epi64_mask(wanted, _mm512_set1_epi64((long long)e));
            const uint64_t *from = table + (k / 8 * entries + e) * 8 * period;
            DPI_UNROLL
            for (size_t i = 0; i < 8; i++)
                kept[i] = _mm512_mask_mov_epi64(kept[i], is, spread(period, from + i * period));
        }
        DPI_UNROLL
        for (size_t i = 0; i < 8; i++)
            _mm512_store_si512(eight + (k + i) * 8, kept[i]);
    }
}

IFMA static void select_entry(const dpi_montgomery *m, size_t period, size_t entries,
                              const uint64_t *table, const uint64_t *index, uint64_t *eight)
{
    if (period == 1)
        select_of(m, 1, entries, table, index, eight);
    else if (period == 2)
        select_of(m, 2, entries, table, index, eight);
    else
        select_of(m, DPI_LANES, entries, table, index, eight);
}

const dpi_montgomery_backend dpi_montgomery_ifma = {
    .name = "ifma",
    .usable = is_usable,
    .digits = count_digits,
    .digit_bits = DIGIT,
    .aligned = 8,
    .split = split,
    .join = join,
    .pack = pack,
    .unpack = unpack,
    .multiply = multiply,
    .put = put,
    .select = select_entry,
};
#else
static bool is_usable(void)
{
    return false;
}

const dpi_montgomery_backend dpi_montgomery_ifma = {
    .name = "ifma", .usable = is_usable, .digits = count_digits, .digit_bits = DIGIT, .aligned = 8};
#endif
