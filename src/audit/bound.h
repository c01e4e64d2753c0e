/* From an attacker's record of successes to lower bounds on epsilon. */
#ifndef DPI_AUDIT_BOUND_H
#define DPI_AUDIT_BOUND_H

#include <stddef.h>

#include <tacit/status.h>

/* Bounds on a probability that exceed it (upper) or fall below it (lower) but with probability
 * alpha, when it came true k times in n >= 1 independent trials: Clopper and Pearson's. */
double dpi_rate_upper(size_t k, size_t n, double alpha);
double dpi_rate_lower(size_t k, size_t n, double alpha);

/* How many of n sorted numbers are at most t. */
size_t dpi_at_most(size_t n, const double *sorted, double t);

/* What scores of n runs in each of two worlds say. */
typedef struct dpi_separation {
    double epsilon; /* lower bound at delta */
    double mu;      /* lower bound on the mu of Gaussian DP */
    size_t events;  /* runs that `epsilon` counted in the world where they are rarer */
    double false_positives, false_negatives;
} dpi_separation;

/* scores[0][n] without, scores[1][n] with the canary, n >= 2, finite or infinite, sorted by this
 * call within halves.  Each bound holds with probability 1 - alpha. */
void dpi_separate(size_t n, double *const scores[2], double delta, double alpha,
                  dpi_separation *found);

/* Lower bound on epsilon at delta when of m canaries, each there with probability 1/2 by itself,
 * `correct` of `guesses` were told right in one run. */
double dpi_one_run_epsilon(size_t m, size_t guesses, size_t correct, double delta, double alpha);

/* Greatest probability, under (epsilon, delta), of so many right guesses or more. */
double dpi_one_run_p_value(size_t m, size_t guesses, size_t correct, double epsilon, double delta);

#endif
