/* Gaussian integers: real normal numbers times 2^32, rounded to integers; and sums with them,
 * rounded to what is worth releasing. */
#ifndef DPI_RANDOM_GRID_H
#define DPI_RANDOM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/stream.h"

/* A standard deviation is 2^DPI_GRID_BITS steps of the grid. */
#define DPI_GRID_BITS 32
#define DPI_GRID_SCALE 0x1p32

/* Total variation between what a draw is and the rounding of a real normal number, given random
 * bytes: at most 2^DPI_GRID_FAILURE_LOG2 (grid.c). */
#define DPI_GRID_FAILURE_LOG2 (-200)

/* n independent integers K = round(2^32 Z), Z a real standard normal number: halves away from zero
 * do not occur.  The same integers on every processor and with every kernel.
 * Takes 32 bytes and then 128 for every 32 numbers that are begun, piece by piece.  Nothing of them
 * is left behind in memory but in out.  About one number in 50000 takes some microseconds more:
 * grid.c says what that tells. */
void dpi_stream_grid(dpi_stream *stream, size_t n, int64_t *out /* [n] */);

/* What is released is rounded to 2^DPI_GRID_KEPT parts of the standard deviation: DPI_GRID_DROPPED
 * bits of a number of steps are dropped. */
enum { DPI_GRID_KEPT = 6, DPI_GRID_DROPPED = DPI_GRID_BITS - DPI_GRID_KEPT };
#define DPI_GRID_KEPT_SCALE 0x1p6

/* The nearest integer to steps 2^-DPI_GRID_DROPPED, upwards where two are: |steps| < 2^63 -
 * 2^25. */
static inline int64_t dpi_grid_dropped(int64_t steps)
{
    const int64_t unit = INT64_C(1) << DPI_GRID_DROPPED, up = steps + unit / 2;
    return (up - (int64_t)((uint64_t)up & (uint64_t)(unit - 1))) / unit;
}

/* ---- kernels ---- */

enum { DPI_GRID_GROUP = 16 }; /* pairs that are made together */
#define DPI_GRID_UNDECIDED INT64_MIN

/* What the kernels vouch for: with R = r 2^32, a number off by less than R DPI_GRID_RELATIVE +
 * 2^-21 steps where DPI_GRID_LEAST <= r^2 <= DPI_GRID_MOST. */
#define DPI_GRID_RELATIVE 0x1p-49
#define DPI_GRID_LEAST 0x1p-40
#define DPI_GRID_MOST 36.0

/* Makes 32 numbers of every 32 words: numbers i and i + 16 of words i and i + 16.  True when one of
 * them is DPI_GRID_UNDECIDED. */
typedef bool dpi_grid_make(size_t groups, const uint64_t *in /* [32 groups] */,
                           int64_t *out /* [32 groups] */);

/* The same in single precision, of the leading words of 32 bits that words are made from, times
 * 2^DPI_GRID_KEPT and not rounded: where DPI_ROUGH_LEAST <= r^2 <= DPI_ROUGH_MOST so near that
 * DPI_ROUGH_BOUND holds what adding and rounding lose besides (grid.c), else NaN. */
#define DPI_ROUGH_BOUND 0x1.4p-12F
#define DPI_ROUGH_LEAST 0x1p-28F
#define DPI_ROUGH_MOST 30.0F
typedef void dpi_grid_rough(size_t groups, const uint32_t *in /* [32 groups] */,
                            float *out /* [32 groups] */);

typedef struct dpi_grid_kernel {
    const char *name;
    dpi_grid_make *make;
    dpi_grid_rough *rough;
    bool (*runs_here)(void);
} dpi_grid_kernel;

/* The fastest first, the last one runs anywhere. */
extern const dpi_grid_kernel dpi_grid_kernels[];
extern const size_t dpi_n_grid_kernels;

const dpi_grid_kernel *dpi_grid_best(void); /* the fastest that runs here */

void dpi_stream_grid_with(const dpi_grid_kernel *kernel, dpi_stream *stream, size_t n,
                          int64_t *out /* [n] */);

/* ---- a call of dpi_stream_grid in pieces, so that each can be used while it is at hand ---- */

enum { DPI_GRID_PIECE = 1024 };

/* Holds secrets between dpi_grid_begin and dpi_grid_end; for one thread. */
typedef struct dpi_grid {
    const dpi_grid_kernel *kernel;
    dpi_stream *stream;
    size_t used;                       /* words that were written to */
    unsigned char key[DPI_STREAM_KEY]; /* of the piece's bits that are seldom needed */
    uint32_t leading[DPI_GRID_PIECE];  /* of its words */
} dpi_grid;

void dpi_grid_begin(dpi_grid *g, const dpi_grid_kernel *kernel, dpi_stream *stream);

/* The next n <= DPI_GRID_PIECE integers; DPI_GRID_PIECE of them, except in the last piece. */
void dpi_grid_next(dpi_grid *g, size_t n, int64_t *out /* [n] */);

/* What the sums of whole numbers of steps and the next n integers are to 2^DPI_GRID_KEPT parts of a
 * standard deviation, times `worth`:
 *
 *   out[j] = dpi_grid_dropped(steps[j] + K_j) worth
 *
 * for the K_j that dpi_grid_next would give, at a third of its cost.  |steps[j]| <= 2^62. */
void dpi_grid_round(dpi_grid *g, size_t n, const double *steps /* [n] */, double worth,
                    double *out /* [n] */);

/* Overwrites what it holds. */
void dpi_grid_end(dpi_grid *g);

/* ---- for tests and benchmarks ---- */

dpi_grid_make dpi_grid_portable, dpi_grid_avx2, dpi_grid_avx512;
dpi_grid_rough dpi_rough_portable, dpi_rough_avx2, dpi_rough_avx512;

/* Number 0 or 1 of a pair from its two words and 384 bits more. */
int64_t dpi_grid_exact(const uint64_t word[2], const uint64_t more[6], int which);

#endif
