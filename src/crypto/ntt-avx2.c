/* The number-theoretic transform with AVX2 and FMA: four residues a vector, in doubles.
 *
 * Doubles hold integers below 2^53, and a fused multiply-add tells what a product lost: h = y w
 * rounded, l = y w - h exactly, c = y (w / q) to the nearest integer, and y w - c q = (h - c q) + l,
 * where h - c q is an integer below 2^52 and so comes out exactly.  w / q is the table's floor(w
 * 2^52 / q) 2^-52.  For |y| <= 3q that is at most 3/4 too small times y, and the product is off by
 * 1/4, so that |y w - c q| <= 3/2 q.  Values have signs between stages:
 *
 *   forward  x to [-q/2, q/2] first; x + v and x - v of |y| <= 3/2 q, |v| <= q, are within 3/2 q
 *   inverse  u + v to [-q/2, q/2], and (u - v) w of |u - v| <= 3q is within 3/2 q
 *
 * Two stages go over memory at once while the distance allows; the last two, of distances 2 and 1,
 * work within pairs of vectors.  Between stages memory holds the doubles.  Residues are [0, q) at
 * the end, so results are those of the portable kernel.  No number is subnormal, and no time
 * depends on one. */
#include "base/compiler.h"
#include "crypto/ntt.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

enum { LANES = 4 };

typedef struct known_factor {
    __m256d w, over; /* w, and w / q from below */
} known_factor;

typedef struct modulus_lanes {
    __m256d q, inverse;
} modulus_lanes;

INLINE modulus_lanes lanes_of(uint64_t q)
{
    return (modulus_lanes){_mm256_set1_pd((double)q), _mm256_set1_pd(1 / (double)q)};
}

/* Of integers below 2^52, whose bits become those of a number of [2^52, 2^53), and back. */
INLINE __m256d to_double(__m256i x)
{
    const __m256d large = _mm256_set1_pd(0x1p52);
    return _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(x), large), large);
}

INLINE __m256i to_integer(__m256d x)
{
    const __m256d large = _mm256_set1_pd(0x1p52);
    return _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(x, large), large));
}

INLINE __m256d residues(const uint64_t *x)
{
    return to_double(_mm256_loadu_si256((const void *)x));
}

INLINE __m256d doubles(const uint64_t *x)
{
    return _mm256_loadu_pd((const void *)x);
}

INLINE void keep(uint64_t *to, __m256d x)
{
    _mm256_storeu_pd((void *)to, x);
}

/* beside 2^-52, by the bits of a number of [1, 2). */
INLINE known_factor factor_of(__m256i w, __m256i beside)
{
    const __m256d one = _mm256_set1_pd(1);
    return (known_factor){to_double(w),
                          _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(beside), one), one)};
}

INLINE known_factor same(uint64_t w, uint64_t beside)
{
    return factor_of(_mm256_set1_epi64x((long long)w), _mm256_set1_epi64x((long long)beside));
}

INLINE known_factor four(const uint64_t *w, const uint64_t *beside)
{
    return factor_of(_mm256_loadu_si256((const void *)w), _mm256_loadu_si256((const void *)beside));
}

/* Two, each twice. */
INLINE known_factor two(const uint64_t *w, const uint64_t *beside)
{
    const __m256i a = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)w));
    const __m256i b = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)beside));
    return factor_of(_mm256_permute4x64_epi64(a, 0x50), _mm256_permute4x64_epi64(b, 0x50));
}

INLINE __m256d nearest(__m256d x)
{
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* y w - c q. */
INLINE __m256d reduced(__m256d y, __m256d w, __m256d c, const modulus_lanes *k)
{
    const __m256d h = _mm256_mul_pd(y, w), l = _mm256_fmsub_pd(y, w, h);
    return _mm256_add_pd(_mm256_fnmadd_pd(c, k->q, h), l);
}

INLINE __m256d by_factor(__m256d y, known_factor f, const modulus_lanes *k)
{
    return reduced(y, f.w, nearest(_mm256_mul_pd(y, f.over)), k);
}

/* x of [-q/2, q/2], |x| < 2^52. */
INLINE __m256d centred(__m256d x, const modulus_lanes *k)
{
    return _mm256_fnmadd_pd(nearest(_mm256_mul_pd(x, k->inverse)), k->q, x);
}

/* The residue of |x| < q. */
INLINE __m256d residue(__m256d x, const modulus_lanes *k)
{
    const __m256d negative = _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ);
    return _mm256_add_pd(x, _mm256_and_pd(negative, k->q));
}

