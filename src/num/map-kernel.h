/* e^x, 1 / (1 + e^-x), log(1 + e^x) and the normal distribution function Phi(x) of many floats: the
 * code that each instruction set compiles for itself.  The file that includes it defines
 * KERNEL_NAME, KERNEL_BYTES (of a vector) and KERNEL_TARGET (an attribute).
 *
 * All elements take the same way through the same instructions, the last ones in a vector that is
 * filled up, so that an element's function value does not depend on where it stands.  Errors, v =
 * 2^-24, u.l.p. being at most 2 v of a value:
 *   e^x       x = k log 2 + r, |r| <= 0.35, log 2 in two parts of which the first has 9 bits, so
 *             that k log 2 is exact there: r to v |r| and 2^-34 k.  Taylor to r^7 / 7!, end below
 *             r^8 / 8! = 5e-9.  Together below 3 v, the sum's last steps counting most.
 *   1/(1+e^-x)  e^-|x| = t to 3 v, 1 / (1 + t) or t / (1 + t): below 6 v.
 *   log(1+e^x)  max(x, 0) + log(1 + t); log(1 + t) = 2 atanh(s), s = t / (2 + t) <= 1/3, to 9
 *   terms, the
 *             next being 2 s^19 / 19, 5e-10 of it: below 8 v.
 *   Phi(x)    in doubles, rounded once.  For a = |x| <= 14.5, Phi(-a) = e^(-a^2 / 2) R(a): a^2 is
 *   exact in
 *             doubles; e^y as above, Taylor to r^9 / 9!, end below 8e-12; R falls like 1 / a and is
 *             u times a polynomial of degree 11 in u = 1 / (1 + a / 5), through R / u at
 *             Chebyshev's points, to 1.0e-10 of it everywhere between.  Together below 2^-33:
 *             Phi(-a), and 1 - Phi(-a), are off by half a unit in their last place, which is 2^-150
 *             at least, times 1 + 2^-8.  Beyond 14.5 they are 0 and 1 as floats.
 * e^x is 0 below -87.3 (values under 2^-126 are not made) and infinite above 88.72; NaN stays
 * NaN. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "num/map.h"

#define KERNEL_INLINE static inline KERNEL_TARGET __attribute__((always_inline))

typedef float floats __attribute__((vector_size(KERNEL_BYTES)));
typedef int32_t float_words __attribute__((vector_size(KERNEL_BYTES)));

enum { LANES = sizeof(floats) / sizeof(float) };

/* 1.5 2^23: adding it rounds to an integer, which its low bits then are, in two's complement. */
#define ROUNDER 0x1.8p23F
#define ROUNDER_BITS 0x4b400000

/* Where the mask is set, a, else b. */
KERNEL_INLINE floats choose(float_words mask, floats a, floats b)
{
    return (floats)(((float_words)a & mask) | ((float_words)b & ~mask));
}

KERNEL_INLINE floats exponential(floats x)
{
    float_words small = x<-87.3F, large = x> 88.72F;
    floats y = choose(small | large, (floats){0}, x);
    floats rounder = y * 1.44269504F + ROUNDER, k = rounder - ROUNDER;
    floats r = (y - k * 0x1.63p-1F) - k * -0x1.bd0106p-13F;
    floats p = r * (1.0F / 5040) + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * (r * r) + r;
    /* 2^k as a product, since k may be 128. */
    float_words exponent = (float_words)rounder - ROUNDER_BITS, half = exponent >> 1;
    floats first = (floats)((half + 127) << 23), second = (floats)((exponent - half + 127) << 23);
    p = (first + first * p) * second;
    return choose(small, (floats){0}, choose(large, (floats){0} + __builtin_inff(), p));
}

KERNEL_INLINE floats minus_absolute(floats x)
{
    return (floats)((float_words)x | INT32_MIN);
}

KERNEL_INLINE floats logistic(floats x)
{
    floats t = exponential(minus_absolute(x));
    return choose(x < 0, t, (floats){0} + 1.0F) / (1.0F + t);
}

