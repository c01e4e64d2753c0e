/* Per-record gradients that are never made, against the same by hand: every operation with factored
 * forms, weights that are used once and twice, and batches of more records than a chunk holds.
 *
 *   root = c x.w + v.Wx + c a[g] + v.B[g] + sum_j tanh(e_j x_j) + v.(P 1)     each weight once
 *        + x.w2 + c z.w2 + v.W2 x + u.W2 z + a2[g] a2[h] + v.B2[h] B2[g].u
 *        + sum_j tanh(e2_j x_j) + c e2.z + v.(P2 1) + v.P2 x           each twice */
#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/factored.h"
#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/lib/check.h"

enum { N = 600, D = 6, H = 2, K = 4, CHUNK = 256, ONCE = 6, PARTS = 12 };
enum { SIZE = 2 * (2 * D + 2 * H * D + K + K * H) };

static double x[N][D], z[N][D], u[N][H], v[N][H], c[N];
static int32_t g[N], h[N];

typedef struct weights {
    double w[D], W[H][D], a[K], B[K][H], e[D], P[H][D];
} weights;

/* The weights that are used once, and those that are used twice. */
static weights value[2];

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

static void scatter(size_t n, double *values, size_t from)
{
    for (size_t i = 0; i < n; i++)
        values[i] = spread(from + i);
}

static void fill(void)
{
    scatter(N * D, x[0], 0);
    scatter(N * D, z[0], 5000);
    scatter(N * H, u[0], 9000);
    scatter(N * H, v[0], 12000);
    scatter(N, c, 15000);
    scatter(D, value[0].w, 20000), scatter(D, value[1].w, 20010);
    scatter(H * D, value[0].W[0], 20020), scatter(H * D, value[1].W[0], 20030);
    scatter(K, value[0].a, 20040), scatter(K, value[1].a, 20050);
    scatter(K * H, value[0].B[0], 20060), scatter(K * H, value[1].B[0], 20070);
    scatter(D, value[0].e, 20080), scatter(D, value[1].e, 20090);
    scatter(H * D, value[0].P[0], 20100), scatter(H * D, value[1].P[0], 20110);
    for (size_t i = 0; i < N; i++) {
        g[i] = (int32_t)(i * 7 % K);
        h[i] = (int32_t)(i * 5 / 3 % K); /* the same group as g for some records */
    }
}

/* ---- by hand ---- */

static void gradient_by_hand(size_t i, weights out[2])
{
    memset(out, 0, 2 * sizeof *out);
    double pick_v = 0, pick_u = 0; /* v.B2[h], u.B2[g] */
    for (int k = 0; k < H; k++) {
        pick_v += v[i][k] * value[1].B[h[i]][k];
        pick_u += u[i][k] * value[1].B[g[i]][k];
    }
    for (int j = 0; j < D; j++) {
        out[0].w[j] = c[i] * x[i][j];
        out[1].w[j] = x[i][j] + c[i] * z[i][j];
        double first = tanh(value[0].e[j] * x[i][j]), second = tanh(value[1].e[j] * x[i][j]);
        out[0].e[j] = (1 - first * first) * x[i][j];
        out[1].e[j] = (1 - second * second) * x[i][j] + c[i] * z[i][j];
        for (int k = 0; k < H; k++) {
            out[0].W[k][j] = v[i][k] * x[i][j];
            out[1].W[k][j] = v[i][k] * x[i][j] + u[i][k] * z[i][j];
            out[0].P[k][j] = v[i][k];
            out[1].P[k][j] = v[i][k] + v[i][k] * x[i][j];
        }
    }
    out[0].a[g[i]] = c[i];
    out[1].a[g[i]] += value[1].a[h[i]];
    out[1].a[h[i]] += value[1].a[g[i]];
    for (int k = 0; k < H; k++) {
        out[0].B[g[i]][k] = v[i][k];
        out[1].B[h[i]][k] += v[i][k] * pick_u;
        out[1].B[g[i]][k] += u[i][k] * pick_v;
    }
}

