/* Gradients that are sums of terms: where terms cancel, where their lengths are extreme, where
 * records are not finite, in every company, and by cost.
 *
 *   root = sum (x W) o g - sum (z W) o h,  with gradient x^T g - z^T h, rank 2 ROWS */
#include "exec/terms.h"

#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 9, ROWS = 2, K = 5, O = 11, SIZE = K * O, EACH = ROWS * O };

typedef struct setting {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id x, z, first, second, weight, part;
    double value[4][N * EACH];
} setting;

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

static dpi_id matrix(setting *s, const char *name, bool per_record, size_t rows, size_t columns)
{
    dpi_shape shape = {.per_record = per_record, .n_dims = 2, .dim = {rows, columns}};
    return dpi_source(&s->g, &dpi_op_input, name, (dpi_attr){.shape = shape});
}

static dpi_id side(setting *s, dpi_id x, dpi_id g)
{
    dpi_id y = dpi_apply(&s->g, &dpi_op_matmul, x, s->weight, NULL);
    return dpi_sum(&s->g, dpi_times(&s->g, y, g));
}

static void set_up(setting *s)
{
    memset(s, 0, sizeof *s);
    dpi_graph_init(&s->g, &s->arena, &s->err);
    s->x = matrix(s, "x", true, ROWS, K);
    s->z = matrix(s, "z", true, ROWS, K);
    s->first = matrix(s, "g", true, ROWS, O);
    s->second = matrix(s, "h", true, ROWS, O);
    s->weight = matrix(s, "W", false, K, O);
    dpi_id root = dpi_sub(&s->g, side(s, s->x, s->first), side(s, s->z, s->second));
    assert_ok(dpi_gradient(&s->g, root, 1, &s->weight, &s->part), s->err.text);
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < N * EACH; i++)
            s->value[k][i] = spread(1000 * k + i);
}

static void tear_down(setting *s)
{
    dpi_arena_free(&s->arena);
}

static dp_status new_run(const setting *s, dpi_choice choice, size_t chunk, dpi_run **run)
{
    dp_error err = {0};
    dpi_run_spec spec = {
        .graph = &s->g, .parts = &s->part, .n_parts = 1, .chunk = chunk, .choice = choice};
    return dpi_run_new(&spec, run, &err);
}

static dpi_run *start(const setting *s, dpi_choice choice, size_t chunk)
{
    dpi_run *run;
    assert_int_equal(new_run(s, choice, chunk, &run), DP_OK);
    return run;
}

/* Runs m records of the list. */
static void run_records(const setting *s, dpi_run *run, size_t m, const size_t *list)
{
    const dpi_id id[4] = {s->x, s->z, s->first, s->second};
    for (int k = 0; k < 4; k++)
        for (size_t r = 0; r < m; r++) {
            size_t size = ROWS * (k < 2 ? K : O);
            memcpy(dpi_run_value(run, id[k]) + r * size, s->value[k] + list[r] * EACH,
                   size * sizeof(double));
        }
    dpi_run_globals(run);
    dpi_run_records(run, m, NULL, 0);
}

static void gradient_by_hand(const setting *s, size_t i, double out[SIZE])
{
    for (size_t k = 0; k < K; k++)
        for (size_t o = 0; o < O; o++) {
            long double sum = 0;
            for (size_t r = 0; r < ROWS; r++)
                sum += (long double)s->value[0][i * EACH + r * K + k] *
                           s->value[2][i * EACH + r * O + o] -
                       (long double)s->value[1][i * EACH + r * K + k] *
                           s->value[3][i * EACH + r * O + o];
            out[k * O + o] = (double)sum;
        }
}

static double length(const double *a)
{
    double sum = 0;
    for (size_t e = 0; e < SIZE; e++)
        sum += a[e] * a[e];
    return sqrt(sum);
}

