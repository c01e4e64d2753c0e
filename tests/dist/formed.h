/* Forms of distributions of numbers, made as a model makes them, for the checks of cases.h. */
#ifndef TESTS_DIST_FORMED_H
#define TESTS_DIST_FORMED_H

#include <tacit/forms.h>

#include "dist/form.h"
#include "tests/dist/cases.h"

typedef struct formed {
    dpi_arena arena;
    dist_case c; /* of the row, without points */
    double arg[DPI_MAX_ARGS];
    density d;
} formed;

/* With the arguments that the distribution has, numbers all. */
void formed_open(formed *f, dp_dist dist);
void formed_close(formed *f);

/* The family by its name, with these arguments. */
dp_dist dist_of(const char *family, const double arg[]);

/* log density at x; slope (nullable) [1 + n_args]. */
double formed_at(formed *f, double x, double slope[]);

/* Derivative k (0 is x) by differences, to about 1e-8 of the size of the density's terms. */
double formed_difference(formed *f, size_t k, double x);

/* n draws from that seed. */
void formed_draw(const formed *f, uint64_t seed, size_t n, double *out);

/* Fails unless the sorted x[n] follow the distribution function F: Kolmogorov-Smirnov with a false
 * failure of at most 1e-11 (Massart 1990). */
void assert_follows(size_t n, const double x[], double (*cdf)(double x, void *of), void *of);

#endif
