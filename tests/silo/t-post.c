/* Letters: what was sent comes, in one place alone and from its writer alone; all else is refused,
 * and nothing of it is handed over. */
#include "silo/post.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { BODY = 100 };

static owners all;

/* A carrier that keeps what was put last, and gives what it is told to give. */
typedef struct meddler {
    dpi_carrier base;
    dpi_carrier *box;
    unsigned char last[4 * BODY], instead[4 * BODY];
    size_t n_last, n_instead;
    bool meddles;
} meddler;

static dp_status put(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err)
{
    meddler *m = (meddler *)c;
    assert_true(n <= sizeof m->last);
    memcpy(m->last, bytes, n);
    m->n_last = n;
    return m->box->kind->put(m->box, tag, n, bytes, err);
}

static dp_status get(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err)
{
    meddler *m = (meddler *)c;
    if (!m->meddles)
        return m->box->kind->get(m->box, tag, wait_ms, most, n, bytes, err);
    if (m->n_instead > most)
        return dpi_carrier_fail_long(tag, err);
    *n = m->n_instead;
    *bytes = dpi_alloc(m->n_instead + 1, 1);
    assert_non_null(*bytes);
    memcpy(*bytes, m->instead, m->n_instead);
    return DP_OK;
}

static void close_box(dpi_carrier *c)
{
    meddler *m = (meddler *)c;
    m->box->kind->close(m->box);
}

static const dpi_carrier_kind meddling = {"meddler", put, get, close_box};

/* One party's end, and a thread that opens it. */
typedef struct end {
    size_t k;
    uint32_t patience_ms;
    unsigned char run_secret[32];
    meddler carrier;
    dpi_post *post;
    dp_status status;
    dp_error err;
} end;

static void *open_end(void *of)
{
    end *e = of;
    const dpi_post_opts opts = owners_post(&all, e->k, &e->carrier.base, e->patience_ms);
    e->status = dpi_post_open(&opts, e->run_secret, &e->post, &e->err);
    return NULL;
}

static void make_carrier(end *e)
{
    e->carrier.base.kind = &meddling;
    assert_ok(dpi_carrier_memory(all.box, &e->carrier.box, &e->err), e->err.text);
}

static void open_ends(end *ends, size_t n)
{
    pthread_t thread[OWNERS_MOST];
    for (size_t k = 0; k < n; k++) {
        ends[k] = (end){.k = k, .patience_ms = 5000};
        make_carrier(&ends[k]);
        assert_int_equal(pthread_create(&thread[k], NULL, open_end, &ends[k]), 0);
    }
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_ok(ends[k].status, ends[k].err.text);
    }
}

static void close_end(end *e)
{
    dpi_post_close(e->post);
    close_box(&e->carrier.base);
}

static void send(end *e, size_t to, uint64_t round, const char *name, const unsigned char *body)
{
    assert_ok(dpi_post_send(e->post, to, round, 0, name, BODY, body, &e->err), e->err.text);
}

/* Has a reader get n bytes in place of whatever letter. */
static void give(end *reader, size_t n, const unsigned char *bytes)
{
    assert_true(n <= sizeof reader->carrier.instead);
    memcpy(reader->carrier.instead, bytes, n);
    reader->carrier.n_instead = n;
    reader->carrier.meddles = true;
}

