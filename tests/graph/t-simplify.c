/* Simplifications give the node that they should and change no bit: values of every kind, computed
 * as they were written and as the graph has them. */
#include "graph/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/graph/points.h"
#include "tests/lib/check.h"

static dpi_id input(world *w, const char *name, const char *shape)
{
    return world_input(w, name, point_shape(shape), -2.385, 2.913);
}

static dpi_id minus(world *w, dpi_id x)
{
    return dpi_unary(&w->g, &dpi_op_neg, x);
}

static void assert_node(world *w, dpi_id id, const dpi_op *op, dpi_id a, dpi_id b)
{
    const dpi_node *node = dpi_get(&w->g, id);
    assert_ok(w->err.status, w->err.text);
    assert_ptr_equal(node->op, op);
    assert_int_equal(node->in[0], a);
    if (op->n_inputs == 2)
        assert_int_equal(node->in[1], b);
}

static void signs_vanish_in_sums(void **state)
{
    (void)state;
    const char *shapes[] = {"", "3", "*", "*2x3"};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            world w;
            if ((i == 1) != (j == 1) && i + j > 2)
                continue; /* [3] and [2][3] are joined,
                a number of each record and [3] are not all */
            world_new(&w);
            dpi_graph *g = &w.g;
            dpi_id x = input(&w, "x", shapes[i]), y = input(&w, "y", shapes[j]);
            assert_int_equal(minus(&w, minus(&w, x)), x);
            assert_node(&w, dpi_add(g, x, minus(&w, y)), &dpi_op_sub, x, y);
            assert_node(&w, dpi_add(g, minus(&w, y), x), &dpi_op_sub, x, y);
            assert_node(&w, dpi_sub(g, x, minus(&w, y)), &dpi_op_add, x, y);
            assert_node(&w, dpi_sub(g, minus(&w, x), y), &dpi_op_sub, minus(&w, x), y);
            assert_node(&w, minus(&w, dpi_sub(g, x, y)), &dpi_op_neg, dpi_sub(g, x, y), DPI_NONE);
            world_free(&w);
        }
}

static void signs_leave_global_products(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id x = input(&w, "x", "3"), y = input(&w, "y", "3"), a = input(&w, "a", "");
    dpi_id less = dpi_constant(g, -1);
    assert_node(&w, dpi_times(g, less, x), &dpi_op_neg, x, DPI_NONE);
    assert_node(&w, dpi_times(g, x, less), &dpi_op_neg, x, DPI_NONE);
    assert_node(&w, dpi_div(g, x, less), &dpi_op_neg, x, DPI_NONE);
    assert_node(&w, dpi_div(g, less, x), &dpi_op_div, less, x);
    assert_node(&w, dpi_times(g, minus(&w, x), y), &dpi_op_neg, dpi_times(g, x, y), DPI_NONE);
    assert_node(&w, dpi_times(g, x, minus(&w, y)), &dpi_op_neg, dpi_times(g, x, y), DPI_NONE);
    assert_node(&w, dpi_div(g, minus(&w, x), y), &dpi_op_neg, dpi_div(g, x, y), DPI_NONE);
    assert_node(&w, dpi_div(g, x, minus(&w, y)), &dpi_op_neg, dpi_div(g, x, y), DPI_NONE);
    assert_int_equal(dpi_times(g, minus(&w, x), minus(&w, y)), dpi_times(g, x, y));
    /* A smaller factor keeps its sign: there are fewer numbers to turn. */
    assert_node(&w, dpi_times(g, minus(&w, a), x), &dpi_op_mul, minus(&w, a), x);
    world_free(&w);
}

/* Products of records' values stay what they are: they may be factored forms. */
static void signs_stay_in_products_of_records(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id x = input(&w, "x", "*3"), y = input(&w, "y", "3"), a = input(&w, "a", "*");
    dpi_id ones = dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL), less = dpi_constant(g, -1);
    assert_node(&w, dpi_times(g, less, x), &dpi_op_mul, less, x);
    assert_node(&w, dpi_times(g, minus(&w, x), y), &dpi_op_mul, minus(&w, x), y);
    assert_node(&w, dpi_times(g, minus(&w, ones), x), &dpi_op_mul, minus(&w, ones), x);
    assert_node(&w, dpi_times(g, minus(&w, ones), a), &dpi_op_neg, a, DPI_NONE);
    assert_node(&w, dpi_times(g, a, minus(&w, ones)), &dpi_op_neg, a, DPI_NONE);
    world_free(&w);
}

/* ---- bits ---- */

