/* Private quantiles and bounds of a column, for choices that are made before a fit: the range to
 * which a covariate is cut or by which it is standardised, the clip norm to start with.
 *
 * A quantile is found by bisection of a public range: at each level the records at or below the
 * middle are counted with noise, and the interval is halved on the side where the share falls
 * short.  All levels of all quantiles of a call are one Gaussian mechanism of the accountant (full
 * batches, levels times quantiles steps), calibrated to epsilon, and reserved in the ledger before
 * the data are looked at.
 *
 * What to expect: with `noise` the standard deviation of a count and n units, the share at the
 * answer is off by some 2 or 3 noise / n, beside `within` in value.  Where noise / n is not far
 * below the share and one minus the share, the answer is a random place of the range, and nothing
 * tells but these numbers.  A quantile outside the range comes out as the nearer end.
 *
 * A unit is one record, or all records with one value in the data set's unit column.  A unit of
 * several records counts as one: each of its records as the same part of it, so that what is found
 * is a quantile of a random record of a random unit.
 *
 * Neighbours are data sets with one unit more or less; replacing one unit is covered as the
 * accountant does for full batches, which a ledger whose budget is for that takes care of.
 *
 * Threads: different calls may run at the same time, but for a ledger's own rule. */
#ifndef TACIT_BOUNDS_H
#define TACIT_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/dataset.h>
#include <tacit/ledger.h>
#include <tacit/svi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a number's place in its record: the Euclidean norm of the record's numbers. */
#define DP_NORM SIZE_MAX

/* What is looked for.  All of it is public. */
typedef struct dp_quantile {
    const char *column; /* a real column; borrowed for the call */
    size_t element;     /* which of a record's numbers in that column, from 0; or DP_NORM */
    double low, high;   /* where it is looked for; finite, low < high */
    double share; /* (0, 1), taken to the nearest 2^-14, at least that and at most 1 less that.
                         * dp_private_quantiles: of records at or below the answer;
                         * dp_private_bounds: of records between the two bounds */
} dp_quantile;

/* How.  Zero means the default, except for epsilon, delta and sigma, which have none: give delta,
 * and epsilon or sigma. */
typedef struct dp_quantile_opts {
    const dp_quantile *asked; /* [n] borrowed for the call */
    size_t n;                 /* 1 ... 10000 */
    double epsilon;           /* of all answers together; sigma is calibrated to it */
    double delta;             /* in (0, 1), well below one over the number of units */
    double sigma; /* noise of a count / what a unit moves it by, 0.1 ... 4096, instead of epsilon */
    uint64_t levels;          /* halvings of a range, 1 ... 52; default 12 */
    uint64_t seed;            /* not 0: a repeatable answer for tests, marked as not private */
    dp_ledger *ledger;        /* nullable; as in dp_svi_opts, used during the call only */
    const char *ledger_data;  /* the data set's name there; needed with a ledger, refused without */
    const char *ledger_label; /* nullable; refused without a ledger */
} dp_quantile_opts;

typedef struct dp_quantile_answer {
    double value;
    double within; /* half of the last interval */
    double noise;  /* standard deviation of the noise of its counts, in units; depends on options
                    * alone */
} dp_quantile_answer;

typedef struct dp_bounds_answer {
    double low, high; /* outer ends of the last intervals: low < high */
    double within;    /* half of the last interval, of either */
    double noise;     /* as above, of either */
} dp_bounds_answer;

/* Private quantiles.
 *   answers  [opts->n] [out] NaN on any error
 *   privacy  nullable [out] what was guaranteed: epsilon and delta of the whole call, steps, sigma;
 *            clip is 1, the most that a unit may move a count by, and eta 0, since counts are whole
 *            numbers; epsilon +INFINITY and is_private false on any error
 * DP_EINVAL or DP_EDOMAIN for an option; DP_ENAME, DP_ESHAPE a column or element that is not there;
 * DP_EDATA a value in a column asked for is missing or not finite: which one is not told, and
 * nothing is spent; DP_ENOMEM, DP_EENTROPY; DP_EPRIVACY a ledger with a seed;
 * those of dp_approximate_sigma, and of dp_ledger_reserve before the values are looked at. */
DP_API DP_MUST_CHECK dp_status dp_private_quantiles(const dp_dataset *data,
                                                    const dp_quantile_opts *opts,
                                                    dp_quantile_answer *answers,
                                                    dp_privacy *privacy, dp_error *err)
    DP_NONNULL(1, 2, 3);

/* Private bounds: for each one asked the quantiles (1 - share) / 2 and (1 + share) / 2, which cost
 * two quantiles.  Else as dp_private_quantiles. */
DP_API DP_MUST_CHECK dp_status dp_private_bounds(const dp_dataset *data,
                                                 const dp_quantile_opts *opts,
                                                 dp_bounds_answer *answers, dp_privacy *privacy,
                                                 dp_error *err) DP_NONNULL(1, 2, 3);

#ifdef __cplusplus
}
#endif
#endif
