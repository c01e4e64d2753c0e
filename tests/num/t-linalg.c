/* Products against three plain loops in long double, on both sides of the sizes from which tiles
 * and BLAS are used; and rows that know nothing of each other. */
#include "num/linalg.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

enum { LARGEST = 64 * 64 };

static double spread(size_t i)
{
    double at = (double)(i + 1) * 0.6180339887498949;
    return 3.385 * (at - floor(at)) - 1.713;
}

typedef void (*product)(bool, bool, size_t, size_t, size_t, const double *, const double *,
                        double *);

static void check_gemm(product multiply, bool ta, bool tb, size_t m, size_t n, size_t k)
{
    static double a[LARGEST], b[LARGEST], c[LARGEST + 1];
    assert_true(m * k <= LARGEST && k * n <= LARGEST && m * n <= LARGEST);
    for (size_t i = 0; i < m * k; i++)
        a[i] = spread(i);
    for (size_t i = 0; i < k * n; i++)
        b[i] = spread(i + 999);
    for (size_t i = 0; i <= m * n; i++)
        c[i] = NAN; /* what was there before must not matter */
    c[m * n] = 2.385;
    multiply(ta, tb, m, n, k, a, b, c);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0, scale = 0;
            for (size_t l = 0; l < k; l++) {
                long double term =
                    (long double)a[ta ? l * m + i : i * k + l] * b[tb ? j * k + l : l * n + j];
                sum += term;
                scale += fabsl(term);
            }
            assert_close(c[i * n + j], (double)sum, 0, 4e-15 * (double)scale);
        }
    assert_close(c[m * n], 2.385, 0, 0);
}

static void products_equal_plain_loops(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {
        {1, 1, 1},    {1, 1, 17},   {1, 7, 5},    {7, 1, 5},   {5, 7, 1},    {2, 3, 4},
        {13, 11, 7},  {31, 33, 8},  {32, 32, 8},  {33, 31, 9}, {64, 64, 64}, {64, 1, 64},
        {1, 64, 64},  {64, 64, 2},  {3, 64, 64},  {64, 3, 64}, {1, 1, 4096}, {37, 41, 43},
        {2, 2, 2047}, {2, 2, 2048}, {1024, 4, 3}, {3, 7, 300}, {3, 8, 255},  {4, 8, 256},
        {5, 9, 257},  {7, 15, 5},   {2, 16, 1},   {1, 7, 512}, {2, 7, 513},
    };
    size_t small = 0, large = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int bits = 0; bits < 4; bits++) {
            const size_t *s = sizes[i];
            check_gemm(dpi_gemm, bits & 1, bits & 2, s[0], s[1], s[2]);
            check_gemm(dpi_gemm_global, bits & 1, bits & 2, s[0], s[1], s[2]);
            *(dpi_gemm_fits_blas(s[0], s[1], s[2]) ? &large : &small) += 1;
        }
    assert_true(small > 20 && large > 20);
}

static void empty_sums_are_zero(void **state)
{
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        double c[6] = {1, 2, 3, 4, 5, 6}, none[6] = {1, 2, 3, 4, 5, 6};
        dpi_gemm(bits & 1, bits & 2, 2, 3, 0, none, none, c);
        for (size_t i = 0; i < 6; i++)
            assert_close(c[i], 0, 0, 0);
        dpi_gemm(bits & 1, bits & 2, 0, 3, 2, none, none, c);
        dpi_gemm(bits & 1, bits & 2, 2, 0, 3, none, none, c);
    }
    assert_close(dpi_dot(0, NULL, NULL), 0, 0, 0);
}

