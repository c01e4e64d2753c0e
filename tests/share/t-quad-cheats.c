/* What Quad's gates send, and that whoever cheats ends the session for all honest parties. */
#include <stdlib.h>
#include <string.h>

#include "tests/share/gates.h"

enum { P0, P1, P2, P3, NUMBERS = 130 };

#ifndef FLIPS
#define FLIPS 200
#endif

/* Elements that a gate sends for each number: P3 to P2 and to P0 in the preparation; P1 and P2 to
 * each other, which is a round, and P2 to P0. */
typedef struct costs {
    const char *name;
    gate_kind kind;
    dpi_ring ring;
    int shift;
    size_t bits;
    size_t dealt, rest, half, shown;
} costs;

static const costs table[] = {
    {"AND", GATE_MULTIPLY, DPI_RING_BITS, 0, 0, 1, 1, 1, 1},
    {"multiply", GATE_MULTIPLY, DPI_RING_64, 0, 0, 1, 1, 1, 1},
    {"multiply", GATE_MULTIPLY, DPI_RING_32, 0, 0, 1, 1, 1, 1},
    {"dense", GATE_LINEAR, DPI_RING_64, 0, 0, 1, 1, 1, 1},
    {"convolution", GATE_LINEAR, DPI_RING_32, 0, 0, 1, 1, 1, 1},
    {"dense with a shift", GATE_LINEAR, DPI_RING_64, 7, 0, 1, 1, 1, 1},
    {"convolution with a shift", GATE_LINEAR, DPI_RING_32, 7, 0, 1, 1, 1, 1},
    {"to bits", GATE_TO_BITS, DPI_RING_64, 0, 0, 1, 0, 0, 1}, /* words of bits */
    {"to bits", GATE_TO_BITS, DPI_RING_32, 0, 0, 1, 0, 0, 1},
    {"halves", GATE_HALVES, DPI_RING_64, 9, 0, 1, 0, 0, 1},
    {"halves", GATE_HALVES, DPI_RING_32, 9, 0, 1, 0, 0, 1},
    {"from bits", GATE_FROM_BITS, DPI_RING_64, 0, 1, 1, 1, 1, 1},
    {"from bits", GATE_FROM_BITS, DPI_RING_32, 0, 3, 3, 1, 1, 3},
    {"inject", GATE_INJECT, DPI_RING_64, 0, 0, 2, 1, 1, 2},
    {"inject", GATE_INJECT, DPI_RING_32, 0, 0, 2, 1, 1, 2},
};
enum { GATES = sizeof table / sizeof *table };

static size_t bytes_of(const costs *c, const gate_numbers *u)
{
    return u->n_z * (c->kind == GATE_TO_BITS ? sizeof(uint64_t) : dpi_ring_bytes(c->ring));
}

static gate gate_of(const costs *c)
{
    static const dp_window window = {{4, 4}, {2, 2}, {2, 2}, {0, 0}};
    gate g = {.name = c->name,
              .kind = c->kind,
              .ring = c->ring,
              .n = NUMBERS,
              .shift = c->shift,
              .bits = c->bits,
              .n_planes = 3,
              .plane = {0, 5, dpi_ring_bits(c->ring) - 1}};
    if (c->kind == GATE_LINEAR) {
        g.layer = c->ring == DPI_RING_64 ? (dpi_linear){5, 7, 6, 6, 1, NULL}
                                         : (dpi_linear){3, 2, 4, 16, 4, &window};
        g.n = g.layer.records * g.layer.stops * g.layer.outputs;
        g.biased = c->ring == DPI_RING_64;
    }
    return g;
}

/* Elements from one role to another. */
static size_t elements(const costs *c, size_t from, size_t to)
{
    if (from == P3)
        return to == P2 ? c->dealt : to == P0 ? c->rest : 0;
    if (from == P2 && to == P0)
        return c->shown;
    return from + to == P1 + P2 && from * to > 0 ? c->half : 0;
}

/* ---- what is sent ---- */

static void check_counts(const scene *s, const costs *c, bool apart)
{
    const gate g = gate_of(c);
    gate_numbers u = gate_numbers_of(&g, 3);
    scene_end end[DPI_SHARE_PARTIES];
    scene_run_well(
        s, &(scene_opts){.row = &dpi_quad, .body = gate_body, .user = &u, .apart = apart}, end);
    for (size_t from = P0; from <= P3; from++)
        for (size_t to = P0; to <= P3; to++) {
            size_t bytes = elements(c, from, to) * bytes_of(c, &u);
            assert_int_equal(end[from].traffic.prepared[to], from == P3 ? bytes : 0);
            assert_int_equal(end[from].traffic.online[to], from == P3 ? 0 : bytes);
        }
    assert_int_equal(end[P0].traffic.turns, 0);
    assert_int_equal(end[P1].traffic.turns, c->half);
    assert_int_equal(end[P2].traffic.turns, c->half);
    assert_int_equal(end[P3].traffic.turns, 0);
    gate_numbers_free(&u);
}

static void each_gate_sends_what_the_table_says(void **state)
{
    for (size_t k = 0; k < GATES; k++)
        for (int apart = 0; apart < 2; apart++)
            check_counts(*state, &table[k], apart > 0);
}

/* ---- who cheats ---- */

/* One bit of a message. */
typedef struct flip {
    gate_numbers u; /* first: the body's */
    size_t from, to;
    dpi_mesh_kind kind;
    size_t number; /* of the message */
    uint64_t bit;
    bool done;
} flip;

