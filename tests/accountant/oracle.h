/* Exact values by another road, for the tests of the accountant. */
#ifndef TESTS_ACCOUNTANT_ORACLE_H
#define TESTS_ACCOUNTANT_ORACLE_H

#include <stdbool.h>

/* delta at epsilon of T Poisson-subsampled Gaussian steps in one direction, by the inversion
 * integral; to about 1e-9 relative for T >= 100, sigma >= 0.6, q >= 1e-3. */
double oracle_delta(double sigma, double q, double steps, double epsilon, bool add);

/* The same for one step, in closed form. */
double oracle_delta_once(double sigma, double q, double epsilon, bool add);

/* Row of a table of references. */
typedef struct reference {
    double sigma, q, steps, delta, remove, add; /* exact epsilon in each direction */
} reference;

/* By contour quadrature, checked with 40-digit arithmetic; by a certified interval 2e-7 wide where
 * steps is 2 or 10, in closed form where it is 1. */
extern const reference oracle_table[];
extern const int oracle_table_size;

/* epsilon, delta, q, steps and the exact sigma, by the same means. */
typedef struct noise_reference {
    double epsilon, delta, q, steps, sigma;
} noise_reference;
extern const noise_reference oracle_noise[];
extern const int oracle_noise_size;

/* Path of a file of further references in $TACIT_REFERENCES, or in shared/accounting beside the
 * sources; NULL when there is none. */
const char *oracle_file(const char *name, char path[4096]);

#endif
