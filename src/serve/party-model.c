/* Receiving a model, and holding it. */
#include "serve/party-model.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "serve/party-lane.h"
#include "serve/talk.h"
#include "share/run.h"

/* ---- what two parties have in common ---- */

/* With its number in front, and of its kind: a seed is never taken for numbers. */
static void digest_of(size_t component, bool full, const void *bytes, size_t n,
                      unsigned char digest[DPI_PARTY_DIGEST])
{
    const unsigned char front[2] = {(unsigned char)component, full};
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    (void)crypto_hash_sha256_update(&state, front, sizeof front);
    (void)crypto_hash_sha256_update(&state, bytes, n);
    (void)crypto_hash_sha256_final(&state, digest);
}

static void make_digests(dpi_party_model *m)
{
    for (size_t c = 0; c < m->row->parties; c++) {
        if (c == DPI_MODEL_FULL && m->full != NULL)
            digest_of(c, true, m->full, m->n * dpi_ring_bytes(m->ring), m->digest[c]);
        else if (c != DPI_MODEL_FULL && c != m->machine)
            digest_of(c, false, m->seed[c], sizeof m->seed[c], m->digest[c]);
    }
}

/* Without the components that either of the two lacks: the hash of a number that one could guess
 * would tell him whether he guessed right. */
void dpi_party_model_view(const dpi_party_model *m, size_t with,
                          unsigned char view[DPI_PARTY_DIGEST])
{
    const unsigned char probabilistic = m->probabilistic;
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    (void)crypto_hash_sha256_update(&state, &probabilistic, sizeof probabilistic);
    (void)crypto_hash_sha256_update(&state, m->share, sizeof m->share);
    (void)crypto_hash_sha256_update(&state, m->hash, sizeof m->hash);
    for (size_t c = 0; c < m->row->parties; c++)
        if (c != m->machine && c != with)
            (void)crypto_hash_sha256_update(&state, m->digest[c], sizeof m->digest[c]);
    (void)crypto_hash_sha256_final(&state, view);
}

/* ---- receiving ---- */

static dp_status take_sheet(dpi_party_model *m, dpi_wire_session *wire, uint32_t within,
                            dp_error *err)
{
    unsigned char size[8];
    dp_status status = dpi_wire_receive(wire, DPI_PARTY_SIZE, 0, size, sizeof size, within);
    if (status != DP_OK)
        return dpi_serve_fail(wire, status, err);
    uint64_t n = dpi_get_number(size);
    if (n == 0 || n > DPI_SHEET_MOST)
        return dpi_fail(err, DP_EPEER, "the provider's program has a sheet of no such size");
    m->sheet_bytes = (size_t)n;
    m->sheet = dpi_alloc(m->sheet_bytes, 1);
    if (m->sheet == NULL)
        return dpi_fail_nomem(err);
    status = dpi_wire_receive(wire, DPI_PARTY_SHEET, 0, m->sheet, m->sheet_bytes, within);
    if (status != DP_OK)
        return dpi_serve_fail(wire, status, err);
    status = dp_program_of_sheet(m->sheet_bytes, m->sheet, &m->program, err);
    return status == DP_OK ? dp_program_hash(m->program, m->hash, err) : status;
}

/* Whether the party takes the program, and in which numbers it is. */
static dpi_refusal check_program(dpi_party_model *m, const dpi_party_hello *hello, bool labels)
{
    const dp_program *p = m->program;
    if (memcmp(m->hash, hello->hash, sizeof m->hash) != 0)
        return DPI_REFUSED_PROGRAM;
    if (labels && dp_program_stage(p, dp_program_stages(p) - 1)->kind != DP_STAGE_ARGMAX)
        return DPI_REFUSED_LABEL;
    return dpi_lane_numbers(p, m->probabilistic, &m->ring, &m->bits, NULL) == DP_OK
               ? DPI_REFUSED_NOTHING
               : DPI_REFUSED_PROGRAM_KIND;
}

static dp_status take_numbers(dpi_party_model *m, dpi_wire_session *wire, uint32_t within,
                              dp_error *err)
{
    const size_t bytes = dpi_ring_bytes(m->ring);
    dp_status status = dpi_wire_receive(wire, DPI_PARTY_SEEDS, 1, m->seed, sizeof m->seed, within);
    if (status == DP_OK && m->machine != DPI_MODEL_FULL) {
        m->full = dpi_alloc(m->n, bytes);
        if (m->full == NULL)
            return dpi_fail_nomem(err);
        for (size_t i = 0, n; status == DP_OK && i < m->n; i += n) {
            n = m->n - i < DPI_PARTY_CHUNK ? m->n - i : DPI_PARTY_CHUNK;
            status = dpi_wire_receive(wire, DPI_PARTY_PART, 1, (unsigned char *)m->full + i * bytes,
                                      n * bytes, within);
        }
    }
    return status == DP_OK ? DP_OK : dpi_serve_fail(wire, status, err);
}

