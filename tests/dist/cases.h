/* Test cases of the families: reference values, arguments to integrate and draw at, and the
 * distribution function.  Tests walk dpi_families and fail for a family without a case here. */
#ifndef TESTS_DIST_CASES_H
#define TESTS_DIST_CASES_H

#include "dist/family.h"
#include "tests/lib/check.h"

enum { MAX_NUMBERS = 4, N_TRIED = 3, MIN_POINTS = 6 };

/* x, the arguments (or the numbers of the vector argument), log density and its derivatives in x
 * and in each argument, from reference.py. */
struct point {
    double x, arg[MAX_NUMBERS], value, slope[1 + MAX_NUMBERS];
};

/* For slack: the value, not one of the derivatives. */
enum { VALUE = -1 };

typedef struct dist_case {
    const dpi_family *family;
    size_t n_numbers; /* n_args, or the size of the vector argument */
    const struct point *points;
    size_t n_points;
    double tried[N_TRIED][MAX_NUMBERS];          /* arguments for sums, integrals and draws */
    double (*cdf)(double x, const double arg[]); /* of continuous families */
    double (*top)(const double arg[]);           /* discrete: no mass to speak of above it */
    /* Absolute error allowed in derivative k, or in VALUE, where large terms cancel; NULL: none. */
    double (*slack)(const struct point *p, int k);
} dist_case;

/* Student's t at x = loc, scale = 1: the normalising constant alone, for df from small to large. */
extern const struct point *const centre_points;
extern const size_t n_centre_points;

/* The case of a family; fails when there is none or it has too few points. */
const dist_case *case_of(const dpi_family *family);

/* The first argument that is inferred: not a number of trials, nor a bound that is known. */
size_t first_inferred(const dist_case *c);

/* A number inside the support, off every kink and centre of the cases. */
double inner_number(const dist_case *c, const double arg[]);

/* A family's log density as a graph that is run at given numbers. */
typedef struct density {
    const dist_case *of;
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dpi_id x, arg[DPI_MAX_ARGS], value, slope[1 + DPI_MAX_ARGS];
    struct dpi_run *run;
} density;

/* With of->family->log_density at inputs x and arg; with on_line, the log density of z where
 * x = constrain(z). */
void density_open(density *d, const dist_case *of, bool on_line);
void density_close(density *d);

/* The log density; slope (nullable) [1 + n_numbers] gets the derivatives by dpi_gradient. */
double density_at(density *d, double x, const double arg[], double slope[]);

#endif
