/* Every operation of the table, at every test point: value, gradient and second derivatives against
 * the naive evaluator.
 *
 * For y = op(a, b) the root is p = sum(c * y) with unequal constants c (and once plain sum(y),
 * whose adjoint is one number). */
#include "tests/graph/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/kernel.h"

static void check_point(const point *p, bool weighted)
{
    world w;
    world_of_point(&w, p);
    free(checked_value(&w, w.y, 2e-14, "value"));
    dpi_shape dims = dpi_get(&w.g, w.y)->shape;
    dims.per_record = false;
    dpi_id y = weighted ? dpi_times(&w.g, w.y, world_constant(&w, "c", dims, -1.385, 2.917)) : w.y;
    check_root(&w, dpi_sum(&w.g, y));
    world_free(&w);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    if (!naive_is_sharp())
        skip();
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < n; i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            /* The plain sum of contrasts is 0 and its derivative rounding. */
            bool nothing = list[i].op == &dpi_op_contrast && !list[i].attr.transpose[0];
            if (weighted != 0 || !nothing)
                check_point(&list[i], weighted != 0);
        }
    free(list);
}

static void every_operation_has_points(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        const dpi_op *op = dpi_ops[i];
        size_t points = 0;
        for (size_t k = 0; k < n; k++)
            points += list[k].op == op;
        if (op->n_inputs > 0 && points == 0)
            fail_msg("operation '%s' has no test point: add some to points.c", op->name);
        assert_true(strlen(op->name) > 0 && strlen(op->formula) > 0);
        assert_true(op->shape != NULL && op->flops != NULL);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(dpi_ops[k]->name, op->name);
    }
    free(list);
}

static void every_operation_has_a_kernel_or_a_refusal(void **state)
{
    (void)state;
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        const dpi_kernel *row = &dpi_kernels[i];
        if ((row->run != NULL) == (row->refused != NULL))
            fail_msg("%s has no row in the table of kernels for doubles", dpi_ops[i]->name);
        assert_true((row->run == NULL) == (dpi_ops[i]->class == DPI_SOURCE));
    }
}

static void ids_are_places_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        assert_int_equal(dpi_ops[i]->id, i);
        assert_in_range(dpi_ops[i]->class, 0, DPI_N_CLASSES - 1);
        assert_true((dpi_ops[i]->class == DPI_SOURCE) == (dpi_ops[i]->n_inputs == 0));
    }
}

/* Whether the result is -2 times what it was when the inputs of `scaled` are, to the bit. */
static bool scales(const point *p, const bool scaled[2])
{
    world w;
    double *before, *after;
    world_of_point(&w, p);
    size_t n = naive_count(w.e, w.y);
    world_run(&w, 1, &w.y, POINT_RECORDS, &before);
    for (int k = 0; k < p->op->n_inputs; k++)
        for (size_t i = 0; scaled[k] && i < naive_count(w.e, w.in[k]); i++)
            naive_value(w.e, w.in[k])[i] *= -2;
    world_run(&w, 1, &w.y, POINT_RECORDS, &after);
    bool same = true;
    for (size_t i = 0; i < n; i++)
        same = same && after[i] == -2 * before[i];
    free(before);
    free(after);
    world_free(&w);
    return same;
}

/* Whether the class of the point's operation holds there; not being linear need show only once. */
static bool class_holds(const point *p)
{
    const bool both[2] = {true, true}, left[2] = {true, false}, right[2] = {false, true};
    dpi_op_class class = p->op->class;
    if (class == DPI_LINEAR || class == DPI_LAYOUT)
        return scales(p, both);
    if (class == DPI_BILINEAR)
        return scales(p, left) && scales(p, right);
    if (class == DPI_SELECTION)
        return scales(p, p->groups > 0 ? left : right);
    return class == DPI_REDUCTION || !scales(p, both);
}

static void classes_are_those_of_the_formulas(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list), holds[DPI_N_OPS] = {0}, points[DPI_N_OPS] = {0};
    for (size_t i = 0; i < n; i++) {
        points[list[i].op->id]++;
        holds[list[i].op->id] += class_holds(&list[i]);
    }
    for (size_t i = 0; i < DPI_N_OPS; i++)
        if (dpi_ops[i]->class == DPI_ELEMENTWISE ? holds[i] == 0 : holds[i] < points[i])
            fail_msg("%s is not of the class its row says", dpi_ops[i]->name);
    free(list);
}

