/* Listeners: who finishes a handshake is let in, whatever the others do. */
#define _XOPEN_SOURCE 700
#include "wire/listener.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/wire/pair.h"

enum { KIND = DPI_FRAME_OWN, LONG = 20000, SHORT = 150 };

static dpi_wire_opts server; /* borrowed by listeners */

static dpi_wire_listener *listen_with(wire_pair *p, dpi_wire_limits limits)
{
    dpi_wire_listener *l;
    dp_error err = {0};
    server = pair_opts(p, SERVER);
    assert_ok(dpi_wire_listen("127.0.0.1", "0", &server, &limits, &l, &err), err.text);
    assert_true(dpi_wire_port(l) > 0);
    return l;
}

typedef struct caller {
    pthread_t thread;
    char port[8];
    dpi_wire_opts opts;
    dpi_wire_session *session;
    dp_status status;
    dp_error err;
} caller;

static void *run_caller(void *of)
{
    caller *c = of;
    c->status = dpi_wire_connect("127.0.0.1", c->port, &c->opts, LONG, &c->session, &c->err);
    return NULL;
}

static void caller_start(caller *c, wire_pair *p, int who, const dpi_wire_listener *l)
{
    *c = (caller){.opts = pair_opts(p, who)};
    (void)snprintf(c->port, sizeof c->port, "%d", dpi_wire_port(l));
    assert_int_equal(pthread_create(&c->thread, NULL, run_caller, c), 0);
}

static void caller_join(caller *c)
{
    assert_int_equal(pthread_join(c->thread, NULL), 0);
}

/* A connection on which nothing is ever said. */
static int silent(const dpi_wire_listener *l)
{
    char port[8];
    int socket;
    dp_error err = {0};
    (void)snprintf(port, sizeof port, "%d", dpi_wire_port(l));
    assert_ok(dpi_socket_connect("127.0.0.1", port, dpi_deadline_after(LONG), &socket, &err),
              err.text);
    return socket;
}

/* Somebody calls, is let in, and a query and its answer are moved. */
static void one_is_served(wire_pair *p, dpi_wire_listener *l)
{
    caller c;
    dpi_wire_session *s;
    dp_error err = {0};
    char b[6] = "";
    caller_start(&c, p, CLIENT, l);
    assert_ok(dpi_wire_accept(l, LONG, &s, &err), err.text);
    caller_join(&c);
    assert_ok(c.status, c.err.text);
    assert_ok(dpi_wire_send(c.session, KIND, 0, "query", 6, LONG), "");
    assert_ok(dpi_wire_receive(s, KIND, 0, b, 6, LONG), "");
    assert_string_equal(b, "query");
    dpi_wire_close(c.session);
    dpi_wire_close(s);
}

static void callers_are_let_in(void **state)
{
    dpi_wire_listener *l = listen_with(*state, (dpi_wire_limits){0});
    for (int i = 0; i < 5; i++)
        one_is_served(*state, l);
    dpi_wire_dropped d = dpi_wire_drops(l);
    assert_int_equal(d.failed + d.late + d.crowded_out, 0);
    dpi_wire_listener_free(l);
    dpi_wire_listener_free(NULL);
}

static void nobody_comes_and_the_call_ends(void **state)
{
    dpi_wire_listener *l = listen_with(*state, (dpi_wire_limits){0});
    dpi_wire_session *s;
    dp_error err = {0};
    double begun = clock_now();
    assert_fails(dpi_wire_accept(l, SHORT, &s, &err), DP_ETIMEOUT, &err, "nobody opened");
    assert_null(s);
    assert_true(clock_now() - begun >= SHORT && clock_now() - begun < LONG);
    one_is_served(*state, l);
    dpi_wire_listener_free(l);
}

