/* The number-theoretic transform with AVX-512 IFMA: eight residues a vector, 52-bit products.
 *
 * The same butterflies as in ntt.c, with w' = floor(w 2^52 / q): for y < 2^52, y w - floor(y w' /
 * 2^52) q lies in [0, 2q), and its low 52 bits are all of it since q < 2^50.  Two stages go over
 * memory at once while the distance allows; the last three, of distances 4, 2 and 1, work within
 * pairs of vectors. Residues are reduced to [0, q) at the end, so results are those of the
 * portable kernel.
 *
 * Where q < 2^46, stages forward are lazy: x + T and x + 2q - T, T in [0, 2q), are left as they are,
 * as from [0, q) they are below (1 + 2 * 17) q < 2^52 after all stages, and only their low 52 bits
 * count, so that T is not masked. */
#include "crypto/ntt-ifma.h"
#include "base/compiler.h"

#if defined(__x86_64__)
enum { MOST_ABREAST = 4, LAZY_BITS = 46 };

/* Butterflies of `count` pairs, all of them step by step: schedulers that see a pair's chain alone
 * would wait for it.  Values below 4q stay below 4q, or lazily grow by 2q. */
INLINE void forward_butterflies(size_t count, __m512i *const *x, __m512i *const *y, const factor *f,
                                bool lazy, const vectors *k)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i quotient[MOST_ABREAST], product[MOST_ABREAST], u[MOST_ABREAST];
    DPI_UNROLL
    for (size_t i = 0; i < count; i++)
        quotient[i] = _mm512_madd52hi_epu64(zero, *y[i], f[i].beside);
    DPI_UNROLL
    for (size_t i = 0; i < count; i++) {
        product[i] = _mm512_madd52lo_epu64(zero, *y[i], f[i].w);
        u[i] = lazy ? *x[i] : once(*x[i], k->q2);
    }
    DPI_UNROLL
    for (size_t i = 0; i < count; i++) {
        __m512i v = _mm512_madd52lo_epu64(product[i], quotient[i], k->minus_q);
        v = lazy ? v : _mm512_and_si512(v, k->mask);
        *x[i] = _mm512_add_epi64(u[i], v);
        *y[i] = _mm512_sub_epi64(_mm512_add_epi64(u[i], k->q2), v);
    }
}

/* Values below 2q stay below 2q. */
INLINE void inverse_butterfly(__m512i *x, __m512i *y, factor f, const vectors *k)
{
    __m512i u = *x, v = *y;
    *x = once(_mm512_add_epi64(u, v), k->q2);
    *y = by_factor(_mm512_sub_epi64(_mm512_add_epi64(u, k->q2), v), f, k);
}

/* Stages of `blocks` and 2 blocks blocks, distances 2 step and step. */
INLINE void forward_two(const dpi_ntt *t, uint64_t *a, size_t blocks, bool lazy, const vectors *k)
{
    const size_t step = t->n / (4 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const size_t g = 2 * (blocks + i);
        const factor f = same(t->root + blocks + i, t->root_beside + blocks + i);
        const factor first[] = {f, f};
        const factor second[] = {same(t->root + g, t->root_beside + g),
                                 same(t->root + g + 1, t->root_beside + g + 1)};
        uint64_t *at = a + 4 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m512i x0 = _mm512_loadu_si512(at), x1 = _mm512_loadu_si512(at + step);
            __m512i x2 = _mm512_loadu_si512(at + 2 * step), x3 = _mm512_loadu_si512(at + 3 * step);
            forward_butterflies(2, (__m512i *const[]){&x0, &x1}, (__m512i *const[]){&x2, &x3},
                                first, lazy, k);
            forward_butterflies(2, (__m512i *const[]){&x0, &x2}, (__m512i *const[]){&x1, &x3},
                                second, lazy, k);
            _mm512_storeu_si512(at, x0);
            _mm512_storeu_si512(at + step, x1);
            _mm512_storeu_si512(at + 2 * step, x2);
            _mm512_storeu_si512(at + 3 * step, x3);
        }
    }
}

INLINE void forward_one(const dpi_ntt *t, uint64_t *a, size_t blocks, bool lazy, const vectors *k)
{
    const size_t step = t->n / (2 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const factor f = same(t->root + blocks + i, t->root_beside + blocks + i);
        uint64_t *at = a + 2 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m512i x = _mm512_loadu_si512(at), y = _mm512_loadu_si512(at + step);
            forward_butterflies(1, (__m512i *const[]){&x}, (__m512i *const[]){&y}, &f, lazy, k);
            _mm512_storeu_si512(at, x);
            _mm512_storeu_si512(at + step, y);
        }
    }
}