static const size_t in_order[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const dpi_choice ways[] = {DPI_ALWAYS_MADE, DPI_ALWAYS_PRODUCTS, DPI_ALWAYS_ONE_BY_ONE};

static void sums_are_those_by_hand(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (int way = 0; way < 3; way++)
        for (int c = 0; c < 3; c++) {
            const double clips[] = {0.5, 7, INFINITY};
            double scratch[2 * N], sum[SIZE] = {0}, expected[SIZE] = {0}, one[SIZE];
            dpi_run *run = start(&s, ways[way], N);
            run_records(&s, run, N, in_order);
            dpi_run_clip_sum(run, N, clips[c], scratch, sum);
            for (size_t i = 0; i < N; i++) {
                gradient_by_hand(&s, i, one);
                for (size_t e = 0; e < SIZE; e++)
                    expected[e] += one[e] * fmin(1, clips[c] / length(one));
            }
            for (size_t e = 0; e < SIZE; e++)
                assert_close(sum[e], expected[e], 1e-13, 1e-13);
            dpi_run_free(run);
        }
    tear_down(&s);
}

/* What a record adds is at most the clip, however much of its terms cancels: down to nothing but
 * rounding. */
static void what_cancels_is_clipped_as_it_is(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (double far = 1; far > 1e-18; far /= 7.385)
        for (int way = 0; way < 3; way++) {
            dpi_run *run = start(&s, ways[way], N);
            for (size_t i = 0; i < N * EACH; i++) {
                s.value[1][i] = s.value[0][i] * (1 + far * spread(i + 5000));
                s.value[3][i] = s.value[2][i] * (1 + far * spread(i + 6000));
            }
            for (size_t i = 0; i < N; i++) {
                const double clip = 1e-30;
                double scratch[2 * N], sum[SIZE] = {0}, expected[SIZE];
                run_records(&s, run, 1, &i);
                dpi_run_clip_sum(run, 1, clip, scratch, sum);
                gradient_by_hand(&s, i, expected);
                if (scratch[0] > 0)
                    assert_close(length(sum), clip, 1e-13, 0);
                assert_close(sqrt(scratch[0]), length(expected), 1e-13, 2e-15);
            }
            dpi_run_free(run);
        }
    tear_down(&s);
}

/* Records from the middle of a chunk, of which every other one cancels, have the sum that they have
 * as a chunk of their own. */
static void records_may_be_some_of_a_chunk(void **state)
{
    (void)state;
    const size_t first = 3;
    setting s;
    set_up(&s);
    for (size_t i = 0; i < N * EACH; i++)
        if (i / EACH % 2 == 0) {
            s.value[1][i] = s.value[0][i] * (1 + 1e-12 * spread(i + 5000));
            s.value[3][i] = s.value[2][i] * (1 + 1e-12 * spread(i + 6000));
        }
    for (int way = 0; way < 3; way++) {
        double norm2[N], weight[N], some[SIZE] = {0}, alone[SIZE] = {0};
        dpi_run *run = start(&s, ways[way], N);
        run_records(&s, run, N, in_order);
        dpi_run_weights(run, N, 0.5, norm2, weight);
        dpi_run_add_part(run, 0, first, N - first, weight + first, some);
        run_records(&s, run, N - first, in_order + first);
        dpi_run_weights(run, N - first, 0.5, norm2, weight);
        dpi_run_add_part(run, 0, 0, N - first, weight, alone);
        assert_memory_equal(some, alone, sizeof some);
        assert_true(length(some) > 0);
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* Factors whose squares vanish or overflow, though their products do not. */
static void lengths_may_be_extreme(void **state)
{
    (void)state;
    static const double scales[][2] = {{1e-170, 1e165}, {1e170, 1e-165}, {1e-80, 1e75},
                                       {1e-300, 1e290}, {1e-60, 1e50},   {1e-170, 1e150},
                                       {1e-160, 1e150}, {1e150, 1e-160}, {1e-170, 1e65}};
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++)
        for (int both = 0; both < 2; both++)
            for (int way = 0; way < 3; way++) {
                setting s;
                set_up(&s);
                for (size_t i = 0; i < N * EACH; i++) {
                    s.value[0][i] *= scales[k][0];
                    s.value[2][i] *= scales[k][1];
                    s.value[1][i] *= both ? scales[k][0] : 0;
                    s.value[3][i] *= both ? scales[k][1] : 1;
                }
                dpi_run *run = start(&s, ways[way], N);
                double scratch[2 * N], sum[SIZE] = {0}, expected[SIZE];
                run_records(&s, run, N, in_order);
                dpi_run_clip_sum(run, N, INFINITY, scratch, sum);
                for (size_t i = 0; i < N; i++) {
                    gradient_by_hand(&s, i, expected);
                    assert_close(sqrt(scratch[i]), length(expected), 1e-13, 0);
                }
                dpi_run_free(run);
                tear_down(&s);
            }
}

static void records_that_are_not_finite_add_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++)
        for (int k = 0; k < 4; k++) {
            setting s;
            set_up(&s);
            s.value[k][4 * EACH + 3] = k % 2 ? INFINITY : NAN;
            const size_t others[N - 1] = {0, 1, 2, 3, 5, 6, 7, 8};
            double scratch[2 * N], sum[SIZE] = {0}, expected[SIZE] = {0};
            dpi_run *run = start(&s, ways[way], N);
            run_records(&s, run, N, in_order);
            dpi_run_clip_sum(run, N, 2, scratch, sum);
            assert_true(scratch[N + 4] == 0);
            run_records(&s, run, N - 1, others);
            dpi_run_clip_sum(run, N - 1, 2, scratch, expected);
            for (size_t e = 0; e < SIZE; e++)
                assert_close(sum[e], expected[e], 1e-14, 1e-14);
            dpi_run_free(run);
            tear_down(&s);
        }
}

