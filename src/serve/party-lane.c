/* A lane: the components of a query become what the role holds, the program runs, and what the role
 * may tell goes to the client. */
#include "serve/party-lane.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/run.h"

struct dpi_lane {
    dpi_party_model *model;
    size_t number, machine, parties, records, inputs, outputs;
    dpi_ring ring;
    int bits;              /* of what is told */
    const dpi_share *held; /* of the model */
    dpi_party party;
    bool started;
    uint64_t used; /* numbers of each seed so far */
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED];
    void *drawn[DPI_SHARE_PARTIES]; /* [records][inputs], by machine, of components from seeds */
    void *piece;                    /* [records][outputs] */
    dpi_share x, y;
    dpi_share_plan *plan;
    dpi_share_room *room;
    uint32_t layer; /* of the mesh, the next one */
};

dp_status dpi_lane_numbers(const dp_program *p, bool probabilistic, dpi_ring *ring, int *bits,
                           dp_error *err)
{
    const dpi_share_opts o = {.probabilistic = probabilistic};
    dpi_share_plan *plan;
    dp_status status = dpi_share_plan_new(p, &o, &plan, err);
    if (status != DP_OK)
        return status;
    *ring = dpi_share_plan_ring(plan);
    *bits = dpi_share_answer_bits(plan);
    dpi_share_plan_free(plan);
    return DP_OK;
}

/* Numbers that the lane itself holds of a record: components and what is made of them. */
static size_t numbers_of_record(const dpi_party_model *m, size_t parts)
{
    return (m->row->parties + parts) * dp_program_inputs(m->program) +
           (1 + parts) * dp_program_outputs(m->program);
}

bool dpi_lane_fits(const dpi_party_model *m, size_t records)
{
    const dpi_share_opts o = {.batch = records, .probabilistic = m->probabilistic};
    dpi_share_plan *plan;
    if (records > DPI_LANE_MOST / dpi_ring_bytes(m->ring) / numbers_of_record(m, DPI_SHARE_PARTS) ||
        dpi_share_plan_new(m->program, &o, &plan, NULL) != DP_OK)
        return false;
    const bool fits = dpi_share_room_bytes(plan, DPI_SHARE_PARTS) <= DPI_LANE_MOST;
    dpi_share_plan_free(plan);
    return fits;
}

/* ---- opening ---- */

/* Keys are bound to all that the session is about. */
static dp_status make_mesh(dpi_lane *l, const dpi_lane_opts *o, dp_error *err)
{
    const dpi_share_row *row = l->party.row;
    unsigned char context[DPI_PARTY_TOKEN + DPI_FINGERPRINT + DPI_PARTIES_HASH + DPI_PARTY_SHARE +
                          DP_PROGRAM_HASH + 2];
    unsigned char *at = context;
    memcpy(at, o->token, DPI_PARTY_TOKEN), at += DPI_PARTY_TOKEN;
    memcpy(at, o->client, DPI_FINGERPRINT), at += DPI_FINGERPRINT;
    memcpy(at, o->parties->hash, DPI_PARTIES_HASH), at += DPI_PARTIES_HASH;
    memcpy(at, o->model->share, DPI_PARTY_SHARE), at += DPI_PARTY_SHARE;
    memcpy(at, o->model->hash, DP_PROGRAM_HASH), at += DP_PROGRAM_HASH;
    *at++ = o->model->probabilistic;
    *at = (unsigned char)l->number;
    dpi_mesh_opts m = {.parties = l->parties,
                       .role = l->party.role,
                       .sets = row->sets,
                       .n_sets = row->n_sets,
                       .compares = row->compares,
                       .context = context,
                       .context_bytes = sizeof context,
                       .timeout = o->timeout};
    for (size_t role = 0; role < l->parties; role++)
        m.link[role] = o->link[dpi_parties_machine(l->parties, l->number, role)];
    return dpi_mesh_new(&m, &l->party.mesh, err);
}

static dp_status make_room(dpi_lane *l, dp_error *err)
{
    const size_t numbers = l->records * l->inputs, bytes = dpi_ring_bytes(l->ring);
    for (size_t i = 0; i < l->parties; i++) {
        if (i == l->machine || i == dpi_party_full(l->party.row, l->number))
            continue;
        l->drawn[i] = dpi_alloc(numbers, bytes);
        if (l->drawn[i] == NULL)
            return dpi_fail_nomem(err);
    }
    l->piece = dpi_alloc(l->records * l->outputs, bytes);
    if (l->piece == NULL)
        return dpi_fail_nomem(err);
    const dpi_share_opts o = {.batch = l->records, .probabilistic = l->model->probabilistic};
    dp_status status = dpi_share_plan_new(l->model->program, &o, &l->plan, err);
    if (status == DP_OK)
        status = dpi_share_new(&l->party, l->ring, numbers, &l->x, err);
    if (status == DP_OK)
        status = dpi_share_new(&l->party, l->ring, l->records * l->outputs, &l->y, err);
    if (status == DP_OK)
        status = dpi_party_start(&l->party, err);
    l->started = status == DP_OK;
    if (status == DP_OK)
        status = dpi_share_room_new(&l->party, l->plan, &l->room, err);
    return status;
}

