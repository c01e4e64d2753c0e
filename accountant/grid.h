/* The grid engine: a certified upper bound on epsilon or delta of one pair after `steps` steps. */
#ifndef DPI_ACCOUNTANT_GRID_H
#define DPI_ACCOUNTANT_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>

#include "accountant/pair.h"

/* Smallest delta asked for or answered. */
#define DPI_LEAST_DELTA 1e-30

typedef enum dpi_ask { DPI_ASK_EPSILON, DPI_ASK_DELTA } dpi_ask;

/* One question: epsilon at a delta, or delta at an epsilon. */
typedef struct dpi_query {
    dpi_ask ask;
    double given;
} dpi_query;

/* *answer [out] upper bound, +INFINITY (epsilon) or 1 (delta) on errors.  `width` is the relative
 * excess aimed at; at most 1e-3 is accepted in the end.  Any bound that is at most `enough` is
 * accepted as it is (pass a negative number when every bound matters). */
dp_status dpi_grid_solve(const dpi_pair *pair, uint64_t steps, dpi_query query, double width,
                         double enough, double *answer, dp_error *err);

#endif
