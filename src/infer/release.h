/* The release of a step: a sum on a grid plus Gaussian integers. */
#ifndef DPI_INFER_RELEASE_H
#define DPI_INFER_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/random.h>

/* What putting n numbers on the grid can add to the distance of two sums, as a share of the sensitivity
 * C when the noise is sigma C.  To be left out of the bound that gradients are clipped to. */
double dpi_release_share(double sigma, size_t n);

/* Puts sum[n] on the grid of step h = sd 2^-32 and adds real Gaussian noise of standard deviation sd,
 * rounded to the same grid.  The sum becomes an integer times h, rounded to double.
 *   sd     1e-250 <= sd <= 1e250, in the unit of the sum
 *   noise  [out] scratch, wiped
 * DP_EDOMAIN sd out of range; DP_EENTROPY after a fork, when the system gives no new key.  The sum is
 * zeroed then. */
dp_status dpi_release_protect(dp_noise *source, double sd, size_t n, double *sum, int64_t *noise,
                              dp_error *err) DP_MUST_CHECK;

#endif
