/* How a gate of Quad goes through its tiles: messages, comparisons and draws. */
#include "share/quad.h"

#include <string.h>

#include "share/elements.h"

enum {
    P0,
    P1,
    P2,
    P3,
    WORD = 64,
    P0_P1 = 1 << P0 | 1 << P1,
    P0_P2 = 1 << P0 | 1 << P2,
    P0_P1_P2 = 1 << P0 | 1 << P1 | 1 << P2
};

/* Parts of a share from an element on. */
static void point(const dpi_share *x, size_t bytes, const void *part[DPI_SHARE_PARTS])
{
    for (size_t k = 0; x != NULL && k < DPI_SHARE_PARTS; k++)
        part[k] = dpi_past_const(x->part[k], bytes);
}

/* ---- messages ---- */

void dpi_quad_hear(const dpi_party *p, void *to, size_t bytes)
{
    if (p->phase == DPI_ONLINE)
        dpi_mesh_take_kept(p->mesh, P3, to, bytes);
    else
        dpi_mesh_take(p->mesh, P3, to, bytes);
    if (p->role == P2)
        dpi_mesh_view(p->mesh, P0_P2, to, bytes);
}

/* P0 hears what it can, and has room for what it compares; P3 has room for what it sends. */
static void open_outer(const dpi_quad_gate *g, size_t bytes, dpi_quad_block *tile)
{
    const dpi_party *p = g->p;
    dpi_quad_room *room = p->room;
    if (p->role == P3) {
        tile->dealt[0] = g->dealt > 0 ? dpi_mesh_room(p->mesh, P2, g->dealt * bytes) : NULL;
        tile->rest = g->rest ? dpi_mesh_room(p->mesh, P0, bytes) : NULL;
        return;
    }
    tile->dealt[0] = room->dealt;
    tile->rest = room->rest;
    tile->shown[0] = room->shown;
    tile->whole = room->whole;
    if (g->rest)
        dpi_quad_hear(p, room->rest, bytes);
    dpi_mesh_take(p->mesh, P2, room->shown, g->shown * bytes);
    dpi_mesh_view(p->mesh, P0_P1, room->shown, g->shown * bytes);
}

/* What P1 and P2 compare of a tile is kept until the halves have come. */
static uint64_t *whole_of(const dpi_quad_gate *g, size_t first)
{
    dpi_quad_room *room = g->p->room;
    return room->whole[first / g->tile % (DPI_QUAD_LAG + 1)];
}

/* P2 hears of P3 and has room for what it sends to P1 and P0; P1 for what it sends and compares. */
static void open_inner(const dpi_quad_gate *g, size_t first, size_t bytes, dpi_quad_block *tile)
{
    const dpi_party *p = g->p;
    dpi_quad_room *room = p->room;
    if (p->role == P2 && g->dealt > 0)
        dpi_quad_hear(p, room->dealt, g->dealt * bytes);
    tile->dealt[0] = room->dealt;
    tile->whole = whole_of(g, first);
    tile->half = g->half ? dpi_mesh_room(p->mesh, p->role == P1 ? P2 : P1, bytes) : NULL;
    tile->shown[0] = room->shown;
    if (p->role == P2 && !g->late)
        tile->shown[0] = dpi_mesh_room(p->mesh, P0, g->shown * bytes);
}

static void close_tile(const dpi_quad_gate *g, size_t bytes, const dpi_quad_block *tile)
{
    const dpi_party *p = g->p;
    if (p->role == P3) {
        if (g->dealt > 0)
            dpi_mesh_post(p->mesh, P2);
        if (g->rest)
            dpi_mesh_post(p->mesh, P0);
    } else if (p->role == P0) {
        if (g->dealt > 0)
            dpi_mesh_view(p->mesh, P0_P2, tile->dealt[0], g->dealt * bytes);
        if (g->half)
            dpi_mesh_view(p->mesh, P0_P1_P2, tile->whole, bytes);
    } else {
        if (g->half)
            dpi_mesh_post(p->mesh, p->role == P1 ? P2 : P1);
        if (!g->late && p->role == P2)
            dpi_mesh_post(p->mesh, P0);
        if (!g->late && p->role == P1)
            dpi_mesh_view(p->mesh, P0_P1, tile->shown[0], g->shown * bytes);
    }
}

