/* The guide and the start of a fit by the loop. */
#ifndef DPI_INFER_LOOP_GUIDE_H
#define DPI_INFER_LOOP_GUIDE_H

#include <tacit/random.h>

#include "model/objective.h"

/* A guide for a model whose records have latents; *guide [out] is NULL where the mean-field guide
 * will do, else the caller's, freed before the model.  DP_EUNSUPPORTED where no guide is known. */
dp_status dpi_loop_guide(const dp_model *model, dp_model **guide, dp_error *err) DP_MUST_CHECK;

/* Sets theta, of an objective without a written guide, where the loop begins; what a rule of the
 * model starts stays.  DP_ENOMEM. */
dp_status dpi_loop_start(const dp_model *model, const dpi_objective *o, dp_rng *rng, double *theta,
                         dp_error *err) DP_MUST_CHECK;

#endif
