/* Linear algebra on expressions: known values, what undoes what, and what is refused. */
#include <tacit/algebra.h>

#include <math.h>

#include "model/model.h"
#include "tests/lib/check.h"
#include "tests/model/operands.h"

/* A = L L' with whole numbers, and its upper triangle, which nobody reads, as another number. */
static const double L_is[9] = {2, 0, 0, -1, 3, 0, 4, 1, 5},
                    A_is[9] = {4, 77, 77, -2, 10, 77, 8, -1, 42};

static dp_expr matrix(const scene *q, const double *values)
{
    return dp_constant_matrix(q->m, 3, 3, values);
}

/* The same for each record: the constant plus 0 times a number of the record. */
static dp_expr of_records(const scene *q, const double *values)
{
    return dp_add(matrix(q, values), dp_mul(dp_num(0), dp_slice(q->x, 0, 1)));
}

static void assert_both(const scene *q, dp_expr global, dp_expr of_each, size_t n,
                        const double *wanted)
{
    double twice[2 * 9];
    for (size_t i = 0; i < 2 * n; i++)
        twice[i] = wanted[i % n];
    assert_value_within(q, global, n, wanted, 1e-15);
    assert_value_within(q, of_each, 2 * n, twice, 1e-15);
}

static void numbers_are_moved_as_they_are(void **state)
{
    (void)state;
    scene q = begin();
    const double turned[6] = {1, 3, -2, 0.25, 0.5, -0.75}, diagonal[3] = {2, 3, 5},
                 matrix_of_v[9] = {0.385, 0, 0, 0, -1.25, 0, 0, 0, 2.5}, eye[4] = {1, 0, 0, 1},
                 one[1] = {1}, product[9] = {0.385 * 0.385, 0.385 * -1.25, 0.385 * 2.5,
                                             0.385 * -1.25, 1.25 * 1.25,   -1.25 * 2.5,
                                             0.385 * 2.5,   -1.25 * 2.5,   2.5 * 2.5};
    assert_value(&q, dp_transpose(q.W), 6, turned);
    assert_dims(dp_transpose(q.W), "[3][2]");
    assert_int_equal(dp_transpose(dp_transpose(q.W)).id, q.W.id);
    assert_both(&q, dp_diagonal(matrix(&q, L_is)), dp_diagonal(of_records(&q, L_is)), 3, diagonal);
    assert_value(&q, dp_diagonal_matrix(q.v), 9, matrix_of_v);
    assert_int_equal(dp_diagonal(dp_diagonal_matrix(q.v)).id, q.v.id);
    assert_value(&q, dp_outer(q.v, q.v), 9, product);
    assert_value(&q, dp_identity_matrix(q.m, 2), 4, eye);
    assert_value(&q, dp_identity_matrix(q.m, 1), 1, one);
    assert_dims(dp_identity_matrix(q.m, 1), "[1][1]");
    dp_model_free(q.m);
}

static void factors_are_those_of_the_lower_triangle(void **state)
{
    (void)state;
    scene q = begin();
    dp_expr L = dp_cholesky(matrix(&q, A_is)), of_each = dp_cholesky(of_records(&q, A_is));
    const double log_det = 2 * log(2. * 3 * 5);
    assert_both(&q, L, of_each, 9, L_is);
    assert_both(&q, dp_cholesky_log_det(L), dp_cholesky_log_det(of_each), 1, &log_det);
    dp_model_free(q.m);
}

/* With x = (1, -2, 0.5): L x = (2, -7, 4.5), L' x = (6, -5.5, 2.5), A x = L (L' x). */
static void triangular_systems_are_solved_both_ways(void **state)
{
    (void)state;
    scene q = begin();
    const double x[3] = {1, -2, 0.5}, Lx[3] = {2, -7, 4.5}, turned[3] = {6, -5.5, 2.5},
                 Ax[3] = {12, -22.5, 31};
    /* Beside x the second column is twice x. */
    const double two[6] = {1, 2, -2, -4, 0.5, 1}, Ltwo[6] = {2, 4, -7, -14, 4.5, 9};
    dp_expr L = matrix(&q, L_is), of_each = of_records(&q, L_is), b = dp_constant(q.m, 3, Lx);
    assert_both(&q, dp_solve_lower(L, b), dp_solve_lower(of_each, b), 3, x);
    b = dp_constant(q.m, 3, turned);
    assert_both(&q, dp_solve_lower_transposed(L, b), dp_solve_lower_transposed(of_each, b), 3, x);
    b = dp_constant(q.m, 3, Ax);
    assert_both(&q, dp_cholesky_solve(L, b), dp_cholesky_solve(of_each, b), 3, x);
    b = dp_constant_matrix(q.m, 3, 2, Ltwo);
    assert_both(&q, dp_solve_lower(L, b), dp_solve_lower(of_each, b), 6, two);
    /* A global factor and numbers of each record. */
    const double of_x[6] = {0.5,  2.5 / 3,   (-1 - 2 - 2.5 / 3) / 5,
                            0.25, -2.75 / 3, (4 - 1 + 2.75 / 3) / 5};
    assert_value_within(&q, dp_solve_lower(L, q.x), 6, of_x, 1e-15);
    dp_model_free(q.m);
}

