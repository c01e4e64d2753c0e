/* Special functions against mpmath, from the smallest double to the largest. */
#include "num/special.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>

#include "num/tail.h"

#include "tests/lib/check.h"
#include "tests/num/reference.h"

enum {
    N_LOGISTIC = sizeof logistic_values / sizeof logistic_values[0],
    N_SOFTPLUS = sizeof softplus_values / sizeof softplus_values[0],
    N_LGAMMA = sizeof lgamma_values / sizeof lgamma_values[0],
    N_LOG_NORMAL_CDF = sizeof log_normal_cdf_values / sizeof log_normal_cdf_values[0],
    N_LOG_CAUCHY_CDF = sizeof log_cauchy_cdf_values / sizeof log_cauchy_cdf_values[0],
    N_LOG1MEXP = sizeof log1mexp_values / sizeof log1mexp_values[0],
    N_CLOGLOG = sizeof cloglog_values / sizeof cloglog_values[0],
    N_POLYGAMMA = sizeof polygamma_values / sizeof polygamma_values[0],
};

static const double smallest = 5e-324;

/* Close, and finite only together. */
static void check(double found, double expected, double relative, double absolute)
{
    assert_int_equal(isinf(found), isinf(expected));
    assert_close(found, expected, relative, absolute);
}

static void logistic_is_accurate_on_both_sides(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LOGISTIC; i++)
        check(dpi_logistic(logistic_values[i][0]), logistic_values[i][1], 4e-16, 2 * smallest);
    check(dpi_logistic(INFINITY), 1, 0, 0);
    check(dpi_logistic(-INFINITY), 0, 0, 0);
    assert_true(isnan(dpi_logistic(NAN)));
}

static void softplus_is_accurate_on_both_sides(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SOFTPLUS; i++)
        check(dpi_softplus(softplus_values[i][0]), softplus_values[i][1], 4e-16, 2 * smallest);
    check(dpi_softplus(INFINITY), INFINITY, 0, 0);
    check(dpi_softplus(-INFINITY), 0, 0, 0);
    assert_true(isnan(dpi_softplus(NAN)));
}

static void lgamma_is_accurate(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LGAMMA; i++)
        check(dpi_lgamma(lgamma_values[i][0]), lgamma_values[i][1], 2e-15, 2e-15);
    check(dpi_lgamma(INFINITY), INFINITY, 0, 0);
    check(dpi_lgamma(1e308), INFINITY, 0, 0);
}

static void polygamma_is_accurate(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_POLYGAMMA; i++) {
        const double *row = polygamma_values[i];
        check(dpi_polygamma((size_t)row[0], row[1]), row[2], 4e-15,
              row[0] == 0 ? 1e-17 : 2 * smallest);
    }
    check(dpi_polygamma(0, INFINITY), INFINITY, 0, 0);
    check(dpi_polygamma(0, smallest), -INFINITY, 0, 0);
    assert_true(isnan(dpi_polygamma(101, 2.385)));
    for (size_t order = 1; order < 6; order++)
        check(dpi_polygamma(order, INFINITY), 0, 0, 0);
}

/* A number below the least normal one has fewer digits. */
static const double denormal = 1e-320;

static void probabilities_keep_their_digits_in_both_tails(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_LOG_NORMAL_CDF; i++) {
        const double *row = log_normal_cdf_values[i];
        check(dpi_log_normal_cdf((size_t)row[0], row[1]), row[2], 1e-14, denormal);
    }
    for (size_t i = 0; i < N_LOG_CAUCHY_CDF; i++)
        check(dpi_log_cauchy_cdf(log_cauchy_cdf_values[i][0]), log_cauchy_cdf_values[i][1], 1e-15,
              denormal);
    for (size_t i = 0; i < N_LOG1MEXP; i++)
        check(dpi_log1mexp(log1mexp_values[i][0]), log1mexp_values[i][1], 1e-15, denormal);
    for (size_t i = 0; i < N_CLOGLOG; i++)
        check(dpi_cloglog(cloglog_values[i][0]), cloglog_values[i][1], 4e-15, denormal);
}

static void probabilities_have_limits(void **state)
{
    (void)state;
    const double end[3][2] = {{-INFINITY, 0}, {INFINITY, 0}, {-1, 0}};
    for (size_t order = 0; order < 3; order++) {
        check(dpi_log_normal_cdf(order, -INFINITY), end[order][0], 0, 0);
        check(dpi_log_normal_cdf(order, INFINITY), end[order][1], 0, 0);
        assert_true(isnan(dpi_log_normal_cdf(order, NAN)));
    }
    assert_true(isnan(dpi_log_normal_cdf(3, 0)));
    check(dpi_log_cauchy_cdf(-INFINITY), -INFINITY, 0, 0);
    check(dpi_log_cauchy_cdf(INFINITY), 0, 0, 0);
    check(dpi_log1mexp(-INFINITY), 0, 0, 0);
    check(dpi_log1mexp(0), -INFINITY, 0, 0);
    assert_true(isnan(dpi_log1mexp(1)));
    check(dpi_cloglog(-INFINITY), -INFINITY, 0, 0);
    check(dpi_cloglog(INFINITY), 0, 0, 0);
    assert_true(isnan(dpi_log_cauchy_cdf(NAN)) && isnan(dpi_log1mexp(NAN)) &&
                isnan(dpi_cloglog(NAN)));
}

