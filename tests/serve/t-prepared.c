/* Queries that are prepared, over loopback: answers are the oracle's, a preparation costs no query
 * and serves one, its orders are fresh, and who prepares out of turn breaks the protocol. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "tests/lib/numbers.h"
#include "tests/serve/host.h"
#include "wire/log.h"
#include "wire/session.h"

/* Until so many preparations are finished. */
static void wait_for(const dp_ask *ask, uint64_t ahead)
{
    const struct timespec step = {.tv_nsec = 2000000};
    for (int i = 0; i < 10000 && dp_ask_counts(ask).ahead < ahead; i++)
        (void)nanosleep(&step, NULL);
    assert_int_equal(dp_ask_counts(ask).ahead, ahead);
}

static void is_exact(dp_ask *ask, const dp_program *p, uint64_t *numbers)
{
    dp_error err = {0};
    const size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    double *x = calloc(inputs, sizeof *x);
    int64_t *v = calloc(inputs, sizeof *v), *y = calloc(outputs, sizeof *y);
    int64_t *expected = calloc(outputs, sizeof *expected);
    fill(numbers, inputs, x);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_ok(dp_program_encode(p, 1, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, 1, v, expected, &err), err.text);
    assert_memory_equal(y, expected, outputs * sizeof *y);
    free(x), free(v), free(y), free(expected);
}

/* The first query is plain, the others are prepared; what moves is the same for all of these. */
static void serves_prepared(dp_program *p, dp_serve_mode mode)
{
    scene *s = new_scene();
    dp_error err = {0};
    dp_ask *ask;
    uint64_t numbers = 5;
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, mode);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, mode);
    opts.prepare_ms = 1;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    const dp_ask_traffic opened = dp_ask_counts(ask);
    assert_int_equal(opened.ahead, 0);
    is_exact(ask, p, &numbers);
    dp_ask_traffic before, after = dp_ask_counts(ask);
    const uint64_t up = after.up - opened.up, down = after.down - opened.down;
    uint64_t few = 0;
    for (uint64_t r = 1; r <= 3; r++) {
        wait_for(ask, r);
        before = dp_ask_counts(ask);
        assert_true(before.ahead_up == r * up && before.ahead_down == r * down);
        is_exact(ask, p, &numbers);
        after = dp_ask_counts(ask);
        few = r == 1 ? after.up - before.up : few;
        assert_true(after.up - before.up == few && few < up / 100);
        assert_true(after.down - before.down < down / 4);
    }
    dp_ask_free(ask);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

static void prepared_answers_are_exact(void **state)
{
    (void)state;
    serves_prepared(regression(), DP_SERVE_LINEAR);
    serves_prepared(image(false), DP_SERVE_LINEAR);
    serves_prepared(image(true), DP_SERVE_LINEAR);
    serves_prepared(network(), DP_SERVE_PERMUTE);
}

static int lines_with(const char *path, const char *text)
{
    char line[300];
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, text) != NULL;
    (void)fclose(file);
    return count;
}

