/* Servers: whoever asks is answered, whatever others do with their sessions; and one that is
 * stopped ends in time. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tests/lib/numbers.h"
#include "tests/lib/pause.h"
#include "tests/serve/scene.h"
#include "wire/identity.h"

enum { LONG = 20000, SHORT = 2000 /* ms */, INPUTS = 20, FILES = 12 };

/* ---- sessions ---- */

/* A session in which nothing has been said. */
static dpi_wire_session *connect_as(const scene *s, const dp_identity *who)
{
    dpi_peer provider = {.name = "provider"};
    const dpi_peers peers = {&provider, 1};
    const dpi_wire_opts o = {.identity = who, .peers = &peers};
    dpi_wire_session *wire = NULL;
    dp_error err = {0};
    memcpy(provider.fingerprint, s->provider->fingerprint, DPI_FINGERPRINT);
    assert_ok(dpi_wire_connect("127.0.0.1", s->port, &o, LONG, &wire, &err), err.text);
    return wire;
}

static dp_status ask_once(const dp_ask_opts *opts, dp_ask **ask, dp_error *err)
{
    double x[INPUTS] = {.5};
    int64_t y[1];
    *err = (dp_error){0};
    dp_status status = dp_ask_new(opts, ask, err);
    return status == DP_OK ? dp_ask_query(*ask, x, y, err) : status;
}

static dp_status ask_again(dp_ask *ask, dp_error *err)
{
    double x[INPUTS] = {.25};
    int64_t y[1];
    *err = (dp_error){0};
    return dp_ask_query(ask, x, y, err);
}

/* Two clients, and a server of so many sessions. */
static scene *serve_two(const dp_program *p, size_t sessions, size_t each)
{
    char rest[400];
    scene *s = new_scene();
    (void)snprintf(rest, sizeof rest, "client = %s other\n%s", dp_identity_fingerprint(s->stranger),
                   scores);
    write_policy(s, 1000, rest);
    dp_server_opts opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.sessions = sessions;
    opts.sessions_each = each;
    start(s, &opts);
    return s;
}

static void who_asks_is_answered_where_others_keep_sessions(void **state)
{
    enum { PLACES = 4 };
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, PLACES, PLACES);
    dp_ask *held[PLACES], *ask = NULL;
    dp_error err;
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    for (int i = 0; i < PLACES; i++)
        assert_ok(ask_once(&opts, &held[i], &err), err.text);
    opts.identity = s->stranger;
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    /* He who has waited longest has gone, and nobody else. */
    assert_fails(ask_again(held[0], &err), DP_EPEER, &err, "provider"); /* lost or ended */
    for (int i = 1; i < PLACES; i++)
        assert_ok(ask_again(held[i], &err), err.text);
    assert_ok(ask_again(ask, &err), err.text);
    for (int i = 0; i < PLACES; i++)
        dp_ask_free(held[i]);
    dp_ask_free(ask);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* The same by sessions that never get as far as a query. */
static void silence_keeps_nobody_out(void **state)
{
    enum { PLACES = 4, SILENT = 12 };
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, PLACES, 0);
    dpi_wire_session *silent[SILENT];
    dp_ask *ask = NULL;
    dp_error err;
    for (int i = 0; i < SILENT; i++)
        silent[i] = connect_as(s, s->client);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.identity = s->stranger;
    double begun = clock_now();
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    assert_true(clock_now() - begun < LONG / 4.0);
    dp_ask_free(ask);
    for (int i = 0; i < SILENT; i++)
        dpi_wire_close(silent[i]);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* Who lost his connection has what is left of it replaced, and keeps half of the places. */
static void a_client_replaces_his_own(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, 4, 0);
    dp_ask *asks[3];
    dp_error err;
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    for (int i = 0; i < 3; i++)
        assert_ok(ask_once(&opts, &asks[i], &err), err.text);
    assert_fails(ask_again(asks[0], &err), DP_EPEER, &err, "provider"); /* lost or ended */
    assert_ok(ask_again(asks[1], &err), err.text);
    assert_ok(ask_again(asks[2], &err), err.text);
    for (int i = 0; i < 3; i++)
        dp_ask_free(asks[i]);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* Opens by hand and begins a query, of which no more than that is said. */
