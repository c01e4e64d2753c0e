/* Audits: what an attacker finds out about one record from real runs of dp_svi, or from releases of
 * dp_fit_private, as a proven lower bound on epsilon that stands beside the certified upper one.
 *
 * The attacker knows the program, all other records and the record in question (the canary, whose
 * gradient has norm `clip` in a known direction), and sees either every release of every step, or
 * only the parameters at the end.  Both are more than what a publication shows, as in the
 * definition of differential privacy.  A lower bound above the certified figure means that the
 * program does not do what its account says.  One far below it means little: an audit finds no more
 * than its attack does.  The rest of what is certified, the greatest true positive rate at every
 * false positive rate, is put to the test as well: that sees most faults with far fewer runs.
 * Maths: doc/design/audit.md. */
#ifndef TACIT_AUDIT_H
#define TACIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/accountant.h>
#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the attacker sees. */
typedef enum dp_audit_target {
    DP_AUDIT_GRADIENTS = 0, /* the noisy sum of every step */
    DP_AUDIT_PARAMETERS,    /* the parameters after the last step, through dp_svi_get */
    /* What dp_fit_private asks all records, `steps` times: for full batches and many runs. */
    DP_AUDIT_SCALES,    /* how many there are, and of which size is what they tell */
    DP_AUDIT_NORMS,     /* of which size the matrices are of what they tell */
    DP_AUDIT_WHITENING, /* the sum of these matrices */
    DP_AUDIT_SCORE,     /* the sum of scores, clipped around their centres */
    DP_AUDIT_COUNT,     /* how many are further out than the model expects */
    DP_AUDIT_CURVATURE, /* slope and variance of the scores */
    DP_AUDIT_LOOP       /* all that a fit of dp_fit_private by noisy steps releases, from the number
                         * of records to the last step; `epsilon` alone says how it is made */
} dp_audit_target;

/* Which runs.  Zero means the default, except for epsilon, delta, sigma and rate, which have
 * none. */
typedef struct dp_audit_opts {
    dp_audit_target target;
    dp_sampling sampling; /* DP_SAMPLING_FULL, POISSON, FIXED or ALLOCATION; no default */
    double rate;       /* of Poisson sampling, (0, 1]; of fixed batches, below 1 and batch / records
                     * for some number of records up to 1000 */
    uint64_t epoch;    /* of random allocation: steps of an epoch */
    double epsilon;    /* asked of the runs; or */
    double sigma;      /* their noise multiplier; one of the two */
    double delta;      /* (0, 1) */
    uint64_t steps;    /* of a run; default 1, or an epoch; whole epochs of random allocation */
    size_t runs;       /* with the canary, and as many without it, 100 ... 10^8; default 100000 */
    size_t canaries;   /* not 0: one run with so many canaries, each there with probability 1/2
                           * (10 ... 10^6); leave `runs` 0 then.  Not for fixed batches */
    double confidence; /* (0, 1); default 0.99 */
} dp_audit_opts;

typedef struct dp_audit_result {
    double epsilon_certified;      /* dp_svi_privacy's upper bound for such a run, at delta; of a
                                    * question, the accountant's; of a fit, dp_fit_privacy's */
    double epsilon_measured_lower; /* at the confidence; 0 when nothing was found */
    double epsilon_as_gaussian;    /* full batches and many runs: the same from the measured mu of
                                    * Gaussian DP.  Sharper, but a bound for releases of Gaussian
                                    * noise only; otherwise NaN */
    double delta, confidence, sigma, rate; /* sigma: of a fit, of one release that costs as much */
    uint64_t steps, epoch;                 /* epoch: of random allocation, else 0 */
    bool refuted; /* a figure above is greater than the certified one, or the account's
                            * trade-off curve is refuted: the program leaks more than it says.  By
                            * chance with probability 1 - confidence for each of the three */
    /* Many runs: the most telling one of twelve tests of the whole certified trade-off curve, each
     * at a rate of false positives fixed beforehand.  All bounds at once hold at the confidence;
     * NaN for one run. */
    double curve_false_positives; /* the test's rate is at most this, */
    double curve_true_positives;  /* and at least this; */
    double curve_certified;       /* the account allows at most this */
    size_t canaries;              /* 1 in the audit of many runs */
    size_t runs;                  /* of the program in all */
    size_t guesses; /* many runs: those that decided the bound, of one world; one run: records not
                      * abstained from */
    size_t correct; /* one run: right ones among the guesses; many runs: 0 */
    double false_positives, false_negatives; /* rates seen in many runs; NaN for one run */
} dp_audit_result;

/* Audits the program.
 *   *result  [out] on error epsilon_certified is +INFINITY, epsilon_measured_lower 0
 * DP_EINVAL, DP_EDOMAIN an option; DP_EUNSUPPORTED another sampling, canaries with fixed
 * batches, or releases of dp_fit_private with anything but full batches and many runs; errors of
 * dp_svi_new and dp_svi_step; DP_ENOMEM.
 * Neighbours are those of the sampling: one record replaced for fixed batches, else one more or
 * less.  Takes `runs` times twice the time of a small dp_svi (0.05 ms and more each), or of a fit
 * (0.8 ms).  Thread-safe.
 * Source: Jagielski, Ullman, Oprea 2020 (many runs); Steinke, Nasr, Jagielski 2023, theorem 5.2
 * (one run). */
DP_API DP_MUST_CHECK dp_status dp_audit(const dp_audit_opts *opts, dp_audit_result *result,
                                        dp_error *err) DP_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif
#endif
