/* Independent draws of a model's latents from their prior. */
#ifndef DPI_INFER_PRIOR_H
#define DPI_INFER_PRIOR_H

#include <tacit/random.h>

#include <tacit/model.h>

/* theta[n][d], unconstrained, the d numbers of an objective of points in the order of its blocks; a
 * number is not finite where the prior's own arithmetic overflows.  DP_ENOMEM. */
dp_status dpi_prior_draw(const dp_model *model, size_t d, size_t n, dp_rng *rng, double *theta,
                         dp_error *err) DP_MUST_CHECK;

#endif
