/* The grid engine, one direction at a time, against exact values; running out of memory. */
#include "accountant/grid/grid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accountant/oracle.h"
#include "tests/lib/check.h"

static const double WIDTH = 2e-5;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static int allocations_left = -1; /* negative: no limit */

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return __real_aligned_alloc(alignment, size);
}

static double solve(double sigma, double q, double steps, dpi_direction direction, dpi_ask ask,
                    double given)
{
    dpi_pair pair = dpi_pair_gaussian(sigma, q, direction);
    dpi_pair_times term = {&pair, steps};
    dpi_wish wish = {.width = WIDTH, .enough = -1};
    dpi_bounds bounds = {NAN, NAN, 0};
    dp_error err = {0};
    assert_ok(dpi_grid_solve(&term, 1, (dpi_question){ask, given}, &wish, &bounds, &err), err.text);
    return bounds.upper;
}

/* The remove direction, which is the one that an interval is asked for. */
static void intervals_of_the_table_hold_the_exact_value(void **state)
{
    (void)state;
    for (int i = 0; i < oracle_table_size; i++) {
        const reference *r = &oracle_table[i];
        dpi_pair pair = dpi_pair_gaussian(r->sigma, r->q, DPI_REMOVE);
        dpi_pair_times term = {&pair, r->steps};
        dpi_wish wish = {.width = 2.5e-4, .enough = -1, .interval = 1e-3};
        dpi_bounds b = {NAN, NAN, 0};
        dp_error err = {0};
        assert_ok(
            dpi_grid_solve(&term, 1, (dpi_question){DPI_ASK_EPSILON, r->delta}, &wish, &b, &err),
            err.text);
        if (!(b.lower <= r->remove * (1 + 1e-9) && b.upper >= r->remove * (1 - 1e-9) &&
              b.upper - b.lower <= 1e-3 * b.upper))
            fail_msg("row %d: [%.12g, %.12g] for %.12g", i, b.lower, b.upper, r->remove);
    }
}

/* One term of 500 steps twice is one of 1000. */
static void a_list_composes_like_one_run(void **state)
{
    (void)state;
    dpi_pair pair = dpi_pair_gaussian(1.2, 0.02, DPI_REMOVE);
    dpi_pair_times twice[] = {{&pair, 300}, {&pair, 700}}, once = {&pair, 1000};
    for (int ask = 0; ask < 2; ask++) {
        dpi_question query = {ask ? DPI_ASK_DELTA : DPI_ASK_EPSILON, ask ? 1.0 : 1e-6};
        dpi_wish wish = {.width = 1e-4, .enough = -1, .interval = 1e-3};
        dpi_bounds a, b;
        assert_int_equal(dpi_grid_solve(twice, 2, query, &wish, &a, NULL), DP_OK);
        assert_int_equal(dpi_grid_solve(&once, 1, query, &wish, &b, NULL), DP_OK);
        assert_close(a.upper, b.upper, 1e-9, 0);
        assert_close(a.lower, b.lower, 1e-9, 0);
        assert_true(a.lower > 0 && a.lower < a.upper);
    }
}

