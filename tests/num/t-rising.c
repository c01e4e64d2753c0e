/* Rising factorials and their derivatives against mpmath: small and large a, few and many
 * factors, and on both sides of where methods change. */
#include "num/rising.h"

#include <math.h>

#include "num/special.h"
#include "tests/lib/check.h"
#include "tests/num/reference-rising.h"

enum { N = sizeof rising_values / sizeof rising_values[0] };

static void rising_is_accurate(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) {
        const double *row = rising_values[i];
        double found = dpi_rising((size_t)row[0], row[1], row[2]);
        if (isfinite(row[3]) && !(fabs(found - row[3]) <= 4e-14 * fabs(row[3]) + 1e-14))
            print_error("order %g, a = %g, b = %g\n", row[0], row[1], row[2]);
        assert_int_equal(isinf(found), isinf(row[3]));
        assert_close(found, row[3], 4e-14, row[0] == 0 ? 1e-14 : 5e-324);
    }
}

/* The methods for few and for many factors, and those above and below their steps of a, are one
 * function. */
static void methods_meet(void **state)
{
    (void)state;
    for (size_t order = 0; order < 5; order++)
        for (double a = 0.37; a < 40; a *= 1.31) {
            double step = order == 0 ? log(a + 16)
                                     : pow(-1, (double)order + 1) * tgamma((double)order) *
                                           pow(a + 16, -(double)order);
            assert_close(dpi_rising(order, a, 17), dpi_rising(order, a, 16) + step, 1e-13, 1e-13);
            assert_close(dpi_rising(order, a, 2.5) + dpi_rising(order, a + 2.5, 14.5),
                         dpi_rising(order, a, 17), 1e-13, 1e-13);
        }
}

static void it_is_nothing_outside_its_domain(void **state)
{
    (void)state;
    const double bad[] = {0, -0.0, -1, -2.5, NAN, INFINITY, -INFINITY};
    for (size_t order = 0; order < 4; order++) {
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
            assert_true(isnan(dpi_rising(order, bad[i], 2)));
        assert_true(isnan(dpi_rising(order, 1, -1)) && isnan(dpi_rising(order, 1, NAN)));
        assert_true(dpi_rising(order, 3.7, 0) == 0);
    }
    assert_true(isnan(dpi_rising(101, 1, 2)) && isfinite(dpi_rising(100, 1, 2)));
    assert_true(isfinite(dpi_rising(0, 1e308, 1e300)) && isfinite(dpi_rising(0, 1e-308, 1e300)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rising_is_accurate),
        cmocka_unit_test(methods_meet),
        cmocka_unit_test(it_is_nothing_outside_its_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