static dp_status take(dpi_party_model *m, bool labels, dpi_wire_session *wire,
                      const dpi_party_hello *hello, uint32_t within, bool *refused, dp_error *err)
{
    const unsigned char go = 1;
    dp_status status = take_sheet(m, wire, within, err);
    if (status != DP_OK)
        return status;
    const dpi_refusal why = check_program(m, hello, labels);
    *refused = why != DPI_REFUSED_NOTHING;
    if (*refused)
        return dpi_wire_refuse(wire, why, within);
    m->n = dpi_share_model_size(m->program);
    status = dpi_wire_send(wire, DPI_PARTY_GO, 0, &go, sizeof go, within);
    if (status != DP_OK)
        return dpi_serve_fail(wire, status, err);
    status = take_numbers(m, wire, within, err);
    if (status == DP_OK)
        make_digests(m);
    return status;
}

dp_status dpi_party_model_take(const dp_parties *parties, size_t machine, bool labels,
                               dpi_wire_session *wire, const dpi_party_hello *hello,
                               uint32_t within, dpi_party_model **model, dp_error *err)
{
    bool refused = false;
    *model = NULL;
    dpi_party_model *m = dpi_alloc(1, sizeof *m);
    if (m == NULL || pthread_mutex_init(&m->lock, NULL) != 0) {
        dpi_free(m);
        return dpi_fail_nomem(err);
    }
    m->refs = 1;
    m->row = dpi_parties_row(parties);
    m->machine = machine;
    m->probabilistic = hello->probabilistic;
    memcpy(m->share, hello->share, sizeof m->share);
    dp_status status = take(m, labels, wire, hello, within, &refused, err);
    if (status == DP_OK && !refused)
        *model = m;
    else
        dpi_party_model_free(m);
    return status;
}

static void free_lane(const dpi_party_model *m, dpi_share *x)
{
    if (x == NULL)
        return;
    for (size_t i = 0; i < DPI_SHARE_PARTS; i++)
        if (x->part[i] != NULL)
            sodium_memzero(x->part[i], m->n * dpi_ring_bytes(m->ring));
    dpi_share_free(x);
    dpi_free(x);
}

void dpi_party_model_free(dpi_party_model *m)
{
    if (m == NULL)
        return;
    for (size_t k = 0; k < DPI_PARTY_LANES; k++)
        free_lane(m, m->lane[k]);
    if (m->full != NULL)
        sodium_memzero(m->full, m->n * dpi_ring_bytes(m->ring));
    sodium_memzero(m->seed, sizeof m->seed);
    (void)pthread_mutex_destroy(&m->lock);
    dp_program_free(m->program);
    dpi_free(m->full);
    dpi_free(m->sheet);
    dpi_free(m);
}

/* ---- lanes ---- */

/* Numbers first ... first + n - 1 of all components, into room for them, and from there to what the
 * role holds. */
static void adopt_some(const dpi_party_model *m, size_t lane, size_t first, size_t n,
                       unsigned char *room, dpi_share *held)
{
    const size_t bytes = dpi_ring_bytes(m->ring), parties = m->row->parties;
    const void *component[DPI_SHARE_PARTIES] = {NULL};
    dpi_party p = {.row = m->row, .role = dpi_parties_role(parties, lane, m->machine)};
    dpi_share part = dpi_share_from(m->ring, held, first, n);
    for (size_t role = 0; role < parties; role++) {
        const size_t c = dpi_parties_machine(parties, lane, role);
        if (c == m->machine)
            continue;
        if (c == DPI_MODEL_FULL) {
            component[role] = (const unsigned char *)m->full + first * bytes;
            continue;
        }
        unsigned char *drawn = room + c * DPI_SHARE_TILE * bytes;
        dpi_deal_draw(m->ring, m->seed[c], first, n, drawn);
        component[role] = drawn;
    }
    m->row->adopt(&p, m->ring, n, component, &part);
}

static dp_status adopt(const dpi_party_model *m, size_t lane, dpi_share *held, dp_error *err)
{
    const dpi_party p = {.row = m->row,
                         .role = dpi_parties_role(m->row->parties, lane, m->machine)};
    const size_t room_bytes = m->row->parties * DPI_SHARE_TILE * dpi_ring_bytes(m->ring);
    unsigned char *room = dpi_alloc(room_bytes, 1);
    dp_status status = room == NULL ? dpi_fail_nomem(err) : DP_OK;
    if (status == DP_OK)
        status = dpi_share_new(&p, m->ring, m->n, held, err);
    for (size_t i = 0; status == DP_OK && i < m->n; i += DPI_SHARE_TILE)
        adopt_some(m, lane, i, m->n - i < DPI_SHARE_TILE ? m->n - i : DPI_SHARE_TILE, room, held);
    if (room != NULL)
        sodium_memzero(room, room_bytes);
    dpi_free(room);
    return status;
}

dp_status dpi_party_model_lane(dpi_party_model *m, size_t lane, const dpi_share **held,
                               dp_error *err)
{
    dp_status status = DP_OK;
    (void)pthread_mutex_lock(&m->lock);
    if (m->lane[lane] == NULL) {
        dpi_share *made = dpi_alloc(1, sizeof *made);
        status = made == NULL ? dpi_fail_nomem(err) : adopt(m, lane, made, err);
        if (status == DP_OK)
            m->lane[lane] = made;
        else
            dpi_free(made);
    }
    *held = m->lane[lane];
    (void)pthread_mutex_unlock(&m->lock);
    return status;
}
