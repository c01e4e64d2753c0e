/* The provider: gives each party its part of a program. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "crypto/limbs.h"
#include "serve/party-lane.h"
#include "serve/talk.h"
#include "share/run.h"

typedef struct giving {
    const dp_share_opts *o;
    uint32_t timeout;
    dpi_party_hello hello;
    unsigned char *sheet;
    size_t sheet_bytes, n; /* n numbers */
    dpi_ring ring;
    int64_t *x; /* [n] */
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED];
    unsigned char *part; /* of a chunk */
    dpi_wire_session *wire[DPI_SHARE_PARTIES];
} giving;

/* ---- what is given ---- */

static dp_status check_rounding(const dp_program *p, dp_error *err)
{
    const dpi_share_opts o = {.probabilistic = true};
    dpi_share_plan *plan;
    double most;
    dp_status status = dpi_share_plan_new(p, &o, &plan, err);
    if (status == DP_OK)
        status = dpi_share_rounding(plan, &most, err);
    dpi_share_plan_free(plan);
    return status;
}

static dp_status read_program(giving *g, dp_error *err)
{
    const dp_program *p = g->o->program;
    int bits;
    dp_status status = dp_program_sheet(p, &g->sheet_bytes, &g->sheet, err);
    if (status == DP_OK && g->sheet_bytes > DPI_SHEET_MOST)
        return dpi_fail(err, DP_EUNSUPPORTED, "the program's sheet has more than 16 MB");
    if (status == DP_OK)
        status = dp_program_hash(p, g->hello.hash, err);
    if (status == DP_OK)
        status = dpi_lane_numbers(p, g->o->probabilistic, &g->ring, &bits, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 1; k < dp_program_stages(p); k++)
        if (dp_program_stage(p, k)->n_weights > 0 && dp_program_stage(p, k)->weights == NULL)
            return dpi_fail(err, DP_ESTATE, "the sheet of a program has no weights to share");
    status = g->o->probabilistic ? check_rounding(p, err) : DP_OK;
    if (status != DP_OK)
        return status;
    g->n = dpi_share_model_size(p);
    g->x = dpi_alloc(g->n > 0 ? g->n : 1, sizeof *g->x);
    g->part = dpi_alloc(DPI_PARTY_CHUNK, dpi_ring_bytes(g->ring));
    if (g->x == NULL || g->part == NULL)
        return dpi_fail_nomem(err);
    dpi_share_model_numbers(p, g->x);
    status = dpi_limbs_random(NULL, sizeof g->seed, g->seed, err);
    if (status == DP_OK)
        status = dpi_limbs_random(NULL, sizeof g->hello.share, g->hello.share, err);
    return status;
}

/* ---- giving it ---- */

static dp_status say_hello(giving *g, size_t i, dp_error *err)
{
    unsigned char size[8], go;
    dp_status status =
        dpi_parties_connect(g->o->parties, i, g->o->identity, g->timeout, &g->wire[i], err);
    if (status != DP_OK)
        return status;
    dpi_put_number(size, g->sheet_bytes);
    status = dpi_party_send_hello(g->wire[i], &g->hello, g->timeout);
    if (status == DP_OK)
        status = dpi_wire_send(g->wire[i], DPI_PARTY_SIZE, 0, size, sizeof size, g->timeout);
    if (status == DP_OK)
        status =
            dpi_wire_send(g->wire[i], DPI_PARTY_SHEET, 0, g->sheet, g->sheet_bytes, g->timeout);
    if (status == DP_OK)
        status = dpi_wire_receive(g->wire[i], DPI_PARTY_GO, 0, &go, sizeof go, g->timeout);
    return status == DP_OK ? DP_OK : dpi_serve_fail(g->wire[i], status, err);
}

static dp_status say_seeds(const giving *g, size_t i, dp_error *err)
{
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED];
    memcpy(seed, g->seed, sizeof seed);
    memset(seed[i], 0, sizeof seed[i]);
    memset(seed[DPI_MODEL_FULL], 0, sizeof seed[DPI_MODEL_FULL]);
    dp_status status = dpi_wire_send(g->wire[i], DPI_PARTY_SEEDS, 1, seed, sizeof seed, g->timeout);
    sodium_memzero(seed, sizeof seed);
    return status == DP_OK ? DP_OK : dpi_serve_fail(g->wire[i], status, err);
}

