/* Draws from a model before it is fitted: latents from the prior, and records given them.
 *
 * Draws are made with dp_rng: they are simulations, not releases.  Those of a fitted model are
 * tacit/fit.h's.  An object belongs to one thread at a time. */
#ifndef TACIT_SIMULATE_H
#define TACIT_SIMULATE_H

#include <tacit/dataset.h>
#include <tacit/model.h>
#include <tacit/random.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_simulator dp_simulator;

/* A simulator of `model` over the columns in `data`; observed columns need not be there.  Both must
 * outlive it.  *sim is NULL on error: the model's own error, DP_ENAME, DP_ESHAPE, DP_EDATA,
 * DP_EUNSUPPORTED for a model with per-record latents, DP_ENOMEM. */
DP_API dp_status dp_simulator_new(const dp_model *model, const dp_dataset *data, dp_simulator **sim,
                                  dp_error *err) DP_MUST_CHECK;

DP_API void dp_simulator_free(dp_simulator *sim);

/* Draws all latents from the prior.  DP_EUNSUPPORTED when the model has plain parameters, which
 * have no prior, or a prior that is no distribution (dp_flat). */
DP_API dp_status dp_simulate_prior(dp_simulator *sim, dp_rng *rng, dp_error *err) DP_MUST_CHECK;

/* The n numbers of a latent as drawn last.  DP_ENAME, DP_ESHAPE. */
DP_API dp_status dp_simulated(const dp_simulator *sim, const char *name, size_t n, double *values,
                              dp_error *err) DP_MUST_CHECK;

/* Draws the observed column `name` of every record given the latents drawn last:
 * values[records][d], n = records * d numbers in all.  DP_ENAME, DP_ESHAPE, DP_ESTATE before
 * latents were drawn. */
DP_API dp_status dp_simulate_records(dp_simulator *sim, const char *name, dp_rng *rng, size_t n,
                                     double *values, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
