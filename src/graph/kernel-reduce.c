/* Kernels of sums over leading dimensions or records, of what repeats them, and of means over
 * groups; the formulas are in op-reduce.c and op-group.c. */
#include <string.h>

#include "graph/kernel-numbers.h"

enum { COLUMNS = 64 }; /* sums at a time */

/* The sums of `count` columns from a on, of rows of `width` numbers. */
DPI_INLINE void sum_columns(const dpi_numbers *t, size_t size, size_t width, size_t count,
                            const void *a, void *y)
{
    double sum[COLUMNS] = {0};
    for (size_t start = 0; start < size; start += width)
        for (size_t e = 0; e < count; e++)
            sum[e] += t->get(a, start + e);
    for (size_t e = 0; e < count; e++)
        t->put(y, e, sum[e]);
}

DPI_INLINE void sum_to(const dpi_any_call *c)
{
    size_t width = c->out_size, size = c->in_size[0], left;
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < width; e += COLUMNS) {
            left = width - e;
            const void *a = dpi_from(c, 0, r * size + e);
            void *y = dpi_to(c, r * width + e);
            if (width == 1)
                sum_columns(&c->type, size, 1, 1, a, y);
            else
                sum_columns(&c->type, size, width, left < COLUMNS ? left : COLUMNS, a, y);
        }
}
DPI_BOTH(sum_to, DPI_LOOPS)

void dpi_double_expand(const dpi_call *c)
{
    size_t repeats = c->in_size[0] == 0 ? 0 : c->out_size / c->in_size[0];
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < repeats; k++)
            memcpy(c->out + r * c->out_size + k * c->in_size[0], c->in[0] + r * c->in_size[0],
                   c->in_size[0] * sizeof *c->out);
}

void dpi_double_sum_records(const dpi_call *c)
{
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < c->out_size; e++)
            c->out[e] += c->in[0][r * c->in_size[0] + e];
}

void dpi_double_group_mean(const dpi_call *c)
{
    const dpi_attr *t = c->attr;
    size_t width = t->number * t->columns, row = t->inner * width;
    for (size_t k = 0; k < c->n * t->rows * t->number; k++) {
        size_t start = k / t->number * row + k % t->number * t->columns;
        const double *a = c->in[0] + start;
        double *y = c->out + start, sum = 0;
        for (size_t i = 0; i < t->inner; i++)
            for (size_t j = 0; j < t->columns; j++)
                sum += a[i * width + j];
        sum /= (double)(t->inner * t->columns);
        for (size_t i = 0; i < t->inner; i++)
            for (size_t j = 0; j < t->columns; j++)
                y[i * width + j] = sum;
    }
}
