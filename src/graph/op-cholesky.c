/* Cholesky factors and triangular systems.
 *
 *   cholesky           [n][n] -> [n][n]   the lower L with L L' = A; A's lower triangle alone is
 *                                         read, and the result is NaN where A is not positive
 *                                         definite
 *   triangular_solve   [n][n] by [n] or [n][m]: L^-1 b, with attr.transpose[0] L'^-1 b; L's lower
 *                                         triangle alone is read
 *   lower              [n][n] -> [n][n]   the lower triangle, its diagonal times attr.value
 *
 * Reverse mode (Murray 2016, arXiv:1602.07527, eqs. 9, 10 and 15), P being `lower` with a halved
 * diagonal and G the adjoint of the result:
 *
 *   cholesky           S = L'^-1 P(L' G) L^-1, and A's adjoint is P(S + S')
 *   triangular_solve   b's adjoint is c = L'^-1 G, L's is -tril(c y')
 *                      (of the transposed: c = L^-1 G, and -tril(y c'))
 *
 * All of it is made of these operations again, so second derivatives need no rule of their own. */
#include "graph/op.h"

static bool is_square(const dpi_shape *a)
{
    return a->n_dims == 2 && a->dim[0] == a->dim[1];
}

/* attr.rows is n. */
static const char *cholesky_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    if (!is_square(a))
        return "a Cholesky factor is that of a square matrix";
    attr->rows = a->dim[0];
    *shape = *a;
    return NULL;
}

static dpi_id lower_of(dpi_graph *g, dpi_id a, double diagonal)
{
    return dpi_apply(g, &dpi_op_lower, a, DPI_NONE, &(dpi_attr){.value = diagonal});
}

/* L^-1 b, or L'^-1 b. */
static dpi_id solved(dpi_graph *g, dpi_id l, bool transposed, dpi_id b)
{
    return dpi_apply(g, &dpi_op_triangular_solve, l, b, &(dpi_attr){.transpose = {transposed}});
}

static dpi_id turned(dpi_graph *g, dpi_id a)
{
    return dpi_unary(g, &dpi_op_transpose, a);
}

static dpi_id product(dpi_graph *g, dpi_id a, bool ta, dpi_id b, bool tb)
{
    return dpi_apply(g, &dpi_op_matmul, a, b, &(dpi_attr){.transpose = {ta, tb}});
}

static void cholesky_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id inner = lower_of(g, product(g, y, true, dpi_full_adjoint(g, y, adjoint), false), 0.5);
    dpi_id s = solved(g, y, true, turned(g, solved(g, y, true, inner))); /* S' */
    result[0] = lower_of(g, dpi_add(g, s, turned(g, s)), 0.5);
}

static double cholesky_flops(const dpi_node *node)
{
    double n = (double)node->attr.rows;
    return n * n * n / 3 + 20 * n;
}

/* attr.rows is n, attr.columns is m. */
static const char *triangular_solve_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                          dpi_shape *shape)
{
    if (!is_square(a) || b->n_dims < 1 || b->n_dims > 2 || a->dim[0] != b->dim[0])
        return "a triangular system takes a square matrix on the left and as many rows on the "
               "right";
    attr->rows = a->dim[0];
    attr->columns = b->n_dims == 2 ? b->dim[1] : 1;
    *shape = *b;
    shape->per_record = a->per_record || b->per_record;
    return NULL;
}

static void triangular_solve_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    bool transposed = node.attr.transpose[0];
    result[1] = solved(g, node.in[0], !transposed, dpi_full_adjoint(g, y, adjoint));
    dpi_id left = transposed ? y : result[1], right = transposed ? result[1] : y;
    dpi_id whole = node.shape.n_dims == 2 ? product(g, left, false, right, true)
                                          : dpi_apply(g, &dpi_op_outer, left, right, NULL);
    result[0] = dpi_unary(g, &dpi_op_neg, lower_of(g, whole, 1));
}

static double triangular_solve_flops(const dpi_node *node)
{
    return (double)node->attr.rows * (double)dpi_shape_size(&node->shape);
}

/* attr.rows is n. */
static const char *lower_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                               dpi_shape *shape)
{
    (void)b;
    if (!is_square(a))
        return "a lower triangle is that of a square matrix";
    attr->rows = a->dim[0];
    *shape = *a;
    return NULL;
}

static void lower_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = lower_of(g, dpi_full_adjoint(g, y, adjoint), dpi_get(g, y)->attr.value);
}

const dpi_op dpi_op_cholesky = {.id = DPI_OP_cholesky,
                                .name = "cholesky",
                                .call = "dp_cholesky",
                                .formula = "lower L with L L' = a",
                                .class = DPI_DENSE,
                                .n_inputs = 1,
                                .shape = cholesky_shape,
                                .backward = cholesky_backward,
                                .flops = cholesky_flops};
const dpi_op dpi_op_triangular_solve = {.id = DPI_OP_triangular_solve,
                                        .name = "triangular_solve",
                                        .call = "dp_solve_lower",
                                        .formula = "a^-1 b, a lower triangular",
                                        .class = DPI_DENSE,
                                        .given = DPI_ATTR_TRANSPOSE,
                                        .n_inputs = 2,
                                        .shape = triangular_solve_shape,
                                        .backward = triangular_solve_backward,
                                        .flops = triangular_solve_flops,
                                        .transposes = true};
const dpi_op dpi_op_lower = {.id = DPI_OP_lower,
                             .name = "lower",
                             .formula = "lower triangle of a, s times its diagonal",
                             .class = DPI_LINEAR,
                             .given = DPI_ATTR_VALUE,
                             .n_inputs = 1,
                             .shape = lower_shape,
                             .backward = lower_backward,
                             .flops = dpi_flops_cheap};