/* The attributes with something else in every field that the operation is not given. */
static dpi_attr disturbed(const dpi_attr *attr, unsigned given)
{
    dpi_attr other = {.shape = point_shape("7x5"),
                      .value = 9.5,
                      .number = 7,
                      .rows = 5,
                      .inner = 11,
                      .columns = 13,
                      .transpose = {!attr->transpose[0], !attr->transpose[1]},
                      .window = {{5, 7}, {2, 3}, {3, 1}, {1, 2}}};
    other.shape = given & DPI_ATTR_SHAPE ? attr->shape : other.shape;
    other.value = given & DPI_ATTR_VALUE ? attr->value : other.value;
    other.number = given & DPI_ATTR_NUMBER ? attr->number : other.number;
    other.rows = given & DPI_ATTR_ROWS ? attr->rows : other.rows;
    other.inner = given & DPI_ATTR_INNER ? attr->inner : other.inner;
    other.columns = given & DPI_ATTR_COLUMNS ? attr->columns : other.columns;
    for (int k = 0; k < 2 && (given & DPI_ATTR_TRANSPOSE); k++)
        other.transpose[k] = attr->transpose[k];
    other.window = given & DPI_ATTR_WINDOW ? attr->window : other.window;
    return other;
}

static void fields_that_are_not_given_are_not_read(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < n; i++) {
        world w;
        double *value[2];
        world_of_point(&w, &list[i]);
        const dpi_node node = *dpi_get(&w.g, w.y);
        if (node.op != list[i].op) { /* the value was there already */
            world_free(&w);
            continue;
        }
        dpi_attr attr = disturbed(&node.attr, list[i].op->given);
        dpi_id y = dpi_apply(&w.g, node.op, node.in[0], node.in[1], &attr);
        if (w.err.status != DP_OK || !dpi_shape_same(&dpi_get(&w.g, y)->shape, &node.shape))
            fail_msg("%s: another shape, '%s'", w.text, w.err.text);
        world_run(&w, 2, (dpi_id[]){w.y, y}, POINT_RECORDS, value);
        for (size_t k = 0; k < naive_count(w.e, w.y); k++)
            if (value[0][k] != value[1][k])
                fail_msg("%s: another value", w.text);
        free(value[0]);
        free(value[1]);
        world_free(&w);
    }
    free(list);
}

static double log_sum_exp(size_t n, double *a)
{
    double y;
    dpi_double_log_sum_exp(
        &(dpi_call){.n = 1, .in = {a}, .in_size = {n}, .out = &y, .out_size = 1});
    return y;
}

static void log_sum_exp_takes_infinities(void **state)
{
    (void)state;
    const double inf = INFINITY;
    assert_true(log_sum_exp(3, (double[]){-inf, -inf, -inf}) == -inf);
    assert_true(log_sum_exp(3, (double[]){-inf, 2.385, -inf}) == 2.385);
    assert_true(log_sum_exp(3, (double[]){1, inf, -inf}) == inf);
    assert_true(isnan(log_sum_exp(3, (double[]){NAN, inf, 1})));
    assert_true(isnan(log_sum_exp(3, (double[]){-inf, NAN, -inf})));
    assert_true(isnan(log_sum_exp(1, (double[]){NAN})));
}

static double of_one(const dpi_op *op, double a, double b, double slope)
{
    double y;
    const dpi_attr attr = {.value = slope};
    dpi_kernels[op->id].run(&(dpi_call){
        .n = 1, .in = {&a, &b}, .in_size = {1, 1}, .out = &y, .out_size = 1, .attr = &attr});
    return y;
}

/* At a jump the derivative is that of the side below. */
static void kinks_have_the_slope_of_the_side_below(void **state)
{
    (void)state;
    assert_true(of_one(&dpi_op_relu, 0, 0, 0) == 0 && of_one(&dpi_op_relu, 0, 0, 0.217) == 0);
    assert_true(of_one(&dpi_op_step, 0, 0, 0) == 0 && of_one(&dpi_op_step, 0, 0, 0.217) == 0.217);
    assert_true(of_one(&dpi_op_step, 1e-300, 0, 0.217) == 1);
    assert_true(isnan(of_one(&dpi_op_step, NAN, 0, 0)) && isnan(of_one(&dpi_op_step, 0, NAN, 1)));
    assert_true(of_one(&dpi_op_max, 2.385, 2.385, 0) == 2.385);
    for (int equal = 0; equal < 2; equal++) {
        world w;
        dpi_id adjoint[2];
        double *value[2];
        world_new(&w);
        dpi_id a = world_input(&w, "a", dpi_scalar(false), equal ? 0 : 1, equal ? 0 : 1),
               b = world_input(&w, "b", dpi_scalar(false), 0, 0);
        dpi_id y = dpi_apply(&w.g, &dpi_op_max, a, b, NULL);
        assert_ok(dpi_gradient(&w.g, y, 2, (dpi_id[]){a, b}, adjoint), w.err.text);
        world_run(&w, 2, adjoint, POINT_RECORDS, value);
        assert_true(*value[0] == (equal ? 0 : 1) && *value[1] == (equal ? 1 : 0));
        free(value[0]);
        free(value[1]);
        world_free(&w);
    }
}

