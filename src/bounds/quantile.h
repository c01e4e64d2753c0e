/* Quantiles by bisection with noisy counts. */
#ifndef DPI_BOUNDS_QUANTILE_H
#define DPI_BOUNDS_QUANTILE_H

#include <stdint.h>

#include <tacit/random.h>

#include "data/unit.h"

/* What a unit counts, in parts of one: counts are whole numbers of parts. */
enum { DPI_QUANTILE_PARTS = 1 << 14 };

/* One quantile of one value a row. */
typedef struct dpi_quantile {
    const double *x;        /* [rows] unit after unit: row k of units->row is x[k] */
    const dpi_units *units; /* whose rows they are */
    int64_t below;          /* parts of a unit that are to be at or below, 1 ... PARTS - 1 */
    double low, high;       /* where it is looked for */
} dpi_quantile;

/* A share in (0, 1) as parts. */
int64_t dpi_quantile_parts(double share);

/* Sum over the units of (parts of its rows at or below `x`) - below. */
int64_t dpi_quantile_count(const dpi_quantile *q, double x);

/* What one unit can add to a count, in absolute value. */
int64_t dpi_quantile_most(const dpi_quantile *q);

/* A count in steps of the grid of noise: times a whole number such that a unit moves it by at most
 * 2^32 / sigma steps, and noise has 2^32. */
int64_t dpi_quantile_scale(const dpi_quantile *q, double sigma);

/* Standard deviation of the noise of a count, in units. */
double dpi_quantile_noise(const dpi_quantile *q, double sigma);

/* Halves the interval `levels` times: *low and *high [out] are the last one.  *begun [in, out]
 * counts the releases.  DP_EENTROPY. */
dp_status dpi_quantile_search(const dpi_quantile *q, double sigma, uint64_t levels, dp_noise *noise,
                              double *low, double *high, uint64_t *begun,
                              dp_error *err) DP_MUST_CHECK;

#endif
