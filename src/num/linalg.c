/* Products.
 *
 * Where rows are records, row i of the result must be a function of row i of the operand alone, bit
 * for bit: were it to depend on how many rows there are or on its place among them, one record more
 * would change the others' gradients by rounding, and where rounding decides a sign, by twice the
 * clipping norm each.  BLAS gives no such promise (OpenBLAS 0.3.21 breaks it: it chooses kernels by
 * the number of rows, and treats the last rows apart), so dpi_gemm does its own sums, over l in
 * order for every element, and BLAS is left to products that no record takes part in.  There, below
 * a few thousand multiplications, a call of it costs more than the work. */
#include "num/linalg.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"

static const double blas_from = 8192; /* multiplications; measured where the plain loop loses */

/* A tile of TILE columns, 8 numbers wide for two to eight vectors, and DEPTH rows: 16 KiB of stack. */
enum { TILE = 8, DEPTH = 256 };

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

void dpi_add_compensated(size_t n, const double *a, double *sum, double *lost)
{
    for (size_t i = 0; i < n; i++) {
        double added = a[i] - lost[i], total = sum[i] + added;
        lost[i] = (total - sum[i]) - added;
        sum[i] = total;
    }
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
        if (!tb) {
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

/* A tile of op(b) lies on the stack: `depth` rows of TILE columns, those beyond the last zero. */
static void pack(bool tb, size_t n, size_t k, size_t row, size_t depth, size_t column,
                 size_t columns, const double *b, double *tile)
{
    for (size_t l = 0; l < depth; l++)
        for (size_t t = 0; t < TILE; t++)
            tile[l * TILE + t] = t >= columns ? 0
                                 : tb         ? b[(column + t) * k + row + l]
                                              : b[(row + l) * n + column + t];
}

/* Adds to TILE columns of two rows of c. */
static void two_rows(size_t depth, const double *a0, const double *a1, size_t step,
                     const double *tile, double *c)
{
    double s0[TILE], s1[TILE];
    memcpy(s0, c, sizeof s0);
    memcpy(s1, c + TILE, sizeof s1);
    for (size_t l = 0; l < depth; l++) {
        double x = a0[l * step], y = a1[l * step];
        const double *b = tile + l * TILE;
        for (size_t t = 0; t < TILE; t++) {
            s0[t] += x * b[t];
            s1[t] += y * b[t];
        }
    }
    memcpy(c, s0, sizeof s0);
    memcpy(c + TILE, s1, sizeof s1);
}

/* Column tile after column tile.  A last row without a partner goes in twice, so that all rows take
 * the same way through the same instructions. */
static void tiled_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a,
                       const double *b, double *c)
{
    double tile[DEPTH * TILE];
    size_t row = ta ? 1 : k, step = ta ? m : 1;
    for (size_t j = 0; j < n; j += TILE) {
        size_t columns = n - j < TILE ? n - j : TILE, bytes = columns * sizeof *c;
        for (size_t l = 0; l < k; l += DEPTH) {
            size_t depth = k - l < DEPTH ? k - l : DEPTH;
            pack(tb, n, k, l, depth, j, columns, b, tile);
            for (size_t i = 0; i < m; i += 2) {
                double sums[2 * TILE] = {0};
                size_t next = i + 1 < m ? i + 1 : i;
                if (l > 0) {
                    memcpy(sums, c + i * n + j, bytes);
                    memcpy(sums + TILE, c + next * n + j, bytes);
                }
                two_rows(depth, a + i * row + l * step, a + next * row + l * step, step, tile,
                         sums);
                memcpy(c + i * n + j, sums, bytes);
                memcpy(c + next * n + j, sums + TILE, bytes);
            }
        }
    }
}

void dpi_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, const double *a, const double *b,
              double *c)
{
    /* The way is chosen without a look at m: see the opening comment. */
    if (n < TILE || k == 0)
        plain_gemm(ta, tb, m, n, k, a, b, c);
    else
        tiled_gemm(ta, tb, m, n, k, a, b, c);
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