static void sum_by_hand(size_t m, const size_t *list, double clip, double sum[SIZE])
{
    memset(sum, 0, SIZE * sizeof *sum);
    for (size_t i = 0; i < m; i++) {
        double flat[SIZE], norm2 = 0;
        weights of_record[2];
        gradient_by_hand(list[i], of_record);
        memcpy(flat, of_record, sizeof flat);
        for (size_t e = 0; e < SIZE; e++)
            norm2 += flat[e] * flat[e];
        for (size_t e = 0; e < SIZE; e++)
            sum[e] += flat[e] * fmin(1, clip / sqrt(norm2));
    }
}

/* ---- by the executor ---- */

typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dp_dataset *data;
    dpi_id weight[PARTS], part[PARTS], root;
} setting;

static dpi_id column(setting *s, const char *name, size_t d)
{
    return dpi_source(&s->graph, &dpi_op_data, name, (dpi_attr){.shape = dpi_vector(d, true)});
}

static dpi_id groups_of(setting *s, const char *name)
{
    return dpi_source(&s->graph, &dpi_op_index, name,
                      (dpi_attr){.shape = dpi_scalar(true), .number = K});
}

static dpi_id input(setting *s, size_t rows, size_t n)
{
    dpi_shape shape = dpi_vector(n, false);
    if (rows > 1)
        (void)dpi_shape_prepend(&shape, rows, 0);
    return dpi_source(&s->graph, &dpi_op_input, "weight", (dpi_attr){.shape = shape});
}

static dpi_id product(setting *s, dpi_id a, dpi_id b)
{
    return dpi_apply(&s->graph, &dpi_op_matmul, a, b, NULL);
}

static dpi_id pick(setting *s, dpi_id a, dpi_id group)
{
    return dpi_apply(&s->graph, &dpi_op_pick, a, group, NULL);
}

static void add(setting *s, dpi_id term)
{
    s->root = s->root == DPI_NONE ? term : dpi_add(&s->graph, s->root, term);
}

static void build(setting *s)
{
    dpi_graph *G = &s->graph;
    dpi_id X = column(s, "x", D), Z = column(s, "z", D), U = column(s, "u", H),
           V = column(s, "v", H), C = column(s, "c", 1), first = groups_of(s, "g"),
           second = groups_of(s, "h"), *W = s->weight;
    s->root = DPI_NONE;
    for (int k = 0; k < 2; k++) {
        W[ONCE * k] = input(s, 1, D);
        W[ONCE * k + 1] = input(s, H, D);
        W[ONCE * k + 2] = input(s, 1, K);
        W[ONCE * k + 3] = input(s, K, H);
        W[ONCE * k + 4] = input(s, 1, D);
        W[ONCE * k + 5] = input(s, H, D);
        add(s, product(s, V, dpi_unary(G, &dpi_op_sum_last, W[ONCE * k + 5])));
    }
    add(s, product(s, V, product(s, W[ONCE + 5], X)));
    add(s, dpi_times(G, C, product(s, X, W[0])));
    add(s, product(s, V, product(s, W[1], X)));
    add(s, dpi_times(G, C, pick(s, W[2], first)));
    add(s, product(s, V, pick(s, W[3], first)));
    for (int k = 0; k < 2; k++)
        add(s, dpi_sum(G, dpi_unary(G, &dpi_op_tanh, dpi_times(G, W[ONCE * k + 4], X))));
    add(s, dpi_times(G, C, product(s, Z, W[ONCE + 4])));
    add(s, product(s, X, W[ONCE]));
    add(s, dpi_times(G, C, product(s, Z, W[ONCE])));
    add(s, product(s, V, product(s, W[ONCE + 1], X)));
    add(s, product(s, U, product(s, W[ONCE + 1], Z)));
    add(s, dpi_times(G, pick(s, W[ONCE + 2], first), pick(s, W[ONCE + 2], second)));
    add(s, dpi_times(G, product(s, V, pick(s, W[ONCE + 3], second)),
                     product(s, U, pick(s, W[ONCE + 3], first))));
    (void)dpi_gradient(G, s->root, PARTS, s->weight, s->part);
}

