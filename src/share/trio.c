/* Trio's row: what comes in and goes out, and how a gate goes through its tiles. */
#include "share/trio.h"

#include <string.h>

#include "share/elements.h"

enum { P0, P1, P2, WORD = 64, LAG = 2 /* tiles that are sent before the first one is taken */ };

static const dpi_roles sets[] = {1U << P0 | 1U << P1, 1U << P0 | 1U << P2};

/* ---- from and to the outside ---- */

/* Components are m, -l2 and -l1; of bits signs are nothing. */
static void adopt(dpi_party *p, dpi_ring ring, size_t n, const void *const component[],
                  dpi_share *x)
{
    if (!dpi_party_works(p))
        return;
    if (p->role != P0)
        memcpy(x->part[0], component[0], n * dpi_ring_bytes(ring));
    const void *const masks[DPI_ELEMENTS_SUM] = {p->role == P1 ? NULL : component[1],
                                                 p->role == P2 ? NULL : component[2]};
    dpi_elements_sum(ring, n, masks, true, x->part[p->role == P0 ? 0 : 1]);
}

static bool piece(dpi_party *p, dpi_ring ring, int bits, const dpi_share *x, void *elements,
                  bool *hash_only)
{
    *hash_only = false;
    if (p->role == P2)
        return false;
    uint64_t mask = dpi_low_bits(bits);
    for (size_t i = 0; i < x->n; i++)
        dpi_element_put(ring, elements, i, dpi_element(ring, x->part[0], i) & mask);
    return true;
}

static void join(dpi_ring ring, int bits, size_t n, const void *const piece[], int64_t *x)
{
    dpi_join_masked(ring, bits, n, piece[P1], piece[P0], x);
}

static void add_public(dpi_party *p, dpi_ring ring, const uint64_t *c, uint64_t same, dpi_share *x)
{
    if (p->role == P0 || !dpi_party_works(p))
        return;
    dpi_elements_add(ring, x->n, c, same, x->part[0]);
}

/* ---- tiles ---- */

void dpi_trio_hear(const dpi_party *p, void *to, size_t bytes)
{
    if (p->phase == DPI_ONLINE)
        dpi_mesh_take_kept(p->mesh, P0, to, bytes);
    else
        dpi_mesh_take(p->mesh, P0, to, bytes);
}

static void keep(const dpi_trio_gate *g)
{
    for (size_t first = 0; first < g->z->n; first += g->tile) {
        size_t n = dpi_least(g->tile, g->z->n - first);
        for (size_t k = 0; k < g->messages; k++)
            dpi_mesh_keep(g->p->mesh, P0, g->dealt * n * dpi_ring_bytes(g->ring));
    }
}

/* Parts of a share from an element on. */
static void point(const dpi_share *x, size_t bytes, const void *part[2])
{
    for (size_t k = 0; x != NULL && k < 2; k++)
        part[k] = dpi_past_const(x->part[k], bytes);
}

/* What one block draws, in the order of dpi_trio_step. */
static void draw(const dpi_trio_gate *g, size_t n, dpi_trio_block *b)
{
    const dpi_trio_step *step = &g->steps[g->p->role];
    dpi_trio_room *room = g->p->room;
    size_t bytes = n * dpi_ring_bytes(g->ring), first = 0;
    for (size_t set = 0; set < 2; first += step->draws[set++])
        if (step->draws[set] > 0)
            dpi_mesh_draw(g->p->mesh, sets[set], dpi_past(room->draw, first * bytes),
                          step->draws[set] * bytes);
    for (size_t k = 0; k < first; k++)
        b->draw[k] = dpi_past_const(room->draw, k * bytes);
}