/* The two halves of a pair of vectors whose butterflies are of distance 4, 2 and 1: which of the
 * sixteen values, place by place. */
#define X4 _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0)
#define Y4 _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4)
/* From the order of distance 4 to that of 2, from 2 to 1, and from 1 to the natural one.  Each but
 * the last is its own inverse. */
#define X2 _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0)
#define Y2 _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2)
#define X1 _mm512_set_epi64(14, 6, 12, 4, 10, 2, 8, 0)
#define Y1 _mm512_set_epi64(15, 7, 13, 5, 11, 3, 9, 1)
#define EVEN _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0)
#define ODD _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1)
#define PAIRS _mm512_set_epi64(1, 1, 1, 1, 0, 0, 0, 0)
#define FOURS _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0)

INLINE void rearrange(__m512i *x, __m512i *y, __m512i to_x, __m512i to_y)
{
    __m512i u = *x, v = *y;
    *x = _mm512_permutex2var_epi64(u, to_x, v);
    *y = _mm512_permutex2var_epi64(u, to_y, v);
}

INLINE factor spread(const uint64_t *w, const uint64_t *beside, size_t at, __m512i how)
{
    __m512i a = _mm512_zextsi256_si512(_mm256_loadu_si256((const void *)(w + at)));
    __m512i b = _mm512_zextsi256_si512(_mm256_loadu_si256((const void *)(beside + at)));
    return (factor){_mm512_permutexvar_epi64(how, a), _mm512_permutexvar_epi64(how, b)};
}

INLINE factor spread_pair(const uint64_t *w, const uint64_t *beside, size_t at, __m512i how)
{
    __m512i a = _mm512_zextsi128_si512(_mm_loadu_si128((const void *)(w + at)));
    __m512i b = _mm512_zextsi128_si512(_mm_loadu_si128((const void *)(beside + at)));
    return (factor){_mm512_permutexvar_epi64(how, a), _mm512_permutexvar_epi64(how, b)};
}

INLINE factor eight(const uint64_t *w, const uint64_t *beside, size_t at)
{
    return (factor){_mm512_loadu_si512(w + at), _mm512_loadu_si512(beside + at)};
}

/* Forward, shuffles of two operands do, which are quicker here than permutations by index, the last
 * but one excepted.  With (A0 ... A7) and (B0 ... B7) for a pair, it becomes, for distance 4,
 * (A0 A1 A2 A3 B0 B1 B2 B3) and what is 4 further; for 2 (A0 A1 B0 B1 A4 A5 B4 B5); for 1
 * (A0 A2 B0 B2 A4 A6 B4 B6), and by BACK_LOW and BACK_HIGH what it was. */
#define BACK_LOW _mm512_set_epi64(13, 5, 12, 4, 9, 1, 8, 0)
#define BACK_HIGH _mm512_set_epi64(15, 7, 14, 6, 11, 3, 10, 2)
enum {
    LOW_LANES = 0x44,
    HIGH_LANES = 0xee,
    EVEN_LANES = 0x88,
    ODD_LANES = 0xdd,
    SWAP_LANES = 0xd8
};

/* In each half of a vector, what its pairs of places have at 0, and at 1. */
INLINE __m512i halves(__m512i x)
{
    return _mm512_castpd_si512(_mm512_permute_pd(_mm512_castsi512_pd(x), 0xf0));
}

INLINE factor factors_4(const dpi_ntt *t, size_t at)
{
    const __m128i w = _mm_loadu_si128((const void *)(t->root + at));
    const __m128i beside = _mm_loadu_si128((const void *)(t->root_beside + at));
    return (factor){halves(_mm512_broadcast_i64x2(w)), halves(_mm512_broadcast_i64x2(beside))};
}

INLINE factor factors_2(const dpi_ntt *t, size_t at)
{
    const __m256i w = _mm256_loadu_si256((const void *)(t->root + at));
    const __m256i beside = _mm256_loadu_si256((const void *)(t->root_beside + at));
    return (factor){halves(_mm512_broadcast_i64x4(w)), halves(_mm512_broadcast_i64x4(beside))};
}

