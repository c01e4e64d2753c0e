/* Gaps between the members of a Poisson subset: how many records in a row are out. */
#ifndef DPI_RANDOM_GAP_H
#define DPI_RANDOM_GAP_H

#include <stdbool.h>
#include <stdint.h>

#include "random/stream.h"
#include "random/wide.h"

enum { DPI_GAP_MORE = 3 };

/* A rate q, prepared: -log(1 - q) to 2^-300, and one over it to 2^-50 of itself. */
typedef struct dpi_gap {
    dpi_wide decay;
    double inverse;
} dpi_gap;

/* Whether gaps of the rate q are offered: 2^-40 <= q <= 1/2. */
bool dpi_gap_serves(double q);

/* Prepares a rate that dpi_gap_serves allows. */
void dpi_gap_set(dpi_gap *gap, double q);

/* k with probability (1 - q)^k q, k >= 0.  Takes 8 bytes of the stream, and 24 more once in some
 * 2^47 q draws. */
uint64_t dpi_gap_draw(dpi_stream *stream, const dpi_gap *gap);

/* What the draw is for the bits `first` and then `more`; and the same from `first` alone, false
 * when that does not settle it.  For tests. */
uint64_t dpi_gap_exact(const dpi_gap *gap, uint64_t first, const uint64_t more[DPI_GAP_MORE]);
bool dpi_gap_fast(const dpi_gap *gap, uint64_t first, uint64_t *k);

#endif
