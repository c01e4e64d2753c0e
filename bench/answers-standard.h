/* What both ways to an exact posterior stand on: small dense matrices, and a regression in
 * standardised coordinates z, in which predictors have mean 0 and variance 1 and so has a normal
 * outcome.  w = t0 + T z is put back into priors and results, so that priors are exact and badly
 * scaled data harmless. */
#ifndef TACIT_BENCH_ANSWERS_STANDARD_H
#define TACIT_BENCH_ANSWERS_STANDARD_H

#include "answers.h"

/* ---- small dense matrices, [d][d] ---- */

/* a = L L', L into the lower triangle; false where a is not positive. */
bool dense_factor(size_t d, double *a);

/* v = L^-1 v, and v = L'^-1 v. */
void dense_solve_lower(size_t d, const double *l, double *v);
void dense_solve_upper(size_t d, const double *l, double *v);
double dense_dot(size_t d, const double *a, const double *b);

/* ---- standardised coordinates ---- */

typedef struct standard {
    const regression *r;
    size_t n, p;
    double *x, *y;           /* [n][p], [n] */
    double *middle, *spread; /* [p] of predictors; 0 and 1 of the first */
    double y_middle, y_spread;
} standard;

standard standard_of(const regression *r);
void standard_free(standard *s);

/* w = t0 + T z, and row j of T. */
void standard_coefficients(const standard *s, const double *z, double *w);
void standard_row(const standard *s, size_t j, double *row);

/* The exact posterior of a normal outcome, and that of any other. */
void reference_by_quadrature(const regression *r, reference *ref);
void reference_by_monte_carlo(const regression *r, uint64_t seed, reference *ref);

#endif
