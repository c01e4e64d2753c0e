/* Rows of numbers and matrices that act on them, for densities of several numbers. */
#ifndef DPI_DIST_MATRIX_ROWS_H
#define DPI_DIST_MATRIX_ROWS_H

#include "graph/op.h"

/* Rows are [K], or [J][K]; each gives a row, or one number. */
dpi_id dpi_rows_solved(dpi_graph *g, dpi_id l, bool transposed, dpi_id rows); /* L^-1 r, L'^-1 r */
dpi_id dpi_rows_times(dpi_graph *g, dpi_id rows, dpi_id a, bool transposed);  /* A' r, A r */
dpi_id dpi_rows_squared(dpi_graph *g, dpi_id rows);                           /* |r|^2 */

/* sum_i log L_ii. */
dpi_id dpi_log_diagonal(dpi_graph *g, dpi_id l);

/* loc + L z where mask is 1 and z where it is 0, of rows: as L is triangular the volume is that of
 * its diagonal there.  For the stretch of a family (family.h). */
dpi_id dpi_rows_stretched(dpi_graph *g, dpi_id z, dpi_id mask, dpi_id loc, dpi_id l,
                          dpi_id *volume);

/* Numbers in the last dimension. */
double dpi_row_size(const dpi_graph *g, dpi_id rows);

#endif
