/* Every kernel that works on this machine against plain loops in long double, in double and in
 * float; rows that know nothing of each other; and sums of outer products. */
#include "num/gemm.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "num/linalg.h"
#include "tests/lib/check.h"

enum { LARGEST = 130 * 520 };

static double a[LARGEST], b[LARGEST], c[LARGEST + 1];
static float fa[LARGEST], fb[LARGEST], fc[LARGEST + 1];

static double spread(size_t i)
{
    double at = (double)(i + 1) * 0.6180339887498949;
    return 3.385 * (at - floor(at)) - 1.713;
}

static void fill(size_t n_a, size_t n_b, size_t n_c)
{
    assert_true(n_a <= LARGEST && n_b <= LARGEST && n_c <= LARGEST);
    for (size_t i = 0; i < n_a; i++)
        a[i] = fa[i] = (float)spread(i);
    for (size_t i = 0; i < n_b; i++)
        b[i] = fb[i] = (float)spread(i + 999);
    for (size_t i = 0; i <= n_c; i++)
        c[i] = fc[i] = NAN; /* what was there before must not matter */
    c[n_c] = fc[n_c] = 2.5F;
}

static void check_product(const dpi_gemm_kernel *kernel, int bits, const size_t size[3])
{
    size_t m = size[0], n = size[1], k = size[2];
    bool ta = bits & 1, tb = bits & 2;
    fill(m * k, k * n, m * n);
    kernel->multiply(&(dpi_product){ta, tb, m, n, k, a, b, c});
    kernel->multiply_single(&(dpi_product_single){ta, tb, m, n, k, fa, fb, fc});
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0, scale = 0;
            for (size_t l = 0; l < k; l++) {
                long double term =
                    (long double)a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
                sum += term;
                scale += fabsl(term);
            }
            assert_close(c[i * n + j], (double)sum, 0, (double)k * DBL_EPSILON * (double)scale);
            assert_close(fc[i * n + j], (double)sum, 0, (double)k * FLT_EPSILON * (double)scale);
        }
    assert_close(c[m * n], 2.5, 0, 0);
    assert_close(fc[m * n], 2.5, 0, 0);
}

static void every_kernel_multiplies(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {
        {1, 1, 1},    {1, 8, 5},   {2, 3, 4},    {8, 24, 3},   {9, 25, 256}, {7, 23, 257},
        {17, 47, 10}, {3, 48, 33}, {16, 49, 20}, {13, 72, 7},  {5, 97, 512}, {64, 64, 64},
        {1, 145, 90}, {31, 16, 8}, {12, 32, 1},  {4, 17, 513}, {23, 31, 19}, {128, 40, 50},
    };
    size_t tried = 0;
    for (size_t i = 0; i < dpi_n_gemm_kernels; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && dpi_gemm_kernels[i].works(); s++)
            for (int bits = 0; bits < 4; bits++, tried++)
                check_product(&dpi_gemm_kernels[i], bits, sizes[s]);
    assert_true(tried > 0);
}

/* What a record contributes may not depend on who else is in its chunk, not even by rounding. */
static void check_company(const dpi_gemm_kernel *kernel, size_t n, size_t k, bool tb)
{
    enum { M = 21 };
    static double alone[LARGEST];
    static float single[LARGEST];
    for (size_t m = 1; m <= M; m += m < 5 ? 1 : 4)
        for (size_t at = 0; at < m; at += 1 + at / 3) {
            fill(0, k * n, m * n);
            for (size_t i = 0; i < m * k; i++)
                a[i] = fa[i] = i / k == at      ? (float)spread(i % k)
                               : i / k % 7 == 6 ? NAN
                                                : (float)spread(i + m);
            kernel->multiply(&(dpi_product){false, tb, m, n, k, a, b, c});
            kernel->multiply_single(&(dpi_product_single){false, tb, m, n, k, fa, fb, fc});
            if (m == 1) {
                memcpy(alone, c, n * sizeof *c);
                memcpy(single, fc, n * sizeof *fc);
            }
            assert_memory_equal(alone, c + at * n, n * sizeof *c);
            assert_memory_equal(single, fc + at * n, n * sizeof *fc);
        }
}

