/* The least value of a convex function that is known at some points. */
#ifndef DPI_ACCOUNTANT_ANSWERS_CONVEX_H
#define DPI_ACCOUNTANT_ANSWERS_CONVEX_H

#include <stddef.h>

typedef struct dpi_point {
    double x, low, high; /* bounds on the function at x, finite */
} dpi_point;

/* A lower bound on a convex function from p[0].x to p[n - 1].x; points by rising x, n >= 2.
 * -INFINITY where two points are all. */
double dpi_convex_least(const dpi_point *p, size_t n);

#endif
