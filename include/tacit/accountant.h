/* Privacy accounting: what runs of private mechanisms cost, as intervals that contain the exact
 * figure.
 *
 * A mechanism is described by a dp_mechanism: which noise, how records are chosen, how often.  A
 * list of them is composed.  Answers are intervals [lower, upper]: `upper` is a proven bound,
 * rounding errors included, and is what may be published; `lower` is a proven bound from the other
 * side, which says how much is given away.  Where a quadrature of the inversion integral applies
 * (contour), its estimate must lie between the two or the call fails with DP_EACCURACY.  The proofs
 * are in doc/design/accountant.md.  Both directions (record added, record removed) are composed
 * apart and the worse one counts.
 *
 * No callbacks, plain C types, no global state but plans of FFTW, which are kept: callable from
 * other languages.  Thread-safe: all functions; plans are made under a lock of Tacit's own (a
 * program that plans with FFTW itself in another thread calls fftw_make_planner_thread_safe, and
 * none calls fftw_cleanup, after which FFTW's plans are undefined). */
#ifndef TACIT_ACCOUNTANT_H
#define TACIT_ACCOUNTANT_H

#include <stddef.h>
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
                                 * batches of any size, none cut; add/remove, or replace one
                                 * record */
    DP_SAMPLING_FULL,       /* every record in every step, rate = 1; add/remove, or replace one */
    DP_SAMPLING_FIXED,      /* `rate` * n records without replacement; replace one record.  The
                                 * worst case is known only as an interval: [a pair that some data
                                 * realise, a pair that dominates all] */
    DP_SAMPLING_ALLOCATION, /* in each epoch of `epoch` steps every record is in exactly one batch,
                                 * drawn uniformly and afresh; rate = 1 / epoch; add/remove */
    DP_SAMPLING_TRUNCATED,  /* Poisson, but of a batch above `cap` records a random `cap` are kept;
                                 * `records` of them in all; add/remove */
    DP_SAMPLING_SHUFFLE     /* batches cut from a shuffled list: refused, DP_EMISMATCH */
} dp_sampling;

/* Which data sets are neighbours. */
typedef enum dp_adjacency {
    DP_ADJACENCY_OF_SAMPLING =
        0,         /* add/remove; replace one for DP_SAMPLING_FIXED and for randomised
                                   * response */
    DP_ADD_REMOVE, /* one record more or less */
    DP_REPLACE_ONE /* one record changed to any other */
} dp_adjacency;

/* Which noise. */
typedef enum dp_noise_law {
    DP_NOISE_GAUSSIAN = 0, /* N(0, sigma^2 C^2) on a sum of vectors of norm at most C */
    DP_NOISE_LAPLACE,      /* Laplace of scale sigma C on a sum of vectors of L1 norm at most C */
    DP_NOISE_DISCRETE_GAUSSIAN,   /* integer k with mass ~ exp(-k^2 / 2 sigma^2), on an integer
                                   * query of sensitivity 1 */
    DP_NOISE_ROUNDED_GAUSSIAN,    /* N(0, sigma^2) rounded to the nearest integer, likewise */
    DP_NOISE_RANDOMISED_RESPONSE, /* one of `categories` answers, replaced with probability
                                   * sigma by a uniform one; replace one */
    DP_NOISE_ALL_OR_NOTHING /* all of the record with probability sigma, (0, 1), else nothing; full
                             * batches, either adjacency.  Beside a mechanism it is a delta: what is
                             * (epsilon, delta)-private is dominated by randomised response of 2
                             * categories, sigma = 2 / (1 + e^epsilon), and this with sigma = delta.
                             * dp_account_epsilon, _delta, dp_epsilon and dp_delta alone take it;
                             * DP_EACCURACY where it leaves nothing of the delta asked about */
} dp_noise_law;

