/* Gaussian integers: real normal numbers times 2^32, rounded to integers. */
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

/* n independent integers round(2^32 Z), Z a real standard normal number: halves away from zero do
 * not occur.  The same integers on every processor and with every kernel.
 * Takes 32 bytes and then 128 for every 16 numbers that are begun.  Nothing of them is left behind in
 * memory but in out.  About one number in 50000 takes some microseconds more: grid.c says what
 * that tells. */
void dpi_stream_grid(dpi_stream *stream, size_t n, int64_t *out /* [n] */);

/* ---- kernels ---- */

enum { DPI_GRID_GROUP = 8 }; /* pairs that are made together */
#define DPI_GRID_UNDECIDED INT64_MIN

/* What the kernels vouch for: with R = r 2^32, a number off by less than R DPI_GRID_RELATIVE + 2^-21
 * steps where DPI_GRID_LEAST <= r^2 <= DPI_GRID_MOST. */
#define DPI_GRID_RELATIVE 0x1p-49
#define DPI_GRID_LEAST 0x1p-40
#define DPI_GRID_MOST 36.0

/* Makes 16 numbers of every 16 words: numbers i and i + 8 of words i and i + 8.  True when one of
 * them is DPI_GRID_UNDECIDED. */
typedef bool dpi_grid_make(size_t groups, const uint64_t *in /* [16 groups] */,
                           int64_t *out /* [16 groups] */);

typedef struct dpi_grid_kernel {
    const char *name;
    dpi_grid_make *make;
    bool (*runs_here)(void);
} dpi_grid_kernel;

/* The fastest first, the last one runs anywhere. */
extern const dpi_grid_kernel dpi_grid_kernels[];
extern const size_t dpi_n_grid_kernels;

const dpi_grid_kernel *dpi_grid_best(void); /* the fastest that runs here */

void dpi_stream_grid_with(const dpi_grid_kernel *kernel, dpi_stream *stream, size_t n,
                          int64_t *out /* [n] */);

/* ---- a call of dpi_stream_grid in pieces, so that each can be used while it is at hand ---- */

enum { DPI_GRID_PIECE = 512 };

/* Holds secrets between dpi_grid_begin and dpi_grid_end; for one thread. */
typedef struct dpi_grid {
    const dpi_grid_kernel *kernel;
    dpi_stream *stream;
    uint64_t pair;                     /* number of the next pair within the call */
    size_t used;                       /* words that were written to */
    unsigned char key[DPI_STREAM_KEY]; /* of bits that are hardly ever needed */
    int64_t last[2 * DPI_GRID_GROUP];
    uint64_t word[DPI_GRID_PIECE];
} dpi_grid;

void dpi_grid_begin(dpi_grid *g, const dpi_grid_kernel *kernel, dpi_stream *stream);

/* The next n <= DPI_GRID_PIECE integers; a multiple of 16, except in the last piece. */
void dpi_grid_next(dpi_grid *g, size_t n, int64_t *out /* [n] */);

/* Overwrites what it holds. */
void dpi_grid_end(dpi_grid *g);

/* ---- for tests and benchmarks ---- */

dpi_grid_make dpi_grid_portable, dpi_grid_avx2, dpi_grid_avx512;

/* Number 0 or 1 of a pair from its two words and 384 bits more. */
int64_t dpi_grid_exact(const uint64_t word[2], const uint64_t more[6], int which);

#endif
