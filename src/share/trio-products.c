/* Trio's products and linear layers. */
#include <string.h>

#include "share/trio.h"

void dpi_trio_multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                       dpi_share *z)
{
    const dpi_trio_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_trio_loops_of(ring)->product,
                             .x = x,
                             .y = y,
                             .z = z,
                             .tile = DPI_SHARE_TILE,
                             .dealt = 1,
                             .messages = 1,
                             .exchange = true,
                             .run = dpi_trio_tile};
    dpi_trio_run(&g);
}

/* ---- linear layers ---- */

/* What this role adds up. */
typedef struct trio_layer {
    const dpi_linear *l;
    const dpi_share *bias; /* NULL: none */
    dpi_linear_pair pair[2];
    size_t n_pairs;
    size_t rows; /* that have been added up */
    void *room;
} trio_layer;

enum { P0, P1, P2 };

/* A row's sums begin with nothing, l1 or l2 - m of the bias. */
static void begin_row(const dpi_trio_gate *g, const trio_layer *t, void *row)
{
    size_t n = t->l->outputs, bytes = n * dpi_ring_bytes(g->ring);
    if (t->bias == NULL || g->p->role == P0) {
        memset(row, 0, bytes);
    } else if (g->p->role == P1) {
        memcpy(row, t->bias->part[1], bytes);
    } else {
        const dpi_trio_block b = {.n = n, .x = {t->bias->part[1], t->bias->part[0]}, .z = {row}};
        dpi_trio_loops_of(g->ring)->difference(&b);
    }
}

/* Adds up rows until `numbers` of z are there, then goes on with these. */
static void linear_tile(const dpi_trio_gate *g, size_t first, size_t n)
{
    trio_layer *t = g->of;
    const dpi_linear *l = t->l;
    size_t width = l->outputs * dpi_ring_bytes(g->ring);
    size_t last = (first + n - 1) / l->outputs + 1, row = t->rows;
    if (last > row) {
        unsigned char *z = (unsigned char *)g->z->part[0];
        for (size_t r = row; r < last; r++)
            begin_row(g, t, z + r * width);
        dpi_linear_run(g->ring, l, t->n_pairs, t->pair, row, last, z + row * width, t->room);
        t->rows = last;
    }
    dpi_trio_tile(g, first, n);
}

/* The pairs of this role; P2 has l2 - m of x in `difference`. */
static void pair_up(const dpi_trio_gate *g, const dpi_share *x, const dpi_share *w, trio_layer *t,
                    void *difference)
{
    const dpi_trio_block b = {.n = x->n, .x = {x->part[1], x->part[0]}, .z = {difference}};
    if (g->p->role == P0) {
        t->pair[0] = (dpi_linear_pair){x->part[0], w->part[0]};
    } else if (g->p->role == P1) {
        t->pair[0] = (dpi_linear_pair){x->part[0], w->part[1]};
        t->pair[1] = (dpi_linear_pair){x->part[1], w->part[0]};
    } else {
        dpi_trio_loops_of(g->ring)->difference(&b);
        t->pair[0] = (dpi_linear_pair){difference, w->part[0]};
        t->pair[1] = (dpi_linear_pair){x->part[0], w->part[1]};
    }
}

/* The layer's room, and behind it that of a difference.  NULL: out of memory. */
static void *make_room(const dpi_trio_gate *g, const dpi_share *x, trio_layer *t)
{
    enum { LINE = 64 };
    const size_t room = (dpi_linear_room(g->ring, t->l, t->n_pairs) + LINE - 1) / LINE * LINE;
    size_t bytes = 0;
    if (g->p->role == P2 && !dpi_mul(x->n, dpi_ring_bytes(g->ring), &bytes))
        return NULL;
    t->room = bytes <= SIZE_MAX - room ? dpi_party_scratch(g->p, room + bytes) : NULL;
    return t->room != NULL ? (unsigned char *)t->room + room : NULL;
}

/* Whole rows where one is not longer than a tile. */
static size_t tile_of(const dpi_linear *l)
{
    return l->outputs < DPI_SHARE_TILE ? DPI_SHARE_TILE / l->outputs * l->outputs : DPI_SHARE_TILE;
}

void dpi_trio_linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                     const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z)
{
    const dpi_trio_loops *loops = dpi_trio_loops_of(ring);
    trio_layer t = {.l = l, .bias = bias, .n_pairs = p->role == P0 ? 1 : 2};
    const dpi_trio_gate g = {.p = p,
                             .ring = ring,
                             .steps = shift > 0 ? loops->shifted : loops->sum,
                             .z = z,
                             .shift = shift,
                             .tile = tile_of(l),
                             .dealt = 1,
                             .messages = 1,
                             .exchange = true,
                             .run = linear_tile,
                             .of = &t};
    if (dpi_party_works(p)) {
        void *difference = make_room(&g, x, &t);
        if (difference == NULL)
            dpi_mesh_fail(p->mesh, DP_ENOMEM, "out of memory for a linear layer");
        else
            pair_up(&g, x, w, &t, difference);
    }
    if (dpi_mesh_status(p->mesh) == DP_OK)
        dpi_trio_run(&g);
}
