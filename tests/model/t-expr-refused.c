/* What arithmetic says of operands that do not fit, and of broken contracts. */
#include <stdio.h>

#include "model/model.h"
#include "tests/lib/check.h"
#include "tests/model/operands.h"

static const double numbers[6] = {1, -2, 0.5, 3, 0.25, -0.75};

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
    return dp_constant(a.model, 0, numbers);
}
static dp_expr spread_over_none(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_spread(a, 0);
}
static dp_expr empty_matrix(dp_expr a, dp_expr b)
{
    (void)b;
    return dp_constant_matrix(a.model, 2, 0, numbers);
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
    {dp_dot, W, V, "use dp_matmul"},
    {dp_dot, V, S, "two vectors of one length"},
    {dp_dot, V, ONE, "two vectors of one length"},
    {dp_matmul, V, W, "the last size on the left must equal the first size on the right"},
    {dp_matmul, S, V, "a product takes vectors and matrices"},
    {log_sum_exp, S, S, "log_sum_exp takes a vector"},
    {dp_pick, W, G, "takes a value of each group and a column of dp_index over the same plate"},
    {pick_from_four, V, G, "the index 'g' of 3 groups"},
    {dp_pick, S, G, "the value is a number in plate (none)"},
    {dp_pick, A, S, "declare it with dp_index or dp_indices over the plate of the value"},
    {slice_over_end, V, S, "within its first dimension"},
    {slice_of_none, V, S, "within its first dimension"},
    {slice_far, V, S, "within its first dimension"},
    {slice_over_end, S, S, "within its first dimension"},
    {dp_concat, V, W, "dp_concat takes two vectors"},
    {dp_concat, B, S, "dp_concat takes two vectors"},
    {spread_over_none, V, S, "it cannot have one more dimension"},
    {empty_constant, S, S, "n is "},
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
    const dp_expr after[] = {dp_sum(bad),
                             dp_dot(bad, q.v),
                             dp_dot(q.v, bad),
                             dp_matmul(bad, bad),
                             dp_log_sum_exp(bad),
                             dp_cumulative_sum(bad),
                             dp_sum_last(bad),
                             dp_greater(q.v, bad),
                             dp_where(bad, q.v, q.v),
                             dp_where(q.v, q.v, bad),
                             dp_spread(bad, 2),
                             dp_pick(bad, q.g),
                             dp_pick(q.a, bad),
                             dp_slice(bad, 0, 1),
                             dp_concat(bad, q.v),
                             dp_concat(q.v, bad),
                             dp_scale(2, bad),
                             dp_constant(q.m, 3, numbers),
                             dp_concat(q.v, q.s),
                             dp_constant(q.m, 0, numbers),
                             dp_constant_matrix(q.m, 2, 3, numbers)};
    for (size_t k = 0; k < sizeof after / sizeof after[0]; k++)
        assert_int_equal(after[k].id, DPI_NONE);
    for (size_t k = 0; k < N_UNARIES; k++)
        assert_int_equal(unaries[k].call(bad).id, DPI_NONE);
    for (size_t k = 0; k < N_BINARIES; k++)
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
    for (size_t k = 0; k < N_BINARIES; k++)
        of_two_models(binaries[k].call);
    of_two_models(dp_dot);
    of_two_models(dp_matmul);
    of_two_models(dp_concat);
    of_two_models(dp_pick);
}

/* ---- broken contracts ---- */

static void call_with_numbers(void *which)
{
    int k = *(int *)which;
    if (k == 0)
        (void)dp_dot(dp_num(1), dp_num(2));
    if (k == 1)
        (void)dp_matmul(dp_num(1), dp_num(2));
    if (k == 2)
        (void)dp_log_sum_exp(dp_num(1));
    if (k == 3)
        (void)dp_pick(dp_num(1), dp_num(2));
    if (k == 4)
        (void)dp_slice(dp_num(1), 0, 1);
    if (k == 5)
        (void)dp_concat(dp_num(1), dp_num(2));
    if (k == 6)
        (void)dp_spread(dp_num(1), 2);
}

static void plain_numbers_where_a_model_is_needed_are_misuse(void **state)
{
    (void)state;
    for (int k = 0; k < 7; k++)
        assert_aborts(call_with_numbers, &k);
}

/* Nor are they accepted from a file, which has nodes and no calls. */
static void picks_that_are_refused_are_not_put_back(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), few = dp_plate_new(m, "few", 3),
             streets = dp_plate_new(m, "streets", 4), towns = dp_plate_new(m, "towns", 4);
    dp_expr value = dp_sample_in(streets, "value", 1, dp_normal(0, 1)),
            number[] = {dp_index(rows, "few", few), dp_index(rows, "town", towns),
                        dp_index(rows, "street", streets)};
    for (int k = 0; k < 3; k++) {
        const dpi_node pick = {.op = &dpi_op_pick, .in = {value.id, number[k].id}, .attr.rows = 4};
        assert_int_equal(dpi_put_back(&m->graph, &pick) != DPI_NONE, k == 2);
        assert_int_equal(m->err.status, k == 2 ? DP_OK : DP_EDATA);
        m->err = (dp_error){0};
    }
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misfits_are_told_with_a_remedy),
        cmocka_unit_test(failed_expressions_pass_through),
        cmocka_unit_test(operands_belong_to_one_model),
        cmocka_unit_test(plain_numbers_where_a_model_is_needed_are_misuse),
        cmocka_unit_test(picks_that_are_refused_are_not_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
