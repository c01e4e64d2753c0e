/* The inside of dp_noise. */
#ifndef DPI_RANDOM_NOISE_H
#define DPI_RANDOM_NOISE_H

#include <tacit/random.h>

#include "random/stream.h"

/* The stream of the source, with a new key when the process has forked since the last call.
 *   *stream  [out] borrowed, valid until dp_noise_free; NULL on error
 * Ask for it at the start of every step and do not keep it: the fork is noticed here.
 * DP_EENTROPY after a fork, when the system gives no new key. */
DP_MUST_CHECK dp_status dpi_noise_stream(dp_noise *noise, dpi_stream **stream, dp_error *err)
    DP_NONNULL(1, 2);

/* Goes on as the stream of `key`, of which nothing may be known that is not of the source's owner:
 * the same key draws the same again.  A child of fork takes a key of its own, as ever. */
void dpi_noise_key(dp_noise *noise, const unsigned char key[DPI_STREAM_KEY]) DP_NONNULL(1, 2);

/* Standard normal numbers out[rows][size], the pairs of a row being its own.  Errors and NaN as of
 * dp_noise_normal. */
dp_status dpi_noise_normal_rows(dp_noise *noise, size_t rows, size_t size, double *out,
                                dp_error *err) DP_MUST_CHECK;

#endif
