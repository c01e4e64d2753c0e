/* Poisson subsets: every record by itself, with a probability that is exact. */
#ifndef DPI_RANDOM_POISSON_H
#define DPI_RANDOM_POISSON_H

#include <tacit/status.h>

#include "random/stream.h"

/* A probability q in (0, 1], prepared: its first 8 binary digits and the rest, both exact. */
typedef struct dpi_bernoulli {
    double rest;         /* 256 q - first, in [0, 1) */
    unsigned char first; /* floor(256 q), or 255 when q is 1 */
    bool always;         /* q is 1 */
} dpi_bernoulli;

/* Prepares q.  DP_EDOMAIN unless 0 < q <= 1; then *rate is zeroed (an event that never happens). */
DP_MUST_CHECK dp_status dpi_bernoulli_set(dpi_bernoulli *rate, double q, dp_error *err);

/* True with probability exactly q. */
bool dpi_bernoulli_draw(dpi_stream *stream, const dpi_bernoulli *rate);

/* Puts each of 0 .. n-1 into out, independently with probability exactly q, in increasing order.
 * Returns how many, 0 .. n; nothing is truncated.  About one byte of the stream a record.
 *   out  room for n indices; those behind the returned count are overwritten, too */
size_t dpi_poisson_subset(dpi_stream *stream, size_t n, const dpi_bernoulli *rate,
                          size_t *out /* [n] */);

#endif
