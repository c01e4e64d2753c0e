/* Every call of arithmetic: a known value for numbers, for global and for per-record
 * expressions. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "tests/lib/check.h"
#include "tests/model/operands.h"

/* ---- elementwise ---- */

static void arithmetic_repeats_smaller_operands(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_BINARIES; k++) {
        scene q = begin();
        double (*is)(double, double) = binaries[k].is;
        double vs[3], sv[3], Wv[6], xv[6], v4[3];
        for (size_t i = 0; i < 6; i++) {
            vs[i % 3] = is(v_is[i % 3], s_is[0]);
            sv[i % 3] = is(s_is[0], v_is[i % 3]);
            v4[i % 3] = is(v_is[i % 3], 4.385);
            Wv[i] = is(W_is[i], v_is[i % 3]);
            xv[i] = is(x_is[i / 3][i % 3], v_is[i % 3]);
        }
        assert_value(&q, binaries[k].call(q.v, q.s), 3, vs);
        assert_value(&q, binaries[k].call(q.s, q.v), 3, sv);
        assert_value(&q, binaries[k].call(q.v, dp_num(4.385)), 3, v4);
        assert_value(&q, binaries[k].call(q.W, q.v), 6, Wv);
        assert_value(&q, binaries[k].call(q.x, q.v), 6, xv);
        dp_expr number = binaries[k].call(dp_num(2.5), dp_num(-0.75));
        assert_null(number.model);
        assert_close(number.value, is(2.5, -0.75), 0, 0);
        dp_model_free(q.m);
    }
    scene q = begin();
    const double scaled[3] = {-2 * v_is[0], -2 * v_is[1], -2 * v_is[2]};
    assert_value(&q, dp_scale(-2, q.v), 3, scaled);
    assert_close(dp_scale(-2, dp_num(3.5)).value, -7, 0, 0);
    dp_model_free(q.m);
}

/* Of squares, which logarithms and roots can take, for numbers, globals and records; and with its
 * sign where it matters. */
static void functions_work_on_each_number(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_UNARIES; k++) {
        scene q = begin();
        double of_v[3], of_x[6], number = unaries[k].call(dp_num(0.385)).value;
        for (size_t i = 0; i < 6; i++) {
            of_v[i % 3] = unaries[k].is(squared(v_is[i % 3]));
            of_x[i] = unaries[k].is(squared(x_is[i / 3][i % 3]));
        }
        assert_value(&q, unaries[k].call(dp_square(q.v)), 3, of_v);
        assert_value(&q, unaries[k].call(dp_square(q.x)), 6, of_x);
        assert_close(number, unaries[k].is(0.385), 4e-16, 0);
        assert_null(unaries[k].call(dp_num(1)).model);
        dp_model_free(q.m);
    }
    scene q = begin();
    const double absolute[3] = {0.385, 1.25, 2.5}, negated[3] = {-0.385, 1.25, -2.5};
    assert_value(&q, dp_abs(q.v), 3, absolute);
    assert_value(&q, dp_neg(q.v), 3, negated);
    dp_model_free(q.m);
}

/* ---- reductions and products ---- */

/* lgamma(1 / 2) = log(pi) / 2, and psi(1 + a) = psi(a) + 1 / a. */
static void gamma_functions_are_those_of_each_number(void **state)
{
    (void)state;
    scene q = begin();
    dp_expr a = dp_square(q.v), one = dp_num(1);
    double wanted[3], steps[3];
    for (size_t i = 0; i < 3; i++) {
        wanted[i] = lgamma(v_is[i] * v_is[i]);
        steps[i] = 1 / (v_is[i] * v_is[i]);
    }
    assert_value_within(&q, dp_lgamma(a), 3, wanted, 1e-14);
    dp_expr step = dp_sub(dp_digamma(dp_add(a, one)), dp_digamma(a));
    assert_value_within(&q, step, 3, steps, 1e-13);
    assert_close(dp_lgamma(dp_num(0.5)).value, log(acos(-1)) / 2, 1e-15, 0);
    assert_close(dp_digamma(dp_num(1)).value, -0.57721566490153286, 1e-15, 0);
    dp_model_free(q.m);
}