static void describe(dpi_lane *l, const dpi_lane_opts *o)
{
    const dp_program *p = o->model->program;
    l->model = o->model;
    l->number = o->lane;
    l->machine = o->model->machine;
    l->parties = o->parties->n;
    l->records = o->records;
    l->inputs = dp_program_inputs(p);
    l->outputs = dp_program_outputs(p);
    l->ring = o->model->ring;
    l->bits = o->model->bits;
    l->party.row = o->model->row;
    l->party.role = dpi_parties_role(l->parties, l->number, l->machine);
    memcpy(l->seed, o->seed, l->parties * DPI_DEAL_SEED);
}

dp_status dpi_lane_open(const dpi_lane_opts *o, dpi_lane **lane, dp_error *err)
{
    *lane = NULL;
    dpi_lane *l = dpi_alloc(1, sizeof *l);
    if (l == NULL) {
        for (size_t i = 0; i < o->parties->n; i++)
            dpi_wire_close(o->link[i]);
        return dpi_fail_nomem(err);
    }
    describe(l, o);
    dp_status status = make_mesh(l, o, err);
    if (status == DP_OK)
        status = make_room(l, err);
    if (status == DP_OK)
        status = dpi_party_model_lane(o->model, l->number, &l->held, err);
    if (status == DP_OK)
        *lane = l;
    else
        dpi_lane_close(l);
    return status;
}

static void wipe(void *block, size_t bytes)
{
    if (block != NULL)
        sodium_memzero(block, bytes);
    dpi_free(block);
}

void dpi_lane_close(dpi_lane *l)
{
    if (l == NULL)
        return;
    const size_t bytes = dpi_ring_bytes(l->ring);
    dpi_share_room_free(l->room);
    dpi_share_plan_free(l->plan);
    if (l->started)
        dpi_party_end(&l->party);
    dpi_mesh_free(l->party.mesh);
    for (size_t i = 0; i < l->parties; i++)
        wipe(l->drawn[i], l->records * l->inputs * bytes);
    wipe(l->piece, l->records * l->outputs * bytes);
    dpi_share_free(&l->x);
    dpi_share_free(&l->y);
    sodium_memzero(l->seed, sizeof l->seed);
    dpi_free(l);
}

/* ---- a query ---- */

void dpi_lane_draw(dpi_lane *l, size_t n)
{
    const size_t numbers = n * l->inputs;
    for (size_t i = 0; i < l->parties; i++)
        if (l->drawn[i] != NULL)
            dpi_deal_draw(l->ring, l->seed[i], l->used, numbers, l->drawn[i]);
    l->used += numbers;
}

/* The input of n records, as this role holds it. */
static dpi_share take_input(dpi_lane *l, size_t n, const void *full)
{
    const size_t numbers = n * l->inputs;
    const void *component[DPI_SHARE_PARTIES] = {NULL};
    dpi_share x = dpi_share_from(l->ring, &l->x, 0, numbers);
    for (size_t role = 0; role < l->parties; role++) {
        const size_t machine = dpi_parties_machine(l->parties, l->number, role);
        if (machine != l->machine)
            component[role] = role == l->party.row->dealer ? full : l->drawn[machine];
    }
    l->party.row->adopt(&l->party, l->ring, numbers, component, &x);
    return x;
}

/* Layers of the mesh have a number once in a session: there are enough for a million queries of a
 * program of a thousand. */
dp_status dpi_lane_run(dpi_lane *l, size_t n, const void *full, dp_error *err)
{
    dpi_mesh *mesh = l->party.mesh;
    const uint32_t layers = 1 + dpi_share_layers(l->plan);
    if (layers > UINT32_MAX - l->layer)
        return dpi_fail(err, DP_ESTATE, "so many queries are a session's end; begin another one");
    dpi_mesh_layer(mesh, l->layer);
    const dpi_share x = take_input(l, n, full);
    dpi_share y = dpi_share_from(l->ring, &l->y, 0, n * l->outputs);
    dpi_share_run(&l->party, l->plan, l->room, l->held, l->layer + 1, n, &x, &y);
    l->layer += layers;
    dp_status status = dpi_mesh_verify(mesh);
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", dpi_mesh_error(mesh)->text);
}

size_t dpi_lane_tell(dpi_lane *l, size_t n, unsigned char *to)
{
    const size_t bytes = n * l->outputs * dpi_ring_bytes(l->ring);
    const dpi_share y = dpi_share_from(l->ring, &l->y, 0, n * l->outputs);
    bool hash_only = false;
    if (!l->party.row->piece(&l->party, l->ring, l->bits, &y, l->piece, &hash_only))
        return 0;
    if (!hash_only) {
        memcpy(to, l->piece, bytes);
        return bytes;
    }
    (void)crypto_hash_sha256(to, l->piece, bytes);
    return DPI_PARTY_DIGEST;
}