static void set_up(setting *s)
{
    *s = (setting){0};
    dpi_graph_init(&s->graph, &s->arena, &s->err);
    build(s);
    assert_ok(s->err.status, s->err.text);
    s->data = dp_dataset_new(N);
    dp_dataset_real(s->data, "x", D, x[0]);
    dp_dataset_real(s->data, "z", D, z[0]);
    dp_dataset_real(s->data, "u", H, u[0]);
    dp_dataset_real(s->data, "v", H, v[0]);
    dp_dataset_real(s->data, "c", 1, c);
    dp_dataset_index(s->data, "g", g);
    dp_dataset_index(s->data, "h", h);
}

static void tear_down(setting *s)
{
    dp_dataset_free(s->data);
    dpi_arena_free(&s->arena);
}

static dpi_run *start(const setting *s, size_t chunk)
{
    dpi_run *run;
    dp_error err = {0};
    dpi_run_spec spec = {.graph = &s->graph,
                         .wanted = s->weight,
                         .n_wanted = PARTS,
                         .parts = s->part,
                         .n_parts = PARTS,
                         .data = s->data,
                         .chunk = chunk};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (int k = 0; k < 2; k++) {
        memcpy(dpi_run_value(run, s->weight[ONCE * k]), value[k].w, sizeof value[k].w);
        memcpy(dpi_run_value(run, s->weight[ONCE * k + 1]), value[k].W, sizeof value[k].W);
        memcpy(dpi_run_value(run, s->weight[ONCE * k + 2]), value[k].a, sizeof value[k].a);
        memcpy(dpi_run_value(run, s->weight[ONCE * k + 3]), value[k].B, sizeof value[k].B);
        memcpy(dpi_run_value(run, s->weight[ONCE * k + 4]), value[k].e, sizeof value[k].e);
        memcpy(dpi_run_value(run, s->weight[ONCE * k + 5]), value[k].P, sizeof value[k].P);
    }
    dpi_run_globals(run);
    return run;
}

/* Records list[0 ... m - 1], or 0 ... m - 1 for NULL. */
static void sum_by_run(const setting *s, size_t m, const size_t *list, double clip, size_t chunk,
                       double sum[SIZE])
{
    static double scratch[2 * N];
    dpi_run *run = start(s, chunk);
    memset(sum, 0, SIZE * sizeof *sum);
    for (size_t from = 0; from < m; from += chunk) {
        size_t now = m - from < chunk ? m - from : chunk;
        dpi_run_records(run, now, list != NULL ? list + from : NULL, from);
        dpi_run_clip_sum(run, now, clip, scratch, sum);
    }
    dpi_run_free(run);
}

/* ---- tests ---- */

/* A new factored form is an operation that no weight of this setting leads to. */
static void every_factored_form_is_among_the_parts(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t k = 0; k < DPI_N_OPS; k++) {
        bool found = false;
        for (size_t p = 0; p < ONCE; p++)
            found = found || dpi_get(&s.graph, s.part[p])->op == dpi_ops[k];
        if (dpi_factored_forms[k].norm2 != NULL && !found)
            fail_msg("no gradient here ends in %s", dpi_ops[k]->name);
    }
    for (size_t p = 0; p < PARTS; p++) /* used once: factored; used twice: added up */
        assert_int_equal(dpi_factored_forms[dpi_get(&s.graph, s.part[p])->op->id].norm2 != NULL,
                         p < ONCE);
    tear_down(&s);
}

