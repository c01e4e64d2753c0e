/* Kernels of operations on the last dimension; the formulas are in op-last.c and
 * op-cumulative.c. */
#include <math.h>

#include "graph/kernel-numbers.h"
#include "num/map.h"

/* The length of a row that becomes one number. */
static size_t row_length(size_t in_size, size_t out_size)
{
    return out_size == 0 ? 0 : in_size / out_size;
}

DPI_INLINE void sum_last(const dpi_any_call *c)
{
    size_t d = row_length(c->in_size[0], c->out_size);
    for (size_t i = 0; i < c->n * c->out_size; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += c->type.get(c->in[0], i * d + j);
        c->type.put(c->out, i, sum);
    }
}
DPI_BOTH(sum_last, )

static double log_sum_exp(size_t n, const double *a)
{
    double top = -INFINITY, sum = 0;
    for (size_t e = 0; e < n; e++)
        top = a[e] > top || isnan(a[e]) ? a[e] : top;
    for (size_t e = 0; e < n; e++)
        sum += exp(a[e] - top);
    return isinf(top) ? top : top + log(sum);
}

void dpi_double_log_sum_exp(const dpi_call *c)
{
    size_t d = row_length(c->in_size[0], c->out_size);
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = log_sum_exp(d, c->in[0] + i * d);
}

enum { PIECE = 256 }; /* numbers whose exponentials are taken at once */

static float largest(size_t n, const float *a)
{
    float top = -INFINITY;
    for (size_t e = 0; e < n; e++)
        top = a[e] > top || isnan(a[e]) ? a[e] : top;
    return top;
}

/* The largest numbers of all rows are put into out[], then exponentials are taken piece by piece,
 * across rows, and added up in double. */
void dpi_single_log_sum_exp(const dpi_call_single *c)
{
    size_t d = row_length(c->in_size[0], c->out_size), total = c->n * c->in_size[0], left;
    for (size_t i = 0; i < c->n * c->out_size; i++)
        c->out[i] = largest(d, c->in[0] + i * d);
    float below[PIECE], power[PIECE], *out = c->out;
    double sum = 0;
    for (size_t from = 0, j = 0; from < total; from += left) {
        left = total - from < PIECE ? total - from : PIECE;
        const float *top = out;
        for (size_t i = 0, k = j; i < left; i++, k = k + 1 == d ? 0 : k + 1) {
            below[i] = c->in[0][from + i] - *top;
            top += k + 1 == d;
        }
        dpi_map_single(DPI_MAP_EXP, left, below, power);
        for (size_t i = 0; i < left; i++) {
            sum += power[i];
            if (++j < d)
                continue;
            *out = isinf(*out) ? *out : (float)(*out + log(sum));
            out++, sum = 0, j = 0;
        }
    }
}

DPI_INLINE void spread(const dpi_any_call *c)
{
    size_t d = c->attr->number;
    for (size_t i = 0; i < c->n * c->in_size[0]; i++) {
        double a = c->type.get(c->in[0], i);
        for (size_t j = 0; j < d; j++)
            c->type.put(c->out, i * d + j, a);
    }
}
DPI_BOTH(spread, )

/* The s_j of op-last.c. */
static double contrast_scale(size_t j)
{
    return 1 / sqrt((double)(j + 1) * (double)(j + 2));
}

DPI_INLINE void contrast_row(const dpi_numbers *t, size_t d, const void *a, void *y)
{
    double sum = 0;
    for (size_t i = d; i > 0; i--) {
        double term = contrast_scale(i - 1) * t->get(a, i - 1);
        t->put(y, i, sum - (double)i * term);
        sum += term;
    }
    t->put(y, 0, sum);
}

DPI_INLINE void contrast_row_back(const dpi_numbers *t, size_t d, const void *a, void *y)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += t->get(a, j);
        t->put(y, j, contrast_scale(j) * (sum - (double)(j + 1) * t->get(a, j + 1)));
    }
}

DPI_INLINE void contrast(const dpi_any_call *c)
{
    size_t to = c->attr->inner;
    bool back = c->attr->transpose[0];
    size_t from = back ? to + 1 : to - 1;
    for (size_t i = 0; i < c->n * c->out_size / to; i++)
        if (back)
            contrast_row_back(&c->type, to, dpi_from(c, 0, i * from), dpi_to(c, i * to));
        else
            contrast_row(&c->type, from, dpi_from(c, 0, i * from), dpi_to(c, i * to));
}
DPI_BOTH(contrast, )

DPI_INLINE void cumulative_sum(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    size_t d = c->attr->inner, total = c->n * c->out_size;
    bool back = c->attr->transpose[0];
    for (size_t start = 0; start < total; start += d) {
        double sum = 0;
        for (size_t j = 0; j < d; j++) {
            size_t at = start + (back ? d - 1 - j : j);
            sum += t->get(c->in[0], at);
            t->put(c->out, at, sum);
        }
    }
}
DPI_BOTH(cumulative_sum, )
