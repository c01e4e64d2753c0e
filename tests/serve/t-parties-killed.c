/* A party dies, falls silent or is tampered with at each message of a session: whoever asks is told
 * so in time, or gets the right answer, and never another one; the next session works.
 *
 * A relay between two honest processes does it, at bytes that it has seen in a session before. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/numbers.h"
#include "tests/lib/pause.h"
#include "tests/serve/daemons.h"
#include "tests/serve/relay.h"
#include "tests/serve/scene.h"

/* What was cut out of a message is waited for as long as for a message; of a handshake, 5 s. */
enum {
    LONG = 20000,
    SHORT = 1000,
    MIDDLE = 3000,
    INPUTS = 6,
    HIDDEN = 5,
    OUTPUTS = 3,
    RECORDS = 2,
    NOBODY = 99
};

/* ---- parties, and a relay at one connection ---- */

typedef struct stage {
    daemons d;
    dp_program *p;
    relay *between;
    uint32_t timeout;
    bool fellows;     /* it stands between parties 2 and 0, and not between client and party 1 */
    dp_parties *list; /* of who goes by way of the relay */
    int64_t expected[RECORDS * OUTPUTS];
} stage;

static const double asked[RECORDS * INPUTS] = {.5, -1, .25, 0, 1, -.125, 1, 1, -.5, .75, 0, -1};

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

static void run_party(stage *s, size_t i)
{
    dp_error err = {0};
    if (!daemons_run(&s->d, i, s->fellows && i == 2 ? s->list : NULL, &err))
        fail_msg("%s", err.text);
}

static void share(stage *s)
{
    dp_error err;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        err = (dp_error){0};
        begun = clock_now();
        status = daemons_share(&s->d, s->p, &err);
    } while (status != DP_OK && stood_still(begun, s->timeout, &tries));
    assert_ok(status, err.text);
}

static void begin(stage *s, size_t parties, bool fellows, uint32_t timeout)
{
    dp_error err = {0};
    int port[DAEMONS] = {0};
    int64_t v[RECORDS * INPUTS];
    *s = (stage){.p = small(), .between = relay_new(), .fellows = fellows, .timeout = timeout};
    const daemons_opts o = {.n = parties, .processes = true, .said = true, .timeout_ms = timeout};
    if (!daemons_start(&s->d, &o, &err))
        fail_msg("%s", err.text);
    assert_ok(dp_program_encode(s->p, RECORDS, asked, v, &err), err.text);
    assert_ok(dp_program_run_exact(s->p, RECORDS, v, s->expected, &err), err.text);
    const size_t to = fellows ? 0 : 1;
    s->between->server = s->d.port[to];
    relay_start(s->between); /* finds a port, at which it stays */
    (void)kill(s->between->self, SIGKILL);
    relay_end(s->between);
    s->between->stays = true;
    port[to] = s->between->port;
    s->list = daemons_list(&s->d, port, &err);
    assert_non_null(s->list);
    if (fellows) {
        daemons_end(&s->d, 2);
        run_party(s, 2);
    }
    share(s);
}

/* Whatever has become of sessions, parties have printed nothing. */
static void assert_nothing_said(const stage *s)
{
    for (size_t i = 0; i < s->d.opts.n; i++) {
        char path[DAEMONS_PATH];
        struct stat file;
        daemons_path(&s->d, i, "said", path);
        assert_int_equal(stat(path, &file), 0);
        assert_int_equal(file.st_size, 0);
    }
}

static void end(stage *s)
{
    assert_nothing_said(s);
    relay_free(s->between);
    dp_parties_free(s->list);
    daemons_stop(&s->d);
    dp_program_free(s->p);
}

/* A session of one query: an error of the right kind in time, or the right answer. */
static dp_status ask(const stage *s, dp_error *err)
{
    const dp_ask_parties_opts o = {.identity = s->d.client,
                                   .parties = s->fellows ? s->d.parties : s->list,
                                   .timeout_ms = s->timeout};
    int64_t y[RECORDS * OUTPUTS] = {0};
    size_t answered = 0;
    dp_ask *session;
    *err = (dp_error){0};
    const double begun = clock_now();
    dp_status status = dp_ask_parties_new(&o, &session, err);
    if (status == DP_OK)
        status = dp_ask_many(session, RECORDS, asked, y, &answered, err);
    dp_ask_free(session);
    for (int i = 0; i < RECORDS * OUTPUTS; i++)
        assert_int_equal(y[i], status == DP_OK ? s->expected[i] : 0);
    assert_int_equal(answered, status == DP_OK ? RECORDS : 0);
    if (clock_now() - begun > LONG / 2)
        fail_msg("%g ms until %s", clock_now() - begun, err->text);
    return status;
}

