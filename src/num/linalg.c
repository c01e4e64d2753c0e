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

/* In sixteen interleaved sums, for the widest vectors; static as below. */
DPI_LOOPS static double long_squares(size_t n, const double *a)
{
    double sum[16] = {0};
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t k = 0; k < 16; k++)
            sum[k] += a[i + k] * a[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * a[i];
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

double dpi_squares(size_t n, const double *a)
{
    return n < DPI_LONG ? dpi_dot(n, a, a) : long_squares(n, a);
}

/* Piece by piece, in the same sums. */
DPI_LOOPS static double long_squares_single(size_t n, const float *a)
{
    double sum[16] = {0};
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t k = 0; k < 16; k++)
            sum[k] += (double)a[i + k] * (double)a[i + k];
    for (; i < n; i++)
        sum[0] += (double)a[i] * (double)a[i];
    for (size_t half = 8; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++)
            sum[k] += sum[k + half];
    return sum[0];
}

double dpi_squares_single(size_t n, const float *a)
{
    double few[DPI_LONG];
    if (n >= DPI_LONG)
        return long_squares_single(n, a);
    for (size_t i = 0; i < n; i++)
        few[i] = (double)a[i];
    return dpi_dot(n, few, few);
}

/* Sums of squares between these lose nothing that counts: a lost square is below 1e-308. */
static const double squares_from = 1e-250, squares_to = 1e250;

/* |a| / *unit: where squares would under- or overflow the unit is the largest number, which is
 * exact, however near to 0 it is. */
static double norm_in_units(size_t n, const double *a, double *unit)
{
    double squares = dpi_squares(n, a), top = 0, sum = 0;
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

/* Squares of floats neither under- nor overflow in double. */
double dpi_norm_of_outer_single(size_t rows, const float *a, size_t columns, const float *b)
{
    return sqrt(dpi_squares_single(rows, a)) * sqrt(dpi_squares_single(columns, b));
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

/* `count` products c_r[m][n] = op(a_r) b_r, the operands a_step and b_step apart. */
typedef struct few_columns {
    size_t count, m, n, k;
    const double *a, *b;
    size_t a_step, b_step, row, next; /* element (i, l) of op(a): a[i row + l next] */
    double *c;
} few_columns;

/* A row of c as a combination of the rows of b: its first `lanes` numbers and its last, a constant,
 * so that both sums are vectors. */
DPI_INLINE void combine_rows(size_t lanes, size_t n, size_t k, const double *a, size_t next,
                             const double *b, double *c)
{
    double first[4] = {0}, last[4] = {0};
    const double *end = b + n - lanes;
    for (size_t l = 0; l < k; l++, a += next, b += n, end += n)
        for (size_t j = 0; j < lanes; j++) {
            first[j] += *a * b[j];
            last[j] += *a * end[j];
        }
    memcpy(c, first, lanes * sizeof *c);
    memcpy(c + n - lanes, last, lanes * sizeof *c);
}

/* Of lanes ... 2 lanes columns. */
DPI_INLINE void combine_all(size_t lanes, const few_columns *p)
{
    const double *a = p->a, *b = p->b;
    double *c = p->c;
    for (size_t r = 0; r < p->count; r++, a += p->a_step, b += p->b_step)
        for (size_t i = 0; i < p->m; i++, c += p->n)
            combine_rows(lanes, p->n, p->k, a + i * p->row, p->next, b, c);
}

DPI_LOOPS_AS_WRITTEN static void combine(const few_columns *p)
{
    if (p->n >= 4)
        combine_all(4, p);
    else if (p->n >= 2)
        combine_all(2, p);
    else if (p->n == 1)
        combine_all(1, p);
}

/* Plain loops, for columns or rows b_j of length k. */
static void plain_gemm(bool ta, size_t m, size_t n, size_t k, const double *a, const double *b,
                       double *c)
{
    for (size_t i = 0; i < m; i++) {
        const double *row = ta ? a + i : a + i * k;
        size_t step = ta ? m : 1;
        if (n == 1 && !ta) {
            c[i] = dpi_dot(k, row, b);
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

void dpi_gemm_each(const dpi_products *p, double *c)
{
    /* The way is chosen without a look at m: see the opening comment. */
    if (!p->tb && p->n < FEW && (p->n != 1 || p->ta)) {
        const few_columns few = {.count = p->count,
                                 .m = p->m,
                                 .n = p->n,
                                 .k = p->k,
                                 .a = p->a,
                                 .b = p->b,
                                 .a_step = p->a_step,
                                 .b_step = p->b_step,
                                 .row = p->ta ? 1 : p->k,
                                 .next = p->ta ? p->m : 1,
                                 .c = c};
        combine(&few);
        return;
    }
    for (size_t r = 0; r < p->count; r++, c += p->m * p->n) {
        const double *a = p->a + r * p->a_step, *b = p->b + r * p->b_step;
        const dpi_product product = {p->ta, p->tb, p->m, p->n, p->k, a, b, c};
        if (p->n < FEW || p->k == 0)
            plain_gemm(p->ta, p->m, p->n, p->k, a, b, c);
        else
            dpi_gemm_best()->multiply(&product);
    }
}

void dpi_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a, const double *b,
              double *c)
{
    const dpi_products one = {
        .count = 1, .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .a = a, .b = b};
    dpi_gemm_each(&one, c);
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
