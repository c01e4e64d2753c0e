/* Matrix products and outer products; a vector is a row on the left and a column on the right.
 *
 *   [k] [k] -> number     [m][k] [k] -> [m]     [k] [k][n] -> [n]     [m][k] [k][n] -> [m][n]
 *
 * attr.transpose marks matrices that are used transposed; attr.rows, inner, columns are the sizes
 * m, k, n. */
#include "graph/op.h"

static const char *matmul_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    if (a->n_dims < 1 || a->n_dims > 2 || b->n_dims < 1 || b->n_dims > 2)
        return "a product takes vectors and matrices";
    int a_row = attr->transpose[0], b_row = attr->transpose[1];
    bool a_matrix = a->n_dims == 2, b_matrix = b->n_dims == 2;
    attr->rows = a_matrix ? a->dim[a_row] : 1;
    attr->inner = a->dim[a_matrix ? 1 - a_row : 0];
    attr->columns = b_matrix ? b->dim[1 - b_row] : 1;
    if (attr->inner != b->dim[b_matrix ? b_row : 0])
        return "the last size on the left must equal the first size on the right";
    *shape = dpi_scalar(a->per_record || b->per_record);
    if (a_matrix) {
        shape->dim[shape->n_dims] = attr->rows;
        shape->plate[shape->n_dims++] = a->plate[a_row];
    }
    if (b_matrix) {
        shape->dim[shape->n_dims] = attr->columns;
        shape->plate[shape->n_dims++] = b->plate[1 - b_row];
    }
    return NULL;
}

static dpi_id product(dpi_graph *g, dpi_id a, bool ta, dpi_id b, bool tb)
{
    return dpi_apply(g, &dpi_op_matmul, a, b, &(dpi_attr){.transpose = {ta, tb}});
}

/* With C = op(A) op(B) and G its adjoint: op(A)' = G op(B)^T and op(B)' = op(A)^T G. */
static void matmul_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_id a = node.in[0], b = node.in[1], G = dpi_full_adjoint(g, y, adjoint);
    bool ta = node.attr.transpose[0], tb = node.attr.transpose[1];
    bool a_matrix = dpi_get(g, a)->shape.n_dims == 2, b_matrix = dpi_get(g, b)->shape.n_dims == 2;
    if (!a_matrix && !b_matrix) {
        result[0] = dpi_times(g, G, b);
        result[1] = dpi_times(g, G, a);
    } else if (a_matrix && b_matrix) {
        result[0] = ta ? product(g, b, tb, G, true) : product(g, G, false, b, !tb);
        result[1] = tb ? product(g, G, true, a, ta) : product(g, a, !ta, G, false);
    } else if (a_matrix) {
        result[0] = dpi_apply(g, &dpi_op_outer, ta ? b : G, ta ? G : b, NULL);
        result[1] = product(g, a, !ta, G, false);
    } else {
        result[0] = product(g, G, false, b, !tb);
        result[1] = dpi_apply(g, &dpi_op_outer, tb ? G : a, tb ? a : G, NULL);
    }
}

static double matmul_flops(const dpi_node *node)
{
    return 2 * (double)node->attr.rows * (double)node->attr.inner * (double)node->attr.columns;
}

/* y[i][j] = a[i] b[j] */
static const char *outer_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                               dpi_shape *shape)
{
    if (a->n_dims != 1 || b->n_dims != 1)
        return "an outer product takes two vectors";
    *shape = dpi_scalar(a->per_record || b->per_record);
    shape->n_dims = 2;
    shape->dim[0] = attr->rows = a->dim[0];
    shape->dim[1] = attr->columns = b->dim[0];
    shape->plate[0] = a->plate[0];
    shape->plate[1] = b->plate[0];
    attr->inner = 1;
    return NULL;
}

static void outer_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_id G = dpi_full_adjoint(g, y, adjoint);
    result[0] = product(g, G, false, node.in[1], false);
    result[1] = product(g, node.in[0], false, G, false);
}

const dpi_op dpi_op_matmul = {.id = DPI_OP_matmul,
                              .name = "matmul",
                              .formula = "sum_k a_ik b_kj",
                              .class = DPI_BILINEAR,
                              .given = DPI_ATTR_TRANSPOSE,
                              .n_inputs = 2,
                              .shape = matmul_shape,
                              .backward = matmul_backward,
                              .flops = matmul_flops,
                              .transposes = true};
const dpi_op dpi_op_outer = {.id = DPI_OP_outer,
                             .name = "outer",
                             .formula = "a_i b_j",
                             .class = DPI_BILINEAR,
                             .n_inputs = 2,
                             .shape = outer_shape,
                             .backward = outer_backward,
                             .flops = dpi_flops_cheap};
