/* Reading ahead and gathering: how often the system is called, and that nobody waits for what is
 * there already. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/wire/raw.h"
#include "wire/both.h"
#include "wire/parts.h"

enum { KIND = DPI_FRAME_OWN, LAYER = 3, LENGTH = 64, FRAMES = 3, LARGE = 3 << 20 };

/* The linker puts these before those of the system. */
static atomic_size_t sends, receives;
ssize_t __real_send(int socket, const void *bytes, size_t n, int flags);
ssize_t __real_recv(int socket, void *bytes, size_t n, int flags);
ssize_t __wrap_send(int socket, const void *bytes, size_t n, int flags);
ssize_t __wrap_recv(int socket, void *bytes, size_t n, int flags);

ssize_t __wrap_send(int socket, const void *bytes, size_t n, int flags)
{
    sends++;
    return __real_send(socket, bytes, n, flags);
}

ssize_t __wrap_recv(int socket, void *bytes, size_t n, int flags)
{
    receives++;
    return __real_recv(socket, bytes, n, flags);
}

/* ---- nobody waits ---- */

/* Before each frame an update of keys, which makes OpenSSL hand back; all in one packet. */
static void send_all_at_once(raw *r, SSL *tls)
{
    static const unsigned char bytes[LENGTH] = "behind what holds nothing";
    BIO *made = BIO_new(BIO_s_mem());
    char *at, byte;
    send_hello(r, tls);
    SSL_set0_wbio(tls, made);
    for (unsigned k = 1; k <= FRAMES; k++) {
        for (int i = 0; i < 2; i++)
            if (SSL_key_update(tls, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
                SSL_do_handshake(tls) != 1)
                return;
        send_header(r, tls, KIND, LAYER, k, LENGTH);
        (void)SSL_write(tls, bytes, sizeof bytes);
    }
    long n = BIO_get_mem_data(made, &at);
    (void)send(r->socket, at, (size_t)n, MSG_NOSIGNAL);
    (void)recv(r->socket, &byte, 1, 0); /* and then is silent, until the other side closes */
}

static dp_status receive_alone(dpi_wire_session *s, unsigned char *got)
{
    return dpi_wire_receive(s, KIND, LAYER, got, LENGTH, LONG);
}

static dp_status receive_with_wait(dpi_wire_session *s, unsigned char *got)
{
    dpi_wire_both b = {.session = s, .wake = -1};
    dp_status status = dpi_wire_both_receive(&b, KIND, LAYER, got, LENGTH);
    while (status == DP_OK && !b.received)
        status = dpi_wire_both_wait(&b, LONG);
    return status;
}

static dp_status receive_with_poll(dpi_wire_session *s, unsigned char *got)
{
    dpi_wire_both b = {.session = s, .wake = -1}, *all[] = {&b};
    dp_status status = dpi_wire_both_receive(&b, KIND, LAYER, got, LENGTH);
    while (status == DP_OK && (status = dpi_wire_both_go(&b)) == DP_OK && !b.received)
        status = dpi_wire_both_poll(all, 1, dpi_deadline_after(LONG));
    return status;
}

static void what_was_read_ahead_is_not_waited_for(void **state)
{
    static dp_status (*const ways[])(dpi_wire_session *, unsigned char *) = {
        receive_alone, receive_with_wait, receive_with_poll};
    wire_pair *p = *state;
    for (int way = 0; way < 3; way++) {
        raw r = {.own = p->own[SERVER], .act = send_all_at_once};
        dpi_wire_session *s;
        dp_error err = {0};
        unsigned char got[LENGTH];
        assert_ok(open_to(p, &r, LONG, &s, &err), err.text);
        double begun = clock_now();
        for (int k = 0; k < FRAMES; k++) {
            assert_ok(ways[way](s, got), dpi_wire_error(s)->text);
            assert_string_equal((const char *)got, "behind what holds nothing");
        }
        assert_true(clock_now() - begun < LONG / 2.0);
        dpi_wire_close(s);
        raw_join(&r);
    }
}

/* ---- calls of the system ---- */

static void a_small_frame_is_one_call_on_each_side(void **state)
{
    dpi_wire_session *e[2];
    unsigned char bytes[1000] = {0};
    open_pair(*state, e);
    for (int k = 0; k < 10; k++) {
        sends = receives = 0;
        assert_ok(dpi_wire_send(e[0], KIND, LAYER, bytes, sizeof bytes, LONG), "");
        assert_ok(dpi_wire_receive(e[1], KIND, LAYER, bytes, sizeof bytes, LONG), "");
        assert_int_equal(sends, 1);
        assert_int_equal(receives, 1);
    }
    dpi_wire_close(e[0]);
    dpi_wire_close(e[1]);
}

/* All but the last say that there are more. */
static void frames_that_follow_at_once_go_together(void **state)
{
    dpi_wire_session *e[2];
    unsigned char bytes[1000] = {0};
    open_pair(*state, e);
    dpi_wire_both b = {.session = e[0], .wake = -1};
    sends = receives = 0;
    for (int k = 0; k < 10; k++) {
        b.more = k < 9;
        b.sent = false;
        assert_ok(dpi_wire_both_send(&b, KIND, LAYER, bytes, sizeof bytes), "");
        assert_ok(dpi_wire_both_go(&b), "");
        assert_true(b.sent);
    }
    for (int k = 0; k < 10; k++)
        assert_ok(dpi_wire_receive(e[1], KIND, LAYER, bytes, sizeof bytes, LONG), "");
    assert_int_equal(sends, 1);
    assert_int_equal(receives, 1);
    dpi_wire_close(e[0]);
    dpi_wire_close(e[1]);
}

static void *take_large(void *of)
{
    dpi_wire_session *s = of;
    unsigned char *bytes = malloc(LARGE);
    dp_status status = dpi_wire_receive(s, KIND, LAYER, bytes, LARGE, LONG);
    for (size_t i = 0; status == DP_OK && i < LARGE; i++)
        if (bytes[i] != (unsigned char)(i * 7 >> 3))
            status = DP_EDATA;
    free(bytes);
    return status == DP_OK ? s : NULL;
}

/* Fewer than records, though buffers of the system are small against it. */
static void a_large_frame_gathers(void **state)
{
    dpi_wire_session *e[2];
    pthread_t thread;
    void *end;
    unsigned char *bytes = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (unsigned char)(i * 7 >> 3);
    open_pair(*state, e);
    for (int k = 0; k < 2; k++) { /* in the first buffers still grow */
        sends = 0;
        assert_int_equal(pthread_create(&thread, NULL, take_large, e[1]), 0);
        assert_ok(dpi_wire_send(e[0], KIND, LAYER, bytes, LARGE, LONG), "");
        assert_int_equal(pthread_join(thread, &end), 0);
        assert_non_null(end);
    }
    assert_true(sends < LARGE / DPI_WIRE_RECORD / 2);
    dpi_wire_close(e[0]);
    dpi_wire_close(e[1]);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_ahead_is_not_waited_for),
        cmocka_unit_test(a_small_frame_is_one_call_on_each_side),
        cmocka_unit_test(frames_that_follow_at_once_go_together),
        cmocka_unit_test(a_large_frame_gathers),
    };
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
