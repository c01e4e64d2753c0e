/* What a session costs over loopback: one JSON line each for a round trip of 128 bytes, for moving
 * 1 MB one way and both ways at once, and for opening a session; and the same round trip and
 * megabyte over plain TCP with blocking calls.
 *   make bench/wire && bench/wire
 * The other side is a child process, which does what is asked of it by the kind of a frame. */
#define _XOPEN_SOURCE 700
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "wire/listener.h"

enum { SMALL = 128, LARGE = 1 << 20, ACK = 1, WITHIN = 10000 };
enum { ECHO = DPI_FRAME_OWN, TAKE, EXCHANGE };

static unsigned char out[LARGE], in[LARGE];

static void must(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "bench/wire: %s\n", what);
    exit(1);
}

/* ---- plain TCP ---- */

static void write_all(int socket, const void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t sent = send(socket, (const char *)bytes + at, n - at, MSG_NOSIGNAL);
        if (sent <= 0)
            _exit(1);
        at += (size_t)sent;
    }
}

static void read_all(int socket, void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = recv(socket, (char *)bytes + at, n - at, 0);
        if (got <= 0)
            _exit(0);
        at += (size_t)got;
    }
}

/* Connected TCP sockets over loopback. */
static void connect_both(int ends[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof a;
    int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(bind(listening, (struct sockaddr *)&a, size) == 0 && listen(listening, 1) == 0 &&
             getsockname(listening, (struct sockaddr *)&a, &size) == 0,
         "cannot listen");
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(ends[0], (struct sockaddr *)&a, size) == 0, "cannot connect");
    ends[1] = accept(listening, NULL, NULL);
    for (int i = 0; i < 2; i++)
        must(setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "no TCP");
    (void)close(listening);
}

static void plain_small(void *of)
{
    const int *socket = of;
    write_all(*socket, out, SMALL);
    read_all(*socket, in, SMALL);
}

static void plain_large(void *of)
{
    const int *socket = of;
    write_all(*socket, out, LARGE);
    read_all(*socket, in, ACK);
}

/* Echoes small messages, or takes large ones and acknowledges. */
static void plain_peer(int socket, size_t n, size_t back)
{
    for (;;) {
        read_all(socket, in, n);
        write_all(socket, in, back);
    }
}

/* ---- sessions ---- */

static void session_small(void *of)
{
    dpi_wire_session *s = of;
    must(dpi_wire_send(s, ECHO, 0, out, SMALL, WITHIN) == DP_OK &&
             dpi_wire_receive(s, ECHO, 0, in, SMALL, WITHIN) == DP_OK,
         dpi_wire_error(s)->text);
}

static void session_large(void *of)
{
    dpi_wire_session *s = of;
    must(dpi_wire_send(s, TAKE, 0, out, LARGE, WITHIN) == DP_OK &&
             dpi_wire_receive(s, TAKE, 0, in, ACK, WITHIN) == DP_OK,
         dpi_wire_error(s)->text);
}

static dp_status exchange(dpi_wire_session *s)
{
    const dpi_wire_task tasks[] = {
        {.session = s, .kind = EXCHANGE, .from = out, .n = LARGE},
        {.session = s, .kind = EXCHANGE, .to = in, .n = LARGE},
    };
    return dpi_wire_move(tasks, 2, WITHIN);
}

static void session_exchange(void *of)
{
    dpi_wire_session *s = of;
    must(exchange(s) == DP_OK, dpi_wire_error(s)->text);
}

/* Answers until the session ends. */
static void session_peer(dpi_wire_session *s, int kind)
{
    const size_t n = kind == ECHO ? SMALL : LARGE, back = kind == ECHO ? SMALL : ACK;
    for (;;) {
        bool goes_on = kind == EXCHANGE
                           ? exchange(s) == DP_OK
                           : dpi_wire_receive(s, (uint16_t)kind, 0, in, n, WITHIN) == DP_OK &&
                                 dpi_wire_send(s, (uint16_t)kind, 0, in, back, WITHIN) == DP_OK;
        if (!goes_on)
            _exit(0);
    }
}

/* ---- lines ---- */

