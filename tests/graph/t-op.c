/* Every operation of the table, at every test point: value, gradient and second derivatives against
 * the naive evaluator; factored forms against the value.
 *
 * For y = op(a, b) the root is p = sum(c * y) with unequal constants c (and once plain sum(y), whose
 * adjoint is one number).  When p is per record, both p itself and t = sum_i u_i p_i are roots. */
#include "tests/graph/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of 80-bit values leave about 1e-12. */
static const double tolerance = 1e-8;

static void fail_at(const world *w, const char *what, size_t element, double found, double expected)
{
    print_error("%s: %s, element %zu: %.17g, expected %.17g\n", w->text, what, element, found,
                expected);
    fail();
}

static double largest(size_t n, const long double *x)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fabs((double)x[i]) > top ? fabs((double)x[i]) : top;
    return top;
}

/* The library's values of a node, with the naive ones compared to them on the way.  One operation
 * loses a few units in the last place; a chain of them, such as e^(a - y) far from 0, more. */
static double *checked_value(world *w, dpi_id id, double relative, const char *what)
{
    double *value;
    naive_run(w->e, id);
    world_run(w, 1, &id, POINT_RECORDS, &value);
    size_t n = naive_count(w->e, id);
    double scale = largest(n, naive_value(w->e, id));
    for (size_t i = 0; i < n; i++) {
        double expected = (double)naive_value(w->e, id)[i];
        if (!(fabs(value[i] - expected) <= relative * (fabs(expected) + 0.1 * scale)))
            fail_at(w, what, i, value[i], expected);
    }
    return value;
}

/* d root / d in by differences: [count of in], or for a root per record and a global input
 * [n][count of in]. */
static long double *differences(world *w, dpi_id root, dpi_id in)
{
    const dpi_shape *shape = &dpi_get(&w->g, in)->shape;
    bool root_records = dpi_get(&w->g, root)->shape.per_record;
    size_t size = dpi_shape_size(shape), n_in = naive_count(w->e, in), n = w->e->n;
    long double *slope = calloc(n * n_in, sizeof *slope),
                *direction = calloc(n_in, sizeof *direction);
    long double one[POINT_RECORDS], error[POINT_RECORDS];
    for (size_t i = 0; i < n_in; i++) {
        direction[i] = w->step != 0 ? w->step : fabsl(naive_value(w->e, in)[i]) + 1e-9L;
        naive_slope(w->e, root, 1, &in, (const long double *[]){direction}, 2e-3L, one, error);
        if (!root_records)
            slope[i] = one[0] / direction[i];
        else if (shape->per_record)
            slope[i] = one[i / size] / direction[i];
        else
            for (size_t r = 0; r < n; r++)
                slope[r * size + i] = one[r] / direction[i];
        direction[i] = 0;
    }
    free(direction);
    return slope;
}

static void compare(const world *w, const char *what, size_t n, const double *found,
                    const long double *expected)
{
    double scale = largest(n, expected);
    for (size_t i = 0; i < n; i++) {
        double x = found != NULL ? found[i] : 0;
        if (!(fabs(x - (double)expected[i]) <=
              tolerance * fabs((double)expected[i]) + 1e-10 * scale + 1e-15))
            fail_at(w, what, i, x, (double)expected[i]);
    }
}

static void check_gradient(world *w, dpi_id root, const char *what, dpi_id adjoint[2])
{
    assert_ok(dpi_gradient(&w->g, root, w->n_real, w->in, adjoint), w->err.text);
    for (size_t k = 0; k < w->n_real; k++) {
        bool records = dpi_get(&w->g, root)->shape.per_record;
        size_t n = naive_count(w->e, w->in[k]);
        n *= records && !dpi_get(&w->g, w->in[k])->shape.per_record ? w->e->n : 1;
        double *value = NULL;
        if (adjoint[k] != DPI_NONE) {
            const dpi_shape *shape = &dpi_get(&w->g, adjoint[k])->shape;
            assert_true(dpi_shape_same(shape, &dpi_get(&w->g, w->in[k])->shape));
            assert_int_equal(shape->per_record,
                             records || dpi_get(&w->g, w->in[k])->shape.per_record);
            value = checked_value(w, adjoint[k], 1e-11, "value of the adjoint");
        }
        long double *expected = differences(w, root, w->in[k]);
        compare(w, what, n, value, expected);
        free(expected);
        free(value);
    }
}

