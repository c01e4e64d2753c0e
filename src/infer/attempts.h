/* Draws by Markov chains, again with more care where they are not good enough. */
#ifndef DPI_INFER_ATTEMPTS_H
#define DPI_INFER_ATTEMPTS_H

#include "infer/hmc.h"

enum { DPI_ATTEMPTS = 3 };

/* Calls dpi_hmc with opts, but for warm-up and acceptance, until its draws are good
 * (dpi_exact_is_good); each later attempt has a longer warm-up and shorter steps, and begins where
 * the chains of the one before are.  Draws and report are those of the first attempt that is good,
 * or, where none is, of the one with the most effective draws: steps that are too short give fewer.
 *   *opts, *target, *rng, *draws, *report  as dpi_hmc has them; opts->start is left as it is;
 *                                          on error draws and report mean nothing
 * Errors of dpi_hmc; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_attempts(const dpi_target *target, const dpi_hmc_opts *opts,
                                     dp_rng *rng, double *draws, dpi_hmc_report *report,
                                     dp_error *err);

/* What attempt k < DPI_ATTEMPTS puts into opts. */
void dpi_attempt(int k, dpi_hmc_opts *opts);

#endif