/* Of equal numbers a window takes the first; what is not a number, before all others. */
static void windows_take_the_first_of_equal_maxima(void **state)
{
    (void)state;
    const dpi_attr attr = {.window = {{2, 2}, {2, 2}, {1, 1}, {0, 0}}, .inner = 1};
    static const struct {
        double a[4];
        size_t place;
    } cases[] = {{{0, 2.385, 2.385, 1}, 1},
                 {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, 0},
                 {{INFINITY, 1, NAN, NAN}, 2},
                 {{-0.5, -1, -0.25, -0.25}, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const double b[4] = {1, 2, 3, 4}, g = 1.75;
        double y, back[4];
        dpi_call call = {.n = 1,
                         .in = {cases[k].a, b},
                         .in_size = {4, 4},
                         .out = &y,
                         .out_size = 1,
                         .attr = &attr};
        dpi_double_pool_max(&call);
        assert_true(y == b[cases[k].place]);
        call.in[1] = &g;
        call.in_size[1] = 1;
        call.out = back;
        call.out_size = 4;
        dpi_double_unpool_max(&call);
        for (size_t i = 0; i < 4; i++)
            assert_true(back[i] == (i == cases[k].place ? g : 0));
    }
}

enum { PIXELS = 12, STOPS = 20, CHANNELS = 37 };

/* Numbers with many that are equal and some that are none. */
static void fill_image(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = i * i % 31 == 7 ? NAN : (double)(i * 7 % 11) - 4.25;
}

/* Channels are compared side by side (kernel-pool.c): each as if it were alone. */
static void channels_of_windows_are_apart(void **state)
{
    (void)state;
    const dpi_window window = {{4, 3}, {2, 2}, {1, 1}, {1, 1}};
    const dpi_attr all = {.window = window, .inner = CHANNELS},
                   one = {.window = window, .inner = 1};
    double a[PIXELS * CHANNELS], b[STOPS * CHANNELS], y[STOPS * CHANNELS], back[PIXELS * CHANNELS];
    fill_image(PIXELS * CHANNELS, a);
    fill_image(STOPS * CHANNELS, b);
    dpi_call call = {.n = 1, .in = {a, b}, .attr = &all};
    call.out = y, call.out_size = STOPS * CHANNELS;
    dpi_double_pool_max(&call);
    call.out = back, call.out_size = PIXELS * CHANNELS;
    dpi_double_unpool_max(&call);
    for (size_t c = 0; c < CHANNELS; c++) {
        double a_c[PIXELS], b_c[STOPS], y_c[STOPS], back_c[PIXELS];
        for (size_t i = 0; i < PIXELS; i++)
            a_c[i] = a[i * CHANNELS + c];
        for (size_t i = 0; i < STOPS; i++)
            b_c[i] = b[i * CHANNELS + c];
        dpi_call alone = {.n = 1, .in = {a_c, b_c}, .attr = &one};
        alone.out = y_c, alone.out_size = STOPS;
        dpi_double_pool_max(&alone);
        alone.out = back_c, alone.out_size = PIXELS;
        dpi_double_unpool_max(&alone);
        for (size_t i = 0; i < STOPS; i++)
            assert_memory_equal(&y[i * CHANNELS + c], &y_c[i], sizeof y_c[i]);
        for (size_t i = 0; i < PIXELS; i++)
            assert_memory_equal(&back[i * CHANNELS + c], &back_c[i], sizeof back_c[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_points),
        cmocka_unit_test(every_operation_has_a_kernel_or_a_refusal),
        cmocka_unit_test(ids_are_places_in_the_table),
        cmocka_unit_test(classes_are_those_of_the_formulas),
        cmocka_unit_test(fields_that_are_not_given_are_not_read),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(log_sum_exp_takes_infinities),
        cmocka_unit_test(windows_take_the_first_of_equal_maxima),
        cmocka_unit_test(channels_of_windows_are_apart),
        cmocka_unit_test(kinks_have_the_slope_of_the_side_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
