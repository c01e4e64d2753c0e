/* The provider's part of a session. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/ahead.h"
#include "serve/stream.h"
#include "wire/log.h"

/* ---- one query ---- */

typedef struct talk {
    const dpi_answering *a;
    dpi_wire_session *wire;
    dpi_guest *guest;
    void *session;
    dpi_ahead ahead;
    dpi_pool *pool;
    unsigned char *up, *down;      /* of the largest layer */
    uint32_t *order, *back, *next; /* [most] */
    dpi_query_kind kind;           /* of the query that is being answered */
    bool prepared, may_prepare;    /* a query was; one was answered since */
    dpi_log_spent spent;           /* for the query that is answered */
} talk;

/* The layer's work on what came up. */
static dp_status run_layer(talk *t, size_t k, const dpi_serve_order_pair *order, dp_error *err)
{
    const dpi_answering *a = t->a;
    const dpi_serve_row *row = a->row;
    return (t->kind == DPI_QUERY_PLAIN    ? row->layer
            : t->kind == DPI_QUERY_MASKED ? row->masked->layer
                                          : row->masked->prepare)(
        t->session, k, order, t->up, t->down, t->pool, a->threads, err);
}

static dp_status answer_layer(talk *t, size_t k, const uint32_t *input, const uint32_t *output,
                              dp_error *err)
{
    const dpi_answering *a = t->a;
    const dpi_serve_order_pair order = {.input = input, .output = output};
    const bool masked = t->kind == DPI_QUERY_MASKED;
    const size_t up = masked ? a->cost.masked_up[k] : a->cost.up[k];
    const size_t down = masked ? a->cost.masked_down[k] : a->cost.down[k];
    uint32_t number = (uint32_t)k + 1;
    dp_status status = dpi_wire_receive(t->wire, DPI_SAY_UP, number, t->up, up, a->timeout);
    if (status != DP_OK)
        return dpi_serve_fail(t->wire, status, err);
    status = run_layer(t, k, &order, err);
    /* The log was written while the layer was computed. */
    if (status == DP_OK && t->kind != DPI_QUERY_PREPARE)
        status = dpi_query_log_settle(a->log, &t->spent, err);
    if (status != DP_OK)
        return status;
    status = dpi_wire_send(t->wire, DPI_SAY_DOWN, number, t->down, down, a->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(t->wire, status, err);
}

static dp_status answer_layers(talk *t, dp_error *err)
{
    const dpi_serve_plan *plan = t->a->plan;
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < plan->n_layers; k++) {
        bool hidden =
            plan->layer[k].hidden && t->kind != DPI_QUERY_MASKED; /* which has its orders */
        if (hidden)
            status = dpi_serve_order(plan, &plan->layer[k], t->order, t->next, err);
        if (status == DP_OK)
            status = answer_layer(t, k, k > 0 ? t->back : NULL, hidden ? t->order : NULL, err);
        uint32_t *kept = t->back;
        t->back = t->next;
        t->next = kept;
    }
    return status;
}

/* What the query's byte says; who asks for what there is not breaks the protocol. */
static dp_status take_kind(talk *t, unsigned char byte, dp_error *err)
{
    const bool can = t->a->row->masked != NULL;
    t->kind = (dpi_query_kind)byte;
    if (t->kind == DPI_QUERY_PLAIN || t->kind == DPI_QUERY_STREAM ||
        (t->kind == DPI_QUERY_MASKED && can && t->prepared) ||
        (t->kind == DPI_QUERY_PREPARE && can && t->may_prepare && !t->prepared))
        return DP_OK;
    return dpi_fail(err, DP_EPEER, "a query of kind %d came where there is none", byte);
}

/* Whether there is a query: *more; spends it, but of a stream, whose queries are spent one by one.
 * A server that ends the session has cut it. */
