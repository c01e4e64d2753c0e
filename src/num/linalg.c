/* Products.  Below a few thousand multiplications a call of BLAS costs more than the work. */
#include "num/linalg.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"

static const double blas_from = 8192; /* multiplications; measured where the plain loop loses */

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

double dpi_norm(size_t n, const double *a)
{
    double squares = dpi_dot(n, a, a), top = 0, sum = 0;
    if (squares > squares_from && squares < squares_to)
        return sqrt(squares);
    for (size_t i = 0; i < n; i++)
        top = fabs(a[i]) > top ? fabs(a[i]) : top;
    if (top == 0 || !isfinite(top))
        return isnan(squares) ? squares : top;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] / top) * (a[i] / top);
    return top * sqrt(sum);
}

/* One row of c as a combination of the rows of b. */
static void row_product(size_t n, size_t k, const double *a, size_t a_step, const double *b,
                        double *c)
{
    memset(c, 0, n * sizeof *c);
    for (size_t l = 0; l < k; l++) {
        double factor = a[l * a_step];
        for (size_t j = 0; j < n; j++)
            c[j] += factor * b[l * n + j];
    }
}

static void plain_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a,
                       const double *b, double *c)
{
    for (size_t i = 0; i < m; i++) {
        const double *row = ta ? a + i : a + i * k;
        size_t step = ta ? m : 1;
        if (!tb) {
            if (n == 1 && !ta)
                c[i] = dpi_dot(k, row, b);
            else
                row_product(n, k, row, step, b, c + i * n);
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
    if ((double)m * (double)n * (double)k < blas_from) {
        plain_gemm(ta, tb, m, n, k, a, b, c);
        return;
    }
    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                (int)m, (int)n, (int)k, 1, a, (int)(ta ? m : k), b, (int)(tb ? k : n), 0, c,
                (int)n);
}
