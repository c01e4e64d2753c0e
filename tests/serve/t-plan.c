/* How programs are cut between two sides, and the work around: run in the clear, without any
 * encryption, the plan gives what the exact executor gives. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/serve.h>

#include "serve/ahead.h"
#include "serve/protocol.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { INPUTS = 84, OUTPUTS = 4, HIDDEN = 126, LEFT = 27, GROUP = 4, RECORDS = 20 };

static void fill(uint64_t *numbers, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next_number(numbers);
}

/* Convolution with padding, relu, max pool that leaves a column out, dense, sigmoid, dense. */
static dp_program *network(void)
{
    double w[3 * 9 * 2], v[6 * LEFT], u[OUTPUTS * 6], b[8];
    uint64_t numbers = 2;
    const dp_window three = {.size = {3, 3}, .padding = {1, 1}};
    const dp_window two = {.size = {2, 2}, .stride = {2, 2}};
    const dp_scale_opts opts = {.weight_bits = 10, .activation_bits = 12};
    dp_error err = {0};
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    fill(&numbers, sizeof u / sizeof *u, u);
    fill(&numbers, sizeof b / sizeof *b, b);
    dp_program *p = dp_program_new();
    int h = dp_program_image(p, 6, 7, 2, "pixel", -1, 1);
    h = dp_program_relu(p, dp_program_convolution(p, h, 3, &three, w, b));
    h = dp_program_max_pool(p, h, &two);
    h = dp_program_sigmoid(p, dp_program_dense(p, h, 6, v, b));
    (void)dp_program_dense(p, h, OUTPUTS, u, b);
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

static void plans_cut_at_linear_stages(void **state)
{
    (void)state;
    dp_program *p = network();
    dpi_serve_plan plan;
    dp_error err = {0};
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_PERMUTE, &plan, &err), err.text);
    assert_int_equal(plan.n_layers, 3);
    const dpi_serve_layer *l = plan.layer;
    assert_true(l[0].hidden && l[1].hidden && !l[2].hidden);
    assert_true(l[0].inputs == INPUTS && l[1].inputs == LEFT && l[2].inputs == 6);
    /* The pool leaves the last column of pixels out, so it is not sent. */
    assert_true(l[0].sent == LEFT * GROUP && l[0].left == LEFT && l[0].group == GROUP);
    assert_true(l[1].sent == 6 && l[1].left == 6 && l[1].group == 1);
    assert_int_equal(l[2].sent, OUTPUTS);
    assert_fails(dpi_serve_plan_make(p, DPI_MODE_LINEAR, &plan, &err), DP_EPRIVACY, &err,
                 "mode linear");
    dp_program_free(p);
}

/* values = the stage of layer k on them, by its map. */
static void run_map(const dpi_serve_plan *plan, size_t k, int64_t *values)
{
    dpi_serve_map map;
    int64_t out[HIDDEN];
    dp_error err = {0};
    assert_ok(dpi_serve_map_make(plan->p, plan->layer[k].stage, &map, &err), err.text);
    assert_true(map.outputs <= HIDDEN);
    for (size_t o = 0; o < map.outputs; o++) {
        size_t first = map.begin != NULL ? map.begin[o] : o * map.inputs;
        size_t last = map.begin != NULL ? map.begin[o + 1] : (o + 1) * map.inputs;
        out[o] = map.bias[o];
        for (size_t t = first; t < last; t++)
            out[o] += (int64_t)map.weights[map.begin != NULL ? map.weight[t] : t] *
                      values[map.begin != NULL ? map.input[t] : t - first];
    }
    memcpy(values, out, map.outputs * sizeof *values);
    dpi_serve_map_free(&map);
}

/* Layer k with fresh orders; back[left] for the next one. */
static void run_layer(const dpi_serve_plan *plan, size_t k, uint32_t *back, int64_t *values)
{
    const dpi_serve_layer *l = &plan->layer[k];
    int64_t moved[HIDDEN];
    uint32_t order[HIDDEN];
    dp_error err = {0};
    memcpy(moved, values, sizeof moved);
    for (size_t i = 0; k > 0 && i < l->inputs; i++)
        values[back[i]] = moved[i];
    run_map(plan, k, values);
    if (!l->hidden)
        return;
    assert_ok(dpi_serve_order(plan, l, order, back, &err), err.text);
    for (size_t i = 0; i < l->sent; i++)
        moved[i] = values[order[i]];
    memcpy(values, moved, l->sent * sizeof *values);
    dpi_serve_run_hidden(plan, l, values);
}

