/* Supports: bijectors against numerical derivatives, and who belongs. */
#include "dist/support.h"

#include <float.h>
#include <math.h>

#include "exec/value.h"
#include "tests/lib/check.h"

/* x and log |dx/dz| of a support as functions of z, between two given bounds. */
typedef struct bijector {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dpi_id z, bound[2], x, log_jacobian;
    dpi_run *run;
} bijector;

static void open(bijector *b, const dpi_support *support)
{
    *b = (bijector){0};
    dpi_graph *g = &b->graph;
    dpi_graph_init(g, &b->arena, &b->err);
    b->z = dpi_source(g, &dpi_op_input, "z", (dpi_attr){0});
    for (int k = 0; k < 2; k++)
        b->bound[k] = dpi_source(g, &dpi_op_input, "bound", (dpi_attr){0});
    b->x = support->constrain(g, b->z, b->bound);
    b->log_jacobian = support->log_jacobian == NULL ? dpi_constant(g, 0)
                                                    : support->log_jacobian(g, b->z, b->bound);
    const dpi_id wanted[] = {b->z, b->bound[0], b->bound[1], b->x, b->log_jacobian};
    dpi_run_spec spec = {.graph = g, .wanted = wanted, .n_wanted = 5, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &b->run, &b->err), b->err.text);
}

static void close(bijector *b)
{
    dpi_run_free(b->run);
    dpi_arena_free(&b->arena);
}

static double at(bijector *b, double z, const double bound[2], double *log_jacobian)
{
    *dpi_run_value(b->run, b->z) = z;
    for (int k = 0; k < 2; k++)
        *dpi_run_value(b->run, b->bound[k]) = bound[k];
    dpi_run_globals(b->run);
    *log_jacobian = *dpi_run_value(b->run, b->log_jacobian);
    return *dpi_run_value(b->run, b->x);
}

static void each_bijector(void (*check)(const dpi_support *, bijector *, const double bound[2]))
{
    const double bound[2] = {-1.317, 2.731};
    for (int k = 0; k < DPI_N_SUPPORTS; k++) {
        const dpi_support *support = &dpi_supports[k];
        assert_true(support->discrete == (support->constrain == NULL));
        if (support->discrete || support->rows) /* rows: t-simplex */
            continue;
        bijector b;
        open(&b, support);
        check(support, &b, bound);
        close(&b);
    }
}

static void check_jacobian(const dpi_support *support, bijector *b, const double bound[2])
{
    /* What the rounding of x near 1 makes of the differences; small positive x have all digits. */
    double absolute = support == &dpi_supports[DPI_ABOVE_ZERO] ? 0 : 1e-12;
    for (double z = -23.17; z < 24; z += 1.713) {
        double unused, log_jacobian, h = 1e-2, by[3];
        for (int level = 0; level < 3; level++, h /= 2)
            by[level] = (at(b, z + h, bound, &unused) - at(b, z - h, bound, &unused)) / (2 * h);
        double first = (4 * by[1] - by[0]) / 3, second = (4 * by[2] - by[1]) / 3;
        double slope = (16 * second - first) / 15;
        (void)at(b, z, bound, &log_jacobian);
        assert_close(exp(log_jacobian), slope, 1e-9, absolute);
    }
}

static void jacobians_match_differences(void **state)
{
    (void)state;
    each_bijector(check_jacobian);
}

static void check_known(const dpi_support *support, bijector *b, const double bound[2])
{
    double log_jacobian, z = 0.7319, share = 1 / (1 + exp(-z));
    double x = at(b, z, bound, &log_jacobian);
    if (support == &dpi_supports[DPI_REAL])
        assert_close(x, z, 0, 0);
    else if (support == &dpi_supports[DPI_ABOVE_ZERO])
        assert_close(x, exp(z), 1e-15, 0);
    else if (support == &dpi_supports[DPI_FROM])
        assert_close(x, bound[0] + exp(z), 1e-15, 0);
    else if (support == &dpi_supports[DPI_UP_TO])
        assert_close(x, bound[0] - exp(-z), 1e-15, 0);
    else if (support == &dpi_supports[DPI_CIRCLE])
        assert_close(x, -M_PI * (1 - share) + M_PI * share, 1e-15, 0);
    else
        assert_close(x,
                     support == &dpi_supports[DPI_UNIT] ? share
                                                        : bound[0] * (1 - share) + bound[1] * share,
                     4e-16, 0);
}