/* n elements, block after block; a message has one array after the other. */
static void run_blocks(const dpi_trio_gate *g, size_t first, size_t n, void *message)
{
    dpi_trio_room *room = g->p->room;
    size_t each = dpi_ring_bytes(g->ring);
    for (size_t at = 0; at < n; at += DPI_TRIO_BLOCK) {
        dpi_trio_block b = {
            .n = dpi_least(DPI_TRIO_BLOCK, n - at),
            .message = {dpi_past(message, at * each), dpi_past(message, (n + at) * each)},
            .shift = g->shift,
            .coefficient = g->coefficient};
        for (size_t k = 0; k < 2; k++) {
            b.z[k] = dpi_past(g->z->part[k], (first + at) * each);
            b.dealt[k] = dpi_past_const(room->dealt, (k * n + at) * each);
        }
        point(g->x, (first + at) * each, b.x);
        point(g->y, (first + at) * each, b.y);
        if (g->bit != NULL) {
            const uint64_t *words = g->bit->part[0];
            dpi_bits_spread(g->ring, b.n, words + (first + at) / WORD, room->bit);
            b.bit = room->bit;
        }
        draw(g, b.n, &b);
        g->steps[g->p->role].loop(&b);
    }
}

void dpi_trio_tile(const dpi_trio_gate *g, size_t first, size_t n)
{
    dpi_party *p = g->p;
    dpi_trio_room *room = p->room;
    size_t bytes = n * dpi_ring_bytes(g->ring), to = p->role == P2 ? P1 : P2;
    bool deals = p->role == P0 && g->dealt > 0, sends = p->role != P0 && g->exchange;
    void *message = NULL;
    if (p->role == P2 && g->dealt > 0)
        dpi_trio_hear(p, room->dealt, g->dealt * bytes);
    if (deals || sends)
        message = dpi_mesh_room(p->mesh, to, deals ? g->dealt * bytes : bytes);
    run_blocks(g, first, n, message);
    if (deals || sends)
        dpi_mesh_post(p->mesh, to);
}

/* P1 and P2: takes what the other one has sent of a tile. */
static void gather(const dpi_trio_gate *g, size_t first)
{
    const dpi_trio_loops *loops = dpi_trio_loops_of(g->ring);
    dpi_trio_room *room = g->p->room;
    size_t n = dpi_least(g->tile, g->z->n - first), each = dpi_ring_bytes(g->ring);
    dpi_trio_block b = {
        .n = n, .x = {room->came}, .z = {dpi_past(g->z->part[0], first * each)}, .shift = g->shift};
    dpi_mesh_take(g->p->mesh, g->p->role == P1 ? P2 : P1, room->came, n * each);
    if (g->steps == loops->shifted)
        loops->gather_shifted(&b);
    else
        loops->gather(&b);
}

void dpi_trio_run(const dpi_trio_gate *g)
{
    dpi_party *p = g->p;
    size_t n = g->z->n, gathered = 0;
    bool gathers = g->exchange && p->role != P0;
    if (p->phase == DPI_PREPARE && p->role == P2)
        keep(g);
    if (!dpi_party_works(p))
        return;
    dpi_mesh_preparing(p->mesh, p->role == P0);
    for (size_t first = 0; first < n; first += g->tile) {
        g->run(g, first, dpi_least(g->tile, n - first));
        if (gathers && first - gathered >= LAG * g->tile) {
            gather(g, gathered);
            gathered += g->tile;
        }
    }
    for (; gathers && gathered < n; gathered += g->tile)
        gather(g, gathered);
    dpi_mesh_preparing(p->mesh, false);
}

const dpi_share_row dpi_trio = {
    .name = "trio",
    .parties = DPI_TRIO_ROLES,
    .dealer = P0,
    .sets = sets,
    .n_sets = sizeof sets / sizeof *sets,
    .parts = {1, 2, 2},
    .room_bytes = sizeof(dpi_trio_room),
    .adopt = adopt,
    .piece = piece,
    .join = join,
    .add_public = add_public,
    .multiply = dpi_trio_multiply,
    .linear = dpi_trio_linear,
    .to_bits = dpi_trio_to_bits,
    .halves = dpi_trio_halves,
    .from_bits = dpi_trio_from_bits,
    .inject = dpi_trio_inject,
};
