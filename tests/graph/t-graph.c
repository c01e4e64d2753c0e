#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "tests/graph/points.h"
#include "tests/lib/check.h"

static dpi_id apply(world *w, const dpi_op *op, dpi_id a, dpi_id b, dpi_attr attr)
{
    dpi_id id = dpi_apply(&w->g, op, a, b, &attr);
    assert_ok(w->err.status, w->err.text);
    return id;
}

static dpi_id input(world *w, const char *name, const char *shape)
{
    return world_input(w, name, point_shape(shape), -2.385, 2.913);
}

static double constant_of(const world *w, dpi_id id)
{
    assert_ptr_equal(dpi_get(&w->g, id)->op, &dpi_op_const);
    return dpi_get(&w->g, id)->attr.value;
}

static void numbers_are_folded(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id x = dpi_constant(g, 2.385), y = dpi_constant(g, -1.25);
    assert_close(constant_of(&w, dpi_add(g, x, y)), 2.385 - 1.25, 0, 0);
    assert_close(constant_of(&w, dpi_sub(g, x, y)), 2.385 + 1.25, 0, 0);
    assert_close(constant_of(&w, dpi_times(g, x, y)), 2.385 * -1.25, 0, 0);
    assert_close(constant_of(&w, dpi_div(g, x, y)), 2.385 / -1.25, 0, 0);
    assert_close(constant_of(&w, dpi_unary(g, &dpi_op_exp, y)), exp(-1.25), 0, 0);
    assert_close(constant_of(&w, dpi_unary(g, &dpi_op_lgamma, x)), lgamma(2.385), 1e-14, 0);
    assert_close(constant_of(&w, dpi_polygamma_node(g, 1, x)), (double)naive_polygamma(1, 2.385L),
                 1e-14, 0);
    assert_true(isnan(constant_of(&w, dpi_unary(g, &dpi_op_log, y))));
    assert_close(constant_of(&w, dpi_constant_array(g, dpi_scalar(false), &(double){7.385})), 7.385,
                 0, 0);
    world_free(&w);
}

static void records_and_arrays_are_not_folded(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id one = dpi_apply(&w.g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL);
    dpi_id per_record = dpi_scale(&w.g, 2.385, one);
    assert_true(dpi_get(&w.g, per_record)->shape.per_record);
    dpi_id array = world_constant(&w, "c", point_shape("3"), 1, 2);
    dpi_id scaled = dpi_scale(&w.g, 2, array);
    assert_int_equal(dpi_get(&w.g, scaled)->shape.dim[0], 3);
    assert_ptr_equal(dpi_get(&w.g, scaled)->op, &dpi_op_mul);
    dpi_id placed = apply(&w, &dpi_op_scatter, dpi_constant(&w.g, 2.385), dpi_constant(&w.g, 1),
                          (dpi_attr){.number = 3});
    assert_int_equal(dpi_get(&w.g, placed)->shape.dim[0], 3);
    world_free(&w);
}

/* The same operation of the same inputs is one node; whatever differs makes another. */
static void equal_nodes_are_one_node(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id a = input(&w, "a", "5"), b = input(&w, "b", "*5"), m = input(&w, "m", "5x5"),
           n = input(&w, "n", "");
    assert_int_equal(dpi_add(g, a, b), dpi_add(g, a, b));
    assert_int_not_equal(dpi_add(g, a, b), dpi_sub(g, a, b));
    assert_int_not_equal(dpi_sub(g, a, b), dpi_sub(g, b, a));
    assert_int_equal(dpi_constant(g, 2.385), dpi_constant(g, 2.385));
    assert_int_not_equal(dpi_constant(g, 0.0), dpi_constant(g, -0.0));
    assert_int_equal(dpi_constant(g, NAN), dpi_constant(g, NAN));
    assert_int_not_equal(dpi_polygamma_node(g, 1, n), dpi_polygamma_node(g, 2, n));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(
                apply(&w, &dpi_op_matmul, m, m, (dpi_attr){.transpose = {i & 1, i & 2}}),
                apply(&w, &dpi_op_matmul, m, m, (dpi_attr){.transpose = {k & 1, k & 2}}));
    assert_int_not_equal(dpi_expand(g, n, point_shape("2")), dpi_expand(g, n, point_shape("3")));
    assert_int_not_equal(dpi_sum_to(g, m, point_shape("5")), dpi_sum_to(g, m, point_shape("")));
    world_free(&w);
}

static void slices_differ_by_offset_and_length(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id a = input(&w, "a", "5x2"), seen[15];
    size_t n = 0;
    for (size_t from = 0; from < 5; from++)
        for (size_t rows = 1; rows <= 5 - from; rows++) {
            dpi_id id =
                apply(&w, &dpi_op_slice, a, DPI_NONE, (dpi_attr){.number = from, .rows = rows});
            assert_int_equal(dpi_shape_size(&dpi_get(&w.g, id)->shape), rows * 2);
            for (size_t k = 0; k < n; k++)
                assert_int_not_equal(seen[k], id);
            seen[n++] = id;
        }
    world_free(&w);
}