/* A number that depends on both adjoints: sum_k sum(v_k * adjoint_k), summed over records where the
 * root was; DPI_NONE when nothing depends on the inputs. */
static dpi_id adjoints_in_one(world *w, bool root_records, const dpi_id adjoint[2])
{
    dpi_id q = DPI_NONE;
    for (size_t k = 0; k < w->n_real; k++) {
        if (adjoint[k] == DPI_NONE)
            continue;
        dpi_shape shape = dpi_get(&w->g, adjoint[k])->shape;
        bool sum = shape.per_record && !root_records;
        shape.per_record = false;
        dpi_id v = world_constant(w, k == 0 ? "v" : "vv", shape, -1.713, 2.385);
        dpi_id term = dpi_sum(&w->g, dpi_times(&w->g, adjoint[k], v));
        if (sum)
            term = dpi_apply(&w->g, &dpi_op_sum_records, term, DPI_NONE, NULL);
        q = q == DPI_NONE ? term : dpi_add(&w->g, q, term);
    }
    return q;
}

/* sum_i u_i (gradient of record i) is the gradient of sum_i u_i p_i. */
static void check_record_sums(world *w, dpi_id u, const dpi_id each[2], const dpi_id total[2])
{
    for (size_t k = 0; k < w->n_real; k++) {
        assert_int_equal(each[k] == DPI_NONE, total[k] == DPI_NONE);
        if (each[k] == DPI_NONE)
            continue;
        bool records = dpi_get(&w->g, w->in[k])->shape.per_record;
        size_t size = dpi_shape_size(&dpi_get(&w->g, w->in[k])->shape);
        double *value[2];
        world_run(w, 1, &each[k], POINT_RECORDS, &value[0]);
        world_run(w, 1, &total[k], 2, &value[1]);
        for (size_t i = 0; i < (records ? POINT_RECORDS : 1) * size; i++) {
            double sum = 0, scale = 0;
            for (size_t r = records ? i / size : 0; r < (records ? i / size + 1 : POINT_RECORDS);
                 r++) {
                sum += (double)naive_value(w->e, u)[r] * value[0][r * size + i % size];
                scale += fabs(value[0][r * size + i % size]);
            }
            assert_close(value[1][i], sum, 1e-13, 1e-14 * scale);
        }
        free(value[0]);
        free(value[1]);
    }
}

static void check_point(const point *p, bool weighted)
{
    world w;
    world_of_point(&w, p);
    free(checked_value(&w, w.y, 2e-14, "value"));
    dpi_shape dims = dpi_get(&w.g, w.y)->shape;
    bool records = dims.per_record;
    dims.per_record = false;
    dpi_id y = weighted ? dpi_times(&w.g, w.y, world_constant(&w, "c", dims, -1.385, 2.917)) : w.y;
    dpi_id root = dpi_sum(&w.g, y), u = world_input(&w, "u", dpi_scalar(true), -2.713, 1.385);
    dpi_id adjoint[2][2], second[2];
    check_gradient(&w, root, "derivative", adjoint[0]);
    dpi_id q = adjoints_in_one(&w, records, adjoint[0]);
    if (q != DPI_NONE)
        check_gradient(&w, q, "second derivative", second);
    if (records) {
        dpi_id total =
            dpi_apply(&w.g, &dpi_op_sum_records, dpi_times(&w.g, root, u), DPI_NONE, NULL);
        check_gradient(&w, total, "derivative of the total", adjoint[1]);
        check_record_sums(&w, u, adjoint[0], adjoint[1]);
        q = adjoints_in_one(&w, false, adjoint[1]);
        if (q != DPI_NONE)
            check_gradient(&w, q, "second derivative of the total", second);
    }
    assert_ok(w.err.status, w.err.text);
    world_free(&w);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < n; i++)
        for (int weighted = 0; weighted < 2; weighted++)
            check_point(&list[i], weighted != 0);
    free(list);
}

