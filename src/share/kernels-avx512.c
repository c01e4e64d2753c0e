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

/* Halves, quarters and eighths change places and are added: the compiler's own sum of lanes is one of
 * signed numbers, which must not overflow. */
PART uint64_t total_wide64(sum_wide64 s)
{
    s += (vector_wide64)_mm512_shuffle_i64x2((__m512i)s, (__m512i)s, 0x4e);
    s += (vector_wide64)_mm512_shuffle_i64x2((__m512i)s, (__m512i)s, 0xb1);
    s += (vector_wide64)_mm512_shuffle_epi32((__m512i)s, (_MM_PERM_ENUM)0x4e);
    return s[0];
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

PART uint32_t total_wide32(sum_wide32 s)
{
    s += (vector_wide32)_mm512_shuffle_i64x2((__m512i)s, (__m512i)s, 0x4e);
    s += (vector_wide32)_mm512_shuffle_i64x2((__m512i)s, (__m512i)s, 0xb1);
    s += (vector_wide32)_mm512_shuffle_epi32((__m512i)s, (_MM_PERM_ENUM)0x4e);
    s += (vector_wide32)_mm512_shuffle_epi32((__m512i)s, (_MM_PERM_ENUM)0xb1);
    return s[0];
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
