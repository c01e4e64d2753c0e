/* Random permutations of 0 .. n-1 that are computed one element at a time. */
#ifndef DPI_RANDOM_FEISTEL_H
#define DPI_RANDOM_FEISTEL_H

#include "random/stream.h"

/* A permutation: a secret; wipe it with sodium_memzero after use. */
typedef struct dpi_feistel {
    uint64_t key0, key1; /* of the round function */
    uint64_t n, a, b;    /* elements; numbers are pairs in [0, a) x [0, b), a * b >= n */
    int rounds;          /* even */
} dpi_feistel;

/* Draws a permutation of 0 .. n-1, n >= 1; takes 16 bytes of the stream.
 * Meant for large n: see the analysis in feistel.c. */
void dpi_feistel_draw(dpi_feistel *feistel, dpi_stream *stream, uint64_t n);

/* Image of i < n. */
uint64_t dpi_feistel_at(const dpi_feistel *feistel, uint64_t i);

/* SipHash-2-4 of the 5 bytes of `half` (little endian) and `round` under the 128-bit key. */
uint64_t dpi_siphash(uint64_t key0, uint64_t key1, uint32_t half, unsigned round);

#endif