static void orders_change_no_answer(void **state)
{
    (void)state;
    dp_program *p = network();
    dpi_serve_plan plan;
    uint64_t numbers = 4;
    dp_error err = {0};
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_PERMUTE, &plan, &err), err.text);
    for (int r = 0; r < RECORDS; r++) {
        double x[INPUTS];
        int64_t v[INPUTS], wanted[OUTPUTS], values[HIDDEN] = {0};
        uint32_t back[HIDDEN];
        fill(&numbers, INPUTS, x);
        assert_ok(dp_program_encode(p, 1, x, v, &err), err.text);
        assert_ok(dp_program_run_exact(p, 1, v, wanted, &err), err.text);
        memcpy(values, v, sizeof v);
        for (size_t k = 0; k < plan.n_layers; k++)
            run_layer(&plan, k, back, values);
        assert_memory_equal(values, wanted, sizeof wanted);
    }
    dp_program_free(p);
}

/* Each window's numbers side by side, each window once. */
static void orders_keep_windows_together(void **state)
{
    (void)state;
    dp_program *p = network();
    dpi_serve_plan plan;
    uint32_t order[HIDDEN], back[HIDDEN];
    bool sent[HIDDEN] = {false}, came[LEFT] = {false};
    dp_error err = {0};
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_PERMUTE, &plan, &err), err.text);
    const dpi_serve_layer *l = &plan.layer[0];
    const dp_stage *pool = dp_program_stage(p, l->pool);
    assert_ok(dpi_serve_order(&plan, l, order, back, &err), err.text);
    for (size_t i = 0; i < LEFT; i++) {
        size_t stop = back[i] / 3, channel = back[i] % 3;
        assert_false(came[back[i]]);
        came[back[i]] = true;
        for (size_t k = 0; k < GROUP; k++) {
            uint32_t o = order[i * GROUP + k];
            size_t in = 0;
            for (size_t j = 0; j < GROUP; j++)
                in += dp_window_pixel(&pool->window, stop, j) * 3 + channel == o;
            assert_true(in == 1 && !sent[o]);
            sent[o] = true;
        }
    }
    dp_program_free(p);
}

/* ---- parts ---- */

typedef struct items {
    atomic_int done[100];
    size_t unit, bad;
} items;

static dp_status do_part(void *user, size_t first, size_t last, dp_error *err)
{
    items *t = user;
    assert_int_equal(first % t->unit, 0);
    for (size_t i = first; i < last; i++)
        t->done[i]++;
    if (first <= t->bad && t->bad < last) {
        *err = (dp_error){DP_EPEER, "the bad one"};
        return DP_EPEER;
    }
    return DP_OK;
}

static void parts_are_all_there_once(void **state)
{
    (void)state;
    dpi_pool *pool;
    dp_error err = {0};
    assert_ok(dpi_pool_new(4, &pool, &err), err.text);
    for (size_t n = 0; n <= 100; n++)
        for (size_t unit = 1; unit <= 8; unit += 7) {
            items t = {.unit = unit, .bad = SIZE_MAX};
            assert_ok(dpi_serve_parts(pool, 4, n, unit, do_part, &t, &err), err.text);
            for (size_t i = 0; i < 100; i++)
                assert_int_equal(t.done[i], i < n);
        }
    for (size_t bad = 0; bad < 100; bad += 33) {
        items t = {.unit = 1, .bad = bad};
        assert_fails(dpi_serve_parts(pool, 4, 100, 1, do_part, &t, &err), DP_EPEER, &err, "bad");
    }
    dpi_pool_free(pool);
}

/* ---- work ahead ---- */

typedef struct heap {
    dpi_ahead *ahead;
    atomic_int left, calls;
    atomic_bool wake; /* once, from within the last piece of work */
} heap;

static bool take_one(void *user)
{
    heap *h = user;
    h->calls++;
    if (h->left > 0) {
        h->left--;
        return true;
    }
    if (atomic_exchange(&h->wake, false))
        dpi_ahead_wake(h->ahead);
    return false;
}

/* Waits until so many calls were made, at most some seconds. */
static void wait_for_calls(heap *h, int calls)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 20000 && h->calls < calls; i++)
        (void)nanosleep(&moment, NULL);
    assert_int_equal(h->calls, calls);
}

static void work_ahead_ends_and_goes_on(void **state)
{
    (void)state;
    dpi_ahead ahead = {0};
    heap h = {.ahead = &ahead, .left = 5};
    dpi_ahead_start(&ahead, take_one, &h);
    wait_for_calls(&h, 6);
    h.left = 2;
    dpi_ahead_wake(&ahead);
    wait_for_calls(&h, 9);
    h.wake = true; /* work that comes while the last piece is being done is not forgotten */
    dpi_ahead_wake(&ahead);
    wait_for_calls(&h, 11);
    dpi_ahead_end(&ahead);
    dpi_ahead_end(&ahead);
    dpi_ahead_wake(&ahead);
    assert_int_equal(h.calls, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_cut_at_linear_stages),   cmocka_unit_test(orders_change_no_answer),
        cmocka_unit_test(orders_keep_windows_together), cmocka_unit_test(parts_are_all_there_once),
        cmocka_unit_test(work_ahead_ends_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
