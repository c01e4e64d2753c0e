/* The inside of dp_rng. */
#ifndef DPI_RANDOM_RNG_H
#define DPI_RANDOM_RNG_H

#include <tacit/random.h>

#include "random/stream.h"

/* The stream of the source; borrowed, valid until dp_rng_free. */
dpi_stream *dpi_rng_stream(dp_rng *rng) DP_NONNULL(1);

/* Starts the source anew from a seed, as dp_rng_new does. */
void dpi_rng_reseed(dp_rng *rng, uint64_t seed) DP_NONNULL(1);

#endif
