/* Sessions between two sides that keep to the protocol. */
#define _XOPEN_SOURCE 700
#include "wire/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/wire/pair.h"
#include "wire/listener.h"

enum { KIND = DPI_FRAME_OWN, LONG = 20000, SHORT = 150 };

static void close_pair(dpi_wire_session *ends[2])
{
    dpi_wire_close(ends[0]);
    dpi_wire_close(ends[1]);
}

static void both_sides_know_whom_they_speak_to(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2], *f[2];
    unsigned char key[2][32], other[32];
    open_pair(p, e);
    assert_string_equal(dpi_wire_peer(e[0]), "server");
    assert_string_equal(dpi_wire_peer(e[1]), "client");
    assert_memory_equal(dpi_wire_peer_fingerprint(e[0]), p->own[SERVER]->fingerprint, 32);
    assert_memory_equal(dpi_wire_id(e[0]), dpi_wire_id(e[1]), DPI_FRAME_SESSION);
    for (int i = 0; i < 2; i++)
        assert_int_equal(dpi_wire_export(e[i], "EXPORTER-test", key[i], 32), DP_OK);
    assert_memory_equal(key[0], key[1], 32);
    assert_int_equal(dpi_wire_export(e[0], "EXPORTER-other", other, 32), DP_OK);
    assert_memory_not_equal(key[0], other, 32);
    open_pair(p, f);
    assert_memory_not_equal(dpi_wire_id(e[0]), dpi_wire_id(f[0]), DPI_FRAME_SESSION);
    assert_int_equal(dpi_wire_export(f[0], "EXPORTER-test", other, 32), DP_OK);
    assert_memory_not_equal(key[0], other, 32);
    close_pair(e);
    close_pair(f);
}

/* Sizes around those of a TLS record, with and without a header in it. */
static void frames_of_all_sizes_arrive(void **state)
{
    wire_pair *p = *state;
    static const size_t sizes[] = {0, 1, 128, 16343, 16344, 16345, 16384, 16385, 32728, 100000};
    static unsigned char sent[100000], got[100001];
    dpi_wire_session *e[2];
    open_pair(p, e);
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (unsigned char)(i * i >> 3);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int from = 0; from < 2; from++) {
            memset(got, 0xee, sizeof got);
            size_t n = sizes[i];
            assert_ok(dpi_wire_send(e[from], KIND, i, sent, n, LONG), "");
            assert_ok(dpi_wire_receive(e[!from], KIND, i, got, n, LONG), "");
            assert_memory_equal(got, sent, n);
            assert_int_equal(got[n], 0xee);
        }
        bytes += sizes[i];
    }
    dpi_wire_traffic t = dpi_wire_counts(e[0]), u = dpi_wire_counts(e[1]);
    assert_int_equal(t.bytes_sent, bytes);
    assert_int_equal(t.bytes_received, bytes);
    assert_int_equal(t.frames_sent, 10);
    assert_int_equal(t.frames_received, 11); /* and the hello */
    assert_int_equal(u.frames_sent, 11);
    close_pair(e);
}

/* Four megabytes each way between two threads' worth of buffers: one after the other would stop. */
static void both_directions_go_at_once(void **state)
{
    wire_pair *p = *state;
    enum { N = 4 << 20 };
    unsigned char *b = malloc(4 * (size_t)N);
    assert_non_null(b);
    dpi_wire_session *e[2];
    open_pair(p, e);
    for (size_t i = 0; i < 2 * (size_t)N; i++)
        b[i] = (unsigned char)(i * 7 + (i >> 13));
    const dpi_wire_task tasks[] = {
        {.session = e[0], .kind = KIND, .layer = 1, .from = b, .n = N},
        {.session = e[1], .kind = KIND, .layer = 1, .from = b + N, .n = N},
        {.session = e[0], .kind = KIND, .layer = 1, .to = b + 2 * (size_t)N, .n = N},
        {.session = e[1], .kind = KIND, .layer = 1, .to = b + 3 * (size_t)N, .n = N},
    };
    assert_ok(dpi_wire_move(tasks, 4, LONG), dpi_wire_error(e[0])->text);
    assert_memory_equal(b + 2 * (size_t)N, b + N, N);
    assert_memory_equal(b + 3 * (size_t)N, b, N);
    close_pair(e);
    free(b);
}

