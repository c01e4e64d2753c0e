/* Linear algebra on expressions: an operation a call, or two. */
#include <tacit/algebra.h>

#include "model/model.h"

static dp_expr of_one(const dpi_op *op, dp_expr a, const char *call)
{
    (void)dpi_expr_model(a, a, call);
    return dpi_expr_unary(op, a, NULL);
}

static dp_expr of_two(const dpi_op *op, dp_expr a, dp_expr b, const dpi_attr *attr,
                      const char *call)
{
    dp_model *m = dpi_expr_model(a, b, call);
    return (dp_expr){.model = m,
                     .id = dpi_apply(&m->graph, op, dpi_expr_id(m, a), dpi_expr_id(m, b), attr)};
}

dp_expr dp_identity_matrix(dp_model *m, size_t n)
{
    dpi_graph *g = &m->graph;
    const dpi_shape vector = {.n_dims = 1, .dim = {n}};
    if (n == 0 && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_ESHAPE, "dp_identity_matrix: n is at least 1");
    dpi_id ones = dpi_expand(g, dpi_constant(g, 1), vector);
    return (dp_expr){.model = m, .id = dpi_unary(g, &dpi_op_diagonal_matrix, ones)};
}

dp_expr dp_transpose(dp_expr a)
{
    return of_one(&dpi_op_transpose, a, __func__);
}

dp_expr dp_outer(dp_expr a, dp_expr b)
{
    return of_two(&dpi_op_outer, a, b, NULL, __func__);
}

dp_expr dp_diagonal(dp_expr a)
{
    return of_one(&dpi_op_diagonal, a, __func__);
}

dp_expr dp_diagonal_matrix(dp_expr a)
{
    return of_one(&dpi_op_diagonal_matrix, a, __func__);
}

dp_expr dp_cholesky(dp_expr a)
{
    return of_one(&dpi_op_cholesky, a, __func__);
}

dp_expr dp_solve_lower(dp_expr l, dp_expr b)
{
    return of_two(&dpi_op_triangular_solve, l, b, NULL, __func__);
}

dp_expr dp_solve_lower_transposed(dp_expr l, dp_expr b)
{
    const dpi_attr attr = {.transpose = {true}};
    return of_two(&dpi_op_triangular_solve, l, b, &attr, __func__);
}

dp_expr dp_cholesky_solve(dp_expr l, dp_expr b)
{
    return dp_solve_lower_transposed(l, dp_solve_lower(l, b));
}

dp_expr dp_cholesky_log_det(dp_expr l)
{
    return dp_scale(2, dp_sum(dp_log(dp_diagonal(l))));
}