/* A chunk of the component that seeds do not give, to all but one. */
static dp_status say_chunk(const giving *g, size_t first, size_t n, dp_error *err)
{
    const size_t parties = g->o->parties->n;
    dpi_wire_task task[DPI_SHARE_PARTIES];
    size_t n_tasks = 0;
    dpi_deal_split(g->ring, parties, DPI_MODEL_FULL, (const unsigned char(*)[DPI_DEAL_SEED])g->seed,
                   first, n, g->x + first, g->part);
    for (size_t i = 0; i < parties; i++)
        if (i != DPI_MODEL_FULL)
            task[n_tasks++] = (dpi_wire_task){.session = g->wire[i],
                                              .kind = DPI_PARTY_PART,
                                              .layer = 1,
                                              .from = g->part,
                                              .n = n * dpi_ring_bytes(g->ring)};
    dp_status status = dpi_wire_move(task, n_tasks, g->timeout);
    for (size_t i = 0; status != DP_OK && i < n_tasks; i++)
        if (dpi_wire_error(task[i].session)->status == status)
            return dpi_serve_fail(task[i].session, status, err);
    return status;
}

/* All say that they have it, before any is told to use it. */
static dp_status settle(const giving *g, dp_error *err)
{
    const size_t parties = g->o->parties->n;
    unsigned char byte = 1;
    dp_status status = DP_OK;
    for (uint32_t layer = 1; layer <= 2; layer++)
        for (size_t i = 0; i < parties; i++) {
            if (layer == 2)
                status = dpi_wire_send(g->wire[i], DPI_PARTY_COMMIT, layer, &byte, 1, g->timeout);
            if (status == DP_OK)
                status = dpi_wire_receive(g->wire[i], DPI_PARTY_DONE, layer, &byte, 1, g->timeout);
            if (status != DP_OK)
                return dpi_serve_fail(g->wire[i], status, err);
        }
    return DP_OK;
}

static dp_status give(giving *g, dp_error *err)
{
    const size_t parties = g->o->parties->n;
    dp_status status = read_program(g, err);
    for (size_t i = 0; status == DP_OK && i < parties; i++)
        status = say_hello(g, i, err);
    for (size_t i = 0; status == DP_OK && i < parties; i++)
        status = say_seeds(g, i, err);
    for (size_t i = 0; status == DP_OK && i < g->n; i += DPI_PARTY_CHUNK)
        status = say_chunk(g, i, g->n - i < DPI_PARTY_CHUNK ? g->n - i : DPI_PARTY_CHUNK, err);
    return status == DP_OK ? settle(g, err) : status;
}

dp_status dp_share_program(const dp_share_opts *opts, dp_error *err)
{
    if (opts->program == NULL || opts->identity == NULL || opts->parties == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "to share, a program, an identity and the list of parties are needed");
    if (memcmp(opts->identity->fingerprint, opts->parties->provider.fingerprint, DPI_FINGERPRINT) !=
        0)
        return dpi_fail(err, DP_EINVAL, "the list has another provider than this identity, %s",
                        opts->identity->text);
    giving *g = dpi_alloc(1, sizeof *g);
    if (g == NULL)
        return dpi_fail_nomem(err);
    g->o = opts;
    g->timeout = opts->timeout_ms > 0 ? opts->timeout_ms : DPI_SERVE_TIMEOUT;
    g->hello = dpi_party_hello_of(opts->parties, DPI_PURPOSE_SHARE);
    g->hello.probabilistic = opts->probabilistic;
    dp_status status = give(g, err);
    for (size_t i = 0; i < DPI_SHARE_PARTIES; i++)
        dpi_wire_close(g->wire[i]);
    dp_program_sheet_free(g->sheet);
    if (g->part != NULL)
        sodium_memzero(g->part, DPI_PARTY_CHUNK * dpi_ring_bytes(g->ring));
    sodium_memzero(g->seed, sizeof g->seed);
    dpi_free(g->part);
    dpi_free(g->x);
    dpi_free(g);
    return status;
}
