/* Thousands of random graphs: values, directional derivatives and second derivatives, each against
 * the naive evaluator.
 *
 * A graph starts from global and per-record inputs of several shapes and grows by operations whose
 * shape rule accepts what is drawn.  Arguments are kept inside domains (a logarithm is taken of
 * softplus + 0.3) and values below 30.  Where a graph has a sum over records inside, what is per
 * record may depend on all records: then the executor may refuse, and values are naive ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/run.h"
#include "tests/graph/points.h"
#include "tests/lib/check.h"

enum { GRAPHS = 2500, STEPS = 45, MOST_NODES = 64 };

typedef struct random_graph {
    world w;
    uint64_t state;
    dpi_id pool[MOST_NODES];
    size_t n_pool;
    bool has_sums; /* over records */
    bool usable;
} random_graph;

/* splitmix64 (Steele, Lea, Flood 2014). */
static size_t draw(random_graph *r, size_t below)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

static dpi_id any(random_graph *r)
{
    return r->pool[draw(r, r->n_pool)];
}

/* A value above 0.3 from any value. */
static dpi_id positive(random_graph *r, dpi_id a)
{
    return dpi_add(&r->w.g, dpi_unary(&r->w.g, &dpi_op_softplus, a), dpi_constant(&r->w.g, 0.3));
}

static bool needs_positive(const dpi_op *op)
{
    return op == &dpi_op_log || op == &dpi_op_log1p || op == &dpi_op_sqrt || op == &dpi_op_lgamma ||
           op == &dpi_op_polygamma || op == &dpi_op_rising || op == &dpi_op_log_bessel;
}

static bool has_window(const dpi_op *op)
{
    return op == &dpi_op_patches || op == &dpi_op_fold || op == &dpi_op_pool_sum ||
           op == &dpi_op_unpool_sum || op == &dpi_op_pool_max || op == &dpi_op_unpool_max;
}

/* Attributes to try; the shape rule decides whether they fit. */
static dpi_attr random_attr(random_graph *r, const dpi_op *op)
{
    static const char *const shapes[] = {"", "2", "3", "2x3", "4x3", "4x2x3", "6", "9", "3x1"};
    dpi_attr attr = {.number = draw(r, 3), .rows = 1 + draw(r, 3), .inner = 1 + draw(r, 2)};
    attr.transpose[0] = draw(r, 2);
    attr.transpose[1] = draw(r, 2);
    attr.shape = point_shape(shapes[draw(r, sizeof shapes / sizeof shapes[0])]);
    if (op == &dpi_op_scatter)
        attr.number = 4;
    for (int k = 0; k < 2 && has_window(op); k++) {
        attr.window.image[k] = 1 + draw(r, 3);
        attr.window.size[k] = 1 + draw(r, 2);
        attr.window.stride[k] = 1 + draw(r, 2);
        attr.window.padding[k] = draw(r, 2);
    }
    return attr;
}

/* True when the values are finite, moderate and (for the kink of |a|) not near 0. */
static bool is_tame(random_graph *r, dpi_id id, double least)
{
    naive_run(r->w.e, id);
    for (size_t i = 0; i < naive_count(r->w.e, id); i++) {
        double x = fabs((double)naive_value(r->w.e, id)[i]);
        if (!(x < 30) || x < least)
            return false;
    }
    return true;
}

/* True when no two numbers of a record's value are near each other. */
static bool is_apart(random_graph *r, dpi_id id)
{
    naive_run(r->w.e, id);
    const long double *a = naive_value(r->w.e, id);
    size_t size = dpi_shape_size(&dpi_get(&r->w.g, id)->shape);
    for (size_t i = 0; i < naive_count(r->w.e, id); i++)
        for (size_t k = i / size * size; k < i; k++)
            if (fabs((double)(a[i] - a[k])) < 0.05)
                return false;
    return true;
}

/* A A' + I of a square matrix. */
static dpi_id positive_definite(random_graph *r, dpi_id a)
{
    dpi_graph *g = &r->w.g;
    const dpi_shape row = dpi_vector(dpi_get(g, a)->shape.dim[0], false);
    dpi_id ones = dpi_expand(g, dpi_constant(g, 1), row);
    ones = dpi_get(g, a)->shape.dim[0] == 1 ? dpi_constant(g, 1)
                                            : dpi_unary(g, &dpi_op_diagonal_matrix, ones);
    return dpi_add(g, dpi_apply(g, &dpi_op_matmul, a, a, &(dpi_attr){.transpose = {false, true}}),
                   ones);
}

