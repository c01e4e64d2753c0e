/* B-splines against de Boor's recursion, and the wiggly functions by what they are said to be. */
#include "num/spline.h"

#include <math.h>
#include <stdlib.h>

#include "tests/lib/check.h"

enum { MOST = 60, GRID = 20000 };

/* B_j of degree d at x by de Boor's recursion. */
static double recursion(size_t d, const double *t, size_t j, double x)
{
    if (d == 0)
        return x >= t[j] && x < t[j + 1];
    return (x - t[j]) / (t[j + d] - t[j]) * recursion(d - 1, t, j, x) +
           (t[j + d + 1] - x) / (t[j + d + 1] - t[j + 1]) * recursion(d - 1, t, j + 1, x);
}

static double by_powers(size_t d, size_t n, size_t m, const double *t, const double *powers,
                        size_t j, double x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x > t[i] ? powers[i * m + j] * pow(x - t[i], (double)d) : 0;
    return sum;
}

static void powers_make_b_splines(void **state)
{
    (void)state;
    const double t[] = {-0.7, -0.31, -0.11, 0, 0.13, 0.2, 0.55, 0.61, 1, 1.3, 1.72, 2};
    enum { N = sizeof t / sizeof t[0] };
    double powers[N * N];
    for (size_t d = 1; d <= 4; d++) {
        size_t m = N - d - 1;
        dpi_spline_powers(d, N, t, powers);
        for (double x = -0.69; x < 2; x += 0.0371)
            for (size_t j = 0; j < m; j++)
                assert_close(by_powers(d, N, m, t, powers, j, x), recursion(d, t, j, x), 0, 1e-10);
    }
}

/* Means over (0, 1) of products of the functions, of 1 and x - 1/2, and of second derivatives. */
static void wiggles_are_orthogonal_in_values_and_bending(void **state)
{
    (void)state;
    const size_t sizes[] = {4, 5, 10, 40};
    for (size_t s = 0; s < 4; s++) {
        size_t m = sizes[s], n = m + 4, w = m - 2;
        static double powers[(MOST + 4) * MOST], t[MOST + 4], value[MOST][MOST], bend[MOST][MOST],
            mean[MOST][2];
        double total = 0;
        dp_error err = {0};
        assert_ok(dpi_spline_wiggles(m, powers, &err), err.text);
        dpi_spline_knots(m, t);
        for (size_t i = 0; i < w; i++) {
            mean[i][0] = mean[i][1] = 0;
            for (size_t j = 0; j < w; j++)
                value[i][j] = bend[i][j] = 0;
        }
        for (int k = 0; k < GRID; k++) {
            double x = (k + 0.5) / GRID, f[MOST] = {0}, b[MOST] = {0};
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < w && x > t[i]; j++) {
                    f[j] += powers[i * w + j] * pow(x - t[i], 3);
                    b[j] += powers[i * w + j] * 6 * (x - t[i]);
                }
            for (size_t i = 0; i < w; i++) {
                mean[i][0] += f[i] / GRID;
                mean[i][1] += f[i] * (x - 0.5) / GRID;
                for (size_t j = 0; j < w; j++) {
                    value[i][j] += f[i] * f[j] / GRID;
                    bend[i][j] += b[i] * b[j] / GRID;
                }
            }
        }
        for (size_t i = 0; i < w; i++) {
            total += value[i][i];
            assert_close(mean[i][0], 0, 0, 1e-6);
            assert_close(mean[i][1], 0, 0, 1e-6);
            assert_close(bend[i][i] / bend[0][0], 1, 1e-4, 0);
            assert_true(i == 0 || value[i][i] > value[i - 1][i - 1]); /* smooth ones last */
            for (size_t j = 0; j < i; j++) {
                assert_close(value[i][j], 0, 0, 1e-6);
                assert_close(bend[i][j] / bend[0][0], 0, 0, 1e-4);
            }
        }
        assert_close(total, 1, 1e-5, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_make_b_splines),
        cmocka_unit_test(wiggles_are_orthogonal_in_values_and_bending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
