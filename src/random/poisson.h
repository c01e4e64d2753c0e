/* Poisson subsets: every record by itself, with a probability that is exact. */
#ifndef DPI_RANDOM_POISSON_H
#define DPI_RANDOM_POISSON_H

#include <tacit/status.h>

#include "random/gap.h"
#include "random/stream.h"

/* A probability q in (0, 1], prepared: its first 8 binary digits and the rest, both exact. */
typedef struct dpi_bernoulli {
    double q;
    double rest;         /* 256 q - first, in [0, 1) */
    unsigned char first; /* floor(256 q), or 255 when q is 1 */
    bool always;         /* q is 1 */
    bool sparse;         /* subsets are drawn by gaps */
    dpi_gap gap;
} dpi_bernoulli;

/* Prepares q.  DP_EDOMAIN unless 0 < q <= 1; then *rate is zeroed (an event that never happens). */
DP_MUST_CHECK dp_status dpi_bernoulli_set(dpi_bernoulli *rate, double q, dp_error *err);

/* Room for a subset of n: n, or where q is small, n q and so much more that a larger subset has a
 * probability below 2^-500. */
size_t dpi_poisson_room(const dpi_bernoulli *rate, size_t n);

/* Puts each of 0 .. n-1 into out, independently with probability q, in increasing order.  Returns
 * how many, 0 .. n; nothing is truncated: should there be no room, the stream cannot be random, and
 * SIZE_MAX is returned.  Exact, but for 2^-200 a member where q is small (gap.c).  About one
 * byte of the stream a record, or 8 a member; time grows with n, or with the subset.
 *   out  room for dpi_poisson_room(rate, n) indices; those behind the returned count are
 *        overwritten, too */
size_t dpi_poisson_subset(dpi_stream *stream, size_t n, const dpi_bernoulli *rate, size_t *out);

#endif