/* Nodes that share a place in the hash table differ by each field. */
static void many_nodes_of_one_kind_stay_apart(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id a = input(&w, "a", "1000"), m = input(&w, "m", "2x2"), before = (dpi_id)w.g.n_nodes;
    for (size_t from = 0; from < 1000; from++)
        assert_int_equal(
            apply(&w, &dpi_op_slice, a, DPI_NONE, (dpi_attr){.number = from, .rows = 1}),
            before + (dpi_id)from);
    before = (dpi_id)w.g.n_nodes;
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(dpi_add(&w.g, m, (dpi_id)(2 + i)), before + (dpi_id)i);
    world_free(&w);
}

static void plates_keep_nodes_apart(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_shape first = point_shape("3"), second = first;
    first.plate[0] = 1;
    second.plate[0] = 2;
    dpi_id n = input(&w, "n", "");
    dpi_id one = dpi_expand(&w.g, n, first), other = dpi_expand(&w.g, n, second);
    assert_int_not_equal(one, other);
    assert_int_equal(dpi_get(&w.g, one)->shape.plate[0], 1);
    assert_int_equal(dpi_get(&w.g, other)->shape.plate[0], 2);
    assert_int_equal(dpi_add(&w.g, one, other), DPI_NONE);
    assert_int_equal(w.err.status, DP_ESHAPE);
    world_free(&w);
}

static void sources_are_never_merged(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    const dpi_attr attr = {.shape = point_shape("3")};
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        if (dpi_ops[i]->n_inputs > 0 || dpi_ops[i] == &dpi_op_const || dpi_ops[i] == &dpi_op_ones)
            continue;
        assert_int_not_equal(dpi_source(&w.g, dpi_ops[i], "x", attr),
                             dpi_source(&w.g, dpi_ops[i], "x", attr));
    }
    double values[3] = {1, 2, 3};
    assert_int_not_equal(dpi_constant_array(&w.g, attr.shape, values),
                         dpi_constant_array(&w.g, attr.shape, values));
    assert_int_equal(dpi_apply(&w.g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL),
                     dpi_apply(&w.g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL));
    world_free(&w);
}

static void neutral_elements_vanish(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    const char *shapes[] = {"", "3", "*", "*2x3"};
    dpi_id zero = dpi_constant(g, 0), one = dpi_constant(g, 1);
    for (size_t i = 0; i < 4; i++) {
        dpi_id x = input(&w, "x", shapes[i]);
        assert_int_equal(dpi_add(g, x, zero), x);
        assert_int_equal(dpi_add(g, zero, x), x);
        assert_int_equal(dpi_sub(g, x, zero), x);
        assert_int_equal(dpi_times(g, x, one), x);
        assert_int_equal(dpi_times(g, one, x), x);
        assert_int_equal(dpi_div(g, x, one), x);
        assert_ptr_equal(dpi_get(g, dpi_sub(g, zero, x))->op, &dpi_op_sub);
        assert_ptr_equal(dpi_get(g, dpi_div(g, one, x))->op, &dpi_op_div);
        assert_ptr_equal(dpi_get(g, dpi_add(g, x, one))->op, &dpi_op_add);
        assert_ptr_equal(dpi_get(g, dpi_times(g, x, zero))->op, &dpi_op_mul);
    }
    world_free(&w);
}

/* 1 for each record is neutral for what is per record, and turns what is global into one value for
 * each record. */
static void ones_keep_the_record_axis(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id ones = dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL);
    const char *global[] = {"", "3", "2x3"}, *records[] = {"*", "*3", "*2x3"};
    for (size_t i = 0; i < 3; i++) {
        dpi_id x = input(&w, "x", global[i]), z = input(&w, "z", records[i]);
        assert_int_equal(dpi_times(g, ones, z), z);
        assert_int_equal(dpi_times(g, z, ones), z);
        assert_int_equal(dpi_div(g, z, ones), z);
        dpi_id both[] = {dpi_times(g, ones, x), dpi_times(g, x, ones), dpi_div(g, x, ones)};
        for (size_t k = 0; k < 3; k++) {
            assert_true(dpi_get(g, both[k])->shape.per_record);
            assert_true(dpi_shape_same(&dpi_get(g, both[k])->shape, &dpi_get(g, x)->shape));
        }
    }
    assert_int_equal(dpi_times(g, dpi_constant(g, 1), ones), ones);
    assert_int_equal(dpi_times(g, ones, ones), ones);
    world_free(&w);
}

/* A smaller operand that is not neutral by value must not be taken for it by shape. */
static void neutral_numbers_do_not_change_shapes(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    double zeros[3] = {0, 0, 0};
    dpi_id n = input(&w, "n", ""), z = dpi_constant_array(&w.g, point_shape("3"), zeros);
    dpi_id sum = dpi_add(&w.g, n, z);
    assert_int_equal(dpi_get(&w.g, sum)->shape.n_dims, 1);
    dpi_id five = dpi_constant_array(&w.g, dpi_scalar(false), &(double){5});
    assert_int_not_equal(dpi_add(&w.g, n, five), n);
    world_free(&w);
}