/* By way of the relay, which passes everything, or does so late. */
static void a_session_works(stage *s, relay_deed deed)
{
    dp_error err;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        s->between->deed = deed;
        relay_start(s->between);
        begun = clock_now();
        status = ask(s, &err);
        relay_end(s->between);
    } while (status != DP_OK && stood_still(begun, s->timeout, &tries));
    assert_ok(status, err.text);
}

static void the_next_session_works(stage *s)
{
    a_session_works(s, PASS);
}

/* ---- deeds ---- */

/* At byte `at` of one way; `victim`: who is killed. */
static void do_deed(stage *s, relay_deed deed, size_t victim, int way, size_t at)
{
    dp_error err;
    relay *r = s->between;
    r->deed = deed;
    r->way = way;
    r->at = at;
    r->victim = victim == NOBODY ? 0 : s->d.process[victim];
    r->elsewhere = s->fellows && victim != 0 && victim != 2;
    relay_start(r);
    const dp_status status = ask(s, &err);
    if (status != DP_OK && status != DP_EPEER && status != DP_EREFUSED && status != DP_ETIMEOUT)
        fail_msg("deed %d at byte %zu of way %d gives %d: %s", (int)deed, at, way, (int)status,
                 err.text);
    relay_end(r);
    if (victim != NOBODY) {
        daemons_end(&s->d, victim);
        run_party(s, victim);
        share(s);
    }
    the_next_session_works(s);
}

/* In the middle of `most` of the messages, from the first to the last but one; of those each, so
 * that errors are counted: the session cannot be done without them. */
static void at_each(stage *s, relay_deed deed, size_t victim, size_t most)
{
    the_next_session_works(s);
    const relay seen = *s->between;
    const size_t n = seen.n_bursts - 1, step = n > most ? (n + most - 1) / most : 1;
    assert_true(n >= 5);
    for (size_t i = victim != NOBODY ? victim % step : 0; i < n; i += step) {
        const relay_burst *b = &seen.burst[i];
        do_deed(s, deed, victim, b->way, b->from + (b->to - b->from) / 2);
    }
}

static void parties_die_between_parties(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++) {
        stage s;
        begin(&s, n, true, LONG);
        for (size_t victim = 0; victim < n; victim++)
            at_each(&s, KILL, victim, 4);
        end(&s);
    }
}

static void parties_die_before_a_client(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++) {
        stage s;
        begin(&s, n, false, LONG);
        at_each(&s, KILL, 1, 12);
        end(&s);
    }
}

static void bytes_are_tampered_with(void **state)
{
    static const relay_deed deeds[] = {CLOSE, FLIP, DROP, TWICE, SWAP};
    (void)state;
    for (int fellows = 0; fellows < 2; fellows++) {
        stage s;
        begin(&s, 4, fellows == 1, MIDDLE);
        for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
            at_each(&s, deeds[i], NOBODY, 3);
        end(&s);
    }
}

static void silence_ends_in_time(void **state)
{
    (void)state;
    for (int fellows = 0; fellows < 2; fellows++) {
        stage s;
        begin(&s, 3, fellows == 1, SHORT);
        at_each(&s, STALL, NOBODY, 4);
        end(&s);
    }
}

static void slow_links_change_nothing(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++)
        for (int fellows = 0; fellows < 2; fellows++) {
            stage s;
            begin(&s, n, fellows == 1, MIDDLE);
            a_session_works(&s, SLOW);
            assert_true(s.between->n_bursts >= 5);
            end(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parties_die_between_parties),
        cmocka_unit_test(parties_die_before_a_client),
        cmocka_unit_test(bytes_are_tampered_with),
        cmocka_unit_test(silence_ends_in_time),
        cmocka_unit_test(slow_links_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
