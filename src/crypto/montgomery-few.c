/* Products of one to four lanes with AVX-512 IFMA: the digits of one residue side by side in
 * vectors, where montgomery-ifma.c has a digit of eight residues in each.
 *
 * A digit of b at a time: the sum takes a b_i, then the multiple of N that clears its lowest digit,
 * and moves down by one.  A column takes four numbers below 2^52 in each of at most `digits` steps,
 * so carries wait until the end, as they do there; R and the bounds are the same.  Each step waits
 * for the last one's lowest digit, so two lanes take turns where registers suffice.  No instruction
 * and no address depends on a residue. */
#include "base/compiler.h"
#include "crypto/limbs.h"
#include "crypto/montgomery.h"

enum { DIGIT = 52, FEW = 4, TWO_AT_MOST = 8 /* vectors of a residue */ };

#if defined(__x86_64__)
#include <immintrin.h>

#define IFMA __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))
#define INLINE static inline __attribute__((always_inline)) IFMA

/* sum = (sum + a b + q N) / 2^52 with the q that makes it whole; v vectors each, b everywhere. */
INLINE void take_digit(int v, __m512i *sum, const __m512i *a, const __m512i *n, __m512i b,
                       __m512i inverse)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i low = _mm512_madd52lo_epu64(zero, a[0], b), high = _mm512_madd52hi_epu64(zero, a[0], b);
    sum[0] = _mm512_add_epi64(sum[0], low);
    __m512i q = _mm512_madd52lo_epu64(zero, sum[0], inverse);
    q = _mm512_broadcastq_epi64(_mm512_castsi512_si128(q));
    DPI_UNROLL_LONG
    for (int j = 1; j < v; j++)
        sum[j] = _mm512_madd52lo_epu64(sum[j], a[j], b);
    DPI_UNROLL_LONG
    for (int j = 0; j < v; j++)
        sum[j] = _mm512_madd52lo_epu64(sum[j], n[j], q);
    __m512i carry = _mm512_maskz_srli_epi64(1, sum[0], DIGIT);
    DPI_UNROLL_LONG
    for (int j = 0; j + 1 < v; j++)
        sum[j] = _mm512_alignr_epi64(sum[j + 1], sum[j], 1);
    sum[v - 1] = _mm512_alignr_epi64(zero, sum[v - 1], 1);
    sum[0] = _mm512_add_epi64(sum[0], _mm512_add_epi64(high, carry));
    DPI_UNROLL_LONG
    for (int j = 1; j < v; j++)
        sum[j] = _mm512_madd52hi_epu64(sum[j], a[j], b);
    DPI_UNROLL_LONG
    for (int j = 0; j < v; j++)
        sum[j] = _mm512_madd52hi_epu64(sum[j], n[j], q);
}

INLINE void clear(int v, __m512i *sum)
{
    DPI_UNROLL_LONG
    for (int j = 0; j < v; j++)
        sum[j] = _mm512_setzero_si512();
}

/* Carries, and writes into a lane. */
INLINE void put_lane(int v, const __m512i *sum, uint64_t *lane)
{
    uint64_t digit[8 * 16], carry = 0;
    DPI_UNROLL_LONG
    for (int j = 0; j < v; j++)
        _mm512_storeu_si512(digit + 8 * j, sum[j]);
    for (int k = 0; k < 8 * v; k++) {
        carry += digit[k];
        lane[DPI_LANES * k] = carry & (((uint64_t)1 << DIGIT) - 1);
        carry >>= DIGIT;
    }
}

/* Two lanes side by side of an eight, each into vectors of its own. */
INLINE void get_lanes(int v, const uint64_t *lane, __m512i *first, __m512i *second)
{
    for (int j = 0; j < v; j++) {
        __m128i pair[8];
        DPI_UNROLL
        for (int i = 0; i < 8; i++)
            pair[i] = _mm_loadu_si128((const __m128i *)(lane + DPI_LANES * (8 * j + i)));
        __m512i one = _mm512_setzero_si512(), other = one;
#define PUT(i)                                                                                     \
    one = _mm512_inserti64x2(one, _mm_unpacklo_epi64(pair[2 * (i)], pair[2 * (i) + 1]), i);        \
    other = _mm512_inserti64x2(other, _mm_unpackhi_epi64(pair[2 * (i)], pair[2 * (i) + 1]), i)
        PUT(0);
        PUT(1);
        PUT(2);
        PUT(3);
#undef PUT
        first[j] = one;
        second[j] = other;
    }
}

INLINE __m512i everywhere(uint64_t number)
{
    return _mm512_set1_epi64((long long)number);
}

INLINE void multiply_one(int v, const dpi_montgomery *m, size_t lane, const __m512i *a,
                         const uint64_t *b, uint64_t *out)
{
    __m512i sum[16];
    const __m512i *n = (const __m512i *)(m->apart + lane * m->words);
    clear(v, sum);
    for (size_t i = 0; i < m->digits; i++)
        take_digit(v, sum, a, n, everywhere(b[DPI_LANES * i + lane]), everywhere(m->inverse[lane]));
    put_lane(v, sum, out + lane);
}

INLINE void multiply_two(int v, const dpi_montgomery *m, size_t lane, __m512i (*a)[16],
                         const uint64_t *b, uint64_t *out)
{
    __m512i first[TWO_AT_MOST], second[TWO_AT_MOST];
    const __m512i *n = (const __m512i *)(m->apart + lane * m->words);
    clear(v, first);
    clear(v, second);
    for (size_t i = 0; i < m->digits; i++) {
        const uint64_t *at = b + DPI_LANES * i + lane;
        take_digit(v, first, a[0], n, everywhere(at[0]), everywhere(m->inverse[lane]));
        take_digit(v, second, a[1], n + v, everywhere(at[1]), everywhere(m->inverse[lane + 1]));
    }
    put_lane(v, first, out + lane);
    put_lane(v, second, out + lane + 1);
}

INLINE void multiply_lanes(int v, const dpi_montgomery *m, size_t lanes, const uint64_t *a,
                           const uint64_t *b, uint64_t *out)
{
    for (size_t lane = 0; lane < lanes; lane += 2) {
        __m512i pair[2][16];
        get_lanes(v, a + lane, pair[0], pair[1]);
        if (v <= TWO_AT_MOST && lane + 1 < lanes) {
            multiply_two(v <= TWO_AT_MOST ? v : 1, m, lane, pair, b, out);
            continue;
        }
        multiply_one(v, m, lane, pair[0], b, out);
        if (lane + 1 < lanes)
            multiply_one(v, m, lane + 1, pair[1], b, out);
    }
}

/* Squares of numbers of 1024 and 1536 bits, and of 2048 and 3072: those of keys. */
IFMA bool dpi_montgomery_few(const dpi_montgomery *m, size_t lanes, const uint64_t *a,
                             const uint64_t *b, uint64_t *out)
{
    if (lanes > FEW)
        return false;
    switch (m->words / 8) {
    case 5:
        multiply_lanes(5, m, lanes, a, b, out);
        return true;
    case 8:
        multiply_lanes(8, m, lanes, a, b, out);
        return true;
    case 10:
        multiply_lanes(10, m, lanes, a, b, out);
        return true;
    case 15:
        multiply_lanes(15, m, lanes, a, b, out);
        return true;
    default:
        return false;
    }
}
#else
bool dpi_montgomery_few(const dpi_montgomery *m, size_t lanes, const uint64_t *a, const uint64_t *b,
                        uint64_t *out)
{
    (void)m, (void)lanes, (void)a, (void)b, (void)out;
    return false;
}
#endif
