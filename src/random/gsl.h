/* GSL's random variates drawn from a dp_rng. */
#ifndef DPI_RANDOM_GSL_H
#define DPI_RANDOM_GSL_H

#include <gsl/gsl_rng.h>

#include "random/rng.h"

/* A GSL generator that reads from `rng`: hand its address to gsl_ran_gamma, gsl_ran_poisson, ...
 * It borrows rng and needs no gsl_rng_free.  Not to be copied with gsl_rng_memcpy or
 * gsl_rng_clone, which would read behind it; gsl_rng_set starts rng anew from a seed. */
gsl_rng dpi_rng_gsl(dp_rng *rng) DP_NONNULL(1);

#endif
