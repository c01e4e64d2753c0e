#include "share/max.h"

#include <string.h>

enum { WORD = 64 };

int dpi_max_levels(size_t k)
{
    int levels = 0;
    for (; k > 1; k -= k / 2)
        levels++;
    return levels;
}

/* 1 where a difference is not negative. */
static dpi_share not_negative(dpi_party *p, dpi_ring ring, const dpi_carries *tree,
                              dpi_blocks *room, const dpi_share *difference)
{
    dpi_compare_run(p, ring, tree, difference, &room->planes);
    dpi_share bit = dpi_carries_sign(tree, &room->planes, dpi_share_words(difference->n));
    p->row->add_public(p, DPI_RING_BITS, NULL, UINT64_MAX, &bit);
    return bit;
}

void dpi_max_run(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room,
                 const dpi_share *x, const dpi_share *y, dpi_share *z)
{
    for (size_t first = 0; first < z->n; first += room->block) {
        size_t n = z->n - first < room->block ? z->n - first : room->block;
        dpi_share a = dpi_share_from(ring, x, first, n), b = dpi_share_from(ring, y, first, n);
        dpi_share to = dpi_share_from(ring, z, first, n);
        dpi_share d = dpi_share_from(ring, &room->number[0], 0, n);
        dpi_share_subtract(p, ring, &a, &b, &d);
        dpi_share bit = not_negative(p, ring, tree, room, &d);
        p->row->inject(p, ring, &bit, &d, &d);
        dpi_share_add(p, ring, &b, &d, &to);
    }
}

void dpi_max_of(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room, size_t k,
                size_t n, dpi_share *x)
{
    for (size_t half; k > 1; k -= half) {
        half = k / 2;
        dpi_share low = dpi_share_from(ring, x, 0, half * n);
        dpi_share high = dpi_share_from(ring, x, (k - half) * n, half * n);
        dpi_max_run(p, ring, tree, room, &low, &high, &low);
    }
}

/* ---- the first place ---- */

static void copy_row(const dpi_party *p, dpi_ring ring, size_t n, dpi_share *x, size_t from,
                     size_t to)
{
    size_t bytes = n * dpi_ring_bytes(ring);
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++) {
        unsigned char *at = x->part[k];
        memmove(at + to * bytes, at + from * bytes, bytes);
    }
}

/* d's row j = x's row 2 j - row 2 j + 1, for j = first ... first + pairs - 1. */
static void subtract_pairs(const dpi_party *p, dpi_ring ring, size_t n, size_t first, size_t pairs,
                           const dpi_share *x, const dpi_share *d)
{
    for (size_t j = 0; j < pairs; j++) {
        dpi_share left = dpi_share_from(ring, x, 2 * (first + j) * n, n);
        dpi_share right = dpi_share_from(ring, x, (2 * (first + j) + 1) * n, n);
        dpi_share to = dpi_share_from(ring, d, j * n, n);
        dpi_share_subtract(p, ring, &left, &right, &to);
    }
}

/* x's row j = its row 2 j + 1 + d's row j. */
static void add_pairs(const dpi_party *p, dpi_ring ring, size_t n, size_t first, size_t pairs,
                      dpi_share *x, const dpi_share *d)
{
    for (size_t j = 0; j < pairs; j++) {
        dpi_share right = dpi_share_from(ring, x, (2 * (first + j) + 1) * n, n);
        dpi_share to = dpi_share_from(ring, x, (first + j) * n, n);
        dpi_share by = dpi_share_from(ring, d, j * n, n);
        dpi_share_add(p, ring, &right, &by, &to);
    }
}

/* Zeros, of which every party has its part. */
static void clear_between(const dpi_party *p, dpi_ring ring, dpi_share *x)
{
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++)
        memset(x->part[k], 0, x->n * dpi_ring_bytes(ring));
}

/* Both differences of some pairs times whether the left one is as large: one inject of them side by
 * side, those of places beginning at a word of bits. */
static void choose(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room, size_t n,
                   bool last, dpi_share *of_x, dpi_share *of_place)
{
    size_t words = dpi_share_words(n);
    dpi_share bit = not_negative(p, ring, tree, room, of_x);
    if (last) {
        p->row->inject(p, ring, &bit, of_place, of_place);
        return;
    }
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++) {
        uint64_t *to = room->repeated.part[k];
        memcpy(to, bit.part[k], words * sizeof *to);
        memcpy(to + words, bit.part[k], words * sizeof *to);
    }
    dpi_share all = dpi_share_from(ring, &room->both, 0, words * WORD + n);
    dpi_share between = dpi_share_from(ring, &room->both, n, words * WORD - n);
    clear_between(p, ring, &between);
    bit = dpi_share_from(DPI_RING_BITS, &room->repeated, 0, dpi_share_words(all.n));
    p->row->inject(p, ring, &bit, &all, &all);
}

static void argmax_pairs(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room,
                         size_t n, size_t first, size_t pairs, bool last, dpi_share *x,
                         dpi_share *place)
{
    size_t m = pairs * n;
    dpi_share of_x = dpi_share_from(ring, &room->both, 0, m);
    dpi_share of_place = dpi_share_from(ring, &room->both, WORD * dpi_share_words(m), m);
    subtract_pairs(p, ring, n, first, pairs, x, &of_x);
    subtract_pairs(p, ring, n, first, pairs, place, &of_place);
    choose(p, ring, tree, room, m, last, &of_x, &of_place);
    if (!last)
        add_pairs(p, ring, n, first, pairs, x, &of_x);
    add_pairs(p, ring, n, first, pairs, place, &of_place);
}

void dpi_argmax_of(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room, size_t k,
                   size_t n, dpi_share *x, dpi_share *place)
{
    size_t most = room->block / n;
    for (size_t half; k > 1; k -= half) {
        half = k / 2;
        for (size_t first = 0; first < half; first += most) {
            size_t pairs = half - first < most ? half - first : most;
            argmax_pairs(p, ring, tree, room, n, first, pairs, k == 2, x, place);
        }
        if (k % 2 == 1) {
            copy_row(p, ring, n, x, k - 1, half);
            copy_row(p, ring, n, place, k - 1, half);
        }
    }
}