static void bounds_both_directions_of_the_table(void **state)
{
    (void)state;
    for (int i = 0; i < oracle_table_size; i++) {
        const reference *r = &oracle_table[i];
        for (int d = DPI_REMOVE; d <= DPI_ADD; d++) {
            double exact = d == DPI_REMOVE ? r->remove : r->add;
            double bound =
                solve(r->sigma, r->q, r->steps, (dpi_direction)d, DPI_ASK_EPSILON, r->delta);
            if (!(bound >= exact * (1 - 1e-9) && bound <= exact * (1 + 1e-3)))
                fail_msg("row %d, direction %d: %.12g for %.12g", i, d, bound, exact);
        }
    }
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static double between(uint64_t *seed, double low, double high)
{
    return low * pow(high / low, uniform(seed));
}

/* The bound at delta lies where exact delta is just below what was asked. */
static void bounds_the_inversion_integral(void **state)
{
    (void)state;
    uint64_t seed = 715;
    for (int i = 0; i < 24; i++) {
        double sigma = between(&seed, 0.7, 5), q = between(&seed, 1e-3, 0.3);
        double steps = floor(between(&seed, 200, 1e5)), delta = between(&seed, 1e-10, 1e-3);
        dpi_direction d = i % 2 ? DPI_ADD : DPI_REMOVE;
        double bound = solve(sigma, q, steps, d, DPI_ASK_EPSILON, delta);
        if (bound == 0)
            continue;
        double at = oracle_delta(sigma, q, steps, bound, d == DPI_ADD);
        double below = oracle_delta(sigma, q, steps, bound * (1 - 1e-3), d == DPI_ADD);
        if (!(at <= delta * (1 + 1e-8) && below >= delta))
            fail_msg("sigma %g q %g steps %g delta %g direction %d: bound %.10g, exact %.10g there",
                     sigma, q, steps, delta, d, bound, at);
    }
}

static void bounds_one_step_in_closed_form(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 200; i++) {
        double sigma = between(&seed, 0.3, 30), q = between(&seed, 1e-4, 0.99);
        double loss = i % 2 ? -log1p(-q) : log1p(q * expm1(1 / sigma)); /* typical */
        double epsilon = loss * between(&seed, 0.05, 0.95);
        bool add = i % 2 == 1;
        double exact = oracle_delta_once(sigma, q, epsilon, add);
        if (exact < 1e-14) /* the closed form has cancelled */
            continue;
        double bound = solve(sigma, q, 1, add ? DPI_ADD : DPI_REMOVE, DPI_ASK_DELTA, epsilon);
        double slack = oracle_delta_once(sigma, q, epsilon * (1 - 1.1e-3), add);
        if (!(bound >= exact * (1 - 1e-9) && bound <= fmax(slack, exact * 1.0011)))
            fail_msg("sigma %g q %g epsilon %g add %d: %.12g for %.12g", sigma, q, epsilon, add,
                     bound, exact);
    }
}

static void answers_tiny_deltas_with_the_least_one(void **state)
{
    (void)state;
    for (int d = DPI_REMOVE; d <= DPI_ADD; d++)
        assert_close(solve(27, 0.1, 1, (dpi_direction)d, DPI_ASK_DELTA, 0.06), DPI_LEAST_DELTA,
                     1e-12, 0);
}

/* Total variation is symmetric, the two computations are not. */
static void directions_agree_at_epsilon_zero(void **state)
{
    (void)state;
    const double points[][3] = {{1.5, 0.002, 9375}, {1, 0.01, 1000}, {4, 0.1, 300}, {0.8, 0.3, 20}};
    for (int i = 0; i < 4; i++) {
        const double *p = points[i];
        double removed = solve(p[0], p[1], p[2], DPI_REMOVE, DPI_ASK_DELTA, 0);
        double added = solve(p[0], p[1], p[2], DPI_ADD, DPI_ASK_DELTA, 0);
        assert_close(removed, added, 2e-4, 0);
    }
}

static void no_loss_exceeds_the_end_of_add(void **state)
{
    (void)state;
    double end = -10 * log1p(-0.25);
    assert_true(solve(1, 0.25, 10, DPI_ADD, DPI_ASK_DELTA, end * (1 + 1e-9)) == 0);
    assert_true(solve(1, 0.25, 10, DPI_ADD, DPI_ASK_DELTA, end * 0.5) > 0);
    assert_true(solve(1, 0.25, 10, DPI_ADD, DPI_ASK_EPSILON, 1e-12) <= end * (1 + 1e-9));
}

