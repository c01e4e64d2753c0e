/* Bijectors onto rows of numbers, for the table of support.c alone. */
#ifndef DPI_DIST_SUPPORT_ROWS_H
#define DPI_DIST_SUPPORT_ROWS_H

#include "dist/support.h"

extern const dpi_row_support dpi_simplex_row, dpi_ordered_row, dpi_correlation_factor_row,
    dpi_unit_vector_row, dpi_covariance_factor_row;

dpi_id dpi_simplex_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[]);
dpi_id dpi_simplex_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[]);

dpi_id dpi_ordered_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[]);
dpi_id dpi_ordered_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[]);

dpi_id dpi_correlation_factor_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[]);
dpi_id dpi_correlation_factor_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[]);

dpi_id dpi_unit_vector_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[]);
dpi_id dpi_unit_vector_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[]);

dpi_id dpi_covariance_factor_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[]);
dpi_id dpi_covariance_factor_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[]);

#endif