static void run_tile(const dpi_quad_gate *g, size_t first)
{
    dpi_quad_block tile = {.n = dpi_least(g->tile, g->z->n - first), .shift = g->shift};
    size_t bytes = tile.n * dpi_ring_bytes(g->ring);
    if (g->begin != NULL)
        g->begin(g, first + tile.n);
    if (g->p->role == P0 || g->p->role == P3)
        open_outer(g, bytes, &tile);
    else
        open_inner(g, first, bytes, &tile);
    tile.dealt[1] = dpi_past(tile.dealt[0], bytes);
    tile.shown[1] = dpi_past(tile.shown[0], bytes);
    g->run(g, first, &tile);
    close_tile(g, bytes, &tile);
}

/* P1 and P2: takes the other's half of a tile. */
static void gather(const dpi_quad_gate *g, size_t first)
{
    const dpi_party *p = g->p;
    dpi_quad_room *room = p->room;
    size_t n = dpi_least(g->tile, g->z->n - first), bytes = n * dpi_ring_bytes(g->ring);
    const dpi_quad_loops *loops = dpi_quad_loops_of(g->ring);
    dpi_quad_block b = {.n = n, .half = room->half, .shown = {room->shown}, .shift = g->shift};
    for (size_t k = 0; k < DPI_SHARE_PARTS; k++)
        b.z[k] = dpi_past(g->z->part[k], first * dpi_ring_bytes(g->ring));
    b.whole = whole_of(g, first);
    dpi_mesh_take(p->mesh, p->role == P1 ? P2 : P1, room->half, bytes);
    if (!g->late) {
        loops->gather(&b);
    } else {
        if (p->role == P2)
            b.shown[0] = dpi_mesh_room(p->mesh, P0, bytes);
        loops->gather_shifted(&b);
        if (p->role == P2)
            dpi_mesh_post(p->mesh, P0);
        else
            dpi_mesh_view(p->mesh, P0_P1, b.shown[0], bytes);
    }
    dpi_mesh_view(p->mesh, P0_P1_P2, b.whole, bytes);
}

/* ---- tiles ---- */

/* P2 and P0, in the preparation. */
static void keep(const dpi_quad_gate *g)
{
    size_t of = g->p->role == P2 ? g->dealt : g->p->role == P0 && g->rest ? 1 : 0;
    for (size_t first = 0; of > 0 && first < g->z->n; first += g->tile)
        dpi_mesh_keep(g->p->mesh, P3,
                      of * dpi_least(g->tile, g->z->n - first) * dpi_ring_bytes(g->ring));
}

void dpi_quad_run(const dpi_quad_gate *g)
{
    dpi_party *p = g->p;
    size_t n = g->z->n, gathered = 0;
    bool gathers = g->half && (p->role == P1 || p->role == P2);
    if (p->phase == DPI_PREPARE && p->role != P3)
        keep(g);
    if (!dpi_party_works(p))
        return;
    dpi_mesh_preparing(p->mesh, p->role == P3);
    for (size_t first = 0; first < n; first += g->tile) {
        run_tile(g, first);
        if (gathers && first - gathered >= DPI_QUAD_LAG * g->tile) {
            gather(g, gathered);
            gathered += g->tile;
        }
    }
    for (; gathers && gathered < n; gathered += g->tile)
        gather(g, gathered);
    dpi_mesh_preparing(p->mesh, false);
}

/* ---- blocks ---- */

