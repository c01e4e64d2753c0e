/* The other side does not keep to the protocol: each way of it gives its status within its time,
 * and the next session works. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/wire/pair.h"
#include "tests/wire/raw.h"
#include "wire/parts.h"

enum { KIND = DPI_FRAME_OWN, LAYER = 3, LENGTH = 64, SHORT = 150 };

/* ---- opening ---- */

static void whoever_is_not_pinned_is_not_let_in(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    raw r = {.own = p->own[STRANGER]};
    assert_fails(open_from(p, &r, &s, &err), DP_EPEER, &err, "not among those pinned");
    raw_join(&r);
    r = (raw){.own = p->own[STRANGER]};
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EPEER, &err, "not among those pinned");
    raw_join(&r);
    r = (raw){.own = NULL};
    assert_fails(open_from(p, &r, &s, &err), DP_EPEER, &err, "has no certificate");
    raw_join(&r);
    r = (raw){.own = NULL};
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EPEER, &err, "does not speak TLS 1.3");
    raw_join(&r);
}

static void a_stranger_learns_that_he_is_unknown(void **state)
{
    wire_pair *p = *state;
    int sockets[2];
    opening o[2];
    socket_pair(sockets);
    opening_start(&o[0], sockets[0], DPI_WIRE_CLIENT, pair_opts(p, STRANGER), LONG);
    opening_start(&o[1], sockets[1], DPI_WIRE_SERVER, pair_opts(p, SERVER), LONG);
    opening_join(&o[0]);
    opening_join(&o[1]);
    assert_fails(o[0].status, DP_EREFUSED, &o[0].err, "does not know this identity");
    assert_fails(o[1].status, DP_EPEER, &o[1].err, "not among those pinned");
}

/* The stranger has a copy of the server's certificate, and not its key. */
static void a_certificate_without_its_key_is_worth_nothing(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    dp_identity forged = *p->own[SERVER];
    forged.key = p->own[STRANGER]->key;
    raw r = {.own = &forged}; /* OpenSSL itself refuses the pair: as if there were none */
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EPEER, &err, "does not speak TLS 1.3");
    raw_join(&r);
}

static void older_tls_is_refused(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    raw r = {.own = p->own[CLIENT], .most_version = TLS1_2_VERSION};
    assert_fails(open_from(p, &r, &s, &err), DP_EPEER, &err, "does not speak TLS 1.3");
    raw_join(&r);
    r = (raw){.own = p->own[SERVER], .most_version = TLS1_2_VERSION};
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EPEER, &err, "does not speak TLS 1.3");
    raw_join(&r);
}

static void another_program_is_told(void **state)
{
    wire_pair *p = *state;
    static const char *const greetings[] = {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 400 Bad\r\n\r\n"};
    for (int i = 0; i < 2; i++) {
        int sockets[2];
        dpi_wire_session *s;
        dp_error err = {0};
        socket_pair(sockets);
        assert_true(write(sockets[1], greetings[i], strlen(greetings[i])) > 0);
        const dpi_wire_opts o = pair_opts(p, CLIENT);
        assert_fails(dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &o, LONG, &s, &err), DP_EPEER, &err,
                     "the other side does not speak TLS 1.3");
        assert_int_equal(close(sockets[1]), 0);
    }
}

static void silence_ends_in_time(void **state)
{
    wire_pair *p = *state;
    for (int role = 0; role < 2; role++) {
        int sockets[2];
        dpi_wire_session *s;
        dp_error err = {0};
        socket_pair(sockets);
        double begun = clock_now();
        const dpi_wire_opts o = pair_opts(p, role);
        assert_fails(dpi_wire_open(sockets[0], (dpi_wire_role)role, &o, SHORT, &s, &err),
                     DP_ETIMEOUT, &err, "did not open the session in time");
        assert_true(clock_now() - begun >= SHORT && clock_now() - begun < LONG);
        assert_int_equal(close(sockets[1]), 0);
    }
}

static void wait_for_close(raw *r, SSL *tls)
{
    char byte;
    (void)r;
    (void)SSL_read(tls, &byte, 1);
}

static void no_hello_ends_in_time(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    raw r = {.own = p->own[SERVER], .act = wait_for_close};
    assert_fails(open_to(p, &r, SHORT, &s, &err), DP_ETIMEOUT, &err, "did not open the session");
    raw_join(&r);
}

static void refuse_at_once(raw *r, SSL *tls)
{
    send_header(r, tls, DPI_FRAME_REFUSAL, DPI_FRAME_OPENING, 0, DPI_REFUSED_BUSY);
    wait_for_close(r, tls);
}

