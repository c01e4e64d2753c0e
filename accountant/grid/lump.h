/* Losses next to the base, merged into point masses: a lower bound that no grid needs to
 * resolve. */
#ifndef DPI_ACCOUNTANT_GRID_LUMP_H
#define DPI_ACCOUNTANT_GRID_LUMP_H

#include "accountant/grid/mass.h"

/* mass[k] lies at offset shift + way * k * spacing; together they stand for the losses in (low,
 * high). */
typedef struct dpi_lumps {
    double low, high; /* offsets */
    int way;          /* +1 or -1 */
    double shift;
    double mass[2];
} dpi_lumps;

dpi_lumps dpi_lumps_of(const dpi_pair *pair, const dpi_knots *grid, double log_cut);

/* Which way losses run from the base: +1 or -1 for all of them, 0 for both. */
int dpi_way_of(const dpi_pair *pair);

#endif
