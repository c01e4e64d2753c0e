/* The client's part of a stream.  Stage 0 encrypts records; stage k decrypts what layer k - 1 has
 * given, computes the client's own stages, and encrypts for layer k; the last one only decrypts.
 * A lane whose query is answered takes the next of its own. */
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/ask-parties.h"

typedef struct ask_lane {
    size_t query;
    int64_t *values, *room; /* [most] */
} ask_lane;

typedef struct ask_stream {
    dp_ask *ask;
    const double *x;
    int64_t *y;
    size_t n, answered; /* rows of y, by the last stage's worker */
    dpi_stream_side side;
    /* A layer's answer was none.  As in a single query, what moves does not tell: the stream
     * goes on to its end with zeros, and no more answers are kept. */
    atomic_bool unsound;
    dp_error why[DPI_LINE_STAGES]; /* by the stage that has found it */
    ask_lane lane[DPI_LINE_LANES];
} ask_stream;

/* ---- a worker's part ---- */

static dp_status take_record(ask_stream *s, const ask_lane *l, dp_error *err)
{
    const dp_ask *a = s->ask;
    const double *x = s->x + l->query * dp_program_inputs(a->program);
    dp_status status = dp_program_encode(a->program, 1, x, l->values, err);
    if (status == DP_OK)
        dpi_serve_run(a->program, 1, a->plan.before, l->values, l->room);
    return status;
}

/* What a layer has given, through the client's stages behind it. */
static dp_status take_layer(ask_stream *s, size_t lane, size_t k, dpi_pool *pool, size_t threads,
                            dp_error *err)
{
    const dp_ask *a = s->ask;
    const ask_lane *l = &s->lane[lane];
    const dpi_serve_layer *layer = &a->plan.layer[k];
    dp_error why = {0};
    dp_status status =
        a->row->decrypt(a->client, k, s->side.down[lane], l->values, pool, threads, &why);
    if (status == DP_EPEER) {
        (void)dpi_fail(&s->why[k], status, "%s", why.text);
        atomic_store(&s->unsound, true);
    } else if (status != DP_OK) {
        return dpi_fail(err, status, "%s", why.text);
    }
    if (layer->hidden)
        dpi_serve_run_hidden(&a->plan, layer, l->values);
    else
        dpi_serve_run(a->program, layer->first, layer->last, l->values, l->room);
    return DP_OK;
}

static void keep_answer(ask_stream *s, ask_lane *l, size_t *next)
{
    size_t outputs = dp_program_outputs(s->ask->program);
    if (!atomic_load(&s->unsound)) {
        memcpy(s->y + l->query * outputs, l->values, outputs * sizeof *s->y);
        s->answered++;
    }
    l->query += s->side.shape.in_flight;
    *next = l->query < s->n ? 0 : DPI_LINE_OUT;
}

static dp_status ask_stage(void *user, size_t stage, size_t lane, dpi_pool *pool, size_t threads,
                           size_t *next, dp_error *err)
{
    ask_stream *s = user;
    const dp_ask *a = s->ask;
    dp_status status = stage == 0 ? take_record(s, &s->lane[lane], err)
                                  : take_layer(s, lane, stage - 1, pool, threads, err);
    *next = DPI_LINE_OUT;
    if (status == DP_OK && stage == a->plan.n_layers)
        keep_answer(s, &s->lane[lane], next);
    else if (status == DP_OK)
        status = a->row->encrypt(a->client, stage, s->lane[lane].values, s->side.up[lane], pool,
                                 threads, err);
    return status;
}

/* ---- the caller's part ---- */