static void what_is_sent_comes(void **state)
{
    end ends[3];
    unsigned char body[BODY], got[BODY];
    (void)state;
    owners_make(&all, 3);
    open_ends(ends, 3);
    randombytes_buf(body, BODY);
    for (uint64_t round = 1; round < 4; round++)
        for (size_t from = 0; from < 3; from++) {
            size_t to = (from + round) % 3;
            if (to == from)
                continue;
            body[0] = (unsigned char)(round * 10 + from);
            send(&ends[from], to, round, "x.m", body);
            assert_ok(dpi_post_receive(ends[to].post, from, round, 0, "x.m", 1000, BODY, got,
                                       &ends[to].err),
                      ends[to].err.text);
            assert_memory_equal(got, body, BODY);
        }
    for (size_t k = 0; k < 3; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

/* Two ends of a pair have the same key, and another one than any other pair or purpose. */
static void pairs_have_keys_of_their_own(void **state)
{
    end ends[3];
    unsigned char ab[32], ba[32], ac[32], other[32];
    (void)state;
    owners_make(&all, 3);
    open_ends(ends, 3);
    dpi_post_pair_key(ends[0].post, 1, "mask", ab);
    dpi_post_pair_key(ends[1].post, 0, "mask", ba);
    dpi_post_pair_key(ends[0].post, 2, "mask", ac);
    dpi_post_pair_key(ends[0].post, 1, "letter", other);
    assert_memory_equal(ab, ba, 32);
    assert_memory_not_equal(ab, ac, 32);
    assert_memory_not_equal(ab, other, 32);
    for (size_t k = 0; k < 3; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

static void refused(end *e, size_t from, uint64_t round, uint32_t attempt, const char *name,
                    size_t n)
{
    unsigned char got[2 * BODY];
    memset(got, 7, sizeof got);
    assert_fails(dpi_post_receive(e->post, from, round, attempt, name, 50, n, got, &e->err),
                 DP_EPEER, &e->err, all.names[from]);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], 0);
}

/* Each bit of a letter, and each shorter one, is refused in its place. */
static void what_was_changed_is_refused(void **state)
{
    end ends[2];
    unsigned char body[BODY] = {1, 2, 3}, got[BODY], letter[4 * BODY];
    (void)state;
    owners_make(&all, 2);
    open_ends(ends, 2);
    send(&ends[0], 1, 1, "x", body);
    const size_t n = ends[0].carrier.n_last;
    assert_true(n > BODY);
    memcpy(letter, ends[0].carrier.last, n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        letter[bit / 8] ^= (unsigned char)(1 << bit % 8);
        give(&ends[1], n, letter);
        refused(&ends[1], 0, 1, 0, "x", BODY);
        letter[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t length = 0; length < n; length++) {
        give(&ends[1], length, letter);
        refused(&ends[1], 0, 1, 0, "x", BODY);
    }
    give(&ends[1], n, letter);
    refused(&ends[1], 0, 1, 0, "x", BODY - 1); /* another size than is known beforehand */
    refused(&ends[1], 0, 1, 0, "x", BODY + 1);
    assert_ok(dpi_post_receive(ends[1].post, 0, 1, 0, "x", 50, BODY, got, &ends[1].err),
              ends[1].err.text);
    assert_memory_equal(got, body, BODY);
    for (size_t k = 0; k < 2; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

/* A letter that is good comes in other places: of another round, attempt, name, reader, writer. */
static void a_letter_is_good_in_one_place(void **state)
{
    end ends[3];
    unsigned char body[BODY] = {9};
    (void)state;
    owners_make(&all, 3);
    open_ends(ends, 3);
    send(&ends[0], 1, 1, "x", body);
    for (size_t k = 0; k < 3; k++)
        give(&ends[k], ends[0].carrier.n_last, ends[0].carrier.last);
    refused(&ends[1], 0, 2, 0, "x", BODY);
    refused(&ends[1], 0, 1, 1, "x", BODY);
    refused(&ends[1], 0, 1, 0, "y", BODY);
    refused(&ends[1], 2, 1, 0, "x", BODY);
    refused(&ends[2], 0, 1, 0, "x", BODY);
    refused(&ends[0], 1, 1, 0, "x", BODY);
    assert_ok(dpi_post_receive(ends[1].post, 0, 1, 0, "x", 50, BODY, body, &ends[1].err),
              ends[1].err.text);
    for (size_t k = 0; k < 3; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

/* Sent twice it is the same bytes, which tell nothing new; another body has another nonce. */
static void the_same_letter_is_the_same_bytes(void **state)
{
    end ends[2];
    unsigned char body[BODY] = {5}, first[4 * BODY];
    (void)state;
    owners_make(&all, 2);
    open_ends(ends, 2);
    send(&ends[0], 1, 1, "x", body);
    memcpy(first, ends[0].carrier.last, sizeof first);
    send(&ends[0], 1, 1, "x", body);
    assert_memory_equal(first, ends[0].carrier.last, ends[0].carrier.n_last);
    body[BODY - 1] = 1;
    send(&ends[0], 1, 1, "x", body);
    assert_memory_not_equal(first + 12, ends[0].carrier.last + 12, 24); /* the nonce */
    for (size_t k = 0; k < 2; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

/* ---- run keys ---- */

static void who_is_not_heard_is_named(void **state)
{
    end one = {.patience_ms = 100};
    unsigned char got[BODY];
    end ends[2];
    (void)state;
    owners_make(&all, 2);
    make_carrier(&one);
    (void)open_end(&one);
    assert_fails(one.status, DP_ETIMEOUT, &one.err, "b has not begun");
    close_box(&one.carrier.base);
    owners_free(&all);
    owners_make(&all, 2);
    open_ends(ends, 2);
    assert_fails(dpi_post_receive(ends[0].post, 1, 3, 0, "x.m", 50, BODY, got, &ends[0].err),
                 DP_ETIMEOUT, &ends[0].err, "b is not heard: no 'x.m' of round 3");
    for (size_t k = 0; k < 2; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

/* A key of nobody in b's place, or b's for another plan. */
static void keys_must_be_signed(void **state)
{
    (void)state;
    for (int of_another_plan = 0; of_another_plan < 2; of_another_plan++) {
        end one = {.patience_ms = 1000}, other = {.k = 1, .patience_ms = 50};
        dp_error err = {0};
        owners_make(&all, 2);
        make_carrier(&one);
        make_carrier(&other);
        memset(all.plan, 8, sizeof all.plan);
        (void)open_end(&other); /* posts its key, and hears nobody */
        assert_int_equal(other.status, DP_ETIMEOUT);
        memset(all.plan, 7, sizeof all.plan);
        if (!of_another_plan)
            randombytes_buf(other.carrier.last, other.carrier.n_last);
        dpi_carrier *box = other.carrier.box;
        assert_ok(box->kind->put(box, "0707070707070707/keys/b/all/key", other.carrier.n_last,
                                 other.carrier.last, &err),
                  err.text);
        (void)open_end(&one);
        assert_fails(one.status, DP_EPEER, &one.err, "not signed by b");
        close_box(&one.carrier.base);
        close_box(&other.carrier.base);
        owners_free(&all);
    }
}

/* ---- the witness ---- */

typedef struct tally {
    size_t keys, left, come;
    bool refuses;
} tally;

static dp_status count(void *of, bool leaves, size_t peer, const char *tag, size_t bytes,
                       dp_error *err)
{
    tally *t = of;
    assert_int_equal(peer, 1);
    if (t->keys < 2) { /* this one's, and the other's */
        assert_int_equal(bytes, 96);
        assert_string_equal(tag + 16, leaves ? "/keys/a/all/key" : "/keys/b/all/key");
        assert_true(leaves == (t->keys++ == 0));
        return DP_OK;
    }
    assert_true(bytes > BODY);
    assert_non_null(strstr(tag, "/x"));
    if (t->refuses) {
        err->status = DP_EIO;
        return DP_EIO;
    }
    t->left += leaves;
    t->come += !leaves;
    return DP_OK;
}

static void what_the_witness_refuses_does_not_leave(void **state)
{
    end ends[2];
    tally t = {0, 0, 0, false};
    unsigned char body[BODY] = {0}, *bytes = NULL;
    size_t n;
    dp_error err = {0};
    (void)state;
    owners_make(&all, 2);
    open_ends(ends, 2);
    dpi_post_close(ends[0].post);
    dpi_post_opts opts = owners_post(&all, 0, &ends[0].carrier.base, 1000);
    opts.witness = count;
    opts.witness_of = &t;
    assert_ok(dpi_post_open(&opts, ends[0].run_secret, &ends[0].post, &err), err.text);
    send(&ends[0], 1, 1, "x", body);
    send(&ends[1], 0, 1, "x", body);
    assert_ok(dpi_post_receive(ends[0].post, 1, 1, 0, "x", 50, BODY, body, &err), err.text);
    assert_true(t.keys == 2 && t.left == 1 && t.come == 1);
    t.refuses = true;
    assert_int_equal(dpi_post_send(ends[0].post, 1, 2, 0, "x", BODY, body, &err), DP_EIO);
    err = (dp_error){0};
    assert_int_equal(
        get(&ends[1].carrier.base, "0707070707070707/2-0/a/b/x", 0, 10000, &n, &bytes, &err),
        DP_ETIMEOUT);
    for (size_t k = 0; k < 2; k++)
        close_end(&ends[k]);
    owners_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_comes),
        cmocka_unit_test(pairs_have_keys_of_their_own),
        cmocka_unit_test(what_was_changed_is_refused),
        cmocka_unit_test(a_letter_is_good_in_one_place),
        cmocka_unit_test(the_same_letter_is_the_same_bytes),
        cmocka_unit_test(who_is_not_heard_is_named),
        cmocka_unit_test(keys_must_be_signed),
        cmocka_unit_test(what_the_witness_refuses_does_not_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