static void constrained_values_are_known(void **state)
{
    (void)state;
    each_bijector(check_known);
}

static void check_far(const dpi_support *support, bijector *b, const double bound[2])
{
    double last = -INFINITY, first = support == &dpi_supports[DPI_UP_TO] ? -700 : -1e4;
    for (double z = first; z <= 700; z += z < -750 || z > 40 ? 50 : 0.25) {
        double log_jacobian, x = at(b, z, bound, &log_jacobian);
        if (!support->contains(x, bound[0], bound[1]))
            fail_msg("%s: %.17g at z = %g", support->name, x, z);
        assert_true(x >= last && isfinite(log_jacobian));
        last = x;
    }
}

static void constrained_values_stay_inside_however_far_z_is(void **state)
{
    (void)state;
    each_bijector(check_far);
}

static bool in(dpi_support_kind kind, double x, double low, double high)
{
    return dpi_supports[kind].contains(x, low, high);
}

static void membership_is_exact(void **state)
{
    (void)state;
    assert_true(in(DPI_REAL, -1e300, 0, 0));
    assert_true(in(DPI_ABOVE_ZERO, DBL_MIN, 0, 0));
    assert_false(in(DPI_ABOVE_ZERO, 0, 0, 0) || in(DPI_ABOVE_ZERO, -1e-9, 0, 0));
    assert_true(in(DPI_UNIT, 0.4173, 0, 0));
    assert_false(in(DPI_UNIT, 0, 0, 0) || in(DPI_UNIT, 1, 0, 0) || in(DPI_UNIT, 1.2, 0, 0));
    assert_true(in(DPI_CIRCLE, -M_PI, 0, 0) && in(DPI_CIRCLE, M_PI, 0, 0));
    assert_false(in(DPI_CIRCLE, -3.1416, 0, 0) || in(DPI_CIRCLE, NAN, 0, 0));
    assert_true(in(DPI_INTERVAL, -1.3, -1.3, 2) && in(DPI_INTERVAL, 2, -1.3, 2));
    assert_false(in(DPI_INTERVAL, -1.31, -1.3, 2) || in(DPI_INTERVAL, 2.01, -1.3, 2));
    assert_true(in(DPI_FROM, -1.3, -1.3, 0) && in(DPI_FROM, 1e300, -1.3, 0));
    assert_false(in(DPI_FROM, -1.31, -1.3, 0));
    assert_true(in(DPI_UP_TO, -1.3, -1.3, 0) && in(DPI_UP_TO, -1e300, -1.3, 0));
    assert_false(in(DPI_UP_TO, -1.29, -1.3, 0));
    assert_true(in(DPI_COUNT_ABOVE, 3, 2, 0) && in(DPI_COUNT_ABOVE, 0, -1, 0));
    assert_false(in(DPI_COUNT_ABOVE, 2, 2, 0) || in(DPI_COUNT_ABOVE, 2.5, 2, 0) ||
                 in(DPI_COUNT_ABOVE, -1, -3, 0));
    assert_true(in(DPI_COUNT_BETWEEN, 3, 2, 4) && in(DPI_COUNT_BETWEEN, 4, 2, 4));
    assert_false(in(DPI_COUNT_BETWEEN, 2, 2, 4) || in(DPI_COUNT_BETWEEN, 5, 2, 4) ||
                 in(DPI_COUNT_BETWEEN, 3.5, 2, 4) || in(DPI_COUNT_BETWEEN, -1, -2, 4));
    assert_true(in(DPI_NOT_BELOW_ZERO, 0, 0, 0) && in(DPI_NOT_BELOW_ZERO, 1e300, 0, 0));
    assert_false(in(DPI_NOT_BELOW_ZERO, -DBL_MIN, 0, 0));
    assert_true(in(DPI_SIMPLEX, 0.25, 0, 0));
    assert_false(in(DPI_SIMPLEX, 0, 0, 0) || in(DPI_SIMPLEX, 1, 0, 0));
    assert_true(in(DPI_BINARY, 0, 0, 0) && in(DPI_BINARY, 1, 0, 0));
    assert_false(in(DPI_BINARY, 0.5, 0, 0) || in(DPI_BINARY, 2, 0, 0) || in(DPI_BINARY, -1, 0, 0));
    assert_true(in(DPI_CHANCE, 0, 0, 0) && in(DPI_CHANCE, 1, 0, 0) && in(DPI_CHANCE, 0.4173, 0, 0));
    assert_false(in(DPI_CHANCE, -DBL_MIN, 0, 0) || in(DPI_CHANCE, 1 + DBL_EPSILON, 0, 0));
    assert_true(in(DPI_COUNT, 0, 0, 0) && in(DPI_COUNT, 1e15, 0, 0));
    assert_false(in(DPI_COUNT, -1, 0, 0) || in(DPI_COUNT, 2.5, 0, 0));
    assert_true(in(DPI_COUNT_TO, 0, 7, 0) && in(DPI_COUNT_TO, 7, 7, 0));
    assert_false(in(DPI_COUNT_TO, 8, 7, 0) || in(DPI_COUNT_TO, 6.5, 7, 0) ||
                 in(DPI_COUNT_TO, -1, 7, 0));
    assert_true(in(DPI_CATEGORY, 0, 5, 0) && in(DPI_CATEGORY, 4, 5, 0));
    assert_true(in(DPI_LEVEL, 0, 4, 0) && in(DPI_LEVEL, 4, 4, 0));
    assert_false(in(DPI_LEVEL, 5, 4, 0) || in(DPI_LEVEL, 3.5, 4, 0) || in(DPI_LEVEL, -1, 4, 0));
    assert_false(in(DPI_CATEGORY, 5, 5, 0) || in(DPI_CATEGORY, 3.5, 5, 0));
}