INLINE void put(uint64_t *to, __m256d x, const modulus_lanes *k)
{
    _mm256_storeu_si256((void *)to, to_integer(residue(centred(x, k), k)));
}

/* ---- forward ---- */

INLINE void forward_butterfly(__m256d *x, __m256d *y, known_factor f, const modulus_lanes *k)
{
    const __m256d u = centred(*x, k), v = by_factor(*y, f, k);
    *x = _mm256_add_pd(u, v);
    *y = _mm256_sub_pd(u, v);
}

INLINE __m256d taken(const uint64_t *x, bool first)
{
    return first ? residues(x) : doubles(x);
}

/* Stages of `blocks` and 2 blocks blocks, distances 2 step and step. */
INLINE void forward_two(const dpi_ntt *t, uint64_t *a, size_t blocks, bool first,
                        const modulus_lanes *k)
{
    const size_t step = t->n / (4 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const size_t g = 2 * (blocks + i);
        const known_factor f = same(t->root[blocks + i], t->root_beside[blocks + i]);
        const known_factor f0 = same(t->root[g], t->root_beside[g]);
        const known_factor f1 = same(t->root[g + 1], t->root_beside[g + 1]);
        uint64_t *at = a + 4 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m256d x0 = taken(at, first), x1 = taken(at + step, first);
            __m256d x2 = taken(at + 2 * step, first), x3 = taken(at + 3 * step, first);
            forward_butterfly(&x0, &x2, f, k);
            forward_butterfly(&x1, &x3, f, k);
            forward_butterfly(&x0, &x1, f0, k);
            forward_butterfly(&x2, &x3, f1, k);
            keep(at, x0);
            keep(at + step, x1);
            keep(at + 2 * step, x2);
            keep(at + 3 * step, x3);
        }
    }
}

INLINE void forward_one(const dpi_ntt *t, uint64_t *a, size_t blocks, bool first,
                        const modulus_lanes *k)
{
    const size_t step = t->n / (2 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const known_factor f = same(t->root[blocks + i], t->root_beside[blocks + i]);
        uint64_t *at = a + 2 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m256d x = taken(at, first), y = taken(at + step, first);
            forward_butterfly(&x, &y, f, k);
            keep(at, x);
            keep(at + step, y);
        }
    }
}

/* Distances 2 and 1, to residues. */
INLINE void forward_last(const dpi_ntt *t, uint64_t *a, const modulus_lanes *k)
{
    const size_t n = t->n;
    for (size_t i = 0; i < n / 8; i++, a += 2 * LANES) {
        const __m256d u = doubles(a), v = doubles(a + LANES);
        const size_t at_2 = n / 4 + 2 * i, at_1 = n / 2 + 4 * i;
        __m256d x = _mm256_permute2f128_pd(u, v, 0x20), y = _mm256_permute2f128_pd(u, v, 0x31);
        forward_butterfly(&x, &y, two(t->root + at_2, t->root_beside + at_2), k);
        __m256d even = _mm256_unpacklo_pd(x, y), odd = _mm256_unpackhi_pd(x, y);
        forward_butterfly(&even, &odd, four(t->root + at_1, t->root_beside + at_1), k);
        x = _mm256_unpacklo_pd(even, odd);
        y = _mm256_unpackhi_pd(even, odd);
        put(a, _mm256_permute2f128_pd(x, y, 0x20), k);
        put(a + LANES, _mm256_permute2f128_pd(x, y, 0x31), k);
    }
}

/* Of the stages of distances 4 and more an odd one comes first. */
AVX2 static void forward(const dpi_ntt *t, uint64_t *a)
{
    const modulus_lanes k = lanes_of(t->m.q);
    size_t blocks = 1, left = 0;
    for (size_t distance = t->n / 2; distance >= LANES; distance /= 2)
        left++;
    if (left % 2 == 1) {
        forward_one(t, a, 1, true, &k);
        blocks = 2;
    } else {
        forward_two(t, a, 1, true, &k);
        blocks = 4;
    }
    for (; t->n / blocks >= 4 * LANES; blocks *= 4)
        forward_two(t, a, blocks, false, &k);
    forward_last(t, a, &k);
}

