/* The grid engine: certified bounds on epsilon or delta of a composition in one direction. */
#ifndef DPI_ACCOUNTANT_GRID_GRID_H
#define DPI_ACCOUNTANT_GRID_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

#include "accountant/grid/curve.h"

/* Smallest delta asked for or answered. */
#define DPI_LEAST_DELTA 1e-30

/* What is wanted of an answer. */
typedef struct dpi_wish {
    double width;  /* relative excess of the upper bound aimed at; at most 1e-3 is accepted */
    double enough; /* any bound at most this is accepted as it is; negative: every bound matters */
    double interval; /* greatest (upper - lower) / upper; 0: no lower bound is wanted */
    bool best;       /* an interval that stays wider is an answer, too */
    double hint;     /* > 0: about the answer, to plan for */
} dpi_wish;

typedef struct dpi_bounds {
    double lower, upper;
    size_t points; /* of the largest transform */
} dpi_bounds;

/* Bounds for the n >= 1 terms composed; {0, +INFINITY} (epsilon) or {0, 1} (delta) on errors. */
dp_status dpi_grid_solve(const dpi_pair_times *term, size_t n, dpi_question query,
                         const dpi_wish *wish, dpi_bounds *bounds, dp_error *err);

#endif
