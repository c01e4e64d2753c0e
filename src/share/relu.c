#include "share/relu.h"

void dpi_relu_make(dpi_ring ring, int bits, int shift, dpi_relu *r)
{
    r->shift = shift;
    dpi_carries_make(ring, bits + 1 + (shift > 0), shift, shift > 0, &r->tree);
}

int dpi_relu_rounds(const dpi_relu *r)
{
    return dpi_carries_rounds(&r->tree) + 1 + (r->shift > 0);
}

/* floor(x / 2^shift) of x >= 0, whose planes have been compared, in the first of room's numbers. */
static dpi_share shift_down(dpi_party *p, dpi_ring ring, const dpi_relu *r, dpi_blocks *room,
                            const dpi_share *x)
{
    size_t words = dpi_share_words(x->n);
    const uint64_t coefficient[] = {1, 0 - (UINT64_C(1) << (dpi_ring_bits(ring) - r->shift))};
    const dpi_share bit[] = {dpi_carries_in(&r->tree, &room->planes, words),
                             dpi_carries_out(&r->tree, &room->planes, words)};
    dpi_share sum = dpi_share_from(ring, &room->number[0], 0, x->n);
    dpi_share carries = dpi_share_from(ring, &room->number[1], 0, x->n);
    p->row->halves(p, ring, x, r->shift, &sum);
    p->row->from_bits(p, ring, 2, bit, coefficient, &carries);
    dpi_share_add(p, ring, &sum, &carries, &sum);
    return sum;
}

static void relu_block(dpi_party *p, dpi_ring ring, const dpi_relu *r, dpi_blocks *room,
                       dpi_share *x, dpi_share *z)
{
    uint64_t half = r->shift > 0 ? UINT64_C(1) << (r->shift - 1) : 0;
    bool kept = z->part[0] != x->part[0];
    if (r->shift > 0)
        p->row->add_public(p, ring, NULL, half, x);
    dpi_compare_run(p, ring, &r->tree, x, &room->planes);
    dpi_share sign = dpi_carries_sign(&r->tree, &room->planes, dpi_share_words(x->n));
    p->row->add_public(p, DPI_RING_BITS, NULL, UINT64_MAX, &sign);
    dpi_share down = r->shift > 0 ? shift_down(p, ring, r, room, x) : *x;
    p->row->inject(p, ring, &sign, &down, z);
    if (r->shift > 0 && kept)
        p->row->add_public(p, ring, NULL, 0 - half, x);
}

void dpi_relu_run(dpi_party *p, dpi_ring ring, const dpi_relu *r, dpi_blocks *room, dpi_share *x,
                  dpi_share *z)
{
    for (size_t first = 0; first < x->n; first += room->block) {
        size_t n = x->n - first < room->block ? x->n - first : room->block;
        dpi_share from = dpi_share_from(ring, x, first, n), to = dpi_share_from(ring, z, first, n);
        relu_block(p, ring, r, room, &from, &to);
    }
}