static dp_status make_room(ask_stream *s, dp_error *err)
{
    const dp_ask *a = s->ask;
    for (size_t k = 0; k < s->side.shape.in_flight; k++) {
        ask_lane *l = &s->lane[k];
        l->query = k;
        s->side.up[k] = dpi_alloc(dpi_serve_largest(a->plan.n_layers, a->cost.up, a->cost.up), 1);
        s->side.down[k] =
            dpi_alloc(dpi_serve_largest(a->plan.n_layers, a->cost.down, a->cost.down), 1);
        l->values = dpi_alloc(a->plan.most, sizeof *l->values);
        l->room = dpi_alloc(a->plan.most, sizeof *l->room);
        if (s->side.up[k] == NULL || s->side.down[k] == NULL || l->values == NULL ||
            l->room == NULL)
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

static void wipe(const ask_stream *s, int64_t *values)
{
    if (values != NULL)
        sodium_memzero(values, s->ask->plan.most * sizeof *values);
    dpi_free(values);
}

static void free_stream(ask_stream *s)
{
    for (size_t k = 0; k < DPI_LINE_LANES; k++) {
        dpi_free(s->side.up[k]);
        dpi_free(s->side.down[k]);
        wipe(s, s->lane[k].values);
        wipe(s, s->lane[k].room);
    }
    dpi_free(s);
}

static dp_status begin(ask_stream *s, dp_error *err)
{
    size_t threads[DPI_LINE_STAGES];
    dp_ask *a = s->ask;
    const dpi_line_opts line = {.stages = a->plan.n_layers + 1,
                                .lanes = s->side.shape.in_flight,
                                .threads = threads,
                                .work = ask_stage,
                                .user = s};
    dp_status status = make_room(s, err);
    if (status == DP_OK)
        status = dpi_stream_threads(&a->profile, a->threads, a->even, threads, err);
    if (status == DP_OK)
        status = dpi_line_new(&line, &s->side.line, err);
    for (size_t k = 0; status == DP_OK && k < s->side.shape.in_flight; k++)
        dpi_line_put(s->side.line, 0, k);
    return status;
}

static dp_status send_shape(dp_ask *ask, const dpi_stream_shape *shape)
{
    const unsigned char kind = DPI_QUERY_STREAM;
    unsigned char bytes[DPI_STREAM_BYTES];
    dpi_put_number(bytes, shape->queries);
    dpi_put_number(bytes + 8, shape->in_flight);
    dp_status status =
        dpi_wire_send(ask->wire, DPI_SAY_QUERY, 0, &kind, DPI_QUERY_BYTES, ask->timeout);
    return status == DP_OK
               ? dpi_wire_send(ask->wire, DPI_SAY_STREAM, 0, bytes, sizeof bytes, ask->timeout)
               : status;
}

static dp_status ask_stream_of(dp_ask *ask, size_t n, const double *x, int64_t *y, size_t *answered,
                               dp_error *err)
{
    ask_stream *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->ask = ask;
    s->x = x;
    s->y = y;
    s->n = n;
    s->side = (dpi_stream_side){.asks = true,
                                .shape = {.layers = ask->plan.n_layers,
                                          .in_flight = ask->in_flight < n ? ask->in_flight : n,
                                          .queries = n},
                                .wire = ask->wire,
                                .timeout = ask->timeout,
                                .cost = &ask->cost};
    dp_status status = send_shape(ask, &s->side.shape);
    if (status != DP_OK)
        (void)dpi_serve_fail(ask->wire, status, err);
    if (status == DP_OK)
        status = begin(s, err);
    if (status == DP_OK) {
        status = dpi_stream_run(&s->side, err);
        dpi_stream_profile_add(&ask->profile, s->side.line);
    }
    dpi_line_free(s->side.line); /* before what workers use */
    if (status != DP_OK)
        dpi_wire_cut(ask->wire); /* the other side is in the middle of it */
    for (size_t k = 0; status == DP_OK && k < ask->plan.n_layers; k++)
        if (s->why[k].status != DP_OK)
            status = dpi_fail(err, s->why[k].status, "%s", s->why[k].text);
    *answered = s->answered;
    free_stream(s);
    return status;
}

/* With the session for itself: no query is prepared meanwhile. */
static dp_status take_turn(dp_ask *ask, size_t n, const double *x, int64_t *y, size_t *answered,
                           dp_error *err)
{
    if (ask->failed.status != DP_OK)
        return dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    dp_status status = ask_stream_of(ask, n, x, y, answered, &ask->failed);
    ask->asked = ask->asked || status == DP_OK;
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", ask->failed.text);
}

/* All records are looked at before anything is sent. */
static dp_status check_records(dp_ask *ask, size_t n, const double *x, dp_error *err)
{
    size_t inputs = dp_program_inputs(ask->program);
    dp_status status = DP_OK;
    if (n > UINT32_MAX)
        return dpi_fail(err, DP_EINVAL, "a stream has less than 2^32 records; ask for parts");
    for (size_t i = 0; status == DP_OK && i < n; i++)
        status = dp_program_encode(ask->program, 1, x + i * inputs, ask->values, err);
    return status;
}

static dp_status many_of_parties(dp_ask *ask, size_t n, const double *x, int64_t *y,
                                 size_t *answered, dp_error *err)
{
    (void)pthread_mutex_lock(ask->turn);
    dp_status status = dpi_parties_ask_many(ask, n, x, y, answered, err);
    (void)pthread_mutex_unlock(ask->turn);
    return status;
}

dp_status dp_ask_many(dp_ask *ask, size_t n, const double *x, int64_t *y, size_t *answered,
                      dp_error *err)
{
    size_t inputs = dp_program_inputs(ask->program), outputs = dp_program_outputs(ask->program);
    memset(y, 0, n * outputs * sizeof *y);
    *answered = 0;
    if (ask->parties != NULL)
        return many_of_parties(ask, n, x, y, answered, err);
    (void)pthread_mutex_lock(ask->turn);
    dp_status status = check_records(ask, n, x, err);
    const bool streams = n > 1 && ask->in_flight > 1;
    if (status == DP_OK && streams)
        status = take_turn(ask, n, x, y, answered, err);
    (void)pthread_mutex_unlock(ask->turn);
    for (size_t i = 0; status == DP_OK && !streams && i < n; i++) {
        status = dp_ask_query(ask, x + i * inputs, y + i * outputs, err);
        *answered += status == DP_OK;
    }
    dpi_ahead_wake(&ask->worker);
    return status;
}
