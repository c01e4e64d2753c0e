/* Each side dies, falls silent or is tampered with at each message of a session: the other side
 * says so in time, writes nothing but its log, and the next session works.
 *
 * A relay between two honest processes does it, at bytes that it has seen in a session before:
 * which message a byte belongs to depends on the program alone. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/numbers.h"
#include "tests/lib/pause.h"
#include "tests/serve/relay.h"
#include "tests/serve/scene.h"

enum { LONG = 20000, SHORT = 300, INPUTS = 6, OUTPUTS = 3, MANY = 3, MESSAGES_BEFORE = 4 };

/* ---- a provider and its client ---- */

typedef struct pair {
    scene *s;
    dp_program *p;
    dp_serve_protocol protocol;
    dp_serve_mode mode;
    uint32_t timeout; /* of the provider */
    bool streams;     /* three queries, two at a time, instead of one */
    pid_t server;
    int port;
    relay *between;
} pair;

/* One layer, or two with what is hidden between. */
static dp_program *small(dp_serve_mode mode)
{
    enum { HIDDEN = 5 };
    double w[INPUTS * HIDDEN], v[HIDDEN * OUTPUTS];
    uint64_t numbers = 8;
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    int h = dp_program_input(p, INPUTS, "x", -1, 1);
    if (mode == DP_SERVE_PERMUTE)
        h = dp_program_relu(p, dp_program_dense(p, h, HIDDEN, w, v));
    (void)dp_program_dense(p, h, OUTPUTS, mode == DP_SERVE_PERMUTE ? v : w, v);
    return finish(p);
}

static void serve_from_child(const pair *q, int tell)
{
    dp_server *server;
    dp_error err = {0};
    dp_server_opts opts = server_opts(q->s, q->p, q->protocol, q->mode);
    opts.timeout_ms = q->timeout;
    opts.threads = 1;
    if (dp_server_new(&opts, &server, &err) != DP_OK)
        _exit(1);
    int port = dp_server_port(server);
    if (write(tell, &port, sizeof port) != sizeof port || dp_server_run(server, &err) != DP_OK)
        _exit(1);
    _exit(0);
}

static void start_server(pair *q)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    q->server = fork_mortal();
    assert_true(q->server >= 0);
    if (q->server == 0)
        serve_from_child(q, ends[1]);
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &q->port, sizeof q->port), sizeof q->port);
    (void)close(ends[0]);
}

static void kill_server(pair *q)
{
    int how;
    (void)kill(q->server, SIGKILL);
    assert_int_equal(waitpid(q->server, &how, 0), q->server);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL); /* it had not ended by itself */
}

static pair new_pair(dp_serve_protocol protocol, dp_serve_mode mode)
{
    pair q = {.s = new_scene(), .p = small(mode), .protocol = protocol, .mode = mode};
    q.timeout = LONG;
    q.between = relay_new();
    start_server(&q);
    return q;
}

static void free_pair(pair *q)
{
    kill_server(q);
    relay_free(q->between);
    dp_program_free(q->p);
    free_scene(q->s);
}

static dp_ask_opts opts_of(pair *q, int port, uint32_t timeout)
{
    (void)snprintf(q->s->port, sizeof q->s->port, "%d", port);
    dp_ask_opts opts = ask_opts(q->s, q->protocol, q->mode);
    opts.timeout_ms = timeout;
    opts.threads = 1;
    opts.in_flight = q->streams ? 2 : 0;
    return opts;
}

/* A session of one query, or a stream; y is 0 where it fails. */
static dp_status ask_one(const dp_ask_opts *opts, dp_error *err)
{
    static const double x[MANY * INPUTS] = {.5, -1, .25, 0, 1, -.125};
    int64_t y[MANY * OUTPUTS] = {0};
    size_t answered = 0;
    dp_ask *ask;
    *err = (dp_error){0};
    dp_status status = dp_ask_new(opts, &ask, err);
    if (status == DP_OK)
        status = opts->in_flight > 1 ? dp_ask_many(ask, MANY, x, y, &answered, err)
                                     : dp_ask_query(ask, x, y, err);
    assert_true(answered <= MANY);
    for (int i = 0; i < OUTPUTS; i++)
        assert_true(status == DP_OK || opts->in_flight > 1 || y[i] == 0);
    dp_ask_free(ask);
    return status;
}

/* ---- what was written ---- */

typedef struct counted {
    int asked, ended, ended_well;
} counted;

/* Of a provider that was killed while it wrote the line, which the next one has ended. */
static bool is_torn(const char *line)
{
    static const char torn[] = " torn\n";
    const size_t n = strlen(line), tail = sizeof torn - 1;
    return n >= tail && strcmp(line + n - tail, torn) == 0;
}

