/* The loops of quad.h for each ring, from one source. */
#include "base/compiler.h"
#include "share/quad.h"

#define NUMBER uint64_t
#define BITWISE 0
#define NAME(f) f##_64
#include "share/quad-loop-products.h"

#include "share/quad-loop-numbers.h"
#undef NUMBER
#undef NAME

#define NUMBER uint32_t
#define NAME(f) f##_32
#include "share/quad-loop-products.h"

#include "share/quad-loop-numbers.h"
#undef NUMBER
#undef BITWISE
#undef NAME

#define NUMBER uint64_t
#define BITWISE 1
#define NAME(f) f##_bits
#include "share/quad-loop-products.h"
#undef NUMBER
#undef BITWISE
#undef NAME

static const dpi_quad_loops loops_bits = {
    .terms = {{terms_03_bits, {0}},
              {terms_12_bits, {0}},
              {terms_12_bits, {0}},
              {terms_03_bits, {0}}},
    .sum = {{sum_0_bits, {2, 1, 0}},
            {sum_1_bits, {2, 0, 2}},
            {sum_2_bits, {0, 1, 2}},
            {sum_3_bits, {2, 1, 2}}},
    .gather = gather_bits,
    .add = add_bits,
};

const dpi_quad_loops *dpi_quad_loops_of(dpi_ring ring)
{
    return ring == DPI_RING_64 ? &loops_64 : ring == DPI_RING_32 ? &loops_32 : &loops_bits;
}
