/* The provider's part of a stream: a stage for each layer. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/stream.h"
#include "wire/log.h"

typedef struct answer_lane {
    dpi_log_spent spent; /* for its query; zeros: none is open */
    bool early;          /* spent before its first layer has come */
    dpi_refusal refused;
    uint32_t *order, *back, *next; /* [most] */
} answer_lane;

typedef struct answer_stream {
    const dpi_answering *a;
    void *session;
    dpi_log_query query;
    dpi_stream_side side;
    bool refused;
    dp_error unspent; /* why the log took no query, of the first stage */
    answer_lane lane[DPI_LINE_LANES];
} answer_stream;

/* ---- a worker's part ---- */

/* A query of the budget, or why there is none, which is told in place of its go. */
static void spend(answer_stream *s, answer_lane *l)
{
    dp_error why = {0};
    dp_status status = dpi_query_log_reserve(s->a->log, &s->query, &l->spent, &why);
    l->refused = status == DP_OK         ? DPI_REFUSED_NOTHING
                 : status == DP_EREFUSED ? DPI_REFUSED_BUDGET
                                         : DPI_REFUSED_BUSY;
    if (l->refused == DPI_REFUSED_BUSY && s->unspent.status == DP_OK)
        s->unspent = why;
}

static dp_status answer_layer(void *user, size_t k, size_t number, dpi_pool *pool, size_t threads,
                              size_t *next, dp_error *err)
{
    answer_stream *s = user;
    answer_lane *l = &s->lane[number];
    const dpi_answering *a = s->a;
    bool hidden = a->plan->layer[k].hidden;
    *next = DPI_LINE_OUT;
    if (k == 0 && !l->early)
        spend(s, l);
    l->early = false;
    if (l->refused != DPI_REFUSED_NOTHING)
        return DP_OK;
    dp_status status = DP_OK;
    if (hidden)
        status = dpi_serve_order(a->plan, &a->plan->layer[k], l->order, l->next, err);
    const dpi_serve_order_pair order = {.input = k > 0 ? l->back : NULL,
                                        .output = hidden ? l->order : NULL};
    if (status == DP_OK)
        status = a->row->layer(s->session, k, &order, s->side.up[number], s->side.down[number],
                               pool, threads, err);
    if (status == DP_OK) /* the log was written while the layer was computed */
        status = dpi_query_log_settle(a->log, &l->spent, err);
    uint32_t *kept = l->back;
    l->back = l->next;
    l->next = kept;
    return status;
}

/* ---- the session's part ---- */

static dpi_refusal refused(void *user, size_t lane)
{
    answer_stream *s = user;
    s->refused = s->lane[lane].refused != DPI_REFUSED_NOTHING;
    return s->lane[lane].refused;
}

static dp_status ended(void *user, size_t lane, dp_error *err)
{
    answer_stream *s = user;
    uint64_t number = s->lane[lane].spent.number;
    s->lane[lane].spent = (dpi_log_spent){0};
    return dpi_query_log_end(s->a->log, number, DP_OK, err);
}

/* What is not ended was spent, and the log says of what it has died. */
static void end_open(answer_stream *s, dp_status outcome)
{
    for (size_t k = 0; k < DPI_LINE_LANES; k++) {
        dp_error unwritten = {0};
        if (s->lane[k].spent.number != 0)
            (void)!dpi_query_log_end(s->a->log, s->lane[k].spent.number, outcome, &unwritten);
    }
}

static dp_status make_room(answer_stream *s, dp_error *err)
{
    const dpi_serve_cost *cost = &s->a->cost;
    size_t layers = s->a->plan->n_layers, most = s->a->plan->most;
    for (size_t k = 0; k < s->side.shape.in_flight; k++) {
        answer_lane *l = &s->lane[k];
        s->side.up[k] = dpi_alloc(dpi_serve_largest(layers, cost->up, cost->up), 1);
        s->side.down[k] = dpi_alloc(dpi_serve_largest(layers, cost->down, cost->down), 1);
        l->order = dpi_alloc(most, sizeof *l->order);
        l->back = dpi_alloc(most, sizeof *l->back);
        l->next = dpi_alloc(most, sizeof *l->next);
        if (s->side.up[k] == NULL || s->side.down[k] == NULL || l->order == NULL ||
            l->back == NULL || l->next == NULL)
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

/* Orders are what mode permute keeps from the other side. */
static void wipe_order(const answer_stream *s, uint32_t *order)
{
    if (order != NULL)
        sodium_memzero(order, s->a->plan->most * sizeof *order);
    dpi_free(order);
}

static void free_stream(answer_stream *s)
{
    for (size_t k = 0; k < DPI_LINE_LANES; k++) {
        dpi_free(s->side.up[k]);
        dpi_free(s->side.down[k]);
        wipe_order(s, s->lane[k].order);
        wipe_order(s, s->lane[k].back);
        wipe_order(s, s->lane[k].next);
    }
    dpi_free(s);
}

static dp_status begin(answer_stream *s, dp_error *err)
{
    size_t threads[DPI_LINE_STAGES];
    const dpi_line_opts line = {.stages = s->a->plan->n_layers,
                                .lanes = s->side.shape.in_flight,
                                .threads = threads,
                                .work = answer_layer,
                                .user = s};
    dp_status status = make_room(s, err);
    if (status == DP_OK)
        status = dpi_stream_threads(s->a->profile, s->a->threads, s->a->even, threads, err);
    return status == DP_OK ? dpi_line_new(&line, &s->side.line, err) : status;
}

/* The first query is spent before there is room or a thread for any: who begins a stream and lets
 * it lie holds a place, as with a single query, and pays for it. */
static dp_status spend_first(answer_stream *s, dp_error *err)
{
    spend(s, &s->lane[0]);
    s->lane[0].early = true;
    s->refused = s->lane[0].refused != DPI_REFUSED_NOTHING;
    if (!s->refused)
        return DP_OK;
    dp_status status = dpi_wire_refuse(s->side.wire, s->lane[0].refused, s->a->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(s->side.wire, status, err);
}

dp_status dpi_stream_answer(const dpi_answering *a, dpi_wire_session *wire, void *session,
                            const dpi_stream_shape *shape, bool *more, dp_error *err)
{
    answer_stream *s = dpi_alloc(1, sizeof *s);
    *more = false;
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->a = a;
    s->session = session;
    s->query = (dpi_log_query){.protocol = a->row->protocol, .mode = a->mode};
    memcpy(s->query.client, dpi_wire_peer_fingerprint(wire), sizeof s->query.client);
    s->side = (dpi_stream_side){.shape = *shape,
                                .wire = wire,
                                .timeout = a->timeout,
                                .cost = &a->cost,
                                .refused = refused,
                                .ended = ended,
                                .user = s};
    dp_status status = spend_first(s, err);
    if (status == DP_OK && !s->refused)
        status = begin(s, err);
    if (status == DP_OK && !s->refused) {
        status = dpi_stream_run(&s->side, err);
        dpi_stream_profile_add(a->profile, s->side.line);
    }
    dpi_line_free(s->side.line); /* before what workers use */
    end_open(s, status == DP_OK ? DP_EREFUSED : status);
    *more = status == DP_OK && !s->refused;
    if (status == DP_OK && s->unspent.status != DP_OK)
        status = dpi_fail(err, s->unspent.status, "%s", s->unspent.text);
    free_stream(s);
    return status;
}