/* The log's lines, each of which is as it must be. */
static counted read_log(const pair *q)
{
    counted c = {0};
    char line[400], what[20], status[100], rest[200];
    FILE *file = fopen(q->s->log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strchr(line, '\n') == NULL)
            break; /* it is just being written */
        if (is_torn(line))
            continue;
        int n = sscanf(line, "2%*18[0-9T:-]Z %*d %19s %99s %199[^\n]", what, status, rest);
        bool asked = strcmp(what, "asked") == 0;
        assert_true(n == (asked ? 3 : 2));
        assert_true(asked || strcmp(what, "ended") == 0);
        if (asked) {
            assert_string_equal(status, dp_identity_fingerprint(q->s->client));
            assert_string_equal(rest, q->protocol == DP_SERVE_LATTICE
                                          ? (q->mode == DP_SERVE_LINEAR ? "he2-lattice linear"
                                                                        : "he2-lattice permute")
                                          : (q->mode == DP_SERVE_LINEAR ? "he2-paillier linear"
                                                                        : "he2-paillier permute"));
        } else {
            assert_true(strncmp(status, "DP_", 3) == 0);
            c.ended_well += strcmp(status, "DP_OK") == 0;
        }
        c.asked += asked;
        c.ended += !asked;
    }
    if (file != NULL)
        (void)fclose(file);
    return c;
}

static void nothing_else_is_written(const pair *q)
{
    int files = 0;
    DIR *list = opendir(q->s->folder);
    assert_non_null(list);
    for (struct dirent *e; (e = readdir(list)) != NULL;)
        files += e->d_name[0] != '.';
    (void)closedir(list);
    assert_true(files == 4 || files == 5); /* three identities, the policy, and the log */
}

/* The provider has noticed: each query that was asked has ended. */
static void all_have_ended(const pair *q, int lost)
{
    double begun = clock_now();
    counted c = read_log(q);
    while (c.asked != c.ended + lost && clock_now() - begun < LONG) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        c = read_log(q);
    }
    assert_int_equal(c.asked, c.ended + lost);
}

static void the_next_session_works(pair *q)
{
    dp_ask_opts opts = opts_of(q, q->port, LONG);
    opts.in_flight = 0;
    counted before;
    dp_error err;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        err = (dp_error){0};
        before = read_log(q);
        begun = clock_now();
        status = answer_exactly(q->p, &opts, 1, &err);
    } while (status != DP_OK && stood_still(begun, q->timeout, &tries));
    assert_ok(status, err.text);
    all_have_ended(q, before.asked - before.ended); /* the last line may come after the answer */
    const counted after = read_log(q);
    assert_int_equal(after.asked, before.asked + 1);
    assert_int_equal(after.ended_well, before.ended_well + 1);
    nothing_else_is_written(q);
}

/* ---- deeds ---- */

/* A session through the relay, of which it notes what went which way. */
static void learn(pair *q)
{
    dp_error err;
    q->between->server = q->port;
    q->between->deed = PASS;
    relay_start(q->between);
    const dp_ask_opts opts = opts_of(q, q->between->port, LONG);
    assert_ok(ask_one(&opts, &err), err.text);
    relay_end(q->between);
    all_have_ended(q, 0);
    /* TLS, hello, ask, sheet, key and query, go; then up and down for each layer; at last the
     * client's end, at which there is nothing to be lost. */
    size_t layers = q->mode == DP_SERVE_PERMUTE ? 2 : 1, n = q->between->n_bursts;
    if (n > 0 && q->between->burst[n - 1].way == UP)
        q->between->n_bursts = --n;
    assert_true(n >= 8 + 2 * layers);
}

static void prepare(pair *q, relay_deed deed, const relay_burst *b, size_t at)
{
    q->between->server = q->port;
    q->between->deed = deed;
    q->between->way = b->way;
    q->between->at = at;
    q->between->victim = 0;
    relay_start(q->between);
}

/* Asks through the relay: the error is one of a peer that is gone or silent, and comes in time. */
static dp_status ask_through(pair *q, uint32_t timeout)
{
    dp_error err;
    const dp_ask_opts opts = opts_of(q, q->between->port, timeout);
    double begun = clock_now();
    dp_status status = ask_one(&opts, &err);
    if (status != DP_EPEER && status != DP_ETIMEOUT)
        fail_msg("deed %d at byte %zu of way %d gives %d: %s", (int)q->between->deed,
                 q->between->at, q->between->way, (int)status, err.text);
    assert_int_equal(err.status, status);
    assert_true(err.text[0] != '\0');
    assert_true(clock_now() - begun < LONG);
    return status;
}

static void the_server_dies(pair *q, const relay_burst *b, size_t at)
{
    const counted before = read_log(q);
    prepare(q, KILL, b, at);
    q->between->victim = q->server;
    assert_int_equal(ask_through(q, LONG), DP_EPEER);
    relay_end(q->between);
    kill_server(q);
    start_server(q);
    const counted after = read_log(q);
    /* What was asked is spent, whether or not it had begun to be answered. */
    assert_true(after.asked >= before.asked &&
                after.asked <= before.asked + (q->streams ? MANY : 1));
    the_next_session_works(q);
}