/* The norm of a record, and what it adds as it is, are functions of that record alone, to the
 * bit. */
static void a_record_is_the_same_in_every_company(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    for (size_t i = 0; i < EACH; i++) { /* two that cancel */
        s.value[1][2 * EACH + i] = s.value[0][2 * EACH + i] * (1 + 1e-9 * spread(i));
        s.value[3][2 * EACH + i] = s.value[2][2 * EACH + i];
    }
    for (int way = 1; way < 3; way++) {
        dpi_run *run = start(&s, ways[way], N), *clone;
        assert_ok(dpi_run_clone(run, &clone, NULL), "");
        for (size_t i = 0; i < N; i++)
            for (size_t at = 0; at < N; at++) {
                double alone[SIZE] = {0}, among[SIZE] = {0}, scratch[2][2 * N], sum[SIZE] = {0};
                size_t list[N];
                for (size_t r = 0; r < N; r++)
                    list[r] = (i + N + r - at) % N;
                run_records(&s, clone, 1, &i);
                dpi_run_clip_sum(clone, 1, 2, scratch[0], sum);
                dpi_run_add_rows(clone, 0, 1, alone);
                run_records(&s, run, N, list);
                dpi_run_clip_sum(run, N, 2, scratch[1], sum);
                dpi_run_add_rows(run, at, 1, among);
                assert_memory_equal(alone, among, sizeof alone);
                assert_memory_equal(&scratch[0][0], &scratch[1][at], sizeof(double));
            }
        dpi_run_free(clone);
        dpi_run_free(run);
    }
    tear_down(&s);
}

/* 256 gradients, each at most a clip long, may be off by 256^2 u clips (src/svi/svi.c): an addition
 * to the others for each, and what chains of blocks leave; blocks of one more would leave too
 * much. */
static void blocks_are_chosen_within_what_is_left(void **state)
{
    (void)state;
    for (size_t rank = 1; rank <= 300; rank++) {
        const dpi_decomposition d = {.way = DPI_PRODUCTS, .rank = rank};
        double p = (double)rank, s = sqrt(16 + 4 * p),
               records = (double)dpi_decomposition_block(&d);
        double each = p * (records - 1) + p * (1 + s) / 2 + 2 * s + 257.0 / 2;
        assert_true(records == 1 || each < 255);
        assert_true(each + p > 252);
        assert_true((records > 1) == (rank < 18));
    }
}

static void failing_memory_leaves_no_run(void **state)
{
    (void)state;
    setting s;
    set_up(&s);
    size_t k = 1, live = faulty_live();
    for (int failed = 1; failed; k++) {
        dpi_run *run;
        faulty_fail(k);
        dp_status status = new_run(&s, DPI_ALWAYS_PRODUCTS, 3, &run);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dpi_run_free(run);
        assert_int_equal(faulty_live(), live);
    }
    assert_true(k > 2);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_by_hand),
        cmocka_unit_test(what_cancels_is_clipped_as_it_is),
        cmocka_unit_test(records_may_be_some_of_a_chunk),
        cmocka_unit_test(lengths_may_be_extreme),
        cmocka_unit_test(records_that_are_not_finite_add_nothing),
        cmocka_unit_test(a_record_is_the_same_in_every_company),
        cmocka_unit_test(blocks_are_chosen_within_what_is_left),
        cmocka_unit_test(failing_memory_leaves_no_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
