/* Random allocation: each record of an epoch in exactly one of its batches. */
#ifndef DPI_RANDOM_ALLOCATION_H
#define DPI_RANDOM_ALLOCATION_H

#include "random/stream.h"

/* Puts each of 0 .. n-1 into one of t batches, independently and exactly uniformly.  Batch k is
 * order[start[k]] ... order[start[k + 1] - 1], in rising order; it may be empty.
 * t >= 1.  Time O(n + t), 4 bytes of the stream a record (8 above t = 2^32), and seldom more. */
void dpi_allocation_draw(dpi_stream *stream, size_t n, size_t t, size_t *order /* [n] */,
                         size_t *start /* [t + 1] */, size_t *scratch /* [n] wiped */);

#endif
