#include "graph/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/differences.h"
#include "tests/graph/faulty.h"

static dpi_id input(world *w, const char *name, const char *shape)
{
    dpi_id id = world_input(w, name, point_shape(shape), -1.385, 1.917);
    w->in[w->n_real++] = id;
    return id;
}

/* Like input, but no derivative is asked for. */
static dpi_id data(world *w, const char *name, const char *shape)
{
    return world_input(w, name, point_shape(shape), -1.385, 1.917);
}

static dpi_id ones(world *w)
{
    return dpi_apply(&w->g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL);
}

static dpi_id product(world *w, dpi_id a, dpi_id b)
{
    return dpi_apply(&w->g, &dpi_op_matmul, a, b, NULL);
}

static dpi_id of(world *w, const dpi_op *op, dpi_id a)
{
    return dpi_unary(&w->g, op, a);
}

static dpi_id total(world *w, dpi_id a)
{
    return dpi_apply(&w->g, &dpi_op_sum_records, a, DPI_NONE, NULL);
}

static void finish(world *w, dpi_id root)
{
    assert_ok(w->err.status, w->err.text);
    bool sharp = naive_is_sharp();
    if (sharp)
        check_root(w, root);
    world_free(w);
    if (!sharp)
        skip();
}

static void a_global_value_may_cross_many_times(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "3"), x = data(&w, "x", "*3"), z = data(&w, "z", "*3");
    dpi_id a = product(&w, v, x), b = dpi_sum(&w.g, dpi_times(&w.g, z, of(&w, &dpi_op_square, v)));
    dpi_id c = of(&w, &dpi_op_softplus, dpi_times(&w.g, a, b)); /* cross terms a'b + b'a */
    finish(&w,
           dpi_add(&w.g, c,
                   dpi_sum(&w.g, dpi_times(&w.g, v, of(&w, &dpi_op_tanh, dpi_times(&w.g, x, v))))));
}

static void functions_of_global_values_may_cross(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "3"), s = input(&w, "s", ""), x = data(&w, "x", "*3"),
           y = data(&w, "y", "*");
    dpi_id scale = of(&w, &dpi_op_exp, s), effect = dpi_times(&w.g, scale, of(&w, &dpi_op_exp, v));
    dpi_id mean = product(&w, x, effect),
           norm = of(&w, &dpi_op_sqrt, dpi_sum(&w.g, of(&w, &dpi_op_square, effect)));
    dpi_id error = dpi_div(&w.g, dpi_sub(&w.g, y, mean), norm);
    finish(&w, dpi_sub(&w.g, dpi_scale(&w.g, -0.5, of(&w, &dpi_op_square, error)),
                       of(&w, &dpi_op_log, norm)));
}

static void hierarchies_cross_by_pick(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id a = input(&w, "a", "4"), tau = input(&w, "tau", ""), slope = input(&w, "slope", "4x2");
    dpi_id g = world_groups(&w, "g", dpi_scalar(true), 4), x = data(&w, "x", "*2");
    dpi_id effect =
        dpi_apply(&w.g, &dpi_op_pick, dpi_times(&w.g, a, of(&w, &dpi_op_exp, tau)), g, NULL);
    dpi_id mine = product(&w, dpi_apply(&w.g, &dpi_op_pick, slope, g, NULL), x);
    finish(&w, of(&w, &dpi_op_softplus,
                  dpi_add(&w.g, dpi_add(&w.g, effect, mine), dpi_times(&w.g, effect, tau))));
}

static void networks_have_per_record_gradients(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id first = input(&w, "W", "4x3"), bias = input(&w, "b", "4"),
           second = input(&w, "V", "4x2");
    dpi_id x = data(&w, "x", "*3"), g = world_groups(&w, "label", dpi_scalar(true), 2);
    dpi_id hidden = of(&w, &dpi_op_tanh, dpi_add(&w.g, product(&w, first, x), bias));
    dpi_id out = product(&w, hidden, second);
    dpi_id chosen = dpi_apply(&w.g, &dpi_op_pick, out, g, NULL);
    finish(&w, dpi_sub(&w.g, chosen, dpi_unary(&w.g, &dpi_op_log_sum_exp, out)));
}

