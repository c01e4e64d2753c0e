/* Log densities of several numbers at once, as graphs that are run at given numbers; and draws. */
#ifndef TESTS_DIST_JOINT_H
#define TESTS_DIST_JOINT_H

#include <gsl/gsl_rng.h>

#include <tacit/random.h>

#include "dist/form.h"
#include "tests/dist/cases.h"

enum { MOST_X = 16, MOST_TOTAL = 24, N_DRAWS = 100000 };

typedef struct joint {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id in[1 + DPI_MAX_ARGS], slope[1 + DPI_MAX_ARGS], value;
    size_t n_in, size[1 + DPI_MAX_ARGS];
    struct dpi_run *run;
} joint;

/* The row of that form of the base, or of that name; NULL where there is none or no memory. */
const dpi_family *row_of(dpi_arena *arena, dpi_form_code form, const dpi_family *base);
const dpi_family *row_named(dpi_arena *arena, const char *name);

/* With x of n_x numbers, or for a support of matrices [k][k] with n_x = k^2; on the free numbers of
 * its support instead where `on_line`; shapes of arguments are "", "3" or "3x2". */
void joint_open(joint *j, const dpi_family *f, size_t n_x, const char *const shape[], bool on_line);
void joint_close(joint *j);

/* The log density at x and arguments one after the other; slope is nullable. */
double joint_at(joint *j, const double *number, double *slope);

/* A generator over a new *rng, which the caller frees. */
gsl_rng source_of(uint64_t seed, dp_rng **rng);

/* N_DRAWS numbers are draws from `cdf`; they are sorted. */
void assert_drawn_from(double *x, double (*cdf)(double x, const double *arg), const double *arg);

/* The distance of the empirical from the true distribution function that N_DRAWS draws exceed with
 * probability 1e-11 at most: Massart's bound 2 e^(-2 n d^2), Ann. Probab. 18 (1990), 1269. */
double distance_allowed(void);

#endif
