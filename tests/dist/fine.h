/* The law of an outcome in many small cells, from the distribution functions and log densities of
 * the tests' cases: what quadratures of the library are compared with. */
#ifndef TESTS_DIST_FINE_H
#define TESTS_DIST_FINE_H

#include "tests/dist/cases.h"

enum { MOST_FINE = 60000 };

typedef struct fine_law {
    size_t n;
    double y[MOST_FINE], mass[MOST_FINE];
} fine_law;

/* Continuous families: cells that are equal in a natural variable from its 1e-14 quantile or so to
 * the other end, with the mass that the distribution function gives them.  Discrete families:
 * every value.  To be freed by free(). */
fine_law *fine_law_of(const dist_case *c, const double arg[]);

#endif
