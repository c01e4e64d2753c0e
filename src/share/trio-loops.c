/* The loops of trio.h for each ring, from one source. */
#include "base/compiler.h"
#include "share/trio.h"

#define NUMBER uint64_t
#define SIGNED int64_t
#define BITWISE 0
#define NAME(f) f##_64
#include "share/trio-loop-products.h"

#include "share/trio-loop-numbers.h"
#undef NUMBER
#undef SIGNED
#undef NAME

#define NUMBER uint32_t
#define SIGNED int32_t
#define NAME(f) f##_32
#include "share/trio-loop-products.h"

#include "share/trio-loop-numbers.h"
#undef NUMBER
#undef SIGNED
#undef BITWISE
#undef NAME

#define NUMBER uint64_t
#define BITWISE 1
#define NAME(f) f##_bits
#include "share/trio-loop-products.h"
#undef NUMBER
#undef BITWISE
#undef NAME

static const dpi_trio_loops loops_bits = {
    .product = {{product_0_bits, {2, 1}}, {product_1_bits, {2, 0}}, {product_2_bits, {0, 1}}},
    .gather = gather_bits,
};

const dpi_trio_loops *dpi_trio_loops_of(dpi_ring ring)
{
    return ring == DPI_RING_64 ? &loops_64 : ring == DPI_RING_32 ? &loops_32 : &loops_bits;
}
