/* Products one by one, of two rows and two outputs side by side. */
#include <string.h>

#include "share/kernels-parts.h"

#define TILE_TARGET
#define PART static inline __attribute__((always_inline))

typedef uint64_t vector_64, factor_64, sum_64;
typedef uint32_t vector_32, factor_32, sum_32;

/* A vector is one element: there are no fewer. */
PART vector_64 load_some_64(const uint64_t *from, size_t n)
{
    return n > 0 ? *from : 0;
}

PART factor_64 factor_of_64(vector_64 v)
{
    return v;
}

PART void add_product_64(sum_64 *s, vector_64 a, factor_64 b)
{
    *s += a * b;
}

PART uint64_t total_64(sum_64 s)
{
    return s;
}

PART vector_32 load_some_32(const uint32_t *from, size_t n)
{
    return n > 0 ? *from : 0;
}

PART factor_32 factor_of_32(vector_32 v)
{
    return v;
}

PART void add_product_32(sum_32 *s, vector_32 a, factor_32 b)
{
    *s += a * b;
}

PART uint32_t total_32(sum_32 s)
{
    return s;
}

#define TILE_ELEMENT uint64_t
#define TILE_NAME(x) x##_64
#define TILE_ROWS 2
#define TILE_COLUMNS 2
#define TILE_DOTS dpi_dots_portable_64
#include "share/kernels-tile.h"

#define TILE_ELEMENT uint32_t
#define TILE_NAME(x) x##_32
#define TILE_ROWS 2
#define TILE_COLUMNS 2
#define TILE_DOTS dpi_dots_portable_32
#include "share/kernels-tile.h"
