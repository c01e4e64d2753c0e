/* Clipped sums in whole numbers of steps of a grid, exact in any order of the units. */
#ifndef DPI_EXEC_WHOLE_H
#define DPI_EXEC_WHOLE_H

#include "exec/run.h"

/* As dpi_run_clip_units, or for rows NULL as dpi_run_clip_sum of n_units records, but that every
 * unit's clipped gradient is rounded to whole numbers of steps, of which `steps` are in 1, before it
 * is added; clip * steps is below 2^50.  Additions are exact while |sum| stays below 2^53, and rounded
 * beyond, as those of dpi_run_clip_sum are.  A unit of one record adds the same in both.  unit[] has
 * the length of sum[]. */
void dpi_run_clip_whole(dpi_run *run, size_t n_units, const size_t *rows, double clip, double steps,
                        double *scratch, double *unit, double *sum);

/* As dpi_clip_add, rounded likewise. */
double dpi_clip_add_whole(size_t n, const double *unit, double clip, double steps, double *sum);

#endif
