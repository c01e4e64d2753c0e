/* Combining rules: one answer of the analyses of several synthetic twins. */
#ifndef TOOLS_COMBINING_H
#define TOOLS_COMBINING_H

#include <stdbool.h>
#include <stddef.h>

typedef enum combining_rule {
    COMBINE_FULL,   /* rows are all drawn, as those of tacit synth */
    COMBINE_PARTIAL /* real records of which some values were drawn */
} combining_rule;

typedef struct combined {
    double estimate, variance; /* of what is not known of the estimated number */
    double between, within;    /* variance of the estimates; mean of the variances */
    double freedom;            /* degrees of it, of a t distribution; may be infinite */
    bool mended;               /* the rule's variance was not above zero */
    double low, high;          /* of the interval */
} combined;

/* Combines m >= 2 estimates and their variances (not below 0).
 *   share    of the interval, in (0, 1)
 *   ratio    rows of a twin / records that were fitted, > 0: of the variance where the rule's is
 *            not above zero */
combined combine(combining_rule rule, size_t m, const double *estimate, const double *variance,
                 double share, double ratio);

#endif