/* Two queries of the budget, with preparations between: the third is refused. */
static void preparations_cost_no_query_and_queries_do(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    dp_error err = {0};
    dp_ask *ask;
    double x[20] = {0};
    int64_t y[1];
    write_policy(s, 2, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.prepare_ms = 1;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    for (uint64_t r = 1; r <= 2; r++) {
        assert_ok(dp_ask_query(ask, x, y, &err), err.text);
        wait_for(ask, r);
    }
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    stop(s);
    assert_int_equal(lines_with(s->log, " ended DP_OK"), 2);
    assert_int_equal(lines_with(s->log, " ended"), 2);
    free_scene(s);
    dp_program_free(p);
}

/* A session that is freed while it prepares, at whatever moment, ends, and the next one works. */
static void sessions_end_while_they_prepare(void **state)
{
    (void)state;
    dp_program *p = network();
    scene *s = new_scene();
    dp_error err = {0};
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.prepare_ms = 1;
    for (long i = 0; i < 6; i++) {
        dp_ask *ask;
        uint64_t numbers = 9;
        const struct timespec moment = {.tv_nsec = i * 1500000};
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        is_exact(ask, p, &numbers);
        (void)nanosleep(&moment, NULL);
        dp_ask_free(ask);
    }
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* ---- a provider that does not answer a preparation ---- */

enum { SILENCE = 4 /* s */ };
static atomic_bool silent;

static dp_status say_nothing(void *session, size_t layer, const dpi_serve_order_pair *order,
                             const unsigned char *up, unsigned char *down, dpi_pool *pool,
                             size_t threads, dp_error *err)
{
    const struct timespec silence = {.tv_sec = SILENCE};
    atomic_store(&silent, true);
    (void)nanosleep(&silence, NULL);
    return dpi_he2_lattice.masked->prepare(session, layer, order, up, down, pool, threads, err);
}

static void answer_but_not_prepare(host *h, dpi_wire_session *wire)
{
    dpi_serve_masked masked = *dpi_he2_lattice.masked;
    dpi_serve_row row = dpi_he2_lattice;
    dpi_serve_plan plan;
    dpi_query_log *log;
    void *compiled;
    const dpi_serve_opts opts = {0};
    dpi_answering a = {.row = &row,
                       .plan = &plan,
                       .mode = DPI_MODE_LINEAR,
                       .sheet = h->sheet,
                       .sheet_bytes = h->sheet_bytes,
                       .policy = &h->policy,
                       .threads = 1,
                       .timeout = LONG,
                       .idle = LONG};
    masked.prepare = say_nothing;
    row.masked = &masked;
    assert_ok(dpi_serve_plan_make(h->p, DPI_MODE_LINEAR, &plan, NULL), "");
    assert_ok(row.cost(&plan, DPI_MODE_LINEAR, &opts, &a.cost, NULL), "");
    assert_ok(row.compile(&plan, DPI_MODE_LINEAR, &opts, &compiled, NULL), "");
    assert_ok(dpi_query_log_open(h->s->log, 10, 60, &log, NULL), "");
    a.compiled = compiled;
    a.log = log;
    h->ended = dpi_serve_answer(&a, wire, NULL, NULL);
    dpi_query_log_close(log);
    row.discard(compiled);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void who_has_asked_does_not_wait_for_a_preparation(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    host h = {.act = answer_but_not_prepare};
    dp_ask *ask;
    dp_error err = {0};
    double x[20] = {0};
    int64_t y[1];
    start_host(&h, s, p);
    run_in_thread(&h);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.prepare_ms = 1;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    const struct timespec step = {.tv_nsec = 1000000};
    for (int i = 0; i < LONG && !atomic_load(&silent); i++)
        (void)nanosleep(&step, NULL);
    assert_true(atomic_load(&silent));
    const double begun = seconds();
    dp_ask_free(ask);
    assert_true(seconds() - begun < SILENCE / 2.0);
    end_host(&h);
    assert_int_not_equal(h.ended, DP_OK);
    free_scene(s);
    dp_program_free(p);
}

/* ---- a client by hand ---- */

typedef struct hand {
    dpi_wire_session *wire;
    const dpi_serve_row *row;
    dp_program *p; /* of the sheet */
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    void *client;
    unsigned char *up, *down;
    int64_t *values, *first, *room; /* first: what comes down in the first layer */
} hand;

static void open_hand(const scene *s, dp_serve_protocol protocol, dpi_mode mode, hand *h)
{
    static unsigned char sheet[1 << 16], key[1 << 18];
    unsigned char ask[DPI_ASK_BYTES] = {0}, size[DPI_SIZE_BYTES];
    char line[DPI_FINGERPRINT_TEXT + 16];
    const dpi_serve_opts opts = {.key_bits = SMALL_KEY};
    dpi_peers peers = {0};
    dp_error err = {0};
    *h = (hand){.row = dpi_serve_rows[dpi_serve_protocol_of(protocol)]};
    (void)snprintf(line, sizeof line, "%s provider\n", dp_identity_fingerprint(s->provider));
    assert_ok(dpi_peers_parse(line, strlen(line), "it", &peers, &err), err.text);
    const dpi_wire_opts w = {.identity = s->client, .peers = &peers};
    assert_ok(dpi_wire_connect("127.0.0.1", s->port, &w, LONG, &h->wire, &err), err.text);
    dpi_peers_free(&peers);
    dpi_put_number(ask, h->row->protocol);
    dpi_put_number(ask + 8, mode);
    assert_ok(dpi_wire_send(h->wire, DPI_SAY_ASK, 0, ask, sizeof ask, LONG), "");
    assert_ok(dpi_wire_receive(h->wire, DPI_SAY_SIZE, 0, size, sizeof size, LONG), "");
    const size_t n = dpi_get_number(size);
    assert_true(n <= sizeof sheet);
    assert_ok(dpi_wire_receive(h->wire, DPI_SAY_SHEET, 0, sheet, n, LONG), "");
    assert_ok(dp_program_of_sheet(n, sheet, &h->p, &err), err.text);
    assert_ok(dpi_serve_plan_make(h->p, mode, &h->plan, &err), err.text);
    assert_ok(h->row->cost(&h->plan, mode, &opts, &h->cost, &err), err.text);
    assert_ok(h->row->client_new(&h->plan, mode, &opts, &h->client, &err), err.text);
    assert_true(h->cost.key <= sizeof key);
    h->row->write_key(h->client, key);
    assert_ok(dpi_wire_send(h->wire, DPI_SAY_KEY, 0, key, h->cost.key, LONG), "");
    const size_t layers = h->plan.n_layers;
    h->up = calloc(dpi_serve_largest(layers, h->cost.up, h->cost.masked_up), 1);
    h->down = calloc(dpi_serve_largest(layers, h->cost.down, h->cost.masked_down), 1);
    h->values = calloc(h->plan.most, sizeof *h->values);
    h->first = calloc(h->plan.most, sizeof *h->first);
    h->room = calloc(h->plan.most, sizeof *h->room);
}

static void close_hand(hand *h)
{
    dpi_wire_close(h->wire);
    h->row->client_free(h->client);
    dp_program_free(h->p);
    free(h->up), free(h->down), free(h->values), free(h->first), free(h->room);
}

/* Says the byte: what comes back. */
static dp_status say(hand *h, unsigned char byte)
{
    assert_ok(dpi_wire_send(h->wire, DPI_SAY_QUERY, 0, &byte, DPI_QUERY_BYTES, LONG), "");
    return dpi_wire_receive(h->wire, DPI_SAY_GO, 0, &byte, DPI_QUERY_BYTES, LONG);
}

static void exchange(hand *h, size_t k, const size_t *up, const size_t *down)
{
    assert_ok(dpi_wire_send(h->wire, DPI_SAY_UP, (uint32_t)k + 1, h->up, up[k], LONG), "");
    assert_ok(dpi_wire_receive(h->wire, DPI_SAY_DOWN, (uint32_t)k + 1, h->down, down[k], LONG), "");
}

/* A whole query of a kind, of a record of ones. */
static void go_through(hand *h, dpi_query_kind kind)
{
    const dpi_serve_masked *m = h->row->masked;
    assert_ok(say(h, (unsigned char)kind), "");
    for (size_t i = 0; i < h->plan.layer[0].inputs; i++)
        h->values[i] = (int64_t)i % 100;
    for (size_t k = 0; k < h->plan.n_layers; k++) {
        const dpi_serve_layer *l = &h->plan.layer[k];
        const bool masked = kind == DPI_QUERY_MASKED;
        assert_ok((kind == DPI_QUERY_PLAIN ? h->row->encrypt
                   : masked                ? m->send
                            : m->mask)(h->client, k, h->values, h->up, NULL, 1, NULL),
                  "");
        exchange(h, k, masked ? h->cost.masked_up : h->cost.up,
                 masked ? h->cost.masked_down : h->cost.down);
        assert_ok((kind == DPI_QUERY_PLAIN ? h->row->decrypt
                   : masked                ? m->take
                            : m->keep)(h->client, k, h->down, h->values, NULL, 1, NULL),
                  "");
        if (k == 0)
            memcpy(h->first, h->values, l->sent * sizeof *h->first);
        if (kind != DPI_QUERY_PREPARE && l->hidden)
            dpi_serve_run_hidden(&h->plan, l, h->values);
        else if (kind != DPI_QUERY_PREPARE)
            dpi_serve_run(h->p, l->first, l->last, h->values, h->room);
    }
}

/* What was done before, and a byte that then has no place. */
static void out_of_turn(const scene *s, dp_serve_protocol protocol, const char *before,
                        unsigned char byte)
{
    hand h;
    open_hand(s, protocol, DPI_MODE_LINEAR, &h);
    for (; *before != '\0'; before++)
        go_through(&h, (dpi_query_kind)(*before - '0'));
    assert_int_equal(say(&h, byte), DP_EPEER);
    close_hand(&h);
}

static void who_prepares_out_of_turn_breaks_the_protocol(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        unsigned char byte;
    } wrong[] = {{"", 0},  {"", 2},   {"", 3},    {"", 5},    {"", 255},
                 {"1", 2}, {"13", 3}, {"131", 3}, {"132", 2}, {"1", 0}};
    dp_program *p = regression();
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        out_of_turn(s, DP_SERVE_LATTICE, wrong[i].before, wrong[i].byte);
    hand h;
    open_hand(s, DP_SERVE_LATTICE, DPI_MODE_LINEAR, &h);
    for (const char *kind = "111321321312"; *kind != '\0'; kind++)
        go_through(&h, (dpi_query_kind)(*kind - '0'));
    close_hand(&h);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

static void paillier_has_no_preparations(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    start(s, &server);
    out_of_turn(s, DP_SERVE_PAILLIER, "1", DPI_QUERY_PREPARE);
    out_of_turn(s, DP_SERVE_PAILLIER, "1", DPI_QUERY_MASKED);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The hidden numbers of one record in two prepared queries and a plain one: the same, and in no two
 * of them in the same order.  27 windows of 4 have more than 27! orders. */
static void orders_are_fresh_in_each_preparation(void **state)
{
    (void)state;
    dp_program *p = network();
    scene *s = new_scene();
    int64_t *seen[3];
    hand h;
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    start(s, &server);
    open_hand(s, DP_SERVE_LATTICE, DPI_MODE_PERMUTE, &h);
    const size_t n = h.plan.layer[0].sent, bytes = n * sizeof **seen;
    for (int r = 0; r < 3; r++) {
        if (r > 0)
            go_through(&h, DPI_QUERY_PREPARE);
        go_through(&h, r > 0 ? DPI_QUERY_MASKED : DPI_QUERY_PLAIN);
        seen[r] = malloc(bytes);
        assert_non_null(seen[r]);
        memcpy(seen[r], h.first, bytes);
    }
    for (int r = 0; r < 3; r++)
        assert_memory_not_equal(seen[r], seen[(r + 1) % 3], bytes);
    for (int r = 0; r < 3; r++)
        qsort(seen[r], n, sizeof **seen, by_size);
    for (int r = 0; r < 3; r++) {
        assert_memory_equal(seen[r], seen[(r + 1) % 3], bytes);
        if (r > 0)
            free(seen[r]);
    }
    free(seen[0]);
    close_hand(&h);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepared_answers_are_exact),
        cmocka_unit_test(preparations_cost_no_query_and_queries_do),
        cmocka_unit_test(sessions_end_while_they_prepare),
        cmocka_unit_test(who_has_asked_does_not_wait_for_a_preparation),
        cmocka_unit_test(who_prepares_out_of_turn_breaks_the_protocol),
        cmocka_unit_test(paillier_has_no_preparations),
        cmocka_unit_test(orders_are_fresh_in_each_preparation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
