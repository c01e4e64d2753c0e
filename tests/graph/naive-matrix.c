#include "tests/graph/naive-matrix.h"

#include <math.h>
#include <stdlib.h>

typedef long double real;

/* L_ij of the Cholesky factor by its recursion, every number above it computed again. */
static real factor(const real *a, size_t n, size_t i, size_t j)
{
    real sum = i >= j ? a[i * n + j] : 0;
    for (size_t k = 0; k < j && i >= j; k++)
        sum -= factor(a, n, i, k) * factor(a, n, j, k);
    return i < j ? 0 : i == j ? sqrtl(sum) : sum / factor(a, n, j, j);
}

/* Element (i, j) of the inverse of the lower triangle. */
static real inverse(const real *l, size_t n, size_t i, size_t j)
{
    real sum = i == j;
    for (size_t k = j; k < i; k++)
        sum -= l[i * n + k] * inverse(l, n, k, j);
    return i < j ? 0 : sum / l[i * n + i];
}

static real solution(const dpi_node *node, const dpi_shape *s[2], const real *in[2], size_t i,
                     size_t column)
{
    size_t n = s[0]->dim[0], m = s[1]->n_dims == 2 ? s[1]->dim[1] : 1;
    real sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (node->attr.transpose[0] ? inverse(in[0], n, k, i) : inverse(in[0], n, i, k)) *
               in[1][k * m + column];
    return sum;
}

bool naive_is_matrix(const dpi_op *op)
{
    return op == &dpi_op_cholesky || op == &dpi_op_triangular_solve || op == &dpi_op_lower ||
           op == &dpi_op_transpose || op == &dpi_op_diagonal || op == &dpi_op_diagonal_matrix;
}

real naive_matrix(const dpi_node *node, const dpi_shape *s[2], const real *in[2],
                  const size_t *index)
{
    const dpi_op *op = node->op;
    size_t i = index[0], j = node->shape.n_dims == 2 ? index[1] : 0;
    if (op == &dpi_op_cholesky)
        return factor(in[0], s[0]->dim[0], i, j);
    if (op == &dpi_op_triangular_solve)
        return solution(node, s, in, i, j);
    if (op == &dpi_op_lower)
        return (i < j ? 0 : i == j ? node->attr.value : 1) * in[0][i * s[0]->dim[1] + j];
    if (op == &dpi_op_transpose)
        return in[0][j * s[0]->dim[1] + i];
    if (op == &dpi_op_diagonal)
        return in[0][i * s[0]->dim[1] + i];
    if (op == &dpi_op_diagonal_matrix)
        return i == j ? in[0][i] : 0;
    abort();
}
