/* Queries of several parties: what goes to each of them, and what is made of what they tell. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/ask-parties.h"
#include "serve/party-lane.h"
#include "share/deal.h"

/* ---- what goes ---- */

/* The component of a lane's records that is sent, once for each machine that has it. */
static void split_lane(const struct dpi_parties_ask *p, size_t k, size_t numbers, const int64_t *v,
                       unsigned char *at[DPI_SHARE_PARTIES])
{
    const size_t full = dpi_party_full(p->sizes.row, k), bytes = dpi_ring_bytes(p->sizes.ring);
    const unsigned char *first = NULL;
    for (size_t i = 0; i < p->n; i++) {
        if (i == full)
            continue;
        if (first == NULL)
            dpi_deal_split(
                p->sizes.ring, p->n, full,
                (const unsigned char(*)[DPI_DEAL_SEED])(p->seed + k * p->n * DPI_DEAL_SEED),
                p->used[k], numbers, v, at[i]);
        else
            memcpy(at[i], first, numbers * bytes);
        first = at[i];
        at[i] += numbers * bytes;
    }
}

static dp_status say_input(struct dpi_parties_ask *p, size_t n, uint32_t within, dp_error *err)
{
    unsigned char *at[DPI_SHARE_PARTIES];
    size_t bytes[DPI_SHARE_PARTIES];
    const int64_t *v = p->values;
    memcpy(at, p->in, sizeof at);
    for (size_t k = 0; k < p->sizes.lanes; k++) {
        const size_t numbers = dpi_party_share_of(n, p->sizes.lanes, k) * p->sizes.inputs;
        split_lane(p, k, numbers, v, at);
        p->used[k] += numbers;
        v += numbers;
    }
    for (size_t i = 0; i < p->n; i++)
        bytes[i] = dpi_party_input_bytes(&p->sizes, i, n);
    return dpi_parties_say(p, DPI_PARTY_INPUT, 1, p->in, bytes, within, err);
}

/* ---- what comes ---- */

/* What the roles of a lane tell, by role, at places that go on from lane to lane: whole pieces, and
 * hashes of some. */
typedef struct told {
    const unsigned char *at[DPI_SHARE_PARTIES]; /* by machine */
    const void *piece[DPI_SHARE_PARTIES];       /* by role; NULL: none, or a hash */
    const unsigned char *digest[DPI_SHARE_PARTIES];
} told;

static void read_lane(const struct dpi_parties_ask *p, size_t k, size_t piece_bytes, told *t)
{
    for (size_t role = 0; role < p->n; role++) {
        const size_t machine = dpi_parties_machine(p->n, k, role);
        const dpi_party_tells tells = dpi_party_told(p->sizes.row, role);
        t->piece[role] = tells == DPI_TELLS_ALL ? t->at[machine] : NULL;
        t->digest[role] = tells == DPI_TELLS_HASH ? t->at[machine] : NULL;
        if (tells == DPI_TELLS_ALL)
            t->at[machine] += piece_bytes;
        else if (tells == DPI_TELLS_HASH)
            t->at[machine] += DPI_PARTY_DIGEST;
    }
}

/* Each hash is that of the piece of the role that tells the same.  Whoever changes a piece would
 * have to change the hash of it too, which another party tells. */
static bool hashes_agree(const struct dpi_parties_ask *p, size_t piece_bytes, const told *t)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    bool all = true;
    for (size_t role = 0; role < p->n; role++) {
        const void *piece = t->piece[p->sizes.row->tells_as[role]];
        if (t->digest[role] == NULL)
            continue;
        (void)crypto_hash_sha256(hash, piece, piece_bytes);
        all = all && sodium_memcmp(t->digest[role], hash, DPI_PARTY_DIGEST) == 0;
    }
    return all;
}

