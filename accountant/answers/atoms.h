/* One release of a pair that is nothing but atoms: its profile is a sum. */
#ifndef DPI_ACCOUNTANT_ANSWERS_ATOMS_H
#define DPI_ACCOUNTANT_ANSWERS_ATOMS_H

#include "accountant/grid/grid.h"
#include "accountant/pairs/pair.h"

/* Bounds that hold every error the pair names and all rounding; the pair has no pieces.  Upper is
 * +INFINITY (epsilon) where `infinite` and `lost` alone exceed delta.  Cannot fail. */
void dpi_atoms_solve(const dpi_pair *pair, dpi_question query, dpi_bounds *bounds);

#endif