static void errors_stay_and_stop_the_graph(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    g->where = (dpi_where){"logit.c", 41};
    dpi_id a = input(&w, "left_one", "3"), b = input(&w, "b", "*4");
    size_t n = g->n_nodes;
    assert_int_equal(dpi_add(g, a, b), DPI_NONE);
    assert_int_equal(w.err.status, DP_ESHAPE);
    assert_contains(w.err.text, "logit.c:41");
    assert_contains(w.err.text, "'left_one' is [3]");
    assert_contains(w.err.text, "'b' is [4], one per record");
    char first[sizeof w.err.text];
    memcpy(first, w.err.text, sizeof first);
    double values[3] = {1, 2, 3};
    dpi_id adjoint = 5;
    assert_int_equal(dpi_add(g, a, a), DPI_NONE);
    assert_int_equal(dpi_constant(g, 1), DPI_NONE);
    assert_int_equal(dpi_constant_array(g, point_shape("3"), values), DPI_NONE);
    assert_int_equal(dpi_source(g, &dpi_op_input, "x", (dpi_attr){.value = 0}), DPI_NONE);
    assert_int_equal(dpi_gradient(g, a, 1, &a, &adjoint), DP_ESHAPE);
    assert_int_equal(adjoint, DPI_NONE);
    assert_string_equal(first, w.err.text);
    assert_int_equal(g->n_nodes, n);
    world_free(&w);
}

static void large_graphs_reuse_nodes(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", "*"), ids[1000];
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 1000; i++) {
            dpi_id id = dpi_scale(&w.g, 1.5 + (double)i, x);
            if (round == 0)
                ids[i] = id;
            assert_int_equal(ids[i], id);
        }
    assert_int_equal(w.g.n_nodes, 2001);
    world_free(&w);
}

static void nodes_remember_where_they_come_from(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    w.g.where = (dpi_where){"a.c", 7};
    dpi_id x = input(&w, "x", "");
    w.g.where = (dpi_where){"a.c", 9};
    dpi_id y = dpi_unary(&w.g, &dpi_op_exp, x);
    w.g.where = (dpi_where){"a.c", 11};
    assert_int_equal(dpi_unary(&w.g, &dpi_op_exp, x), y);
    assert_int_equal(dpi_get(&w.g, x)->where.line, 7);
    assert_int_equal(dpi_get(&w.g, y)->where.line, 9);
    char text[64];
    assert_string_equal(dpi_node_text(&w.g, x, text, sizeof text), "x");
    assert_string_equal(dpi_node_text(&w.g, y, text, sizeof text), "exp(...)");
    assert_string_equal(dpi_node_text(&w.g, dpi_constant(&w.g, 2.5), text, sizeof text), "2.5");
    world_free(&w);
}

static void marks_exactly_the_ancestors(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", ""), y = input(&w, "y", ""), unused = dpi_add(&w.g, x, y);
    dpi_id e = dpi_unary(&w.g, &dpi_op_exp, x), z = dpi_times(&w.g, e, x);
    bool needed[8] = {false};
    dpi_mark(&w.g, z, needed);
    assert_true(needed[x] && needed[e] && needed[z]);
    assert_false(needed[y] || needed[unused]);
    world_free(&w);
}

static void a_value_of_records_becomes_a_column(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_shape shape = point_shape("2");
    shape.per_record = true;
    dpi_id x = dpi_source(&w.g, &dpi_op_data, "x", (dpi_attr){.shape = shape});
    dpi_id e = dpi_unary(&w.g, &dpi_op_exp, x), y = dpi_unary(&w.g, &dpi_op_sin, e);
    bool needed[8] = {false};
    dpi_read_instead(&w.g, e, "e");
    dpi_mark(&w.g, y, needed);
    assert_true(dpi_is_column(dpi_get(&w.g, e)) && needed[e]);
    assert_string_equal(dpi_get(&w.g, e)->name, "e");
    assert_int_equal(dpi_shape_size(&dpi_get(&w.g, e)->shape), 2);
    assert_true(dpi_get(&w.g, e)->shape.per_record);
    assert_false(needed[x]);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_folded),
        cmocka_unit_test(records_and_arrays_are_not_folded),
        cmocka_unit_test(equal_nodes_are_one_node),
        cmocka_unit_test(slices_differ_by_offset_and_length),
        cmocka_unit_test(many_nodes_of_one_kind_stay_apart),
        cmocka_unit_test(plates_keep_nodes_apart),
        cmocka_unit_test(sources_are_never_merged),
        cmocka_unit_test(neutral_elements_vanish),
        cmocka_unit_test(ones_keep_the_record_axis),
        cmocka_unit_test(neutral_numbers_do_not_change_shapes),
        cmocka_unit_test(errors_stay_and_stop_the_graph),
        cmocka_unit_test(large_graphs_reuse_nodes),
        cmocka_unit_test(nodes_remember_where_they_come_from),
        cmocka_unit_test(marks_exactly_the_ancestors),
        cmocka_unit_test(a_value_of_records_becomes_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
