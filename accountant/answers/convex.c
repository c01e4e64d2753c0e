/* With g in [l_k, u_k] at x_k: between x_k and x_(k+1), g lies above the line through (x_(k-1),
 * u_(k-1)) and (x_k, l_k), prolonged, and above that through (x_(k+1), l_(k+1)) and (x_(k+2),
 * u_(k+2)): slopes of chords of a convex function increase.  What that loses is of second order in
 * the distance of the points. */
#include "accountant/answers/convex.h"

#include <math.h>
#include <stdbool.h>

static const double ROUNDING = 1e-13; /* relative, of the few operations on what is given */

/* Lower bound on convex g between points k and k + 1 of n. */
static double least_between(const dpi_point *p, size_t n, size_t k)
{
    const dpi_point *a = &p[k], *b = &p[k + 1];
    bool before = k > 0, after = k + 2 < n;
    double fall = before ? (a->low - p[k - 1].high) / (a->x - p[k - 1].x) : 0;
    double rise = after ? (p[k + 2].high - b->low) / (p[k + 2].x - b->x) : 0;
    double from_left = before && fall >= 0 ? a->low : -INFINITY;
    double from_right = after && rise <= 0 ? b->low : -INFINITY;
    if (fmax(from_left, from_right) > -INFINITY)
        return fmax(from_left, from_right);
    double left_end = before ? a->low + fall * (b->x - a->x) : -INFINITY;
    double right_end = after ? b->low - rise * (b->x - a->x) : -INFINITY;
    if (!before || !after)
        return fmax(left_end, right_end);
    if (left_end >= b->low || right_end >= a->low)
        return fmax(fmin(a->low, left_end), fmin(b->low, right_end));
    /* The lines cross within: a->low + fall t = right_end + rise t. */
    double t = (a->low - right_end) / (rise - fall);
    return fmax(a->low + fall * t, right_end + rise * t) -
           ROUNDING * (fabs(a->low) + fabs(fall * t));
}

double dpi_convex_least(const dpi_point *p, size_t n)
{
    double least = INFINITY;
    for (size_t k = 0; k + 1 < n; k++)
        least = fmin(least, least_between(p, n, k));
    return least;
}
