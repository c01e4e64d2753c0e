/* Every kernel for floats, which every operation has, against that for doubles. */
#include "exec/single.h"

#include <float.h>
#include <math.h>

#include "exec/value.h"
#include "tests/exec/setting.h"
#include "tests/lib/check.h"

/* What is asked of an operation's domain: numbers above 0. */
static bool takes_positive(const dpi_op *op)
{
    return op == &dpi_op_sqrt || op == &dpi_op_log || op == &dpi_op_log1p || op == &dpi_op_lgamma ||
           op == &dpi_op_polygamma || op == &dpi_op_rising || op == &dpi_op_log_gamma_tail ||
           op == &dpi_op_log_student_tail || op == &dpi_op_log_bessel ||
           op == &dpi_op_log_beta_tail;
}

/* The middle of the numbers that it is given. */
static double middle(const dpi_op *op)
{
    return takes_positive(op) ? 3.001 : op == &dpi_op_log1mexp ? -3.001 : 0;
}

/* What makes a matrix positive definite and a triangular system easy to solve. */
static double on_diagonal(const dpi_op *op, const dpi_shape *a, size_t e)
{
    bool wanted = op == &dpi_op_cholesky || op == &dpi_op_triangular_solve;
    return wanted && e / a->dim[1] % a->dim[0] == e % a->dim[1] ? 12 : 0;
}

static void check_shapes(const dpi_op *op, dpi_shape a, dpi_shape b, const dpi_attr *attr)
{
    setting s;
    dp_error err = {0};
    size_t left = dpi_shape_size(&a), right = dpi_shape_size(&b);
    set_up(&s);
    dpi_id x = source(&s, &dpi_op_input, "left", a, 0);
    dpi_id y = op->n_inputs > 1 ? source(&s, &dpi_op_input, "right", b, 0) : DPI_NONE;
    dpi_id node = dpi_apply(&s.g, op, x, y, attr);
    assert_ok(s.err.status, s.err.text);
    dpi_run *run[2];
    for (int k = 0; k < 2; k++) {
        dpi_run_spec spec = {
            .graph = &s.g, .wanted = &node, .n_wanted = 1, .chunk = 3, .single = k == 1};
        assert_ok(dpi_run_new(&spec, &run[k], &err), err.text);
        double *value = dpi_run_value(run[k], x);
        for (size_t e = 0; e < left * (a.per_record ? 3 : 1); e++)
            value[e] = (float)(middle(op) + 3 * sin(1.7 * (double)e + 1) + on_diagonal(op, &a, e));
        value = y != DPI_NONE ? dpi_run_value(run[k], y) : NULL;
        for (size_t e = 0; value != NULL && e < right * (b.per_record ? 3 : 1); e++)
            value[e] = (float)(2 + sin(2.3 * (double)e));
        dpi_run_globals(run[k]);
        dpi_run_records(run[k], 3, NULL, 0);
    }
    for (size_t e = 0; e < 3 * dpi_shape_size(&dpi_get(&s.g, node)->shape); e++)
        assert_close(dpi_run_value(run[1], node)[e], dpi_run_value(run[0], node)[e],
                     8 * FLT_EPSILON, 4 * FLT_EPSILON);
    dpi_run_free(run[0]);
    dpi_run_free(run[1]);
    tear_down(&s);
}

static dpi_shape rows_of(size_t rows, size_t columns, bool per_record)
{
    return (dpi_shape){.per_record = per_record, .n_dims = 2, .dim = {rows, columns}};
}

static void check_operation(const dpi_op *op, size_t left, bool left_of_record, size_t right,
                            bool right_of_record, const dpi_attr *attr)
{
    dpi_shape a = left > 1 ? dpi_vector(left, left_of_record) : dpi_scalar(left_of_record);
    if (attr != NULL && attr->rows > 0)
        a = rows_of(attr->rows, left / attr->rows, left_of_record);
    dpi_shape b = right > 1 ? dpi_vector(right, right_of_record) : dpi_scalar(right_of_record);
    if (attr != NULL && attr->columns > 0)
        b = rows_of(attr->columns, right / attr->columns, right_of_record);
    check_shapes(op, a, b, attr);
}

