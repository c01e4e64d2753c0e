/* Orders as a session draws them: every one of the 24 of four numbers as often as another, in each
 * layer, and anew for each layer of each query. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "serve/talk.h"
#include "tests/wire/pair.h"
#include "wire/log.h"

enum { HIDDEN = 4, LAYERS = 3, ORDERS = 24, QUERIES = 9600, LONG = 60000 };

int __wrap_fsync(int file);
int __wrap_fsync(int file) /* a log of so many queries need not wait for its disk here */
{
    (void)file;
    return 0;
}

/* ---- a protocol that computes nothing, and keeps the orders ---- */

typedef struct recorder {
    int seen[QUERIES][LAYERS - 1]; /* number of the order */
    size_t query;
    bool broken; /* no order, or not the one that is due: said here, for the thread cannot */
} recorder;

/* Places of the numbers, as a number below 24; 24 where they are no order. */
static int number_of(const uint32_t order[HIDDEN])
{
    int number = 0;
    bool there[HIDDEN] = {false};
    for (int i = 0; i < HIDDEN; i++) {
        int less = 0;
        if (order[i] >= HIDDEN || there[order[i]])
            return ORDERS;
        there[order[i]] = true;
        for (int j = i + 1; j < HIDDEN; j++)
            less += order[j] < order[i];
        number = number * (HIDDEN - i) + less;
    }
    return number;
}

static dp_status open_nothing(const void *of, const unsigned char *key, void **session,
                              dp_error *err)
{
    (void)key;
    (void)err;
    *session = (void *)(uintptr_t)of;
    return DP_OK;
}

static dp_status keep_order(void *of, size_t layer, const dpi_serve_order_pair *order,
                            const unsigned char *up, unsigned char *down, dpi_pool *pool,
                            size_t threads, dp_error *err)
{
    recorder *r = of;
    (void)pool;
    (void)threads;
    (void)err;
    down[0] = up[0];
    int *seen = r->seen[r->query];
    r->broken = r->broken || (order->input != NULL) != (layer > 0) ||
                (order->output != NULL) != (layer + 1 < LAYERS);
    if (order->output != NULL)
        seen[layer] = number_of(order->output) % ORDERS;
    /* Without windows numbers come back in the order they went in. */
    r->broken = r->broken || (order->output != NULL && number_of(order->output) == ORDERS) ||
                (order->input != NULL && number_of(order->input) != seen[layer - 1]);
    r->query += layer + 1 == LAYERS;
    return DP_OK;
}

static bool no_work(void *of)
{
    (void)of;
    return false;
}

static void close_nothing(void *of)
{
    (void)of;
}

static dp_program *network(void)
{
    static const double w[HIDDEN * HIDDEN] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    dp_error err = {0};
    dp_program *p = dp_program_new();
    int at = dp_program_input(p, HIDDEN, "x", -1, 1);
    for (int k = 0; k < LAYERS; k++) {
        at = dp_program_dense(p, at, HIDDEN, w, NULL);
        at = k + 1 < LAYERS ? dp_program_relu(p, at) : at;
    }
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    return p;
}

/* ---- both sides ---- */

typedef struct serving {
    pthread_t thread;
    dpi_answering a;
    dpi_wire_session *wire;
    dp_status status;
    dp_error err;
} serving;

static void *serve(void *of)
{
    serving *s = of;
    s->status = dpi_serve_answer(&s->a, s->wire, NULL, &s->err);
    return NULL;
}

static void ask_all(dpi_wire_session *wire, size_t sheet_bytes)
{
    static unsigned char sheet[1 << 16];
    unsigned char ask[DPI_ASK_BYTES] = {0}, size[DPI_SIZE_BYTES], byte = DPI_QUERY_PLAIN;
    dpi_put_number(ask, DPI_PROTOCOL_HE2_PAILLIER);
    dpi_put_number(ask + 8, DPI_MODE_PERMUTE);
    assert_true(sheet_bytes <= sizeof sheet);
    assert_ok(dpi_wire_send(wire, DPI_SAY_ASK, 0, ask, sizeof ask, LONG), "");
    assert_ok(dpi_wire_receive(wire, DPI_SAY_SIZE, 0, size, sizeof size, LONG), "");
    assert_ok(dpi_wire_receive(wire, DPI_SAY_SHEET, 0, sheet, sheet_bytes, LONG), "");
    assert_ok(dpi_wire_send(wire, DPI_SAY_KEY, 0, &byte, 1, LONG), "");
    for (int q = 0; q < QUERIES; q++) {
        assert_ok(dpi_wire_send(wire, DPI_SAY_QUERY, 0, &byte, 1, LONG), "");
        assert_ok(dpi_wire_receive(wire, DPI_SAY_GO, 0, sheet, 1, LONG), "");
        for (uint32_t k = 1; k <= LAYERS; k++) {
            assert_ok(dpi_wire_send(wire, DPI_SAY_UP, k, &byte, 1, LONG), "");
            assert_ok(dpi_wire_receive(wire, DPI_SAY_DOWN, k, sheet, 1, LONG), "");
        }
    }
}