static void latents_of_records_have_gradients_of_their_own(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id z = input(&w, "z", "*2"), load = input(&w, "load", "2x3"), x = data(&w, "x", "*3");
    dpi_id error = dpi_sub(&w.g, x, product(&w, z, load));
    dpi_id both =
        dpi_add(&w.g, of(&w, &dpi_op_square, error), dpi_sum(&w.g, of(&w, &dpi_op_square, z)));
    finish(&w, dpi_sum(&w.g, both));
}

static void adjoints_may_be_smaller_than_the_value(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "2x3"), u = input(&w, "u", "3"), n = input(&w, "n", ""),
           x = data(&w, "x", "*");
    dpi_id all = dpi_add(&w.g, dpi_sub(&w.g, v, u), n); /* each adjoint is one number */
    finish(&w, dpi_times(&w.g, dpi_sum(&w.g, dpi_add(&w.g, all, v)), x));
}

/* A root of which each record's value is the same still has one derivative for each record. */
static void roots_without_data_count_once_a_record(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", ""), root = dpi_times(&w.g, v, ones(&w)), adjoint[2];
    assert_ok(dpi_gradient(&w.g, root, 1, &v, &adjoint[0]), w.err.text);
    assert_ok(dpi_gradient(&w.g, total(&w, root), 1, &v, &adjoint[1]), w.err.text);
    double *value[2];
    world_run(&w, 1, &adjoint[0], 2, &value[0]);
    world_run(&w, 1, &adjoint[1], 2, &value[1]);
    for (size_t r = 0; r < POINT_RECORDS; r++)
        assert_close(value[0][r], 1, 0, 0);
    assert_close(value[1][0], POINT_RECORDS, 0, 0);
    free(value[0]);
    free(value[1]);
    dpi_id m = input(&w, "m", "3");
    finish(&w, dpi_times(&w.g, dpi_add(&w.g, v, dpi_sum(&w.g, m)), ones(&w)));
}

static void priors_and_records_may_share_a_root(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "3"), x = data(&w, "x", "*3");
    dpi_id fit = total(&w, of(&w, &dpi_op_logistic, product(&w, x, v)));
    dpi_id prior = dpi_sum(&w.g, of(&w, &dpi_op_square, v));
    finish(&w, dpi_sub(&w.g, fit, dpi_scale(&w.g, 0.385, prior)));
}

/* d/dw log P(y | x, w) = (y - P(y = 1)) x, the textbook's formula. */
static void logistic_regression_has_the_known_gradient(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "3"), x = data(&w, "x", "*3"),
           y = world_groups(&w, "y", dpi_scalar(true), 2), adjoint;
    dpi_id eta = product(&w, x, v);
    dpi_id root = dpi_sub(&w.g, dpi_times(&w.g, y, eta), of(&w, &dpi_op_softplus, eta));
    assert_ok(dpi_gradient(&w.g, root, 1, &v, &adjoint), w.err.text);
    double *value[4];
    world_run(&w, 4, (dpi_id[]){adjoint, x, y, eta}, 2, value);
    for (size_t r = 0; r < POINT_RECORDS; r++)
        for (size_t j = 0; j < 3; j++)
            assert_close(value[0][3 * r + j],
                         (value[2][r] - 1 / (1 + exp(-value[3][r]))) * value[1][3 * r + j], 1e-14,
                         0);
    for (size_t i = 0; i < 4; i++)
        free(value[i]);
    world_free(&w);
}

/* What makes private steps cheap: the adjoints at the usual crossings are in factored form. */
static void adjoints_at_crossings_can_be_factored(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id m = input(&w, "W", "4x3"), a = input(&w, "a", "5"), v = input(&w, "w", "3"), adjoint[3];
    dpi_id x = data(&w, "x", "*3"), g = world_groups(&w, "g", dpi_scalar(true), 5);
    dpi_id sum = dpi_sum(&w.g, of(&w, &dpi_op_tanh, product(&w, m, x)));
    sum = dpi_add(&w.g, sum, of(&w, &dpi_op_square, dpi_apply(&w.g, &dpi_op_pick, a, g, NULL)));
    sum = dpi_add(&w.g, sum, of(&w, &dpi_op_exp, product(&w, x, v)));
    assert_ok(dpi_gradient(&w.g, sum, 3, w.in, adjoint), w.err.text);
    assert_ptr_equal(dpi_get(&w.g, adjoint[0])->op, &dpi_op_outer);
    assert_ptr_equal(dpi_get(&w.g, adjoint[1])->op, &dpi_op_scatter);
    assert_ptr_equal(dpi_get(&w.g, adjoint[2])->op, &dpi_op_mul);
    world_free(&w);
}