static void the_client_dies(pair *q, const relay_burst *b, size_t at, int lost)
{
    int how;
    dp_error err;
    prepare(q, KILL, b, at);
    pid_t child = fork_mortal();
    assert_true(child >= 0);
    if (child == 0) {
        const dp_ask_opts opts = opts_of(q, q->between->port, LONG);
        (void)ask_one(&opts, &err);
        (void)pause(); /* until it is killed, also where all has arrived */
    }
    q->between->victim = child;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    relay_end(q->between);
    all_have_ended(q, lost);
    the_next_session_works(q);
}

/* At the beginning of each message and in its middle; of TLS, whose messages are not ours, in the
 * middle alone. */
static void each_side_dies(dp_serve_protocol protocol, dp_serve_mode mode)
{
    pair q = new_pair(protocol, mode);
    learn(&q);
    const relay seen = *q.between;
    for (size_t i = 0; i < seen.n_bursts; i++)
        for (int half = i < MESSAGES_BEFORE; half < 2; half++) {
            const relay_burst *b = &seen.burst[i];
            size_t at = b->from + (half == 1 ? (b->to - b->from) / 2 : 0);
            the_server_dies(&q, b, at);
            const counted c = read_log(&q);
            the_client_dies(&q, b, at, c.asked - c.ended);
        }
    free_pair(&q);
}

static void sides_of_paillier_die(void **state)
{
    (void)state;
    each_side_dies(DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    each_side_dies(DP_SERVE_PAILLIER, DP_SERVE_PERMUTE);
}

static void sides_of_the_lattice_die(void **state)
{
    (void)state;
    each_side_dies(DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    each_side_dies(DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
}

static void bytes_are_tampered_with(void **state)
{
    static const relay_deed deeds[] = {CLOSE, FLIP, DROP, TWICE, SWAP};
    (void)state;
    for (int protocol = 0; protocol < 2; protocol++) {
        pair q = new_pair((dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        q.timeout = LONG;
        learn(&q);
        const relay seen = *q.between;
        for (size_t i = MESSAGES_BEFORE; i < seen.n_bursts; i++) {
            const relay_burst *b = &seen.burst[i];
            relay_deed deed = deeds[(i + (size_t)protocol) % (sizeof deeds / sizeof *deeds)];
            prepare(&q, deed, b, b->from + (b->to - b->from) / 2);
            /* Where bytes are missing the rest of a record does not come. */
            (void)ask_through(&q, deed == DROP ? 2000 : LONG);
            relay_end(q.between);
            all_have_ended(&q, 0);
            the_next_session_works(&q);
        }
        free_pair(&q);
    }
}

/* Where their messages lie depends on who is faster, so they die after so many bytes. */
static void sides_of_streams_die(void **state)
{
    enum { PLACES = 6 };
    (void)state;
    for (int protocol = 0; protocol < 2; protocol++) {
        pair q = new_pair((dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        q.streams = true;
        learn(&q);
        size_t all[2] = {0};
        for (size_t i = 0; i < q.between->n_bursts; i++)
            all[q.between->burst[i].way] = q.between->burst[i].to;
        for (size_t i = 0; i < PLACES; i++) {
            const relay_burst b = {.way = i % 2 == 0 ? UP : DOWN};
            size_t at = all[b.way] * (2 * i + 1) / (2 * PLACES);
            the_server_dies(&q, &b, at);
            const counted c = read_log(&q);
            the_client_dies(&q, &b, at, c.asked - c.ended);
        }
        free_pair(&q);
    }
}

/* Neither side reads nor is heard any more, and no connection closes.  Where the machine stands
 * still before, a side may have given the other up. */
static void both_fall_silent(pair *q, const relay_burst *b)
{
    dp_status status;
    int tries = 0;
    do {
        const double begun = clock_now();
        prepare(q, STALL, b, b->from);
        status = ask_through(q, SHORT);
        assert_true(clock_now() - begun >= SHORT);
        all_have_ended(q, 0); /* by the provider's own time: nothing has closed */
        relay_end(q->between);
    } while (!q->between->done && ++tries < 5);
    assert_true(q->between->done);
    assert_int_equal(status, DP_ETIMEOUT);
}

static void silence_ends_in_time(void **state)
{
    (void)state;
    for (int protocol = 0; protocol < 2; protocol++) {
        pair q = new_pair((dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        learn(&q);
        kill_server(&q);
        q.timeout = SHORT;
        start_server(&q);
        const relay seen = *q.between;
        for (size_t i = MESSAGES_BEFORE; i < seen.n_bursts; i++) {
            both_fall_silent(&q, &seen.burst[i]);
            the_next_session_works(&q);
        }
        free_pair(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_of_paillier_die), cmocka_unit_test(sides_of_the_lattice_die),
        cmocka_unit_test(sides_of_streams_die),  cmocka_unit_test(bytes_are_tampered_with),
        cmocka_unit_test(silence_ends_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