static double evaluate(const dpi_graph *g, dpi_id id, const dpi_id in[2], const double value[2])
{
    const dpi_node *node = dpi_get(g, id);
    double out, operand[2] = {0};
    for (int k = 0; k < 2; k++)
        if (id == in[k])
            return value[k];
    if (node->op == &dpi_op_const)
        return node->attr.value;
    for (int k = 0; k < node->op->n_inputs; k++)
        operand[k] = evaluate(g, node->in[k], in, value);
    dpi_call call = {.n = 1,
                     .in = {&operand[0], &operand[1]},
                     .out = &out,
                     .in_size = {1, 1},
                     .out_size = 1,
                     .attr = &node->attr};
    dpi_kernels[node->op->id].run(&call);
    return out;
}

static void assert_same(double a, double b)
{
    if (isnan(a) && isnan(b))
        return;
    if (memcmp(&a, &b, sizeof a) != 0)
        fail_msg("%a is not %a", a, b);
}

static void what_is_kept_is_not_kept_again(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", "3"), c = input(&w, "c", "");
    dpi_id once = dpi_keep(&w.g, x, (dpi_mask){c, false});
    assert_int_equal(dpi_keep(&w.g, once, (dpi_mask){c, false}), once);
    assert_int_not_equal(dpi_keep(&w.g, once, (dpi_mask){c, true}), once);
    assert_int_not_equal(dpi_keep(&w.g, once, (dpi_mask){x, false}), once);
    world_free(&w);
}

static void what_was_scaled_is_standardized_without_arithmetic(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id loc = input(&w, "loc", "3"), scale = input(&w, "scale", "3"), e = input(&w, "e", "*3");
    dpi_id number = input(&w, "number", ""), small = input(&w, "small", "*");
    const dpi_id zero = dpi_constant(g, 0), one = dpi_constant(g, 1);
    const dpi_id locs[] = {loc, zero, number, loc}, scales[] = {scale, number, one, one};
    for (size_t i = 0; i < 4; i++) {
        dpi_id x = dpi_add(g, locs[i], dpi_times(g, scales[i], e));
        assert_int_equal(dpi_standardized(g, x, locs[i], scales[i]), e);
    }
    dpi_id x = dpi_add(g, loc, dpi_times(g, scale, e)), rest = dpi_times(g, scale, e);
    assert_node(&w, dpi_standardized(g, x, number, scale), &dpi_op_div, dpi_sub(g, x, number),
                scale);
    assert_node(&w, dpi_standardized(g, x, loc, number), &dpi_op_div, rest, number);
    assert_node(&w, dpi_standardized(g, dpi_sub(g, loc, rest), loc, scale), &dpi_op_div,
                dpi_sub(g, dpi_sub(g, loc, rest), loc), scale);
    /* What is smaller than x is not all of it. */
    x = dpi_add(g, loc, dpi_times(g, number, small));
    assert_node(&w, dpi_standardized(g, x, loc, number), &dpi_op_div, dpi_sub(g, x, loc), number);
    world_free(&w);
}

static void no_bit_changes(void **state)
{
    (void)state;
    static const double values[] = {0,        -0.0,     1,       -1,         2.385,     -0.1,
                                    INFINITY, NAN,      DBL_MIN, -0x1p-1074, 0x1p-1060, DBL_MAX,
                                    -DBL_MAX, 0x1p-600, 1e200,   -INFINITY};
    enum { VALUES = sizeof values / sizeof *values };
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    const dpi_id in[2] = {input(&w, "x", ""), input(&w, "y", "")};
    dpi_id less = dpi_constant(g, -1), x = in[0], y = in[1];
    dpi_id minus_x = minus(&w, x), minus_y = minus(&w, y);
    const dpi_id made[] = {dpi_add(g, x, minus_y),   dpi_add(g, minus_x, y),
                           dpi_sub(g, x, minus_y),   dpi_times(g, less, x),
                           dpi_div(g, x, less),      dpi_times(g, minus_x, y),
                           dpi_times(g, x, minus_y), dpi_div(g, minus_x, y),
                           dpi_div(g, x, minus_y),   dpi_times(g, minus_x, minus_y)};
    for (size_t i = 0; i < VALUES; i++)
        for (size_t j = 0; j < VALUES; j++) {
            const double v[2] = {values[i], values[j]}, a = v[0], b = v[1];
            const double want[] = {a + -b, -a + b, a - -b, -1 * a, a / -1,
                                   -a * b, a * -b, -a / b, a / -b, -a * -b};
            for (size_t k = 0; k < sizeof made / sizeof *made; k++)
                assert_same(evaluate(g, made[k], in, v), want[k]);
        }
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_vanish_in_sums),
        cmocka_unit_test(signs_leave_global_products),
        cmocka_unit_test(signs_stay_in_products_of_records),
        cmocka_unit_test(what_is_kept_is_not_kept_again),
        cmocka_unit_test(what_was_scaled_is_standardized_without_arithmetic),
        cmocka_unit_test(no_bit_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