static void nothing_flows_through_a_node_asked_for(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", ""), y = of(&w, &dpi_op_exp, x), root = dpi_times(&w.g, y, x),
           adjoint[2];
    assert_ok(dpi_gradient(&w.g, root, 2, (dpi_id[]){x, y}, adjoint), w.err.text);
    assert_int_equal(adjoint[0], y);
    assert_int_equal(adjoint[1], x);
    assert_ok(dpi_gradient(&w.g, root, 2, (dpi_id[]){root, x}, adjoint), w.err.text);
    assert_true(dpi_is_constant(&w.g, adjoint[0], 1));
    assert_int_equal(adjoint[1], DPI_NONE);
    world_free(&w);
}

static void independent_nodes_have_no_adjoint(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", ""), y = input(&w, "y", ""), z = data(&w, "z", "*"), later,
           adjoint[3];
    dpi_id root = dpi_times(&w.g, of(&w, &dpi_op_sign, x), z);
    later = dpi_unary(&w.g, &dpi_op_exp, root);
    assert_ok(dpi_gradient(&w.g, root, 3, (dpi_id[]){x, y, later}, adjoint), w.err.text);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(adjoint[k], DPI_NONE);
    assert_ok(dpi_gradient(&w.g, root, 0, NULL, NULL), w.err.text);
    world_free(&w);
}

/* Where record i's root would depend on record j there is no per-record gradient. */
static void sums_over_records_below_a_per_record_root_are_refused(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", ""), x = data(&w, "x", "*"), y = data(&w, "y", "*"), adjoint;
    dpi_id mean = total(&w, dpi_times(&w.g, v, x)),
           root = dpi_times(&w.g, dpi_sub(&w.g, y, mean), x);
    assert_ok(dpi_gradient(&w.g, root, 1, &y, &adjoint), w.err.text);
    assert_int_equal(adjoint, x);
    assert_int_equal(dpi_gradient(&w.g, root, 1, &v, &adjoint), DP_EUNSUPPORTED);
    assert_int_equal(adjoint, DPI_NONE);
    assert_contains(w.err.text, "sum over all records");
    world_free(&w);
}

static void slopes_far_out_keep_their_digits(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = dpi_source(&w.g, &dpi_op_input, "x", (dpi_attr){.shape = dpi_scalar(false)});
    const dpi_op *ops[] = {&dpi_op_expm1, &dpi_op_logistic, &dpi_op_softplus};
    const long double at[] = {-38.5L, -2.385e2L};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++) {
            dpi_id adjoint;
            double *value;
            naive_value(w.e, x)[0] = at[k];
            assert_ok(dpi_gradient(&w.g, of(&w, ops[i], x), 1, &x, &adjoint), w.err.text);
            world_run(&w, 1, &adjoint, 1, &value);
            assert_close(*value, (double)expl(at[k]), 1e-14, 0);
            free(value);
        }
    world_free(&w);
}

static void missing_values_show_in_gradients(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id x = input(&w, "x", ""), adjoint;
    naive_value(w.e, x)[0] = (long double)NAN;
    for (size_t i = 0; i < DPI_N_OPS; i++) {
        double *value;
        const dpi_op *op = dpi_ops[i];
        const dpi_shape number = dpi_scalar(false);
        dpi_shape shape;
        if (op->n_inputs != 1 || op->shape(&number, NULL, &(dpi_attr){.value = 0}, &shape) != NULL)
            continue;
        dpi_id y = of(&w, op, x);
        world_run(&w, 1, &y, 1, &value);
        assert_true(isnan(*value));
        free(value);
        assert_ok(dpi_gradient(&w.g, of(&w, &dpi_op_square, y), 1, &x, &adjoint), w.err.text);
        if (adjoint == DPI_NONE)
            continue;
        world_run(&w, 1, &adjoint, 1, &value);
        assert_true(isnan(*value));
        free(value);
    }
    world_free(&w);
}

