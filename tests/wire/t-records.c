/* What somebody on the way sees, records of TLS and their lengths, depends on the sizes of what is
 * sent and on nothing in it, and nothing of it is there to read. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/wire/pair.h"

enum { KIND = DPI_FRAME_OWN, LONG = 20000, ALERT = 2 + 17, MOST = 300000, MOST_RECORDS = 200 };

/* Passes bytes on in one direction, and keeps them. */
typedef struct tap {
    pthread_t thread;
    int from, to;
    size_t n;
    unsigned char seen[MOST];
} tap;

static void *listen_in(void *of)
{
    tap *t = of;
    unsigned char b[4096];
    for (ssize_t got; (got = recv(t->from, b, sizeof b, 0)) > 0;) {
        if (send(t->to, b, (size_t)got, MSG_NOSIGNAL) != got)
            break;
        if (t->n + (size_t)got <= MOST)
            memcpy(t->seen + t->n, b, (size_t)got);
        t->n += (size_t)got;
    }
    (void)shutdown(t->to, SHUT_WR);
    return NULL;
}

/* The lengths of the records: how many. */
static size_t lengths(const tap *t, size_t *length)
{
    size_t n = 0;
    assert_true(t->n <= MOST);
    for (size_t at = 0; at < t->n; n++) {
        assert_true(n < MOST_RECORDS && t->n - at >= 5);
        length[n] = (size_t)t->seen[at + 3] << 8 | t->seen[at + 4];
        at += 5 + length[n];
        assert_true(at <= t->n);
    }
    /* The end of a session, an alert, does not get through where the other side has closed first.
     */
    return n > 0 && length[n - 1] == ALERT ? n - 1 : n;
}

static bool contains(const tap *t, const unsigned char *what, size_t n)
{
    for (size_t i = 0; i + n <= t->n; i++)
        if (memcmp(t->seen + i, what, n) == 0)
            return true;
    return false;
}

/* A query and its answer, of some three records each, filled with a text or with noise. */
static void talk(wire_pair *p, tap taps[2], unsigned seed)
{
    static unsigned char query[40000], answer[sizeof query], got[sizeof query];
    int near[2], far[2];
    opening o[2];
    socket_pair(near);
    socket_pair(far);
    for (size_t i = 0; i < sizeof query; i++) {
        seed = seed * 1664525 + 1013904223 * (seed != 0);
        query[i] = seed != 0 ? (unsigned char)(seed >> 24) : "private "[i % 8];
        answer[i] = (unsigned char)(query[i] + (seed != 0 ? i : 0));
    }
    for (int i = 0; i < 2; i++) {
        taps[i].n = 0;
        taps[i].from = i == 0 ? near[1] : far[0];
        taps[i].to = i == 0 ? far[0] : near[1];
        assert_int_equal(pthread_create(&taps[i].thread, NULL, listen_in, &taps[i]), 0);
    }
    opening_start(&o[0], near[0], DPI_WIRE_CLIENT, pair_opts(p, CLIENT), LONG);
    opening_start(&o[1], far[1], DPI_WIRE_SERVER, pair_opts(p, SERVER), LONG);
    opening_join(&o[0]);
    opening_join(&o[1]);
    for (int i = 0; i < 2; i++)
        assert_ok(o[i].status, o[i].err.text);
    dpi_wire_session *c = o[0].session, *s = o[1].session;
    for (uint32_t layer = 0; layer < 2; layer++) {
        size_t n = layer == 0 ? 100 : sizeof query;
        const dpi_wire_task there[] = {
            {.session = c, .kind = KIND, .layer = layer, .from = query, .n = n},
            {.session = s, .kind = KIND, .layer = layer, .to = got, .n = n}};
        assert_ok(dpi_wire_move(there, 2, LONG), "there");
        const dpi_wire_task back[] = {
            {.session = s, .kind = KIND, .layer = layer, .from = answer, .n = n},
            {.session = c, .kind = KIND, .layer = layer, .to = got, .n = n}};
        assert_ok(dpi_wire_move(back, 2, LONG), "back");
    }
    dpi_wire_close(c);
    dpi_wire_close(s);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(taps[i].thread, NULL), 0);
    (void)close(near[1]);
    (void)close(far[0]);
}

static void records_depend_on_sizes_alone(void **state)
{
    static tap taps[2];
    size_t first[2][MOST_RECORDS], n_first[2], length[MOST_RECORDS];
    for (unsigned seed = 0; seed < 6; seed++) {
        talk(*state, taps, seed);
        for (int i = 0; i < 2; i++) {
            size_t n = lengths(&taps[i], seed == 0 ? first[i] : length);
            if (seed == 0)
                n_first[i] = n;
            assert_true(n > 5); /* the handshake, a short frame, a long one of three records */
            assert_int_equal(n, n_first[i]);
            if (seed > 0)
                assert_memory_equal(length, first[i], n * sizeof *length);
        }
    }
}

static void nothing_can_be_read_on_the_way(void **state)
{
    static tap taps[2];
    wire_pair *p = *state;
    talk(p, taps, 0);
    for (int i = 0; i < 2; i++) {
        assert_false(contains(&taps[i], (const unsigned char *)"private ", 8));
        assert_false(contains(&taps[i], (const unsigned char *)"TcW\x01", 4));
        /* Nor who the two are: certificates are encrypted in TLS 1.3. */
        for (int who = 0; who < 2; who++) {
            unsigned char *der = NULL;
            int n = i2d_PUBKEY(p->own[who]->key, &der);
            assert_int_equal(n, 44);
            assert_false(contains(&taps[i], der + 12, 32));
            OPENSSL_free(der);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_depend_on_sizes_alone),
        cmocka_unit_test(nothing_can_be_read_on_the_way),
    };
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
