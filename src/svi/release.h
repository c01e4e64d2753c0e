/* The release of a step: a sum on a grid plus Gaussian integers. */
#ifndef DPI_SVI_RELEASE_H
#define DPI_SVI_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/random.h>

#include "base/alloc.h"
#include "random/stream.h"

/* What putting n numbers on the grid can add to the distance of two sums, as a share of the
 * sensitivity C when the noise is sigma C.  To be left out of the bound that gradients are clipped
 * to. */
double dpi_release_share(double sigma, size_t n);

/* Steps of the grid in 1, where the noise has this standard deviation. */
double dpi_release_steps(double sd);

/* Numbers whose noise comes from one key.  Where a release is cut depends on its length alone. */
enum { DPI_RELEASE_BLOCK = 8192 };

/* What becomes a release, and how.  A run has one for all its steps, whose sum, spread and rate are
 * set anew in each. */
typedef struct dpi_release {
    size_t n;
    bool noisy;     /* else there is neither grid nor noise */
    double sd;      /* of the noise: 1e-250 ... 1e250 in the unit of the sum */
    double rate;    /* the noisy sum is divided by it */
    double *sum;    /* [n] wiped as it is used; or `out`, where that is made of it in its place */
    bool whole_sum; /* which is in whole numbers of steps of the grid */
    double *last;   /* [n] more to add, wiped as it is used; or NULL */
    /* [n] what adding to the sum has lost, to be made good when the last is added; wiped; or
     * NULL */
    double *lost;
    double *out; /* [n] the release: an estimate of the whole sum, extras at its end */
    /* [n] instead of the release: the sum on the grid, with the noise unless `quiet`; for ranks
     * that add these up; or NULL */
    int64_t *whole;
    bool quiet; /* who adds these up draws the noise */
    unsigned char
        *keys; /* [dpi_release_blocks(n)][DPI_STREAM_KEY] room for what dpi_release_begin draws */
    dpi_stream *stream; /* of the only block */
} dpi_release;

size_t dpi_release_blocks(size_t n);

/* Makes room for releases of n numbers; n_whole, where it is not 0, is that of `whole`.
 * DP_ENOMEM. */
dp_status dpi_release_init(dpi_release *r, size_t n, size_t n_whole, dpi_arena *arena,
                           dp_error *err) DP_MUST_CHECK;

/* Draws a key for each block, or takes the source itself where there is one only; nothing where
 * there is no noise.
 * DP_EDOMAIN sd out of range; DP_EENTROPY after a fork, when the system gives no new key.  No block
 * may follow then. */
dp_status dpi_release_begin(dpi_release *r, dp_noise *source, dp_error *err) DP_MUST_CHECK;

/* Called for numbers first ... first + n - 1 as soon as they are released, while they are in
 * cache. */
typedef void dpi_release_then(void *user, size_t first, size_t n);

/* Makes the release of one block: puts sum + last on the grid of step h = sd 2^-32, adds real
 * Gaussian noise of standard deviation sd, rounded to the same grid, drops the integer's lowest 26
 * bits, and multiplies it, rounded to double, by 2^26 h over the rate.  Blocks may be made by
 * several threads at once; each must be made once. */
void dpi_release_block(const dpi_release *r, size_t block, dpi_release_then *then, void *user);

/* Makes the release of integers that have been added up. */
void dpi_release_whole(const dpi_release *r, const int64_t *whole);

/* Wipes the keys. */
void dpi_release_end(dpi_release *r);

#endif