static void a_row_is_the_same_in_every_company(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 8, 9, 16, 40, 71, 100}, depths[] = {1, 3, 33, 300};
    for (size_t i = 0; i < dpi_n_gemm_kernels; i++)
        for (size_t u = 0; u < 7 && dpi_gemm_kernels[i].works(); u++)
            for (size_t v = 0; v < 8; v++)
                check_company(&dpi_gemm_kernels[i], widths[u], depths[v / 2], v % 2);
}

static void check_outer(const dpi_gemm_kernel *kernel, size_t n, size_t rows, size_t columns)
{
    dpi_outer_term term[DPI_GEMM_TERMS];
    fill(n * rows, n * columns, 0);
    for (size_t l = 0; l < n; l++)
        term[l] =
            (dpi_outer_term){a + l * rows, b + l * columns, l % 3 ? 1 : 0.37, l % 3 ? 0.61 : 1};
    for (size_t i = 0; i < rows * columns; i++)
        c[i] = spread(i + 31);
    c[rows * columns] = 2.5;
    kernel->add_outer(n, term, rows, columns, c);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            long double sum = spread(i * columns + j + 31), scale = 4;
            for (size_t l = 0; l < n; l++) {
                long double part =
                    (long double)term[l].scale_a * term[l].scale_b * term[l].a[i] * term[l].b[j];
                sum += part;
                scale += fabsl(part);
            }
            assert_close(c[i * columns + j], (double)sum, 0,
                         (double)(n + 2) * DBL_EPSILON * (double)scale);
        }
    assert_close(c[rows * columns], 2.5, 0, 0);
}

static void every_kernel_adds_outer_products(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},   {3, 8, 24},   {5, 9, 25},   {256, 7, 49},
                                      {2, 31, 72}, {255, 16, 8}, {128, 50, 40}};
    for (size_t i = 0; i < dpi_n_gemm_kernels; i++)
        for (size_t s = 0; s < 7 && dpi_gemm_kernels[i].works(); s++)
            check_outer(&dpi_gemm_kernels[i], sizes[s][0], sizes[s][1], sizes[s][2]);
}

/* Three chains of n - 1, n and 0 terms onto a sum, or from zero, in two calls. */
static void check_chains(const dpi_gemm_kernel *kernel, size_t n, size_t rows, size_t columns,
                         bool fresh)
{
    static double start[LARGEST], lost[LARGEST];
    size_t a_step = (rows + 15) / 16 * 16, b_step = (columns + 15) / 16 * 16;
    fill(n * a_step, n * b_step, 0);
    for (size_t l = 0; l < n; l++) { /* zero beyond the last, as kernels are promised */
        for (size_t i = rows; i < a_step; i++)
            a[l * a_step + i] = fa[l * a_step + i] = 0;
        for (size_t j = columns; j < b_step; j++)
            b[l * b_step + j] = fb[l * b_step + j] = 0;
    }
    for (int single = 0; single < 2; single++) {
        const dpi_chain chain[] = {{n - 1, a, b}, {n, a, b}, {0, a, b}};
        const dpi_chain_single chain_single[] = {{n - 1, fa, fb}, {n, fa, fb}, {0, fa, fb}};
        for (size_t i = 0; i <= rows * columns; i++) {
            start[i] = fresh ? 0 : spread(i + 31);
            c[i] = fresh && i < rows * columns ? NAN : spread(i + 31);
            lost[i] = fresh ? NAN : 0;
        }
        dpi_chain_sum to = {rows, columns, a_step, b_step, fresh, c, lost};
        for (size_t l = 0; l < 3; l += 2, to.fresh = false)
            if (single)
                kernel->add_chains_single(2 - l / 2, chain_single + l, &to);
            else
                kernel->add_chains(2 - l / 2, chain + l, &to);
        assert_close(c[rows * columns], spread(rows * columns + 31), 0, 0);
        for (size_t i = 0; i < rows * columns; i++) {
            long double sum = start[i], scale = fabs(start[i]);
            for (size_t l = 0; l < 2 * n - 1; l++) {
                size_t r = l < n - 1 ? l : l - (n - 1);
                long double part =
                    (long double)a[r * a_step + i / columns] * b[r * b_step + i % columns];
                sum += part;
                scale += fabsl(part);
            }
            assert_close(c[i], (double)sum, 0,
                         (double)(n + 2) * (single ? FLT_EPSILON : DBL_EPSILON) * (double)scale);
        }
    }
}

