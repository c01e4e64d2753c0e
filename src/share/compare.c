#include "share/compare.h"

#include "base/compiler.h"

dp_status dpi_planes_new(const dpi_party *p, size_t n_planes, size_t words, dpi_planes *room,
                         dp_error *err)
{
    *room = (dpi_planes){.n_planes = n_planes, .words = words};
    dp_status status = DP_OK;
    for (int k = 0; status == DP_OK && k < DPI_CARRIES_ARRAYS; k++)
        status = dpi_share_new(p, DPI_RING_BITS, n_planes * words, &room->array[k], err);
    if (status != DP_OK)
        dpi_planes_free(room);
    return status;
}

void dpi_planes_free(dpi_planes *room)
{
    for (int k = 0; k < DPI_CARRIES_ARRAYS; k++)
        dpi_share_free(&room->array[k]);
    *room = (dpi_planes){0};
}

dpi_share dpi_planes_at(const dpi_planes *room, dpi_carries_array array, size_t words, int k,
                        int n_planes)
{
    return dpi_share_from(DPI_RING_BITS, &room->array[array], (size_t)k * words,
                          (size_t)n_planes * words);
}

/* ---- copies ---- */

DPI_LOOPS static void copy_words(size_t n, const uint64_t *from, uint64_t *to)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

DPI_LOOPS static void add_words(size_t n, const uint64_t *from, const uint64_t *with, uint64_t *to)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] ^ with[i];
}

static void run_copies(const dpi_party *p, const dpi_carries *t, int level, size_t words,
                       const dpi_planes *room)
{
    for (size_t part = 0; part < p->row->parts[p->role]; part++) {
        uint64_t *at[DPI_CARRIES_ARRAYS];
        for (int k = 0; k < DPI_CARRIES_ARRAYS; k++)
            at[k] = room->array[k].part[part];
        for (int i = level > 0 ? t->n_copies[level - 1] : 0; i < t->n_copies[level]; i++) {
            const dpi_carries_copy *c = &t->copy[i];
            uint64_t *to = at[c->to_array] + c->to * words;
            const uint64_t *from = at[c->from_array] + c->from * words;
            if (c->with == DPI_CARRIES_NONE)
                copy_words(words, from, to);
            else
                add_words(words, from, at[DPI_CARRIES_OUT] + c->with * words, to);
        }
    }
}

/* ---- running ---- */

/* Products stand where the left operands were. */
static void run_level(dpi_party *p, const dpi_carries *t, int level, size_t words, dpi_planes *room)
{
    dpi_share left = dpi_planes_at(room, DPI_CARRIES_LEFT, words, 0, t->ands[level]);
    dpi_share right = dpi_planes_at(room, DPI_CARRIES_RIGHT, words, 0, t->ands[level]);
    p->row->multiply(p, DPI_RING_BITS, &left, &right, &left);
    dpi_share out = room->array[DPI_CARRIES_LEFT];
    room->array[DPI_CARRIES_LEFT] = room->array[DPI_CARRIES_OUT];
    room->array[DPI_CARRIES_OUT] = out;
}

/* g = m u, and p = m + u where m was. */
static void first_level(dpi_party *p, const dpi_carries *t, size_t words, dpi_planes *room)
{
    dpi_share m = dpi_planes_at(room, DPI_CARRIES_P, words, 0, t->first);
    dpi_share u = dpi_planes_at(room, DPI_CARRIES_OUT, words, 0, t->first);
    dpi_share g = dpi_planes_at(room, DPI_CARRIES_G, words, 0, t->first);
    p->row->multiply(p, DPI_RING_BITS, &m, &u, &g);
    m = dpi_planes_at(room, DPI_CARRIES_P, words, 0, t->n_planes);
    u = dpi_planes_at(room, DPI_CARRIES_OUT, words, 0, t->n_planes);
    dpi_share_add(p, DPI_RING_BITS, &m, &u, &m);
}

void dpi_carries_run(dpi_party *p, const dpi_carries *t, size_t words, dpi_planes *room)
{
    first_level(p, t, words, room);
    for (int level = 0; level <= t->n_levels; level++) {
        if (dpi_party_works(p))
            run_copies(p, t, level, words, room);
        if (level < t->n_levels)
            run_level(p, t, level, words, room);
    }
    /* a OR b = a b + (a + b), before the sign takes that plane. */
    if (t->wrap) {
        dpi_share either = dpi_carries_out(t, room, words);
        dpi_share sum = dpi_planes_at(room, DPI_CARRIES_P, words, t->positions, 1);
        dpi_share_add(p, DPI_RING_BITS, &either, &sum, &either);
    }
    dpi_share sign = dpi_carries_sign(t, room, words);
    dpi_share carry = dpi_planes_at(room, DPI_CARRIES_G, words, t->positions - 1, 1);
    dpi_share_add(p, DPI_RING_BITS, &sign, &carry, &sign);
}

void dpi_compare_run(dpi_party *p, dpi_ring ring, const dpi_carries *t, const dpi_share *x,
                     dpi_planes *room)
{
    size_t words = dpi_share_words(x->n);
    dpi_share m = dpi_planes_at(room, DPI_CARRIES_P, words, 0, t->n_planes);
    dpi_share u = dpi_planes_at(room, DPI_CARRIES_OUT, words, 0, t->n_planes);
    p->row->to_bits(p, ring, x, (size_t)t->n_planes, t->plane, &m, &u);
    dpi_carries_run(p, t, words, room);
}

dpi_share dpi_carries_sign(const dpi_carries *t, const dpi_planes *room, size_t words)
{
    return dpi_planes_at(room, DPI_CARRIES_P, words, t->sign, 1);
}

dpi_share dpi_carries_in(const dpi_carries *t, const dpi_planes *room, size_t words)
{
    return dpi_planes_at(room, DPI_CARRIES_G, words, t->split - 1, 1);
}

dpi_share dpi_carries_out(const dpi_carries *t, const dpi_planes *room, size_t words)
{
    return dpi_planes_at(room, DPI_CARRIES_G, words, t->positions, 1);
}
