/* Privacy accounting: what a run of the Gaussian mechanism costs, as (epsilon, delta).
 *
 * A run is `steps` releases  S + N(0, sigma^2 C^2 I)  where S is a sum over the sampled records of
 * vectors of norm at most C.  Two data sets are neighbours when one is the other with one record
 * added or removed.  Every figure is an upper bound on the exact one, in both directions (record
 * added, record removed; composed apart, the worse reported), rounding errors included: it is safe
 * to publish.  The bounds are proved where they are computed: accountant/grid.c, accountant/mass.c.
 *
 * Works well for sigma 0.3 to 100, rate 1e-6 to 1, 1 to 1e6 steps, delta 1e-12 to 0.1; beyond that
 * it often works too, and says DP_EACCURACY where it does not.
 *
 * Thread-safe: all functions; plans of FFTW are made under a lock of Tacit's own (a program that
 * plans with FFTW itself in another thread calls fftw_make_planner_thread_safe). */
#ifndef TACIT_ACCOUNTANT_H
#define TACIT_ACCOUNTANT_H

#include <stdint.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the records of one step are chosen, and with it the neighbours that the privacy figure speaks
 * of.  A sampler and the accountant are given the same value. */
typedef enum dp_sampling {
    DP_SAMPLING_NONE_GIVEN = 0, /* an error: the sampling has no default */
    DP_SAMPLING_POISSON,        /* each record with probability `rate`, independently in every step,
                                 * batches of any size, none cut; add/remove one record */
    DP_SAMPLING_FULL,           /* every record in every step, rate = 1; add/remove one record */
    DP_SAMPLING_FIXED           /* batches of a fixed size without replacement; replace one record;
                                 * not accounted for yet: refused with DP_EMISMATCH */
} dp_sampling;

typedef struct dp_mechanism {
    dp_sampling sampling;
    double sigma;   /* standard deviation of the noise / clipping norm C, > 0 */
    double rate;    /* q: probability that a record is in the batch, (0, 1]; 1 for FULL */
    uint64_t steps; /* releases, >= 1 */
} dp_mechanism;

/* The epsilon that `m` satisfies at `delta`.
 *   delta     (0, 1)
 *   *epsilon  [out] nats, >= 0; not below the exact epsilon, and above it by at most 1e-3 of it
 *             (typically 2e-5), or by what a change of delta by 1e-5 of itself does; +INFINITY on
 *             any error
 * DP_EDOMAIN an argument is out of range; DP_EMISMATCH the sampling has no account; DP_ENOMEM;
 * DP_EACCURACY the tolerance is not reached.  Method: connect-the-dots discretisation (Doroshenko et
 * al., PoPETs 2022), exponential tilting, one FFT; closed form for rate 1 (Balle and Wang, ICML
 * 2018).  Milliseconds to a second. */
DP_API DP_MUST_CHECK dp_status dp_epsilon(const dp_mechanism *m, double delta, double *epsilon,
                                          dp_error *err) DP_NONNULL(1, 3);

/* The delta that `m` satisfies at `epsilon`.
 *   epsilon  nats, >= 0; 0 asks for the total variation distance
 *   *delta   [out] not below the exact delta, above it by at most 1e-3 of it or by what a change of
 *            epsilon by 1e-3 of itself does; never below 1e-30; 1 on any error
 * Errors and method as dp_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_delta(const dp_mechanism *m, double epsilon, double *delta,
                                        dp_error *err) DP_NONNULL(1, 3);

/* The smallest noise that keeps `steps` releases within (epsilon, delta).
 *   epsilon   > 0, nats       delta  (0, 1)       q  (0, 1]
 *   sampling  DP_SAMPLING_POISSON, or DP_SAMPLING_FULL with q = 1
 *   *sigma    [out] dp_epsilon at it is at most `epsilon`, and at 0.9999 of it is above `epsilon`;
 *             +INFINITY on any error
 * Errors as dp_epsilon; DP_EACCURACY also when the noise asked for lies outside [0.1, 1e5]. */
DP_API DP_MUST_CHECK dp_status dp_approximate_sigma(double epsilon, double delta, double q,
                                                    uint64_t steps, dp_sampling sampling,
                                                    double *sigma, dp_error *err) DP_NONNULL(6);

#ifdef __cplusplus
}
#endif
#endif