static void a_ring_of_three_moves_at_once(void **state)
{
    wire_pair *p = *state;
    enum { N = 1 << 20 };
    unsigned char *b = malloc(6 * (size_t)N);
    assert_non_null(b);
    dpi_wire_session *e[3][2];
    dpi_wire_task tasks[6];
    for (int i = 0; i < 3; i++) {
        open_pair(p, e[i]);
        memset(b + i * (size_t)N, 'a' + i, N);
        tasks[i] = (dpi_wire_task){
            .session = e[i][0], .kind = KIND, .layer = 2, .from = b + i * (size_t)N, .n = N};
        tasks[5 - i] = (dpi_wire_task){
            .session = e[i][1], .kind = KIND, .layer = 2, .to = b + (3 + i) * (size_t)N, .n = N};
    }
    assert_ok(dpi_wire_move(tasks, 6, LONG), "");
    assert_memory_equal(b, b + 3 * (size_t)N, 3 * (size_t)N);
    for (int i = 0; i < 3; i++)
        close_pair(e[i]);
    free(b);
}

/* ---- time ---- */

static void expect_end(dpi_wire_session *s, dp_status status, dp_status expected, const char *why)
{
    dp_error err = *dpi_wire_error(s);
    char byte = 'x';
    assert_fails(status, expected, &err, why);
    /* It stays so, and at once. */
    assert_int_equal(dpi_wire_send(s, KIND, 0, &byte, 1, LONG), expected);
    assert_int_equal(dpi_wire_receive(s, KIND, 0, &byte, 1, LONG), expected);
    assert_int_equal(byte, 0); /* what is not received is wiped */
}

static void nobody_is_waited_for_longer_than_allowed(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    static unsigned char b[1 << 23];
    open_pair(p, e);
    double begun = clock_now();
    dp_status status = dpi_wire_receive(e[0], KIND, 1, b, 100, SHORT);
    double took = clock_now() - begun;
    expect_end(e[0], status, DP_ETIMEOUT, "did not go on in time");
    assert_true(took >= SHORT && took < LONG);
    close_pair(e);
    open_pair(p, e); /* one that stops reading */
    begun = clock_now();
    status = dpi_wire_send(e[0], KIND, 1, b, sizeof b, SHORT);
    took = clock_now() - begun;
    expect_end(e[0], status, DP_ETIMEOUT, "did not go on in time");
    assert_true(took >= SHORT && took < LONG);
    close_pair(e);
}

static void half_a_frame_is_wiped(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    static unsigned char out[1 << 22], in[1 << 22];
    open_pair(p, e);
    memset(out, 's', sizeof out);
    /* It cannot all be sent, since nobody reads beyond the first part of it. */
    assert_int_equal(dpi_wire_send(e[1], KIND, 1, out, sizeof out, SHORT), DP_ETIMEOUT);
    memset(in, 's', sizeof in);
    dp_status status = dpi_wire_receive(e[0], KIND, 1, in, sizeof in, LONG);
    for (size_t i = 0; i < sizeof in; i++)
        assert_int_equal(in[i], 0);
    expect_end(e[0], status, DP_EPEER, "was lost");
    close_pair(e);
}

/* ---- endings ---- */

static void an_end_in_good_order_is_told_from_a_loss(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    char b[4];
    open_pair(p, e);
    dpi_wire_close(e[0]);
    dp_status status = dpi_wire_receive(e[1], KIND, 0, b, 4, LONG);
    assert_true(dpi_wire_ended(e[1]));
    expect_end(e[1], status, DP_EPEER, "client: the other side ended");
    dpi_wire_close(e[1]);
    dpi_wire_close(NULL);
}

static void sending_to_nobody_raises_no_signal(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    static char b[100000];
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    open_pair(p, e);
    dpi_wire_close(e[0]);
    dp_status status = DP_OK;
    for (int i = 0; i < 100 && status == DP_OK; i++)
        status = dpi_wire_send(e[1], KIND, 0, b, sizeof b, LONG);
    expect_end(e[1], status, DP_EPEER, "was lost");
    assert_false(dpi_wire_ended(e[1]));
    dpi_wire_close(e[1]);
}

