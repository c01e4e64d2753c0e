/* The client's part of a session with several parties. */
#include "serve/ask-parties.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "crypto/limbs.h"
#include "serve/party-lane.h"
#include "serve/talk.h"
#include "wire/both.h"

enum {
    RECORDS = 128,
    GRACE = 500 /* ms for the other parties' words, once one has failed */
};

/* ---- all parties ---- */

/* How much an error tells: a reason, that another party has gone, or nothing but the end. */
static int weight(const dpi_wire_session *wire)
{
    const dp_error *err = dpi_wire_error(wire);
    return err->status == DP_OK                                              ? 0
           : err->status != DP_EREFUSED                                      ? 1
           : strstr(err->text, dpi_refusal_text(DPI_REFUSED_FELLOW)) != NULL ? 2
                                                                             : 3;
}

/* Goes on with all that are on their way: how many still are.  From the first error on the others
 * have a little time: they have failed too, and may say why. */
static size_t go_on(const struct dpi_parties_ask *p, dpi_wire_both both[], dpi_deadline *until,
                    bool *failed)
{
    size_t left = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (both[i].receives && dpi_wire_both_go(&both[i]) != DP_OK && !*failed) {
            *failed = true;
            if (dpi_deadline_left(*until) > GRACE)
                *until = dpi_deadline_after(GRACE);
        }
        left += both[i].receives;
    }
    return left;
}

static dp_status tell(const struct dpi_parties_ask *p, const dpi_wire_both both[], dp_error *err)
{
    size_t which = 0;
    for (size_t i = 1; i < p->n; i++)
        if (weight(p->wire[i]) > weight(p->wire[which]))
            which = i;
    if (weight(p->wire[which]) > 0)
        return dpi_serve_fail(p->wire[which], dpi_wire_error(p->wire[which])->status, err);
    while (!both[which].receives)
        which++;
    return dpi_fail(err, DP_ETIMEOUT, "%s did not answer in time", dpi_wire_peer(p->wire[which]));
}

dp_status dpi_parties_hear(const struct dpi_parties_ask *p, uint16_t kind, uint32_t layer,
                           unsigned char *const to[], const size_t bytes[], uint32_t within,
                           dp_error *err)
{
    dpi_wire_both both[DPI_SHARE_PARTIES], *each[DPI_SHARE_PARTIES];
    dpi_deadline until = dpi_deadline_after(within);
    bool failed = false;
    size_t left;
    for (size_t i = 0; i < p->n; i++) {
        both[i] = (dpi_wire_both){.session = p->wire[i], .wake = -1};
        each[i] = &both[i];
        failed = dpi_wire_both_receive(each[i], kind, layer, to[i], bytes[i]) != DP_OK || failed;
    }
    while ((left = go_on(p, both, &until, &failed)) > 0)
        if (dpi_wire_both_poll(each, p->n, until) != DP_OK)
            break;
    dp_status status = failed || left > 0 ? tell(p, both, err) : DP_OK;
    for (size_t i = 0; i < p->n; i++) {
        if (both[i].receives)
            dpi_wire_cut(p->wire[i]);
        dpi_wire_both_end(each[i]);
    }
    return status;
}

dp_status dpi_parties_say(const struct dpi_parties_ask *p, uint16_t kind, uint32_t layer,
                          unsigned char *const from[], const size_t bytes[], uint32_t within,
                          dp_error *err)
{
    dpi_wire_task task[DPI_SHARE_PARTIES];
    for (size_t i = 0; i < p->n; i++)
        task[i] = (dpi_wire_task){.session = p->wire[i],
                                  .kind = kind,
                                  .layer = layer,
                                  .from = bytes[i] > 0 ? (const void *)from[i] : "",
                                  .n = bytes[i]};
    dp_status status = dpi_wire_move(task, p->n, within);
    for (size_t i = 0; status != DP_OK && i < p->n; i++)
        if (dpi_wire_error(p->wire[i])->status == status)
            return dpi_serve_fail(p->wire[i], status, err);
    return status;
}

dp_status dpi_parties_say_same(const struct dpi_parties_ask *p, uint16_t kind, unsigned char *bytes,
                               size_t n, uint32_t within, dp_error *err)
{
    unsigned char *const from[DPI_SHARE_PARTIES] = {bytes, bytes, bytes, bytes};
    const size_t sizes[DPI_SHARE_PARTIES] = {n, n, n, n};
    return dpi_parties_say(p, kind, 0, from, sizes, within, err);
}

