/* e^x, 1 / (1 + e^-x) and log(1 + e^x) of many doubles: the code that each instruction set compiles
 * for itself.  The file that includes it defines KERNEL_NAME, KERNEL_BYTES (of a vector) and
 * KERNEL_TARGET (an attribute).
 *
 * As in map-kernel.h all elements take the same way through the same instructions.  Errors, v =
 * 2^-53, u.l.p. being at most 2 v of a value:
 *   e^x       x = k log 2 + r, |r| <= 0.35, log 2 in two parts of which the first has 42 bits, so
 *             that k log 2 is exact there: r to v |r| and 2^-85 k.  Taylor to r^13 / 13!, end below
 *             r^14 / 14! = 5e-18.  Together below 3 v, the sum's last steps counting most.
 *   1/(1+e^-x)  e^-|x| = t to 3 v, 1 / (1 + t) or t / (1 + t): below 7 v.
 *   log(1+e^x)  max(x, 0) + log(1 + t); log(1 + t) = 2 atanh(s), s = t / (2 + t) <= 1/3, to 16
 *   terms, the
 *             next being 2 s^33 / 33, 2e-17 of it: below 9 v.
 * Results below 2^-1022 are off by 2^-1073 at most; e^x is infinite above 709.78; NaN stays NaN. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "num/map.h"

#define KERNEL_INLINE static inline KERNEL_TARGET __attribute__((always_inline))

typedef double doubles __attribute__((vector_size(KERNEL_BYTES)));
typedef int64_t double_words __attribute__((vector_size(KERNEL_BYTES)));
typedef uint64_t bits __attribute__((vector_size(KERNEL_BYTES)));

enum { LANES = sizeof(doubles) / sizeof(double) };

/* 1.5 2^52: adding it rounds to an integer, which its low bits then are, in two's complement. */
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)

/* Where the mask is set, a, else b. */
KERNEL_INLINE doubles choose(double_words mask, doubles a, doubles b)
{
    return (doubles)(((double_words)a & mask) | ((double_words)b & ~mask));
}

KERNEL_INLINE doubles exponential(doubles x)
{
    static const double inverse[] = {/* factorials */
                                     1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                     1.0 / 40320,     1.0 / 5040,     1.0 / 720,     1.0 / 120,
                                     1.0 / 24,        1.0 / 6,        1.0 / 2};
    double_words small = x<-746.0, large = x> 709.79;
    doubles y = choose(small | large, (doubles){0}, x);
    doubles rounder = y * 0x1.71547652b82fep0 + ROUNDER, k = rounder - ROUNDER;
    doubles r = (y - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
    doubles p = r * (1.0 / 6227020800) + inverse[0];
#pragma GCC unroll 10
    for (int i = 1; i < 11; i++)
        p = p * r + inverse[i];
    p = p * (r * r) + r;
    /* 2^k as a product, since k may be 1024, or too small for a normal number. */
    bits exponent = (bits)rounder - ROUNDER_BITS; /* of no meaning for NaN, which p is then */
    bits half = ((exponent + 2048) >> 1) - 1024;
    doubles first = (doubles)((half + 1023) << 52),
            second = (doubles)((exponent - half + 1023) << 52);
    p = (first + first * p) * second;
    return choose(small, (doubles){0}, choose(large, (doubles){0} + __builtin_inf(), p));
}

KERNEL_INLINE doubles minus_absolute(doubles x)
{
    return (doubles)((double_words)x | INT64_MIN);
}

KERNEL_INLINE doubles logistic(doubles x)
{
    doubles t = exponential(minus_absolute(x));
    return choose(x < 0, t, (doubles){0} + 1.0) / (1.0 + t);
}

KERNEL_INLINE doubles softplus(doubles x)
{
    doubles t = exponential(minus_absolute(x)), s = t / (2.0 + t), z = s * s;
    doubles p = z * (2.0 / 31) + 2.0 / 29;
#pragma GCC unroll 13
    for (int i = 27; i > 1; i -= 2)
        p = p * z + 2.0 / i;
    return choose(x > 0, x, (doubles){0}) + (s * 2.0 + s * (z * p));
}

KERNEL_INLINE doubles apply(dpi_map function, doubles x)
{
    return function == DPI_MAP_EXP        ? exponential(x)
           : function == DPI_MAP_LOGISTIC ? logistic(x)
                                          : softplus(x);
}

#define NUMBER double
#define NUMBERS doubles
#include "num/map-loop.h"