/* ---- inverse ---- */

INLINE void inverse_butterfly(__m256d *x, __m256d *y, known_factor f, const modulus_lanes *k)
{
    const __m256d u = *x, v = *y;
    *x = centred(_mm256_add_pd(u, v), k);
    *y = by_factor(_mm256_sub_pd(u, v), f, k);
}

/* Distances 1 and 2, from residues. */
INLINE void inverse_first(const dpi_ntt *t, uint64_t *a, const modulus_lanes *k)
{
    const size_t n = t->n;
    for (size_t i = 0; i < n / 8; i++, a += 2 * LANES) {
        const __m256d u = residues(a), v = residues(a + LANES);
        const size_t at_2 = n / 4 + 2 * i, at_1 = n / 2 + 4 * i;
        __m256d x = _mm256_permute2f128_pd(u, v, 0x20), y = _mm256_permute2f128_pd(u, v, 0x31);
        __m256d even = _mm256_unpacklo_pd(x, y), odd = _mm256_unpackhi_pd(x, y);
        inverse_butterfly(&even, &odd, four(t->back + at_1, t->back_beside + at_1), k);
        x = _mm256_unpacklo_pd(even, odd);
        y = _mm256_unpackhi_pd(even, odd);
        inverse_butterfly(&x, &y, two(t->back + at_2, t->back_beside + at_2), k);
        keep(a, _mm256_permute2f128_pd(x, y, 0x20));
        keep(a + LANES, _mm256_permute2f128_pd(x, y, 0x31));
    }
}

/* Stages of 2 blocks and `blocks` blocks. */
INLINE void inverse_two(const dpi_ntt *t, uint64_t *a, size_t blocks, const modulus_lanes *k)
{
    const size_t step = t->n / (4 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const size_t g = 2 * (blocks + i);
        const known_factor f = same(t->back[blocks + i], t->back_beside[blocks + i]);
        const known_factor f0 = same(t->back[g], t->back_beside[g]);
        const known_factor f1 = same(t->back[g + 1], t->back_beside[g + 1]);
        uint64_t *at = a + 4 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m256d x0 = doubles(at), x1 = doubles(at + step);
            __m256d x2 = doubles(at + 2 * step), x3 = doubles(at + 3 * step);
            inverse_butterfly(&x0, &x1, f0, k);
            inverse_butterfly(&x2, &x3, f1, k);
            inverse_butterfly(&x0, &x2, f, k);
            inverse_butterfly(&x1, &x3, f, k);
            keep(at, x0);
            keep(at + step, x1);
            keep(at + 2 * step, x2);
            keep(at + 3 * step, x3);
        }
    }
}

INLINE void inverse_one(const dpi_ntt *t, uint64_t *a, size_t blocks, const modulus_lanes *k)
{
    const size_t step = t->n / (2 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        const known_factor f = same(t->back[blocks + i], t->back_beside[blocks + i]);
        uint64_t *at = a + 2 * i * step;
        for (size_t j = 0; j < step; j += LANES, at += LANES) {
            __m256d x = doubles(at), y = doubles(at + step);
            inverse_butterfly(&x, &y, f, k);
            keep(at, x);
            keep(at + step, y);
        }
    }
}

/* The stage of one block, with 1/n in its factors. */
INLINE void inverse_last(const dpi_ntt *t, uint64_t *a, const modulus_lanes *k)
{
    const known_factor sum = same(t->last[0], t->last_beside[0]);
    const known_factor difference = same(t->last[1], t->last_beside[1]);
    uint64_t *b = a + t->n / 2;
    for (size_t j = 0; j < t->n / 2; j += LANES) {
        const __m256d u = doubles(a + j), v = doubles(b + j);
        put(a + j, by_factor(_mm256_add_pd(u, v), sum, k), k);
        put(b + j, by_factor(_mm256_sub_pd(u, v), difference, k), k);
    }
}

AVX2 static void inverse(const dpi_ntt *t, uint64_t *a)
{
    const modulus_lanes k = lanes_of(t->m.q);
    inverse_first(t, a, &k);
    size_t blocks = t->n / 8; /* of the next stage; the one of a single block is the last */
    for (; blocks > 2; blocks /= 4)
        inverse_two(t, a, blocks / 2, &k);
    if (blocks == 2)
        inverse_one(t, a, 2, &k);
    inverse_last(t, a, &k);
}

