/* A client's session at a party: opening, joining with the fellow parties, queries. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pool.h"
#include "serve/party-parts.h"
#include "serve/talk.h"

typedef struct client_session {
    dp_party *s;
    dpi_wire_session *wire;
    dpi_guest *guest;
    const dpi_party_hello *hello;
    dpi_party_model *model;
    dpi_party_sizes sizes;
    size_t records; /* of a query, at most */
    unsigned char *seed;
    dpi_lane *lane[DPI_PARTY_LANES];
    dpi_wire_session *link[DPI_PARTY_LANES][DPI_SHARE_PARTIES]; /* until lanes have them */
    dpi_pool *pool;
    unsigned char *in, *out;
    /* the query that is answered */
    size_t n;
    const unsigned char *full[DPI_PARTY_LANES];
    dp_error lane_error[DPI_PARTY_LANES];
    dpi_log_spent spent;
} client_session;

static dp_status fail(const client_session *t, dp_status status, dp_error *err)
{
    return status == DP_OK ? DP_OK : dpi_serve_fail(t->wire, status, err);
}

static dp_status refuse(const client_session *t, dpi_refusal why, dp_error *err)
{
    dp_status status = dpi_wire_refuse(t->wire, why, t->s->timeout);
    return status == DP_OK ? dpi_fail(err, DP_EREFUSED, "%s", dpi_refusal_text(why))
                           : fail(t, status, err);
}

/* ---- opening ---- */

static dpi_refusal check_client(const client_session *t)
{
    static const unsigned char any[DP_PROGRAM_HASH];
    const unsigned char *hash = t->hello->hash;
    const dpi_protocol protocol = dpi_parties_protocol(t->s->parties);
    const dpi_refusal why = dpi_policy_check(&t->s->policy, dpi_wire_peer_fingerprint(t->wire),
                                             protocol, DPI_MODE_SHARED);
    if (why != DPI_REFUSED_NOTHING)
        return why;
    if (t->model == NULL)
        return DPI_REFUSED_NO_MODEL;
    if (memcmp(hash, any, sizeof any) != 0 && memcmp(hash, t->model->hash, sizeof any) != 0)
        return DPI_REFUSED_PROGRAM;
    return DPI_REFUSED_NOTHING;
}

static dp_status offer(const client_session *t, dp_error *err)
{
    unsigned char bytes[DPI_PARTY_OFFER_BYTES];
    const dpi_party_model *m = t->model;
    dpi_party_offer o = {.sheet_bytes = m->sheet_bytes,
                         .lanes = t->s->lanes,
                         .records = t->s->records,
                         .probabilistic = m->probabilistic};
    memcpy(o.share, m->share, sizeof o.share);
    memcpy(o.hash, m->hash, sizeof o.hash);
    dpi_party_write_offer(&o, bytes);
    dp_status status =
        dpi_wire_send(t->wire, DPI_PARTY_OFFER, 0, bytes, sizeof bytes, t->s->timeout);
    if (status == DP_OK)
        status =
            dpi_wire_send(t->wire, DPI_PARTY_SHEET, 0, m->sheet, m->sheet_bytes, t->s->timeout);
    return fail(t, status, err);
}

/* How many lanes and records the client wants, and its seeds. */
static dp_status take_start(client_session *t, dp_error *err)
{
    const dp_party *s = t->s;
    unsigned char bytes[DPI_PARTY_START_BYTES];
    dp_status status =
        dpi_wire_receive(t->wire, DPI_PARTY_START, 0, bytes, sizeof bytes, s->timeout);
    if (status != DP_OK)
        return fail(t, status, err);
    const uint64_t lanes = dpi_get_number(bytes), records = dpi_get_number(bytes + 8);
    if (lanes == 0 || lanes > s->lanes || records == 0 || records > s->records)
        return refuse(t, DPI_REFUSED_RECORDS, err);
    t->records = (size_t)records;
    t->sizes = (dpi_party_sizes){.row = dpi_parties_row(s->parties),
                                 .ring = t->model->ring,
                                 .inputs = dp_program_inputs(t->model->program),
                                 .outputs = dp_program_outputs(t->model->program),
                                 .lanes = (size_t)lanes};
    if (t->records > dpi_party_most_records(&t->sizes) ||
        !dpi_lane_fits(t->model, dpi_party_share_of(t->records, t->sizes.lanes, 0)))
        return refuse(t, DPI_REFUSED_RECORDS, err);
    const size_t n = t->sizes.lanes * s->parties->n * DPI_DEAL_SEED;
    t->seed = dpi_alloc(n, 1);
    if (t->seed == NULL)
        return dpi_fail_nomem(err);
    return fail(t, dpi_wire_receive(t->wire, DPI_PARTY_SEEDS, 0, t->seed, n, s->timeout), err);
}

