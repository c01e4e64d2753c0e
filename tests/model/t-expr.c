/* Every call of arithmetic: a known value for numbers, for global and for per-record expressions, and
 * what it says of operands that do not fit. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/run.h"
#include "model/model.h"
#include "tests/lib/check.h"

enum { N = 2, GROUPS = 3 };

static const double v_is[3] = {0.385, -1.25, 2.5}, W_is[6] = {1, -2, 0.5, 3, 0.25, -0.75},
                    s_is[1] = {1.7}, one_is[1] = {-0.6}, b_is[6] = {1, 2, 3, 4, 5, 6};
static const double x_is[N][3] = {{1, 2, -1}, {0.5, -3, 4}};
static const int32_t g_is[N] = {2, 0}, words_are[N][3] = {{1, 2, 1}, {0, 0, 2}};

/* Globals s (a number), v [3], W [2][3], one [1], a [3] and b [3][2] over groups; records x [3], g. */
typedef struct scene {
    dp_model *m;
    dp_expr s, v, W, one, a, b, x, g, words;
} scene;

static scene begin(void)
{
    scene q = {.m = dp_model_new()};
    dp_plate rows = dp_unit_plate(q.m, "rows"), groups = dp_plate_new(q.m, "groups", GROUPS),
             two = dp_plate_new(q.m, "two", 2), single = dp_plate_new(q.m, "single", 1);
    q.s = dp_sample(q.m, "s", 1, dp_normal(0, 1));
    q.v = dp_sample(q.m, "v", 3, dp_normal(0, 1));
    q.W = dp_sample_in(two, "W", 3, dp_normal(0, 1));
    q.one = dp_sample_in(single, "one", 1, dp_normal(0, 1));
    q.a = dp_sample_in(groups, "a", 1, dp_normal(0, 1));
    q.b = dp_sample_in(groups, "b", 2, dp_normal(0, 1));
    q.x = dp_data(rows, "x", 3);
    q.g = dp_index(rows, "g", groups);
    q.words = dp_indices(rows, "words", 3, groups);
    assert_int_equal(dp_model_status(q.m), DP_OK);
    return q;
}

static void set(dpi_run *run, dp_expr e, const double *values, size_t n)
{
    double *value = dpi_run_value(run, e.id);
    if (value != NULL)
        memcpy(value, values, n * sizeof *values);
}

/* The expression has these n numbers (for both records one after the other, when it is per-record). */
static void assert_value(const scene *q, dp_expr e, size_t n, const double *wanted)
{
    dp_error err = {0};
    dpi_run *run;
    assert_ok(dp_model_status(q->m), dp_model_error(q->m));
    assert_ptr_equal(e.model, q->m);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 3, x_is[0]);
    dp_dataset_index(data, "g", g_is);
    dp_dataset_indices(data, "words", 3, words_are[0]);
    dpi_run_spec spec = {
        .graph = &q->m->graph, .wanted = &e.id, .n_wanted = 1, .data = data, .chunk = N};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    set(run, q->s, s_is, 1);
    set(run, q->v, v_is, 3);
    set(run, q->W, W_is, 6);
    set(run, q->one, one_is, 1);
    set(run, q->a, v_is, 3);
    set(run, q->b, b_is, 6);
    dpi_run_globals(run);
    dpi_run_records(run, N, NULL, 0);
    const dpi_shape *shape = &dpi_get(&q->m->graph, e.id)->shape;
    assert_int_equal(dpi_shape_size(shape) * (shape->per_record ? N : 1), n);
    for (size_t i = 0; i < n; i++)
        assert_close(dpi_run_value(run, e.id)[i], wanted[i], 4e-16, 0);
    dpi_run_free(run);
    dp_dataset_free(data);
}

static void assert_dims(dp_expr e, const char *text)
{
    char buffer[DPI_SHAPE_TEXT];
    assert_string_equal(dpi_shape_text(&dpi_get(&e.model->graph, e.id)->shape, buffer), text);
}

/* ---- elementwise ---- */

static double plus(double a, double b)
{
    return a + b;
}
static double minus(double a, double b)
{
    return a - b;
}
static double times(double a, double b)
{
    return a * b;
}
static double over(double a, double b)
{
    return a / b;
}

static const struct {
    dp_expr (*call)(dp_expr, dp_expr);
    double (*is)(double, double);
} binaries[] = {{dp_add, plus}, {dp_sub, minus}, {dp_mul, times}, {dp_div, over}};

