/* Kernels of sums and differences that take a product in: a b + c, a b - c and c - a b as one call,
 * with the numbers that two calls would have: a product is rounded as its own call rounds it, and
 * nothing is fused, whether a run makes one call of the two or not (exec/taken.c).
 *
 * Which operands are one number for a row is known when a call is made, so there is a kernel for
 * each case: what a call decides costs as much as its arithmetic. */
#include "graph/kernel-loops.h"

/* `count` numbers of a row, a constant. */
DPI_INLINE void some_of_row(size_t count, const double *a, bool a_one, const double *b,
                            const double *c, bool c_one, double *y, double (*f)(double, double))
{
    double some[8];
    for (size_t j = 0; j < count; j++)
        some[j] = f((a_one ? *a : a[j]) * b[j], c_one ? *c : c[j]);
    memcpy(y, some, count * sizeof *y);
}

/* A row of n >= count numbers, the last of which are taken together with some before them. */
DPI_INLINE void row_by(size_t count, size_t n, const double *a, bool a_one, const double *b,
                       const double *c, bool c_one, double *y, double (*f)(double, double))
{
    const size_t last = n - count;
    for (size_t i = 0; i < last; i += count)
        some_of_row(count, a_one ? a : a + i, a_one, b + i, c_one ? c : c + i, c_one, y + i, f);
    some_of_row(count, a_one ? a : a + last, a_one, b + last, c_one ? c : c + last, c_one, y + last,
                f);
}

/* f(a b, c).  All records go as one row where every operand has its numbers side by side or is one
 * number for all. */
DPI_INLINE void taking(const dpi_call *call, bool a_one, bool c_one, double (*f)(double, double))
{
    const double *a = call->in[0], *b = call->in[1], *c = call->in[2];
    const size_t size = call->out_size, *step = call->in_step;
    const bool flat =
        step[0] == (a_one ? 0 : size) && step[1] == size && step[2] == (c_one ? 0 : size);
    const size_t rows = flat ? 1 : call->n, n = flat ? call->n * size : size;
    double *y = call->out;
    for (size_t r = 0; r < rows; r++, a += step[0], b += step[1], c += step[2], y += n)
        if (n >= 8)
            row_by(8, n, a, a_one, b, c, c_one, y, f);
        else if (n >= 4)
            row_by(4, n, a, a_one, b, c, c_one, y, f);
        else
            for (size_t i = 0; i < n; i++)
                y[i] = f((a_one ? *a : a[i]) * b[i], c_one ? *c : c[i]);
}

DPI_INLINE double plus(double product, double c)
{
    return product + c;
}

DPI_INLINE double minus(double product, double c)
{
    return product - c;
}

DPI_INLINE double from(double product, double c)
{
    return c - product;
}

#define CASE(name, a_one, c_one, f)                                                                \
    DPI_LOOPS_AS_WRITTEN static void name(const dpi_call *call)                                    \
    {                                                                                              \
        taking(call, a_one, c_one, f);                                                             \
    }
#define CASES(f)                                                                                   \
    CASE(f##_product, false, false, f)                                                             \
    CASE(f##_product_of_one, false, true, f)                                                       \
    CASE(f##_multiple, true, false, f)                                                             \
    CASE(f##_multiple_of_one, true, true, f)
CASES(plus)
CASES(minus)
CASES(from)

/* clang-format off */
#define ROW(f) {{f##_product, f##_product_of_one}, {f##_multiple, f##_multiple_of_one}}
/* clang-format on */
const dpi_taking_kernel dpi_taking_kernels[DPI_N_OPS] = {
    [DPI_OP_add] = {.run = {ROW(plus), ROW(plus)}},
    [DPI_OP_sub] = {.run = {ROW(minus), ROW(from)}},
};
