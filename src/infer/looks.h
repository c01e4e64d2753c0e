/* What is known of the curvature: looks at it between the main rounds and behind them, joined. */
#ifndef DPI_INFER_LOOKS_H
#define DPI_INFER_LOOKS_H

#include <stddef.h>

#include "base/alloc.h"

typedef struct dpi_looks {
    size_t n, dense; /* numbers of a look; the first ones, which are of the dense block */
    size_t made;
    double *known;   /* [n] */
    double variance; /* of its noise, in units of a look's; 0 before the first look */
} dpi_looks;

/* Memory is the arena's; false where there is none. */
bool dpi_looks_init(dpi_looks *l, size_t n, size_t dense, dpi_arena *arena);

/* Joins look[n], whose first numbers have noise sd, to what is known. */
void dpi_looks_join(dpi_looks *l, const double *look, double sd);

#endif