/* Operations that shorten, lengthen or sum up rows; returns how many. */
static size_t check_rows(void)
{
    const dpi_shape none = dpi_scalar(false);
    const size_t rows[] = {1, 7, 2}, columns[] = {5, 50, 300};
    for (int k = 0; k < 3; k++) {
        dpi_shape a = rows_of(rows[k], columns[k], true), row = dpi_vector(columns[k], true);
        check_shapes(&dpi_op_sum_to, a, none, &(dpi_attr){.shape = row});
        check_shapes(&dpi_op_sum_to, a, none, &(dpi_attr){.shape = dpi_scalar(true)});
        check_shapes(&dpi_op_sum_last, a, none, NULL);
        check_shapes(&dpi_op_log_sum_exp, a, none, NULL);
        check_shapes(&dpi_op_log_beta_tail, rows_of(rows[k], 3, true), none, NULL);
        check_shapes(&dpi_op_spread, a, none, &(dpi_attr){.number = 4});
        check_shapes(&dpi_op_contrast, a, none, NULL);
        check_shapes(&dpi_op_contrast, a, none, &(dpi_attr){.transpose = {true}});
        check_shapes(&dpi_op_cumulative_sum, a, none, NULL);
        check_shapes(&dpi_op_cumulative_sum, a, none, &(dpi_attr){.transpose = {true}});
        check_shapes(&dpi_op_pad, rows[k] == 1 ? row : a, none,
                     &(dpi_attr){.number = 2,
                                 .inner = rows[k],
                                 .shape = rows_of(rows[k] + 3, columns[k], true)});
        check_shapes(&dpi_op_slice, a, none, &(dpi_attr){.number = rows[k] / 2, .rows = 1});
    }
    check_shapes(&dpi_op_slice, dpi_vector(9, true), none, &(dpi_attr){.number = 3, .rows = 5});
    return 9;
}

/* Operations on matrices; returns how many. */
static size_t check_matrices(void)
{
    const dpi_shape none = dpi_scalar(false), square = rows_of(4, 4, true),
                    row = dpi_vector(4, true);
    const dpi_attr turned = {.transpose = {true}};
    check_shapes(&dpi_op_cholesky, square, none, NULL);
    for (int back = 0; back < 2; back++) {
        check_shapes(&dpi_op_triangular_solve, square, row, back ? &turned : NULL);
        check_shapes(&dpi_op_triangular_solve, rows_of(4, 4, false), rows_of(4, 3, true),
                     back ? &turned : NULL);
    }
    check_shapes(&dpi_op_lower, square, none, &(dpi_attr){.value = 0.5});
    check_shapes(&dpi_op_transpose, rows_of(5, 3, true), none, NULL);
    check_shapes(&dpi_op_diagonal, square, none, NULL);
    check_shapes(&dpi_op_diagonal_matrix, row, none, NULL);
    return 6;
}

static void floats_are_kept_where_they_are_chosen(void **state)
{
    (void)state;
    const float a[4] = {INFINITY, 2.5F, NAN, 1}, b[4] = {0, -3, 0, NAN};
    const float wanted[2][4] = {{0, 2.5F, 0, NAN}, {INFINITY, 0, NAN, NAN}};
    for (size_t k = 0; k < 2; k++) {
        float y[4];
        const dpi_attr attr = {.number = k};
        dpi_kernels_single[DPI_OP_keep].run(&(dpi_call_single){
            .n = 1, .in = {a, b}, .in_size = {4, 4}, .out = y, .out_size = 4, .attr = &attr});
        for (size_t i = 0; i < 4; i++)
            assert_true(isnan(wanted[k][i]) ? isnan(y[i]) : y[i] == wanted[k][i]);
    }
}