/* The block of a tile's messages and of z's elements from first + at on. */
static dpi_quad_block block_of(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile,
                               size_t at)
{
    size_t each = dpi_ring_bytes(g->ring), bytes = at * each;
    dpi_quad_block b = {.n = dpi_least(DPI_QUAD_BLOCK, tile->n - at),
                        .rest = dpi_past(tile->rest, bytes),
                        .half = dpi_past(tile->half, bytes),
                        .whole = dpi_past(tile->whole, bytes),
                        .shift = tile->shift};
    for (size_t k = 0; k < 2; k++) {
        b.dealt[k] = dpi_past(tile->dealt[k], bytes);
        b.shown[k] = dpi_past(tile->shown[k], bytes);
    }
    for (size_t k = 0; k < DPI_SHARE_PARTS; k++)
        b.z[k] = dpi_past(g->z->part[k], (first + at) * each);
    return b;
}

/* Bits first ... of what this role knows of a bit, as numbers: X, or lambda. */
static void spread(const dpi_quad_gate *g, const dpi_share *bit, size_t first, dpi_quad_block *b)
{
    dpi_quad_room *room = g->p->room;
    bool outer = g->p->role == P0 || g->p->role == P3;
    const uint64_t *words = bit->part[outer ? 1 : 0];
    dpi_bits_spread(g->ring, b->n, words + first / WORD, room->bit);
    b->bit = room->bit;
}

static void run_step(const dpi_quad_gate *g, const dpi_quad_step *step, dpi_quad_block *b)
{
    dpi_quad_room *room = g->p->room;
    size_t bytes = b->n * dpi_ring_bytes(g->ring), first = 0;
    for (size_t set = 0; set < DPI_QUAD_SETS; first += step->draws[set++])
        if (step->draws[set] > 0)
            dpi_mesh_draw(g->p->mesh, dpi_quad.sets[set], dpi_past(room->draw, first * bytes),
                          step->draws[set] * bytes);
    for (size_t k = 0; k < first; k++)
        b->draw[k] = dpi_past_const(room->draw, k * bytes);
    step->loop(b);
}

void dpi_quad_blocks(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile)
{
    size_t role = g->p->role, each = dpi_ring_bytes(g->ring);
    for (size_t at = 0; at < tile->n; at += DPI_QUAD_BLOCK) {
        dpi_quad_block b = block_of(g, first, tile, at);
        point(g->x, (first + at) * each, b.x);
        point(g->y, (first + at) * each, b.y);
        if (g->bit != NULL)
            spread(g, g->bit, first + at, &b);
        if (g->y != NULL)
            run_step(g, &dpi_quad_loops_of(g->ring)->terms[role], &b);
        run_step(g, &g->steps[role], &b);
    }
}

/* Bit k of a block, whose messages lie one after the other. */
static void run_bit(const dpi_quad_gate *g, size_t k, size_t first, size_t apart, dpi_quad_block b)
{
    spread(g, &g->bit[k], first, &b);
    b.dealt[0] = dpi_past(b.dealt[0], k * apart);
    b.shown[0] = dpi_past(b.shown[0], k * apart);
    b.coefficient = g->coefficient[k];
    run_step(g, &dpi_quad_loops_of(g->ring)->bit[g->p->role], &b);
}

void dpi_quad_bits(const dpi_quad_gate *g, size_t first, const dpi_quad_block *tile)
{
    size_t each = dpi_ring_bytes(g->ring);
    for (size_t at = 0; at < tile->n; at += DPI_QUAD_BLOCK) {
        dpi_quad_block b = block_of(g, first, tile, at);
        memset(b.z[0], 0, b.n * each);
        memset(b.z[1], 0, b.n * each);
        for (size_t k = 0; k < g->bits; k++)
            run_bit(g, k, first + at, tile->n * each, b);
        run_step(g, &dpi_quad_loops_of(g->ring)->masks[g->p->role], &b);
    }
}
