/* Products.
 *
 * Where rows are records, row i of the result must be a function of row i of the operand alone, bit
 * for bit: were it to depend on how many rows there are or on its place among them, one record more
 * would change the others' gradients by rounding, and where rounding decides a sign, by twice the
 * clipping norm each.  BLAS gives no such promise (OpenBLAS 0.3.21 breaks it: it chooses kernels by
 * the number of rows, and treats the last rows apart), so dpi_gemm does its own sums, over l in
 * order for every element (gemm-kernel.h), and BLAS is left to products that no record takes part
 * in.  There, below a few thousand multiplications, a call of it costs more than the work. */
#include "num/linalg.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "num/gemm.h"

static const double blas_from = 8192; /* multiplications; measured where the plain loop loses */

enum { FEW = 8 }; /* columns for which plain loops do */

double dpi_dot(size_t n, const double *a, const double *b)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* Sums of squares between these lose nothing that counts: a lost square is below 1e-308. */
static const double squares_from = 1e-250, squares_to = 1e250;

/* |a| / *unit: where squares would under- or overflow the unit is the largest number, which is
 * exact, however near to 0 it is. */
static double norm_in_units(size_t n, const double *a, double *unit)
{
    double squares = dpi_dot(n, a, a), top = 0, sum = 0;
    *unit = 1;
    if (squares > squares_from && squares < squares_to)
        return sqrt(squares);
    for (size_t i = 0; i < n; i++)
        top = fabs(a[i]) > top ? fabs(a[i]) : top;
    if (top == 0 || !isfinite(top))
        return isnan(squares) ? squares : top;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] / top) * (a[i] / top);
    *unit = top;
    return sqrt(sum);
}

double dpi_norm(size_t n, const double *a)
{
    double unit, norm = norm_in_units(n, a, &unit);
    return unit * norm;
}

double dpi_norm_of_scaled(double factor, size_t n, const double *a)
{
    double unit, norm = norm_in_units(n, a, &unit);
    return factor * unit * norm;
}

double dpi_norm_of_outer(size_t rows, const double *a, size_t columns, const double *b)
{
    double unit_a, unit_b;
    double norm_a = norm_in_units(rows, a, &unit_a), norm_b = norm_in_units(columns, b, &unit_b);
    return (unit_a * unit_b) * (norm_a * norm_b);
}

/* Static, because the several versions of a function would be exported with it. */
DPI_LOOPS static void add_compensated(size_t n, const double *a, double *sum, double *lost)
{
    for (size_t i = 0; i < n; i++) {
        double added = a[i] - lost[i], total = sum[i] + added;
        lost[i] = (total - sum[i]) - added;
        sum[i] = total;
    }
}

void dpi_add_compensated(size_t n, const double *a, double *sum, double *lost)
{
    add_compensated(n, a, sum, lost);
}

/* One row of c as a combination of the rows of b, in sums that a constant n keeps in registers. */
DPI_INLINE void row_product(size_t n, size_t k, const double *a, size_t a_step, const double *b,
                            double *c)
{
    double sum[FEW] = {0};
    for (size_t l = 0; l < k; l++)
#pragma GCC unroll 8
        for (size_t j = 0; j < n; j++)
            sum[j] += a[l * a_step] * b[l * n + j];
    memcpy(c, sum, n * sizeof *c);
}

/* n < FEW */
static void short_row_product(size_t n, size_t k, const double *a, size_t a_step, const double *b,
                              double *c)
{
    switch (n) {
    case 0:
        break;
    case 1:
        row_product(1, k, a, a_step, b, c);
        break;
    case 2:
        row_product(2, k, a, a_step, b, c);
        break;
    case 3:
        row_product(3, k, a, a_step, b, c);
        break;
    case 4:
        row_product(4, k, a, a_step, b, c);
        break;
    case 5:
        row_product(5, k, a, a_step, b, c);
        break;
    case 6:
        row_product(6, k, a, a_step, b, c);
        break;
    default:
        row_product(FEW - 1, k, a, a_step, b, c);
    }
}