static void choices_have_the_slopes_of_their_sides(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id v = input(&w, "w", "3"), x = data(&w, "x", "*3"), s = input(&w, "s", "");
    dpi_id c = dpi_apply(&w.g, &dpi_op_step, x, dpi_constant(&w.g, 0.1), NULL);
    dpi_id a = dpi_times(&w.g, of(&w, &dpi_op_exp, dpi_times(&w.g, v, x)), of(&w, &dpi_op_sin, v));
    dpi_id inner = dpi_choose(&w.g, data(&w, "z", "*"), of(&w, &dpi_op_square, s), v);
    finish(&w, dpi_sum(&w.g, dpi_times(&w.g, dpi_choose(&w.g, c, a, inner), v)));
}

/* The chosen one's value and slopes where the other's are infinite or not a number, through
 * functions of functions, through several uses of one value, and in second derivatives. */
static void what_is_not_chosen_has_no_slope(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_graph *g = &w.g;
    dpi_id x = input(&w, "x", "3"), t = input(&w, "t", "");
    const long double at[3] = {0, -0.5L, 2};
    for (int i = 0; i < 3; i++)
        naive_value(w.e, x)[i] = at[i];
    naive_value(w.e, t)[0] = 3;
    dpi_id c = dpi_apply(g, &dpi_op_step, x, dpi_constant(g, 0), NULL),
           log_x = of(&w, &dpi_op_log, x);
    dpi_id root = of(&w, &dpi_op_sqrt, x);
    dpi_id a = dpi_add(g, dpi_times(g, log_x, log_x), dpi_sub(g, dpi_times(g, t, log_x), root));
    dpi_id y = dpi_sum(g, dpi_choose(g, c, dpi_div(g, a, x), dpi_times(g, t, x)));
    dpi_id first[2], second[2];
    double *value[5];
    assert_ok(dpi_gradient(g, y, 2, (dpi_id[]){x, t}, first), w.err.text);
    assert_ok(dpi_gradient(g, dpi_sum(g, first[0]), 2, (dpi_id[]){x, t}, second), w.err.text);
    world_run(&w, 5, (dpi_id[]){y, first[0], first[1], second[0], second[1]}, 1, value);
    /* Above 0 f = ((log x)^2 + t log x - sqrt x) / x and elsewhere t x. */
    const double l = log(2), r = sqrt(2), f = (l * l + 3 * l - r) / 2;
    const double slope = (2 * l + 3 - r / 2) / 4 - f / 2;
    assert_close(value[0][0], f - 1.5, 1e-14, 0);
    assert_true(value[1][0] == 3 && value[1][1] == 3);
    assert_close(value[1][2], slope, 1e-14, 0);
    assert_close(value[2][0], l / 2 - 0.5, 1e-14, 0);
    assert_true(value[3][0] == 0 && value[3][1] == 0);
    /* The numerator's second derivative is (2 - 2 l - 3 + r / 4) / 4. */
    assert_close(value[3][2], (2 - 2 * l - 3 + r / 4) / 8 - slope, 1e-13, 0);
    assert_close(value[4][0], 2 + (1 - l) / 4, 1e-14, 0);
    for (int k = 0; k < 5; k++)
        free(value[k]);
    world_free(&w);
}

static void differentiate_an_array(void *of)
{
    world w;
    (void)of;
    world_new(&w);
    dpi_id x = input(&w, "x", "3"), adjoint;
    (void)dpi_gradient(&w.g, x, 1, &x, &adjoint);
}

static void an_array_has_no_gradient(void **state)
{
    (void)state;
    assert_aborts(differentiate_an_array, NULL);
}