static dp_status take_query(talk *t, bool *more, dp_error *err)
{
    const dpi_answering *a = t->a;
    dp_error why = {0};
    dpi_log_query q = {.protocol = a->row->protocol, .mode = a->mode};
    memcpy(q.client, dpi_wire_peer_fingerprint(t->wire), sizeof q.client);
    dp_status status = dpi_wire_receive(t->wire, DPI_SAY_QUERY, 0, t->up, DPI_QUERY_BYTES, a->idle);
    *more = status == DP_OK && dpi_guest_begin(t->guest);
    if (status != DP_OK)
        return dpi_wire_ended(t->wire) || status == DP_ETIMEOUT
                   ? DP_OK
                   : dpi_serve_fail(t->wire, status, err);
    if (!*more)
        return DP_OK;
    status = take_kind(t, t->up[0], err);
    if (status != DP_OK || t->kind == DPI_QUERY_PREPARE || t->kind == DPI_QUERY_STREAM)
        return status;
    status = dpi_query_log_reserve(a->log, &q, &t->spent, &why);
    if (status == DP_OK)
        return DP_OK;
    *more = false;
    dp_status said = dpi_wire_refuse(
        t->wire, status == DP_EREFUSED ? DPI_REFUSED_BUDGET : DPI_REFUSED_BUSY, a->timeout);
    if (status == DP_EREFUSED && said == DP_OK)
        return DP_OK;
    return dpi_fail(err, status, "%s", why.text);
}

/* What is prepared serves one query, also one that fails. */
static dp_status go_and_answer(talk *t, dp_error *err)
{
    const unsigned char go = 1;
    t->prepared = t->prepared && t->kind != DPI_QUERY_MASKED;
    dp_status status = dpi_wire_send(t->wire, DPI_SAY_GO, 0, &go, DPI_QUERY_BYTES, t->a->timeout);
    if (status != DP_OK)
        return dpi_serve_fail(t->wire, status, err);
    status = answer_layers(t, err);
    t->prepared = t->prepared || (status == DP_OK && t->kind == DPI_QUERY_PREPARE);
    t->may_prepare = t->kind != DPI_QUERY_PREPARE;
    return status;
}

static dp_status answer_query(talk *t, dp_error *err)
{
    dp_error unwritten = {0};
    dp_status status = go_and_answer(t, err);
    if (t->kind == DPI_QUERY_PREPARE)
        return status;
    dp_status written = dpi_query_log_end(t->a->log, t->spent.number, status, &unwritten);
    if (status == DP_OK && written != DP_OK)
        return dpi_fail(err, written, "%s", unwritten.text);
    return status;
}

static dp_status answer_stream(talk *t, bool *more, dp_error *err)
{
    const dpi_answering *a = t->a;
    unsigned char bytes[DPI_STREAM_BYTES];
    dp_status status =
        dpi_wire_receive(t->wire, DPI_SAY_STREAM, 0, bytes, sizeof bytes, a->timeout);
    if (status != DP_OK)
        return dpi_serve_fail(t->wire, status, err);
    const dpi_stream_shape shape = {.layers = a->plan->n_layers,
                                    .queries = dpi_get_number(bytes),
                                    .in_flight = dpi_get_number(bytes + 8)};
    if (!dpi_stream_fits(&shape, a->in_flight)) {
        *more = false;
        status = dpi_wire_refuse(t->wire, DPI_REFUSED_FLIGHT, a->timeout);
        return status == DP_OK ? DP_OK : dpi_serve_fail(t->wire, status, err);
    }
    status = dpi_stream_answer(a, t->wire, t->session, &shape, more, err);
    t->may_prepare = t->may_prepare || status == DP_OK;
    return status;
}

static dp_status answer_queries(talk *t, dp_error *err)
{
    bool more = true;
    dp_status status = DP_OK;
    while (status == DP_OK && more) {
        status = take_query(t, &more, err);
        if (status == DP_OK && more) {
            status =
                t->kind == DPI_QUERY_STREAM ? answer_stream(t, &more, err) : answer_query(t, err);
            more = dpi_guest_finish(t->guest) && more;
        }
        dpi_ahead_wake(&t->ahead);
    }
    return status;
}

/* ---- the opening ---- */