static dp_status make_room(client_session *t, dp_error *err)
{
    const size_t in = dpi_party_input_bytes(&t->sizes, t->s->id, t->records);
    const size_t out = dpi_party_output_bytes(&t->sizes, t->s->id, t->records);
    t->in = dpi_alloc(in > 0 ? in : 1, 1);
    t->out = dpi_alloc(out > 0 ? out : 1, 1);
    if (t->in == NULL || t->out == NULL)
        return dpi_fail_nomem(err);
    return t->sizes.lanes > 1 ? dpi_pool_new(t->sizes.lanes, &t->pool, err) : DP_OK;
}

/* ---- joining ---- */

static dpi_party_hello join_hello(const client_session *t, size_t with, size_t lane)
{
    dpi_party_hello h = dpi_party_hello_of(t->s->parties, DPI_PURPOSE_JOIN);
    h.lane = lane;
    h.lanes = t->sizes.lanes;
    h.records = t->records;
    memcpy(h.token, t->hello->token, sizeof h.token);
    memcpy(h.share, t->model->share, sizeof h.share);
    memcpy(h.client, dpi_wire_peer_fingerprint(t->wire), sizeof h.client);
    memcpy(h.hash, t->model->hash, sizeof h.hash);
    dpi_party_model_view(t->model, with, h.view);
    return h;
}

/* What stands against a session with a fellow that has said so. */
static dpi_refusal compare(const dpi_party_hello *own, const dpi_party_hello *theirs)
{
    const dpi_party_hello *a = own, *b = theirs;
    return a->version != b->version ? DPI_REFUSED_VERSION
           : memcmp(a->parties, b->parties, sizeof a->parties) != 0 || a->protocol != b->protocol
               ? DPI_REFUSED_PARTIES
           : memcmp(a->client, b->client, sizeof a->client) != 0 ? DPI_REFUSED_TOKEN
           : memcmp(a->hash, b->hash, sizeof a->hash) != 0 ||
                   memcmp(a->share, b->share, sizeof a->share) != 0 ||
                   memcmp(a->view, b->view, sizeof a->view) != 0
               ? DPI_REFUSED_MODELS
           : a->lanes != b->lanes || a->records != b->records ? DPI_REFUSED_RECORDS
                                                              : DPI_REFUSED_NOTHING;
}

/* To each party before this one, for each lane. */
static dp_status connect_lower(client_session *t, dp_error *err)
{
    const dp_party *s = t->s;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < t->sizes.lanes; k++)
        for (size_t i = 0; status == DP_OK && i < s->id; i++) {
            const dpi_party_hello h = join_hello(t, i, k);
            status =
                dpi_parties_connect(s->parties, i, s->identity, s->timeout, &t->link[k][i], err);
            if (status == DP_OK)
                status = dpi_party_send_hello(t->link[k][i], &h, s->timeout);
        }
    return status;
}

/* Says to a fellow whether the session goes on, with what this party was given. */
static dp_status say_joined(client_session *t, size_t i, size_t k, dpi_refusal why)
{
    unsigned char bytes[DPI_PARTY_JOINED_BYTES];
    dpi_put_number(bytes, why);
    dpi_party_model_view(t->model, i, bytes + 8);
    return dpi_wire_send(t->link[k][i], DPI_PARTY_JOINED, 0, bytes, sizeof bytes, t->s->timeout);
}

/* Those after this one, which connect. */
static dp_status await_higher(client_session *t, dpi_refusal *why)
{
    const dp_party *s = t->s;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < t->sizes.lanes; k++)
        for (size_t j = s->id + 1; status == DP_OK && j < s->parties->n; j++) {
            const dpi_party_hello own = join_hello(t, j, k);
            dpi_party_hello theirs;
            t->link[k][j] = dpi_meeting_await(s->meeting, j, t->hello->token, k, t->wire, &theirs);
            if (t->link[k][j] == NULL)
                return DP_ETIMEOUT;
            *why = compare(&own, &theirs);
            status = say_joined(t, j, k, *why);
            if (status == DP_OK && *why != DPI_REFUSED_NOTHING)
                status = DP_EREFUSED;
        }
    return status;
}