/* Adds one random operation when it fits. */
static void grow(random_graph *r)
{
    const dpi_op *op = dpi_ops[draw(r, DPI_N_OPS)];
    dpi_graph *g = &r->w.g;
    dpi_id a = any(r), b = any(r);
    dpi_shape shape;
    if (op->n_inputs == 0 || (op == &dpi_op_sum_records && draw(r, 8) != 0))
        return;
    if (op == &dpi_op_log_gamma_tail || op == &dpi_op_log_student_tail ||
        op == &dpi_op_log_skew_tail || op == &dpi_op_log_beta_tail)
        return; /* third derivatives are none; t-op and t-cdf have the others */
    if (op == &dpi_op_pick || op == &dpi_op_scatter)
        b = r->w.in[WORLD_INPUTS - 1]; /* the group numbers, below 4 */
    dpi_attr attr = random_attr(r, op), tried = attr;
    const dpi_shape of_a = dpi_get(g, a)->shape, of_b = dpi_get(g, b)->shape;
    if (op->shape(&of_a, &of_b, &tried, &shape) != NULL || dpi_shape_size(&shape) > 24)
        return;
    if (op == &dpi_op_pick && of_a.dim[0] != 4)
        return;
    if ((op == &dpi_op_abs || op == &dpi_op_sign || op == &dpi_op_relu) && !is_tame(r, a, 0.05))
        return;
    if ((op == &dpi_op_pool_max || op == &dpi_op_unpool_max) && !is_apart(r, a))
        return;
    if ((op == &dpi_op_max || op == &dpi_op_step) && !is_tame(r, dpi_sub(g, a, b), 0.05))
        return;
    if (op == &dpi_op_keep && !is_tame(r, b, 0.05))
        return;
    if (op == &dpi_op_keep)
        b = dpi_apply(g, &dpi_op_step, b, dpi_constant(g, 0), NULL);
    if (needs_positive(op))
        a = positive(r, a);
    if (op == &dpi_op_log1mexp)
        a = dpi_unary(g, &dpi_op_neg, positive(r, a));
    if (op == &dpi_op_cholesky || op == &dpi_op_triangular_solve)
        a = positive_definite(r, a);
    if (op == &dpi_op_triangular_solve)
        a = dpi_unary(g, &dpi_op_cholesky, a);
    if (op == &dpi_op_div || op == &dpi_op_rising)
        b = positive(r, b);
    dpi_id y = dpi_apply(g, op, a, op->n_inputs == 2 ? b : DPI_NONE, &attr);
    assert_ok(r->w.err.status, r->w.err.text);
    r->has_sums = r->has_sums || op == &dpi_op_sum_records;
    if (!is_tame(r, y, 0))
        y = dpi_unary(g, &dpi_op_tanh, y);
    if (is_tame(r, y, 0) && r->n_pool < MOST_NODES)
        r->pool[r->n_pool++] = y;
}

static void add_inputs(random_graph *r)
{
    static const char *const shapes[] = {"", "3", "2x3", "4x3", "*", "*3", "*2x3"};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    char name[24];
    for (size_t i = 0; i < 7; i++) {
        (void)snprintf(name, sizeof name, "%s%zu", names[i], draw(r, 1000));
        r->w.in[i] = r->pool[r->n_pool++] =
            world_input(&r->w, name, point_shape(shapes[i]), -1.385, 1.713);
    }
    r->w.n_real = 7;
    r->w.in[7] = world_groups(&r->w, "groups", dpi_scalar(true), 4);
    r->pool[r->n_pool++] = dpi_apply(&r->w.g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL);
    r->pool[r->n_pool++] = world_constant(&r->w, "const", point_shape("3"), -1.2, 2.3);
}

/* A number made of the last few values. */
static dpi_id make_root(random_graph *r)
{
    dpi_graph *g = &r->w.g;
    dpi_id root = DPI_NONE;
    for (size_t i = r->n_pool > 12 ? r->n_pool - 5 : 0; i < r->n_pool; i++) {
        dpi_id term = dpi_sum(g, r->pool[i]);
        root = root == DPI_NONE ? term : dpi_add(g, root, term);
    }
    if (dpi_get(g, root)->shape.per_record && (r->has_sums || draw(r, 2) == 0))
        root = dpi_apply(g, &dpi_op_sum_records, root, DPI_NONE, NULL);
    return root;
}

/* The values of a node by the executor; false when it refuses, which it may for inner sums. */
static bool executed(random_graph *r, dpi_id id, double *value)
{
    dp_error err = {0};
    dpi_run *run;
    double *out;
    if (dpi_run_new(&(dpi_run_spec){.graph = &r->w.g, .wanted = &id, .n_wanted = 1, .chunk = 2},
                    &run, &err) != DP_OK) {
        assert_int_equal(err.status, DP_EUNSUPPORTED);
        assert_true(r->has_sums);
        return false;
    }
    dpi_run_free(run);
    world_run(&r->w, 1, &id, 1 + draw(r, 4), &out);
    memcpy(value, out, naive_count(r->w.e, id) * sizeof *value);
    free(out);
    return true;
}