/* What is asked for, or why not. */
static dpi_refusal check_ask(const dpi_answering *a, const dpi_wire_session *wire,
                             const unsigned char *ask)
{
    static const unsigned char any[DP_PROGRAM_HASH];
    uint64_t protocol = dpi_get_number(ask), mode = dpi_get_number(ask + 8);
    const unsigned char *hash = ask + 16;
    if (protocol != (uint64_t)a->row->protocol || mode != (uint64_t)a->mode)
        return DPI_REFUSED_MODE;
    if (memcmp(hash, any, sizeof any) != 0 && memcmp(hash, a->hash, sizeof any) != 0)
        return DPI_REFUSED_PROGRAM;
    return dpi_policy_check(a->policy, dpi_wire_peer_fingerprint(wire), a->row->protocol, a->mode);
}

static dp_status open_talk(const dpi_answering *a, dpi_wire_session *wire, dpi_refusal *refused)
{
    unsigned char ask[DPI_ASK_BYTES], size[DPI_SIZE_BYTES];
    dp_status status = dpi_wire_receive(wire, DPI_SAY_ASK, 0, ask, sizeof ask, a->timeout);
    if (status != DP_OK)
        return status;
    *refused = check_ask(a, wire, ask);
    if (*refused != DPI_REFUSED_NOTHING)
        return dpi_wire_refuse(wire, *refused, a->timeout);
    dpi_put_number(size, a->sheet_bytes);
    status = dpi_wire_send(wire, DPI_SAY_SIZE, 0, size, sizeof size, a->timeout);
    if (status == DP_OK)
        status = dpi_wire_send(wire, DPI_SAY_SHEET, 0, a->sheet, a->sheet_bytes, a->timeout);
    return status;
}

static dp_status take_key(talk *t, dp_error *err)
{
    const dpi_answering *a = t->a;
    size_t n = a->cost.key;
    unsigned char *key = dpi_alloc(n, 1);
    if (key == NULL)
        return dpi_fail_nomem(err);
    dp_status status = dpi_wire_receive(t->wire, DPI_SAY_KEY, 0, key, n, a->timeout);
    if (status != DP_OK)
        (void)dpi_serve_fail(t->wire, status, err);
    else
        status = a->row->open(a->compiled, key, &t->session, err);
    dpi_free(key);
    return status;
}

static dp_status make_room(talk *t, dp_error *err)
{
    const dpi_answering *a = t->a;
    size_t most = a->plan->most;
    t->up = dpi_alloc(dpi_serve_largest(a->plan->n_layers, a->cost.up, a->cost.masked_up), 1);
    t->down = dpi_alloc(dpi_serve_largest(a->plan->n_layers, a->cost.down, a->cost.masked_down), 1);
    t->order = dpi_alloc(most, sizeof *t->order);
    t->back = dpi_alloc(most, sizeof *t->back);
    t->next = dpi_alloc(most, sizeof *t->next);
    if (t->up == NULL || t->down == NULL || t->order == NULL || t->back == NULL || t->next == NULL)
        return dpi_fail_nomem(err);
    return a->threads > 1 ? dpi_pool_new(a->threads, &t->pool, err) : DP_OK;
}

/* Orders are what mode permute keeps from the other side. */
static void wipe_order(const talk *t, uint32_t *order)
{
    if (order != NULL)
        sodium_memzero(order, t->a->plan->most * sizeof *order);
    dpi_free(order);
}

static void free_talk(talk *t)
{
    dpi_ahead_end(&t->ahead);
    if (t->session != NULL)
        t->a->row->close(t->session);
    dpi_pool_free(t->pool);
    dpi_free(t->up);
    dpi_free(t->down);
    wipe_order(t, t->order);
    wipe_order(t, t->back);
    wipe_order(t, t->next);
}

dp_status dpi_serve_answer(const dpi_answering *a, dpi_wire_session *wire, dpi_guest *guest,
                           dp_error *err)
{
    talk t = {.a = a, .wire = wire, .guest = guest};
    dpi_refusal refused = DPI_REFUSED_NOTHING;
    dp_status status = open_talk(a, wire, &refused);
    if (status != DP_OK || refused != DPI_REFUSED_NOTHING)
        return status == DP_OK ? DP_OK : dpi_serve_fail(wire, status, err);
    status = make_room(&t, err);
    if (status == DP_OK)
        status = take_key(&t, err);
    if (status == DP_OK)
        dpi_ahead_start(&t.ahead, a->row->idle, t.session);
    if (status == DP_OK)
        status = answer_queries(&t, err);
    free_talk(&t);
    return status;
}
