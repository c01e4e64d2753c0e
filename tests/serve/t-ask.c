/* Providers that do not keep to the protocol: what their sheets ask for is not given, and what they
 * see of a query does not depend on what they have answered. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "serve/stream.h"
#include "tests/lib/numbers.h"
#include "tests/serve/host.h"
#include "wire/log.h"

/* ---- sheets ---- */

static void send_sheet(host *h, dpi_wire_session *wire)
{
    unsigned char ask[DPI_ASK_BYTES], size[DPI_SIZE_BYTES], byte;
    assert_ok(dpi_wire_receive(wire, DPI_SAY_ASK, 0, ask, sizeof ask, LONG), "");
    dpi_put_number(size, h->sheet_bytes);
    assert_ok(dpi_wire_send(wire, DPI_SAY_SIZE, 0, size, sizeof size, LONG), "");
    (void)!dpi_wire_send(wire, DPI_SAY_SHEET, 0, h->sheet, h->sheet_bytes, LONG);
    (void)!dpi_wire_receive(wire, DPI_SAY_KEY, 0, &byte, 1, LONG); /* until the other side goes */
}

/* Where the input's shape is in a sheet: after the magic, the link and the draws. */
enum { SHAPE_AT = 8 + 16 + 2 * 8 };

/* A client is given the sheet of p with another shape of the input. */
static dp_status open_with_shape(dp_program *p, const size_t shape[3], dp_serve_protocol protocol,
                                 dp_serve_mode mode, dp_error *err)
{
    scene *s = new_scene();
    host h = {.act = send_sheet};
    dp_ask *ask;
    start_host(&h, s, p);
    for (int i = 0; i < 3; i++) {
        assert_true(dpi_get_number(h.sheet + SHAPE_AT + 8 * i) == dp_program_stage(p, 0)->shape[i]);
        dpi_put_number(h.sheet + SHAPE_AT + 8 * i, shape[i]);
    }
    run_in_thread(&h);
    const dp_ask_opts opts = ask_opts(s, protocol, mode);
    dp_status status = dp_ask_new(&opts, &ask, err);
    dp_ask_free(ask);
    end_host(&h);
    free_scene(s);
    dp_program_free(p);
    return status;
}

static void memory_is_not_given_to_any_sheet(void **state)
{
    (void)state;
    dp_error err = {0};
    const size_t shape[3] = {1, 1, (size_t)1 << 23};
    assert_fails(open_with_shape(regression(), shape, DP_SERVE_PAILLIER, DP_SERVE_LINEAR, &err),
                 DP_EUNSUPPORTED, &err, "more than 512 MB");
    /* Nor to many queries at a time. */
    const dpi_serve_plan plan = {.n_layers = 2};
    const dpi_serve_cost cost = {.key = 256, .up = {1 << 24, 1 << 24}, .down = {1 << 24, 1 << 24}};
    assert_ok(dpi_serve_check_cost(&plan, &cost, 7, &err), err.text);
    assert_fails(dpi_serve_check_cost(&plan, &cost, 8, &err), DP_EUNSUPPORTED, &err, "8 at a time");
}

/* Fifty maxima of 3 x 3, then those of 32 x 32 in which little is left. */
static dp_program *maxima(void)
{
    static const double w[8] = {1, -.5, .25, 1, .125, -1, .75, 1};
    const dp_window three = {.size = {3, 3}, .padding = {1, 1}};
    const dp_window wide = {.size = {32, 32}, .stride = {32, 32}};
    dp_program *p = dp_program_new();
    int h = dp_program_image(p, 64, 64, 1, "pixel", -1, 1);
    for (int i = 0; i < 50; i++)
        h = dp_program_max_pool(p, h, &three);
    (void)dp_program_dense(p, dp_program_max_pool(p, h, &wide), 2, w, w);
    return finish(p);
}

static void work_is_not_done_for_any_sheet(void **state)
{
    (void)state;
    dp_error err = {0};
    const size_t shape[3] = {2048, 2048, 1};
    assert_fails(open_with_shape(maxima(), shape, DP_SERVE_LATTICE, DP_SERVE_LINEAR, &err),
                 DP_EUNSUPPORTED, &err, "look at");
    dpi_serve_plan plan;
    dp_program *p = maxima();
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    dp_program_free(p);
}

/* ---- answers that are none ---- */

enum { HIDDEN = 64, MOST_SEEN = 8 };

/* The second layer's numbers have more bits than the first's, so that what is spoilt shows. */
static dp_program *widening(void)
{
    enum { IN = 2, OUT = 4 };
    double w[IN * HIDDEN], v[HIDDEN * OUT];
    uint64_t numbers = 4;
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    int h = dp_program_input(p, IN, "x", -1, 1);
    h = dp_program_relu(p, dp_program_dense(p, h, HIDDEN, w, v));
    (void)dp_program_dense(p, h, OUT, v, w);
    return finish(p);
}

/* By the provider's threads, read when they have ended: layers of all queries, and first ones. */
static atomic_int layers_seen, firsts_seen;
static uint32_t orders_seen[MOST_SEEN][HIDDEN]; /* of first layers */
static int spoilt;                              /* which query's first layer; -1: of all */

