/* Functions of floats and doubles, by every kernel that works on this machine, against those of the
 * C library in a wider type: all orders of magnitude, both signs, what is not finite, and the same
 * at every place of an array. */
#include "num/map.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

enum { N = 40000 };

static float in[N], out[N];

static double reference(dpi_map function, double x)
{
    if (function == DPI_MAP_EXP)
        return exp(x);
    if (function == DPI_MAP_LOGISTIC)
        return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
    if (function == DPI_MAP_NORMAL_CDF)
        return (double)(0.5L * erfcl(-(long double)x * sqrtl(0.5L)));
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        double at = (double)(i + 1) * 0.6180339887498949, turn = at - floor(at);
        in[i] = (float)(i % 8 == 7 ? 31 * turn - 15.5
                        : i % 2    ? 178 * turn - 89
                                   : (i % 4 ? 1 : -1) * pow(10, 10 * turn - 8));
    }
}

/* How far a number is off, in halves of a unit in its last place, as it is stated: by 1 + 2^-8 at
 * most. */
static double check_rounding(double x, double y)
{
    int exponent;
    (void)frexp(y, &exponent);
    double off = fabs(x - y) / fmax(ldexp(0.5, exponent - 24), 0x1p-150);
    if (!(off <= 1 + 0x1p-8))
        fail_msg("Phi is %.9g, should be %.17g", x, y);
    return off;
}

static void functions_are_those_of_the_library(void **state)
{
    (void)state;
    double worst = 0;
    fill();
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_NORMAL_CDF && dpi_map_kernels[k].works(); f++) {
            dpi_map_kernels[k].map((dpi_map)f, N, in, out);
            for (size_t i = 0; i < N; i++) {
                double y = reference((dpi_map)f, in[i]);
                if (y > 3.4e38) /* infinite from 88.72 on, a little early */
                    assert_true(out[i] > 3.4e38F);
                else if (f == DPI_MAP_NORMAL_CDF)
                    worst = fmax(worst, check_rounding(out[i], y));
                else
                    assert_close(out[i], y, 8 * 0x1p-24, 1.3 * FLT_MIN);
            }
        }
    print_message("# Phi is off by %.6f of half a unit in its last place at most\n", worst);
    assert_true(worst > 0.9);
}

static void what_is_not_finite_stays_so(void **state)
{
    (void)state;
    const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0F, 1e30F, -1e30F, FLT_MIN, -1e-42F};
    const float want[][9] = {
        {NAN, INFINITY, 0, 1, 1, INFINITY, 0, 1, 1},
        {NAN, 1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5},
        {NAN, INFINITY, 0, (float)M_LN2, (float)M_LN2, 1e30F, 0, (float)M_LN2, (float)M_LN2},
        {NAN, 1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5}};
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_NORMAL_CDF && dpi_map_kernels[k].works(); f++) {
            float y[9];
            dpi_map_kernels[k].map((dpi_map)f, 9, odd, y);
            assert_true(isnan(y[0]));
            for (size_t i = 1; i < 9; i++)
                if (isinf(want[f][i]))
                    assert_true(isinf(y[i]));
                else
                    assert_close(y[i], want[f][i], 1e-6, 0);
        }
}

static void an_element_is_the_same_at_every_place(void **state)
{
    (void)state;
    fill();
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_NORMAL_CDF && dpi_map_kernels[k].works(); f++) {
            dpi_map_kernels[k].map((dpi_map)f, 200, in, out);
            for (size_t from = 0; from < 50; from++)
                for (size_t n = 1; n < 40; n++) {
                    float some[41];
                    some[n] = 2.5F;
                    dpi_map_kernels[k].map((dpi_map)f, n, in + from, some);
                    assert_memory_equal(some, out + from, n * sizeof *some);
                    assert_true(some[n] == 2.5F);
                    memcpy(some, in + from, n * sizeof *some);
                    dpi_map_kernels[k].map((dpi_map)f, n, some, some);
                    assert_memory_equal(some, out + from, n * sizeof *some);
                }
        }
}

/* ---- doubles ---- */

