/* Kernels of operations on matrices; the formulas are in op-cholesky.c and op-matrix.c.
 *
 * Plain loops, row after row: these matrices are covariances of a few dozen numbers. */
#include <math.h>
#include <string.h>

#include "graph/kernel-numbers.h"

/* a_i0 b_j0 + ... + a_i(m-1) b_j(m-1) of rows of two numbers' places. */
DPI_INLINE double rows_product(const dpi_numbers *t, const void *y, size_t i, size_t j, size_t m)
{
    double sum = 0;
    for (size_t k = 0; k < m; k++)
        sum += t->get(y, i + k) * t->get(y, j + k);
    return sum;
}

/* Row i of the factor from the rows above; false where the matrix is not positive definite. */
DPI_INLINE bool factor_row(const dpi_numbers *t, size_t n, size_t i, const void *a, void *y)
{
    for (size_t j = 0; j < i; j++) {
        double rest = t->get(a, i * n + j) - rows_product(t, y, i * n, j * n, j);
        t->put(y, i * n + j, rest / t->get(y, j * n + j));
    }
    double rest = t->get(a, i * n + i) - rows_product(t, y, i * n, i * n, i);
    t->put(y, i * n + i, sqrt(rest));
    for (size_t j = i + 1; j < n; j++)
        t->put(y, i * n + j, 0);
    return rest > 0 && isfinite(rest);
}

DPI_INLINE void cholesky(const dpi_any_call *c)
{
    size_t n = c->attr->rows;
    for (size_t r = 0; r < c->n; r++) {
        void *y = dpi_to(c, r * n * n);
        bool positive = true;
        for (size_t i = 0; i < n && positive; i++)
            positive = factor_row(&c->type, n, i, dpi_from(c, 0, r * n * n), y);
        for (size_t e = 0; e < n * n && !positive; e++)
            c->type.put(y, e, NAN);
    }
}
DPI_BOTH(cholesky, )

/* Row i of the solution from those before it, or when transposed those behind it. */
DPI_INLINE void solve_row(const dpi_any_call *c, size_t i, const void *l, const void *b, void *y)
{
    const dpi_numbers *t = &c->type;
    size_t n = c->attr->rows, m = c->attr->columns;
    bool back = c->attr->transpose[0];
    for (size_t j = 0; j < m; j++) {
        double rest = t->get(b, i * m + j);
        for (size_t k = back ? i + 1 : 0; k < (back ? n : i); k++)
            rest -= t->get(l, back ? k * n + i : i * n + k) * t->get(y, k * m + j);
        t->put(y, i * m + j, rest / t->get(l, i * n + i));
    }
}

DPI_INLINE void triangular_solve(const dpi_any_call *c)
{
    size_t n = c->attr->rows;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; i < n; i++)
            solve_row(c, c->attr->transpose[0] ? n - 1 - i : i, dpi_from(c, 0, r * c->in_step[0]),
                      dpi_from(c, 1, r * c->in_step[1]), dpi_to(c, r * c->out_size));
}
DPI_BOTH(triangular_solve, )

DPI_INLINE void lower(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    size_t n = c->attr->rows;
    for (size_t e = 0; e < c->n * c->out_size; e++) {
        size_t i = e / n % n, j = e % n;
        double a = t->get(c->in[0], e);
        t->put(c->out, e, j > i ? 0 : j == i ? c->attr->value * a : a);
    }
}
DPI_BOTH(lower, )

DPI_INLINE void transpose(const dpi_any_call *c)
{
    size_t rows = c->attr->rows, columns = c->attr->columns;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                c->type.put(dpi_to(c, r * c->out_size), j * rows + i,
                            c->type.get(c->in[0], r * c->out_size + i * columns + j));
}
DPI_BOTH(transpose, )

DPI_INLINE void diagonal(const dpi_any_call *c)
{
    size_t n = c->attr->rows;
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; i < n; i++)
            c->type.put(c->out, r * n + i, c->type.get(c->in[0], (r * n + i) * n + i));
}
DPI_BOTH(diagonal, )

DPI_INLINE void diagonal_matrix(const dpi_any_call *c)
{
    size_t n = c->attr->rows;
    memset(c->out, 0, c->n * c->out_size * c->type.size);
    for (size_t r = 0; r < c->n; r++)
        for (size_t i = 0; i < n; i++)
            c->type.put(c->out, (r * n + i) * n + i, c->type.get(c->in[0], r * n + i));
}
DPI_BOTH(diagonal_matrix, )