static void one_that_fails_ends_all_of_the_step(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2], *f[2];
    char a[8] = "secret", b[8] = "secret";
    open_pair(p, e);
    open_pair(p, f);
    dpi_wire_close(f[0]);
    const dpi_wire_task tasks[] = {
        {.session = e[0], .kind = KIND, .layer = 0, .to = a, .n = 8},
        {.session = f[1], .kind = KIND, .layer = 0, .to = b, .n = 8},
    };
    assert_int_equal(dpi_wire_move(tasks, 2, LONG), DP_EPEER);
    assert_memory_equal(a, "\0\0\0\0\0\0\0", 8);
    expect_end(e[0], dpi_wire_error(e[0])->status, DP_EPEER, "another session of the same step");
    expect_end(f[1], dpi_wire_error(f[1])->status, DP_EPEER, "ended");
    close_pair(e);
    dpi_wire_close(f[1]);
}

static void frames_have_a_longest(void **state)
{
    wire_pair *p = *state;
    int sockets[2];
    opening o[2];
    char b[17] = {0};
    dpi_wire_opts short_frames[2] = {pair_opts(p, CLIENT), pair_opts(p, SERVER)};
    short_frames[CLIENT].most = short_frames[SERVER].most = 16;
    socket_pair(sockets);
    opening_start(&o[0], sockets[0], DPI_WIRE_CLIENT, short_frames[CLIENT], LONG);
    opening_start(&o[1], sockets[1], DPI_WIRE_SERVER, short_frames[SERVER], LONG);
    for (int i = 0; i < 2; i++)
        opening_join(&o[i]);
    assert_ok(dpi_wire_send(o[0].session, KIND, 0, b, 16, LONG), o[0].err.text);
    assert_ok(dpi_wire_receive(o[1].session, KIND, 0, b, 16, LONG), o[1].err.text);
    expect_end(o[0].session, dpi_wire_send(o[0].session, KIND, 0, b, 17, LONG), DP_EINVAL,
               "longer than");
    expect_end(o[1].session, dpi_wire_receive(o[1].session, KIND, 0, b, 17, LONG), DP_EINVAL,
               "longer than");
    dpi_wire_close(o[0].session);
    dpi_wire_close(o[1].session);
    short_frames[0].most = (size_t)DPI_WIRE_MOST + 1;
    dpi_wire_session *s;
    dp_error err = {0};
    socket_pair(sockets);
    assert_fails(dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &short_frames[0], LONG, &s, &err),
                 DP_EINVAL, &err, "at most 1 GB");
    assert_int_equal(close(sockets[1]), 0);
}

static void wrong_calls_are_refused(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    char b[8] = {0};
    open_pair(p, e);
    expect_end(e[0], dpi_wire_send(e[0], DPI_FRAME_HELLO, 0, b, 8, LONG), DP_EINVAL,
               "belongs to the session");
    assert_int_equal(dpi_wire_error(e[1])->status, DP_OK);
    close_pair(e);
    open_pair(p, e);
    const dpi_wire_task twice[] = {{.session = e[0], .kind = KIND, .from = b, .n = 1},
                                   {.session = e[0], .kind = KIND, .from = b, .n = 1}};
    expect_end(e[0], dpi_wire_move(twice, 2, LONG), DP_EINVAL, "one session and direction");
    const dpi_wire_task neither = {.session = e[1], .kind = KIND};
    expect_end(e[1], dpi_wire_move(&neither, 1, LONG), DP_EINVAL, "either sent or received");
    close_pair(e);
    dp_error err = {0};
    dpi_wire_opts o = pair_opts(p, CLIENT);
    const dpi_peers nobody = {0};
    o.peers = &nobody;
    dpi_wire_session *s = e[0];
    int sockets[2];
    socket_pair(sockets);
    assert_fails(dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &o, LONG, &s, &err), DP_EINVAL, &err,
                 "no peers");
    assert_null(s);
    assert_int_equal(close(sockets[1]), 0);
}

