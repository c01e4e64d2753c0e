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

/* Numbers in the last dimension. */
double dpi_row_size(const dpi_graph *g, dpi_id rows);

#endif