dp_status dpi_parties_hear_byte(const struct dpi_parties_ask *p, uint16_t kind, uint32_t within,
                                dp_error *err)
{
    unsigned char byte[DPI_SHARE_PARTIES];
    unsigned char *const to[DPI_SHARE_PARTIES] = {byte, byte + 1, byte + 2, byte + 3};
    const size_t sizes[DPI_SHARE_PARTIES] = {1, 1, 1, 1};
    return dpi_parties_hear(p, kind, 0, to, sizes, within, err);
}

/* ---- opening ---- */

static dp_status say_hello(const dp_ask *ask, const dp_ask_parties_opts *opts, dp_error *err)
{
    dpi_party_hello h = dpi_party_hello_of(opts->parties, DPI_PURPOSE_ASK);
    unsigned char bytes[DPI_PARTY_HELLO_BYTES];
    dp_status status = dpi_limbs_random(NULL, sizeof h.token, h.token, err);
    if (status != DP_OK)
        return status;
    if (opts->hash != NULL)
        memcpy(h.hash, opts->hash, sizeof h.hash);
    dpi_party_write_hello(&h, bytes);
    return dpi_parties_say_same(ask->parties, DPI_PARTY_HELLO, bytes, sizeof bytes, ask->timeout,
                                err);
}

/* What all offer: the same program and share, as many lanes and records as each allows. */
static dp_status hear_offers(const dp_ask *ask, dpi_party_offer *offer, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    unsigned char bytes[DPI_SHARE_PARTIES][DPI_PARTY_OFFER_BYTES];
    unsigned char *const to[DPI_SHARE_PARTIES] = {bytes[0], bytes[1], bytes[2], bytes[3]};
    const size_t sizes[DPI_SHARE_PARTIES] = {sizeof bytes[0], sizeof bytes[0], sizeof bytes[0],
                                             sizeof bytes[0]};
    dp_status status = dpi_parties_hear(p, DPI_PARTY_OFFER, 0, to, sizes, ask->timeout, err);
    if (status != DP_OK)
        return status;
    dpi_party_read_offer(bytes[0], offer);
    for (size_t i = 1; i < p->n; i++) {
        dpi_party_offer one;
        dpi_party_read_offer(bytes[i], &one);
        if (memcmp(one.share, offer->share, sizeof one.share) != 0 ||
            memcmp(one.hash, offer->hash, sizeof one.hash) != 0 ||
            one.sheet_bytes != offer->sheet_bytes || one.probabilistic != offer->probabilistic)
            return dpi_fail(err, DP_EPEER,
                            "party 0 and party %zu have other models; is one being shared just "
                            "now? Ask again, or have the provider share it again",
                            i);
        offer->lanes = one.lanes < offer->lanes ? one.lanes : offer->lanes;
        offer->records = one.records < offer->records ? one.records : offer->records;
    }
    if (offer->lanes == 0 || offer->records == 0 || offer->sheet_bytes == 0 ||
        offer->sheet_bytes > DPI_SHEET_MOST || offer->probabilistic > 1)
        return dpi_fail(err, DP_EPEER, "a party's offer is none");
    return DP_OK;
}

static dp_status read_sheets(dp_ask *ask, const unsigned char *sheets, size_t n, dp_error *err)
{
    for (size_t i = 1; i < ask->parties->n; i++)
        if (memcmp(sheets, sheets + i * n, n) != 0)
            return dpi_fail(err, DP_EPEER, "party 0 and party %zu have sent different sheets", i);
    dp_status status = dp_program_of_sheet(n, sheets, &ask->program, err);
    return status == DP_EDATA ? DP_EPEER : status;
}

static dp_status hear_sheets(dp_ask *ask, const dpi_party_offer *offer, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    const size_t n = (size_t)offer->sheet_bytes, sizes[DPI_SHARE_PARTIES] = {n, n, n, n};
    unsigned char hash[DP_PROGRAM_HASH], *sheets = dpi_alloc(p->n, n);
    if (sheets == NULL)
        return dpi_fail_nomem(err);
    unsigned char *to[DPI_SHARE_PARTIES] = {NULL};
    for (size_t i = 0; i < p->n; i++)
        to[i] = sheets + i * n;
    dp_status status = dpi_parties_hear(p, DPI_PARTY_SHEET, 0, to, sizes, ask->timeout, err);
    if (status == DP_OK)
        status = read_sheets(ask, sheets, n, err);
    dpi_free(sheets);
    if (status == DP_OK)
        status = dp_program_hash(ask->program, hash, err);
    if (status == DP_OK && memcmp(hash, offer->hash, sizeof hash) != 0)
        return dpi_fail(err, DP_EPEER, "the parties have sent the sheet of another program");
    return status;
}