INLINE factor factors_1(const dpi_ntt *t, size_t at)
{
    const factor f = eight(t->root, t->root_beside, at);
    return (factor){_mm512_shuffle_i64x2(f.w, f.w, SWAP_LANES),
                    _mm512_shuffle_i64x2(f.beside, f.beside, SWAP_LANES)};
}

/* The stage of distance 1, to [0, q). */
INLINE void forward_end(const dpi_ntt *t, __m512i *x, __m512i *y, factor f, bool lazy,
                        const vectors *k)
{
    const __m512i u =
        lazy ? by_factor(*x, same(&t->whole[0], &t->whole_beside[0]), k) : once(*x, k->q2);
    const __m512i v = by_factor(*y, f, k);
    *x = once(once(_mm512_add_epi64(u, v), k->q2), k->q);
    *y = once(once(_mm512_sub_epi64(_mm512_add_epi64(u, k->q2), v), k->q2), k->q);
}

/* The last three stages of `count` pairs of vectors, pair i on. */
INLINE void forward_pairs(const dpi_ntt *t, uint64_t *a, size_t i, size_t count, bool lazy,
                          const vectors *k)
{
    const size_t n = t->n;
    __m512i x[MOST_ABREAST], y[MOST_ABREAST], *to_x[MOST_ABREAST], *to_y[MOST_ABREAST];
    factor f[MOST_ABREAST];
    a += 2 * LANES * i;
    DPI_UNROLL
    for (size_t j = 0; j < count; j++) {
        const __m512i u = _mm512_loadu_si512(a + 2 * j * LANES);
        const __m512i v = _mm512_loadu_si512(a + (2 * j + 1) * LANES);
        to_x[j] = &x[j];
        to_y[j] = &y[j];
        x[j] = _mm512_shuffle_i64x2(u, v, LOW_LANES);
        y[j] = _mm512_shuffle_i64x2(u, v, HIGH_LANES);
        f[j] = factors_4(t, n / 8 + 2 * (i + j));
    }
    forward_butterflies(count, to_x, to_y, f, lazy, k);
    DPI_UNROLL
    for (size_t j = 0; j < count; j++) {
        const __m512i u = x[j], v = y[j];
        x[j] = _mm512_shuffle_i64x2(u, v, EVEN_LANES);
        y[j] = _mm512_shuffle_i64x2(u, v, ODD_LANES);
        f[j] = factors_2(t, n / 4 + 4 * (i + j));
    }
    forward_butterflies(count, to_x, to_y, f, lazy, k);
    DPI_UNROLL
    for (size_t j = 0; j < count; j++) {
        const __m512i u = x[j], v = y[j];
        x[j] = _mm512_unpacklo_epi64(u, v);
        y[j] = _mm512_unpackhi_epi64(u, v);
        forward_end(t, &x[j], &y[j], factors_1(t, n / 2 + 8 * (i + j)), lazy, k);
        rearrange(&x[j], &y[j], BACK_LOW, BACK_HIGH);
        _mm512_storeu_si512(a + 2 * j * LANES, x[j]);
        _mm512_storeu_si512(a + (2 * j + 1) * LANES, y[j]);
    }
}

INLINE void forward_stages(const dpi_ntt *t, uint64_t *a, bool lazy)
{
    const vectors k = vectors_of(t->m.q);
    size_t blocks = 1, i = 0;
    for (; t->n / blocks >= 4 * LANES; blocks *= 4)
        forward_two(t, a, blocks, lazy, &k);
    if (t->n / blocks == 2 * LANES) /* one stage of distance LANES is left */
        forward_one(t, a, blocks, lazy, &k);
    for (; i + MOST_ABREAST <= t->n / 16; i += MOST_ABREAST)
        forward_pairs(t, a, i, MOST_ABREAST, lazy, &k);
    for (; i < t->n / 16; i++)
        forward_pairs(t, a, i, 1, lazy, &k);
}

IFMA static void forward(const dpi_ntt *t, uint64_t *a)
{
    if (t->m.bits <= LAZY_BITS)
        forward_stages(t, a, true);
    else
        forward_stages(t, a, false);
}

