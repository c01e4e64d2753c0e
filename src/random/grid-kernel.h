/* Normal numbers on a grid, many at once: the code that each instruction set compiles for itself.
 *
 * The file that includes it defines KERNEL_NAME, KERNEL_BYTES (of a vector) and KERNEL_TARGET (an
 * attribute), and `root`, the square roots of a vector.  Construction and error bound: grid.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "random/grid.h"

#define KERNEL_INLINE static inline KERNEL_TARGET __attribute__((always_inline))

typedef double real __attribute__((vector_size(KERNEL_BYTES)));
typedef uint64_t word __attribute__((vector_size(KERNEL_BYTES)));

enum { LANES = KERNEL_BYTES / 8 };

/* A double in [2^52, 2^53) has its low 52 bits as an integer. */
#define TWO52_BITS UINT64_C(0x4330000000000000)
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define MANTISSA UINT64_C(0x000fffffffffffff)
#define SIGN UINT64_C(0x8000000000000000)
#define SQRT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)
#define LOG_2 0.693147180559945309417
#define HALF_PI 1.57079632679489661923

/* 1.5 2^52: adding it rounds to an integer, which its low bits then are, in two's complement. */
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)

KERNEL_INLINE real to_double(word k)
{
    return (real)(k | TWO52_BITS) - 0x1p52;
}

/* -2 log u, u the 64 + 10 bits of `high` and `low10`, to 11 2^-53 of it and 2^-74 / u. */
KERNEL_INLINE real minus_two_log(word high, word low10)
{
    real coarse = to_double(high >> 12) * 0x1p-52;
    real fine = (to_double((high & 0xfff) << 10 | low10) + 0.5) * 0x1p-74;
    real u = coarse + fine, rest = fine - (u - coarse);
    word shifted = (word)u - SQRT_HALF_BITS + (UINT64_C(1023) << 52);
    real e = to_double(shifted >> 52) - 1023.0;
    real m = (real)((shifted & MANTISSA) + SQRT_HALF_BITS);
    real s = (m - 1.0) / (m + 1.0), z = s * s;
    real p = z * (1.0 / 21.0) + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return -2.0 * ((e * LOG_2 + 2.0 * (s + s * z * p)) + rest);
}

KERNEL_INLINE real sine(real x, real z)
{
    real p = z * (1.0 / 355687428096000.0) - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + x * z * p;
}

KERNEL_INLINE real cosine(real z)
{
    real p = z * (-1.0 / 6402373705728000.0) + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    p = p * z - 1.0 / 2.0;
    return 1.0 + z * p;
}

/* Rounds y to integers; those that an error of `bound` could change, and all of `bad`, become
 * DPI_GRID_UNDECIDED.  Adds them to *undecided. */
KERNEL_INLINE word decide(real y, real bound, word bad, word *undecided)
{
    real rounder = y + ROUNDER;
    real off = y - (rounder - ROUNDER);
    real distance = (real)((word)off & ~SIGN);
    bad |= (word)(distance > 0.5 - bound);
    *undecided |= bad;
    return (((word)rounder - ROUNDER_BITS) & ~bad) | (bad & (uint64_t)DPI_GRID_UNDECIDED);
}

/* LANES pairs of numbers. */
KERNEL_INLINE void pairs(const uint64_t *in, int64_t *out, word *undecided)
{
    word w0, w1;
    memcpy(&w0, in, sizeof w0);
    memcpy(&w1, in + DPI_GRID_GROUP, sizeof w1);
    real square = minus_two_log(w0, w1 & 0x3ff);
    real r = root(square) * DPI_GRID_SCALE;
    real bound = r * DPI_GRID_RELATIVE + DPI_GRID_SCALE * 0x1p-53;
    word bad = (word)(square < DPI_GRID_LEAST) | (word)(square > DPI_GRID_MOST);
    real x = (to_double(w1 >> 12) - (0x1p51 - 0.5)) * (0x1p-52 * HALF_PI), z = x * x;
    word c = (word)cosine(z), s = (word)sine(x, z);
    word change = (c ^ s) & -(w1 >> 10 & 1), sign = w1 << 52 & SIGN;
    word first = decide(r * (real)(c ^ change ^ sign), bound, bad, undecided);
    word second = decide(r * (real)(s ^ change ^ sign), bound, bad, undecided);
    memcpy(out, &first, sizeof first);
    memcpy(out + DPI_GRID_GROUP, &second, sizeof second);
}

KERNEL_TARGET bool KERNEL_NAME(size_t groups, const uint64_t *in, int64_t *out)
{
    word undecided = {0};
    for (size_t k = 0; k < groups; k++)
        for (size_t i = 0; i < DPI_GRID_GROUP; i += LANES)
            pairs(in + 2 * DPI_GRID_GROUP * k + i, out + 2 * DPI_GRID_GROUP * k + i, &undecided);
    uint64_t any = 0;
    for (int i = 0; i < LANES; i++)
        any |= undecided[i];
    return any != 0;
}
