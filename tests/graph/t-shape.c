/* Shapes, the broadcasting rule, and the refusal of every operation that can refuse. */
#include "graph/shape.h"

#include <stdio.h>
#include <string.h>

#include "tests/graph/points.h"
#include "tests/lib/check.h"

static void assert_equal(const dpi_shape *a, const dpi_shape *b)
{
    assert_true(dpi_shape_same(a, b));
    assert_int_equal(a->per_record, b->per_record);
    assert_memory_equal(a->plate, b->plate, sizeof a->plate);
}

static void writes_shapes_in_words(void **state)
{
    (void)state;
    char text[DPI_SHAPE_TEXT];
    const char *cases[][2] = {{"", "a number"},
                              {"*", "a number, one per record"},
                              {"3", "[3]"},
                              {"*3x5", "[3][5], one per record"}};
    for (size_t i = 0; i < 4; i++) {
        dpi_shape shape = point_shape(cases[i][0]);
        assert_string_equal(dpi_shape_text(&shape, text), cases[i][1]);
    }
    dpi_shape huge = {.per_record = true, .n_dims = 4};
    for (int i = 0; i < 4; i++)
        huge.dim[i] = SIZE_MAX;
    assert_true(strlen(dpi_shape_text(&huge, text)) < DPI_SHAPE_TEXT);
    assert_true(dpi_shape_size(&huge) == SIZE_MAX);
}

static void vectors_of_one_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(dpi_vector(1, true).n_dims, 0);
    assert_true(dpi_vector(1, true).per_record);
    assert_int_equal(dpi_vector(2, false).n_dims, 1);
}

static void dimensions_are_put_in_front_and_taken_away(void **state)
{
    (void)state;
    dpi_shape shape = point_shape("*3");
    assert_true(dpi_shape_prepend(&shape, 5, 2));
    assert_true(shape.n_dims == 2 && shape.dim[0] == 5 && shape.dim[1] == 3);
    assert_true(shape.plate[0] == 2 && shape.plate[1] == 0);
    dpi_shape dropped = dpi_shape_drop_first(shape), was = point_shape("*3");
    assert_equal(&dropped, &was);
    assert_true(dpi_shape_prepend(&shape, 2, 0) && dpi_shape_prepend(&shape, 2, 0));
    assert_false(dpi_shape_prepend(&shape, 2, 0));
    assert_int_equal(shape.n_dims, DPI_MAX_DIMS);
}

static void joins_when_one_ends_the_other(void **state)
{
    (void)state;
    static const char *const fits[][3] = {
        {"", "", ""},          {"", "3", "3"},
        {"*", "3", "*3"},      {"3", "2x3", "2x3"},
        {"*3", "3", "*3"},     {"*3", "2x3", "*2x3"},
        {"2x3", "2x3", "2x3"}, {"*2x3", "*", "*2x3"},
        {"3", "*3", "*3"},     {"4x2x3", "2x3", "4x2x3"},
    };
    static const char *const misfits[][2] = {
        {"2", "3"}, {"2", "2x3"}, {"1", "3"}, {"2x3", "3x2"}, {"3x2x3", "2x2"}};
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++)
        for (int turn = 0; turn < 2; turn++) {
            dpi_shape a = point_shape(fits[i][turn]), b = point_shape(fits[i][1 - turn]), joined;
            dpi_shape expected = point_shape(fits[i][2]);
            assert_true(dpi_shape_join(&a, &b, &joined));
            assert_equal(&joined, &expected);
        }
    for (size_t i = 0; i < sizeof misfits / sizeof misfits[0]; i++)
        for (int turn = 0; turn < 2; turn++) {
            dpi_shape a = point_shape(misfits[i][turn]), b = point_shape(misfits[i][1 - turn]),
                      joined;
            assert_false(dpi_shape_join(&a, &b, &joined));
        }
}

static void plates_join_when_equal_or_unnamed(void **state)
{
    (void)state;
    dpi_shape a = point_shape("3"), b = point_shape("2x3"), joined;
    a.plate[0] = 7;
    assert_true(dpi_shape_join(&a, &b, &joined) && joined.plate[1] == 7 && joined.plate[0] == 0);
    b.plate[1] = 7;
    assert_true(dpi_shape_join(&a, &b, &joined) && joined.plate[1] == 7);
    b.plate[1] = 8;
    assert_false(dpi_shape_join(&a, &b, &joined));
    assert_false(dpi_shape_join(&b, &a, &joined));
}

typedef struct misfit {
    const dpi_op *op;
    const char *a, *b;
    dpi_attr attr;
    const char *to, *says;
} misfit;

