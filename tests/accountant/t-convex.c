/* The least of a convex function from below: never above it, and near it. */
#include "accountant/answers/convex.h"

#include <math.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { POINTS = 6 };

static double parabola(double x, double at)
{
    return (x - at) * (x - at) + 0.5;
}

static double kink(double x, double at)
{
    return fmax(0.3 * (at - x), 2 * (x - at)) + 0.5;
}

/* The value is 1/2 at its least; points lie `apart` from each other, bounds by up to `off` above
 * and below. */
static double from_below(double (*g)(double, double), double at, double first, double apart,
                         double off, uint64_t *r)
{
    dpi_point p[POINTS];
    for (size_t k = 0; k < POINTS; k++) {
        double x = first + apart * (double)k, value = g(x, at);
        double low = value - off * fabs(next_number(r)), high = value + off * fabs(next_number(r));
        p[k] = (dpi_point){x, low, high};
    }
    return dpi_convex_least(p, POINTS);
}

static void the_bound_is_never_above_the_function(void **state)
{
    (void)state;
    uint64_t r = 1;
    for (int i = 0; i < 10000; i++) {
        double first = next_number(&r), apart = 0.5 + 0.4 * next_number(&r);
        double at = first + apart * 2.5 * (1 + 0.9 * next_number(&r)), off = i % 2 * 0.1;
        assert_true(from_below(parabola, at, first, apart, off, &r) <= 0.5);
        assert_true(from_below(kink, at, first, apart, off, &r) <= 0.5);
    }
}

/* Corners between lines are found as they are; what a parabola loses falls with the square of the
 * distance. */
static void the_bound_is_near_the_least_value(void **state)
{
    (void)state;
    uint64_t r = 1;
    assert_close(from_below(kink, 2.3, 0, 1, 0, &r), 0.5, 1e-12, 0);
    double coarse = 0.5 - from_below(parabola, 0.3, -2.5, 1, 0, &r),
           fine = 0.5 - from_below(parabola, 0.03, -0.25, 0.1, 0, &r);
    assert_true(coarse > 0 && fine > 0);
    assert_close(coarse / fine, 100, 1e-6, 0);
}

static void two_points_bound_nothing(void **state)
{
    (void)state;
    const dpi_point p[] = {{0, 1, 1}, {1, 1, 1}};
    assert_true(dpi_convex_least(p, 2) == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_never_above_the_function),
        cmocka_unit_test(the_bound_is_near_the_least_value),
        cmocka_unit_test(two_points_bound_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