static dp_status hear_lower(client_session *t, dpi_refusal *why)
{
    const dp_party *s = t->s;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < t->sizes.lanes; k++)
        for (size_t i = 0; status == DP_OK && i < s->id; i++) {
            unsigned char bytes[DPI_PARTY_JOINED_BYTES], view[DPI_PARTY_DIGEST];
            status = dpi_wire_receive(t->link[k][i], DPI_PARTY_JOINED, 0, bytes, sizeof bytes,
                                      s->timeout);
            if (status != DP_OK)
                return status;
            const uint64_t said = dpi_get_number(bytes);
            dpi_party_model_view(t->model, i, view);
            *why = said != 0 && said < DPI_N_REFUSALS                       ? (dpi_refusal)said
                   : memcmp(view, bytes + 8, sizeof view) != 0 || said != 0 ? DPI_REFUSED_MODELS
                                                                            : DPI_REFUSED_NOTHING;
            if (*why != DPI_REFUSED_NOTHING)
                status = DP_EREFUSED;
        }
    return status;
}

static dp_status open_lanes(client_session *t, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < t->sizes.lanes; k++) {
        dpi_lane_opts o = {.parties = t->s->parties,
                           .model = t->model,
                           .lane = k,
                           .records = dpi_party_share_of(t->records, t->sizes.lanes, k),
                           .token = t->hello->token,
                           .client = dpi_wire_peer_fingerprint(t->wire),
                           .seed = (const unsigned char(*)[DPI_DEAL_SEED])(
                               t->seed + k * t->s->parties->n * DPI_DEAL_SEED),
                           .timeout = t->s->timeout};
        memcpy(o.link, t->link[k], sizeof o.link);
        memset(t->link[k], 0, sizeof t->link[k]);
        status = dpi_lane_open(&o, &t->lane[k], err);
    }
    return status;
}

/* All others are there and have been told the same, or the client is told why not. */
static dp_status join(client_session *t, dp_error *err)
{
    dpi_refusal why = DPI_REFUSED_NOTHING;
    dp_error own = {0};
    dp_status status = connect_lower(t, &own);
    if (status == DP_OK)
        status = await_higher(t, &why);
    if (status == DP_OK)
        status = hear_lower(t, &why);
    if (status == DP_OK)
        status = open_lanes(t, &own);
    if (status != DP_OK)
        return refuse(t,
                      why != DPI_REFUSED_NOTHING ? why
                      : status == DP_ENOMEM      ? DPI_REFUSED_BUSY
                                                 : DPI_REFUSED_FELLOW,
                      err);
    const unsigned char ready = 1;
    return fail(t, dpi_wire_send(t->wire, DPI_PARTY_READY, 0, &ready, 1, t->s->timeout), err);
}

/* ---- a query ---- */

/* Whether there is one: *more; spends it. */
static dp_status take_query(client_session *t, bool *more, dp_error *err)
{
    const dp_party *s = t->s;
    unsigned char bytes[8];
    dp_error why = {0};
    dp_status status = dpi_wire_receive(t->wire, DPI_PARTY_QUERY, 0, bytes, sizeof bytes, s->idle);
    *more = status == DP_OK && dpi_guest_begin(t->guest);
    if (status != DP_OK)
        return dpi_wire_ended(t->wire) || status == DP_ETIMEOUT ? DP_OK : fail(t, status, err);
    if (!*more)
        return DP_OK;
    const uint64_t n = dpi_get_number(bytes);
    if (n == 0 || n > t->records)
        return dpi_fail(err, DP_EPEER, "a query of more records than were agreed on");
    t->n = (size_t)n;
    dpi_log_query q = {.protocol = dpi_parties_protocol(s->parties), .mode = DPI_MODE_SHARED};
    memcpy(q.client, dpi_wire_peer_fingerprint(t->wire), sizeof q.client);
    status = dpi_query_log_reserve_many(s->log, &q, t->n, &t->spent, &why);
    if (status == DP_OK)
        return DP_OK;
    *more = false;
    dp_status said = dpi_wire_refuse(
        t->wire, status == DP_EREFUSED ? DPI_REFUSED_BUDGET : DPI_REFUSED_BUSY, s->timeout);
    if (status == DP_EREFUSED && said == DP_OK)
        return DP_OK;
    return dpi_fail(err, status, "%s", why.text);
}

static void draw_lane(void *of, size_t k)
{
    const client_session *t = of;
    dpi_lane_draw(t->lane[k], dpi_party_share_of(t->n, t->sizes.lanes, k));
}

static void in_lanes(client_session *t, void (*what)(void *of, size_t lane))
{
    if (t->pool != NULL)
        dpi_pool_run(t->pool, what, t);
    else
        what(t, 0);
}