/* clang-format off */
static const misfit misfits[] = {
    {&dpi_op_add, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_sub, "2x3", "2", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_mul, "4", "*3", {.value = 0}, NULL,
        "the last dimensions of the larger; a value per group meets records by dp_pick"},
    {&dpi_op_div, "*4", "3", {.value = 0}, NULL, "dp_pick"},
    {&dpi_op_pool_sum, "7", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "height times width pixels"},
    {&dpi_op_pool_sum, "6", NULL, {.window = {{2, 3}, {3, 2}, {1, 1}, {0, 0}}}, NULL,
        "fit in its image"},
    {&dpi_op_pool_sum, "16", NULL, {.window = {{4, 4}, {0xfffffffd, 0xfffffffd}, {1, 1},
        {0xfffffffc, 0xfffffffc}}}, NULL, "more stops than can be counted"},
    {&dpi_op_pool_max, "16", "16", {.window = {{4, 4}, {0xfffffffd, 0xfffffffd}, {1, 1},
        {0xfffffffc, 0xfffffffc}}}, NULL, "more stops than can be counted"},
    {&dpi_op_unpool_sum, "3x1", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, "6",
        "each stop of the window and channel"},
    {&dpi_op_unpool_sum, "2x1", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, "7",
        "height times width pixels"},
    {&dpi_op_pool_max, "6", "6x1", {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "the same dimensions"},
    {&dpi_op_pool_max, "6", "6", {.window = {{2, 3}, {2, 2}, {0, 1}, {0, 0}}}, NULL, "at least 1"},
    {&dpi_op_unpool_max, "6", "3x1", {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "each stop of the window and channel"},
    {&dpi_op_unpool_max, "7", "2x1", {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "height times width pixels"},
    {&dpi_op_max, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_keep, "2", "3", {.number = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_keep, "2", "2", {.number = 2}, NULL, "where a condition is not 0"},
    {&dpi_op_rising, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_log_gamma_tail, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_log_skew_tail, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_log_beta_tail, "3x2", NULL, {.value = 0}, NULL, "must hold three numbers"},
    {&dpi_op_log_beta_tail, "*", NULL, {.value = 0}, NULL, "must hold three numbers"},
    {&dpi_op_log_student_tail, "2", "3", {.value = 0}, NULL, "the last dimensions of the larger"},
    {&dpi_op_step, "*4", "3", {.value = 0}, NULL, "dp_pick"},
    {&dpi_op_group_mean, "", NULL, {.rows = 1, .number = 1}, NULL, "whole number of groups"},
    {&dpi_op_group_mean, "2x6", NULL, {.rows = 1, .number = 4}, NULL, "whole number of groups"},
    {&dpi_op_group_mean, "2x6", NULL, {.rows = 1, .number = 0}, NULL, "whole number of groups"},
    {&dpi_op_group_mean, "4x6", NULL, {.rows = 3, .number = 1}, NULL,
        "divide the leading dimensions"},
    {&dpi_op_group_mean, "4x6", NULL, {.rows = 0, .number = 1}, NULL,
        "divide the leading dimensions"},
    {&dpi_op_sum_to, "2x3", NULL, {.value = 0}, "2", "summed to that shape"},
    {&dpi_op_sum_to, "3", NULL, {.value = 0}, "2x3", "summed to that shape"},
    {&dpi_op_expand, "2x3", NULL, {.value = 0}, "3", "repeated to that shape"},
    {&dpi_op_expand, "2", NULL, {.value = 0}, "2x3", "repeated to that shape"},
    {&dpi_op_log_sum_exp, "", NULL, {.value = 0}, NULL, "takes a vector"},
    {&dpi_op_sum_last, "*", NULL, {.value = 0}, NULL, "needs one"},
    {&dpi_op_contrast, "*", NULL, {.value = 0}, NULL, "two numbers or more"},
    {&dpi_op_contrast, "3x1", NULL, {.transpose = {true}}, NULL, "two numbers or more"},
    {&dpi_op_spread, "2x2x2x3", NULL, {.number = 2}, NULL, "one more dimension"},
    {&dpi_op_spread, "2", NULL, {.number = 0}, NULL, "one more dimension"},
    {&dpi_op_sum_records, "3", NULL, {.value = 0}, NULL, "of each record"},
    {&dpi_op_matmul, "", "3", {.value = 0}, NULL, "vectors and matrices"},
    {&dpi_op_matmul, "3", "2x2x3", {.value = 0}, NULL, "vectors and matrices"},
    {&dpi_op_matmul, "2x3", "2", {.value = 0}, NULL, "last size on the left"},
    {&dpi_op_matmul, "2x3", "3x4", {.transpose = {true, false}}, NULL, "last size on the left"},
    {&dpi_op_matmul, "2x3", "3x4", {.transpose = {false, true}}, NULL, "last size on the left"},
    {&dpi_op_outer, "", "3", {.value = 0}, NULL, "two vectors"},
    {&dpi_op_outer, "3", "2x3", {.value = 0}, NULL, "two vectors"},
    {&dpi_op_cholesky, "3", NULL, {.value = 0}, NULL, "of a square matrix"},
    {&dpi_op_cholesky, "2x3", NULL, {.value = 0}, NULL, "of a square matrix"},
    {&dpi_op_triangular_solve, "2x3", "2", {.value = 0}, NULL, "a square matrix on the left"},
    {&dpi_op_triangular_solve, "3x3", "2x3", {.value = 0}, NULL, "as many rows on the right"},
    {&dpi_op_triangular_solve, "3x3", "", {.value = 0}, NULL, "as many rows on the right"},
    {&dpi_op_triangular_solve, "3x3", "3x2x2", {.value = 0}, NULL, "as many rows on the right"},
    {&dpi_op_lower, "2x3", NULL, {.value = 1}, NULL, "of a square matrix"},
    {&dpi_op_transpose, "3", NULL, {.value = 0}, NULL, "of a matrix"},
    {&dpi_op_diagonal, "2x3", NULL, {.value = 0}, NULL, "of a square matrix"},
    {&dpi_op_diagonal_matrix, "2x2", NULL, {.value = 0}, NULL, "of a vector"},
    {&dpi_op_pick, "", "*", {.value = 0}, NULL, "a value per group and a group number"},
    {&dpi_op_pick, "4", "*2x3", {.value = 0}, NULL, "or a vector of them"},
    {&dpi_op_scatter, "4", "*2", {.number = 3}, NULL, "as many of both"},
    {&dpi_op_scatter, "", "*2", {.number = 3}, NULL, "as many of both"},
    {&dpi_op_scatter, "4", "*2x2", {.number = 3}, NULL, "as many of both"},
    {&dpi_op_scatter, "2x2x2x2", "*", {.number = 3}, NULL, "as many of both"},
    {&dpi_op_slice, "", NULL, {.rows = 1}, NULL, "inside the first dimension"},
    {&dpi_op_slice, "4", NULL, {.rows = 0}, NULL, "inside the first dimension"},
    {&dpi_op_slice, "4", NULL, {.number = 3, .rows = 2}, NULL, "inside the first dimension"},
    {&dpi_op_slice, "4", NULL, {.number = SIZE_MAX, .rows = 2}, NULL, "inside the first dimension"},
    {&dpi_op_pad, "3", NULL, {.inner = 3}, "2", "fit in the padded shape"},
    {&dpi_op_pad, "3", NULL, {.number = 2, .inner = 3}, "4", "fit in the padded shape"},
    {&dpi_op_pad, "3", NULL, {.inner = 2}, "4", "fit in the padded shape"},
    {&dpi_op_pad, "", NULL, {.inner = 1}, "", "fit in the padded shape"},
    {&dpi_op_pad, "2x3", NULL, {.inner = 2}, "4x2", "fit in the padded shape"},
    {&dpi_op_pad, "4x3", NULL, {.inner = 2}, "4x2x3", "fit in the padded shape"},
    {&dpi_op_pad, "1x3", NULL, {.inner = 1}, "4x3", "fit in the padded shape"},
    {&dpi_op_reshape, "2x3", NULL, {.value = 0}, "5", "as many numbers"},
    {&dpi_op_reshape, "", NULL, {.value = 0}, "2", "as many numbers"},
    {&dpi_op_patches, "7", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "height times width pixels"},
    {&dpi_op_patches, "3x2", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "height times width pixels"},
    {&dpi_op_patches, "6x2x1", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "height times width pixels"},
    {&dpi_op_patches, "6", NULL, {.window = {{2, 3}, {3, 2}, {1, 1}, {0, 0}}}, NULL,
        "fit in its image"},
    {&dpi_op_patches, "6", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 2}}}, NULL,
        "less than the window"},
    {&dpi_op_patches, "6", NULL, {.window = {{2, 3}, {2, 2}, {0, 1}, {0, 0}}}, NULL, "at least 1"},
    {&dpi_op_patches, "6", NULL, {.window = {{2, 3}, {2, 0}, {1, 1}, {0, 0}}}, NULL, "at least 1"},
    {&dpi_op_patches, "6", NULL, {.window = {{2, SIZE_MAX / 2}, {2, 2}, {1, 1}, {0, 0}}}, NULL,
        "fit in its image"},
    {&dpi_op_patches, "1", NULL, {.window = {{SIZE_MAX / 4, SIZE_MAX / 4}, {1, 1}, {1, 1}, {0,
        0}}}, NULL, "height times"},
    {&dpi_op_fold, "2x5", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, "6",
        "of an image of that size"},
    {&dpi_op_fold, "3x4", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, "6",
        "of an image of that size"},
    {&dpi_op_fold, "2x4", NULL, {.window = {{2, 3}, {2, 2}, {1, 0}, {0, 0}}}, "6", "at least 1"},
    {&dpi_op_fold, "2x4", NULL, {.window = {{2, 3}, {2, 2}, {1, 1}, {0, 0}}}, "7",
        "of an image of that size"},
};
/* clang-format on */

static void misfits_are_refused_in_the_users_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof misfits / sizeof misfits[0]; i++) {
        const misfit *m = &misfits[i];
        char text[DPI_SHAPE_TEXT], part[160];
        world w;
        world_new(&w);
        w.g.where = (dpi_where){"model.c", 17};
        dpi_shape shape = point_shape(m->a);
        dpi_id a = world_input(&w, "alpha", shape, 0, 1), b = DPI_NONE;
        if (m->b != NULL)
            b = world_input(&w, "beta", point_shape(m->b), 0, 1);
        dpi_attr attr = m->attr;
        if (m->to != NULL)
            attr.shape = point_shape(m->to);
        size_t n_nodes = w.g.n_nodes;
        assert_int_equal(dpi_apply(&w.g, m->op, a, b, &attr), DPI_NONE);
        assert_int_equal(w.err.status, DP_ESHAPE);
        assert_int_equal(w.g.n_nodes, n_nodes);
        (void)snprintf(part, sizeof part,
                       "after model.c:17: %s: ", m->op->call != NULL ? m->op->call : m->op->name);
        assert_contains(w.err.text, part);
        assert_contains(w.err.text, m->says);
        (void)snprintf(part, sizeof part, "'alpha' is %s", dpi_shape_text(&shape, text));
        assert_contains(w.err.text, part);
        if (m->b != NULL) {
            shape = point_shape(m->b);
            (void)snprintf(part, sizeof part, "'beta' is %s", dpi_shape_text(&shape, text));
            assert_contains(w.err.text, part);
        }
        world_free(&w);
    }
}

