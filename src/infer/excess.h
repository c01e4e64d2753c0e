/* What is not known of outcomes' locations looks like scale.
 *
 * Let F be the information of locations, at the scale c where rounds were made, T = X'r / c^2 the
 * sum of their scores without noise, r = e + x'delta, delta = theta - c.  Given what was released
 * of T, S = T + noise, of slope H = k F and variance N, and with q for the square of the ratio of
 * e's scale to c, as far as it is known,
 *
 *   sum r^2 / c^2 = (what is left beside T: n - d times q) + T'F^-1 T
 *   E T = F w,  w = delta + q k N^-1 (S - H delta)
 *
 * so that, c e^l being the scale of e, outcomes look as if their scale were
 *
 *   c e^l (1 - b t / n + e^-2l b x(delta) / n)^1/2,   x = w'F w,  t = tr q k N^-1 H
 *
 * b being 1 for normal outcomes, and for others what a location that is off does to their scores of
 * the scale: within the root, so that with any b the scale looks the larger the larger it is.
 * Where its coordinate is not the logarithm of the scale, l is the slope there times the move.
 *
 * Without noise w is 0 where rounds end and t the number of locations: the degrees of freedom that
 * they use up.  Where noise hides all, w is delta and t 0: a group's mean that nobody knows is
 * variance.  It is the scale as it looks that scores tell of, and the likelihood is normal in its
 * logarithm. */
#ifndef DPI_INFER_EXCESS_H
#define DPI_INFER_EXCESS_H

#include <tacit/status.h>

#include "infer/rows.h"

typedef struct dpi_excess {
    size_t d, scale; /* coordinates; which one the scale is made of, d: none */
    double lead;     /* 1 - b t / n */
    double bend;     /* b */
    double power;    /* slope of the scale's logarithm by its coordinate, not 0 */
    double constant, *linear,
        *square;   /* x / n = constant + delta'(2 linear) + delta'square delta */
    dpi_rows rows; /* square */
    double *times; /* [d] scratch */
} dpi_excess;

/* For d coordinates, none of which is a scale; false when memory is out. */
bool dpi_excess_init(dpi_excess *e, size_t d, dpi_arena *arena);

/* What it is made of. */
typedef struct dpi_excess_of {
    size_t scale; /* d: none */
    double records, bend, power;
    double kept;   /* k */
    double ratio;  /* q */
    double spread; /* of rounds' places, delta'F delta on average: is added to x */
    const double *slope, *inverse, *score; /* [d][d] H, N^-1; [d] S */
} dpi_excess_of;

/* DP_ENOMEM. */
dp_status dpi_excess_set(dpi_excess *e, const dpi_excess_of *of, dp_error *err) DP_MUST_CHECK;
void dpi_excess_copy(dpi_excess *to, const dpi_excess *from);

/* The scale's coordinate as it looks, less that of c, delta[d] from there; slope[d], its
 * derivatives by delta. */
double dpi_excess_at(dpi_excess *e, const double *delta, double *slope);

#endif
