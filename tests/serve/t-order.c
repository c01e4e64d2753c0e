/* Frames that are left out, come twice, or are of another kind, layer or length: whoever gets one
 * ends the session, at every place of the protocol, and a query that was begun has ended. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "tests/lib/numbers.h"
#include "tests/serve/host.h"
#include "wire/identity.h"

enum { INPUTS = 6, HIDDEN = 5, OUTPUTS = 3, STEPS = 10 };

static dp_program *small(void)
{
    double w[INPUTS * HIDDEN], v[HIDDEN * OUTPUTS];
    uint64_t numbers = 8;
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    int h = dp_program_input(p, INPUTS, "x", -1, 1);
    h = dp_program_relu(p, dp_program_dense(p, h, HIDDEN, w, v));
    (void)dp_program_dense(p, h, OUTPUTS, v, v);
    return finish(p);
}

/* ---- the protocol as a list ---- */

typedef enum actor { CLIENT, PROVIDER } actor;

typedef struct step {
    actor from;
    uint16_t kind;
    uint32_t layer;
    size_t n;
    const unsigned char *bytes; /* NULL: zeros, which are ciphertexts of the lattice */
} step;

static unsigned char ask[DPI_ASK_BYTES], size[DPI_SIZE_BYTES];
static const unsigned char query[DPI_QUERY_BYTES] = {DPI_QUERY_PLAIN};

static void make_steps(const dp_program *p, size_t sheet_bytes, const unsigned char *sheet,
                       step steps[STEPS])
{
    const dpi_serve_opts opts = {0};
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    const dpi_serve_row *row = dpi_serve_rows[DPI_PROTOCOL_HE2_LATTICE];
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_PERMUTE, &plan, NULL), "");
    assert_ok(row->cost(&plan, DPI_MODE_PERMUTE, &opts, &cost, NULL), "");
    dpi_put_number(ask, DPI_PROTOCOL_HE2_LATTICE);
    dpi_put_number(ask + 8, DPI_MODE_PERMUTE);
    dpi_put_number(size, sheet_bytes);
    const step all[STEPS] = {
        {CLIENT, DPI_SAY_ASK, 0, sizeof ask, ask},
        {PROVIDER, DPI_SAY_SIZE, 0, sizeof size, size},
        {PROVIDER, DPI_SAY_SHEET, 0, sheet_bytes, sheet},
        {CLIENT, DPI_SAY_KEY, 0, cost.key, NULL},
        {CLIENT, DPI_SAY_QUERY, 0, sizeof query, query},
        {PROVIDER, DPI_SAY_GO, 0, DPI_QUERY_BYTES, NULL},
        {CLIENT, DPI_SAY_UP, 1, cost.up[0], NULL},
        {PROVIDER, DPI_SAY_DOWN, 1, cost.down[0], NULL},
        {CLIENT, DPI_SAY_UP, 2, cost.up[1], NULL},
        {PROVIDER, DPI_SAY_DOWN, 2, cost.down[1], NULL},
    };
    memcpy(steps, all, sizeof all);
}

/* ---- one side by hand ---- */

typedef enum fault {
    NONE,
    LEFT_OUT,
    TWICE,
    SHORTER,
    LONGER,
    OTHER_LAYER,
    OTHER_KIND,
    N_FAULTS
} fault;

typedef struct hand {
    actor self;
    step steps[STEPS];
    size_t at; /* the step that is done wrongly */
    fault how;
} hand;

static dp_status say(dpi_wire_session *wire, const step *s, size_t n, uint32_t layer, int more)
{
    static unsigned char b[1 << 20];
    assert_true(n <= sizeof b);
    memset(b, 0, n);
    if (s->bytes != NULL)
        memcpy(b, s->bytes, n < s->n ? n : s->n);
    return dpi_wire_send(wire, (uint16_t)(s->kind + more), layer, b, n, LONG);
}

/* The next step after `at` of the same side; NULL where there is none. */
static const step *next_of(const hand *h, size_t at)
{
    for (size_t i = at + 1; i < STEPS; i++)
        if (h->steps[i].from == h->self)
            return &h->steps[i];
    return NULL;
}

/* Whether this fault can be at that step. */
static bool can_be(const hand *h)
{
    return h->steps[h->at].from == h->self && (h->how != LEFT_OUT || next_of(h, h->at) != NULL) &&
           (h->how != TWICE || next_of(h, h->at) != NULL || h->self == CLIENT);
}

static dp_status say_wrongly(const hand *h, dpi_wire_session *wire)
{
    const step *s = &h->steps[h->at], *next = next_of(h, h->at);
    dp_status status;
    switch (h->how) {
    case LEFT_OUT:
        return say(wire, next, next->n, next->layer, 0);
    case TWICE:
        status = say(wire, s, s->n, s->layer, 0);
        return status == DP_OK ? say(wire, s, s->n, s->layer, 0) : status;
    case SHORTER:
        return say(wire, s, s->n - 1, s->layer, 0);
    case LONGER:
        return say(wire, s, s->n + 1, s->layer, 0);
    case OTHER_LAYER:
        return say(wire, s, s->n, s->layer + 1, 0);
    default:
        return say(wire, s, s->n, s->layer, 1);
    }
}