/* A network with its gradient, and the gradient of that. */
static void build_and_differentiate(dpi_arena *arena, dp_error *err)
{
    dpi_graph g;
    dpi_graph_init(&g, arena, err);
    double values[5] = {1, 2, 3, 4, 5};
    dpi_id wrt[2], adjoint[2] = {DPI_NONE, DPI_NONE};
    wrt[0] = dpi_source(&g, &dpi_op_input, "W", (dpi_attr){.shape = point_shape("5x4")});
    wrt[1] = dpi_source(&g, &dpi_op_input, "b", (dpi_attr){.shape = point_shape("5")});
    dpi_id x = dpi_source(&g, &dpi_op_data, "x", (dpi_attr){.shape = point_shape("*4")});
    dpi_id c = dpi_constant_array(&g, point_shape("5"), values), root = x;
    for (int layer = 0; layer < 20; layer++) {
        dpi_id y = dpi_apply(&g, &dpi_op_matmul, wrt[0], root, NULL);
        y = dpi_unary(&g, &dpi_op_softplus, dpi_times(&g, c, dpi_add(&g, y, wrt[1])));
        root = dpi_apply(&g, &dpi_op_slice, y, DPI_NONE, &(dpi_attr){.rows = 4});
    }
    root = dpi_unary(&g, &dpi_op_log_sum_exp, root);
    for (int order = 0; order < 2 && err->status == DP_OK; order++) {
        (void)dpi_gradient(&g, root, 2, wrt, adjoint);
        root = dpi_sum(&g, adjoint[0]);
    }
    if (err->status != DP_OK)
        assert_int_equal(adjoint[0], DPI_NONE);
}

/* What a prior's share adds to each record is one value for all, of the same numbers. */
static void what_no_record_changes_is_global(void **state)
{
    (void)state;
    world w;
    world_new(&w);
    dpi_id m = input(&w, "m", "3"), x = data(&w, "x", "*3"), adjoint[2];
    dpi_id off = of(&w, &dpi_op_square, dpi_sub(&w.g, x, m));
    dpi_id prior = dpi_sum(&w.g, of(&w, &dpi_op_exp, m));
    dpi_id root = dpi_add(&w.g, dpi_sum(&w.g, off), dpi_scale(&w.g, 0.125, prior));
    assert_ok(dpi_gradient(&w.g, root, 1, &m, &adjoint[0]), w.err.text);
    size_t before = w.g.n_nodes, global = 0;
    assert_ok(dpi_record_gradient(&w.g, root, 1, &m, &adjoint[1]), w.err.text);
    for (size_t i = before; i < w.g.n_nodes; i++)
        global += !dpi_get(&w.g, (dpi_id)i)->shape.per_record;
    assert_true(global > 0);
    double *value[2];
    world_run(&w, 2, adjoint, 2, value);
    for (size_t i = 0; i < 3 * POINT_RECORDS; i++)
        assert_close(value[1][i], value[0][i], 0, 0);
    free(value[0]);
    free(value[1]);
    dpi_id own = dpi_times(&w.g, prior, ones(&w)); /* nothing in it is of a record */
    assert_ok(dpi_record_gradient(&w.g, own, 1, &m, adjoint), w.err.text);
    assert_true(dpi_get(&w.g, adjoint[0])->shape.per_record);
    world_free(&w);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    size_t k = 1, before = faulty_live();
    for (;; k++) {
        dpi_arena arena = {0};
        dp_error err = {0};
        faulty_fail(k);
        build_and_differentiate(&arena, &err);
        bool failed = faulty_failed();
        faulty_fail(0);
        dpi_arena_free(&arena);
        assert_int_equal(faulty_live(), before);
        assert_int_equal(err.status, failed ? DP_ENOMEM : DP_OK);
        if (!failed)
            break;
    }
    assert_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_global_value_may_cross_many_times),
        cmocka_unit_test(functions_of_global_values_may_cross),
        cmocka_unit_test(hierarchies_cross_by_pick),
        cmocka_unit_test(networks_have_per_record_gradients),
        cmocka_unit_test(latents_of_records_have_gradients_of_their_own),
        cmocka_unit_test(adjoints_may_be_smaller_than_the_value),
        cmocka_unit_test(roots_without_data_count_once_a_record),
        cmocka_unit_test(priors_and_records_may_share_a_root),
        cmocka_unit_test(logistic_regression_has_the_known_gradient),
        cmocka_unit_test(adjoints_at_crossings_can_be_factored),
        cmocka_unit_test(nothing_flows_through_a_node_asked_for),
        cmocka_unit_test(independent_nodes_have_no_adjoint),
        cmocka_unit_test(sums_over_records_below_a_per_record_root_are_refused),
        cmocka_unit_test(slopes_far_out_keep_their_digits),
        cmocka_unit_test(missing_values_show_in_gradients),
        cmocka_unit_test(choices_have_the_slopes_of_their_sides),
        cmocka_unit_test(what_is_not_chosen_has_no_slope),
        cmocka_unit_test(an_array_has_no_gradient),
        cmocka_unit_test(what_no_record_changes_is_global),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