static void a_refusal_may_stand_for_the_hello(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    raw r = {.own = p->own[SERVER], .act = refuse_at_once};
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EREFUSED, &err,
                 "server: the other side refused");
    raw_join(&r);
}

/* ---- frames ---- */

static void send_good(raw *r, SSL *tls, uint64_t sequence)
{
    static const unsigned char payload[LENGTH] = "payload";
    send_header(r, tls, KIND, LAYER, sequence, LENGTH);
    (void)SSL_write(tls, payload, LENGTH);
}

#define FRAME(name, ...)                                                                           \
    static void name(raw *r, SSL *tls)                                                             \
    {                                                                                              \
        send_hello(r, tls);                                                                        \
        send_good(r, tls, 1);                                                                      \
        __VA_ARGS__;                                                                               \
        wait_for_close(r, tls);                                                                    \
    }

FRAME(send_well, send_good(r, tls, 2))
FRAME(send_again, send_good(r, tls, 1))
FRAME(leave_one_out, send_good(r, tls, 3))
FRAME(send_another_layer, send_header(r, tls, KIND, LAYER + 1, 2, LENGTH))
FRAME(send_another_kind, send_header(r, tls, KIND + 1, LAYER, 2, LENGTH))
FRAME(send_shorter, send_header(r, tls, KIND, LAYER, 2, LENGTH - 1))
FRAME(send_enormous, send_header(r, tls, KIND, LAYER, 2, 1u << 31))
FRAME(send_all_ones, send_header(r, tls, 0xffff, LAYER, 2, UINT32_MAX))
FRAME(refuse_too_late, send_header(r, tls, DPI_FRAME_REFUSAL, LAYER, 2, DPI_REFUSED_BUSY))
FRAME(refuse_in_another_layer, send_header(r, tls, DPI_FRAME_REFUSAL, 0, 2, DPI_REFUSED_BUSY))
FRAME(send_another_session, r->id[15] ^= 1; send_good(r, tls, 2))
FRAME(send_text, (void)SSL_write(tls, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n     ", 42))
FRAME(send_a_stump, send_header(r, tls, KIND, LAYER, 2, LENGTH); (void)SSL_write(tls, "12", 2))

static void send_newer(raw *r, SSL *tls)
{
    unsigned char header[DPI_FRAME_HEADER];
    const dpi_frame f = {.kind = DPI_FRAME_HELLO};
    dpi_frame_write(&f, header);
    header[3] = 2;
    (void)SSL_write(tls, header, sizeof header);
    wait_for_close(r, tls);
}

static void stop_in_the_middle(raw *r, SSL *tls)
{
    send_hello(r, tls);
    send_good(r, tls, 1);
    send_header(r, tls, KIND, LAYER, 2, LENGTH);
    (void)SSL_write(tls, "12", 2);
}

static void end_in_the_middle(raw *r, SSL *tls)
{
    stop_in_the_middle(r, tls);
    (void)SSL_shutdown(tls);
}

/* What is no TLS record, in the middle of a session. */
static void send_noise(raw *r, SSL *tls)
{
    static const char noise[200] = "\x17\x03\x03\x00\x50 tampered with";
    send_hello(r, tls);
    send_good(r, tls, 1);
    (void)send(r->socket, noise, sizeof noise, MSG_NOSIGNAL);
    (void)tls;
    char byte;
    (void)recv(r->socket, &byte, 1, 0);
}

/* Records that hold nothing for us, made beforehand, so that more are always there when one is
 * read. */
static void send_key_updates(raw *r, SSL *tls)
{
    enum { UPDATES = 400000 };
    BIO *made = BIO_new(BIO_s_mem());
    char *at;
    send_hello(r, tls);
    SSL_set0_wbio(tls, made);
    for (int i = 0; i < UPDATES; i++)
        if (SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 || SSL_do_handshake(tls) != 1)
            break;
    for (long n = BIO_get_mem_data(made, &at), sent; n > 0; at += sent, n -= sent)
        if ((sent = send(r->socket, at, (size_t)n, MSG_NOSIGNAL)) <= 0)
            break;
}

/* How long they are received. */
static double time_of_nothing(wire_pair *p)
{
    raw r = {.own = p->own[SERVER], .act = send_key_updates};
    dpi_wire_session *s;
    dp_error err = {0};
    char got[LENGTH];
    assert_ok(open_to(p, &r, LONG, &s, &err), err.text);
    char first;
    while (recv(s->socket, &first, 1, MSG_PEEK) < 0)
        (void)poll(&(struct pollfd){.fd = s->socket, .events = POLLIN}, 1,
                   SHORT); /* they are made, and begin to come */
    double begun = clock_now();
    dp_status status = dpi_wire_receive(s, KIND, LAYER, got, LENGTH, SHORT);
    double took = clock_now() - begun;
    dpi_wire_close(s);
    raw_join(&r);
    assert_int_equal(status, DP_ETIMEOUT);
    return took;
}

static void records_of_nothing_end_in_time(void **state)
{
    double took = LONG;
    for (int tries = 0; tries < 3 && took >= 1000; tries++)
        took = time_of_nothing(*state); /* again where the machine stood still */
    assert_true(took < 1000);
}

static const struct {
    void (*act)(raw *r, SSL *tls);
    dp_status status;
    const char *why;
} cases[] = {
    {send_well, DP_OK, ""},
    {send_again, DP_EPEER, "of number 1 where one of number 2"},
    {leave_one_out, DP_EPEER, "of number 3 where one of number 2"},
    {send_another_layer, DP_EPEER, "of layer 4 where one of layer 3"},
    {send_another_kind, DP_EPEER, "of kind 17 where one of kind 16"},
    {send_shorter, DP_EPEER, "of length 63 where one of length 64"},
    {send_enormous, DP_EPEER, "of length 2147483648 where one of length 64"},
    {send_all_ones, DP_EPEER, "of kind 65535 where"},
    {refuse_too_late, DP_EPEER, "of kind 1 where"},
    {refuse_in_another_layer, DP_EPEER, "of layer 0 where"},
    {send_another_session, DP_EPEER, "of another session"},
    {send_text, DP_EPEER, "sent no frame"},
    {send_a_stump, DP_ETIMEOUT, "did not go on in time"},
    {stop_in_the_middle, DP_EPEER, "was lost"},
    {end_in_the_middle, DP_EPEER, "ended the session"},
    {send_noise, DP_EPEER, "broke the TLS session"},
};

static void each_wrong_frame_ends_the_session(void **state)
{
    wire_pair *p = *state;
    const int before = open_files();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw r = {.own = p->own[SERVER], .act = cases[i].act};
        dpi_wire_session *s;
        dp_error err = {0};
        char got[2][LENGTH];
        memset(got, 's', sizeof got);
        assert_ok(open_to(p, &r, LONG, &s, &err), err.text);
        assert_ok(dpi_wire_receive(s, KIND, LAYER, got[0], LENGTH, LONG), dpi_wire_error(s)->text);
        assert_string_equal(got[0], "payload");
        bool waits = cases[i].status == DP_ETIMEOUT;
        dp_status status = dpi_wire_receive(s, KIND, LAYER, got[1], LENGTH, waits ? SHORT : LONG);
        err = *dpi_wire_error(s);
        if (cases[i].status == DP_OK) {
            assert_ok(status, err.text);
            assert_string_equal(got[1], "payload");
        } else {
            assert_fails(status, cases[i].status, &err, cases[i].why);
            for (int k = 0; k < LENGTH; k++)
                assert_int_equal(got[1][k], 0);
            assert_false(dpi_wire_ended(s));
        }
        dpi_wire_close(s);
        raw_join(&r);
    }
    assert_int_equal(open_files(), before);
}

static void another_version_is_told(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *s;
    dp_error err = {0};
    raw r = {.own = p->own[SERVER], .act = send_newer};
    assert_fails(open_to(p, &r, LONG, &s, &err), DP_EPEER, &err, "version 2 and this is version 1");
    raw_join(&r);
}

/* ---- bytes tampered with on their way ---- */

typedef struct man_between {
    pthread_t thread;
    int from, to, spoil; /* which byte, of those from the client */
} man_between;

static void *pass_on(void *of)
{
    man_between *m = of;
    unsigned char b[4096];
    ssize_t got;
    for (int seen = 0; (got = recv(m->from, b, sizeof b, 0)) > 0; seen += (int)got) {
        if (m->spoil >= seen && m->spoil < seen + got)
            b[m->spoil - seen] ^= 1;
        if (send(m->to, b, (size_t)got, MSG_NOSIGNAL) != got)
            break;
    }
    (void)shutdown(m->to, SHUT_WR);
    (void)shutdown(m->from, SHUT_RD);
    return NULL;
}

/* One bit flipped on the way to the server, anywhere from the first byte to after the hello: no
 * session comes about, or the first frame fails; what arrives is never another text. */
static void a_flipped_bit_is_noticed(void **state)
{
    wire_pair *p = *state;
    for (int spoil = 0; spoil < 1100; spoil += 37) {
        int near[2], far[2];
        socket_pair(near);
        socket_pair(far);
        man_between m[2] = {{.from = near[1], .to = far[0], .spoil = spoil},
                            {.from = far[0], .to = near[1], .spoil = -1}};
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&m[i].thread, NULL, pass_on, &m[i]), 0);
        opening o[2];
        opening_start(&o[0], near[0], DPI_WIRE_CLIENT, pair_opts(p, CLIENT), 1000);
        opening_start(&o[1], far[1], DPI_WIRE_SERVER, pair_opts(p, SERVER), 1000);
        opening_join(&o[0]);
        opening_join(&o[1]);
        if (o[0].status == DP_OK && o[1].status == DP_OK) {
            char sent[2000] = "text", got[2000] = "x";
            assert_ok(dpi_wire_send(o[0].session, KIND, 0, sent, sizeof sent, LONG), "");
            /* Where the bit made a record longer, the rest of it does not come. */
            dp_status status = dpi_wire_receive(o[1].session, KIND, 0, got, sizeof got, 1000);
            assert_true(status == DP_EPEER || status == DP_ETIMEOUT);
            assert_int_equal(got[0], 0);
        }
        for (int i = 0; i < 2; i++)
            dpi_wire_close(o[i].session);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(m[i].thread, NULL), 0);
        (void)close(near[1]);
        (void)close(far[0]);
    }
}

