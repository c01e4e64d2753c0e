/* Hostile letters: whatever a carrier hands over in place of an owner's key or letter, reading
 * ends, stays in bounds, and takes nothing but what that owner has sent, byte for byte; of what is
 * refused nothing is handed on.
 *
 * The first byte's low bits say what the others are: 0 a key, 1 a letter, and with 2 added what is
 * xored to the right one, whose length the second byte changes.  Keys come from fixed seeds, so
 * that the right ones are always the same, and stand in the corpus. */
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz/fuzz.h"
#include "silo/post.h"

enum { BODY = 40, MOST = 4096, READER = 0, WRITER = 1 };

/* Hands the hostile bytes over for every letter of the writer. */
typedef struct hostile {
    dpi_carrier base;
    dpi_carrier *box;
    bool is_on;
    size_t n, n_last;
    unsigned char bytes[MOST], last[MOST]; /* last: what was put */
} hostile;

static struct {
    bool is_made;
    dpi_letter_box *box;
    hostile carrier[2];
    char names[2][DPI_SILO_NAME];
    unsigned char publics[2][DPI_SILO_PUBLIC], secrets[2][DPI_SILO_SECRET], run[2][32], body[BODY];
    dpi_post *post; /* the reader's */
    size_t n_right[2];
    unsigned char right[2][MOST]; /* the writer's key and letter */
} all;

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static dp_status put(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err)
{
    hostile *h = (hostile *)c;
    expect(n <= MOST);
    memcpy(h->last, bytes, n);
    h->n_last = n;
    return h->box->kind->put(h->box, tag, n, bytes, err);
}

static dp_status get(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err)
{
    hostile *h = (hostile *)c;
    if (!h->is_on || strstr(tag, "/w/") == NULL)
        return h->box->kind->get(h->box, tag, wait_ms, most, n, bytes, err);
    if (h->n > most)
        return dpi_carrier_fail_long(tag, err);
    *n = h->n;
    *bytes = dpi_alloc(h->n > 0 ? h->n : 1, 1); /* a block of just this size shows any overrun */
    expect(*bytes != NULL);
    memcpy(*bytes, h->bytes, h->n);
    return DP_OK;
}

static void leave(dpi_carrier *c)
{
    (void)c;
}

static const dpi_carrier_kind kind = {"hostile", put, get, leave};

static dp_status open_post(size_t k, dpi_post **post, dp_error *err)
{
    const dpi_post_opts o = {.carrier = &all.carrier[k].base,
                             .plan = {7},
                             .party = k,
                             .parties = 2,
                             .names = all.names,
                             .publics = (const unsigned char(*)[DPI_SILO_PUBLIC])all.publics,
                             .secret = all.secrets[k],
                             .patience_ms = 1};
    return dpi_post_open(&o, all.run[k], post, err);
}

static void keep_right(size_t which, const hostile *from)
{
    memcpy(all.right[which], from->last, from->n_last);
    all.n_right[which] = from->n_last;
}

/* The writer posts its key, and a letter when it has the reader's. */
static void make(void)
{
    dp_error err = {DP_OK, ""};
    dpi_post *post;
    expect(sodium_init() >= 0 && dpi_letter_box_new(&all.box, &err) == DP_OK);
    for (size_t k = 0; k < 2; k++) {
        const unsigned char seed[crypto_sign_SEEDBYTES] = {(unsigned char)(k + 1)};
        (void)crypto_sign_seed_keypair(all.publics[k], all.secrets[k], seed);
        all.run[k][0] = (unsigned char)(k + 3);
        all.names[k][0] = k == READER ? 'r' : 'w';
        all.carrier[k].base.kind = &kind;
        expect(dpi_carrier_memory(all.box, &all.carrier[k].box, &err) == DP_OK);
    }
    for (size_t k = 0; k < BODY; k++)
        all.body[k] = (unsigned char)(3 * k + 1);
    expect(open_post(WRITER, &post, &err) == DP_ETIMEOUT); /* the reader has not begun */
    keep_right(0, &all.carrier[WRITER]);
    err = (dp_error){DP_OK, ""};
    expect(open_post(READER, &all.post, &err) == DP_OK);
    expect(open_post(WRITER, &post, &err) == DP_OK);
    expect(dpi_post_send(post, READER, 5, 0, "h.m", BODY, all.body, &err) == DP_OK);
    keep_right(1, &all.carrier[WRITER]);
    dpi_post_close(post);
    all.is_made = true;
}

static void fill(size_t which, bool mutated, const uint8_t *data, size_t size)
{
    hostile *h = &all.carrier[READER];
    memset(h->bytes, 0, sizeof h->bytes);
    if (!mutated) {
        h->n = size < MOST ? size : MOST;
        if (h->n > 0)
            memcpy(h->bytes, data, h->n);
        return;
    }
    const int longer = size > 0 ? (int8_t)data[0] : 0;
    const size_t n = all.n_right[which];
    h->n = longer < 0 && (size_t)-longer > n ? 0 : n + (size_t)longer;
    memcpy(h->bytes, all.right[which], n);
    for (size_t k = 1; k < size && k <= h->n; k++)
        h->bytes[k - 1] ^= data[k];
}

static void check_key(bool is_right)
{
    dpi_post *post;
    dp_error err = {DP_OK, ""};
    dp_status status = open_post(READER, &post, &err);
    expect((status == DP_OK) == is_right && (post != NULL) == is_right);
    expect(is_right || (status == DP_EPEER && strlen(err.text) > 10));
    dpi_post_close(post);
}

static void check_letter(bool is_right)
{
    static const unsigned char none[BODY];
    unsigned char body[BODY];
    dp_error err = {DP_OK, ""};
    memset(body, 0xa5, sizeof body);
    dp_status status = dpi_post_receive(all.post, WRITER, 5, 0, "h.m", 1, BODY, body, &err);
    expect(status == (is_right ? DP_OK : DP_EPEER));
    expect(memcmp(body, is_right ? all.body : none, BODY) == 0);
    /* In another place even the right one is none. */
    err = (dp_error){DP_OK, ""};
    expect(dpi_post_receive(all.post, WRITER, 6, 0, "h.m", 1, BODY, body, &err) == DP_EPEER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hostile *h = &all.carrier[READER];
    if (!all.is_made)
        make();
    if (size == 0)
        return 0;
    const size_t which = data[0] & 1;
    fill(which, (data[0] & 2) != 0, data + 1, size - 1);
    const bool is_right =
        h->n == all.n_right[which] && memcmp(h->bytes, all.right[which], h->n) == 0;
    h->is_on = true;
    if (which == 0)
        check_key(is_right);
    else
        check_letter(is_right);
    h->is_on = false;
    return 0;
}