typedef struct dp_mechanism {
    dp_sampling sampling;
    double sigma;   /* noise / clipping norm C, > 0; see dp_noise_law for its meaning there */
    double rate;    /* q: probability that a record is in the batch, (0, 1]; 1 for FULL */
    uint64_t steps; /* releases, >= 1 */

    /* Zero in all that follows means the usual case. */
    dp_noise_law noise;
    dp_adjacency adjacency;
    uint64_t epoch;      /* ALLOCATION: steps per epoch, >= 2; `steps` is a multiple of it */
    uint64_t records;    /* TRUNCATED: number of records */
    uint64_t cap;        /* TRUNCATED: largest batch */
    uint32_t rows;       /* POISSON: rows of one unit (0 and 1: one), each sampled by itself and
                          * clipped by itself; at most 64 */
    uint32_t categories; /* RANDOMISED_RESPONSE: number of answers, >= 2 */
    /* FULL and POISSON with Gaussian noise, when not NULL: in each release the unit moves the sum
     * by jumps[j] C with probability chances[j], which sum to 1 (n_jumps at most 64); rate is 1. */
    const double *jumps, *chances;
    size_t n_jumps;
} dp_mechanism;

/* ---- what a list of mechanisms costs ---- */

/* Which neighbour is the worse one. */
typedef enum dp_worse { DP_WORSE_REMOVE, DP_WORSE_ADD, DP_WORSE_EITHER } dp_worse;

typedef struct dp_interval {
    double lower, upper; /* proven bounds on the exact figure */
    double estimate;     /* the contour's; NaN where it does not apply (lattices, few steps) */
    dp_worse worse;      /* direction that decides `upper` */
    const char *method;  /* "closed form", "grid", "grid and contour"; a constant string */
    size_t grid;         /* points of the largest transform, 0 for none */
} dp_interval;

/* Epsilon of the composition of list[0 ... n-1] at delta.
 *   delta      (0, 1)
 *   width      (upper - lower) / upper asked for, (0, 1); 0: 1e-3.  For DP_SAMPLING_FIXED,
 *              TRUNCATED and ALLOCATION `upper` is that close to the pair that dominates; the gap
 *              to the pair that is realised remains (for ALLOCATION it is of the order of 1e-3)
 *   *epsilon   [out] nats, lower >= 0; {0, +INFINITY, NaN} on any error
 * DP_EDOMAIN an argument is out of range; DP_EMISMATCH no account for this sampling, noise and
 * adjacency, or mechanisms with different adjacencies in one list; DP_ENOMEM; DP_EACCURACY the
 * width is not reached, or the engines disagree: the message says what stopped it. */
DP_API DP_MUST_CHECK dp_status dp_account_epsilon(const dp_mechanism *list, size_t n, double delta,
                                                  double width, dp_interval *epsilon, dp_error *err)
    DP_NONNULL(1, 5);

/* Delta at epsilon >= 0; epsilon = 0 gives the total variation distance, a membership attacker's
 * greatest advantage (true minus false positive rate).  `width` is relative to delta.
 * {0, 1, NaN} on any error; else as dp_account_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_account_delta(const dp_mechanism *list, size_t n, double epsilon,
                                                double width, dp_interval *delta, dp_error *err)
    DP_NONNULL(1, 5);

/* Greatest true positive rate of a membership test whose false positive rate is fpr, (0, 1);
 * `upper` bounds every attacker.  {0, 1, NaN} on any error; else as dp_account_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_account_tpr(const dp_mechanism *list, size_t n, double fpr,
                                              double width, dp_interval *tpr, dp_error *err)
    DP_NONNULL(1, 5);

/* The contour's figures alone: about ten digits in well under a millisecond, not certified.  For
 * searches, plots and monitors; publish dp_account_epsilon's.  NaN on any error.  DP_EACCURACY also
 * where the contour does not apply (lattice losses, fewer than about 30 sampled steps). */
DP_API DP_MUST_CHECK dp_status dp_contour_epsilon(const dp_mechanism *list, size_t n, double delta,
                                                  double *epsilon, dp_error *err) DP_NONNULL(1, 4);
DP_API DP_MUST_CHECK dp_status dp_contour_delta(const dp_mechanism *list, size_t n, double epsilon,
                                                double *delta, dp_error *err) DP_NONNULL(1, 4);

/* Upper bound on the Renyi divergence of order alpha > 1 of the list, nats; +INFINITY on any
 * error. */
DP_API DP_MUST_CHECK dp_status dp_account_renyi(const dp_mechanism *list, size_t n, double alpha,
                                                double *divergence, dp_error *err) DP_NONNULL(1, 4);