static void sums_are_over_dimensions_not_over_records(void **state)
{
    (void)state;
    scene q = begin();
    const double v = 0.385 - 1.25 + 2.5, W = 2, x[N] = {2, 1.5}, s = 1.7;
    assert_value(&q, dp_sum(q.v), 1, &v);
    assert_value(&q, dp_sum(q.W), 1, &W);
    assert_value(&q, dp_sum(q.x), N, x);
    assert_value(&q, dp_sum(q.s), 1, &s);
    const double rows[2] = {W_is[0] + W_is[1] + W_is[2], W_is[3] + W_is[4] + W_is[5]};
    assert_value(&q, dp_sum_last(q.W), 2, rows);
    assert_value(&q, dp_sum_last(q.x), N, x);
    assert_value(&q, dp_sum_last(q.s), 1, &s);
    assert_dims(dp_sum_last(q.W), "[2]");
    const double twice[6] = {v_is[0], v_is[0], v_is[1], v_is[1], v_is[2], v_is[2]}, ss[2] = {s, s};
    assert_value(&q, dp_spread(q.v, 2), 6, twice);
    assert_value(&q, dp_spread(q.s, 2), 2, ss);
    assert_dims(dp_spread(q.v, 1), "[3][1]");
    assert_close(dp_sum_last(dp_num(3.5)).value, 3.5, 0, 0);
    assert_value(&q, dp_sum(q.one), 1, one_is);
    assert_close(dp_sum(dp_num(3.5)).value, 3.5, 0, 0);
    const double log_sum = log(exp(0.385) + exp(-1.25) + exp(2.5)),
                 of_x[N] = {log(exp(1) + exp(2) + exp(-1)), log(exp(0.5) + exp(-3) + exp(4))};
    assert_value(&q, dp_log_sum_exp(q.v), 1, &log_sum);
    assert_value(&q, dp_log_sum_exp(q.x), N, of_x);
    const double of_W[2] = {log(exp(1) + exp(-2) + exp(0.5)), log(exp(3) + exp(0.25) + exp(-0.75))};
    assert_value(&q, dp_log_sum_exp(q.W), 2, of_W);
    dp_model_free(q.m);
}

static void cumulative_sums_run_along_the_last_dimension(void **state)
{
    (void)state;
    scene q = begin();
    const double of_v[3] = {0.385, 0.385 - 1.25, 0.385 - 1.25 + 2.5}, s = 1.7,
                 of_W[6] = {1, -1, -0.5, 3, 3.25, 2.5}, of_x[6] = {1, 3, 2, 0.5, -2.5, 1.5};
    assert_value(&q, dp_cumulative_sum(q.v), 3, of_v);
    assert_value(&q, dp_cumulative_sum(q.W), 6, of_W);
    assert_value(&q, dp_cumulative_sum(q.x), N * 3, of_x);
    assert_value(&q, dp_cumulative_sum(q.s), 1, &s);
    assert_value(&q, dp_cumulative_sum(q.one), 1, one_is);
    assert_dims(dp_cumulative_sum(q.W), "[2][3]");
    assert_close(dp_cumulative_sum(dp_num(3.5)).value, 3.5, 0, 0);
    dp_model_free(q.m);
}

