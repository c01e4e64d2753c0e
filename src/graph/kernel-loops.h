/* Loops that the elementwise kernels share. */
#ifndef DPI_GRAPH_KERNEL_LOOPS_H
#define DPI_GRAPH_KERNEL_LOOPS_H

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

DPI_INLINE void dpi_binary_loop(const dpi_call *c, double (*f)(double, double))
{
    const double *a = c->in[0], *b = c->in[1];
    size_t total = c->n * c->out_size;
    bool a_flat = c->in_size[0] == c->out_size && (c->n == 1 || c->in_step[0] != 0);
    bool b_flat = c->in_size[1] == c->out_size && (c->n == 1 || c->in_step[1] != 0);
    bool a_number = c->in_size[0] == 1 && c->in_step[0] == 0;
    bool b_number = c->in_size[1] == 1 && c->in_step[1] == 0;
    if (a_flat && b_flat)
        for (size_t i = 0; i < total; i++)
            c->out[i] = f(a[i], b[i]);
    else if (a_flat && b_number)
        for (size_t i = 0; i < total; i++)
            c->out[i] = f(a[i], *b);
    else if (a_number && b_flat)
        for (size_t i = 0; i < total; i++)
            c->out[i] = f(*a, b[i]);
    else if (c->in_size[0] == c->out_size && c->in_size[1] == 1)
        for (size_t r = 0; r < c->n; r++)
            for (size_t e = 0; e < c->out_size; e++)
                c->out[r * c->out_size + e] = f(a[r * c->in_step[0] + e], b[r * c->in_step[1]]);
    else if (c->in_size[0] == 1 && c->in_size[1] == c->out_size)
        for (size_t r = 0; r < c->n; r++)
            for (size_t e = 0; e < c->out_size; e++)
                c->out[r * c->out_size + e] = f(a[r * c->in_step[0]], b[r * c->in_step[1] + e]);
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