/* A column's numbers are checked against its range, so its range is checked against the array. */
static void group_numbers_stay_inside_the_array(void **state)
{
    (void)state;
    const dpi_op *ops[] = {&dpi_op_pick, &dpi_op_scatter};
    for (size_t i = 0; i < 2; i++)
        for (size_t groups = 3; groups <= 5; groups++)
            for (int real = 0; real < 2; real++) {
                world w;
                world_new(&w);
                dpi_id a = world_input(&w, "a", point_shape("4"), 0, 1);
                dpi_attr attr = {.shape = dpi_scalar(true), .number = groups};
                dpi_id g = dpi_source(&w.g, real ? &dpi_op_data : &dpi_op_index, "g", attr);
                bool fits = groups <= 4 && !real;
                dpi_id y = dpi_apply(&w.g, ops[i], a, g, &(dpi_attr){.number = 4});
                assert_int_equal(y != DPI_NONE, fits);
                assert_int_equal(w.err.status, fits ? DP_OK : DP_ESHAPE);
                if (!fits)
                    assert_contains(w.err.text,
                                    real ? "from an index column" : "more groups than the value");
                world_free(&w);
            }
}

/* Elementwise operations of one input take every shape; all others must be among the misfits. */
static void every_operation_that_can_refuse_is_tried(void **state)
{
    (void)state;
    const char *shapes[] = {"", "3", "2x3", "2x2x2x2", "*", "*3"};
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        const dpi_op *op = dpi_ops[i];
        bool listed = op->n_inputs == 0;
        for (size_t k = 0; k < sizeof misfits / sizeof misfits[0]; k++)
            listed = listed || misfits[k].op == op;
        for (size_t k = 0; k < 6 && !listed; k++) {
            dpi_shape a = point_shape(shapes[k]), shape;
            assert_int_equal(op->n_inputs, 1);
            assert_null(op->shape(&a, NULL, &(dpi_attr){.value = 0}, &shape));
            assert_equal(&a, &shape);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_shapes_in_words),
        cmocka_unit_test(vectors_of_one_are_numbers),
        cmocka_unit_test(dimensions_are_put_in_front_and_taken_away),
        cmocka_unit_test(joins_when_one_ends_the_other),
        cmocka_unit_test(plates_join_when_equal_or_unnamed),
        cmocka_unit_test(misfits_are_refused_in_the_users_words),
        cmocka_unit_test(group_numbers_stay_inside_the_array),
        cmocka_unit_test(every_operation_that_can_refuse_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
