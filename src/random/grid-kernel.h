/* Normal numbers on a grid, many at once: the code that each instruction set compiles for itself,
 * in double precision for integers and in single precision for what is rounded to fewer bits.
 *
 * The file that includes it defines KERNEL_NAME and ROUGH_NAME, KERNEL_BYTES (of a vector) and
 * KERNEL_TARGET (an attribute), and root_double and root_single, the square roots of a vector. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "random/grid.h"

#define LOG_2 0.693147180559945309417
#define HALF_PI 1.57079632679489661923
#define SIGN UINT64_C(0x8000000000000000)
#define INLINE static inline KERNEL_TARGET __attribute__((always_inline))

static const double of_log_double[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                       1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
static const double of_sine_double[] = {
    1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
    1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
static const double of_cosine_double[] = {-1.0 / 6402373705728000,
                                          1.0 / 20922789888000,
                                          -1.0 / 87178291200,
                                          1.0 / 479001600,
                                          -1.0 / 3628800,
                                          1.0 / 40320,
                                          -1.0 / 720,
                                          1.0 / 24,
                                          -1.0 / 2};

#define PART(name) name##_double
#define SCALAR double
#define UNSIGNED uint64_t
#define MANTISSA_BITS 52
#define FINE_BITS 22
#define SQRT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)
#define LOG_TERMS 10
#define SINE_TERMS 8
#define COSINE_TERMS 9
#include "random/grid-parts.h"

/* 1.5 2^52: adding it rounds to an integer, which its low bits then are, in two's complement. */
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)

enum { LANES = KERNEL_BYTES / 8, ROUGH_LANES = KERNEL_BYTES / 4 };

/* Rounds y to integers; those that an error of `bound` could change, and all of `bad`, become
 * DPI_GRID_UNDECIDED.  Adds them to *undecided. */
INLINE word_double decide(real_double y, real_double bound, word_double bad, word_double *undecided)
{
    real_double rounder = y + ROUNDER;
    real_double off = y - (rounder - ROUNDER);
    real_double distance = (real_double)((word_double)off & ~SIGN);
    bad |= (word_double)(distance > 0.5 - bound);
    *undecided |= bad;
    return (((word_double)rounder - ROUNDER_BITS) & ~bad) | (bad & (uint64_t)DPI_GRID_UNDECIDED);
}

/* LANES pairs of numbers. */
INLINE void make_pairs(const uint64_t *in, int64_t *out, word_double *undecided)
{
    word_double w0, w1;
    memcpy(&w0, in, sizeof w0);
    memcpy(&w1, in + DPI_GRID_GROUP, sizeof w1);
    real_double square = minus_two_log_double(w0 >> 12, (w0 & 0xfff) << 10 | (w1 & 0x3ff));
    real_double r = root_double(square) * DPI_GRID_SCALE, pair[2];
    real_double bound = r * DPI_GRID_RELATIVE + DPI_GRID_SCALE * 0x1p-53;
    word_double bad =
        (word_double)(square < DPI_GRID_LEAST) | (word_double)(square > DPI_GRID_MOST);
    polar_double(r, w1, pair);
    word_double first = decide(pair[0], bound, bad, undecided);
    word_double second = decide(pair[1], bound, bad, undecided);
    memcpy(out, &first, sizeof first);
    memcpy(out + DPI_GRID_GROUP, &second, sizeof second);
}

KERNEL_TARGET bool KERNEL_NAME(size_t groups, const uint64_t *in, int64_t *out)
{
    word_double undecided = {0};
    for (size_t k = 0; k < groups; k++, in += 2 * DPI_GRID_GROUP, out += 2 * DPI_GRID_GROUP)
        for (size_t i = 0; i < DPI_GRID_GROUP; i += LANES)
            make_pairs(in + i, out + i, &undecided);
    uint64_t any = 0;
    for (int i = 0; i < LANES; i++)
        any |= undecided[i];
    return any != 0;
}

/* ---- single precision ---- */

static const float of_log_single[] = {1.0F / 9, 1.0F / 7, 1.0F / 5, 1.0F / 3};
static const float of_sine_single[] = {1.0F / 362880, -1.0F / 5040, 1.0F / 120, -1.0F / 6};
static const float of_cosine_single[] = {-1.0F / 3628800, 1.0F / 40320, -1.0F / 720, 1.0F / 24,
                                         -1.0F / 2};

#define PART(name) name##_single
#define SCALAR float
#define UNSIGNED uint32_t
#define MANTISSA_BITS 23
#define FINE_BITS 16
#define SQRT_HALF_BITS UINT32_C(0x3f3504f3)
#define LOG_TERMS 4
#define SINE_TERMS 4
#define COSINE_TERMS 5
#include "random/grid-parts.h"

/* ROUGH_LANES pairs of numbers; those out of range become NaN. */
INLINE void rough_pairs(const uint32_t *in, float *out)
{
    word_single w0, w1;
    memcpy(&w0, in, sizeof w0);
    memcpy(&w1, in + DPI_GRID_GROUP, sizeof w1);
    real_single square = minus_two_log_single(w0 >> 9, (w0 & 0x1ff) << 7 | (w1 & 0x7f)), pair[2];
    word_single bad =
        (word_single)(square < DPI_ROUGH_LEAST) | (word_single)(square > DPI_ROUGH_MOST);
    real_single r =
        (real_single)((word_single)(root_single(square) * (float)DPI_GRID_KEPT_SCALE) | bad);
    polar_single(r, w1, pair);
    memcpy(out, &pair[0], sizeof pair[0]);
    memcpy(out + DPI_GRID_GROUP, &pair[1], sizeof pair[1]);
}

KERNEL_TARGET void ROUGH_NAME(size_t groups, const uint32_t *in, float *out)
{
    for (size_t k = 0; k < groups; k++, in += 2 * DPI_GRID_GROUP, out += 2 * DPI_GRID_GROUP)
        for (size_t i = 0; i < DPI_GRID_GROUP; i += ROUGH_LANES)
            rough_pairs(in + i, out + i);
}