/* y is zeros where one lane's pieces are not believed. */
static dp_status join_all(const dp_ask *ask, size_t n, int64_t *y, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    int64_t *next = y;
    told t = {{NULL}, {NULL}, {NULL}};
    for (size_t i = 0; i < p->n; i++)
        t.at[i] = p->out[i];
    for (size_t k = 0; k < p->sizes.lanes; k++) {
        const size_t numbers = dpi_party_share_of(n, p->sizes.lanes, k) * p->sizes.outputs;
        const size_t bytes = numbers * dpi_ring_bytes(p->sizes.ring);
        read_lane(p, k, bytes, &t);
        if (numbers > 0 && !hashes_agree(p, bytes, &t)) {
            memset(y, 0, n * p->sizes.outputs * sizeof *y);
            return dpi_fail(err, DP_EPEER, "the parties tell different answers");
        }
        if (numbers > 0)
            p->sizes.row->join(p->sizes.ring, p->bits, numbers, t.piece, next);
        next += numbers;
    }
    return DP_OK;
}

static dp_status hear_output(const dp_ask *ask, size_t n, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    size_t bytes[DPI_SHARE_PARTIES];
    for (size_t i = 0; i < p->n; i++)
        bytes[i] = dpi_party_output_bytes(&p->sizes, i, n);
    return dpi_parties_hear(p, DPI_PARTY_OUTPUT, 1, p->out, bytes, p->answer, err);
}

/* ---- asking ---- */

/* n <= p->records records, as one query: y is written when all of it is there.  Records follow at
 * once, shared while the parties write down that they are asked: a party that refuses wants none of
 * them, and reads on until it has been heard. */
static dp_status ask_once(dp_ask *ask, size_t n, const double *x, int64_t *y, dp_error *err)
{
    struct dpi_parties_ask *p = ask->parties;
    unsigned char query[8];
    dp_status status = dp_program_encode(ask->program, n, x, p->values, err);
    if (status != DP_OK)
        return status;
    dpi_put_number(query, n);
    status = dpi_parties_say_same(p, DPI_PARTY_QUERY, query, sizeof query, ask->timeout, err);
    if (status == DP_OK)
        status = say_input(p, n, ask->timeout, err);
    if (status == DP_OK)
        status = dpi_parties_hear_byte(p, DPI_PARTY_GO, ask->timeout, err);
    if (status == DP_OK)
        status = hear_output(ask, n, err);
    return status == DP_OK ? join_all(ask, n, y, err) : status;
}

/* What goes wrong ends the session at once, for the parties too: they are in the middle of it. */
static dp_status fail_session(dp_ask *ask, dp_error *err)
{
    for (size_t i = 0; i < ask->parties->n; i++)
        dpi_wire_cut(ask->parties->wire[i]);
    return dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
}

/* All records are looked at before anything is sent. */
static dp_status check_records(const dp_ask *ask, size_t n, const double *x, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    dp_status status = DP_OK;
    for (size_t i = 0, m; status == DP_OK && i < n; i += m) {
        m = n - i < p->records ? n - i : p->records;
        status = dp_program_encode(ask->program, m, x + i * p->sizes.inputs, p->values, err);
    }
    return status;
}

dp_status dpi_parties_ask_many(dp_ask *ask, size_t n, const double *x, int64_t *y, size_t *answered,
                               dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    if (ask->failed.status != DP_OK)
        return dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    dp_status status = n > p->records ? check_records(ask, n, x, err) : DP_OK;
    for (size_t m; status == DP_OK && *answered < n; *answered += status == DP_OK ? m : 0) {
        const size_t i = *answered;
        m = n - i < p->records ? n - i : p->records;
        dp_error why = {0};
        status = ask_once(ask, m, x + i * p->sizes.inputs, y + i * p->sizes.outputs, &why);
        if (status == DP_EDOMAIN) /* nothing was sent, and the session goes on */
            return dpi_fail(err, status, "%s", why.text);
        if (status == DP_OK)
            continue;
        ask->failed = why;
        ask->failed.status = status;
        status = fail_session(ask, err);
    }
    return status;
}
