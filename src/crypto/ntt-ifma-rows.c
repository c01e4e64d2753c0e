/* Rows of residues place by place with AVX-512 IFMA: sums, products, sums of products. */
#include "crypto/ntt-ifma.h"

#if defined(__x86_64__)
/* Barrett's product of dpi_modulus_multiply, in 52-bit halves. */
INLINE __m512i product(__m512i a, __m512i b, const dpi_modulus *m, const vectors *k)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i down = _mm512_set1_epi64(m->bits - 2), up = _mm512_set1_epi64(54 - m->bits);
    const __m512i barrett = _mm512_set1_epi64((long long)m->barrett);
    __m512i high = _mm512_madd52hi_epu64(zero, a, b), low = _mm512_madd52lo_epu64(zero, a, b);
    __m512i x = _mm512_or_si512(_mm512_srlv_epi64(low, down), _mm512_sllv_epi64(high, up));
    __m512i quotient = _mm512_madd52hi_epu64(zero, x, barrett);
    __m512i r = _mm512_and_si512(_mm512_madd52lo_epu64(low, quotient, k->minus_q), k->mask);
    return once(once(r, k->q2), k->q);
}

IFMA void dpi_ifma_multiply(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const vectors k = vectors_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES)
        _mm512_storeu_si512(
            c + j, product(_mm512_loadu_si512(a + j), _mm512_loadu_si512(b + j), &t->m, &k));
}

IFMA void dpi_ifma_multiply_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const vectors k = vectors_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        __m512i p = product(_mm512_loadu_si512(a + j), _mm512_loadu_si512(b + j), &t->m, &k);
        _mm512_storeu_si512(c + j, once(_mm512_add_epi64(p, _mm512_loadu_si512(c + j)), k.q));
    }
}

enum { MOST_PRODUCTS = 15 };

/* Halves of sums of products: 52 bits each of the products, so together low + 2^52 high. */
typedef struct low_and_high {
    __m512i low, high;
} low_and_high;

INLINE void add_product(low_and_high *sum, __m512i x, __m512i y)
{
    sum->low = _mm512_madd52lo_epu64(sum->low, x, y);
    sum->high = _mm512_madd52hi_epu64(sum->high, x, y);
}

/* before + sum mod q of at most MOST_PRODUCTS products: the high ones, each below 2^48, stay below
 * 2^52 with what the low ones carry. */
INLINE __m512i collect(__m512i before, low_and_high sum, const factor whole[2], const vectors *k)
{
    __m512i high = _mm512_add_epi64(sum.high, _mm512_srli_epi64(sum.low, 52));
    __m512i low = by_factor(_mm512_and_si512(sum.low, k->mask), whole[0], k);
    high = once(_mm512_add_epi64(by_factor(high, whole[1], k), low), k->q2);
    return once(_mm512_add_epi64(before, once(high, k->q)), k->q);
}

IFMA void dpi_ifma_inner(const dpi_ntt *t, const dpi_ntt_terms *terms, uint64_t *c, uint64_t *d)
{
    const vectors k = vectors_of(t->m.q);
    const factor whole[2] = {same(&t->whole[0], &t->whole_beside[0]),
                             same(&t->whole[1], &t->whole_beside[1])};
    for (size_t j = 0; j < t->n; j += LANES) {
        __m512i to_c = _mm512_setzero_si512(), to_d = to_c;
        for (size_t i = 0, stop; i < terms->n; i = stop) {
            low_and_high b = {_mm512_setzero_si512(), _mm512_setzero_si512()}, e = b;
            stop = terms->n - i < MOST_PRODUCTS ? terms->n : i + MOST_PRODUCTS;
            for (size_t at = i; at < stop; at++) {
                const __m512i x = _mm512_loadu_si512(terms->a[at] + j);
                add_product(&b, x, _mm512_loadu_si512(terms->b[at] + j));
                add_product(&e, x, _mm512_loadu_si512(terms->e[at] + j));
            }
            to_c = collect(to_c, b, whole, &k);
            to_d = collect(to_d, e, whole, &k);
        }
        _mm512_storeu_si512(c + j, to_c);
        _mm512_storeu_si512(d + j, to_d);
    }
}

IFMA void dpi_ifma_weigh(const dpi_ntt *t, size_t terms, const uint64_t *const *a,
                         const uint64_t *w, uint64_t *c)
{
    const vectors k = vectors_of(t->m.q);
    const factor whole[2] = {same(&t->whole[0], &t->whole_beside[0]),
                             same(&t->whole[1], &t->whole_beside[1])};
    for (size_t j = 0; j < t->n; j += LANES) {
        __m512i to = _mm512_setzero_si512();
        for (size_t i = 0, stop; i < terms; i = stop) {
            low_and_high sum = {_mm512_setzero_si512(), _mm512_setzero_si512()};
            stop = terms - i < MOST_PRODUCTS ? terms : i + MOST_PRODUCTS;
            for (size_t at = i; at < stop; at++)
                add_product(&sum, _mm512_loadu_si512(a[at] + j),
                            _mm512_set1_epi64((long long)w[at]));
            to = collect(to, sum, whole, &k);
        }
        _mm512_storeu_si512(c + j, to);
    }
}

IFMA void dpi_ifma_scale(const dpi_ntt *t, uint64_t w, uint64_t beside, uint64_t *a)
{
    const vectors k = vectors_of(t->m.q);
    const factor f = same(&w, &beside);
    for (size_t j = 0; j < t->n; j += LANES)
        _mm512_storeu_si512(a + j, once(by_factor(_mm512_loadu_si512(a + j), f, &k), k.q));
}

IFMA void dpi_ifma_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const vectors k = vectors_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        const __m512i x = _mm512_loadu_si512(a + j), y = _mm512_loadu_si512(b + j);
        _mm512_storeu_si512(c + j, once(_mm512_add_epi64(x, y), k.q));
    }
}

IFMA void dpi_ifma_subtract(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const vectors k = vectors_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        const __m512i x = _mm512_loadu_si512(a + j), y = _mm512_loadu_si512(b + j);
        _mm512_storeu_si512(c + j, once(_mm512_sub_epi64(_mm512_add_epi64(x, k.q), y), k.q));
    }
}
#endif