static void arithmetic_repeats_smaller_operands(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
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

static double negative(double a)
{
    return -a;
}
static double squared(double a)
{
    return a * a;
}
static double logistic(double a)
{
    return 1 / (1 + exp(-a));
}
static double softplus(double a)
{
    return log1p(exp(a));
}

static const struct {
    dp_expr (*call)(dp_expr);
    double (*is)(double);
} unaries[] = {{dp_neg, negative},      {dp_exp, exp},          {dp_log, log},   {dp_log1p, log1p},
               {dp_sqrt, sqrt},         {dp_square, squared},   {dp_tanh, tanh}, {dp_abs, fabs},
               {dp_logistic, logistic}, {dp_softplus, softplus}};

/* Of squares, which logarithms and roots can take, for numbers, globals and records; and with its sign
 * where it matters. */
static void functions_work_on_each_number(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof unaries / sizeof unaries[0]; k++) {
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

static void sums_are_over_dimensions_not_over_records(void **state)
{
    (void)state;
    scene q = begin();
    const double v = 0.385 - 1.25 + 2.5, W = 2, x[N] = {2, 1.5}, s = 1.7;
    assert_value(&q, dp_sum(q.v), 1, &v);
    assert_value(&q, dp_sum(q.W), 1, &W);
    assert_value(&q, dp_sum(q.x), N, x);
    assert_value(&q, dp_sum(q.s), 1, &s);
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

/* ---- what does not fit ---- */

static dp_expr slice_over_end(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_slice(a, 2, 2);
}
static dp_expr slice_of_none(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_slice(a, 0, 0);
}
static dp_expr slice_far(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_slice(a, SIZE_MAX, 2);
}
static dp_expr log_sum_exp(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_log_sum_exp(a);
}
static dp_expr pick_from_four(dp_expr a, dp_expr g)
{
    return dp_pick(dp_concat(a, dp_num(1)), g);
}
static dp_expr empty_constant(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_constant(a.model, 0, v_is);
}
static dp_expr empty_matrix(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_constant_matrix(a.model, 2, 0, v_is);
}

enum { S, V, W, ONE, A, B, X, G };

static const struct {
    dp_expr (*call)(dp_expr, dp_expr);
    int left, right;
    const char *says;
} misfits[] = {
    {dp_add, V, B,
     "left 'v' is [3], right 'b' is [3][2]; the shapes must be equal, or the smaller"},
    {dp_sub, B, X, "a value per group meets records by dp_pick(value, index)"},
    {dp_mul, W, B, "the shapes must be equal"},
    {dp_div, X, B, "right 'b' is [3][2]"},
    {dp_dot, W, V, "dp_dot takes two vectors; use dp_matmul"},
    {dp_dot, V, S, "a product takes vectors and matrices"},
    {dp_dot, V, ONE, "the last size on the left must equal the first size on the right"},
    {dp_matmul, V, W, "the last size on the left must equal the first size on the right"},
    {dp_matmul, S, V, "a product takes vectors and matrices"},
    {log_sum_exp, S, S, "log_sum_exp takes a vector"},
    {dp_pick, W, G, "takes a value of each group and a column of dp_index over the same plate"},
    {pick_from_four, V, G, "the value is [4], the index has 3 groups"},
    {dp_pick, S, G, "the value is a number, the index has 3 groups"},
    {dp_pick, A, S, "declare it with dp_index or dp_indices over the plate of the value"},
    {slice_over_end, V, S, "the slice must lie inside the first dimension"},
    {slice_of_none, V, S, "the slice must lie inside the first dimension"},
    {slice_far, V, S, "the slice must lie inside the first dimension"},
    {slice_over_end, S, S, "the slice must lie inside the first dimension"},
    {dp_concat, V, W, "dp_concat takes two vectors"},
    {dp_concat, B, S, "dp_concat takes two vectors"},
    {empty_constant, S, S, "n is at least 1"},
    {empty_matrix, S, S, "rows and columns are at least 1"},
};

static void misfits_are_told_with_a_remedy(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof misfits / sizeof misfits[0]; k++) {
        scene q = begin();
        const dp_expr of[] = {q.s, q.v, q.W, q.one, q.a, q.b, q.x, q.g};
        dp_expr result = misfits[k].call(of[misfits[k].left], of[misfits[k].right]);
        assert_int_equal(result.id, DPI_NONE);
        assert_ptr_equal(result.model, q.m);
        assert_int_equal(dp_model_status(q.m), DP_ESHAPE);
        assert_contains(dp_model_error(q.m), misfits[k].says);
        dp_model_free(q.m);
    }
}

/* A failed expression may be handed on through every call; nothing is computed, the first error
 * stays. */
static void failed_expressions_pass_through(void **state)
{
    (void)state;
    scene q = begin();
    dp_expr bad = dp_add(q.v, q.b);
    char first[512];
    (void)snprintf(first, sizeof first, "%s", dp_model_error(q.m));
    const dp_expr after[] = {
        dp_sum(bad),         dp_dot(bad, q.v),          dp_dot(q.v, bad),
        dp_matmul(bad, bad), dp_log_sum_exp(bad),       dp_pick(bad, q.g),
        dp_pick(q.a, bad),   dp_slice(bad, 0, 1),       dp_concat(bad, q.v),
        dp_concat(q.v, bad), dp_scale(2, bad),          dp_constant(q.m, 3, v_is),
        dp_concat(q.v, q.s), dp_constant(q.m, 0, v_is), dp_constant_matrix(q.m, 2, 3, W_is)};
    for (size_t k = 0; k < sizeof after / sizeof after[0]; k++)
        assert_int_equal(after[k].id, DPI_NONE);
    for (size_t k = 0; k < sizeof unaries / sizeof unaries[0]; k++)
        assert_int_equal(unaries[k].call(bad).id, DPI_NONE);
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(binaries[k].call(dp_num(1), bad).id, DPI_NONE);
    assert_string_equal(dp_model_error(q.m), first);
    dp_model_free(q.m);
}

static void of_two_models(dp_expr (*call)(dp_expr, dp_expr))
{
    scene q = begin(), r = begin();
    dp_expr far = dp_exp(dp_square(r.v)); /* a node of a number that the other model has not */
    assert_int_equal(call(q.v, far).id, DPI_NONE);
    assert_int_equal(dp_model_status(q.m), DP_EINVAL);
    assert_contains(dp_model_error(q.m), "expressions belong to the model that made them");
    dp_model_free(q.m);
    dp_model_free(r.m);
}

static void operands_belong_to_one_model(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++)
        of_two_models(binaries[k].call);
    of_two_models(dp_dot);
    of_two_models(dp_matmul);
    of_two_models(dp_concat);
    of_two_models(dp_pick);
}

/* ---- broken contracts ---- */

static void dot_of_numbers(void)
{
    (void)dp_dot(dp_num(1), dp_num(2));
}
static void matmul_of_numbers(void)
{
    (void)dp_matmul(dp_num(1), dp_num(2));
}
static void log_sum_exp_of_a_number(void)
{
    (void)dp_log_sum_exp(dp_num(1));
}
static void pick_of_numbers(void)
{
    (void)dp_pick(dp_num(1), dp_num(2));
}
static void slice_of_a_number(void)
{
    (void)dp_slice(dp_num(1), 0, 1);
}
static void concat_of_numbers(void)
{
    (void)dp_concat(dp_num(1), dp_num(2));
}

static void plain_numbers_where_a_model_is_needed_are_misuse(void **state)
{
    (void)state;
    void (*const misuses[])(void) = {dot_of_numbers,  matmul_of_numbers, log_sum_exp_of_a_number,
                                     pick_of_numbers, slice_of_a_number, concat_of_numbers};
    for (size_t k = 0; k < sizeof misuses / sizeof misuses[0]; k++) {
        pid_t child = fork();
        if (child == 0) {
            (void)signal(SIGABRT, SIG_DFL);
            (void)close(2);
            misuses[k]();
            _exit(0);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_repeats_smaller_operands),
        cmocka_unit_test(functions_work_on_each_number),
        cmocka_unit_test(sums_are_over_dimensions_not_over_records),
        cmocka_unit_test(products_are_those_of_matrices),
        cmocka_unit_test(a_pick_is_the_row_of_the_records_group),
        cmocka_unit_test(slices_and_joins_keep_their_order),
        cmocka_unit_test(constants_are_copied),
        cmocka_unit_test(misfits_are_told_with_a_remedy),
        cmocka_unit_test(failed_expressions_pass_through),
        cmocka_unit_test(operands_belong_to_one_model),
        cmocka_unit_test(plain_numbers_where_a_model_is_needed_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
