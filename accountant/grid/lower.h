/* Masses on a grid that a pair dominates. */
#ifndef DPI_ACCOUNTANT_GRID_LOWER_H
#define DPI_ACCOUNTANT_GRID_LOWER_H

#include <stdbool.h>

#include "accountant/grid/mass.h"

/* Part of the mass of a bin that its gap is raised by, for the errors of quadrature; see mass.c. */
#define DPI_GAP_SLACK 1e-7

/* data: tilted connect-the-dots masses on knots low ... high (circular), before scaling.
 * gap: in, at the knot below each bin, the bin's G (lower.c), tilted as that knot is; out, the
 * lower masses, not scaled.  False, and gap all zero, when they would say nothing. */
bool dpi_lower_masses(const dpi_knots *grid, int64_t low, int64_t high, const double *data,
                      double *gap);

#endif
