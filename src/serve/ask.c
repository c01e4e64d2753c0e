/* The client's part of a session. */
#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/ask-parties.h"

/* Does not wait for the other side: a preparation that has begun loses its connection, and none
 * begins while this has the turn. */
static void end_worker(dp_ask *ask)
{
    const bool idle = ask->turn != NULL && pthread_mutex_trylock(ask->turn) == 0;
    if (ask->turn != NULL && !idle)
        dpi_wire_cut(ask->wire);
    dpi_ahead_end(&ask->worker);
    if (idle)
        (void)pthread_mutex_unlock(ask->turn);
    if (ask->turn != NULL)
        (void)pthread_mutex_destroy(ask->turn);
    dpi_free(ask->turn);
}

void dp_ask_free(dp_ask *ask)
{
    if (ask == NULL)
        return;
    end_worker(ask);
    if (ask->parties != NULL)
        dpi_parties_ask_free(ask->parties);
    dpi_wire_close(ask->wire);
    if (ask->client != NULL)
        ask->row->client_free(ask->client);
    dpi_stream_profile_end(&ask->profile);
    dp_program_free(ask->program);
    dpi_pool_free(ask->pool);
    if (ask->values != NULL)
        sodium_memzero(ask->values, ask->plan.most * sizeof *ask->values);
    if (ask->room != NULL)
        sodium_memzero(ask->room, ask->plan.most * sizeof *ask->room);
    dpi_free(ask->up);
    dpi_free(ask->down);
    dpi_free(ask->values);
    dpi_free(ask->room);
    dpi_free(ask);
}

/* ---- opening ---- */

static dp_status send_ask(dp_ask *ask, const dp_ask_opts *opts, dpi_mode mode)
{
    unsigned char bytes[DPI_ASK_BYTES] = {0};
    dpi_put_number(bytes, ask->row->protocol);
    dpi_put_number(bytes + 8, mode);
    if (opts->hash != NULL)
        memcpy(bytes + 16, opts->hash, DP_PROGRAM_HASH);
    return dpi_wire_send(ask->wire, DPI_SAY_ASK, 0, bytes, sizeof bytes, ask->timeout);
}

/* The sheet, whose size comes first and is bounded. */
static dp_status take_sheet(dp_ask *ask, dp_error *err)
{
    unsigned char size[DPI_SIZE_BYTES];
    dp_status status =
        dpi_wire_receive(ask->wire, DPI_SAY_SIZE, 0, size, sizeof size, ask->timeout);
    if (status != DP_OK)
        return dpi_serve_fail(ask->wire, status, err);
    uint64_t n = dpi_get_number(size);
    if (n == 0 || n > DPI_SHEET_MOST)
        return dpi_fail(err, DP_EPEER, "the provider's program has a sheet of no such size");
    unsigned char *sheet = dpi_alloc((size_t)n, 1);
    if (sheet == NULL)
        return dpi_fail_nomem(err);
    status = dpi_wire_receive(ask->wire, DPI_SAY_SHEET, 0, sheet, (size_t)n, ask->timeout);
    if (status != DP_OK)
        (void)dpi_serve_fail(ask->wire, status, err);
    else if (dp_program_of_sheet((size_t)n, sheet, &ask->program, err) != DP_OK)
        status = err == NULL || err->status == DP_EDATA ? DP_EPEER : err->status;
    dpi_free(sheet);
    return status;
}

static dp_status check_hash(const dp_ask *ask, const dp_ask_opts *opts, dp_error *err)
{
    unsigned char hash[DP_PROGRAM_HASH];
    dp_status status = dp_program_hash(ask->program, hash, err);
    if (status == DP_OK && opts->hash != NULL && memcmp(hash, opts->hash, sizeof hash) != 0)
        return dpi_fail(err, DP_EPEER, "the provider has sent the sheet of another program");
    return status;
}

