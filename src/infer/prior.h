/* Independent draws of a model's latents from their prior. */
#ifndef DPI_INFER_PRIOR_H
#define DPI_INFER_PRIOR_H

#include <tacit/random.h>

#include "infer/view.h"

/* theta[n][d], unconstrained, in the order of view->objective.blocks; a number is not finite where
 * the prior's own arithmetic overflows.  The view is the model's.  DP_ENOMEM. */
dp_status dpi_prior_draw(const dp_model *model, const dpi_model_view *view, size_t n, dp_rng *rng,
                         double *theta, dp_error *err) DP_MUST_CHECK;

#endif