/* ---- a process that dies ---- */

/* Sends some frames and then, in the middle of one, nothing any more. */
static void one_that_is_killed(wire_pair *p, int socket)
{
    static char much[1 << 22];
    const dpi_wire_opts o = pair_opts(p, SERVER);
    dpi_wire_session *s;
    if (dpi_wire_open(socket, DPI_WIRE_SERVER, &o, LONG, &s, NULL) == DP_OK &&
        dpi_wire_send(s, KIND, 1, much, LENGTH, LONG) == DP_OK &&
        dpi_wire_send(s, KIND, 2, much, sizeof much, LONG) == DP_OK)
        _exit(0);
    for (;;)
        (void)pause();
}

static void a_killed_process_is_noticed_and_the_next_served(void **state)
{
    wire_pair *p = *state;
    static char much[1 << 22];
    for (int at = 0; at < 3; at++) {
        int sockets[2], how;
        socket_pair(sockets);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(sockets[0]);
            one_that_is_killed(p, sockets[1]);
        }
        (void)close(sockets[1]);
        dpi_wire_session *s = NULL;
        dp_error err = {0};
        const dpi_wire_opts o = pair_opts(p, CLIENT);
        if (at == 0)
            assert_int_equal(kill(child, SIGKILL), 0);
        dp_status status = dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &o, LONG, &s, &err);
        if (at > 0) {
            assert_ok(status, err.text);
            status = dpi_wire_receive(s, KIND, 1, much, LENGTH, LONG);
            assert_ok(status, dpi_wire_error(s)->text);
            if (at == 1)
                assert_int_equal(kill(child, SIGKILL), 0);
            status = dpi_wire_receive(s, KIND, at == 1 ? 2 : 7, much, sizeof much, LONG);
            assert_int_equal(kill(child, SIGKILL), 0);
        }
        assert_int_equal(status, DP_EPEER);
        assert_int_equal(waitpid(child, &how, 0), child);
        dpi_wire_close(s);
        dpi_wire_session *e[2];
        open_pair(p, e);
        dpi_wire_close(e[0]);
        dpi_wire_close(e[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_not_pinned_is_not_let_in),
        cmocka_unit_test(a_stranger_learns_that_he_is_unknown),
        cmocka_unit_test(a_certificate_without_its_key_is_worth_nothing),
        cmocka_unit_test(older_tls_is_refused),
        cmocka_unit_test(another_program_is_told),
        cmocka_unit_test(silence_ends_in_time),
        cmocka_unit_test(no_hello_ends_in_time),
        cmocka_unit_test(a_refusal_may_stand_for_the_hello),
        cmocka_unit_test(each_wrong_frame_ends_the_session),
        cmocka_unit_test(records_of_nothing_end_in_time),
        cmocka_unit_test(another_version_is_told),
        cmocka_unit_test(a_flipped_bit_is_noticed),
        cmocka_unit_test(a_killed_process_is_noticed_and_the_next_served),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* of the raw peers, which write as they like */
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