KERNEL_INLINE floats softplus(floats x)
{
    floats t = exponential(minus_absolute(x)), s = t / (2.0F + t), z = s * s;
    floats p = z * (2.0F / 17) + 2.0F / 15;
    p = p * z + 2.0F / 13;
    p = p * z + 2.0F / 11;
    p = p * z + 2.0F / 9;
    p = p * z + 2.0F / 7;
    p = p * z + 2.0F / 5;
    p = p * z + 2.0F / 3;
    return choose(x > 0, x, (floats){0}) + (s * 2.0F + s * (z * p));
}

/* ---- in doubles, half as many at a time ---- */

typedef float half_real __attribute__((vector_size(KERNEL_BYTES / 2)));
typedef double wide __attribute__((vector_size(KERNEL_BYTES)));
typedef int64_t wide_word __attribute__((vector_size(KERNEL_BYTES)));

/* 1.5 2^52, as ROUNDER. */
#define WIDE_ROUNDER 0x1.8p52
#define WIDE_ROUNDER_BITS INT64_C(0x4338000000000000)

KERNEL_INLINE wide wide_choose(wide_word mask, wide a, wide b)
{
    return (wide)(((wide_word)a & mask) | ((wide_word)b & ~mask));
}

/* e^x for -106 <= x <= 0, or NaN */
KERNEL_INLINE wide wide_exponential(wide x)
{
    static const double inverse[] = {/* factorials */
                                     1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                     1.0 / 24,    1.0 / 6,    1.0 / 2};
    wide rounder = x * 0x1.71547652b82fep0 + WIDE_ROUNDER, k = rounder - WIDE_ROUNDER;
    wide r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
    wide p = r * (1.0 / 362880) + inverse[0];
#pragma GCC unroll 6
    for (int i = 1; i < 7; i++)
        p = p * r + inverse[i];
    p = p * (r * r) + r;
    wide first = (wide)(((wide_word)rounder - WIDE_ROUNDER_BITS + 1023) << 52);
    return first + first * p;
}

/* Phi(x) for x <= 0, 1 - Phi(-x) else */
KERNEL_INLINE wide wide_normal_cdf(wide x)
{
    static const double of_s[] = {/* R / u by powers of s, from s^10 down */
                                  1.16258377562e-06, -6.47222249765e-06, -3.84644200677e-05,
                                  7.0117877186e-07,  0.000808055385023,  0.0047369851766,
                                  0.0168509708546,   0.044044756043,     0.0900875162042,
                                  0.147824367015,    0.195689998534};
    wide a = (wide)((wide_word)x & INT64_MAX);
    a = wide_choose(a > 14.5, (wide){0} + 14.5, a); /* NaN stays */
    wide u = 1.0 / (1.0 + a * 0.2), s = u * 2.68965517241 - 1.68965517241;
    wide p = s * 4.23698735948e-07 + of_s[0];
#pragma GCC unroll 10
    for (int i = 1; i < 11; i++)
        p = p * s + of_s[i];
    wide low = wide_exponential(a * a * -0.5) * (u * p);
    return wide_choose(x > 0, 1.0 - low, low);
}

KERNEL_INLINE floats normal_cdf(floats x)
{
    half_real part[2];
    memcpy(part, &x, sizeof part);
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++)
        part[k] = __builtin_convertvector(wide_normal_cdf(__builtin_convertvector(part[k], wide)),
                                          half_real);
    memcpy(&x, part, sizeof x);
    return x;
}

KERNEL_INLINE floats apply(dpi_map function, floats x)
{
    return function == DPI_MAP_EXP        ? exponential(x)
           : function == DPI_MAP_LOGISTIC ? logistic(x)
           : function == DPI_MAP_SOFTPLUS ? softplus(x)
                                          : normal_cdf(x);
}

#define NUMBER float
#define NUMBERS floats
#include "num/map-loop.h"