/* A first layer's answer is spoilt. */
static dp_status wrong_layer(void *session, size_t layer, const dpi_serve_order_pair *order,
                             const unsigned char *up, unsigned char *down, dpi_pool *pool,
                             size_t threads, dp_error *err)
{
    dp_status status = dpi_he2_lattice.layer(session, layer, order, up, down, pool, threads, err);
    const int query = layer == 0 ? atomic_fetch_add(&firsts_seen, 1) : -2;
    if (query >= 0 && query < MOST_SEEN)
        memcpy(orders_seen[query], order->output, sizeof orders_seen[query]);
    for (int i = 0; layer == 0 && (spoilt == -1 || spoilt == query) && i < 4000; i++)
        down[i] ^= 0x15;
    atomic_fetch_add(&layers_seen, 1);
    return status;
}

static void answer_wrongly(host *h, dpi_wire_session *wire)
{
    dpi_serve_row row = dpi_he2_lattice;
    dpi_serve_plan plan;
    dpi_query_log *log;
    void *compiled;
    dpi_stream_profile profile;
    const dpi_serve_opts opts = {0};
    dpi_answering a = {.row = &row,
                       .plan = &plan,
                       .mode = DPI_MODE_PERMUTE,
                       .sheet = h->sheet,
                       .sheet_bytes = h->sheet_bytes,
                       .policy = &h->policy,
                       .threads = 1,
                       .in_flight = 4,
                       .profile = &profile,
                       .timeout = LONG,
                       .idle = LONG};
    row.layer = wrong_layer;
    assert_ok(dpi_serve_plan_make(h->p, DPI_MODE_PERMUTE, &plan, NULL), "");
    assert_ok(row.cost(&plan, DPI_MODE_PERMUTE, &opts, &a.cost, NULL), "");
    assert_ok(row.compile(&plan, DPI_MODE_PERMUTE, &opts, &compiled, NULL), "");
    assert_ok(dpi_query_log_open(h->s->log, 10, 60, &log, NULL), "");
    a.compiled = compiled;
    a.log = log;
    dpi_stream_profile_start(&profile, plan.n_layers);
    h->ended = dpi_serve_answer(&a, wire, NULL, NULL);
    dpi_stream_profile_end(&profile);
    dpi_query_log_close(log);
    row.discard(compiled);
}

static void a_wrong_answer_is_not_told_by_what_follows(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_program *p = widening();
    host h = {.act = answer_wrongly};
    dp_error err = {0};
    dp_ask *ask;
    const double x[2] = {.5, -.25};
    int64_t y[4] = {1, 1, 1, 1};
    layers_seen = 0;
    spoilt = -1;
    start_host(&h, s, p);
    run_in_thread(&h);
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EPEER, &err, "");
    for (int i = 0; i < 4; i++)
        assert_int_equal(y[i], 0);
    /* The session is at an end, and stays so. */
    const dp_ask_traffic before = dp_ask_counts(ask);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EPEER, &err, "");
    assert_true(dp_ask_counts(ask).up == before.up);
    dp_ask_free(ask);
    end_host(&h);
    assert_int_equal(layers_seen, 2); /* all of them */
    assert_int_equal(h.ended, DP_OK);
    free_scene(s);
    dp_program_free(p);
}

/* Neither the queries that are under way nor those that follow tell which answer was none. */
static void a_stream_goes_on_after_a_wrong_answer(void **state)
{
    (void)state;
    enum { N = 6, WRONG = 3, AT_A_TIME = 3 };
    scene *s = new_scene();
    dp_program *p = widening();
    host h = {.act = answer_wrongly};
    dp_error err = {0};
    dp_ask *ask;
    double x[2 * N];
    int64_t y[4 * N], v[2 * N], expected[4 * N];
    uint64_t numbers = 9;
    size_t answered;
    layers_seen = firsts_seen = 0;
    spoilt = WRONG;
    fill(&numbers, 2 * N, x);
    assert_ok(dp_program_encode(p, N, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, N, v, expected, &err), err.text);
    start_host(&h, s, p);
    run_in_thread(&h);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.in_flight = AT_A_TIME;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_fails(dp_ask_many(ask, N, x, y, &answered, &err), DP_EPEER, &err, "");
    assert_true(answered <= WRONG);
    assert_memory_equal(y, expected, answered * 4 * sizeof *y);
    for (size_t i = 4 * answered; i < sizeof y / sizeof *y; i++)
        assert_int_equal(y[i], 0);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EPEER, &err, "");
    dp_ask_free(ask);
    end_host(&h);
    assert_int_equal(layers_seen, 2 * N); /* all of them */
    /* Two orders that are drawn anew are the same with chance 1 in 64!. */
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(orders_seen[i], orders_seen[k], sizeof orders_seen[i]);
    assert_int_equal(h.ended, DP_OK);
    free_scene(s);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_not_given_to_any_sheet),
        cmocka_unit_test(work_is_not_done_for_any_sheet),
        cmocka_unit_test(a_wrong_answer_is_not_told_by_what_follows),
        cmocka_unit_test(a_stream_goes_on_after_a_wrong_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