/* NaN everywhere, so that no number of it is used by mistake. */
static void what_is_not_positive_definite_has_no_factor(void **state)
{
    (void)state;
    static const double none[][9] = {{4, 0, 0, 2, 1, 0, 0, 0, 1},
                                     {-1, 0, 0, 0, 1, 0, 0, 0, 1},
                                     {1, 0, 0, 0, 1, 0, 0, 3, 2},
                                     {1, 0, 0, NAN, 1, 0, 0, 0, 1},
                                     {INFINITY, 0, 0, 0, 1, 0, 0, 0, 1}};
    const double all[9] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        scene q = begin();
        assert_both(&q, dp_cholesky(matrix(&q, none[k])), dp_cholesky(of_records(&q, none[k])), 9,
                    all);
        dp_model_free(q.m);
    }
}

static dp_expr solve(dp_expr a, dp_expr b)
{
    return dp_solve_lower(a, b);
}
static dp_expr factor(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_cholesky(a);
}
static dp_expr turn(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_transpose(a);
}
static dp_expr diagonal(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_diagonal(a);
}
static dp_expr diagonal_matrix(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_diagonal_matrix(a);
}
static dp_expr no_identity(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_identity_matrix(a.model, 0);
}

static void misfits_are_told_and_passed_on(void **state)
{
    (void)state;
    static const struct {
        dp_expr (*call)(dp_expr, dp_expr);
        const char *says;
    } misfits[] = {{solve, "'W' is [2][3], right 'v' is [3]; a triangular system takes a square"},
                   {factor, "'W' is [2][3]; a Cholesky factor is that of a square matrix"},
                   {diagonal, "a diagonal is that of a square matrix"},
                   {diagonal_matrix, "a diagonal matrix is made of a vector"},
                   {dp_outer, "an outer product takes two vectors"},
                   {no_identity, "dp_identity_matrix: n is at least 1"}};
    for (size_t k = 0; k < sizeof misfits / sizeof misfits[0]; k++) {
        scene q = begin();
        assert_int_equal(misfits[k].call(q.W, q.v).id, DPI_NONE);
        assert_int_equal(dp_model_status(q.m), DP_ESHAPE);
        assert_contains(dp_model_error(q.m), misfits[k].says);
        assert_int_equal(dp_cholesky_log_det(dp_cholesky(q.W)).id, DPI_NONE);
        assert_contains(dp_model_error(q.m), misfits[k].says);
        dp_model_free(q.m);
    }
    scene q = begin();
    assert_int_equal(turn(q.v, q.v).id, DPI_NONE);
    assert_contains(dp_model_error(q.m), "a transpose is that of a matrix");
    dp_model_free(q.m);
}

static void call_with_numbers(void *which)
{
    dp_expr (*const calls[])(dp_expr, dp_expr) = {solve,    factor,          turn,
                                                  diagonal, diagonal_matrix, dp_outer};
    (void)calls[*(int *)which](dp_num(1), dp_num(2));
}

static void plain_numbers_are_misuse(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++)
        assert_aborts(call_with_numbers, &k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_moved_as_they_are),
        cmocka_unit_test(factors_are_those_of_the_lower_triangle),
        cmocka_unit_test(triangular_systems_are_solved_both_ways),
        cmocka_unit_test(what_is_not_positive_definite_has_no_factor),
        cmocka_unit_test(misfits_are_told_and_passed_on),
        cmocka_unit_test(plain_numbers_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
