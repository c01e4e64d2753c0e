/* Rows grouped into units of privacy. */
#ifndef DPI_DATA_UNIT_H
#define DPI_DATA_UNIT_H

#include "data/dataset.h"

/* The units of a data set, in the order of their first rows. */
typedef struct dpi_units {
    size_t n;      /* units */
    size_t most;   /* rows of the largest one */
    size_t *start; /* [n + 1] where a unit's rows begin in `row`; NULL without a unit column */
    size_t *row;   /* [rows] rows of a unit in rising order; NULL as above */
} dpi_units;

/* Groups the rows by the data set's unit column; without one every row is a unit.  Memory of *units
 * in the arena.  DP_ENOMEM. */
dp_status dpi_units_init(dpi_units *units, dpi_arena *arena, const dp_dataset *data,
                         dp_error *err) DP_MUST_CHECK;

/* Rows of a unit. */
static inline size_t dpi_unit_rows(const dpi_units *units, size_t unit)
{
    return units->start == NULL ? 1 : units->start[unit + 1] - units->start[unit];
}

#endif