/* d root in a random direction, from the adjoints. */
static void slope_by_adjoints(random_graph *r, dpi_id root, const dpi_id *adjoint,
                              long double *const *direction, double *slope)
{
    bool root_records = dpi_get(&r->w.g, root)->shape.per_record;
    memset(slope, 0, POINT_RECORDS * sizeof *slope);
    for (size_t k = 0; k < r->w.n_real; k++) {
        double value[POINT_RECORDS * 32];
        if (adjoint[k] == DPI_NONE)
            continue;
        size_t n = naive_count(r->w.e, adjoint[k]), n_in = naive_count(r->w.e, r->w.in[k]);
        size_t size = dpi_shape_size(&dpi_get(&r->w.g, adjoint[k])->shape);
        assert_true(n <= sizeof value / sizeof value[0]);
        naive_run(r->w.e, adjoint[k]);
        bool ran = executed(r, adjoint[k], value);
        for (size_t i = 0; i < n; i++) {
            double exact = (double)naive_value(r->w.e, adjoint[k])[i];
            if (ran)
                assert_close(value[i], exact, 1e-8, 1e-8);
            slope[root_records ? i / size : 0] += exact * (double)direction[k][i % n_in];
        }
    }
}

static bool check_slopes(random_graph *r, dpi_id root, dpi_id *adjoint)
{
    long double *direction[WORLD_INPUTS], expected[POINT_RECORDS], error[POINT_RECORDS];
    double slope[POINT_RECORDS];
    bool sharp = true;
    assert_ok(dpi_gradient(&r->w.g, root, r->w.n_real, r->w.in, adjoint), r->w.err.text);
    for (size_t k = 0; k < r->w.n_real; k++) {
        size_t n = naive_count(r->w.e, r->w.in[k]);
        direction[k] = calloc(n, sizeof **direction);
        for (size_t i = 0; i < n; i++)
            direction[k][i] = (long double)draw(r, 1000) / 500 - 1;
    }
    slope_by_adjoints(r, root, adjoint, direction, slope);
    naive_slope(r->w.e, root, r->w.n_real, r->w.in, (const long double *const *)direction, 1e-3L,
                expected, error);
    for (size_t i = 0; i < naive_count(r->w.e, root); i++) {
        double scale = 1 + fabs((double)expected[i]);
        if ((double)error[i] > 1e-6 * scale) {
            sharp = false; /* too curved for differences to tell */
            continue;
        }
        assert_close(slope[i], (double)expected[i], 1e-8, 1e-8 + 3 * (double)error[i]);
    }
    for (size_t k = 0; k < r->w.n_real; k++)
        free(direction[k]);
    return sharp;
}

/* The sum of all adjoints, to be differentiated again. */
static dpi_id sum_of_adjoints(random_graph *r, dpi_id root, const dpi_id *adjoint)
{
    dpi_graph *g = &r->w.g;
    bool root_records = dpi_get(g, root)->shape.per_record;
    dpi_id q = DPI_NONE;
    for (size_t k = 0; k < r->w.n_real; k++) {
        if (adjoint[k] == DPI_NONE)
            continue;
        dpi_id term = dpi_sum(g, dpi_scale(g, 0.5 + 0.137 * (double)k, adjoint[k]));
        if (!root_records && dpi_get(g, term)->shape.per_record)
            term = dpi_apply(g, &dpi_op_sum_records, term, DPI_NONE, NULL);
        q = q == DPI_NONE ? term : dpi_add(g, q, term);
    }
    return q;
}

static void derivatives_of_random_graphs_match_differences(void **state)
{
    (void)state;
    if (!naive_is_sharp())
        skip();
    size_t sharp = 0, second = 0;
    for (size_t i = 0; i < GRAPHS; i++) {
        random_graph r = {.state = 2385 + i};
        dpi_id adjoint[WORLD_INPUTS], again[WORLD_INPUTS];
        world_new(&r.w);
        add_inputs(&r);
        for (size_t step = 0; step < STEPS; step++)
            grow(&r);
        dpi_id root = make_root(&r);
        sharp += check_slopes(&r, root, adjoint);
        dpi_id q = sum_of_adjoints(&r, root, adjoint);
        if (q != DPI_NONE && is_tame(&r, q, 0))
            second += check_slopes(&r, q, again);
        world_free(&r.w);
    }
    assert_true(sharp > GRAPHS * 9 / 10 && second > GRAPHS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_random_graphs_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
