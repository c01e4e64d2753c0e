/* Products with AVX2, which has products of 32-bit numbers alone.
 *
 * Modulo 2^64 a b is a0 b0 + 2^32 (a0 b1 + a1 b0), of halves.  The first product is a whole one; of
 * the others the low halves count, and these come two at a time from b with its halves exchanged.
 * Both are summed apart, and put together at the end. */
#include "share/kernels-parts.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define TILE_TARGET __attribute__((target("avx2")))
#define PART static inline TILE_TARGET __attribute__((always_inline))

typedef uint64_t vector_middle64 __attribute__((vector_size(32)));
typedef uint32_t vector_middle32 __attribute__((vector_size(32)));
typedef vector_middle32 factor_middle32, sum_middle32;

typedef struct factor_middle64 {
    __m256i whole, turned;
} factor_middle64;

typedef struct sum_middle64 {
    __m256i low, cross;
} sum_middle64;

/* All ones where the number of the lane is below n. */
PART __m256i below_middle32(size_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}

PART vector_middle64 load_some_middle64(const uint64_t *from, size_t n)
{
    return (vector_middle64)_mm256_maskload_epi64((const long long *)from, below_middle32(2 * n));
}

PART void store_some_middle64(uint64_t *to, vector_middle64 v, size_t n)
{
    _mm256_maskstore_epi64((long long *)to, below_middle32(2 * n), (__m256i)v);
}

PART factor_middle64 factor_of_middle64(vector_middle64 v)
{
    return (factor_middle64){(__m256i)v, _mm256_shuffle_epi32((__m256i)v, 0xb1)};
}

PART void add_product_middle64(sum_middle64 *s, vector_middle64 a, factor_middle64 b)
{
    s->low = _mm256_add_epi64(s->low, _mm256_mul_epu32((__m256i)a, b.whole));
    s->cross = _mm256_add_epi32(s->cross, _mm256_mullo_epi32((__m256i)a, b.turned));
}

PART vector_middle64 lanes_of_middle64(sum_middle64 s)
{
    vector_middle64 cross = (vector_middle64)s.cross;
    return (vector_middle64)s.low + (cross << 32) + (cross >> 32 << 32);
}

PART uint64_t total_middle64(sum_middle64 s)
{
    vector_middle64 v = lanes_of_middle64(s);
    return v[0] + v[1] + v[2] + v[3];
}

PART void add_totals_middle64(uint64_t *to, const sum_middle64 s[2])
{
    for (int j = 0; j < 2; j++)
        to[j] += total_middle64(s[j]);
}

PART vector_middle32 load_some_middle32(const uint32_t *from, size_t n)
{
    return (vector_middle32)_mm256_maskload_epi32((const int *)from, below_middle32(n));
}

PART void store_some_middle32(uint32_t *to, vector_middle32 v, size_t n)
{
    _mm256_maskstore_epi32((int *)to, below_middle32(n), (__m256i)v);
}

PART factor_middle32 factor_of_middle32(vector_middle32 v)
{
    return v;
}

PART void add_product_middle32(sum_middle32 *s, vector_middle32 a, factor_middle32 b)
{
    *s += a * b;
}

PART vector_middle32 lanes_of_middle32(sum_middle32 s)
{
    return s;
}

PART uint32_t total_middle32(sum_middle32 s)
{
    __m128i half =
        _mm_add_epi32(_mm256_castsi256_si128((__m256i)s), _mm256_extracti128_si256((__m256i)s, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

PART void add_totals_middle32(uint32_t *to, const sum_middle32 s[4])
{
    for (int j = 0; j < 4; j++)
        to[j] += total_middle32(s[j]);
}

#define TILE_ELEMENT uint64_t
#define TILE_NAME(x) x##_middle64
#define TILE_ROWS 2
#define TILE_COLUMNS 2
#define TILE_HEIGHT 4
#define TILE_WIDTH 1
#define TILE_DOTS dpi_dots_avx2_64
#define TILE_PANEL dpi_panel_avx2_64
#include "share/kernels-tile.h"

#define TILE_ELEMENT uint32_t
#define TILE_NAME(x) x##_middle32
#define TILE_ROWS 2
#define TILE_COLUMNS 4
#define TILE_HEIGHT 4
#define TILE_WIDTH 2
#define TILE_DOTS dpi_dots_avx2_32
#define TILE_PANEL dpi_panel_avx2_32
#include "share/kernels-tile.h"
#endif