static void choices_take_one_of_two(void **state)
{
    (void)state;
    scene q = begin();
    const double above[3] = {0, 0, 1}, of_v[3] = {1.7, 1.7, 2.5};
    const double picked[6] = {1.7, 1.7, -1, 1.7, -3, 1.7};
    assert_value(&q, dp_greater(q.v, dp_num(1)), 3, above);
    assert_value(&q, dp_where(dp_greater(q.v, q.s), q.v, q.s), 3, of_v);
    assert_value(&q, dp_where(dp_greater(q.x, q.v), q.s, q.x), 6, picked);
    const double never[1] = {NAN}, *zero = above;
    dp_expr bad = dp_constant(q.m, 1, never);
    assert_value(&q, dp_where(q.s, dp_num(0), bad), 1, zero);
    assert_value(&q, dp_where(dp_num(0), bad, dp_num(0)), 1, zero);
    dp_model_free(q.m);
    assert_true(dp_where(dp_num(-2), dp_num(1.5), dp_num(NAN)).value == 1.5);
    assert_true(dp_where(dp_num(0), dp_num(INFINITY), dp_num(2.5)).value == 2.5);
    assert_true(isnan(dp_where(dp_num(NAN), dp_num(1), dp_num(1)).value));
    assert_true(dp_greater(dp_num(2), dp_num(1)).value == 1);
    assert_true(dp_greater(dp_num(1), dp_num(1)).value == 0);
    assert_null(dp_where(dp_num(1), dp_num(1), dp_num(1)).model);
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void products_are_those_of_matrices(void **state)
{
    (void)state;
    scene q = begin();
    const double vv = dot(v_is, v_is), xv[N] = {dot(x_is[0], v_is), dot(x_is[1], v_is)},
                 Wv[2] = {dot(W_is, v_is), dot(W_is + 3, v_is)},
                 Wx[4] = {dot(W_is, x_is[0]), dot(W_is + 3, x_is[0]), dot(W_is, x_is[1]),
                          dot(W_is + 3, x_is[1])};
    const double vb[2] = {0.385 - 1.25 * 3 + 2.5 * 5, 0.385 * 2 - 1.25 * 4 + 2.5 * 6};
    const double Wb[4] = {1 - 6 + 2.5, 2 - 8 + 3, 3 + 0.75 - 3.75, 6 + 1 - 4.5};
    assert_value(&q, dp_dot(q.v, q.v), 1, &vv);
    assert_value(&q, dp_dot(q.x, q.v), N, xv);
    assert_value(&q, dp_matmul(q.v, q.v), 1, &vv);
    assert_value(&q, dp_matmul(q.W, q.v), 2, Wv); /* [m][k] [k] */
    assert_value(&q, dp_matmul(q.W, q.x), 4, Wx);
    assert_value(&q, dp_matmul(q.v, q.b), 2, vb); /* [k] [k][n] */
    assert_value(&q, dp_matmul(q.W, q.b), 4, Wb); /* [m][k] [k][n] */
    assert_dims(dp_matmul(q.W, q.b), "[2][2]");
    const double ss = 1.7 * 1.7, five = 5 * 1.7, one = 0.6 * 0.6;
    assert_value(&q, dp_dot(q.s, q.s), 1, &ss); /* vectors of one number */
    assert_value(&q, dp_dot(q.s, dp_num(5)), 1, &five);
    assert_value(&q, dp_dot(q.one, q.one), 1, &one);
    dp_model_free(q.m);
}

/* ---- selection ---- */

static void a_pick_is_the_row_of_the_records_group(void **state)
{
    (void)state;
    scene q = begin();
    const double a[N] = {2.5, 0.385}, b[N * 2] = {5, 6, 1, 2}, constant[3] = {7, 8, 9},
                 picked[N] = {9, 7};
    assert_value(&q, dp_pick(q.a, q.g), N, a);
    assert_value(&q, dp_pick(q.b, q.g), N * 2, b);
    assert_value(&q, dp_pick(dp_constant(q.m, 3, constant), q.g), N, picked);
    assert_dims(dp_pick(q.b, q.g), "[2], one per record");
    const double several[N * 3] = {-1.25, 2.5, -1.25, 0.385, 0.385, 2.5},
                             rows[N * 6] = {3, 4, 5, 6, 3, 4, 1, 2, 1, 2, 5, 6};
    assert_value(&q, dp_pick(q.a, q.words), N * 3, several);
    assert_value(&q, dp_pick(q.b, q.words), N * 6, rows);
    assert_dims(dp_pick(q.b, q.words), "[3][2], one per record");
    dp_model_free(q.m);
}

static void slices_and_joins_keep_their_order(void **state)
{
    (void)state;
    scene q = begin();
    const double middle[1] = {-1.25}, tail[2] = {-1.25, 2.5}, row[3] = {3, 0.25, -0.75},
                 of_x[2 * N] = {1, 2, 0.5, -3};
    assert_value(&q, dp_slice(q.v, 1, 1), 1, middle);
    assert_value(&q, dp_slice(q.v, 1, 2), 2, tail);
    assert_value(&q, dp_slice(q.v, 0, 3), 3, v_is);
    assert_value(&q, dp_slice(q.W, 1, 1), 3, row);
    assert_value(&q, dp_slice(q.W, 0, 2), 6, W_is);
    assert_value(&q, dp_slice(q.x, 0, 2), 2 * N, of_x);
    assert_dims(dp_slice(q.v, 1, 1), "a number");
    assert_dims(dp_slice(q.W, 1, 1), "[3]");
    const double vs[4] = {0.385, -1.25, 2.5, 1.7}, sv[4] = {1.7, 0.385, -1.25, 2.5},
                 nine_s[2] = {9, 1.7}, one_v[4] = {-0.6, 0.385, -1.25, 2.5}, s_one[2] = {1.7, -0.6},
                 xs[4 * N] = {1, 2, -1, 1.7, 0.5, -3, 4, 1.7};
    assert_value(&q, dp_concat(q.v, q.s), 4, vs);
    assert_value(&q, dp_concat(q.s, q.v), 4, sv);
    assert_value(&q, dp_concat(dp_num(9), q.s), 2, nine_s);
    assert_value(&q, dp_concat(q.one, q.v), 4, one_v); /* of a plate with one member */
    assert_value(&q, dp_concat(q.s, q.one), 2, s_one);
    assert_value(&q, dp_concat(q.x, q.s), 4 * N, xs);
    dp_model_free(q.m);
}

static void constants_are_copied(void **state)
{
    (void)state;
    scene q = begin();
    double values[6];
    memcpy(values, W_is, sizeof values);
    dp_expr vector = dp_constant(q.m, 3, values), matrix = dp_constant_matrix(q.m, 2, 3, values),
            number = dp_constant(q.m, 1, values + 3),
            column = dp_constant_matrix(q.m, 3, 1, values);
    memset(values, 0, sizeof values);
    assert_value(&q, vector, 3, W_is);
    assert_value(&q, matrix, 6, W_is);
    assert_value(&q, number, 1, W_is + 3);
    assert_dims(vector, "[3]");
    assert_dims(matrix, "[2][3]");
    assert_dims(number, "a number");
    assert_dims(column, "[3][1]");
    assert_close(dp_num(2.385).value, 2.385, 0, 0);
    assert_null(dp_num(2.385).model);
    dp_model_free(q.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_repeats_smaller_operands),
        cmocka_unit_test(functions_work_on_each_number),
        cmocka_unit_test(gamma_functions_are_those_of_each_number),
        cmocka_unit_test(sums_are_over_dimensions_not_over_records),
        cmocka_unit_test(cumulative_sums_run_along_the_last_dimension),
        cmocka_unit_test(choices_take_one_of_two),
        cmocka_unit_test(products_are_those_of_matrices),
        cmocka_unit_test(a_pick_is_the_row_of_the_records_group),
        cmocka_unit_test(slices_and_joins_keep_their_order),
        cmocka_unit_test(constants_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