static void tell(const char *what, const char *over, size_t bytes, bench_times t)
{
    (void)printf("{\"what\": \"%s\", \"over\": \"%s\", \"bytes\": %zu, ", what, over, bytes);
    bench_number("us", t.median * 1e6);
    bench_number("us_low", t.low * 1e6);
    bench_number("us_high", t.high * 1e6);
    if (bytes >= LARGE)
        bench_number("gb_per_s", (double)bytes / t.median / 1e9);
    bench_end_line();
}

static void run_plain(bool large)
{
    int ends[2];
    connect_both(ends);
    pid_t child = fork();
    must(child >= 0, "cannot fork");
    if (child == 0) {
        (void)close(ends[0]);
        plain_peer(ends[1], large ? LARGE : SMALL, large ? ACK : SMALL);
    }
    (void)close(ends[1]);
    tell(large ? "one way" : "round trip", "TCP", large ? LARGE : SMALL,
         bench_measure(large ? plain_large : plain_small, &ends[0]));
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
}

static void run_session(const dpi_wire_opts o[2], int kind)
{
    static const char *const names[] = {"round trip", "one way", "both ways"};
    static void (*const calls[])(void *of) = {session_small, session_large, session_exchange};
    dp_error err = {DP_OK, ""};
    dpi_wire_session *s;
    int ends[2];
    connect_both(ends);
    pid_t child = fork();
    must(child >= 0, "cannot fork");
    if (child == 0) {
        (void)close(ends[0]);
        if (dpi_wire_open(ends[1], DPI_WIRE_SERVER, &o[1], WITHIN, &s, NULL) == DP_OK)
            session_peer(s, kind);
        _exit(1);
    }
    (void)close(ends[1]);
    must(dpi_wire_open(ends[0], DPI_WIRE_CLIENT, &o[0], WITHIN, &s, &err) == DP_OK, err.text);
    size_t bytes = kind == ECHO ? SMALL : kind == TAKE ? LARGE : 2 * (size_t)LARGE;
    tell(names[kind - ECHO], "session", bytes, bench_measure(calls[kind - ECHO], s));
    dpi_wire_close(s);
    (void)waitpid(child, NULL, 0);
}

typedef struct caller {
    dpi_wire_opts opts;
    char port[8];
} caller;

static void open_one(void *of)
{
    const caller *c = of;
    dpi_wire_session *s;
    dp_error err = {DP_OK, ""};
    must(dpi_wire_connect("127.0.0.1", c->port, &c->opts, WITHIN, &s, &err) == DP_OK, err.text);
    dpi_wire_close(s);
}

static void run_opening(const dpi_wire_opts o[2])
{
    dp_error err = {DP_OK, ""};
    dpi_wire_listener *l;
    dpi_wire_session *s;
    must(dpi_wire_listen("127.0.0.1", "0", &o[1], NULL, &l, &err) == DP_OK, err.text);
    caller c = {.opts = o[0]};
    (void)snprintf(c.port, sizeof c.port, "%d", dpi_wire_port(l));
    pid_t child = fork();
    must(child >= 0, "cannot fork");
    if (child == 0) {
        while (dpi_wire_accept(l, 1000, &s, NULL) == DP_OK)
            dpi_wire_close(s);
        _exit(0);
    }
    tell("open", "session", 0, bench_measure(open_one, &c));
    dpi_wire_listener_free(l);
    (void)waitpid(child, NULL, 0);
}

int main(void)
{
    char folder[] = "/tmp/tacit-bench-XXXXXX", path[64];
    dp_identity *own[2];
    dpi_peer peer[2] = {{.name = "server"}, {.name = "client"}};
    dpi_peers peers[2] = {{&peer[0], 1}, {&peer[1], 1}};
    dpi_wire_opts o[2];
    must(mkdtemp(folder) != NULL, "cannot make a folder");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/identity", folder);
        must(dp_identity_new(path, &own[i], NULL) == DP_OK, "cannot make an identity");
        (void)unlink(path);
        memcpy(peer[!i].fingerprint, own[i]->fingerprint, DPI_FINGERPRINT);
        o[i] = (dpi_wire_opts){.identity = own[i], .peers = &peers[i]};
    }
    (void)rmdir(folder);
    run_plain(false);
    run_plain(true);
    for (int kind = ECHO; kind <= EXCHANGE; kind++)
        run_session(o, kind);
    run_opening(o);
    for (int i = 0; i < 2; i++)
        dp_identity_free(own[i]);
    return 0;
}