static void run_session(wire_pair *pair, recorder *r)
{
    static const dpi_serve_row row = {.protocol = DPI_PROTOCOL_HE2_PAILLIER,
                                      .open = open_nothing,
                                      .layer = keep_order,
                                      .idle = no_work,
                                      .close = close_nothing};
    char text[512];
    dp_error err = {0};
    dpi_wire_session *ends[2];
    dpi_policy policy;
    dpi_serve_plan plan;
    size_t sheet_bytes;
    unsigned char *sheet;
    dp_program *p = network();
    serving s = {.a = {.row = &row,
                       .compiled = r,
                       .plan = &plan,
                       .cost = {.key = 1, .up = {1, 1, 1}, .down = {1, 1, 1}},
                       .mode = DPI_MODE_PERMUTE,
                       .policy = &policy,
                       .threads = 1,
                       .timeout = LONG,
                       .idle = LONG}};
    (void)snprintf(
        text, sizeof text,
        "client = %s client\nqueries = 1000000\nwindow = 3600\nprotocols = he2-paillier\n"
        "returns = scores\nmodes = permute\nallow-activation-leak = yes\n",
        dp_identity_fingerprint(pair->own[CLIENT]));
    assert_ok(dpi_policy_parse(text, strlen(text), "policy", &policy, &err), err.text);
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_PERMUTE, &plan, &err), err.text);
    assert_ok(dp_program_sheet(p, &sheet_bytes, &sheet, &err), err.text);
    assert_ok(dpi_query_log_open(pair_path(pair, "log"), 1000000, 3600, &s.a.log, &err), err.text);
    s.a.sheet = sheet;
    s.a.sheet_bytes = sheet_bytes;
    open_pair(pair, ends);
    s.wire = ends[1];
    assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
    ask_all(ends[0], sheet_bytes);
    dpi_wire_close(ends[0]);
    assert_int_equal(pthread_join(s.thread, NULL), 0);
    assert_ok(s.status, s.err.text);
    assert_false(r->broken);
    dpi_wire_close(ends[1]);
    dpi_query_log_close(s.a.log);
    (void)unlink(pair_path(pair, "log"));
    dpi_policy_free(&policy);
    dp_program_sheet_free(sheet);
    dp_program_free(p);
}

/* Chi-square with 23 degrees of freedom is beyond 100 with chance 2e-11.  Two orders are the same
 * with chance 1/24: 400 of 9600 pairs, and 560 or more with chance below 1e-13. */
static void orders_are_uniform_and_fresh(void **state)
{
    static recorder r;
    run_session(*state, &r);
    assert_int_equal(r.query, QUERIES);
    int between_layers = 0, between_queries[LAYERS - 1] = {0};
    for (int k = 0; k < LAYERS - 1; k++) {
        double chi = 0, expected = (double)QUERIES / ORDERS;
        int count[ORDERS] = {0};
        for (int q = 0; q < QUERIES; q++) {
            count[r.seen[q][k]]++;
            between_queries[k] += q > 0 && r.seen[q][k] == r.seen[q - 1][k];
        }
        for (int i = 0; i < ORDERS; i++)
            chi += (count[i] - expected) * (count[i] - expected) / expected;
        assert_true(chi < 100);
        assert_true(between_queries[k] < 560);
    }
    for (int q = 0; q < QUERIES; q++)
        between_layers += r.seen[q][0] == r.seen[q][1];
    assert_true(between_layers < 560);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orders_are_uniform_and_fresh, pair_make, pair_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
