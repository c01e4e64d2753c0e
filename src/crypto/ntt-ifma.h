/* What the kernel of AVX-512 IFMA is made of: eight residues a vector, 52-bit products; and its rows
 * (ntt-ifma-rows.c), as dpi_ntt_kernel has them. */
#ifndef DPI_CRYPTO_NTT_IFMA_H
#define DPI_CRYPTO_NTT_IFMA_H

#include "crypto/ntt.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define IFMA __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))
#define INLINE static inline __attribute__((always_inline)) IFMA

enum { LANES = 8 };

typedef struct factor {
    __m512i w, beside;
} factor;

typedef struct vectors {
    __m512i q, q2, minus_q, mask;
} vectors;

INLINE vectors vectors_of(uint64_t q)
{
    const __m512i mask = _mm512_set1_epi64((1LL << 52) - 1);
    return (vectors){_mm512_set1_epi64((long long)q), _mm512_set1_epi64((long long)(2 * q)),
                     _mm512_set1_epi64((1LL << 52) - (long long)q), mask};
}

INLINE factor same(const uint64_t *w, const uint64_t *beside)
{
    return (factor){_mm512_set1_epi64((long long)*w), _mm512_set1_epi64((long long)*beside)};
}

/* a - q where a >= q, else a. */
INLINE __m512i once(__m512i a, __m512i q)
{
    return _mm512_min_epu64(a, _mm512_sub_epi64(a, q));
}

/* y w mod q in [0, 2q), y < 2^52. */
INLINE __m512i by_factor(__m512i y, factor f, const vectors *k)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i quotient = _mm512_madd52hi_epu64(zero, y, f.beside);
    __m512i low = _mm512_madd52lo_epu64(zero, y, f.w);
    return _mm512_and_si512(_mm512_madd52lo_epu64(low, quotient, k->minus_q), k->mask);
}

void dpi_ifma_multiply(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
void dpi_ifma_multiply_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
void dpi_ifma_inner(const dpi_ntt *t, const dpi_ntt_terms *terms, uint64_t *c, uint64_t *d);
void dpi_ifma_weigh(const dpi_ntt *t, size_t terms, const uint64_t *const *a, const uint64_t *w,
                    uint64_t *c);
void dpi_ifma_scale(const dpi_ntt *t, uint64_t w, uint64_t beside, uint64_t *a);
void dpi_ifma_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);
void dpi_ifma_subtract(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c);

#endif

#endif