static double wide_in[N], wide_out[N];

static long double wide_reference(dpi_map function, long double x)
{
    if (function == DPI_MAP_EXP)
        return expl(x);
    if (function == DPI_MAP_LOGISTIC)
        return x > 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
    return fmaxl(x, 0) + log1pl(expl(-fabsl(x)));
}

static void fill_doubles(void)
{
    for (size_t i = 0; i < N; i++) {
        double at = (double)(i + 1) * 0.6180339887498949, turn = at - floor(at);
        wide_in[i] = i % 2 ? 1460 * turn - 748 : (i % 4 ? 1 : -1) * pow(10, 22 * turn - 19);
    }
}

static void functions_of_doubles_are_those_of_the_library(void **state)
{
    (void)state;
    double worst = 0;
    fill_doubles();
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_SOFTPLUS && dpi_map_kernels[k].works(); f++) {
            dpi_map_kernels[k].map_double((dpi_map)f, N, wide_in, wide_out);
            for (size_t i = 0; i < N; i++) {
                long double y = wide_reference((dpi_map)f, wide_in[i]);
                if (y > 0x1.fffffffffffffp1023L)
                    assert_true(isinf(wide_out[i]));
                else if (!(fabsl(wide_out[i] - y) <= 9 * 0x1p-53L * y + 0x1p-1073L))
                    fail_msg("%s, function %d of %.17g: %.17g", dpi_map_kernels[k].name, f,
                             wide_in[i], wide_out[i]);
                else if (y > DBL_MIN)
                    worst = fmax(worst, (double)(fabsl(wide_out[i] - y) / y * 0x1p53L));
            }
        }
    print_message("# off by %.2f 2^-53 at most\n", worst);
}

static void doubles_that_are_not_finite_stay_so(void **state)
{
    (void)state;
    const double odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e300, -1e300, DBL_MIN, -1e-310};
    const double want[][9] = {{NAN, INFINITY, 0, 1, 1, INFINITY, 0, 1, 1},
                              {NAN, 1, 0, 0.5, 0.5, 1, 0, 0.5, 0.5},
                              {NAN, INFINITY, 0, M_LN2, M_LN2, 1e300, 0, M_LN2, M_LN2}};
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_SOFTPLUS && dpi_map_kernels[k].works(); f++) {
            double y[9];
            dpi_map_kernels[k].map_double((dpi_map)f, 9, odd, y);
            assert_true(isnan(y[0]));
            for (size_t i = 1; i < 9; i++)
                if (isinf(want[f][i]))
                    assert_true(isinf(y[i]));
                else
                    assert_close(y[i], want[f][i], 1e-15, 0);
        }
}

static void a_double_is_the_same_at_every_place(void **state)
{
    (void)state;
    fill_doubles();
    for (size_t k = 0; k < dpi_n_map_kernels; k++)
        for (int f = DPI_MAP_EXP; f <= DPI_MAP_SOFTPLUS && dpi_map_kernels[k].works(); f++) {
            dpi_map_kernels[k].map_double((dpi_map)f, 200, wide_in, wide_out);
            for (size_t from = 0; from < 50; from++)
                for (size_t n = 1; n < 20; n++) {
                    double some[21];
                    some[n] = 2.5;
                    dpi_map_kernels[k].map_double((dpi_map)f, n, wide_in + from, some);
                    assert_memory_equal(some, wide_out + from, n * sizeof *some);
                    assert_true(some[n] == 2.5);
                    memcpy(some, wide_in + from, n * sizeof *some);
                    dpi_map_kernels[k].map_double((dpi_map)f, n, some, some);
                    assert_memory_equal(some, wide_out + from, n * sizeof *some);
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_the_library),
        cmocka_unit_test(what_is_not_finite_stays_so),
        cmocka_unit_test(an_element_is_the_same_at_every_place),
        cmocka_unit_test(functions_of_doubles_are_those_of_the_library),
        cmocka_unit_test(doubles_that_are_not_finite_stay_so),
        cmocka_unit_test(a_double_is_the_same_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
