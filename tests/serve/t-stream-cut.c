/* A stream whose connection dies, falls silent or is tampered with at any of its bytes: both sides
 * say so in time, what was answered is kept, and the next session works. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/numbers.h"
#include "tests/lib/pause.h"
#include "tests/serve/relay.h"
#include "tests/serve/scene.h"

enum { LONG = 20000, SHORT = 500, N = 6, AT_A_TIME = 3, INPUTS = 6, OUTPUTS = 3, PLACES = 5 };

typedef struct streamed {
    scene *s;
    dp_program *p;
    dp_serve_protocol protocol;
    relay *between;
    double x[N * INPUTS];
    int64_t expected[N * OUTPUTS];
    size_t bytes[2]; /* of a whole session, up and down */
    size_t answered; /* the last time */
} streamed;

static dp_program *small(void)
{
    enum { HIDDEN = 5 };
    double w[INPUTS * HIDDEN], v[HIDDEN * OUTPUTS];
    uint64_t numbers = 8;
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    int h = dp_program_dense(p, dp_program_input(p, INPUTS, "x", -1, 1), HIDDEN, w, v);
    (void)dp_program_dense(p, dp_program_relu(p, h), OUTPUTS, v, w);
    return finish(p);
}

static int lines_of(const streamed *t, const char *word)
{
    char line[400];
    int count = 0;
    FILE *log = fopen(t->s->log, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL)
        count += strstr(line, word) != NULL;
    if (log != NULL)
        (void)fclose(log);
    return count;
}

static void all_have_ended(const streamed *t)
{
    for (int k = 0; k < LONG && lines_of(t, " asked ") != lines_of(t, " ended "); k++)
        pause_for(1);
    assert_int_equal(lines_of(t, " asked "), lines_of(t, " ended "));
}

/* A session of one stream at a port; of y, what was answered is right and the rest is 0. */
static dp_status ask_at(streamed *t, int port, uint32_t timeout)
{
    int64_t y[N * OUTPUTS];
    dp_error err = {0};
    dp_ask *ask;
    (void)snprintf(t->s->port, sizeof t->s->port, "%d", port);
    dp_ask_opts opts = ask_opts(t->s, t->protocol, DP_SERVE_PERMUTE);
    opts.timeout_ms = timeout;
    opts.in_flight = AT_A_TIME;
    memset(y, 0xee, sizeof y);
    t->answered = 0;
    dp_status status = dp_ask_new(&opts, &ask, &err);
    if (status != DP_OK)
        return status;
    status = dp_ask_many(ask, N, t->x, y, &t->answered, &err);
    assert_memory_equal(y, t->expected, t->answered * OUTPUTS * sizeof *y);
    for (size_t i = t->answered * OUTPUTS; i < sizeof y / sizeof *y; i++)
        assert_int_equal(y[i], 0);
    assert_true((status == DP_OK) == (t->answered == N));
    dp_ask_free(ask);
    return status;
}

static dp_status ask_before_its_end(streamed *t, relay_deed deed, int way, size_t at,
                                    uint32_t timeout)
{
    t->between->server = dp_server_port(t->s->server);
    t->between->deed = deed;
    t->between->way = way;
    t->between->at = at;
    t->between->victim = 0;
    relay_start(t->between);
    return ask_at(t, t->between->port, timeout);
}

static dp_status ask_through(streamed *t, relay_deed deed, int way, size_t at, uint32_t timeout)
{
    dp_status status = ask_before_its_end(t, deed, way, at, timeout);
    relay_end(t->between);
    return status;
}

static void serve(streamed *t, uint32_t timeout)
{
    dp_server_opts opts = server_opts(t->s, t->p, t->protocol, DP_SERVE_PERMUTE);
    opts.timeout_ms = timeout;
    start(t->s, &opts);
}

static void begin(streamed *t, dp_serve_protocol protocol)
{
    dp_error err = {0};
    int64_t v[N * INPUTS];
    uint64_t numbers = 12;
    *t = (streamed){.s = new_scene(), .p = small(), .protocol = protocol, .between = relay_new()};
    fill(&numbers, N * INPUTS, t->x);
    assert_ok(dp_program_encode(t->p, N, t->x, v, &err), err.text);
    assert_ok(dp_program_run_exact(t->p, N, v, t->expected, &err), err.text);
    serve(t, LONG);
    assert_int_equal(ask_through(t, PASS, UP, 0, LONG), DP_OK);
    for (size_t i = 0; i < t->between->n_bursts; i++)
        t->bytes[t->between->burst[i].way] = t->between->burst[i].to;
    all_have_ended(t);
}

static void end(streamed *t)
{
    stop(t->s);
    relay_free(t->between);
    dp_program_free(t->p);
    free_scene(t->s);
}

/* By the server's own time: nothing has closed.  Where the machine stands still the session may end
 * before anything is asked, and is tried again. */
static void the_server_waits_for_nobody(streamed *t)
{
    stop(t->s);
    serve(t, SHORT);
    const int asked = lines_of(t, " asked ");
    for (int i = 0; i < 5 && lines_of(t, " asked ") == asked; i++) {
        (void)!ask_before_its_end(t, STALL, UP, t->bytes[UP] * (PLACES - 1) / PLACES, SHORT);
        all_have_ended(t);
        relay_end(t->between);
    }
    assert_true(lines_of(t, " asked ") > asked);
}

static void deeds_at_any_byte(dp_serve_protocol protocol)
{
    static const relay_deed deeds[] = {CLOSE, FLIP, DROP, TWICE, SWAP, STALL};
    streamed t;
    size_t some = 0;
    begin(&t, protocol);
    for (size_t k = 0; k < sizeof deeds / sizeof *deeds; k++)
        for (size_t i = 1; i <= PLACES; i++) {
            int way = (i + k) % 2 == 0 ? UP : DOWN;
            bool waits = deeds[k] == STALL || deeds[k] == DROP;
            uint32_t timeout = waits ? SHORT : LONG;
            if (waits && i % 2 == 0)
                continue;
            size_t at = t.bytes[way] * i / (PLACES + 1);
            dp_status status = ask_through(&t, deeds[k], way, at, timeout);
            if (status != DP_EPEER && status != DP_ETIMEOUT)
                fail_msg("deed %d at byte %zu of way %d gives %d", (int)deeds[k], at, way,
                         (int)status);
            assert_true(deeds[k] != STALL || status == DP_ETIMEOUT);
            some += t.answered > 0;
            all_have_ended(&t);
            if (i == PLACES)
                assert_int_equal(ask_at(&t, dp_server_port(t.s->server), LONG), DP_OK);
        }
    assert_true(some > 0); /* the latest of them come after the first answers */
    the_server_waits_for_nobody(&t);
    end(&t);
}

static void streams_of_paillier_end_in_time(void **state)
{
    (void)state;
    deeds_at_any_byte(DP_SERVE_PAILLIER);
}

static void streams_of_the_lattice_end_in_time(void **state)
{
    (void)state;
    deeds_at_any_byte(DP_SERVE_LATTICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_paillier_end_in_time),
        cmocka_unit_test(streams_of_the_lattice_end_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
