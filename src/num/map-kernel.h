/* e^x, 1 / (1 + e^-x) and log(1 + e^x) of many floats: the code that each instruction set compiles for
 * itself.  The file that includes it defines KERNEL_NAME, KERNEL_BYTES (of a vector) and KERNEL_TARGET (an
 * attribute).
 *
 * All elements take the same way through the same instructions, the last ones in a vector that is filled
 * up, so that an element's function value does not depend on where it stands.  Errors, v = 2^-24, u.l.p.
 * being at most 2 v of a value:
 *   e^x       x = k log 2 + r, |r| <= 0.35, log 2 in two parts of which the first has 9 bits, so that
 *             k log 2 is exact there: r to v |r| and 2^-34 k.  Taylor to r^7 / 7!, end below r^8 / 8! =
 *             5e-9.  Together below 3 v, the sum's last steps counting most.
 *   1/(1+e^-x)  e^-|x| = t to 3 v, 1 / (1 + t) or t / (1 + t): below 6 v.
 *   log(1+e^x)  max(x, 0) + log(1 + t); log(1 + t) = 2 atanh(s), s = t / (2 + t) <= 1/3, to 9 terms, the
 *             next being 2 s^19 / 19, 5e-10 of it: below 8 v.
 * e^x is 0 below -87.3 (values under 2^-126 are not made) and infinite above 88.72; NaN stays NaN. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "num/map.h"

#define KERNEL_INLINE static inline KERNEL_TARGET __attribute__((always_inline))

typedef float real __attribute__((vector_size(KERNEL_BYTES)));
typedef int32_t word __attribute__((vector_size(KERNEL_BYTES)));

enum { LANES = sizeof(real) / sizeof(float) };

/* 1.5 2^23: adding it rounds to an integer, which its low bits then are, in two's complement. */
#define ROUNDER 0x1.8p23F
#define ROUNDER_BITS 0x4b400000

/* Where the mask is set, a, else b. */
KERNEL_INLINE real choose(word mask, real a, real b)
{
    return (real)(((word)a & mask) | ((word)b & ~mask));
}

KERNEL_INLINE real exponential(real x)
{
    word small = x<-87.3F, large = x> 88.72F;
    real y = choose(small | large, (real){0}, x);
    real rounder = y * 1.44269504F + ROUNDER, k = rounder - ROUNDER;
    real r = (y - k * 0x1.63p-1F) - k * -0x1.bd0106p-13F;
    real p = r * (1.0F / 5040) + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * (r * r) + r;
    /* 2^k as a product, since k may be 128. */
    word exponent = (word)rounder - ROUNDER_BITS, half = exponent >> 1;
    real first = (real)((half + 127) << 23), second = (real)((exponent - half + 127) << 23);
    p = (first + first * p) * second;
    return choose(small, (real){0}, choose(large, (real){0} + __builtin_inff(), p));
}

KERNEL_INLINE real minus_absolute(real x)
{
    return (real)((word)x | INT32_MIN);
}

KERNEL_INLINE real logistic(real x)
{
    real t = exponential(minus_absolute(x));
    return choose(x < 0, t, (real){0} + 1.0F) / (1.0F + t);
}

KERNEL_INLINE real softplus(real x)
{
    real t = exponential(minus_absolute(x)), s = t / (2.0F + t), z = s * s;
    real p = z * (2.0F / 17) + 2.0F / 15;
    p = p * z + 2.0F / 13;
    p = p * z + 2.0F / 11;
    p = p * z + 2.0F / 9;
    p = p * z + 2.0F / 7;
    p = p * z + 2.0F / 5;
    p = p * z + 2.0F / 3;
    return choose(x > 0, x, (real){0}) + (s * 2.0F + s * (z * p));
}

KERNEL_TARGET void KERNEL_NAME(dpi_map function, size_t n, const float *in, float *out)
{
    for (size_t i = 0; i < n; i += LANES) {
        size_t count = n - i < LANES ? n - i : LANES;
        real x = {0};
        if (count == LANES)
            memcpy(&x, in + i, sizeof x);
        else
            memcpy(&x, in + i, count * sizeof *in);
        real y = function == DPI_MAP_EXP        ? exponential(x)
                 : function == DPI_MAP_LOGISTIC ? logistic(x)
                                                : softplus(x);
        if (count == LANES)
            memcpy(out + i, &y, sizeof y);
        else
            memcpy(out + i, &y, count * sizeof *out);
    }
}