static dp_status make_room(dp_ask *ask, dp_error *err)
{
    struct dpi_parties_ask *p = ask->parties;
    const size_t seeds = p->sizes.lanes * p->n * DPI_DEAL_SEED;
    bool there = true;
    for (size_t i = 0; i < p->n; i++) {
        const size_t in = dpi_party_input_bytes(&p->sizes, i, p->records);
        const size_t out = dpi_party_output_bytes(&p->sizes, i, p->records);
        p->in[i] = dpi_alloc(in > 0 ? in : 1, 1);
        p->out[i] = dpi_alloc(out > 0 ? out : 1, 1);
        there = there && p->in[i] != NULL && p->out[i] != NULL;
    }
    p->values = dpi_alloc(p->records * p->sizes.inputs, sizeof *p->values);
    p->seed = dpi_alloc(seeds, 1);
    if (!there || p->values == NULL || p->seed == NULL)
        return dpi_fail_nomem(err);
    return dpi_limbs_random(NULL, seeds, p->seed, err);
}

/* What is agreed on, and whether this library can read the answers. */
static dp_status choose(dp_ask *ask, const dp_ask_parties_opts *opts, const dpi_party_offer *offer,
                        dp_error *err)
{
    struct dpi_parties_ask *p = ask->parties;
    size_t records = opts->records > 0 ? opts->records : RECORDS;
    size_t lanes = opts->lanes > 0 ? opts->lanes : 1;
    records = offer->records < records ? (size_t)offer->records : records;
    lanes = offer->lanes < lanes ? (size_t)offer->lanes : lanes;
    if (lanes > DPI_PARTY_LANES || records > DPI_PARTY_RECORDS)
        return dpi_fail(err, DP_EINVAL, "at most 24 lanes and 65536 records can be asked for");
    p->sizes.lanes = lanes;
    p->sizes.inputs = dp_program_inputs(ask->program);
    p->sizes.outputs = dp_program_outputs(ask->program);
    const uint64_t answer = (uint64_t)ask->timeout * dp_program_stages(ask->program);
    p->answer = answer < UINT32_MAX ? (uint32_t)answer : UINT32_MAX;
    dp_status status =
        dpi_lane_numbers(ask->program, offer->probabilistic, &p->sizes.ring, &p->bits, err);
    if (status != DP_OK)
        return status;
    const size_t most = dpi_party_most_records(&p->sizes);
    p->records = records < most ? records : most;
    p->sizes.lanes = p->records < lanes ? p->records : lanes;
    return DP_OK;
}

/* How many lanes and records, and to each machine the seeds of the components that it may have. */
static dp_status say_start(const dp_ask *ask, dp_error *err)
{
    const struct dpi_parties_ask *p = ask->parties;
    unsigned char start[DPI_PARTY_START_BYTES];
    unsigned char seeds[DPI_SHARE_PARTIES][DPI_PARTY_LANES][DPI_SHARE_PARTIES * DPI_DEAL_SEED];
    unsigned char *from[DPI_SHARE_PARTIES];
    size_t bytes[DPI_SHARE_PARTIES];
    const size_t of_lane = p->n * DPI_DEAL_SEED;
    for (size_t i = 0; i < p->n; i++) {
        from[i] = seeds[i][0];
        bytes[i] = p->sizes.lanes * of_lane;
        memcpy(from[i], p->seed, bytes[i]);
        for (size_t k = 0; k < p->sizes.lanes; k++) {
            unsigned char *own = from[i] + k * of_lane;
            memset(own + i * DPI_DEAL_SEED, 0, DPI_DEAL_SEED);
            memset(own + dpi_party_full(p->sizes.row, k) * DPI_DEAL_SEED, 0, DPI_DEAL_SEED);
        }
    }
    dpi_put_number(start, p->sizes.lanes);
    dpi_put_number(start + 8, p->records);
    dp_status status =
        dpi_parties_say_same(p, DPI_PARTY_START, start, sizeof start, ask->timeout, err);
    if (status == DP_OK)
        status = dpi_parties_say(p, DPI_PARTY_SEEDS, 0, from, bytes, ask->timeout, err);
    sodium_memzero(seeds, sizeof seeds);
    return status;
}

static dp_status consent(const dpi_party_offer *offer, unsigned flags, dp_error *err)
{
    if (offer->probabilistic == 0 || (flags & DP_ALLOW_PROBABILISTIC) != 0)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "this model was shared to round by chance: answers may be off in their last "
                    "places and, rarely, wrong; it is asked with the flag DP_ALLOW_PROBABILISTIC "
                    "(--allow-probabilistic) alone");
}

