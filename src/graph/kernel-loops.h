/* Loops that the elementwise kernels share. */
#ifndef DPI_GRAPH_KERNEL_LOOPS_H
#define DPI_GRAPH_KERNEL_LOOPS_H

#include <string.h>

#include "base/compiler.h"
#include "graph/kernel.h"

/* Any broadcast: index e of the result reads element e modulo the operand's size. */
DPI_INLINE void dpi_broadcast_loop(const dpi_call *c, double (*f)(double, double))
{
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        double *y = c->out + r * c->out_size;
        size_t i = 0, j = 0;
        for (size_t e = 0; e < c->out_size; e++) {
            y[e] = f(a[i], b[j]);
            i = i + 1 == c->in_size[0] ? 0 : i + 1;
            j = j + 1 == c->in_size[1] ? 0 : j + 1;
        }
    }
}

/* `count` numbers of a row, a constant, so that they are a vector: of a and b, or of one number for
 * all. */
DPI_INLINE void dpi_some_of_row(size_t count, const double *a, bool a_one, const double *b,
                                bool b_one, double *y, double (*f)(double, double))
{
    double some[8];
    for (size_t i = 0; i < count; i++)
        some[i] = f(a_one ? *a : a[i], b_one ? *b : b[i]);
    memcpy(y, some, count * sizeof *y);
}

/* A row by vectors, the last of which are taken together with some before them. */
DPI_INLINE void dpi_vectors_of_row(size_t count, size_t n, const double *a, bool a_one,
                                   const double *b, bool b_one, double *y,
                                   double (*f)(double, double))
{
    size_t last = n - count;
    for (size_t i = 0; i < last; i += count)
        dpi_some_of_row(count, a_one ? a : a + i, a_one, b_one ? b : b + i, b_one, y + i, f);
    dpi_some_of_row(count, a_one ? a : a + last, a_one, b_one ? b : b + last, b_one, y + last, f);
}

/* Rows of n numbers; of an operand that is one number for a row, a_one. */
DPI_INLINE void dpi_binary_rows(const dpi_call *c, size_t rows, size_t n, bool a_one, bool b_one,
                                double (*f)(double, double))
{
    const double *a = c->in[0], *b = c->in[1];
    double *y = c->out;
    for (size_t r = 0; r < rows; r++, a += c->in_step[0], b += c->in_step[1], y += n)
        if (n >= 8)
            dpi_vectors_of_row(8, n, a, a_one, b, b_one, y, f);
        else if (n >= 4)
            dpi_vectors_of_row(4, n, a, a_one, b, b_one, y, f);
        else
            for (size_t i = 0; i < n; i++)
                y[i] = f(a_one ? *a : a[i], b_one ? *b : b[i]);
}

/* Whether operand k has all numbers of the result, side by side. */
DPI_INLINE bool dpi_is_flat(const dpi_call *c, int k)
{
    return c->in_size[k] == c->out_size && (c->n == 1 || c->in_step[k] != 0);
}

DPI_INLINE void dpi_binary_loop(const dpi_call *c, double (*f)(double, double))
{
    const size_t n = c->out_size, a_size = c->in_size[0], b_size = c->in_size[1];
    const bool a_flat = dpi_is_flat(c, 0), b_flat = dpi_is_flat(c, 1);
    const bool a_number = a_size == 1 && c->in_step[0] == 0;
    const bool b_number = b_size == 1 && c->in_step[1] == 0;
    if (a_flat && b_flat)
        dpi_binary_rows(c, 1, c->n * n, false, false, f);
    else if (a_flat && b_number)
        dpi_binary_rows(c, 1, c->n * n, false, true, f);
    else if (a_number && b_flat)
        dpi_binary_rows(c, 1, c->n * n, true, false, f);
    else if (a_size == n && b_size == n)
        dpi_binary_rows(c, c->n, n, false, false, f);
    else if (a_size == n && b_size == 1)
        dpi_binary_rows(c, c->n, n, false, true, f);
    else if (a_size == 1 && b_size == n)
        dpi_binary_rows(c, c->n, n, true, false, f);
    else
        dpi_broadcast_loop(c, f);
}

DPI_INLINE void dpi_unary_loop(const dpi_call *c, double (*f)(double))
{
    size_t total = c->n * c->out_size;
    for (size_t i = 0; i < total; i++)
        c->out[i] = f(c->in[0][i]);
}

#endif