/* Plain loops, for products whose rows are short. */
static void plain_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a,
                       const double *b, double *c)
{
    for (size_t i = 0; i < m; i++) {
        const double *row = ta ? a + i : a + i * k;
        size_t step = ta ? m : 1;
        if (n == 1 && !ta) {
            c[i] = dpi_dot(k, row, b);
            continue;
        }
        if (!tb && n < FEW) {
            short_row_product(n, k, row, step, b, c + i * n);
            continue;
        }
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += row[l * step] * b[j * k + l];
            c[i * n + j] = sum;
        }
    }
}

void dpi_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a, const double *b,
              double *c)
{
    /* The way is chosen without a look at m: see the opening comment. */
    if (n < FEW || k == 0) {
        plain_gemm(ta, tb, m, n, k, a, b, c);
        return;
    }
    const dpi_product product = {ta, tb, m, n, k, a, b, c};
    dpi_gemm_best()->multiply(&product);
}

void dpi_gemm_single(bool ta, bool tb, size_t m, size_t n, size_t k, const float *a, const float *b,
                     float *c)
{
    const dpi_product_single product = {ta, tb, m, n, k, a, b, c};
    if (k == 0)
        memset(c, 0, m * n * sizeof *c);
    else
        dpi_gemm_best()->multiply_single(&product);
}

/* A weight is given to the longer factor.  A product of a weight and a number may fall below
 * 2^-1022, where it is rounded to a multiple of 2^-1074, and the other factor multiplies that
 * error: by less than 2^512 where it is the shorter one and |a| |b| is finite, so that nothing is
 * left of it. */
static dpi_outer_term weighted(size_t rows, size_t columns, const double *a, const double *b,
                               double weight)
{
    bool to_a = weight != 1 && dpi_norm(rows, a) > dpi_norm(columns, b);
    return (dpi_outer_term){a, b, to_a ? weight : 1, to_a ? 1 : weight};
}

void dpi_outer_start(dpi_outer_sum *outer, size_t rows, size_t columns, double *sum)
{
    outer->rows = rows;
    outer->columns = columns;
    outer->sum = sum;
    outer->n = 0;
}

void dpi_outer_flush(dpi_outer_sum *outer)
{
    if (outer->n > 0)
        dpi_gemm_best()->add_outer(outer->n, outer->term, outer->rows, outer->columns, outer->sum);
    outer->n = 0;
}

void dpi_outer_push(dpi_outer_sum *outer, const double *a, const double *b, double weight)
{
    size_t columns = outer->columns;
    if (columns < FEW) {
        for (size_t i = 0; i < outer->rows; i++)
            for (size_t j = 0; j < columns; j++)
                outer->sum[i * columns + j] += weight * (a[i] * b[j]);
        return;
    }
    outer->term[outer->n++] = weighted(outer->rows, columns, a, b, weight);
    if (outer->n == DPI_GEMM_TERMS)
        dpi_outer_flush(outer);
}

void dpi_add_outer(const dpi_outer *p, const double *weight, double *sum)
{
    dpi_outer_sum outer;
    dpi_outer_start(&outer, p->rows, p->columns, sum);
    for (size_t r = 0; r < p->n; r++)
        if (weight[r] != 0)
            dpi_outer_push(&outer, p->a + r * p->a_step, p->b + r * p->b_step, weight[r]);
    dpi_outer_flush(&outer);
}

bool dpi_gemm_fits_blas(size_t m, size_t n, size_t k)
{
    return (double)m * (double)n * (double)k >= blas_from && m <= INT_MAX && n <= INT_MAX &&
           k <= INT_MAX;
}

void dpi_gemm_global(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a,
                     const double *b, double *c)
{
    if (!dpi_gemm_fits_blas(m, n, k)) {
        dpi_gemm(ta, tb, m, n, k, a, b, c);
        return;
    }
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                (int)m, (int)n, (int)k, 1, a, (int)(ta ? m : k), b, (int)(tb ? k : n), 0, c,
                (int)n);
}
