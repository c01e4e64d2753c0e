/* Numbers of a matrix in other places, and those of its diagonal.
 *
 *   transpose         [n][m] -> [m][n]
 *   diagonal          [n][n] -> [n]          diagonal_matrix   [n] -> [n][n], zeros beside
 *
 * A transpose is its own rule of reverse mode; the other two are each other's. */
#include "graph/op.h"

/* y[j][i] = a[i][j], of attr.rows by attr.columns numbers */
static const char *transpose_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                   dpi_shape *shape)
{
    (void)b;
    if (a->n_dims != 2)
        return "a transpose is that of a matrix";
    *shape = *a;
    for (int k = 0; k < 2; k++) {
        shape->dim[k] = a->dim[1 - k];
        shape->plate[k] = a->plate[1 - k];
    }
    attr->rows = a->dim[0];
    attr->columns = a->dim[1];
    return NULL;
}

/* Turned twice it is as it was. */
static dpi_id transpose_simplify(dpi_graph *g, const dpi_node *node)
{
    const dpi_node *a = dpi_get(g, node->in[0]);
    return a->op == &dpi_op_transpose ? a->in[0] : DPI_NONE;
}

static void transpose_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_unary(g, &dpi_op_transpose, dpi_full_adjoint(g, y, adjoint));
}

/* y[i] = a[i][i], i < attr.rows */
static const char *diagonal_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    if (a->n_dims != 2 || a->dim[0] != a->dim[1])
        return "a diagonal is that of a square matrix";
    attr->rows = a->dim[0];
    *shape = dpi_shape_drop_first(*a);
    return NULL;
}

static dpi_id diagonal_simplify(dpi_graph *g, const dpi_node *node)
{
    const dpi_node *a = dpi_get(g, node->in[0]);
    return a->op == &dpi_op_diagonal_matrix ? a->in[0] : DPI_NONE;
}

static void diagonal_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_unary(g, &dpi_op_diagonal_matrix, dpi_full_adjoint(g, y, adjoint));
}

/* y[i][i] = a[i], i < attr.rows, and zeros beside */
static const char *diagonal_matrix_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                         dpi_shape *shape)
{
    (void)b;
    if (a->n_dims != 1)
        return "a diagonal matrix is made of a vector";
    attr->rows = a->dim[0];
    *shape = *a;
    (void)dpi_shape_prepend(shape, a->dim[0], a->plate[0]);
    return NULL;
}

static void diagonal_matrix_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_unary(g, &dpi_op_diagonal, dpi_full_adjoint(g, y, adjoint));
}

#define ROW(op_name, op_formula)                                                                   \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_LAYOUT,          \
    .n_inputs = 1, .shape = op_name##_shape, .backward = op_name##_backward,                       \
    .flops = dpi_flops_none

const dpi_op dpi_op_transpose = {ROW(transpose, "a_ji"), .call = "dp_transpose",
                                 .simplify = transpose_simplify};
const dpi_op dpi_op_diagonal = {ROW(diagonal, "a_ii"), .call = "dp_diagonal",
                                .simplify = diagonal_simplify};
const dpi_op dpi_op_diagonal_matrix = {ROW(diagonal_matrix, "a on the diagonal of zeros"),
                                       .call = "dp_diagonal_matrix"};
