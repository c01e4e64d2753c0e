/* Trio between numbers and bits. */
#include <string.h>

#include "share/trio.h"

enum { P0, P1, P2, WORD = 64, P0_P1 = 1 << P0 | 1 << P1 };

/* ---- bits of numbers ---- */

typedef struct trio_planes {
    dpi_party *p;
    dpi_ring ring;
    size_t n_planes;
    const int *plane;
} trio_planes;

/* P0: the planes of n numbers u = -lambda, of which P2 is sent what is left without F. */
static void deal_planes(const trio_planes *t, size_t n, const void *lambda, uint64_t *planes)
{
    dpi_trio_room *room = t->p->room;
    dpi_mesh *mesh = t->p->mesh;
    size_t words = t->n_planes * dpi_share_words(n);
    memset(room->came, 0, n * dpi_ring_bytes(t->ring));
    const dpi_trio_block u = {.n = n, .x = {room->came, lambda}, .z = {room->came}};
    dpi_trio_loops_of(t->ring)->difference(&u);
    dpi_planes_of(t->ring, n, room->came, t->n_planes, t->plane, planes);
    uint64_t *message = dpi_mesh_room(mesh, P2, words * sizeof *message);
    dpi_mesh_draw(mesh, P0_P1, message, words * sizeof *message);
    const dpi_trio_block rest = {.n = words, .x = {planes}, .z = {message}};
    dpi_trio_loops_of(DPI_RING_BITS)->gather(&rest);
    dpi_mesh_post(mesh, P2);
}

/* This role's part of the planes of a tile of u. */
static void make_planes(const trio_planes *t, const dpi_share *x, uint64_t *planes)
{
    size_t bytes = t->n_planes * dpi_share_words(x->n) * sizeof *planes;
    if (t->p->role == P0)
        deal_planes(t, x->n, x->part[0], planes);
    else if (t->p->role == P1)
        dpi_mesh_draw(t->p->mesh, P0_P1, planes, bytes);
    else if (t->p->phase == DPI_PREPARE)
        dpi_mesh_keep(t->p->mesh, P0, bytes);
    else
        dpi_trio_hear(t->p, planes, bytes);
}

/* All but the planes of u that masks make. */
static void begin_planes(const trio_planes *t, const dpi_share *x, dpi_share *m, dpi_share *u)
{
    size_t bytes = t->n_planes * dpi_share_words(x->n) * sizeof(uint64_t);
    if (t->p->role == P0) {
        memset(m->part[0], 0, bytes);
        return;
    }
    dpi_planes_of(t->ring, x->n, x->part[0], t->n_planes, t->plane, m->part[0]);
    memset(m->part[1], 0, bytes);
    memset(u->part[0], 0, bytes);
}

void dpi_trio_to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                      const int *plane, dpi_share *m, dpi_share *u)
{
    const trio_planes t = {.p = p, .ring = ring, .n_planes = n_planes, .plane = plane};
    dpi_trio_room *room = p->room;
    uint64_t *to = u->part[p->role == P0 ? 0 : 1];
    size_t words = dpi_share_words(x->n);
    bool works = dpi_party_works(p);
    if (works)
        begin_planes(&t, x, m, u);
    else if (p->role != P2 || p->phase != DPI_PREPARE)
        return;
    dpi_mesh_preparing(p->mesh, p->role == P0);
    for (size_t first = 0; first < x->n; first += DPI_SHARE_TILE) {
        size_t n = x->n - first < DPI_SHARE_TILE ? x->n - first : DPI_SHARE_TILE;
        dpi_share tile = dpi_share_from(ring, x, first, n);
        bool whole = n == x->n;
        make_planes(&t, &tile, whole ? to : room->dealt);
        for (size_t k = 0; works && !whole && k < n_planes; k++)
            memcpy(to + k * words + first / WORD, room->dealt + k * dpi_share_words(n),
                   dpi_share_words(n) * sizeof *to);
    }
    dpi_mesh_preparing(p->mesh, false);
}

void dpi_trio_halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z)
{
    const dpi_trio_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_trio_loops_of(ring)->halves,
                             .x = x,
                             .z = z,
                             .shift = shift,
                             .tile = DPI_SHARE_TILE,
                             .dealt = 1,
                             .messages = 1,
                             .run = dpi_trio_tile};
    dpi_trio_run(&g);
}

/* ---- numbers of bits ---- */

typedef struct trio_bits {
    size_t k;
    const dpi_share *bit;
    const uint64_t *coefficient;
} trio_bits;

/* Adds bit after bit to the tile, then masks what has been added up. */
static void from_bits_tile(const dpi_trio_gate *g, size_t first, size_t n)
{
    const trio_bits *t = g->of;
    const dpi_trio_loops *loops = dpi_trio_loops_of(g->ring);
    dpi_trio_gate one = *g, end = *g;
    size_t each = dpi_ring_bytes(g->ring);
    memset((unsigned char *)g->z->part[0] + first * each, 0, n * each);
    one.steps = loops->bit;
    one.exchange = false;
    for (size_t j = 0; j < t->k; j++) {
        one.bit = &t->bit[j];
        one.coefficient = t->coefficient[j];
        dpi_trio_tile(&one, first, n);
    }
    end.dealt = 0;
    dpi_trio_tile(&end, first, n);
}

void dpi_trio_from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                        const uint64_t coefficient[], dpi_share *z)
{
    trio_bits t = {.k = k, .bit = bit, .coefficient = coefficient};
    const dpi_trio_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_trio_loops_of(ring)->masks,
                             .z = z,
                             .tile = DPI_SHARE_TILE,
                             .dealt = 1,
                             .messages = k,
                             .exchange = true,
                             .run = from_bits_tile,
                             .of = &t};
    dpi_trio_run(&g);
}

void dpi_trio_inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                     dpi_share *z)
{
    const dpi_trio_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_trio_loops_of(ring)->inject,
                             .x = x,
                             .bit = bit,
                             .z = z,
                             .tile = DPI_SHARE_TILE / 2, /* of P0's two numbers for each */
                             .dealt = 2,
                             .messages = 1,
                             .exchange = true,
                             .run = dpi_trio_tile};
    dpi_trio_run(&g);
}