static dpi_wire_session *begin_query(const scene *s)
{
    static unsigned char sheet[1 << 16], key[1 << 18];
    unsigned char ask[DPI_ASK_BYTES] = {0}, size[DPI_SIZE_BYTES], byte = DPI_QUERY_PLAIN;
    dpi_wire_session *wire = connect_as(s, s->client);
    dpi_put_number(ask, DPI_PROTOCOL_HE2_LATTICE);
    assert_ok(dpi_wire_send(wire, DPI_SAY_ASK, 0, ask, sizeof ask, LONG), "");
    assert_ok(dpi_wire_receive(wire, DPI_SAY_SIZE, 0, size, sizeof size, LONG), "");
    assert_true(dpi_get_number(size) <= sizeof sheet);
    assert_ok(dpi_wire_receive(wire, DPI_SAY_SHEET, 0, sheet, dpi_get_number(size), LONG), "");
    dp_program *p = NULL;
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    void *client = NULL;
    const dpi_serve_opts opts = {0};
    const dpi_serve_row *row = dpi_serve_rows[DPI_PROTOCOL_HE2_LATTICE];
    assert_ok(dp_program_of_sheet(dpi_get_number(size), sheet, &p, NULL), "");
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_LINEAR, &plan, NULL), "");
    assert_ok(row->client_new(&plan, DPI_MODE_LINEAR, &opts, &client, NULL), "");
    assert_ok(row->cost(&plan, DPI_MODE_LINEAR, &opts, &cost, NULL), "");
    assert_true(cost.key <= sizeof key);
    row->write_key(client, key);
    assert_ok(dpi_wire_send(wire, DPI_SAY_KEY, 0, key, cost.key, LONG), "");
    assert_ok(dpi_wire_send(wire, DPI_SAY_QUERY, 0, &byte, 1, LONG), "");
    assert_ok(dpi_wire_receive(wire, DPI_SAY_GO, 0, &byte, 1, LONG), "");
    row->client_free(client);
    dp_program_free(p);
    return wire;
}