static dp_status make_room(dp_ask *ask, dp_error *err)
{
    const dpi_serve_cost *c = &ask->cost;
    ask->up = dpi_alloc(dpi_serve_largest(ask->plan.n_layers, c->up, c->masked_up), 1);
    ask->down = dpi_alloc(dpi_serve_largest(ask->plan.n_layers, c->down, c->masked_down), 1);
    ask->values = dpi_alloc(ask->plan.most, sizeof *ask->values);
    ask->room = dpi_alloc(ask->plan.most, sizeof *ask->room);
    dpi_stream_profile_start(&ask->profile, ask->plan.n_layers + 1);
    if (ask->up == NULL || ask->down == NULL || ask->values == NULL || ask->room == NULL)
        return dpi_fail_nomem(err);
    pthread_mutex_t *turn = dpi_alloc(1, sizeof *turn);
    if (turn == NULL || pthread_mutex_init(turn, NULL) != 0) {
        dpi_free(turn);
        return dpi_fail_nomem(err);
    }
    ask->turn = turn;
    return ask->threads > 1 ? dpi_pool_new(ask->threads, &ask->pool, err) : DP_OK;
}

static dp_status send_key(dp_ask *ask, dp_error *err)
{
    size_t n = ask->cost.key;
    unsigned char *key = dpi_alloc(n, 1);
    if (key == NULL)
        return dpi_fail_nomem(err);
    ask->row->write_key(ask->client, key);
    dp_status status = dpi_wire_send(ask->wire, DPI_SAY_KEY, 0, key, n, ask->timeout);
    dpi_free(key);
    return status == DP_OK ? DP_OK : dpi_serve_fail(ask->wire, status, err);
}

/* ---- a query, or the preparation of one ---- */

static dp_status encrypt(dp_ask *ask, dpi_query_kind kind, size_t k, dp_error *err)
{
    const dpi_serve_row *row = ask->row;
    return (kind == DPI_QUERY_PLAIN    ? row->encrypt
            : kind == DPI_QUERY_MASKED ? row->masked->send
                                       : row->masked->mask)(ask->client, k, ask->values, ask->up,
                                                            ask->pool, ask->threads, err);
}

static dp_status decrypt(dp_ask *ask, dpi_query_kind kind, size_t k, dp_error *err)
{
    const dpi_serve_row *row = ask->row;
    return (kind == DPI_QUERY_PLAIN    ? row->decrypt
            : kind == DPI_QUERY_MASKED ? row->masked->take
                                       : row->masked->keep)(ask->client, k, ask->down, ask->values,
                                                            ask->pool, ask->threads, err);
}