static void nothing_that_is_not_finite_belongs(void **state)
{
    (void)state;
    for (int k = 0; k < DPI_N_SUPPORTS; k++) {
        assert_false(in((dpi_support_kind)k, NAN, 0, 1e9));
        assert_false(in((dpi_support_kind)k, INFINITY, 0, 1e9));
        assert_false(in((dpi_support_kind)k, -INFINITY, 0, 1e9));
        assert_non_null(dpi_supports[k].name);
        assert_non_null(dpi_supports[k].says);
    }
}

static void edges_move_inside_and_nothing_else_moves(void **state)
{
    (void)state;
    assert_true(dpi_into_real(INFINITY) == DBL_MAX && dpi_into_real(-INFINITY) == -DBL_MAX);
    assert_true(dpi_into_positive(0) == DBL_MIN && dpi_into_positive(INFINITY) == DBL_MAX);
    assert_true(dpi_into_unit(0) == DBL_MIN && dpi_into_unit(1) == 1 - DBL_EPSILON / 2);
    assert_true(dpi_into_unit(1) < 1);
    assert_true(isnan(dpi_into_real(NAN)) && isnan(dpi_into_positive(NAN)) &&
                isnan(dpi_into_unit(NAN)));
    assert_true(dpi_into_real(-3.713) == -3.713 && dpi_into_positive(0.3719) == 0.3719);
    assert_true(dpi_into_unit(0.9713) == 0.9713);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobians_match_differences),
        cmocka_unit_test(constrained_values_are_known),
        cmocka_unit_test(constrained_values_stay_inside_however_far_z_is),
        cmocka_unit_test(membership_is_exact),
        cmocka_unit_test(nothing_that_is_not_finite_belongs),
        cmocka_unit_test(edges_move_inside_and_nothing_else_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
