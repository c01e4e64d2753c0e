/* Products one by one, of two rows and two outputs side by side. */
#include <string.h>

#include "share/kernels-parts.h"

#define TILE_TARGET
#define PART static inline __attribute__((always_inline))

typedef uint64_t vector_single64, factor_single64, sum_single64;
typedef uint32_t vector_single32, factor_single32, sum_single32;

/* A vector is one element: there are no fewer. */
PART vector_single64 load_some_single64(const uint64_t *from, size_t n)
{
    return n > 0 ? *from : 0;
}

PART factor_single64 factor_of_single64(vector_single64 v)
{
    return v;
}

PART void add_product_single64(sum_single64 *s, vector_single64 a, factor_single64 b)
{
    *s += a * b;
}

PART uint64_t total_single64(sum_single64 s)
{
    return s;
}

PART void add_totals_single64(uint64_t *to, const sum_single64 s[2])
{
    for (int j = 0; j < 2; j++)
        to[j] += total_single64(s[j]);
}

PART vector_single32 load_some_single32(const uint32_t *from, size_t n)
{
    return n > 0 ? *from : 0;
}

PART factor_single32 factor_of_single32(vector_single32 v)
{
    return v;
}

PART void add_product_single32(sum_single32 *s, vector_single32 a, factor_single32 b)
{
    *s += a * b;
}

PART uint32_t total_single32(sum_single32 s)
{
    return s;
}

PART void add_totals_single32(uint32_t *to, const sum_single32 s[2])
{
    for (int j = 0; j < 2; j++)
        to[j] += total_single32(s[j]);
}

#define TILE_ELEMENT uint64_t
#define TILE_NAME(x) x##_single64
#define TILE_ROWS 2
#define TILE_COLUMNS 2
#define TILE_DOTS dpi_dots_portable_64
#include "share/kernels-tile.h"

#define TILE_ELEMENT uint32_t
#define TILE_NAME(x) x##_single32
#define TILE_ROWS 2
#define TILE_COLUMNS 2
#define TILE_DOTS dpi_dots_portable_32
#include "share/kernels-tile.h"