static void turn_bit(void *user, const scene_message *m)
{
    flip *f = user;
    if (m->from != f->from || m->to != f->to || m->kind != f->kind || m->number != f->number)
        return;
    size_t bit = f->bit % (8 * m->n);
    m->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    f->done = true;
}

static void assert_all_end(const scene_end end[], size_t cheat)
{
    for (size_t r = P0; r <= P3; r++)
        if (r != cheat)
            assert_int_equal(end[r].err.status, DP_EPEER);
}

static void try_flip(const scene *s, const gate *g, flip *f, bool apart)
{
    scene_end end[DPI_SHARE_PARTIES];
    f->u = gate_numbers_of(g, f->bit);
    scene_run(
        s,
        &(scene_opts){
            .row = &dpi_quad, .body = gate_body, .user = f, .apart = apart, .tamper = turn_bit},
        end);
    assert_true(f->done);
    assert_all_end(end, f->from);
    gate_numbers_free(&f->u);
}

/* FLIPS bits at random places of all kinds of messages of all senders, one after the other. */
static void a_bit_that_is_turned_ends_the_session_for_all(void **state)
{
    uint64_t random = 1;
    for (size_t k = 0, done = 0; done < FLIPS; k++) {
        const costs *c = &table[k / 16 % GATES];
        flip f = {.from = k / 4 % 4, .to = k % 4, .kind = DPI_MESH_POSTED};
        if (elements(c, f.from, f.to) == 0)
            continue;
        const gate g = gate_of(c);
        f.bit = gate_next(&random);
        try_flip(*state, &g, &f, f.bit >> 63 != 0);
        done++;
    }
}

/* The third message of four tiles. */
static void a_bit_of_a_later_tile_is_seen_too(void **state)
{
    const gate product = {
        .kind = GATE_MULTIPLY, .ring = DPI_RING_64, .n = 3 * (DPI_SHARE_TILE / 2) + 5};
    const gate shifted = {.kind = GATE_LINEAR,
                          .ring = DPI_RING_32,
                          .n = 4 * DPI_SHARE_TILE,
                          .shift = 3,
                          .layer = {4, DPI_SHARE_TILE, 1, 1, 1, NULL}};
    const gate *const gates[] = {&product, &shifted};
    uint64_t random = 3;
    for (size_t k = 0; k < 32; k++) {
        flip f = {.from = k / 4 % 4, .to = k % 4, .kind = DPI_MESH_POSTED, .number = 2};
        if (elements(&table[1], f.from, f.to) == 0)
            continue;
        f.bit = gate_next(&random);
        try_flip(*state, gates[k / 16], &f, k % 2 == 0);
    }
}

/* Whoever hears it ends, which nobody else outlasts but one who has heard the same from all. */
static void a_digest_that_is_changed_ends_the_session(void **state)
{
    static const dpi_mesh_kind kinds[] = {DPI_MESH_DIGEST, DPI_MESH_TAG};
    const gate g = gate_of(&table[0]);
    uint64_t random = 2;
    for (size_t k = 0; k < 32; k++) {
        flip f = {.from = k / 4 % 4, .to = k % 4, .kind = kinds[k / 16]};
        scene_end end[DPI_SHARE_PARTIES];
        if (f.from == f.to)
            continue;
        f.bit = gate_next(&random);
        f.u = gate_numbers_of(&g, 4);
        scene_run(
            *state,
            &(scene_opts){.row = &dpi_quad, .body = gate_body, .user = &f, .tamper = turn_bit},
            end);
        assert_true(f.done);
        assert_int_equal(end[f.to].err.status, DP_EPEER);
        gate_numbers_free(&f.u);
    }
}

/* ---- what was given ---- */

typedef struct liar {
    size_t role;
    int64_t x[NUMBERS];
    bool silent;
} liar;

/* Says that it was given other numbers, or stops. */
static void lie_about_numbers(dpi_party *p, void *user)
{
    const liar *l = user;
    bool lies = p->role == l->role;
    dpi_share x = scene_give(p, DPI_RING_64, NUMBERS, l->x, lies && !l->silent ? 8 : 7);
    dpi_share z = scene_share(p, DPI_RING_64, NUMBERS);
    if (lies && l->silent)
        dpi_mesh_fail(p->mesh, DP_EPEER, "goes away");
    p->row->multiply(p, DPI_RING_64, &x, &x, &z);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

static void try_liar(const scene *s, bool silent)
{
    for (size_t role = P0; role <= P3; role++) {
        liar l = {.role = role, .silent = silent};
        scene_end end[DPI_SHARE_PARTIES];
        for (int i = 0; i < NUMBERS; i++)
            l.x[i] = i;
        scene_run(s, &(scene_opts){.row = &dpi_quad, .body = lie_about_numbers, .user = &l}, end);
        assert_all_end(end, role);
    }
}

static void other_components_than_were_given_end_the_session_for_all(void **state)
{
    try_liar(*state, false);
}

static void who_goes_away_ends_the_session_for_all(void **state)
{
    try_liar(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gate_sends_what_the_table_says),
        cmocka_unit_test(a_bit_that_is_turned_ends_the_session_for_all),
        cmocka_unit_test(a_bit_of_a_later_tile_is_seen_too),
        cmocka_unit_test(a_digest_that_is_changed_ends_the_session),
        cmocka_unit_test(other_components_than_were_given_end_the_session_for_all),
        cmocka_unit_test(who_goes_away_ends_the_session_for_all),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
