/* Products with AVX-512: low halves of 64-bit products in one instruction. */
#include "share/kernels-parts.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define TILE_TARGET __attribute__((target("avx512f,avx512dq,avx2")))
#define PART static inline TILE_TARGET __attribute__((always_inline))

typedef uint64_t vector_wide64 __attribute__((vector_size(64)));
typedef uint32_t vector_wide32 __attribute__((vector_size(64)));
typedef vector_wide64 factor_wide64, sum_wide64;
typedef vector_wide32 factor_wide32, sum_wide32;

PART vector_wide64 load_some_wide64(const uint64_t *from, size_t n)
{
    return (vector_wide64)_mm512_maskz_loadu_epi64((__mmask8)((1U << n) - 1), from);
}

PART void store_some_wide64(uint64_t *to, vector_wide64 v, size_t n)
{
    _mm512_mask_storeu_epi64(to, (__mmask8)((1U << n) - 1), (__m512i)v);
}

PART factor_wide64 factor_of_wide64(vector_wide64 v)
{
    return v;
}

PART void add_product_wide64(sum_wide64 *s, vector_wide64 a, factor_wide64 b)
{
    *s += a * b;
}

PART vector_wide64 lanes_of_wide64(sum_wide64 s)
{
    return s;
}

/* The halves of a vector, added up. */
PART __m256i half_wide64(vector_wide64 v)
{
    return _mm256_add_epi64(_mm512_castsi512_si256((__m512i)v),
                            _mm512_extracti64x4_epi64((__m512i)v, 1));
}

PART uint64_t total_wide64(sum_wide64 s)
{
    __m256i half = half_wide64(s);
    __m128i v = _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(v, _mm_unpackhi_epi64(v, v)));
}

/* Lanes of a and b by turns, half as many of each. */
PART vector_wide64 pairs_wide64(__m512i a, __m512i b)
{
    return (vector_wide64)_mm512_add_epi64(_mm512_unpacklo_epi64(a, b),
                                           _mm512_unpackhi_epi64(a, b));
}

PART void add_totals_wide64(uint64_t *to, const sum_wide64 s[4])
{
    __m256i ab = half_wide64(pairs_wide64((__m512i)s[0], (__m512i)s[1]));
    __m256i cd = half_wide64(pairs_wide64((__m512i)s[2], (__m512i)s[3]));
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)to);
    v = _mm256_add_epi64(v, _mm256_permute2x128_si256(ab, cd, 0x20));
    v = _mm256_add_epi64(v, _mm256_permute2x128_si256(ab, cd, 0x31));
    _mm256_storeu_si256((__m256i *)(void *)to, v);
}

PART vector_wide32 load_some_wide32(const uint32_t *from, size_t n)
{
    return (vector_wide32)_mm512_maskz_loadu_epi32((__mmask16)((1U << n) - 1), from);
}

PART void store_some_wide32(uint32_t *to, vector_wide32 v, size_t n)
{
    _mm512_mask_storeu_epi32(to, (__mmask16)((1U << n) - 1), (__m512i)v);
}

PART factor_wide32 factor_of_wide32(vector_wide32 v)
{
    return v;
}

PART void add_product_wide32(sum_wide32 *s, vector_wide32 a, factor_wide32 b)
{
    *s += a * b;
}

PART vector_wide32 lanes_of_wide32(sum_wide32 s)
{
    return s;
}

/* The quarters of a vector, added up. */
PART __m128i quarter_wide32(__m512i v)
{
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

PART uint32_t total_wide32(sum_wide32 s)
{
    __m128i v = quarter_wide32((__m512i)s);
    v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}

PART __m512i pairs_wide32(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

PART void add_totals_wide32(uint32_t *to, const sum_wide32 s[4])
{
    __m512i ab = pairs_wide32((__m512i)s[0], (__m512i)s[1]);
    __m512i cd = pairs_wide32((__m512i)s[2], (__m512i)s[3]);
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)to);
    _mm_storeu_si128((__m128i *)(void *)to, _mm_add_epi32(v, quarter_wide32(all)));
}

#define TILE_ELEMENT uint64_t
#define TILE_NAME(x) x##_wide64
#define TILE_ROWS 4
#define TILE_COLUMNS 4
#define TILE_HEIGHT 8
#define TILE_WIDTH 2
#define TILE_DOTS dpi_dots_avx512_64
#define TILE_PANEL dpi_panel_avx512_64
#include "share/kernels-tile.h"

#define TILE_ELEMENT uint32_t
#define TILE_NAME(x) x##_wide32
#define TILE_ROWS 4
#define TILE_COLUMNS 4
#define TILE_HEIGHT 8
#define TILE_WIDTH 2
#define TILE_DOTS dpi_dots_avx512_32
#define TILE_PANEL dpi_panel_avx512_32
#include "share/kernels-tile.h"
#endif