IFMA static void inverse_first(const dpi_ntt *t, uint64_t *a, const vectors *k)
{
    const uint64_t *w = t->back, *beside = t->back_beside;
    const size_t n = t->n;
    for (size_t i = 0; i < n / 16; i++, a += 2 * LANES) {
        __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(a + LANES);
        rearrange(&x, &y, EVEN, ODD);
        inverse_butterfly(&x, &y, eight(w, beside, n / 2 + 8 * i), k);
        rearrange(&x, &y, X1, Y1);
        inverse_butterfly(&x, &y, spread(w, beside, n / 4 + 4 * i, FOURS), k);
        rearrange(&x, &y, X2, Y2);
        inverse_butterfly(&x, &y, spread_pair(w, beside, n / 8 + 2 * i, PAIRS), k);
        rearrange(&x, &y, X4, Y4);
        _mm512_storeu_si512(a, x);
        _mm512_storeu_si512(a + LANES, y);
    }
}

/* Stages of 2 blocks and `blocks` blocks. */
IFMA static void inverse_two(const dpi_ntt *t, uint64_t *a, size_t blocks, const vectors *k)
{
    const size_t step = t->n / (4 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const factor f = same(t->back + blocks + i, t->back_beside + blocks + i);
        const size_t g = 2 * blocks + 2 * i;
        const factor f0 = same(t->back + g, t->back_beside + g);
        const factor f1 = same(t->back + g + 1, t->back_beside + g + 1);
        uint64_t *at = a + 4 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m512i x0 = _mm512_loadu_si512(at), x1 = _mm512_loadu_si512(at + step);
            __m512i x2 = _mm512_loadu_si512(at + 2 * step), x3 = _mm512_loadu_si512(at + 3 * step);
            inverse_butterfly(&x0, &x1, f0, k);
            inverse_butterfly(&x2, &x3, f1, k);
            inverse_butterfly(&x0, &x2, f, k);
            inverse_butterfly(&x1, &x3, f, k);
            _mm512_storeu_si512(at, x0);
            _mm512_storeu_si512(at + step, x1);
            _mm512_storeu_si512(at + 2 * step, x2);
            _mm512_storeu_si512(at + 3 * step, x3);
        }
    }
}

IFMA static void inverse_last(const dpi_ntt *t, uint64_t *a, const vectors *k)
{
    const factor sum = same(&t->last[0], &t->last_beside[0]);
    const factor difference = same(&t->last[1], &t->last_beside[1]);
    uint64_t *b = a + t->n / 2;
    for (size_t j = 0; j < t->n / 2; j += LANES) {
        __m512i u = _mm512_loadu_si512(a + j), v = _mm512_loadu_si512(b + j);
        __m512i x = by_factor(_mm512_add_epi64(u, v), sum, k);
        __m512i y = _mm512_sub_epi64(_mm512_add_epi64(u, k->q2), v);
        _mm512_storeu_si512(a + j, once(x, k->q));
        _mm512_storeu_si512(b + j, once(by_factor(y, difference, k), k->q));
    }
}

IFMA static void inverse_one(const dpi_ntt *t, uint64_t *a, size_t blocks, const vectors *k)
{
    const size_t step = t->n / (2 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const factor f = same(t->back + blocks + i, t->back_beside + blocks + i);
        uint64_t *at = a + 2 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m512i x = _mm512_loadu_si512(at), y = _mm512_loadu_si512(at + step);
            inverse_butterfly(&x, &y, f, k);
            _mm512_storeu_si512(at, x);
            _mm512_storeu_si512(at + step, y);
        }
    }
}

IFMA static void inverse(const dpi_ntt *t, uint64_t *a)
{
    const vectors k = vectors_of(t->m.q);
    inverse_first(t, a, &k);
    size_t blocks = t->n / 16; /* of the next stage; the one of a single block is the last */
    for (; blocks > 2; blocks /= 4)
        inverse_two(t, a, blocks / 2, &k);
    if (blocks == 2)
        inverse_one(t, a, 2, &k);
    inverse_last(t, a, &k);
}

static bool runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
}

const dpi_ntt_kernel dpi_ntt_ifma = {
    .name = "ifma",
    .runs_here = runs_here,
    .least_n = 16,
    .bits = 52,
    .forward = forward,
    .inverse = inverse,
    .multiply = dpi_ifma_multiply,
    .multiply_add = dpi_ifma_multiply_add,
    .inner = dpi_ifma_inner,
    .weigh = dpi_ifma_weigh,
    .scale = dpi_ifma_scale,
    .add = dpi_ifma_add,
    .subtract = dpi_ifma_subtract,
};
#else
static bool nowhere(void)
{
    return false;
}

const dpi_ntt_kernel dpi_ntt_ifma = {.name = "ifma", .runs_here = nowhere};
#endif