/* ---- refusals ---- */

static void a_refusal_is_told_in_our_words(void **state)
{
    wire_pair *p = *state;
    static const char *const words[] = {"another version", "another program", "does not know",
                                        "used up",         "does not allow",  "busy",
                                        "at a time",       "another list",    "no model",
                                        "the same model",  "token already",   "of a query",
                                        "labels alone",    "cannot compute",  "another party"};
    _Static_assert(sizeof words / sizeof *words == DPI_N_REFUSALS - 1, "words for each reason");
    for (int why = 1; why < DPI_N_REFUSALS; why++) {
        dpi_wire_session *e[2];
        char b[200000] = "query";
        open_pair(p, e);
        /* More than was asked for is on its way: it must not overtake the refusal. */
        assert_ok(dpi_wire_send(e[0], KIND, DPI_FRAME_OPENING, b, 100, LONG), "");
        assert_ok(dpi_wire_send(e[0], KIND, DPI_FRAME_OPENING, b, 100, LONG), "");
        assert_ok(dpi_wire_receive(e[1], KIND, DPI_FRAME_OPENING, b, 100, LONG), "");
        assert_ok(dpi_wire_refuse(e[1], (dpi_refusal)why, SHORT), "");
        dp_status status = dpi_wire_receive(e[0], KIND, DPI_FRAME_OPENING, b, 100, LONG);
        expect_end(e[0], status, DP_EREFUSED, words[why - 1]);
        expect_end(e[1], dpi_wire_error(e[1])->status, DP_EREFUSED, words[why - 1]);
        close_pair(e);
    }
}

static void nothing_is_refused_after_the_opening(void **state)
{
    wire_pair *p = *state;
    dpi_wire_session *e[2];
    char b[8] = {0};
    open_pair(p, e);
    assert_ok(dpi_wire_send(e[0], KIND, 1, b, 8, LONG), "");
    assert_ok(dpi_wire_receive(e[1], KIND, 1, b, 8, LONG), "");
    expect_end(e[1], dpi_wire_refuse(e[1], DPI_REFUSED_BUSY, SHORT), DP_ESTATE, "in its opening");
    expect_end(e[0], dpi_wire_receive(e[0], KIND, 2, b, 8, LONG), DP_EPEER, "was lost");
    close_pair(e);
    open_pair(p, e); /* sent nevertheless, by one who thinks that he is in the opening */
    assert_ok(dpi_wire_refuse(e[1], DPI_REFUSED_BUSY, SHORT), "");
    expect_end(e[0], dpi_wire_receive(e[0], KIND, 3, b, 8, LONG), DP_EPEER, "of layer 0 where");
    close_pair(e);
}

static void nothing_is_left_open(void **state)
{
    wire_pair *p = *state;
    int before = open_files();
    nobody_is_waited_for_longer_than_allowed(state);
    sending_to_nobody_raises_no_signal(state);
    a_refusal_is_told_in_our_words(state);
    wrong_calls_are_refused(state);
    assert_int_equal(open_files(), before);
    dpi_wire_session *e[2];
    open_pair(p, e); /* and the next session works */
    close_pair(e);
    assert_int_equal(open_files(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_know_whom_they_speak_to),
        cmocka_unit_test(frames_of_all_sizes_arrive),
        cmocka_unit_test(both_directions_go_at_once),
        cmocka_unit_test(a_ring_of_three_moves_at_once),
        cmocka_unit_test(nobody_is_waited_for_longer_than_allowed),
        cmocka_unit_test(half_a_frame_is_wiped),
        cmocka_unit_test(an_end_in_good_order_is_told_from_a_loss),
        cmocka_unit_test(sending_to_nobody_raises_no_signal),
        cmocka_unit_test(one_that_fails_ends_all_of_the_step),
        cmocka_unit_test(frames_have_a_longest),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(a_refusal_is_told_in_our_words),
        cmocka_unit_test(nothing_is_refused_after_the_opening),
        cmocka_unit_test(nothing_is_left_open),
    };
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