static dp_status open_session(dp_ask *ask, const dp_ask_parties_opts *opts, dp_error *err)
{
    dpi_party_offer offer;
    dp_status status = say_hello(ask, opts, err);
    if (status == DP_OK)
        status = hear_offers(ask, &offer, err);
    if (status == DP_OK)
        status = consent(&offer, opts->flags, err);
    if (status == DP_OK)
        status = hear_sheets(ask, &offer, err);
    if (status == DP_OK && opts->hash != NULL &&
        memcmp(opts->hash, offer.hash, sizeof offer.hash) != 0)
        return dpi_fail(err, DP_EPEER, "the parties have offered another program");
    if (status == DP_OK)
        status = choose(ask, opts, &offer, err);
    if (status == DP_OK)
        status = make_room(ask, err);
    if (status == DP_OK)
        status = say_start(ask, err);
    /* Parties wait for each other before they are ready. */
    if (status == DP_OK)
        status = dpi_parties_hear_byte(
            ask->parties, DPI_PARTY_READY,
            ask->timeout < UINT32_MAX / 4 ? 4 * ask->timeout : UINT32_MAX, err);
    return status;
}

/* ---- a session ---- */

static dp_ask *new_ask(const dp_ask_parties_opts *opts)
{
    dp_ask *ask = dpi_alloc(1, sizeof *ask);
    struct dpi_parties_ask *p = dpi_alloc(1, sizeof *p);
    pthread_mutex_t *turn = dpi_alloc(1, sizeof *turn);
    if (ask == NULL || p == NULL || turn == NULL || pthread_mutex_init(turn, NULL) != 0) {
        dpi_free(ask);
        dpi_free(p);
        dpi_free(turn);
        return NULL;
    }
    p->n = opts->parties->n;
    p->sizes.row = dpi_parties_row(opts->parties);
    ask->parties = p;
    ask->turn = turn;
    ask->timeout = opts->timeout_ms > 0 ? opts->timeout_ms : DPI_SERVE_TIMEOUT;
    return ask;
}

dp_status dpi_parties_ask_open(const dp_ask_parties_opts *opts,
                               dpi_wire_session *const wire[DPI_SHARE_PARTIES], dp_ask **made,
                               dp_error *err)
{
    dp_ask *ask = new_ask(opts);
    *made = NULL;
    for (size_t i = 0; i < opts->parties->n; i++) {
        if (ask == NULL)
            dpi_wire_close(wire[i]);
        else
            ask->parties->wire[i] = wire[i];
    }
    if (ask == NULL)
        return dpi_fail_nomem(err);
    dp_status status = open_session(ask, opts, err);
    if (status == DP_OK)
        *made = ask;
    else
        dp_ask_free(ask);
    return status;
}

dp_status dp_ask_parties_new(const dp_ask_parties_opts *opts, dp_ask **ask, dp_error *err)
{
    *ask = NULL;
    if (opts->identity == NULL || opts->parties == NULL)
        return dpi_fail(err, DP_EINVAL, "to ask, an identity and the list of parties are needed");
    const uint32_t within = opts->timeout_ms > 0 ? opts->timeout_ms : DPI_SERVE_TIMEOUT;
    dpi_wire_session *wire[DPI_SHARE_PARTIES] = {NULL};
    dp_status status = DP_OK;
    for (size_t i = 0; status == DP_OK && i < opts->parties->n; i++)
        status = dpi_parties_connect(opts->parties, i, opts->identity, within, &wire[i], err);
    if (status == DP_OK)
        return dpi_parties_ask_open(opts, wire, ask, err);
    for (size_t i = 0; i < opts->parties->n; i++)
        dpi_wire_close(wire[i]);
    return status;
}

void dpi_parties_ask_free(struct dpi_parties_ask *p)
{
    for (size_t i = 0; i < p->n; i++) {
        dpi_wire_close(p->wire[i]);
        if (p->out[i] != NULL)
            sodium_memzero(p->out[i], dpi_party_output_bytes(&p->sizes, i, p->records));
        dpi_free(p->in[i]);
        dpi_free(p->out[i]);
    }
    if (p->values != NULL)
        sodium_memzero(p->values, p->records * p->sizes.inputs * sizeof *p->values);
    if (p->seed != NULL)
        sodium_memzero(p->seed, p->sizes.lanes * p->n * DPI_DEAL_SEED);
    dpi_free(p->values);
    dpi_free(p->seed);
    dpi_free(p);
}

dp_ask_traffic dpi_parties_ask_counts(const dp_ask *ask)
{
    dp_ask_traffic counts = {.rounds = 0};
    for (size_t i = 0; i < ask->parties->n; i++) {
        const dpi_wire_traffic t = dpi_wire_counts(ask->parties->wire[i]);
        counts.up += t.bytes_sent;
        counts.down += t.bytes_received;
    }
    return counts;
}