/* ---- rows ---- */

/* x y - c q of residues, within 4/5 q: c by a quotient of h that is off by less than .3. */
INLINE __m256d product(__m256d x, __m256d y, const modulus_lanes *k)
{
    const __m256d h = _mm256_mul_pd(x, y), l = _mm256_fmsub_pd(x, y, h);
    const __m256d c = nearest(_mm256_mul_pd(h, k->inverse));
    return _mm256_add_pd(_mm256_fnmadd_pd(c, k->q, h), l);
}

AVX2 static void multiply(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES)
        put(c + j, product(residues(a + j), residues(b + j), &k), &k);
}

AVX2 static void multiply_add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        const __m256d more = product(residues(a + j), residues(b + j), &k);
        put(c + j, _mm256_add_pd(residues(c + j), more), &k);
    }
}

enum { MOST_PRODUCTS = 4 }; /* beside a number of [-q/2, q/2]: below 4q in all */

AVX2 static void inner(const dpi_ntt *t, const dpi_ntt_terms *terms, uint64_t *c, uint64_t *d)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        __m256d to_c = _mm256_setzero_pd(), to_d = to_c;
        for (size_t i = 0; i < terms->n; i++) {
            const __m256d x = residues(terms->a[i] + j);
            to_c = _mm256_add_pd(to_c, product(x, residues(terms->b[i] + j), &k));
            to_d = _mm256_add_pd(to_d, product(x, residues(terms->e[i] + j), &k));
            if (i % MOST_PRODUCTS == MOST_PRODUCTS - 1) {
                to_c = centred(to_c, &k);
                to_d = centred(to_d, &k);
            }
        }
        put(c + j, to_c, &k);
        put(d + j, to_d, &k);
    }
}

/* Of numbers below 2^50 and w / q rounded, so that c is as good as that of `product`. */
AVX2 static void weigh(const dpi_ntt *t, size_t terms, const uint64_t *const *a, const uint64_t *w,
                       uint64_t *c)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        __m256d to = _mm256_setzero_pd();
        for (size_t i = 0; i < terms; i++) {
            const double weight = (double)w[i];
            const known_factor f = {_mm256_set1_pd(weight),
                                    _mm256_set1_pd(weight / (double)t->m.q)};
            to = _mm256_add_pd(to, by_factor(residues(a[i] + j), f, &k));
            if (i % MOST_PRODUCTS == MOST_PRODUCTS - 1)
                to = centred(to, &k);
        }
        put(c + j, to, &k);
    }
}

AVX2 static void scale(const dpi_ntt *t, uint64_t w, uint64_t beside, uint64_t *a)
{
    const modulus_lanes k = lanes_of(t->m.q);
    const known_factor f = same(w, beside);
    for (size_t j = 0; j < t->n; j += LANES)
        put(a + j, by_factor(residues(a + j), f, &k), &k);
}

AVX2 static void add(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        const __m256d less = _mm256_sub_pd(residues(a + j), k.q);
        const __m256d sum = residue(_mm256_add_pd(less, residues(b + j)), &k);
        _mm256_storeu_si256((void *)(c + j), to_integer(sum));
    }
}

AVX2 static void subtract(const dpi_ntt *t, const uint64_t *a, const uint64_t *b, uint64_t *c)
{
    const modulus_lanes k = lanes_of(t->m.q);
    for (size_t j = 0; j < t->n; j += LANES) {
        const __m256d x = _mm256_sub_pd(residues(a + j), residues(b + j));
        _mm256_storeu_si256((void *)(c + j), to_integer(residue(x, &k)));
    }
}

static bool runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const dpi_ntt_kernel dpi_ntt_avx2 = {
    .name = "avx2",
    .runs_here = runs_here,
    .least_n = 8,
    .bits = 52,
    .forward = forward,
    .inverse = inverse,
    .multiply = multiply,
    .multiply_add = multiply_add,
    .inner = inner,
    .weigh = weigh,
    .scale = scale,
    .add = add,
    .subtract = subtract,
};
#else
static bool nowhere(void)
{
    return false;
}

const dpi_ntt_kernel dpi_ntt_avx2 = {.name = "avx2", .runs_here = nowhere};
#endif
