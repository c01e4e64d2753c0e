/* Both directions of a session at a time, and being woken. */
#define _XOPEN_SOURCE 700
#include "wire/both.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/wire/pair.h"

enum { KIND = DPI_FRAME_OWN, LONG = 20000, SHORT = 150, N = 4 << 20 };

static void close_pair(dpi_wire_session *ends[2])
{
    dpi_wire_close(ends[0]);
    dpi_wire_close(ends[1]);
}

static unsigned char byte_of(int side, size_t frame, size_t i)
{
    return (unsigned char)((i * 7 >> 3) + frame * 31 + (size_t)side);
}

typedef struct swap {
    dpi_wire_session *session;
    int side;
    pthread_t thread;
    dp_status status;
} swap;

/* Three frames each way, as soon as there is room for the next; the sizes are not alike. */
static void *exchange(void *of)
{
    swap *w = of;
    dpi_wire_both b = {.session = w->session, .wake = -1};
    size_t out = 0, in = 0;
    unsigned char *from = malloc(N), *to = malloc(N);
    w->status = DP_OK;
    while (w->status == DP_OK && (out < 3 || in < 3)) {
        size_t bytes_out = (size_t)N >> (5 * out), bytes_in = (size_t)N >> (5 * in);
        if (!b.sends && out < 3) {
            for (size_t i = 0; i < bytes_out; i++)
                from[i] = byte_of(w->side, out, i);
            w->status = dpi_wire_both_send(&b, KIND, (uint32_t)out, from, bytes_out);
        }
        if (w->status == DP_OK && !b.receives && in < 3)
            w->status = dpi_wire_both_receive(&b, KIND, (uint32_t)in, to, bytes_in);
        if (w->status == DP_OK)
            w->status = dpi_wire_both_wait(&b, LONG);
        for (size_t i = 0; w->status == DP_OK && b.received && i < bytes_in; i++)
            if (to[i] != byte_of(!w->side, in, i))
                w->status = DP_EDATA;
        out += b.sent;
        in += b.received;
    }
    free(from);
    free(to);
    return NULL;
}

static void long_frames_pass_each_other(void **state)
{
    dpi_wire_session *e[2];
    swap w[2];
    open_pair(*state, e);
    for (int i = 0; i < 2; i++) {
        w[i] = (swap){.session = e[i], .side = i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, exchange, &w[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_int_equal(w[i].status, DP_OK);
    }
    assert_int_equal(dpi_wire_counts(e[0]).frames_sent, 3);
    close_pair(e);
}

static void waiting_ends_when_somebody_wakes(void **state)
{
    dpi_wire_session *e[2];
    int ends[2];
    char got[8];
    open_pair(*state, e);
    assert_int_equal(pipe(ends), 0);
    dpi_wire_both b = {.session = e[0], .wake = ends[0]};
    assert_ok(dpi_wire_both_receive(&b, KIND, 0, got, sizeof got), "");
    assert_int_equal(write(ends[1], "", 1), 1);
    for (int k = 0; k < 2; k++) { /* until it is read away */
        assert_ok(dpi_wire_both_wait(&b, LONG), "");
        assert_true(!b.received && !b.sent && b.receives);
    }
    assert_int_equal(read(ends[0], got, 1), 1);
    assert_ok(dpi_wire_send(e[1], KIND, 0, "eight by", sizeof got, LONG), "");
    assert_ok(dpi_wire_both_wait(&b, LONG), "");
    assert_true(b.received && !b.receives);
    assert_memory_equal(got, "eight by", sizeof got);
    (void)close(ends[0]);
    (void)close(ends[1]);
    close_pair(e);
}

/* Half of a frame comes: it is given up in time, and wiped. */
static void what_does_not_come_in_time_is_wiped(void **state)
{
    static unsigned char sent[N], got[N];
    dpi_wire_session *e[2];
    open_pair(*state, e);
    memset(sent, 7, sizeof sent);
    dpi_wire_both out = {.session = e[1], .wake = -1}, in = {.session = e[0], .wake = -1};
    assert_ok(dpi_wire_both_send(&out, KIND, 0, sent, N), "");
    int status = dpi_wire_both_wait(&out, SHORT); /* nobody takes it */
    assert_int_equal(status, DP_ETIMEOUT);
    memset(got, 9, sizeof got);
    assert_ok(dpi_wire_both_receive(&in, KIND, 0, got, N), "");
    status = dpi_wire_both_wait(&in, SHORT);
    assert_true(status == DP_EPEER || status == DP_ETIMEOUT);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(got[i], 0);
    assert_true(dpi_wire_both_receive(&in, KIND, 0, got, 1) != DP_OK); /* it is at its end */
    close_pair(e);
}

static void frames_are_checked_before_they_move(void **state)
{
    dpi_wire_session *e[2];
    char byte = 1;
    for (int fault = 0; fault < 3; fault++) {
        open_pair(*state, e);
        dpi_wire_both b = {.session = e[0], .wake = -1};
        if (fault == 0)
            assert_int_equal(dpi_wire_both_send(&b, DPI_FRAME_REFUSAL, 0, &byte, 1), DP_EINVAL);
        if (fault == 1)
            assert_int_equal(dpi_wire_both_send(&b, KIND, 0, &byte, (size_t)DPI_WIRE_MOST + 1),
                             DP_EINVAL);
        if (fault == 2) {
            assert_ok(dpi_wire_both_receive(&b, KIND, 0, &byte, 1), "");
            assert_int_equal(dpi_wire_both_receive(&b, KIND, 0, &byte, 1), DP_EINVAL);
        }
        close_pair(e);
    }
}

typedef struct refused_one {
    dpi_wire_session *session;
    dp_status status;
    char text[512];
} refused_one;

/* Sends on and on, and is refused in place of an answer. */
static void *ask_on(void *of)
{
    refused_one *r = of;
    static unsigned char bytes[N];
    unsigned char go;
    dpi_wire_both b = {.session = r->session, .wake = -1};
    r->status = dpi_wire_both_send(&b, KIND, 3, bytes, N);
    if (r->status == DP_OK)
        r->status = dpi_wire_both_receive(&b, KIND, DPI_FRAME_OPENING, &go, 1);
    while (r->status == DP_OK && !b.received)
        r->status = dpi_wire_both_wait(&b, LONG);
    (void)strcpy(r->text, dpi_wire_error(r->session)->text);
    return NULL;
}

/* In the middle of a frame of another layer from the other side. */
static void a_refusal_overtakes_what_is_on_its_way(void **state)
{
    static unsigned char got[N];
    dpi_wire_session *e[2];
    pthread_t thread;
    open_pair(*state, e);
    refused_one r = {.session = e[CLIENT]};
    assert_int_equal(pthread_create(&thread, NULL, ask_on, &r), 0);
    dpi_wire_both b = {.session = e[SERVER], .wake = -1};
    assert_ok(dpi_wire_both_receive(&b, KIND, 3, got, N), "");
    assert_ok(dpi_wire_both_refuse(&b, DPI_REFUSED_BUDGET, LONG), "");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r.status, DP_EREFUSED);
    assert_contains(r.text, "used up");
    close_pair(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_frames_pass_each_other),
        cmocka_unit_test(waiting_ends_when_somebody_wakes),
        cmocka_unit_test(what_does_not_come_in_time_is_wiped),
        cmocka_unit_test(frames_are_checked_before_they_move),
        cmocka_unit_test(a_refusal_overtakes_what_is_on_its_way),
    };
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
