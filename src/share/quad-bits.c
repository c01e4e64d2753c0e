/* Quad between numbers and bits. */
#include <string.h>

#include "base/error.h"
#include "share/quad.h"

enum { P0, P1, P2, P3, WORD = 64, TILE = DPI_SHARE_TILE / 4, P0_P1 = 1 << P0 | 1 << P1 };

void dpi_quad_halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z)
{
    const dpi_quad_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_quad_loops_of(ring)->halves,
                             .x = x,
                             .z = z,
                             .shift = shift,
                             .tile = TILE,
                             .dealt = 1,
                             .shown = 1,
                             .run = dpi_quad_blocks};
    dpi_quad_run(&g);
}

void dpi_quad_inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                     dpi_share *z)
{
    const dpi_quad_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_quad_loops_of(ring)->inject,
                             .x = x,
                             .bit = bit,
                             .z = z,
                             .tile = TILE,
                             .dealt = 2,
                             .shown = 2,
                             .rest = true,
                             .half = true,
                             .run = dpi_quad_blocks};
    dpi_quad_run(&g);
}

void dpi_quad_from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                        const uint64_t coefficient[], dpi_share *z)
{
    if (k == 0 || k > DPI_SHARE_TILE / WORD)
        dpi_misuse(__func__, "a sum has one bit at least and 512 at most");
    size_t tile = DPI_SHARE_TILE / k / WORD * WORD;
    const dpi_quad_gate g = {.p = p,
                             .ring = ring,
                             .bit = bit,
                             .bits = k,
                             .coefficient = coefficient,
                             .z = z,
                             .tile = tile < TILE ? tile : TILE,
                             .dealt = k,
                             .shown = k,
                             .rest = true,
                             .half = true,
                             .run = dpi_quad_bits};
    dpi_quad_run(&g);
}

/* ---- bits of numbers ---- */

/* A tile of it: so many words of each plane from `first` on, `count` in all. */
typedef struct quad_planes {
    dpi_party *p;
    dpi_ring ring;
    size_t n_planes;
    const int *plane;
    size_t all, first, words, count; /* words of a plane, and which of them */
    dpi_share *m, *u;
} quad_planes;

/* Puts the tile's planes, or zeros, into the whole ones. */
static void put(const quad_planes *t, const uint64_t *tile, void *part)
{
    uint64_t *to = (uint64_t *)part + t->first;
    for (size_t k = 0; k < t->n_planes; k++, to += t->all)
        if (tile != NULL)
            memcpy(to, tile + k * t->words, t->words * sizeof *to);
        else
            memset(to, 0, t->words * sizeof *to);
}

static void add(const quad_planes *t, const uint64_t *a, const uint64_t *b, uint64_t *sum)
{
    dpi_quad_loops_of(DPI_RING_BITS)
        ->add(&(dpi_quad_block){.n = t->count, .x = {a}, .y = {b}, .z = {sum}});
}

/* Set 0 is {0, 1, 3}, set 2 is {1, 2, 3}. */
static void draw(const quad_planes *t, size_t set, uint64_t *to)
{
    dpi_mesh_draw(t->p->mesh, dpi_quad.sets[set], to, t->count * sizeof *to);
}

/* P0 and P3: u, and what P2 is to have of it. */
static void split_mask(const quad_planes *t, const dpi_share *x, uint64_t *dealt)
{
    dpi_quad_room *room = t->p->room;
    uint64_t *u = room->half;
    dpi_quad_loops_of(t->ring)->negative(
        &(dpi_quad_block){.n = x->n, .x = {x->part[1]}, .z = {room->rest}});
    dpi_planes_of(t->ring, x->n, room->rest, t->n_planes, t->plane, u);
    draw(t, 0, dealt);
    add(t, u, dealt, dealt);
    put(t, t->p->role == P0 ? u : NULL, t->u->part[0]);
    put(t, u, t->u->part[1]);
}

static void planes_0(const quad_planes *t, const dpi_share *x)
{
    dpi_quad_room *room = t->p->room;
    size_t bytes = t->count * sizeof(uint64_t);
    split_mask(t, x, room->dealt);
    dpi_mesh_view(t->p->mesh, 1 << P0 | 1 << P2, room->dealt, bytes);
    dpi_mesh_take(t->p->mesh, P2, room->shown, bytes);
    dpi_mesh_view(t->p->mesh, P0_P1, room->shown, bytes);
    put(t, room->shown, t->m->part[0]);
    put(t, NULL, t->m->part[1]);
}

static void planes_12(const quad_planes *t, const dpi_share *x)
{
    dpi_party *p = t->p;
    dpi_quad_room *room = p->room;
    size_t bytes = t->count * sizeof(uint64_t);
    uint64_t *m = room->half, *h = room->whole[0], *shown = room->shown;
    if (p->role == P2)
        dpi_quad_hear(p, room->dealt, bytes);
    else
        draw(t, 0, room->dealt);
    put(t, NULL, t->u->part[0]);
    put(t, room->dealt, t->u->part[1]);
    put(t, NULL, t->u->part[2]);
    dpi_planes_of(t->ring, x->n, x->part[0], t->n_planes, t->plane, m);
    draw(t, 2, h);
    if (p->role == P2)
        shown = dpi_mesh_room(p->mesh, P0, bytes);
    add(t, m, h, shown);
    if (p->role == P2)
        dpi_mesh_post(p->mesh, P0);
    else
        dpi_mesh_view(p->mesh, P0_P1, shown, bytes);
    put(t, m, t->m->part[0]);
    put(t, NULL, t->m->part[1]);
    put(t, h, t->m->part[2]);
}

static void planes_3(const quad_planes *t, const dpi_share *x)
{
    dpi_quad_room *room = t->p->room;
    split_mask(t, x, dpi_mesh_room(t->p->mesh, P2, t->count * sizeof(uint64_t)));
    dpi_mesh_post(t->p->mesh, P2);
    draw(t, 2, room->whole[0]);
    put(t, room->whole[0], t->m->part[0]);
    put(t, NULL, t->m->part[1]);
}

void dpi_quad_to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                      const int *plane, dpi_share *m, dpi_share *u)
{
    quad_planes t = {p, ring, n_planes, plane, dpi_share_words(x->n), 0, 0, 0, m, u};
    dpi_mesh_preparing(p->mesh, p->role == P3);
    for (size_t first = 0; first < x->n; first += DPI_SHARE_TILE) {
        size_t left = x->n - first;
        dpi_share part =
            dpi_share_from(ring, x, first, left < DPI_SHARE_TILE ? left : DPI_SHARE_TILE);
        t.first = first / WORD;
        t.words = dpi_share_words(part.n);
        t.count = n_planes * t.words;
        if (p->phase == DPI_PREPARE && p->role == P2)
            dpi_mesh_keep(p->mesh, P3, t.count * sizeof(uint64_t));
        if (!dpi_party_works(p))
            continue;
        if (p->role == P0)
            planes_0(&t, &part);
        else if (p->role == P3)
            planes_3(&t, &part);
        else
            planes_12(&t, &part);
    }
    dpi_mesh_preparing(p->mesh, false);
}