/* Each returns how many operations it has checked. */
static size_t check_unary(void)
{
    static const dpi_op *const unary[] = {&dpi_op_neg,
                                          &dpi_op_exp,
                                          &dpi_op_square,
                                          &dpi_op_logistic,
                                          &dpi_op_softplus,
                                          &dpi_op_tanh,
                                          &dpi_op_sqrt,
                                          &dpi_op_relu,
                                          &dpi_op_normal_cdf,
                                          &dpi_op_expm1,
                                          &dpi_op_log,
                                          &dpi_op_log1p,
                                          &dpi_op_abs,
                                          &dpi_op_sign,
                                          &dpi_op_lgamma,
                                          &dpi_op_polygamma,
                                          &dpi_op_log1mexp,
                                          &dpi_op_cloglog,
                                          &dpi_op_sin,
                                          &dpi_op_cos,
                                          &dpi_op_erf,
                                          &dpi_op_atan,
                                          &dpi_op_log_normal_cdf,
                                          &dpi_op_log_cauchy_cdf,
                                          &dpi_op_log_bessel};
    for (size_t i = 0; i < 2 * (sizeof unary / sizeof unary[0]); i++)
        check_operation(unary[i / 2], i % 2 ? 19 : 5, true, 1, false, NULL);
    check_operation(&dpi_op_polygamma, 5, true, 1, false, &(dpi_attr){.number = 2});
    check_operation(&dpi_op_log_normal_cdf, 5, true, 1, false, &(dpi_attr){.number = 2});
    return sizeof unary / sizeof unary[0];
}

static size_t check_binary(void)
{
    static const dpi_op *const binary[] = {&dpi_op_add,
                                           &dpi_op_sub,
                                           &dpi_op_mul,
                                           &dpi_op_div,
                                           &dpi_op_max,
                                           &dpi_op_step,
                                           &dpi_op_keep,
                                           &dpi_op_rising,
                                           &dpi_op_log_gamma_tail,
                                           &dpi_op_log_student_tail,
                                           &dpi_op_log_skew_tail};
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++)
        for (int bits = 0; bits < 4; bits++) {
            check_operation(binary[i], 5, true, bits & 1 ? 5 : 1, bits & 2, NULL);
            check_operation(binary[i], bits & 1 ? 5 : 1, bits & 2, 5, true, NULL);
        }
    check_operation(&dpi_op_relu, 19, true, 1, false, &(dpi_attr){.value = 0.217});
    check_operation(&dpi_op_step, 19, true, 1, false, &(dpi_attr){.value = 0.217});
    return sizeof binary / sizeof binary[0];
}

static size_t check_windows(void)
{
    dpi_window window = {{2, 3}, {2, 2}, {1, 1}, {1, 0}};
    check_operation(&dpi_op_patches, 12, true, 1, false, &(dpi_attr){.window = window});
    dpi_attr fold = {.rows = 6, .window = window, .shape = dpi_vector(12, true)};
    check_operation(&dpi_op_fold, 48, true, 1, false, &fold);
    dpi_attr pool = {.window = window}, stops = {.window = window, .columns = 6};
    check_operation(&dpi_op_pool_sum, 12, true, 1, false, &pool);
    check_operation(&dpi_op_unpool_sum, 12, true, 1, false, &fold);
    for (int bits = 1; bits < 4; bits++) {
        check_operation(&dpi_op_pool_max, 12, bits & 1, 12, bits & 2, &pool);
        check_operation(&dpi_op_unpool_max, 12, bits & 1, 12, bits & 2, &stops);
    }
    return 6;
}

static size_t check_shaped(void)
{
    for (int bits = 1; bits < 4; bits++) {
        check_operation(&dpi_op_outer, 5, bits & 1, 37, bits & 2, NULL);
        check_operation(&dpi_op_scatter, 4, bits & 1, 4, bits & 2, &(dpi_attr){.number = 5});
    }
    check_operation(&dpi_op_scatter, 6, true, 1, true, &(dpi_attr){.number = 5});
    dpi_attr groups = {.rows = 1, .number = 3};
    check_operation(&dpi_op_group_mean, 12, true, 1, false, &groups);
    check_operation(&dpi_op_matmul, 5, true, 5, true, NULL);
    check_operation(&dpi_op_matmul, 17, true, 17, false, NULL);
    dpi_shape wide = dpi_vector(4, true);
    check_operation(&dpi_op_expand, 1, true, 1, false, &(dpi_attr){.shape = wide});
    dpi_attr matrix = {.rows = 3};
    check_operation(&dpi_op_matmul, 15, true, 5, false, &matrix);
    check_operation(&dpi_op_reshape, 4, true, 1, false, &(dpi_attr){.shape = wide});
    check_operation(&dpi_op_pick, 15, false, 4, true, &(dpi_attr){.rows = 5});
    check_operation(&dpi_op_pick, 15, true, 1, true, &(dpi_attr){.rows = 5});
    return 7;
}

