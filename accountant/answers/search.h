/* The search for one parameter of a mechanism that keeps epsilon at delta. */
#ifndef DPI_ACCOUNTANT_ANSWERS_SEARCH_H
#define DPI_ACCOUNTANT_ANSWERS_SEARCH_H

#include <stdbool.h>

#include <tacit/accountant.h>

#define DPI_SEARCH_FINE 2e-5     /* width of bounds that stand for the exact value */
#define DPI_SEARCH_EXCESS 2.5e-5 /* relative excess of a fine bound, as a rule */

typedef enum dpi_unknown { DPI_NOISE, DPI_RATE, DPI_STEPS, DPI_CAP } dpi_unknown;

typedef struct dpi_search {
    dp_mechanism m;
    dpi_unknown what;
    double epsilon, delta;
    double least, most; /* x */
    double unit;        /* DPI_STEPS: an epoch, or 1 */
    bool refused;       /* the contour did not apply to the last x; 0 at first, as the next */
    int refusals;       /* in a row; after a few of them it is not asked again */
} dpi_search;

/* Where log epsilon crosses: x is too small (or too large) to be safe, and by how much. */
typedef struct dpi_bracket {
    double unsafe, safe; /* x; NaN when not known */
    double x, log_ratio; /* last point: log(epsilon there / epsilon asked for) */
    double slope;        /* d log epsilon / d log x; 0 when not known */
} dpi_bracket;

/* Epsilon at x: by contour, else the bound. */
dp_status dpi_search_look(dpi_search *s, double x, double *epsilon, dp_error *err) DP_MUST_CHECK;

/* A certified bound at x, about `width` above the exact value where it matters. */
dp_status dpi_search_certify(dpi_search *s, double x, double width, double *bound,
                             dp_error *err) DP_MUST_CHECK;

/* x by the central limit. */
double dpi_search_guess(const dpi_search *s);

/* The root of the contour (or of the bound).  b->safe or b->unsafe is NaN when epsilon is on one
 * side for all x. */
dp_status dpi_search_root(dpi_search *s, dpi_bracket *b, dp_error *err) DP_MUST_CHECK;

/* A certified x within the tolerance of the root. */
dp_status dpi_search_settle(dpi_search *s, const dpi_bracket *b, double tolerance, double *answer,
                            dp_error *err) DP_MUST_CHECK;

/* The same for whole numbers: *root [out] the greatest (DPI_STEPS) or smallest (DPI_CAP) x at which
 * epsilon is not exceeded, by the contour; NaN when there is none.  *answer stays when no
 * certificate fits. */
dp_status dpi_search_whole_root(dpi_search *s, double guess, double *root,
                                dp_error *err) DP_MUST_CHECK;
dp_status dpi_search_whole_settle(dpi_search *s, double root, double *answer,
                                  dp_error *err) DP_MUST_CHECK;

#endif
