/* The certified trade-off curve against what an attacker's tests were measured to do. */
#ifndef DPI_AUDIT_CLAIM_H
#define DPI_AUDIT_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/accountant.h>

/* The most telling one of the tests tried. */
typedef struct dpi_claim {
    bool refuted;
    double false_positives; /* its rate is at most this */
    double true_positives;  /* and at least this; both but with the probability asked for */
    double certified;       /* no test with so many false positives has more true ones */
} dpi_claim;

/* scores[0][n] without, scores[1][n] with the canary, n >= 2, both halves of each sorted
 * (dpi_separate).  `run` is what the account says of one of the runs.  If it is true, `refuted` is
 * set with probability alpha at most.  An account that is not to be had at some rate certifies 1
 * there.  DP_ENOMEM; errors of the accountant about `run`. */
dp_status dpi_claim_judge(const dp_mechanism *run, size_t n, double *const scores[2], double alpha,
                          dpi_claim *claim, dp_error *err) DP_MUST_CHECK;

#endif