/* A query that has begun was paid for: it is not given up. */
static void queries_are_not_interrupted(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, 2, 2);
    dpi_wire_session *begun[2] = {begin_query(s), begin_query(s)};
    dp_ask *ask = NULL;
    dp_error err;
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_fails(ask_once(&opts, &ask, &err), DP_EREFUSED, &err, "busy");
    opts.identity = s->stranger;
    assert_fails(ask_once(&opts, &ask, &err), DP_EREFUSED, &err, "busy");
    dpi_wire_close(begun[0]);
    dpi_wire_close(begun[1]);
    dp_status status = DP_EREFUSED; /* until the server has seen them close */
    for (int i = 0; status == DP_EREFUSED && i < 100; i++) {
        status = ask_once(&opts, &ask, &err);
        if (status == DP_EREFUSED)
            (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    assert_ok(status, err.text);
    dp_ask_free(ask);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* Those who are told that it is busy, and do not hear it, hold up nobody. */
static void who_is_refused_holds_up_nobody(void **state)
{
    enum { REFUSED = 30 };
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, 2, 1);
    dpi_wire_session *query = begin_query(s), *refused[REFUSED];
    dp_ask *ask = NULL;
    dp_error err;
    double begun = clock_now();
    for (int i = 0; i < REFUSED; i++)
        refused[i] = connect_as(s, s->client);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.identity = s->stranger;
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    assert_true(clock_now() - begun < REFUSED * 200 / 2); /* each was waited for as long */
    dp_ask_free(ask);
    for (int i = 0; i < REFUSED; i++)
        dpi_wire_close(refused[i]);
    dpi_wire_close(query);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

/* ---- ends ---- */

static void a_stopped_server_waits_for_no_idle_session(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = serve_two(p, 4, 4);
    dp_ask *ask = NULL;
    dp_error err;
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    dpi_wire_session *silent = connect_as(s, s->client);
    double begun = clock_now();
    stop(s);
    assert_true(clock_now() - begun < LONG / 4.0);
    assert_fails(ask_again(ask, &err), DP_EPEER, &err, "provider"); /* lost or ended */
    dp_ask_free(ask);
    dpi_wire_close(silent);
    free_scene(s);
    dp_program_free(p);
}

static void a_query_that_hangs_ends_with_its_time(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    dp_server_opts opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.timeout_ms = SHORT;
    start(s, &opts);
    dpi_wire_session *query = begin_query(s);
    double begun = clock_now();
    stop(s);
    assert_true(clock_now() - begun < LONG / 4.0);
    dpi_wire_close(query);
    free_scene(s);
    dp_program_free(p);
}

static void *ask_for_ever(void *of)
{
    dp_ask *ask = of;
    dp_error err;
    while (ask_again(ask, &err) == DP_OK)
        continue;
    return NULL;
}

static void who_asks_without_end_is_not_waited_for(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    write_policy(s, 1000000, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    dp_ask *ask = NULL;
    dp_error err;
    pthread_t thread;
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    assert_int_equal(pthread_create(&thread, NULL, ask_for_ever, ask), 0);
    (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    double begun = clock_now();
    stop(s);
    assert_true(clock_now() - begun < LONG / 4.0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    dp_ask_free(ask);
    free_scene(s);
    dp_program_free(p);
}

/* ---- the log ---- */

/* Without its log it can answer nobody: it says so to whoever runs it. */
static void a_server_whose_log_is_gone_ends(void **state)
{
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    char aside[PATH + 8];
    dp_ask *ask = NULL;
    dp_error err;
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_ok(ask_once(&opts, &ask, &err), err.text);
    (void)snprintf(aside, sizeof aside, "%s.aside", s->log);
    assert_int_equal(rename(s->log, aside), 0);
    /* The log's last line may have been due when it went: then the session has ended. */
    dp_status status = ask_again(ask, &err);
    assert_true(status == DP_EREFUSED || status == DP_EPEER);
    dp_ask_free(ask);
    ends(s, DP_EDATA);
    assert_int_equal(unlink(aside), 0);
    free_scene(s);
    dp_program_free(p);
}

/* ---- files ---- */

/* The limit that leaves so many numbers of files. */
static rlim_t limit_for(int more)
{
    int file = 0;
    for (; more > 0; file++) {
        int copy = dup(file);
        more -= copy < 0;
        if (copy >= 0)
            (void)close(copy);
    }
    return (rlim_t)file;
}

/* A server with few files left, in a process of its own; its port comes through the pipe. */
static void serve_with_few_files(const dp_server_opts *opts, int tell)
{
    const rlim_t most = limit_for(FILES);
    const struct rlimit few = {.rlim_cur = most, .rlim_max = most};
    dp_server *server;
    dp_error err = {0};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0 || dp_server_new(opts, &server, &err) != DP_OK)
        _exit(1);
    int port = dp_server_port(server);
    if (write(tell, &port, sizeof port) != sizeof port)
        _exit(1);
    _exit(dp_server_run(server, &err) == DP_OK ? 0 : 2);
}

static void a_server_without_files_goes_on_when_there_are_some(void **state)
{
    enum { SILENT = 30 };
    (void)state;
    dp_program *p = regression();
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    int ends[2], port, sockets[SILENT], how;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        serve_with_few_files(&server, ends[1]);
    assert_int_equal(read(ends[0], &port, sizeof port), sizeof port);
    (void)snprintf(s->port, sizeof s->port, "%d", port);
    dp_error err = {0};
    for (int i = 0; i < SILENT; i++)
        assert_ok(
            dpi_socket_connect("127.0.0.1", s->port, dpi_deadline_after(LONG), &sockets[i], &err),
            err.text);
    (void)nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    assert_int_equal(waitpid(child, &how, WNOHANG), 0); /* it still runs */
    for (int i = 0; i < SILENT; i++)
        (void)close(sockets[i]);
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    answers_are_exact(p, &opts, 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    free_scene(s);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_without_files_goes_on_when_there_are_some),
        cmocka_unit_test(a_server_whose_log_is_gone_ends),
        cmocka_unit_test(who_asks_is_answered_where_others_keep_sessions),
        cmocka_unit_test(silence_keeps_nobody_out),
        cmocka_unit_test(a_client_replaces_his_own),
        cmocka_unit_test(queries_are_not_interrupted),
        cmocka_unit_test(who_is_refused_holds_up_nobody),
        cmocka_unit_test(a_stopped_server_waits_for_no_idle_session),
        cmocka_unit_test(a_query_that_hangs_ends_with_its_time),
        cmocka_unit_test(who_asks_without_end_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
