#include "tests/share/gates.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

uint64_t gate_next(uint64_t *state)
{
    uint64_t v = *state += UINT64_C(0x9e3779b97f4a7c15);
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

uint64_t gate_coefficient(size_t k)
{
    static const uint64_t some[] = {1, UINT64_C(0) - (UINT64_C(1) << 20), 77,
                                    UINT64_C(0x8000000000000001)};
    return some[k % (sizeof some / sizeof *some)] + k;
}

uint64_t gate_bit(const int64_t *words, size_t i)
{
    return (uint64_t)words[i / WORD] >> i % WORD & 1;
}

uint64_t gate_within(dpi_ring ring, uint64_t v)
{
    return ring == DPI_RING_32 ? (uint32_t)v : v;
}

/* ---- numbers ---- */

static int64_t *numbers(dpi_ring ring, size_t n, uint64_t *state)
{
    static const int64_t extreme[] = {0,         1,         -1,        2,       -2, INT32_MAX,
                                      INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20, -5};
    int64_t *x = calloc(n > 0 ? n : 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = gate_next(state);
        x[i] = v % 3 == 0 ? extreme[v / 3 % (sizeof extreme / sizeof *extreme)]
                          : (int64_t)gate_next(state);
        if (ring == DPI_RING_32)
            x[i] = (int32_t)(uint32_t)x[i];
    }
    return x;
}

gate_numbers gate_numbers_of(const gate *g, uint64_t seed)
{
    gate_numbers u = {.g = g, .n_x = g->n, .n_z = g->n};
    if (g->kind == GATE_MULTIPLY) {
        u.n_y = g->n;
    } else if (g->kind == GATE_LINEAR) {
        u.n_x = g->layer.records * g->layer.inputs;
        u.n_y = g->layer.outputs * g->layer.terms;
        u.n_bias = g->biased ? g->layer.outputs : 0;
    } else if (g->kind == GATE_TO_BITS) {
        u.n_z = g->n_planes * dpi_share_words(g->n);
    } else if (g->kind == GATE_FROM_BITS) {
        u.n_x = 0;
        u.n_bit = g->bits * dpi_share_words(g->n);
    } else if (g->kind == GATE_INJECT) {
        u.n_bit = dpi_share_words(g->n);
    }
    u.x = numbers(g->ring, u.n_x, &seed);
    u.y = numbers(g->ring, u.n_y, &seed);
    u.bias = numbers(g->ring, u.n_bias, &seed);
    u.bit = numbers(DPI_RING_BITS, u.n_bit, &seed);
    for (size_t k = 0; k < 2; k++) {
        u.z[k] = calloc(u.n_z > 0 ? u.n_z : 1, sizeof *u.z[k]);
        u.x_piece[k] = calloc(u.n_x > 0 ? u.n_x : 1, sizeof *u.x_piece[k]);
        assert_non_null(u.z[k]);
        assert_non_null(u.x_piece[k]);
    }
    return u;
}

void gate_drop(gate_numbers *u)
{
    scene_drop(&u->told_x);
    scene_drop(&u->told[0]);
    scene_drop(&u->told[1]);
}

void gate_numbers_free(gate_numbers *u)
{
    gate_drop(u);
    for (size_t k = 0; k < 2; k++) {
        free(u->z[k]);
        free(u->x_piece[k]);
    }
    free(u->x);
    free(u->y);
    free(u->bias);
    free(u->bit);
    *u = (gate_numbers){0};
}

/* ---- the gate ---- */

typedef struct shares {
    dpi_share x, y, bias, bits, z[2];
} shares;

static void run_linear(dpi_party *p, const gate *g, shares *s)
{
    p->row->linear(p, g->ring, &g->layer, &s->x, &s->y, g->biased ? &s->bias : NULL, g->shift,
                   &s->z[0]);
}

static void run_from_bits(dpi_party *p, const gate *g, shares *s)
{
    dpi_share bit[64];
    uint64_t coefficient[64];
    size_t words = dpi_share_words(g->n);
    for (size_t k = 0; k < g->bits; k++) {
        bit[k] = dpi_share_from(DPI_RING_BITS, &s->bits, k * words, words);
        coefficient[k] = gate_coefficient(k);
    }
    p->row->from_bits(p, g->ring, g->bits, bit, coefficient, &s->z[0]);
}

static dpi_share *place_of(const gate *g, shares *s)
{
    return g->place == GATE_BESIDE ? &s->z[0] : g->place == GATE_OVER_Y ? &s->y : &s->x;
}

static void run(dpi_party *p, const gate *g, shares *s)
{
    dpi_share *z = place_of(g, s);
    if (g->kind == GATE_MULTIPLY)
        p->row->multiply(p, g->ring, &s->x, g->place == GATE_SQUARE ? &s->x : &s->y, z);
    else if (g->kind == GATE_LINEAR)
        run_linear(p, g, s);
    else if (g->kind == GATE_TO_BITS)
        p->row->to_bits(p, g->ring, &s->x, g->n_planes, g->plane, &s->z[0], &s->z[1]);
    else if (g->kind == GATE_HALVES)
        p->row->halves(p, g->ring, &s->x, g->shift, z);
    else if (g->kind == GATE_FROM_BITS)
        run_from_bits(p, g, s);
    else
        p->row->inject(p, g->ring, &s->bits, &s->x, z);
}

/* Shared; in the clear the number itself. */
static dpi_share give(dpi_party *p, dpi_ring ring, size_t n, const int64_t *x, uint64_t seed)
{
    if (p->row->parties > 1)
        return scene_give(p, ring, n, x, seed);
    dpi_share share = scene_share(p, ring, n);
    for (size_t i = 0; i < n; i++)
        if (ring == DPI_RING_32)
            ((uint32_t *)share.part[0])[i] = (uint32_t)x[i];
        else
            ((uint64_t *)share.part[0])[i] = (uint64_t)x[i];
    return share;
}

void gate_body(dpi_party *p, void *user)
{
    gate_numbers *u = user;
    const gate *g = u->g;
    int bits = dpi_ring_bits(g->ring) == 1 ? WORD : dpi_ring_bits(g->ring);
    dpi_ring ring = g->kind == GATE_TO_BITS ? DPI_RING_BITS : g->ring;
    shares s = {.x = give(p, g->ring, u->n_x, u->x, 1),
                .y = give(p, g->ring, u->n_y, u->y, 2),
                .bias = give(p, g->ring, u->n_bias, u->bias, 3),
                .bits = give(p, DPI_RING_BITS, u->n_bit, u->bit, 4),
                .z = {scene_share(p, ring, u->n_z), scene_share(p, ring, u->n_z)}};
    scene_tell(p, &u->told_x, g->ring, bits, &s.x);
    run(p, g, &s);
    scene_tell(p, &u->told[0], ring, ring == DPI_RING_BITS ? WORD : bits, place_of(g, &s));
    if (g->kind == GATE_TO_BITS)
        scene_tell(p, &u->told[1], ring, WORD, &s.z[1]);
    dpi_share *all[] = {&s.x, &s.y, &s.bias, &s.bits, &s.z[0], &s.z[1]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dpi_share_free(all[k]);
}

/* ---- what came out ---- */

static void copy(dpi_ring ring, size_t n, const void *from, int64_t *to)
{
    for (size_t i = 0; from != NULL && i < n; i++)
        to[i] = (int64_t)(ring == DPI_RING_32 ? ((const uint32_t *)from)[i]
                                              : ((const uint64_t *)from)[i]);
}

void gate_open(const dpi_share_row *row, gate_numbers *u)
{
    for (size_t k = 0; k < 2 && k < row->parties; k++)
        copy(u->g->ring, u->n_x, u->told_x.piece[k], u->x_piece[k]);
    scene_drop(&u->told_x);
    for (size_t k = 0; k < 2; k++)
        if (u->told[k].piece[0] != NULL)
            scene_join(row, &u->told[k], u->z[k]);
}
