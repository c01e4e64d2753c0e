/* The client's part of a session. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/ahead.h"
#include "serve/talk.h"

struct dp_ask {
    dpi_wire_session *wire;
    dp_program *program; /* of its sheet */
    dpi_serve_plan plan;
    const dpi_serve_row *row;
    dpi_serve_cost cost;
    void *client;
    dpi_ahead ahead;
    dpi_pool *pool;
    size_t threads;
    uint32_t timeout;
    unsigned char *up, *down; /* of the largest layer */
    int64_t *values, *room;   /* [plan.most] */
    dp_error failed;          /* of a query: the session is at an end */
};

void dp_ask_free(dp_ask *ask)
{
    if (ask == NULL)
        return;
    dpi_ahead_end(&ask->ahead);
    dpi_wire_close(ask->wire);
    if (ask->client != NULL)
        ask->row->client_free(ask->client);
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
    ask->up = dpi_alloc(dpi_serve_largest(ask->plan.n_layers, ask->cost.up), 1);
    ask->down = dpi_alloc(dpi_serve_largest(ask->plan.n_layers, ask->cost.down), 1);
    ask->values = dpi_alloc(ask->plan.most, sizeof *ask->values);
    ask->room = dpi_alloc(ask->plan.most, sizeof *ask->room);
    if (ask->up == NULL || ask->down == NULL || ask->values == NULL || ask->room == NULL)
        return dpi_fail_nomem(err);
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
        status = dpi_serve_plan_make(ask->program, mode, &ask->plan, err);
    if (status == DP_OK)
        status = ask->row->cost(&ask->plan, mode, &row, &ask->cost, err);
    if (status == DP_OK)
        status = dpi_serve_check_cost(&ask->plan, &ask->cost, err);
    if (status == DP_OK)
        status = ask->row->client_new(&ask->plan, mode, &row, &ask->client, err);
    if (status == DP_OK)
        status = make_room(ask, err);
    if (status == DP_OK)
        status = send_key(ask, err);
    if (status == DP_OK)
        dpi_ahead_start(&ask->ahead, ask->row->client_idle, ask->client);
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
        opts->provider == NULL || protocol == DPI_N_PROTOCOLS || mode == DPI_N_MODES)
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
    dpi_wire_traffic t = dpi_wire_counts(ask->wire);
    return (dp_ask_traffic){
        .up = t.bytes_sent, .down = t.bytes_received, .rounds = dpi_serve_rounds(&ask->plan)};
}

/* ---- asking ---- */

/* Moves a layer's numbers; what comes down is not opened yet. */
static dp_status exchange(dp_ask *ask, size_t k, dp_error *err)
{
    uint32_t number = (uint32_t)k + 1;
    dp_status status =
        ask->row->encrypt(ask->client, k, ask->values, ask->up, ask->pool, ask->threads, err);
    if (status != DP_OK)
        return status;
    status = dpi_wire_send(ask->wire, DPI_SAY_UP, number, ask->up, ask->cost.up[k], ask->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(ask->wire, DPI_SAY_DOWN, number, ask->down, ask->cost.down[k],
                                  ask->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(ask->wire, status, err);
}

/* A provider can choose what it sends such that it is an answer or none as the record is.  Were the
 * query given up there, it would see which; so the query goes on to its end with zeros, and only
 * whoever asks is told. */
static dp_status ask_layers(dp_ask *ask, dp_error *err)
{
    const dpi_serve_plan *plan = &ask->plan;
    dp_error unsound = {0};
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dpi_serve_layer *layer = &plan->layer[k];
        dp_error why = {0};
        dp_status status = exchange(ask, k, err);
        if (status != DP_OK)
            return status;
        status = ask->row->decrypt(ask->client, k, ask->down, ask->values, ask->pool, ask->threads,
                                   &why);
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

static dp_status start_query(dp_ask *ask, dp_error *err)
{
    unsigned char byte = 1;
    dp_status status =
        dpi_wire_send(ask->wire, DPI_SAY_QUERY, 0, &byte, DPI_QUERY_BYTES, ask->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(ask->wire, DPI_SAY_GO, 0, &byte, DPI_QUERY_BYTES, ask->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(ask->wire, status, err);
}

static dp_status ask_encoded(dp_ask *ask, dp_error *err)
{
    dp_status status = start_query(ask, err);
    if (status != DP_OK)
        return status;
    dpi_serve_run(ask->program, 1, ask->plan.before, ask->values, ask->room);
    return ask_layers(ask, err);
}

dp_status dp_ask_query(dp_ask *ask, const double *x, int64_t *y, dp_error *err)
{
    const size_t outputs = dp_program_outputs(ask->program);
    memset(y, 0, outputs * sizeof *y);
    if (ask->failed.status != DP_OK)
        return dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    dp_status status = dp_program_encode(ask->program, 1, x, ask->values, err);
    if (status != DP_OK) /* nothing was sent, and the session goes on */
        return status;
    if (ask_encoded(ask, &ask->failed) == DP_OK)
        memcpy(y, ask->values, outputs * sizeof *y);
    else
        (void)dpi_fail(err, ask->failed.status, "%s", ask->failed.text);
    dpi_ahead_wake(&ask->ahead);
    return ask->failed.status;
}
