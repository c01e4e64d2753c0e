/* Laws of sums of independent non-negative numbers on a grid with a fine body and a long tail, so
 * that every rounding is on a known side. */
#ifndef DPI_ACCOUNTANT_PAIRS_SUMS_H
#define DPI_ACCOUNTANT_PAIRS_SUMS_H

#include <stdbool.h>
#include <stddef.h>

/* Knots, in units above the origin: 0, 1, ... BODY, then octaves of OCTAVE equal steps each. */
enum {
    DPI_SUMS_LOG_BODY = 11,
    DPI_SUMS_LOG_OCTAVE = 7,
    DPI_SUMS_BODY = 1 << DPI_SUMS_LOG_BODY,
    DPI_SUMS_OCTAVE = 1 << DPI_SUMS_LOG_OCTAVE,
    DPI_SUMS_OCTAVES = 52 - DPI_SUMS_LOG_BODY,
    DPI_SUMS_KNOTS = DPI_SUMS_BODY + DPI_SUMS_OCTAVES * DPI_SUMS_OCTAVE + 1
};

/* One law.  Knot k is the value origin + unit * knot(k), exactly. */
typedef struct dpi_sum_law {
    double terms;        /* number of terms of the sum; its mean */
    double unit, origin; /* unit a power of 2, origin a multiple of it */
    size_t first, end;   /* knots in use */
    double error;        /* masses are exact within this, relative */
    double blur, smear;  /* with moments, given any knot, E|X - knot| <= blur E(X) and
                          * E|X - knot| <= smear (E(X) + terms) */
    double *mass;        /* [DPI_SUMS_KNOTS] */
    double *moment;      /* [DPI_SUMS_KNOTS] E(X - knot; knot), X the exact sum */
} dpi_sum_law;

/* What a sum may give up and how coarse it may be. */
typedef struct dpi_sums_rule {
    double total;     /* terms of the final sum */
    bool moments;     /* keep them: for a lower law */
    bool by_size;     /* events are weighed by X / total, terms having the mean 1, instead of 1 */
    double give_up;   /* weight that each cut may give up */
    double coarse;    /* unit / width of the body, at most */
    double unit_most; /* unit / terms, at most */
} dpi_sums_rule;

typedef struct dpi_sums dpi_sums;

/* Workspace; NULL when memory is out. */
dpi_sums *dpi_sums_new(const dpi_sums_rule *rule);
void dpi_sums_free(dpi_sums *sums);

/* The law of one term, to be filled by the caller (all zero), and that of the sum so far. */
dpi_sum_law *dpi_sums_term(dpi_sums *sums);

/* Value of knot k. */
double dpi_sum_law_knot(const dpi_sums *sums, const dpi_sum_law *law, size_t k);

/* The law of the sum of rule.total terms; valid until dpi_sums_free. */
const dpi_sum_law *dpi_sums_run(dpi_sums *sums);

/* Weight of all that was cut off, counted in the final sum, rounded up. */
double dpi_sums_lost(const dpi_sums *sums);

/* Weight in the final sum of an event that has the probability p in each of the law's copies and
 * on which its terms have the mean m. */
double dpi_sums_weight(const dpi_sums *sums, double terms, double p, double m);

#endif