static void single_records_have_the_gradients_by_hand(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *run = start(&s, 1);
    for (size_t i = 0; i < N; i++) {
        const double clips[] = {1e-3, 2.385, INFINITY};
        for (int k = 0; k < 3; k++) {
            double expected[SIZE], sum[SIZE] = {0}, scratch[2];
            sum_by_hand(1, &i, clips[k], expected);
            dpi_run_records(run, 1, NULL, i);
            dpi_run_clip_sum(run, 1, clips[k], scratch, sum);
            for (size_t e = 0; e < SIZE; e++)
                assert_close(sum[e], expected[e], 1e-13, 1e-15);
        }
    }
    dpi_run_free(run);
    tear_down(&s);
}

/* More records than a chunk holds: the sum by hand, and that of records one by one; to the bit
 * where it is added record by record. */
static void chunks_give_what_single_records_give(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    const double clips[] = {1e-3, 2.385, 5.5, INFINITY};
    const size_t sizes[] = {1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, N};
    size_t backwards[N], in_order[N];
    for (size_t i = 0; i < N; i++) {
        in_order[i] = i;
        backwards[i] = (N - 1 - i) / 2 * 2; /* every second record, twice */
    }
    for (size_t k = 0; k < 4; k++)
        for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
            for (int listed = 0; listed < 2; listed++) {
                double expected[SIZE], one_by_one[SIZE], sum[SIZE];
                const size_t *list = listed ? backwards : NULL;
                sum_by_hand(sizes[n], listed ? backwards : in_order, clips[k], expected);
                sum_by_run(&s, sizes[n], list, clips[k], 1, one_by_one);
                sum_by_run(&s, sizes[n], list, clips[k], CHUNK, sum);
                assert_memory_equal(sum, one_by_one, sizeof sum / 2); /* of weights used once */
                for (size_t e = 0; e < SIZE; e++)
                    assert_close(sum[e], expected[e], 1e-11, 1e-12);
            }
    tear_down(&s);
}

static void no_records_add_nothing(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    dpi_run *run = start(&s, CHUNK);
    double scratch[2 * CHUNK], sum[SIZE], before[SIZE];
    scatter(SIZE, before, 0);
    memcpy(sum, before, sizeof sum);
    dpi_run_records(run, 0, NULL, 0);
    dpi_run_clip_sum(run, 0, 1, scratch, sum);
    assert_memory_equal(sum, before, sizeof sum);
    dpi_run_free(run);
    tear_down(&s);
}

/* A factor of few steps of the smallest doubles has a rounded norm, and the other one may be large
 * enough to bring that back. */
static void a_subnormal_factor_is_clipped_as_it_is(void **state)
{
    (void)state;
    const dpi_op *const ops[] = {&dpi_op_outer, &dpi_op_mul};
    for (int op = 0; op < 2; op++)
        for (size_t columns = 1; columns <= 9; columns++)
            for (double large = 1e303; large <= 1e308; large *= 7.385) {
                const double a[9] = {5e-324, 5e-324, 1e-323, 0, 5e-324, 5e-324, 5e-324, 0, 5e-324};
                const double b[1] = {large}, clip = 1e-30;
                const dpi_attr attr = {.rows = 1, .columns = columns};
                const dpi_call call = {.n = 1,
                                       .in = {b, a},
                                       .in_size = {1, columns},
                                       .out_size = columns,
                                       .attr = &attr};
                double norm2 = 0, sum[9] = {0}, length2 = 0;
                dpi_factored_forms[ops[op]->id].norm2(&call, &norm2);
                const double weight = clip / sqrt(norm2);
                dpi_factored_forms[ops[op]->id].weighted_sum(&call, &weight, sum);
                for (size_t j = 0; j < columns; j++)
                    length2 += sum[j] / clip * (sum[j] / clip);
                assert_close(length2, 1, 1e-13, 0);
            }
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factored_form_is_among_the_parts),
        cmocka_unit_test(single_records_have_the_gradients_by_hand),
        cmocka_unit_test(chunks_give_what_single_records_give),
        cmocka_unit_test(no_records_add_nothing),
        cmocka_unit_test(a_subnormal_factor_is_clipped_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
