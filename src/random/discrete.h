/* The discrete Gaussian. */
#ifndef DPI_RANDOM_DISCRETE_H
#define DPI_RANDOM_DISCRETE_H

#include "random/stream.h"

#define DPI_DISCRETE_LEAST 0x1p-6
#define DPI_DISCRETE_GREATEST 0x1p20

/* n independent integers x with probability proportional to exp(-x^2 / (2 sigma^2)), exactly, given
 * random bytes.  sigma between the limits above.  Some microseconds each; the time depends on
 * them. */
void dpi_discrete_gaussians(dpi_stream *stream, size_t n, double sigma, int64_t *out /* [n] */);

#endif