static void tails_of_two_end_where_they_are_told_to(void **state)
{
    (void)state;
    const dpi_tail_of lower = {DPI_LOWER, 0, 0}, upper = {DPI_UPPER, 0, 0};
    check(dpi_log_gamma_tail(lower, 2.5, 0), -INFINITY, 0, 0);
    check(dpi_log_gamma_tail(upper, 2.5, 0), 0, 0, 0);
    check(dpi_log_gamma_tail(lower, 2.5, INFINITY), 0, 0, 0);
    check(dpi_log_gamma_tail(upper, 2.5, INFINITY), -INFINITY, 0, 0);
    check(dpi_log_gamma_tail(upper, 1, 713.9), -713.9, 1e-15, 0);
    check(dpi_log_student_tail(lower, 3.1, 0), -M_LN2, 1e-15, 0);
    check(dpi_log_student_tail(upper, 3.1, 0), -M_LN2, 1e-15, 0);
    check(dpi_log_student_tail(lower, 1, -1), log(0.25), 1e-15, 0);
    const struct {
        dpi_tail_of of;
        double a, x;
    } bad[] = {{lower, 0, 1},
               {lower, -1, 1},
               {lower, 2.5, -1},
               {lower, 1e150, 1},
               {lower, NAN, 1},
               {lower, 2.5, NAN},
               {{DPI_LOWER, 3, 0}, 2, 1},
               {{DPI_UPPER, 1, 2}, 2, 1},
               {lower, INFINITY, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(isnan(dpi_log_gamma_tail(bad[i].of, bad[i].a, bad[i].x)));
        if (bad[i].x != -1)
            assert_true(isnan(dpi_log_student_tail(bad[i].of, bad[i].a, bad[i].x)));
    }
    assert_true(isnan(dpi_log_gamma_tail((dpi_tail_of){DPI_WITHIN, 0, 0}, 2, 1)));
    assert_true(isnan(dpi_log_student_tail((dpi_tail_of){DPI_WITHIN, 0, 0}, 2, -1)));
    assert_true(isnan(dpi_log_student_tail(lower, 2, 1e200)));
}

/* By differences over a share h of a, which are off by about h^2. */
static void derivatives_of_large_shapes_are_slopes(void **state)
{
    (void)state;
    const double h = 1e-5, a[] = {1.3e4, 3.7e7};
    double (*const tail[])(dpi_tail_of, double, double) = {dpi_log_gamma_tail,
                                                           dpi_log_student_tail};
    for (size_t k = 0; k < 16; k++) {
        size_t which = k % 2, number = k / 2 % 2, side = k / 4 % 2, second = k / 8;
        double at = a[number], off = which == 0 ? 0.3 * sqrt(at) : 0;
        double x = which == 0 ? at + (side == 0 ? -off : off) : side == 0 ? 0.7 : 2.3;
        double step = which == 0 ? h / sqrt(at) : h;
        for (size_t first = 0; first + second < 2; first++) {
            const dpi_tail_of of = {side == 0 ? DPI_LOWER : DPI_UPPER, first, second};
            const dpi_tail_of next = {of.side, first + 1, second};
            double up = tail[which](of, at * (1 + step), x);
            double down = tail[which](of, at * (1 - step), x);
            double slope = (up - down) / (2 * step * at);
            check(tail[which](next, at, x), slope, 1e-5, 4e-16 * fabs(up) / (step * at));
        }
    }
}

static void nothing_is_defined_at_poles_and_below(void **state)
{
    (void)state;
    const double bad[] = {0.0, -0.0, -5e-324, -0.5, -1, -2.385, -1e300, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(isnan(dpi_lgamma(bad[i])));
        for (size_t order = 0; order < 4; order++)
            assert_true(isnan(dpi_polygamma(order, bad[i])));
    }
}

static size_t complaints;

static void complain(const char *reason, const char *file, int line, int status)
{
    (void)reason, (void)file, (void)line, (void)status;
    complaints++;
}

static void call_all(double x)
{
    (void)dpi_lgamma(x);
    for (size_t order = 0; order < 4; order++)
        (void)dpi_polygamma(order, x);
}

/* GSL's default handler ends the process: no argument may reach it.  Every power of two with three
 * mantissas and either sign, and three doubles about every place where GSL or this file changes
 * methods. */
static void no_argument_reaches_the_handler_of_gsl(void **state)
{
    (void)state;
    const double mantissas[] = {1, 1.0000000000000002, 1.618};
    const double edges[] = {1e-18, 1e-10, 0.01, 0.02, 0.5, 1,    2,   3,
                            10,    15,    16,   170,  1e9, 1e10, 1e15};
    gsl_error_handler_t *before = gsl_set_error_handler(complain);
    for (int power = -1074; power <= 1023; power++)
        for (int m = 0; m < 3; m++)
            for (int sign = -1; sign <= 1; sign += 2)
                call_all(sign * ldexp(mantissas[m], power));
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        call_all(edges[i]);
        call_all(nextafter(edges[i], 0));
        call_all(nextafter(edges[i], INFINITY));
    }
    const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 5e-324, 1.7976931348623157e308};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        call_all(odd[i]);
    (void)gsl_set_error_handler(before);
    assert_int_equal(complaints, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic_is_accurate_on_both_sides),
        cmocka_unit_test(softplus_is_accurate_on_both_sides),
        cmocka_unit_test(lgamma_is_accurate),
        cmocka_unit_test(polygamma_is_accurate),
        cmocka_unit_test(probabilities_keep_their_digits_in_both_tails),
        cmocka_unit_test(probabilities_have_limits),
        cmocka_unit_test(tails_of_two_end_where_they_are_told_to),
        cmocka_unit_test(derivatives_of_large_shapes_are_slopes),
        cmocka_unit_test(nothing_is_defined_at_poles_and_below),
        cmocka_unit_test(no_argument_reaches_the_handler_of_gsl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