/* Records are rows: what is not finite in one of them must not reach another. */
static void rows_do_not_touch_each_other(void **state)
{
    (void)state;
    enum { M = 24, K = 20, N = 24 };
    static double a[M * K], b[K * N], clean[M * N], spoilt[M * N];
    for (size_t n = 1; n <= N; n += 23)
        for (int tb = 0; tb < 2; tb++)
            for (size_t bad = 0; bad < M; bad++) {
                for (size_t i = 0; i < M * K; i++)
                    a[i] = spread(i);
                for (size_t i = 0; i < K * N; i++)
                    b[i] = spread(i + 77);
                dpi_gemm(false, tb != 0, M, n, K, a, b, clean);
                a[bad * K + bad % K] = bad % 2 ? NAN : INFINITY;
                dpi_gemm(false, tb != 0, M, n, K, a, b, spoilt);
                for (size_t i = 0; i < M * n; i++)
                    if (i / n == bad)
                        assert_false(isfinite(spoilt[i]));
                    else
                        assert_close(spoilt[i], clean[i], 0, 0);
            }
}

/* What a record contributes may not depend on who else is in its chunk, not even by rounding. */
static void a_row_is_the_same_in_every_company(void **state)
{
    (void)state;
    enum { M = 40, K = 300, N = 40 };
    static const size_t widths[] = {1, 2, 7, 8, 9, 16, 40}, depths[] = {1, 3, 33, 256, 300};
    static double a[M * K], b[K * N], c[M * N], alone[N];
    for (size_t i = 0; i < K * N; i++)
        b[i] = spread(i + 77);
    for (size_t u = 0; u < sizeof widths / sizeof widths[0]; u++)
        for (size_t v = 0; v < 2 * sizeof depths / sizeof depths[0]; v++) {
            size_t n = widths[u], k = depths[v / 2];
            bool tb = v % 2;
            for (size_t m = 1; m <= M; m += m < 5 ? 1 : 7)
                for (size_t at = 0; at < m; at++) {
                    for (size_t i = 0; i < m * k; i++)
                        a[i] = spread(i / k == at ? i % k : i + m);
                    dpi_gemm(false, tb, m, n, k, a, b, c);
                    if (m == 1)
                        memcpy(alone, c, n * sizeof *c);
                    assert_memory_equal(alone, c + at * n, n * sizeof *c);
                }
        }
}

static void blas_is_given_no_size_beyond_int(void **state)
{
    (void)state;
    const size_t most = INT_MAX, beyond = most + 1;
    assert_true(dpi_gemm_fits_blas(most, 4, 4));
    assert_false(dpi_gemm_fits_blas(beyond, 4, 4));
    assert_false(dpi_gemm_fits_blas(4, beyond, 4));
    assert_false(dpi_gemm_fits_blas(4, 4, beyond));
    assert_false(dpi_gemm_fits_blas(SIZE_MAX, SIZE_MAX, SIZE_MAX));
}

static void dot_products_equal_plain_loops(void **state)
{
    (void)state;
    static double a[1000], b[1000];
    for (size_t i = 0; i < 1000; i++) {
        a[i] = spread(i);
        b[i] = spread(i + 5);
    }
    for (size_t n = 0; n < 1000; n = n * 5 / 4 + 1) {
        long double sum = 0, scale = 0;
        for (size_t i = 0; i < n; i++) {
            sum += (long double)a[i] * b[i];
            scale += fabsl((long double)a[i] * b[i]);
        }
        assert_close(dpi_dot(n, a, b), (double)sum, 0, 4e-15 * (double)scale);
    }
}

static void norms_neither_vanish_nor_overflow(void **state)
{
    (void)state;
    double a[7], b[7] = {0};
    for (size_t i = 0; i < 7; i++)
        a[i] = spread(i);
    const double plain = sqrt(dpi_dot(7, a, a));
    for (int e = -1000; e <= 1000; e += 25) {
        for (size_t i = 0; i < 7; i++)
            b[i] = ldexp(a[i], e);
        assert_close(dpi_norm(7, b), ldexp(plain, e), 1e-15, 0);
    }
    b[3] = INFINITY;
    assert_true(isinf(dpi_norm(7, b)));
    for (size_t i = 0; i < 7; i++) {
        double c[7] = {1, 0, INFINITY, 1e-300, -INFINITY, 1e300, 2};
        c[i] = NAN;
        assert_true(isnan(dpi_norm(7, c)));
    }
    assert_close(dpi_norm(3, (double[]){0, 0, 0}), 0, 0, 0);
    assert_close(dpi_norm(0, NULL), 0, 0, 0);
    assert_close(dpi_norm(1, (double[]){-5e-324}), 5e-324, 0, 0);
}

