/* Trees of compare.h: which planes are multiplied with which. */
#include <stddef.h>

#include "share/compare.h"

/* A range of positions that has not met its neighbour yet, named by its highest one.  Its g and p
 * are in the planes of that name, or are still to be made of the last level's products. */
typedef struct range {
    int high;
    int g, p; /* places among the products: g is to be added, p is there; -1: none */
} range;

typedef struct carries_builder {
    dpi_carries *t;
    range range[DPI_CARRIES_PLANES];
    int n, low; /* ranges, and how many of them lie below the split */
    int n_copies;
} carries_builder;

static void copy(carries_builder *b, dpi_carries_array to_array, int to,
                 dpi_carries_array from_array, int from, int with)
{
    b->t->copy[b->n_copies++] = (dpi_carries_copy){
        .to_array = (unsigned char)to_array,
        .to = (unsigned char)to,
        .from_array = (unsigned char)from_array,
        .from = (unsigned char)from,
        .with = with < 0 ? DPI_CARRIES_NONE : (unsigned char)with,
    };
}

/* Brings a range's g to its plane. */
static void settle_g(carries_builder *b, range *r)
{
    if (r->g >= 0)
        copy(b, DPI_CARRIES_G, r->high, DPI_CARRIES_G, r->high, r->g);
    r->g = -1;
}

static void settle_p(carries_builder *b, range *r)
{
    if (r->p >= 0)
        copy(b, DPI_CARRIES_P, r->high, DPI_CARRIES_OUT, r->p, -1);
    r->p = -1;
}

static void copy_p(carries_builder *b, const range *r, dpi_carries_array to_array, int to)
{
    copy(b, to_array, to, r->p >= 0 ? DPI_CARRIES_OUT : DPI_CARRIES_P, r->p >= 0 ? r->p : r->high,
         -1);
}

/* Pair number k of n: product k is p_high g_low and, but for the range that begins at 0, product
 * n + k - 1 is p_high p_low. */
static range join_pair(carries_builder *b, range *low, range *high, int k, int n)
{
    settle_g(b, high);
    copy_p(b, high, DPI_CARRIES_LEFT, k);
    copy(b, DPI_CARRIES_RIGHT, k, DPI_CARRIES_G, low->high, low->g);
    if (k > 0) {
        copy_p(b, high, DPI_CARRIES_LEFT, n + k - 1);
        copy_p(b, low, DPI_CARRIES_RIGHT, n + k - 1);
    }
    return (range){.high = high->high, .g = k, .p = k > 0 ? n + k - 1 : -1};
}

/* Joins `count` ranges by pairs, of which the level has `pairs`; *pair are done, and *to ranges are
 * left of those before. */
static void join_ranges(carries_builder *b, int from, int count, int *pair, int pairs, int *to)
{
    for (int i = from; i < from + count; i += 2) {
        range r = b->range[i];
        if (i + 1 < from + count) {
            r = join_pair(b, &r, &b->range[i + 1], *pair, pairs);
            *pair += 1;
        } else {
            settle_g(b, &r);
            settle_p(b, &r);
        }
        b->range[(*to)++] = r;
    }
}

/* The lower part by itself until it is one range, and from then on together with the rest.  That
 * range's g is asked for, and so it is brought to its plane first. */
static void add_level(carries_builder *b)
{
    int low = b->low > 1 ? b->low : 0;
    if (b->low == 1)
        settle_g(b, &b->range[0]);
    int pairs = low / 2 + (b->n - low) / 2, pair = 0, to = 0;
    join_ranges(b, 0, low, &pair, pairs, &to);
    b->low = low > 1 ? to : 0;
    join_ranges(b, low, b->n - low, &pair, pairs, &to);
    b->n = to;
    b->t->ands[b->t->n_levels] = 2 * pairs - 1;
    b->t->n_copies[b->t->n_levels++] = b->n_copies;
}

/* The planes of the operands: positions, the ring's top if asked for, the sign. */
static void choose_planes(dpi_ring ring, int bits, bool wrap, dpi_carries *t)
{
    int n = bits - 1, top = dpi_ring_bits(ring) - 1;
    for (int i = 0; i < n; i++)
        t->plane[i] = i;
    t->first = n + wrap;
    if (wrap)
        t->plane[n] = top;
    t->sign = wrap && top == n ? n : t->first;
    t->plane[t->sign] = n;
    t->n_planes = t->sign + 1;
}

void dpi_carries_make(dpi_ring ring, int bits, int split, bool wrap, dpi_carries *t)
{
    *t = (dpi_carries){.positions = bits - 1, .split = split, .wrap = wrap};
    choose_planes(ring, bits, wrap, t);
    carries_builder b = {.t = t, .n = t->positions, .low = split < t->positions ? split : 0};
    for (int i = 0; i < b.n; i++)
        b.range[i] = (range){.high = i, .g = -1, .p = -1};
    while (b.n > 1)
        add_level(&b);
    settle_g(&b, &b.range[0]);
    t->n_copies[t->n_levels] = b.n_copies;
}

int dpi_carries_ands(const dpi_carries *t)
{
    int n = t->first;
    for (int k = 0; k < t->n_levels; k++)
        n += t->ands[k];
    return n;
}

int dpi_carries_rounds(const dpi_carries *t)
{
    return 1 + t->n_levels;
}
