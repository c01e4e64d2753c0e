/* Draws by Markov chains, again with more care where they are not good enough. */
#ifndef DPI_INFER_ATTEMPTS_H
#define DPI_INFER_ATTEMPTS_H

#include "infer/hmc.h"

enum { DPI_ATTEMPTS = 3 };

typedef struct dpi_attempts {
    int first, end;        /* attempts first ... end - 1 of DPI_ATTEMPTS */
    double *from;          /* [chains][n] where they begin; then where the last attempt's are */
    double *draws;         /* [chains][draws][n] [out] */
    dpi_hmc_report report; /* [out] */
} dpi_attempts;

/* Calls dpi_hmc with opts, but for start, warm-up and acceptance, until its draws are good
 * (dpi_exact_is_good); each later attempt has a longer warm-up and shorter steps, and begins where
 * the chains of the one before are.  Draws and report are those of the first attempt that is good,
 * or, where none is, of the one with the most effective draws: steps that are too short give fewer.
 * Errors of dpi_hmc; DP_ENOMEM; then what is given means nothing. */
DP_MUST_CHECK dp_status dpi_attempts_make(dpi_attempts *a, const dpi_target *target,
                                          const dpi_hmc_opts *opts, dp_rng *rng, dp_error *err);

/* What attempt k < DPI_ATTEMPTS puts into opts. */
void dpi_attempt(int k, dpi_hmc_opts *opts);

#endif
