/* Draws from a density that is known up to a factor, with its gradient: Markov chains. */
#ifndef DPI_INFER_HMC_H
#define DPI_INFER_HMC_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/random.h>
#include <tacit/status.h>

#include "base/pool.h"
#include "infer/nuts.h"
#include "infer/progress.h"

typedef struct dpi_hmc_opts {
    size_t chains, warmup, draws; /* chains and draws of each: at least 1 */
    int depth;                    /* most doublings of a trajectory, 1 .. 20; 0: 10 */
    double acceptance;            /* that the step is made for, in (0, 1); 0: 0.8 */
    const double *start;          /* [chains][n], inside */
    const double *factor; /* [n][n], nullable: lower Cholesky factor of a guess of the covariance;
                           * above the diagonal it is not read */
    bool adapt;           /* learn the covariance in the warm-up; less than 20 are too few */
    double step;          /* in whitened coordinates; 0: found in the warm-up.  One that is given is
                           * kept, but for adapt, which begins with it */
    dpi_pool *pool;       /* nullable: draws of several chains are made at the same time, if there
                           * are targets for it; they are the same for any number of threads */
    const dpi_target *twins; /* [n_twins] of the target's density, for other threads */
    size_t n_twins;
    dpi_progress *progress; /* nullable: told of transitions, and may stop */
} dpi_hmc_opts;

typedef struct dpi_hmc_report {
    double r_hat, ess; /* of the draws: see infer/mixing.h */
    size_t divergent;  /* draws whose trajectory left the density or its energy; warm-up excluded */
    size_t cut;        /* draws whose trajectory had used up all doublings: the step is too short */
    double step;       /* of the draws, for all chains */
    double acceptance; /* mean over draws */
    size_t gradients;  /* calls of the target, warm-up included */
} dpi_hmc_report;

/* Draws of `chains` Markov chains by the no-U-turn sampler; one step and one covariance, learnt
 * from all chains, serve all.  A chain's last draw may be the start of a further call with warmup 0
 * and the step given.  Nothing is allocated for an iteration.
 *   *target  borrowed for the call      *rng  advances; equal seeds give equal draws
 *   draws[chains][opts->draws][n]       [out] NaN on error, but for DP_EINVAL
 *   *report  [out] r_hat INFINITY, ess 0 on error
 * DP_EINVAL a count is 0 or too large, or the start is missing; DP_EDOMAIN a number is out of range
 * or a start is outside; DP_ESTOPPED; DP_ENOMEM.  Thread-safe for a target that is. */
DP_MUST_CHECK dp_status dpi_hmc(const dpi_target *target, const dpi_hmc_opts *opts, dp_rng *rng,
                                double *draws, dpi_hmc_report *report, dp_error *err);

#endif