static void accepts_any_bound_below_enough(void **state)
{
    (void)state;
    dpi_pair pair = dpi_pair_gaussian(1, 0.01, DPI_ADD);
    dpi_pair_times term = {&pair, 1000};
    dpi_bounds coarse, fine;
    dpi_question query = {DPI_ASK_EPSILON, 1e-6};
    dpi_wish any = {.width = 0.05, .enough = 1e9}, every = {.width = WIDTH, .enough = -1};
    assert_int_equal(dpi_grid_solve(&term, 1, query, &any, &coarse, NULL), DP_OK);
    assert_int_equal(dpi_grid_solve(&term, 1, query, &every, &fine, NULL), DP_OK);
    assert_true(coarse.upper >= fine.upper);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    dpi_pair pair = dpi_pair_gaussian(2, 0.01, DPI_REMOVE);
    dpi_pair_times term = {&pair, 100};
    dpi_wish wish = {.width = WIDTH, .enough = -1, .interval = 1e-3};
    dp_status status = DP_ENOMEM;
    for (int k = 0; status != DP_OK; k++) {
        dp_error err = {0};
        dpi_bounds bounds = {NAN, NAN, 0};
        allocations_left = k;
        status =
            dpi_grid_solve(&term, 1, (dpi_question){DPI_ASK_EPSILON, 1e-5}, &wish, &bounds, &err);
        allocations_left = -1;
        if (status != DP_OK) {
            assert_int_equal(status, DP_ENOMEM);
            assert_true(bounds.upper == INFINITY && bounds.lower == 0);
        }
        assert_true(k < 80);
    }
}

/* Rounding and lost mass are in the bound, though too small to be seen in it. */
static void what_is_lost_is_counted(void **state)
{
    (void)state;
    enum { SIZE = 1 << 14, STEPS = 1000 };
    static double data[SIZE + 2], work[SIZE + 2];
    dpi_pair pair = dpi_pair_gaussian(1.3, 0.01, DPI_REMOVE);
    pair.infinite = 2e-9;
    pair.lost = 1e-9;
    dpi_pair_times term = {&pair, STEPS};
    dpi_loss_law law;
    assert_true(dpi_loss_law_new(&term, 1, &law));
    dpi_knots grid = {.spacing = 1e-3, .tilt = 3, .tail_tilt = 6, .size = SIZE};
    grid.low = (int64_t)(0.5 / grid.spacing) + (int64_t)(-law.base / grid.spacing);
    dpi_curve upper, lower;
    dpi_reading r;
    assert_int_equal(dpi_compose_upper(&law, &grid, -40, data, &upper, NULL), DP_OK);
    assert_true(upper.cut >= STEPS * 3e-9);
    assert_true(upper.log_slack >= STEPS * 1e-12);
    assert_true(upper.loss_slack > 0);
    double bottom = law.base + (double)grid.low * grid.spacing;
    dpi_question in = {DPI_ASK_DELTA, bottom + 0.1}, below = {DPI_ASK_DELTA, bottom - 0.1};
    double answer = dpi_upper_answer(&upper, in, &r);
    assert_true(r.reached && answer < 1 && answer >= r.delta * exp(upper.log_slack));
    assert_true(dpi_upper_answer(&upper, below, &r) == 1);
    memset(data, 0, sizeof data);
    assert_int_equal(dpi_compose_lower(&law, &upper, -40, data, work, &lower, NULL), DP_OK);
    assert_true(lower.log_slack >= STEPS * 1e-12);
    dpi_loss_law_free(&law);
}

/* At the top of a window the factor that takes the tilt off may be below all doubles, and within a
 * few knots it counts. */
static void steep_tilts_are_read(void **state)
{
    (void)state;
    enum { SIZE = 1 << 10, HIGH = 900, SEEN = HIGH - 50 };
    static double mass[SIZE];
    for (int k = 0; k < SIZE; k++)
        mass[k] = 1e-3;
    const dpi_knots grid = {.spacing = 0.1, .tilt = 200, .tail_tilt = 400, .size = SIZE};
    const dpi_curve c = {.mass = mass,
                         .grid = grid,
                         .side = DPI_UPPER,
                         .high = HIGH,
                         .log_scale = grid.tilt * SEEN * grid.spacing};
    const dpi_reading r = dpi_read(&c, (dpi_question){DPI_ASK_DELTA, (SEEN - 1) * grid.spacing});
    assert_true(r.reached);
    assert_close(r.delta, 1e-3 * -expm1(-grid.spacing), 1e-3, 0);
}

/* A mass that is not a number may be all that is left: 0.9 at a loss of 1, beside 0.1 at 2.  With a
 * Gaussian beside them or without. */