static void silent_ones_keep_nobody_out(void **state)
{
    enum { N = 20 };
    dpi_wire_listener *l = listen_with(*state, (dpi_wire_limits){.pending = 4, .handshake = LONG});
    int sockets[N];
    for (int i = 0; i < N; i++)
        sockets[i] = silent(l);
    double begun = clock_now();
    one_is_served(*state, l);
    assert_true(clock_now() - begun < LONG);
    assert_true(dpi_wire_drops(l).crowded_out >= N - 4);
    assert_int_equal(dpi_wire_drops(l).late, 0);
    for (int i = 0; i < N; i++)
        (void)close(sockets[i]);
    one_is_served(*state, l);
    dpi_wire_listener_free(l);
}

static void slow_handshakes_are_dropped(void **state)
{
    const int before = open_files();
    dpi_wire_listener *l = listen_with(*state, (dpi_wire_limits){.handshake = SHORT});
    dpi_wire_session *s;
    dp_error err = {0};
    int socket = silent(l);
    const double begun = clock_now();
    while (dpi_wire_drops(l).late == 0 && clock_now() - begun < LONG)
        assert_fails(dpi_wire_accept(l, 2 * SHORT, &s, &err), DP_ETIMEOUT, &err, "nobody");
    assert_int_equal(dpi_wire_drops(l).late, 1);
    assert_true(clock_now() - begun < 4000); /* a handshake has 5 s where no limit is given */
    (void)close(socket);
    dpi_wire_listener_free(l);
    assert_int_equal(open_files(), before);
}

static void strangers_are_turned_away(void **state)
{
    wire_pair *p = *state;
    dpi_wire_listener *l = listen_with(p, (dpi_wire_limits){0});
    dpi_wire_session *s;
    dp_error err = {0};
    caller c;
    caller_start(&c, p, STRANGER, l);
    const double begun = clock_now();
    while (dpi_wire_drops(l).failed == 0 && clock_now() - begun < LONG)
        assert_fails(dpi_wire_accept(l, SHORT, &s, &err), DP_ETIMEOUT, &err, "nobody");
    caller_join(&c);
    assert_fails(c.status, DP_EREFUSED, &c.err, "does not know this identity");
    assert_int_equal(dpi_wire_drops(l).failed, 1);
    one_is_served(p, l);
    dpi_wire_listener_free(l);
}

static void places_that_are_none_are_told(void **state)
{
    wire_pair *p = *state;
    dpi_wire_listener *l = listen_with(p, (dpi_wire_limits){0}), *other = l;
    dpi_wire_opts o = pair_opts(p, CLIENT);
    dpi_wire_session *s;
    dp_error err = {0};
    char port[8];
    (void)snprintf(port, sizeof port, "%d", dpi_wire_port(l));
    assert_fails(dpi_wire_listen("127.0.0.1", port, &server, NULL, &other, &err), DP_EIO, &err,
                 "cannot listen");
    assert_null(other);
    assert_fails(dpi_wire_listen("127.0.0.1", "ports", &server, NULL, &other, &err), DP_ENAME, &err,
                 "no host");
    assert_fails(dpi_wire_listen("127.0.0.1", "65536", &server, NULL, &other, &err), DP_ENAME, &err,
                 "port '65536'");
    assert_fails(dpi_wire_listen("127.0.0.1", "18446744073709551616", &server, NULL, &other, &err),
                 DP_ENAME, &err, "no host");
    const dpi_wire_limits many = {.pending = DPI_WIRE_MOST_PENDING + 1};
    assert_fails(dpi_wire_listen("127.0.0.1", "0", &server, &many, &other, &err), DP_EINVAL, &err,
                 "at most 256");
    dpi_wire_listener_free(l);
    assert_fails(dpi_wire_connect("127.0.0.1", port, &o, LONG, &s, &err), DP_EPEER, &err,
                 "nobody can be reached");
    assert_null(s);
    assert_fails(dpi_wire_connect("300.0.0.1", port, &o, LONG, &s, &err), DP_ENAME, &err,
                 "no host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_let_in),
        cmocka_unit_test(nobody_comes_and_the_call_ends),
        cmocka_unit_test(silent_ones_keep_nobody_out),
        cmocka_unit_test(slow_handshakes_are_dropped),
        cmocka_unit_test(strangers_are_turned_away),
        cmocka_unit_test(places_that_are_none_are_told),
    };
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
