/* log(I_0(a) e^-a) and its derivatives against mpmath, on both sides of where the method
 * changes. */
#include "num/bessel.h"

#include <math.h>

#include "tests/lib/check.h"
#include "tests/num/reference-bessel.h"

enum { N = sizeof bessel_values / sizeof bessel_values[0] };

static void it_is_accurate(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) {
        const double *row = bessel_values[i];
        double found = dpi_log_bessel((size_t)row[0], row[1]), slack = row[0] < 3 ? 0 : 4e-15;
        if (!(fabs(found - row[2]) <= 4e-15 * fabs(row[2]) + slack))
            print_error("order %g, a = %g\n", row[0], row[1]);
        assert_close(found, row[2], 4e-15, row[1] < 30 ? slack : 0);
    }
}

/* Each order is the slope of the one below, across the change of method too. */
static void orders_are_slopes(void **state)
{
    (void)state;
    for (size_t order = 0; order < 4; order++)
        for (double a = 0.3; a < 60; a += 0.37) {
            double h = 1e-3, near = dpi_log_bessel(order, a + h) - dpi_log_bessel(order, a - h);
            double far = dpi_log_bessel(order, a + 2 * h) - dpi_log_bessel(order, a - 2 * h);
            assert_close((8 * near - far) / (12 * h), dpi_log_bessel(order + 1, a), 1e-9, 3e-11);
        }
}

static void it_has_ends(void **state)
{
    (void)state;
    const double at_0[] = {0, -1, 0.5, 0, -0.375};
    for (size_t order = 0; order < 5; order++) {
        assert_close(dpi_log_bessel(order, 0), at_0[order], 1e-15, 4e-16);
        assert_true(isnan(dpi_log_bessel(order, -1e-300)) && isnan(dpi_log_bessel(order, NAN)));
        assert_true(order == 0 || dpi_log_bessel(order, INFINITY) == 0);
        assert_true(isfinite(dpi_log_bessel(order, 1e308)));
    }
    assert_true(dpi_log_bessel(0, INFINITY) == -INFINITY);
    assert_true(isnan(dpi_log_bessel(5, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_accurate),
        cmocka_unit_test(orders_are_slopes),
        cmocka_unit_test(it_has_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
