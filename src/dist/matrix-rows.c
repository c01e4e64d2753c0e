/* The operations take matrices and vectors: rows of a plate are the columns of their transpose. */
#include "dist/matrix-rows.h"

static bool is_vector(const dpi_graph *g, dpi_id rows)
{
    return dpi_get(g, rows)->shape.n_dims == 1;
}

dpi_id dpi_rows_solved(dpi_graph *g, dpi_id l, bool transposed, dpi_id rows)
{
    if (l == DPI_NONE || rows == DPI_NONE)
        return DPI_NONE;
    const dpi_attr attr = {.transpose = {transposed}};
    if (is_vector(g, rows))
        return dpi_apply(g, &dpi_op_triangular_solve, l, rows, &attr);
    dpi_id columns = dpi_unary(g, &dpi_op_transpose, rows);
    dpi_id solved = dpi_apply(g, &dpi_op_triangular_solve, l, columns, &attr);
    return dpi_unary(g, &dpi_op_transpose, solved);
}

dpi_id dpi_rows_times(dpi_graph *g, dpi_id rows, dpi_id a, bool transposed)
{
    return dpi_apply(g, &dpi_op_matmul, rows, a, &(dpi_attr){.transpose = {false, transposed}});
}

dpi_id dpi_rows_squared(dpi_graph *g, dpi_id rows)
{
    return dpi_unary(g, &dpi_op_sum_last, dpi_unary(g, &dpi_op_square, rows));
}

dpi_id dpi_log_diagonal(dpi_graph *g, dpi_id l)
{
    dpi_id diagonal = dpi_unary(g, &dpi_op_diagonal, l);
    return dpi_unary(g, &dpi_op_sum_last, dpi_unary(g, &dpi_op_log, diagonal));
}

double dpi_row_size(const dpi_graph *g, dpi_id rows)
{
    if (rows == DPI_NONE)
        return 0;
    const dpi_shape *shape = &dpi_get(g, rows)->shape;
    return shape->n_dims > 0 ? (double)shape->dim[shape->n_dims - 1] : 1;
}

dpi_id dpi_rows_stretched(dpi_graph *g, dpi_id z, dpi_id mask, dpi_id loc, dpi_id l, dpi_id *volume)
{
    dpi_id lower = dpi_apply(g, &dpi_op_lower, l, DPI_NONE, &(dpi_attr){.value = 1});
    dpi_id logs = dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_diagonal, l));
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), mask);
    dpi_id there = dpi_add(g, dpi_rows_times(g, z, lower, true), loc);
    *volume = dpi_unary(g, &dpi_op_sum_last, dpi_times(g, mask, logs));
    return dpi_add(g, dpi_times(g, mask, there), dpi_times(g, rest, z));
}