/* Factors of a product of moderate length, one of them down to a few steps of the smallest
 * doubles. */
static void norms_of_products_are_precise_where_a_factor_is_subnormal(void **state)
{
    (void)state;
    enum { UP = 300 };
    double a[5], b[3], far[5], near[3];
    for (int e = -1076; e <= 1000; e++) {
        for (size_t i = 0; i < 5; i++)
            far[i] = ldexp(a[i] = ldexp(spread(i), e), e < 0 ? UP : -UP);
        for (size_t i = 0; i < 3; i++)
            near[i] = ldexp(b[i] = ldexp(spread(i), -e - 60), e < 0 ? -UP : UP);
        double norm = dpi_norm(5, far) * dpi_norm(3, near);
        assert_close(dpi_norm_of_outer(5, a, 3, b), norm, 1e-15, 0);
        assert_close(dpi_norm_of_scaled(b[0], 5, a), fabs(near[0]) * dpi_norm(5, far), 1e-15, 0);
    }
}

/* Adding 0.1 a hundred thousand times: the sum of 1e4 is off by 2 units at most, plainly by
 * thousands. */
static void compensated_sums_keep_their_digits(void **state)
{
    (void)state;
    double a[3] = {0.1, -0.1, 1e-17}, sum[3] = {0, 0, 1}, lost[3] = {0, 0, 0}, plain = 0;
    for (size_t i = 0; i < 100000; i++) {
        dpi_add_compensated(3, a, sum, lost);
        plain += a[0];
    }
    assert_close(sum[0], 1e4, 0, 4e-12);
    assert_close(sum[1], -1e4, 0, 4e-12);
    assert_close(sum[2], 1 + 1e-12, 0, 3e-16);
    assert_true(fabs(plain - 1e4) > 1e-9);
}

/* Several products, of one left factor or of as many, are those made one by one, to the bit. */
static void each_product_is_the_same_alone(void **state)
{
    (void)state;
    enum { COUNT = 3, M = 4, MOST = 20 };
    static double a[COUNT * M * MOST], b[COUNT * MOST * MOST], all[COUNT * M * MOST], one[M * MOST];
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = spread(i);
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
        b[i] = spread(i + 999);
    for (int bits = 0; bits < 8; bits++)
        for (size_t n = 1; n <= MOST; n++)
            for (size_t k = 1; k <= MOST; k += 3) {
                dpi_products each = {COUNT, bits & 1, bits & 2, M, n, k, a, b, M * k, k * n};
                each.a_step = (bits & 4) != 0 ? 0 : M * k;
                dpi_gemm_each(&each, all);
                for (size_t r = 0; r < COUNT; r++) {
                    dpi_gemm(each.ta, each.tb, M, n, k, a + r * each.a_step, b + r * k * n, one);
                    assert_memory_equal(one, all + r * M * n, M * n * sizeof *one);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_plain_loops),
        cmocka_unit_test(empty_sums_are_zero),
        cmocka_unit_test(rows_do_not_touch_each_other),
        cmocka_unit_test(a_row_is_the_same_in_every_company),
        cmocka_unit_test(each_product_is_the_same_alone),
        cmocka_unit_test(blas_is_given_no_size_beyond_int),
        cmocka_unit_test(dot_products_equal_plain_loops),
        cmocka_unit_test(compensated_sums_keep_their_digits),
        cmocka_unit_test(norms_neither_vanish_nor_overflow),
        cmocka_unit_test(norms_of_products_are_precise_where_a_factor_is_subnormal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
