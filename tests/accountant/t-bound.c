/* The worse direction counts, whichever it is: the grid engine is replaced by fixed answers, as in
 * every known case of this mechanism the remove direction is the worse one. */
#include "accountant/answers/bound.h"

#include <math.h>

#include "base/error.h"

#include "tests/lib/check.h"

dp_status __wrap_dpi_grid_solve(const dpi_pair_times *term, size_t n, dpi_question query,
                                const dpi_wish *wish, dpi_bounds *bounds, dp_error *err);

static double removed, added_coarse, added_fine;
static dp_status add_status;
static int calls;

dp_status __wrap_dpi_grid_solve(const dpi_pair_times *term, size_t n, dpi_question query,
                                const dpi_wish *wish, dpi_bounds *bounds, dp_error *err)
{
    bool removes = term->pair->piece[0].sign > 0;
    (void)n;
    (void)query;
    calls++;
    *bounds = (dpi_bounds){0};
    if (removes)
        bounds->upper = removed;
    else
        bounds->upper = wish->width > 1e-4 ? added_coarse : added_fine;
    return removes || add_status == DP_OK ? DP_OK : dpi_fail(err, add_status, "add");
}

static double bound(dpi_ask ask, double given)
{
    const dp_mechanism m = {
        .sampling = DP_SAMPLING_POISSON, .sigma = 1, .rate = 0.01, .steps = 1000};
    double answer = NAN;
    assert_int_equal(dpi_bound_upper(&m, 1, (dpi_question){ask, given}, &answer, NULL), DP_OK);
    return answer;
}

static void reports_the_larger_direction(void **state)
{
    (void)state;
    add_status = DP_OK;
    removed = 0.5;
    added_coarse = added_fine = 0.4;
    assert_true(bound(DPI_ASK_DELTA, 1) == 0.5 && bound(DPI_ASK_EPSILON, 1e-6) == 0.5);
    added_coarse = added_fine = 0.6;
    assert_true(bound(DPI_ASK_DELTA, 1) == 0.6 && bound(DPI_ASK_EPSILON, 1e-6) == 0.6);
}

/* Epsilon of add is about 0.7 here, far below 3: it is first computed coarsely. */
static void repeats_a_coarse_answer_that_matters(void **state)
{
    (void)state;
    add_status = DP_OK;
    removed = 3;
    added_coarse = 3.1;
    added_fine = 2;
    calls = 0;
    assert_true(bound(DPI_ASK_EPSILON, 1e-6) == 3);
    assert_int_equal(calls, 3);
    added_fine = 3.05;
    assert_true(bound(DPI_ASK_EPSILON, 1e-6) == 3.05);
}

static void fails_when_one_direction_fails(void **state)
{
    (void)state;
    const dp_mechanism m = {
        .sampling = DP_SAMPLING_POISSON, .sigma = 1, .rate = 0.01, .steps = 1000};
    removed = 1;
    add_status = DP_EACCURACY;
    double epsilon = NAN;
    dp_error err = {0};
    assert_int_equal(dp_epsilon(&m, 1e-6, &epsilon, &err), DP_EACCURACY);
    assert_true(epsilon == INFINITY);
    assert_string_equal(err.text, "add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_larger_direction),
        cmocka_unit_test(repeats_a_coarse_answer_that_matters),
        cmocka_unit_test(fails_when_one_direction_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