/* The protocol as far as the fault, and then until the other side ends the session: its status. */
static dp_status play(const hand *h, dpi_wire_session *wire)
{
    static unsigned char b[1 << 20];
    dp_status status = DP_OK;
    for (size_t i = 0; status == DP_OK && i < STEPS; i++) {
        const step *s = &h->steps[i];
        assert_true(s->n <= sizeof b);
        if (s->from != h->self)
            status = dpi_wire_receive(wire, s->kind, s->layer, b, s->n, LONG);
        else if (i == h->at)
            status = say_wrongly(h, wire);
        else if (i < h->at)
            status = say(wire, s, s->n, s->layer, 0);
    }
    if (status == DP_OK) /* where nothing more was to come */
        status = dpi_wire_receive(wire, DPI_SAY_GO, 0, b, 1, LONG);
    return status;
}

/* ---- against a server ---- */

static dpi_wire_session *connect_by_hand(const scene *s, const dpi_wire_opts *o)
{
    dpi_wire_session *wire = NULL;
    dp_error err = {0};
    assert_ok(dpi_wire_connect("127.0.0.1", s->port, o, LONG, &wire, &err), err.text);
    return wire;
}

static void count_log(const scene *s, int *asked, int *ended_badly)
{
    char line[400];
    FILE *file = fopen(s->log, "r");
    assert_non_null(file);
    for (*asked = *ended_badly = 0; fgets(line, sizeof line, file) != NULL;) {
        *asked += strstr(line, " asked ") != NULL;
        *ended_badly += strstr(line, " ended DP_EPEER") != NULL;
    }
    (void)fclose(file);
}

static void a_server_ends_wrong_sessions(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_program *p = small();
    dp_error err = {0};
    hand h = {.self = CLIENT};
    size_t sheet_bytes;
    unsigned char *sheet;
    dpi_peer provider = {.name = "provider"};
    const dpi_peers peers = {&provider, 1};
    const dpi_wire_opts o = {.identity = s->client, .peers = &peers};
    memcpy(provider.fingerprint, s->provider->fingerprint, DPI_FINGERPRINT);
    assert_ok(dp_program_sheet(p, &sheet_bytes, &sheet, &err), err.text);
    make_steps(p, sheet_bytes, sheet, h.steps);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    start(s, &server);
    int queries = 0, whole = 0, asked = 0, ended = 0, cases = 0;
    for (h.at = 0; h.at < STEPS; h.at++)
        for (int how = LEFT_OUT; how < N_FAULTS; how++) {
            h.how = (fault)how;
            if (!can_be(&h))
                continue;
            dpi_wire_session *wire = connect_by_hand(s, &o);
            assert_int_equal(play(&h, wire), DP_EPEER);
            assert_false(dpi_wire_ended(wire)); /* it is told nothing but that */
            dpi_wire_close(wire);
            queries += h.at > 4 || (h.at == 4 && h.how == TWICE);
            whole += h.at == 8 && h.how == TWICE; /* it is too much for the next query */
            cases++;
        }
    assert_true(cases > 20);
    const struct timespec a_while = {.tv_nsec = 10000000};
    for (int i = 0; i < LONG / 10 && ended < queries - whole; i++) {
        count_log(s, &asked, &ended);
        (void)nanosleep(&a_while, NULL);
    }
    assert_int_equal(asked, queries);
    assert_int_equal(ended, queries - whole);
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    answers_are_exact(p, &opts, 2);
    stop(s);
    dp_program_sheet_free(sheet);
    free_scene(s);
    dp_program_free(p);
}

/* ---- against a client ---- */

static void play_host(host *h, dpi_wire_session *wire)
{
    h->ended = play(h->user, wire);
}

static void a_client_ends_wrong_sessions(void **state)
{
    (void)state;
    static const double x[INPUTS] = {.5, -1, .25, 0, 1, -.125};
    dp_program *p = small();
    dp_error err = {0};
    int cases = 0;
    hand by_hand = {.self = PROVIDER};
    size_t sheet_bytes;
    unsigned char *sheet;
    assert_ok(dp_program_sheet(p, &sheet_bytes, &sheet, &err), err.text);
    make_steps(p, sheet_bytes, sheet, by_hand.steps);
    for (by_hand.at = 0; by_hand.at < STEPS; by_hand.at++)
        for (int how = LEFT_OUT; how < N_FAULTS; how++) {
            by_hand.how = (fault)how;
            if (!can_be(&by_hand))
                continue;
            scene *s = new_scene();
            host h = {.act = play_host, .user = &by_hand};
            dp_ask *made;
            int64_t y[OUTPUTS] = {0};
            start_host(&h, s, p);
            run_in_thread(&h);
            const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
            dp_status status = dp_ask_new(&opts, &made, &err);
            if (status == DP_OK)
                status = dp_ask_query(made, x, y, &err);
            assert_fails(status, DP_EPEER, &err, "");
            for (int i = 0; i < OUTPUTS; i++)
                assert_int_equal(y[i], 0);
            dp_ask_free(made);
            end_host(&h);
            assert_true(h.ended != DP_OK);
            cases++;
            free_scene(s);
        }
    assert_true(cases > 20);
    dp_program_sheet_free(sheet);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_ends_wrong_sessions),
        cmocka_unit_test(a_client_ends_wrong_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