static void every_operation_has_points(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < dpi_n_ops; i++) {
        const dpi_op *op = dpi_ops[i];
        size_t points = 0;
        for (size_t k = 0; k < n; k++)
            points += list[k].op == op;
        if (op->n_inputs > 0 && points == 0)
            fail_msg("operation '%s' has no test point: add some to points.c", op->name);
        assert_true(strlen(op->name) > 0 && strlen(op->formula) > 0);
        assert_true(op->shape != NULL && op->flops != NULL);
        assert_true(op->n_inputs == 0 || op->forward != NULL);
        assert_true((op->norm2 == NULL) == (op->weighted_sum == NULL));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(dpi_ops[k]->name, op->name);
    }
    free(list);
}

/* A call of the operation over all records, on the library's own inputs. */
static dpi_call call_of(const world *w, double *const in[2])
{
    const dpi_node *node = dpi_get(&w->g, w->y);
    dpi_call call = {
        .n = POINT_RECORDS, .out_size = dpi_shape_size(&node->shape), .attr = &node->attr};
    for (int k = 0; k < node->op->n_inputs; k++) {
        const dpi_shape *shape = &dpi_get(&w->g, node->in[k])->shape;
        call.in[k] = in[k];
        call.in_size[k] = dpi_shape_size(shape);
        call.in_step[k] = shape->per_record ? call.in_size[k] : 0;
    }
    return call;
}

static void check_factored(const point *p)
{
    enum { MOST = 64 };
    world w;
    world_of_point(&w, p);
    double *value[3], norm2[POINT_RECORDS] = {0.25, 0.5, 0.75}, sum[MOST], expected[MOST];
    const double weight[POINT_RECORDS] = {0.713, 0, -1.385};
    world_run(&w, p->op->n_inputs + 1, (dpi_id[]){w.y, w.in[0], w.in[1]}, POINT_RECORDS, value);
    dpi_call call = call_of(&w, &value[1]);
    assert_true(call.out_size <= MOST);
    p->op->norm2(&call, norm2);
    for (size_t r = 0; r < POINT_RECORDS; r++) {
        double direct = 0.25 * (double)(r + 1);
        for (size_t e = 0; e < call.out_size; e++)
            direct += value[0][r * call.out_size + e] * value[0][r * call.out_size + e];
        assert_close(norm2[r], direct, 1e-14, 0);
    }
    /* The skipped record may hold anything. */
    for (int k = 0; k < p->op->n_inputs; k++)
        for (size_t e = 0; call.in_step[k] != 0 && e < call.in_size[k]; e++)
            value[1 + k][call.in_size[k] + e] = p->groups > 0 && k == 1 ? 0
                                                : e % 2                 ? INFINITY
                                                                        : NAN;
    for (size_t e = 0; e < call.out_size; e++) {
        sum[e] = expected[e] = 0.125 * (double)e;
        for (size_t r = 0; r < POINT_RECORDS; r += 2)
            expected[e] += weight[r] * value[0][r * call.out_size + e];
    }
    p->op->weighted_sum(&call, weight, sum);
    for (size_t e = 0; e < call.out_size; e++)
        assert_close(sum[e], expected[e], 1e-14, 1e-14);
    for (int k = 0; k <= p->op->n_inputs; k++)
        free(value[k]);
    world_free(&w);
}

static void factored_forms_equal_the_value(void **state)
{
    (void)state;
    point *list;
    size_t n = points_all(&list), checked = 0;
    for (size_t i = 0; i < n; i++) {
        world w;
        if (list[i].op->norm2 == NULL)
            continue;
        world_of_point(&w, &list[i]);
        bool records = dpi_get(&w.g, w.y)->shape.per_record;
        world_free(&w);
        if (records)
            check_factored(&list[i]);
        checked += records;
    }
    assert_true(checked > 20);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_points),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(factored_forms_equal_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