static void every_kernel_for_floats_is_that_for_doubles(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; i < DPI_N_OPS; i++)
        seen += dpi_kernels_single[i].run != NULL;
    const size_t known = check_unary() + check_binary() + check_rows() + check_matrices() +
                         check_windows() + check_shaped();
    assert_int_equal(seen, known); /* a new kernel needs a line here */
}

/* Columns are summed in blocks, in both precisions: any number of them, against plain loops. */
static void sums_of_any_width_are_those_by_hand(void **state)
{
    (void)state;
    enum { ROWS = 4, WIDEST = 200 };
    double a[2 * ROWS * WIDEST], y[2 * WIDEST];
    float b[2 * ROWS * WIDEST], z[2 * WIDEST];
    for (size_t i = 0; i < sizeof a / sizeof a[0]; i++)
        a[i] = b[i] = (float)sin(1.7 * (double)i + 1);
    for (size_t width = 1; width <= WIDEST; width++) {
        size_t size = ROWS * width;
        dpi_double_sum_to(&(dpi_call){
            .n = 2, .in = {a}, .out = y, .in_size = {size}, .in_step = {size}, .out_size = width});
        dpi_single_sum_to(&(dpi_call_single){
            .n = 2, .in = {b}, .out = z, .in_size = {size}, .in_step = {size}, .out_size = width});
        for (size_t i = 0; i < 2 * width; i++) {
            double sum = 0;
            for (size_t row = 0; row < ROWS; row++)
                sum += a[i / width * size + row * width + i % width];
            assert_true(y[i] == sum && z[i] == (float)sum);
        }
    }
}

/* Rows of which nothing, or nothing finite, is left. */
static void log_sum_exp_is_that_of_doubles_at_the_ends(void **state)
{
    (void)state;
    const float a[5][2] = {
        {-INFINITY, -INFINITY}, {INFINITY, 1}, {NAN, INFINITY}, {-INFINITY, 3}, {-200, 200}};
    float y[5];
    dpi_single_log_sum_exp(
        &(dpi_call_single){.n = 5, .in = {a[0]}, .out = y, .in_size = {2}, .out_size = 1});
    assert_true(y[0] == -INFINITY && y[1] == INFINITY && isnan(y[2]) && y[3] == 3 && y[4] == 200);
}

/* tanh in floats, to 12 2^-24 of itself from the smallest numbers to the largest. */
static void tanh_keeps_its_digits(void **state)
{
    (void)state;
    enum { SOME = 20000 };
    static float x[SOME + 3], y[SOME + 3];
    for (size_t i = 0; i < SOME; i++)
        x[i] = (float)((i % 2 ? -1 : 1) * exp(-60 + 65 * (double)i / SOME));
    x[SOME] = INFINITY, x[SOME + 1] = -INFINITY, x[SOME + 2] = NAN;
    dpi_single_tanh(&(dpi_call_single){.n = 1, .in = {x}, .out = y, .out_size = SOME + 3});
    for (size_t i = 0; i < SOME; i++)
        assert_close(y[i], tanh(x[i]), 12 * 0x1p-24, 0);
    assert_true(y[SOME] == 1 && y[SOME + 1] == -1 && isnan(y[SOME + 2]));
    for (size_t from = 0; from < 70; from++) /* and is the same wherever they stand */
        for (size_t n = 1; n < 70; n++) {
            float some[70];
            dpi_single_tanh(
                &(dpi_call_single){.n = 1, .in = {x + 18000 + from}, .out = some, .out_size = n});
            assert_memory_equal(some, y + 18000 + from, n * sizeof *some);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_kept_where_they_are_chosen),
        cmocka_unit_test(every_kernel_for_floats_is_that_for_doubles),
        cmocka_unit_test(sums_of_any_width_are_those_by_hand),
        cmocka_unit_test(log_sum_exp_is_that_of_doubles_at_the_ends),
        cmocka_unit_test(tanh_keeps_its_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
