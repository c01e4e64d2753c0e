/* Goodness of fit for the tests of samplers.
 *
 * A check fails when its p-value is below 1e-12.  All tests of tests/random together make fewer
 * than 1000 checks, so that on fresh seeds correct code would fail with probability below 1e-9; the
 * seeds are fixed, so that it either never fails or always does. */
#ifndef TESTS_RANDOM_CHI_H
#define TESTS_RANDOM_CHI_H

#include <stddef.h>

#include "tests/lib/check.h"

/* p-value of the counts under the probabilities (NULL: equal ones), Pearson's chi-square. */
double chi_square_p(size_t cells, const size_t *count, const double *probability);

/* p-value of a statistic that is chi-square with that many degrees of freedom. */
double chi_p(double statistic, double degrees);

#define assert_plausible(p) check_plausible((p), #p, __FILE__, __LINE__)
void check_plausible(double p, const char *what, const char *file, int line);

/* |z| of a standard normal statistic, checked in the same way. */
#define assert_standard(z) check_plausible(normal_p(z), #z, __FILE__, __LINE__)
double normal_p(double z);

#endif