/* Smallest mu such that mu-Gaussian DP covers the list's trade-off curve at every false positive
 * rate in [least_fpr, 1/2], as an upper bound (at the corners of certified lines, so for all rates
 * between); +INFINITY on any error. */
DP_API DP_MUST_CHECK dp_status dp_account_mu(const dp_mechanism *list, size_t n, double least_fpr,
                                             double *mu, dp_error *err) DP_NONNULL(1, 4);

/* Greatest posterior probability of membership that an attacker with the prior in (0, 1) reaches
 * under (epsilon, 0): prior e^epsilon / (1 - prior + prior e^epsilon); under (epsilon, delta) it
 * holds but with probability about delta.  NaN when out of range. */
DP_API double dp_posterior_belief(double epsilon, double prior);

/* ---- one mechanism ---- */

/* Upper bound on the epsilon that `m` satisfies at `delta`, within 1e-3 of the exact figure and as
 * a rule 2e-5 (for FIXED: of the dominating pair's); +INFINITY on any error.  As
 * dp_account_epsilon. */
DP_API DP_MUST_CHECK dp_status dp_epsilon(const dp_mechanism *m, double delta, double *epsilon,
                                          dp_error *err) DP_NONNULL(1, 3);

/* The same for delta at `epsilon` >= 0; 1 on any error. */
DP_API DP_MUST_CHECK dp_status dp_delta(const dp_mechanism *m, double epsilon, double *delta,
                                        dp_error *err) DP_NONNULL(1, 3);

/* ---- calibration: the other direction ---- */

/* Noise that keeps `steps` releases within (epsilon, delta): an upper bound on the smallest that
 * does, never below it, whatever the name says (it is d3p's, where the figure is an estimate).
 *   epsilon   > 0, nats       delta  (0, 1)       q  (0, 1]
 *   sampling  POISSON, FULL (q = 1), FIXED
 *   *sigma    [out] certified to keep epsilon, and within a relative 1e-4 of the least sigma that
 *             does (for FIXED: that the dominating pair asks for); +INFINITY on any error
 * Errors as dp_epsilon; DP_EACCURACY also when the noise asked for lies outside [0.1, 1e5]. */
DP_API DP_MUST_CHECK dp_status dp_approximate_sigma(double epsilon, double delta, double q,
                                                    uint64_t steps, dp_sampling sampling,
                                                    double *sigma, dp_error *err) DP_NONNULL(6);

/* The same for any mechanism: m->sigma is not read.  tolerance relative, 0: 1e-4.  Of random
 * allocation noise is looked for in [0.4, 1000]. */
DP_API DP_MUST_CHECK dp_status dp_calibrate_sigma(const dp_mechanism *m, double epsilon,
                                                  double delta, double tolerance, double *sigma,
                                                  dp_error *err) DP_NONNULL(1, 5);

/* Most steps within (epsilon, delta), exact up to the bound's excess of at most 1e-4 relative (and
 * a whole number of epochs for ALLOCATION); m->steps is not read.  0 when not even one fits, which
 * is DP_OK, and on any error. */
DP_API DP_MUST_CHECK dp_status dp_calibrate_steps(const dp_mechanism *m, double epsilon,
                                                  double delta, uint64_t *steps, dp_error *err)
    DP_NONNULL(1, 4);

/* Greatest sampling rate within (epsilon, delta), within a relative 1e-4 below the exact one;
 * POISSON and FIXED; m->rate is not read.  0 on any error or when none fits. */
DP_API DP_MUST_CHECK dp_status dp_calibrate_rate(const dp_mechanism *m, double epsilon,
                                                 double delta, double *rate, dp_error *err)
    DP_NONNULL(1, 4);

/* Smallest cap of a TRUNCATED mechanism whose epsilon exceeds that of plain Poisson sampling by at
 * most `excess` (relative, 0: 1e-3); m->cap is not read; 0 on any error. */
DP_API DP_MUST_CHECK dp_status dp_calibrate_cap(const dp_mechanism *m, double delta, double excess,
                                                uint64_t *cap, dp_error *err) DP_NONNULL(1, 4);

#ifdef __cplusplus
}
#endif
#endif