static void a_mass_that_is_no_number_bounds_nothing(void **state)
{
    (void)state;
    enum { SIZE = 64 };
    double mass[SIZE] = {0};
    mass[20] = 0.1 * exp(2 * 2.0);
    for (int i = 0; i < 2; i++) {
        dpi_curve c = {.mass = mass,
                       .grid = {.spacing = 0.1, .tilt = 2, .tail_tilt = 3, .size = SIZE},
                       .side = DPI_UPPER,
                       .high = SIZE - 1,
                       .normal_mu = i * 0.5};
        dpi_reading r;
        const dpi_question epsilon = {DPI_ASK_EPSILON, 0.3}, delta = {DPI_ASK_DELTA, 0.5};
        mass[10] = 0.9 * exp(2 * 1.0);
        const double least = dpi_upper_answer(&c, epsilon, &r);
        mass[10] = NAN;
        assert_true(least > 0.5 && dpi_upper_answer(&c, epsilon, &r) >= least * (1 - 1e-8));
        assert_true(dpi_upper_answer(&c, delta, &r) == 1);
        c.side = DPI_LOWER;
        assert_true(dpi_lower_answer(&c, epsilon, -INFINITY) == 0);
        assert_true(dpi_lower_answer(&c, delta, -INFINITY) == 0);
    }
}

/* Each of the small bases is just below half an ulp of the large one. */
static void bases_of_many_terms_add_up(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    dpi_pair large = dpi_pair_gaussian(2, 0.5, DPI_REMOVE);
    dpi_pair small = dpi_pair_gaussian(2, 5e-8, DPI_REMOVE);
    static dpi_pair_times term[1 + MANY];
    term[0] = (dpi_pair_times){&large, 1e9};
    long double sum = 1e9L * (long double)large.base;
    for (size_t i = 1; i <= MANY; i++) {
        term[i] = (dpi_pair_times){&small, 1};
        sum += (long double)small.base;
    }
    dpi_loss_law law;
    assert_true(dpi_loss_law_new(term, 1 + MANY, &law));
    assert_true(fabsl(law.base - sum) <= 2 * DBL_EPSILON * law.base_size);
    assert_true(law.base_size >= -sum * (1 - 1e-12L));
    dpi_loss_law_free(&law);
}

static double no_number(const dpi_piece *piece, double x_low, double x_high)
{
    (void)piece, (void)x_low, (void)x_high;
    return NAN;
}

/* Nor where an error is not a number. */
static void errors_that_are_no_numbers_bound_nothing(void **state)
{
    (void)state;
    enum { SIZE = 1 << 10 };
    static double data[SIZE + 2];
    for (int i = 0; i < 2; i++) {
        dpi_pair pair = dpi_pair_gaussian(1.385, 0.1, DPI_REMOVE);
        dpi_piece_ops ops = *pair.piece[0].ops;
        *(i == 0 ? &ops.excess_error : &ops.density_error) = no_number;
        pair.piece[0].ops = &ops;
        const dpi_knots grid = {
            .spacing = 0.05, .tilt = 3, .tail_tilt = 6, .low = -200, .size = SIZE};
        dpi_mass mass;
        memset(data, 0, sizeof data);
        dpi_mass_upper(&pair, &grid, -40, data, &mass);
        assert_true(isnan(i == 0 ? mass.loss_error : mass.mass_error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_that_is_no_number_bounds_nothing),
        cmocka_unit_test(bases_of_many_terms_add_up),
        cmocka_unit_test(errors_that_are_no_numbers_bound_nothing),
        cmocka_unit_test(bounds_both_directions_of_the_table),
        cmocka_unit_test(intervals_of_the_table_hold_the_exact_value),
        cmocka_unit_test(a_list_composes_like_one_run),
        cmocka_unit_test(bounds_the_inversion_integral),
        cmocka_unit_test(bounds_one_step_in_closed_form),
        cmocka_unit_test(answers_tiny_deltas_with_the_least_one),
        cmocka_unit_test(directions_agree_at_epsilon_zero),
        cmocka_unit_test(no_loss_exceeds_the_end_of_add),
        cmocka_unit_test(accepts_any_bound_below_enough),
        cmocka_unit_test(what_is_lost_is_counted),
        cmocka_unit_test(steep_tilts_are_read),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
