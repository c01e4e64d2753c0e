/* Quad's products and linear layers. */
#include <string.h>

#include "share/quad.h"

enum { P0, P1, P2, P3, TILE = DPI_SHARE_TILE / 2 };

void dpi_quad_multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                       dpi_share *z)
{
    const dpi_quad_gate g = {.p = p,
                             .ring = ring,
                             .steps = dpi_quad_loops_of(ring)->sum,
                             .x = x,
                             .y = y,
                             .z = z,
                             .tile = TILE,
                             .dealt = 1,
                             .shown = 1,
                             .rest = true,
                             .half = true,
                             .run = dpi_quad_blocks};
    dpi_quad_run(&g);
}

/* ---- linear layers ---- */

/* What this role adds up: `cross` into z[1] of P1 and P2 and z[0] of P0 and P3, `square` into the
 * other. */
typedef struct quad_layer {
    const dpi_linear *l;
    const dpi_share *bias; /* NULL: none */
    dpi_linear_pair square, cross[2];
    size_t rows; /* that have been added up */
    void *room;
} quad_layer;

static bool is_outer(const dpi_quad_gate *g)
{
    return g->p->role == P0 || g->p->role == P3;
}

/* Sums begin with those of bias times 1, whose shares are X = a = 1 and masks of zero. */
static void begin_rows(const dpi_quad_gate *g, const quad_layer *t, size_t first, size_t last)
{
    size_t bytes = t->l->outputs * dpi_ring_bytes(g->ring);
    for (size_t k = 0; k < 2; k++) {
        unsigned char *row = (unsigned char *)g->z->part[k] + first * bytes;
        const void *from = NULL;
        if (t->bias != NULL && !is_outer(g))
            from = t->bias->part[k];
        else if (t->bias != NULL && g->p->role == P0 && k == 0)
            from = t->bias->part[1];
        for (size_t r = first; r < last; r++, row += bytes)
            if (from != NULL)
                memcpy(row, from, bytes);
            else
                memset(row, 0, bytes);
    }
}

/* Adds up rows until the elements of z are there: all parties at once, since nobody has to wait for
 * another one's sums. */
static void add_up(const dpi_quad_gate *g, size_t last)
{
    quad_layer *t = g->of;
    const dpi_linear *l = t->l;
    size_t width = l->outputs * dpi_ring_bytes(g->ring), row = t->rows;
    size_t end = (last - 1) / l->outputs + 1;
    unsigned char *z[2];
    if (end <= row)
        return;
    begin_rows(g, t, row, end);
    for (size_t k = 0; k < 2; k++)
        z[k] = (unsigned char *)g->z->part[k] + row * width;
    dpi_linear_run(g->ring, l, 1, &t->square, row, end, z[is_outer(g) ? 1 : 0], t->room);
    dpi_linear_run(g->ring, l, 2, t->cross, row, end, z[is_outer(g) ? 0 : 1], t->room);
    t->rows = end;
}

/* Room for one pair and for two: either may take more. */
static size_t room_for(dpi_ring ring, const dpi_linear *l)
{
    size_t one = dpi_linear_room(ring, l, 1), two = dpi_linear_room(ring, l, 2);
    return one > two ? one : two;
}

/* Whole rows where one is not longer than a tile. */
static size_t tile_of(const dpi_linear *l)
{
    return l->outputs < DPI_SHARE_TILE ? DPI_SHARE_TILE / l->outputs * l->outputs : DPI_SHARE_TILE;
}

void dpi_quad_linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                     const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z)
{
    const dpi_quad_loops *loops = dpi_quad_loops_of(ring);
    quad_layer t = {.l = l, .bias = bias};
    const dpi_quad_gate g = {.p = p,
                             .ring = ring,
                             .steps = shift > 0 ? loops->shifted : loops->sum,
                             .z = z,
                             .shift = shift,
                             .tile = tile_of(l),
                             .dealt = 1,
                             .shown = 1,
                             .rest = true,
                             .half = true,
                             .late = shift > 0,
                             .begin = add_up,
                             .of = &t,
                             .run = dpi_quad_blocks};
    if (dpi_party_works(p)) {
        size_t own = is_outer(&g) ? 1 : 0;
        t.square = (dpi_linear_pair){x->part[own], w->part[own]};
        t.cross[0] = (dpi_linear_pair){x->part[0], w->part[1]};
        t.cross[1] = (dpi_linear_pair){x->part[1], w->part[0]};
        t.room = dpi_party_scratch(p, room_for(ring, l));
        if (t.room == NULL)
            dpi_mesh_fail(p->mesh, DP_ENOMEM, "out of memory for a linear layer");
    }
    if (dpi_mesh_status(p->mesh) == DP_OK)
        dpi_quad_run(&g);
}