static void every_kernel_adds_chains(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},   {3, 8, 24},   {5, 9, 25},    {64, 7, 49},
                                      {2, 31, 72}, {70, 16, 8},  {64, 50, 400}, {33, 40, 50},
                                      {9, 17, 16}, {12, 33, 47}, {6, 3, 100}};
    for (size_t i = 0; i < dpi_n_gemm_kernels; i++)
        for (size_t s = 0; s < 22 && dpi_gemm_kernels[i].works(); s++)
            check_chains(&dpi_gemm_kernels[i], sizes[s / 2][0], sizes[s / 2][1], sizes[s / 2][2],
                         s % 2);
}

/* Records that weigh nothing leave no trace, and sums are the same however records are cut into
 * calls. */
static void weightless_records_and_calls_leave_no_trace(void **state)
{
    (void)state;
    enum { N = 300, ROWS = 13, COLUMNS = 29, ALL = ROWS * COLUMNS };
    static double once[ALL], cut[ALL], weight[N];
    fill(N * ROWS, N * COLUMNS, 0);
    for (size_t r = 0; r < N; r++)
        weight[r] = r % 5 == 3 ? 0 : r % 2 ? 1 : 0.29;
    dpi_outer p = {N, ROWS, COLUMNS, a, b, ROWS, COLUMNS};
    dpi_add_outer(&p, weight, once);
    for (size_t r = 3; r < N; r += 5) {
        a[r * ROWS + r % ROWS] = NAN;
        b[r * COLUMNS + r % COLUMNS] = INFINITY;
    }
    for (size_t r = 0; r < N; r += p.n) {
        p = (dpi_outer){r % 3 + 1, ROWS, COLUMNS, a + r * ROWS, b + r * COLUMNS, ROWS, COLUMNS};
        p.n = p.n < N - r ? p.n : N - r;
        dpi_add_outer(&p, weight + r, cut);
    }
    assert_memory_equal(once, cut, sizeof once);
}

/* |a| |b| = 2^600 is clipped to 2^-330; given to a, the weight would leave a few bits or none. */
static void weights_keep_their_digits(void **state)
{
    (void)state;
    double small[2] = {ldexp(1.25, -400), ldexp(1.375, -400)}, large[8], sum[16] = {0};
    double more[8], other[8 * 2] = {0}, weight = ldexp(1, -930);
    for (size_t i = 0; i < 8; i++)
        large[i] = more[i] = ldexp(1 + (double)i / 16, 1000);
    dpi_add_outer(&(dpi_outer){1, 2, 8, small, large, 2, 8}, &weight, sum);
    for (size_t i = 0; i < 16; i++)
        assert_close(sum[i], ldexp(ldexp(small[i / 8], 1000) * (1 + (double)(i % 8) / 16), -930), 0,
                     0);
    double narrow[8] = {ldexp(1.25, -400), ldexp(1.375, -400)};
    dpi_add_outer(&(dpi_outer){1, 2, 8, more, narrow, 8, 8}, &weight, other);
    assert_close(other[1], ldexp(1.375, -330), 0, 0);
    assert_close(other[8], ldexp(1.25 * 17 / 16, -330), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_multiplies),
        cmocka_unit_test(a_row_is_the_same_in_every_company),
        cmocka_unit_test(every_kernel_adds_outer_products),
        cmocka_unit_test(every_kernel_adds_chains),
        cmocka_unit_test(weightless_records_and_calls_leave_no_trace),
        cmocka_unit_test(weights_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