/* The client shares its records meanwhile. */
static dp_status take_input(client_session *t, dp_error *err)
{
    const unsigned char go = 1;
    const size_t bytes = dpi_party_input_bytes(&t->sizes, t->s->id, t->n);
    dp_status status = dpi_wire_send(t->wire, DPI_PARTY_GO, 0, &go, sizeof go, t->s->timeout);
    if (status == DP_OK)
        in_lanes(t, draw_lane);
    if (status == DP_OK)
        status = dpi_wire_receive(t->wire, DPI_PARTY_INPUT, 1, t->in, bytes, t->s->timeout);
    const unsigned char *at = t->in;
    for (size_t k = 0; k < t->sizes.lanes; k++) {
        t->full[k] = dpi_party_full(t->sizes.row, k) == t->s->id ? NULL : at;
        if (t->full[k] != NULL)
            at += dpi_party_share_of(t->n, t->sizes.lanes, k) * t->sizes.inputs *
                  dpi_ring_bytes(t->sizes.ring);
    }
    return fail(t, status, err);
}

static void run_lane(void *of, size_t k)
{
    client_session *t = of;
    t->lane_error[k] = (dp_error){0};
    const size_t n = dpi_party_share_of(t->n, t->sizes.lanes, k);
    dp_error *err = &t->lane_error[k];
    if (n > 0)
        (void)!dpi_lane_run(t->lane[k], n, t->full[k], err);
}

static dp_status run_lanes(client_session *t, dp_error *err)
{
    in_lanes(t, run_lane);
    for (size_t k = 0; k < t->sizes.lanes; k++)
        if (t->lane_error[k].status != DP_OK)
            return dpi_fail(err, t->lane_error[k].status, "%s", t->lane_error[k].text);
    return DP_OK;
}

/* Only when all lanes have been compared, and the log is on the disk. */
static dp_status tell(client_session *t, dp_error *err)
{
    unsigned char *at = t->out;
    dp_status status = dpi_query_log_settle(t->s->log, &t->spent, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < t->sizes.lanes; k++)
        at += dpi_lane_tell(t->lane[k], dpi_party_share_of(t->n, t->sizes.lanes, k), at);
    return fail(
        t,
        dpi_wire_send(t->wire, DPI_PARTY_OUTPUT, 1, t->out, (size_t)(at - t->out), t->s->timeout),
        err);
}

static dp_status answer_query(client_session *t, dp_error *err)
{
    dp_error unwritten = {0};
    dp_status status = take_input(t, err);
    if (status == DP_OK)
        status = run_lanes(t, err);
    if (status == DP_OK)
        status = tell(t, err);
    dp_status written =
        dpi_query_log_end_many(t->s->log, t->spent.number, t->n, status, &unwritten);
    if (status == DP_OK && written != DP_OK)
        return dpi_fail(err, written, "%s", unwritten.text);
    return status;
}

static dp_status answer_queries(client_session *t, dp_error *err)
{
    bool more = dpi_guest_finish(t->guest);
    dp_status status = DP_OK;
    while (status == DP_OK && more) {
        status = take_query(t, &more, err);
        if (status == DP_OK && more) {
            status = answer_query(t, err);
            more = dpi_guest_finish(t->guest);
        }
    }
    return status;
}

/* ---- a session ---- */

static void end_session(client_session *t)
{
    for (size_t k = 0; k < DPI_PARTY_LANES; k++) {
        dpi_lane_close(t->lane[k]);
        for (size_t i = 0; i < DPI_SHARE_PARTIES; i++)
            dpi_wire_close(t->link[k][i]);
    }
    dpi_pool_free(t->pool);
    if (t->seed != NULL)
        sodium_memzero(t->seed, t->sizes.lanes * t->s->parties->n * DPI_DEAL_SEED);
    dpi_free(t->seed);
    dpi_free(t->in);
    dpi_free(t->out);
}

static dp_status open_session(client_session *t, dp_error *err)
{
    const dpi_refusal why = check_client(t);
    if (why != DPI_REFUSED_NOTHING)
        return refuse(t, why, err);
    dp_status status = offer(t, err);
    if (status == DP_OK)
        status = take_start(t, err);
    if (status == DP_OK)
        status = make_room(t, err);
    return status == DP_OK ? join(t, err) : status;
}

dp_status dpi_party_answer(dp_party *s, dpi_wire_session *wire, dpi_guest *guest,
                           const dpi_party_hello *hello, dp_error *err)
{
    client_session *t = dpi_alloc(1, sizeof *t);
    if (t == NULL)
        return dpi_fail_nomem(err);
    *t = (client_session){.s = s, .wire = wire, .guest = guest, .hello = hello};
    dp_status status;
    if (!dpi_meeting_begin(s->meeting, hello->token)) {
        status = refuse(t, DPI_REFUSED_TOKEN, err);
        dpi_free(t);
        return status;
    }
    t->model = dpi_party_model_of(s);
    status = open_session(t, err);
    if (status == DP_OK)
        status = answer_queries(t, err);
    end_session(t);
    dpi_party_model_leave(s, t->model);
    dpi_meeting_finish(s->meeting, hello->token);
    dpi_free(t);
    return status;
}