/* Moves a layer's numbers; what comes down is not opened yet. */
static dp_status exchange(dp_ask *ask, dpi_query_kind kind, size_t k, dp_error *err)
{
    const bool masked = kind == DPI_QUERY_MASKED;
    const size_t up = masked ? ask->cost.masked_up[k] : ask->cost.up[k];
    const size_t down = masked ? ask->cost.masked_down[k] : ask->cost.down[k];
    uint32_t number = (uint32_t)k + 1;
    dp_status status = encrypt(ask, kind, k, err);
    if (status != DP_OK)
        return status;
    status = dpi_wire_send(ask->wire, DPI_SAY_UP, number, ask->up, up, ask->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(ask->wire, DPI_SAY_DOWN, number, ask->down, down, ask->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(ask->wire, status, err);
}

static dp_status start_query(dp_ask *ask, dpi_query_kind kind, dp_error *err)
{
    unsigned char byte = (unsigned char)kind;
    dp_status status =
        dpi_wire_send(ask->wire, DPI_SAY_QUERY, 0, &byte, DPI_QUERY_BYTES, ask->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(ask->wire, DPI_SAY_GO, 0, &byte, DPI_QUERY_BYTES, ask->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(ask->wire, status, err);
}

/* ---- preparing ---- */

static dp_status prepare(dp_ask *ask, dp_error *err)
{
    dp_status status = start_query(ask, DPI_QUERY_PREPARE, err);
    for (size_t k = 0; status == DP_OK && k < ask->plan.n_layers; k++) {
        status = exchange(ask, DPI_QUERY_PREPARE, k, err);
        if (status == DP_OK)
            status = decrypt(ask, DPI_QUERY_PREPARE, k, err);
    }
    return status;
}

/* Prepares the next query, unless one is being asked: then this is called again after it. */
static void prepare_later(void *of)
{
    dp_ask *ask = of;
    if (pthread_mutex_trylock(ask->turn) != 0)
        return;
    if (ask->asked && !ask->prepared && ask->failed.status == DP_OK) {
        const dpi_wire_traffic before = dpi_wire_counts(ask->wire);
        ask->prepared = prepare(ask, &ask->failed) == DP_OK;
        const dpi_wire_traffic after = dpi_wire_counts(ask->wire);
        ask->asked = false;
        ask->ahead.ahead_up += after.bytes_sent - before.bytes_sent;
        ask->ahead.ahead_down += after.bytes_received - before.bytes_received;
        ask->ahead.ahead += ask->prepared;
    }
    (void)pthread_mutex_unlock(ask->turn);
}

static bool work_ahead(void *of)
{
    dp_ask *ask = of;
    return ask->row->client_idle(ask->client);
}

static void start_worker(dp_ask *ask, uint32_t pause)
{
    enum { PAUSE = 20 };
    const bool prepares = ask->row->masked != NULL && pause != UINT32_MAX;
    dpi_ahead_start_later(&ask->worker, work_ahead, prepares ? prepare_later : NULL,
                          pause > 0 ? pause : PAUSE, ask);
}

/* ---- a session ---- */

static dp_status open_ask(dp_ask *ask, const dp_ask_opts *opts, dpi_mode mode, dp_error *err)
{
    const dpi_serve_opts row = {.key_bits = opts->key_bits,
                                .portable = (opts->flags & DPI_PORTABLE) != 0};
    dp_status status = send_ask(ask, opts, mode);
    if (status != DP_OK)
        return dpi_serve_fail(ask->wire, status, err);
    status = take_sheet(ask, err);
    if (status == DP_OK)
        status = check_hash(ask, opts, err);
    if (status == DP_OK)
        status = dpi_serve_plan_of(ask->row, ask->program, mode, &ask->plan, err);
    if (status == DP_OK)
        status = ask->row->cost(&ask->plan, mode, &row, &ask->cost, err);
    if (status == DP_OK)
        status = dpi_serve_check_cost(&ask->plan, &ask->cost, ask->in_flight, err);
    if (status == DP_OK)
        status = ask->row->client_new(&ask->plan, mode, &row, &ask->client, err);
    if (status == DP_OK)
        status = make_room(ask, err);
    if (status == DP_OK)
        status = send_key(ask, err);
    if (status == DP_OK)
        start_worker(ask, opts->prepare_ms);
    return status;
}

dp_status dpi_serve_ask(const dp_ask_opts *opts, dpi_wire_session *wire, dp_ask **made,
                        dp_error *err)
{
    dpi_protocol protocol = dpi_serve_protocol_of(opts->protocol);
    dpi_mode mode = dpi_serve_mode_of(opts->mode);
    dp_ask *ask = dpi_alloc(1, sizeof *ask);
    *made = NULL;
    if (ask == NULL) {
        dpi_wire_close(wire);
        return dpi_fail_nomem(err);
    }
    ask->wire = wire;
    ask->threads = opts->threads > 0 ? opts->threads : 1;
    ask->in_flight = opts->in_flight > 0 ? opts->in_flight : 1;
    ask->even = (opts->flags & DPI_EVEN_THREADS) != 0;
    ask->timeout = opts->timeout_ms > 0 ? opts->timeout_ms : DPI_SERVE_TIMEOUT;
    ask->row = dpi_serve_rows[protocol];
    dp_status status = open_ask(ask, opts, mode, err);
    if (status == DP_OK)
        *made = ask;
    else
        dp_ask_free(ask);
    return status;
}

dp_status dp_ask_new(const dp_ask_opts *opts, dp_ask **ask, dp_error *err)
{
    dpi_protocol protocol = dpi_serve_protocol_of(opts->protocol);
    dpi_mode mode = dpi_serve_mode_of(opts->mode);
    dpi_wire_session *wire;
    dpi_peers peers = {0};
    char line[DPI_FINGERPRINT_TEXT + 16];
    *ask = NULL;
    if (opts->identity == NULL || opts->host == NULL || opts->port == NULL ||
        opts->in_flight > DPI_LINE_LANES || opts->provider == NULL || protocol == DPI_N_PROTOCOLS ||
        mode == DPI_N_MODES)
        return dpi_fail(err, DP_EINVAL,
                        "to ask, an identity, host, port, the provider's fingerprint, a protocol "
                        "and a mode are needed");
    dp_status status = dpi_serve_consent(mode, opts->flags, err);
    if (status == DP_OK)
        status = dpi_serve_check_key(opts->key_bits, opts->flags, err);
    if (status != DP_OK)
        return status;
    int n = snprintf(line, sizeof line, "%s provider\n", opts->provider);
    if (n < 0 || (size_t)n >= sizeof line)
        return dpi_fail(err, DP_EINVAL, "the provider's fingerprint is no fingerprint");
    status = dpi_peers_parse(line, (size_t)n, "the provider", &peers, err);
    if (status != DP_OK)
        return status;
    const dpi_wire_opts w = {.identity = opts->identity, .peers = &peers};
    uint32_t within = opts->timeout_ms > 0 ? opts->timeout_ms : DPI_SERVE_TIMEOUT;
    status = dpi_wire_connect(opts->host, opts->port, &w, within, &wire, err);
    dpi_peers_free(&peers);
    return status == DP_OK ? dpi_serve_ask(opts, wire, ask, err) : status;
}

const dp_program *dp_ask_program(const dp_ask *ask)
{
    return ask->program;
}

dp_ask_traffic dp_ask_counts(const dp_ask *ask)
{
    (void)pthread_mutex_lock(ask->turn);
    if (ask->parties != NULL) {
        const dp_ask_traffic of_all = dpi_parties_ask_counts(ask);
        (void)pthread_mutex_unlock(ask->turn);
        return of_all;
    }
    dpi_wire_traffic t = dpi_wire_counts(ask->wire);
    dp_ask_traffic counts = ask->ahead;
    (void)pthread_mutex_unlock(ask->turn);
    counts.up = t.bytes_sent - counts.ahead_up;
    counts.down = t.bytes_received - counts.ahead_down;
    counts.rounds = dpi_serve_rounds(&ask->plan);
    return counts;
}

/* ---- asking ---- */

/* A provider can choose what it sends such that it is an answer or none as the record is.  Were the
 * query given up there, it would see which; so the query goes on to its end with zeros, and only
 * whoever asks is told. */
static dp_status ask_layers(dp_ask *ask, dpi_query_kind kind, dp_error *err)
{
    const dpi_serve_plan *plan = &ask->plan;
    dp_error unsound = {0};
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dpi_serve_layer *layer = &plan->layer[k];
        dp_error why = {0};
        dp_status status = exchange(ask, kind, k, err);
        if (status != DP_OK)
            return status;
        status = decrypt(ask, kind, k, &why);
        if (status == DP_EPEER && unsound.status == DP_OK)
            unsound = why;
        else if (status != DP_OK && status != DP_EPEER)
            return dpi_fail(err, status, "%s", why.text);
        if (layer->hidden)
            dpi_serve_run_hidden(plan, layer, ask->values);
        else
            dpi_serve_run(ask->program, layer->first, layer->last, ask->values, ask->room);
    }
    return unsound.status == DP_OK ? DP_OK : dpi_fail(err, unsound.status, "%s", unsound.text);
}

static dp_status ask_encoded(dp_ask *ask, dp_error *err)
{
    const dpi_query_kind kind = ask->prepared ? DPI_QUERY_MASKED : DPI_QUERY_PLAIN;
    ask->prepared = false;
    dp_status status = start_query(ask, kind, err);
    if (status != DP_OK)
        return status;
    dpi_serve_run(ask->program, 1, ask->plan.before, ask->values, ask->room);
    status = ask_layers(ask, kind, err);
    ask->asked = ask->asked || status == DP_OK;
    return status;
}

static dp_status take_turn(dp_ask *ask, const double *x, int64_t *y, dp_error *err)
{
    if (ask->failed.status != DP_OK)
        return dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    dp_status status = dp_program_encode(ask->program, 1, x, ask->values, err);
    if (status != DP_OK) /* nothing was sent, and the session goes on */
        return status;
    if (ask_encoded(ask, &ask->failed) == DP_OK)
        memcpy(y, ask->values, dp_program_outputs(ask->program) * sizeof *y);
    else
        (void)dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    return ask->failed.status;
}

dp_status dp_ask_query(dp_ask *ask, const double *x, int64_t *y, dp_error *err)
{
    size_t answered;
    if (ask->parties != NULL)
        return dp_ask_many(ask, 1, x, y, &answered, err);
    memset(y, 0, dp_program_outputs(ask->program) * sizeof *y);
    (void)pthread_mutex_lock(ask->turn);
    dp_status status = take_turn(ask, x, y, err);
    (void)pthread_mutex_unlock(ask->turn);
    dpi_ahead_wake(&ask->worker);
    return status;
}
