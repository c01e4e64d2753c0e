/* Trio's gates tell what the row in the clear tells. */
#include "share/trio.h"

#include <stdlib.h>
#include <string.h>

#include <tacit/model.h>

#include "share/kernels.h"
#include "tests/share/scene.h"

enum { WORD = 64, BITS = 3, SEEDS = 16, TILES = 3 * DPI_SHARE_TILE + 5 };

/* ---- numbers ---- */

static uint64_t next(uint64_t *state)
{
    uint64_t v = *state += UINT64_C(0x9e3779b97f4a7c15);
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* Extremes of both rings and others; those of the ring of 32 bits with their sign. */
static int64_t *draw_numbers(dpi_ring ring, size_t n, uint64_t state)
{
    static const int64_t extremes[] = {0,         1,         -1,        INT64_MIN,
                                       INT64_MAX, INT32_MIN, INT32_MAX, -(INT64_C(1) << 32)};
    int64_t *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = next(&state);
        x[i] = i % 2 == 0 ? extremes[v % 8] : (int64_t)v;
        if (ring == DPI_RING_32)
            x[i] = (int32_t)(uint32_t)(uint64_t)x[i];
    }
    return x;
}

static int bits_of(dpi_ring ring)
{
    return ring == DPI_RING_BITS ? WORD : dpi_ring_bits(ring);
}

/* ---- all gates once ---- */

typedef enum told_kind {
    PRODUCT,
    OVER_X,
    OVER_Y,
    SQUARE,
    CONSTANT,
    INJECTED,
    INJECTED_OVER,
    FROM_BITS,
    HALVES,
    M,
    U,
    KINDS
} told_kind;

typedef struct numbers {
    dpi_ring ring;
    size_t n;
    const int64_t *x, *y, *bits; /* [n], [n], [BITS][words of n] */
    int shift;
    scene_told told[KINDS];
    int64_t *z[KINDS];
    void *part[KINDS][DPI_TRIO_ROLES][2]; /* of Trio's parties */
} numbers;

/* Room for a result that has been used before. */
static dpi_share used_share(const dpi_party *p, dpi_ring ring, size_t n)
{
    dpi_share x = scene_share(p, ring, n);
    for (size_t k = 0; k < p->row->parts[p->role]; k++)
        memset(x.part[k], 0xa5 + (int)p->role, n * dpi_ring_bytes(ring));
    return x;
}

/* What a party holds. */
static void hold(const dpi_party *p, numbers *u, told_kind kind, dpi_ring ring, const dpi_share *z)
{
    size_t bytes = z->n * dpi_ring_bytes(ring);
    for (size_t k = 0; p->row == &dpi_trio && dpi_party_works(p) && k < 2; k++) {
        if (z->part[k] == NULL)
            continue;
        u->part[kind][p->role][k] = malloc(bytes);
        if (u->part[kind][p->role][k] == NULL)
            abort(); /* in another thread than the test's */
        memcpy(u->part[kind][p->role][k], z->part[k], bytes);
    }
}

static void tell(dpi_party *p, numbers *u, told_kind kind, dpi_share *z)
{
    bool planes = kind == M || kind == U;
    dpi_ring ring = planes ? DPI_RING_BITS : u->ring;
    scene_tell(p, &u->told[kind], ring, bits_of(ring), z);
    hold(p, u, kind, ring, z);
}

static void multiply_over(dpi_party *p, numbers *u)
{
    for (told_kind kind = PRODUCT; kind <= SQUARE; kind++) {
        uint64_t seed = SEEDS * (uint64_t)kind;
        dpi_share x = scene_give(p, u->ring, u->n, u->x, seed);
        dpi_share y = scene_give(p, u->ring, u->n, u->y, seed + 1);
        dpi_share z = used_share(p, u->ring, u->n);
        dpi_share *to = kind == OVER_X || kind == SQUARE ? &x : kind == OVER_Y ? &y : &z;
        p->row->multiply(p, u->ring, &x, kind == SQUARE ? &x : &y, to);
        tell(p, u, kind, to);
        dpi_share_free(&x);
        dpi_share_free(&y);
        dpi_share_free(&z);
    }
    dpi_share x = scene_give(p, u->ring, u->n, u->x, SEEDS * KINDS);
    p->row->add_public(p, u->ring, (const uint64_t *)u->y, 0, &x);
    p->row->add_public(p, u->ring, NULL, 11, &x);
    tell(p, u, CONSTANT, &x);
    dpi_share_free(&x);
}

static void convert(dpi_party *p, numbers *u, dpi_share *x, dpi_share *z)
{
    static const uint64_t coefficient[BITS] = {1, UINT64_MAX << 40 | 5, UINT64_C(1) << 63 | 77};
    int plane[WORD], bits = dpi_ring_bits(u->ring);
    size_t words = dpi_share_words(u->n);
    dpi_share b = scene_give(p, DPI_RING_BITS, BITS * words, u->bits, SEEDS * KINDS + 1);
    dpi_share m = used_share(p, DPI_RING_BITS, (size_t)bits * words);
    dpi_share planes = used_share(p, DPI_RING_BITS, (size_t)bits * words);
    dpi_share bit[BITS];
    for (size_t j = 0; j < BITS; j++)
        bit[j] = dpi_share_from(DPI_RING_BITS, &b, j * words, words);
    for (int k = 0; k < bits; k++)
        plane[k] = k;
    p->row->from_bits(p, u->ring, BITS, bit, coefficient, z);
    tell(p, u, FROM_BITS, z);
    p->row->halves(p, u->ring, x, u->shift, z);
    tell(p, u, HALVES, z);
    p->row->to_bits(p, u->ring, x, (size_t)bits, plane, &m, &planes);
    tell(p, u, M, &m);
    tell(p, u, U, &planes);
    p->row->inject(p, u->ring, &bit[1], x, z);
    tell(p, u, INJECTED, z);
    p->row->inject(p, u->ring, &bit[2], x, x);
    tell(p, u, INJECTED_OVER, x);
    dpi_share_free(&planes);
    dpi_share_free(&m);
    dpi_share_free(&b);
}

static void all_gates(dpi_party *p, void *user)
{
    numbers *u = user;
    multiply_over(p, u);
    if (u->ring == DPI_RING_BITS)
        return;
    dpi_share x = scene_give(p, u->ring, u->n, u->x, SEEDS * KINDS + 2);
    dpi_share z = used_share(p, u->ring, u->n);
    convert(p, u, &x, &z);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

static void join_all(const dpi_share_row *row, numbers *u)
{
    for (told_kind kind = PRODUCT; kind < KINDS; kind++) {
        u->z[kind] = calloc(u->told[kind].n + 1, sizeof *u->z[kind]);
        assert_non_null(u->z[kind]);
        if (u->told[kind].n > 0)
            scene_join(row, &u->told[kind], u->z[kind]);
    }
}

static void free_all(numbers *u)
{
    for (told_kind kind = PRODUCT; kind < KINDS; kind++) {
        free(u->z[kind]);
        for (size_t r = 0; r < DPI_TRIO_ROLES; r++)
            for (size_t k = 0; k < 2; k++)
                free(u->part[kind][r][k]);
    }
}

/* ---- what is told ---- */

static uint64_t number_of(const numbers *u, told_kind kind, size_t i)
{
    uint64_t v = 0;
    for (size_t k = 0; k < (size_t)dpi_ring_bits(u->ring); k++) {
        uint64_t word = (uint64_t)u->z[kind][k * dpi_share_words(u->n) + i / WORD];
        v |= (word >> i % WORD & 1) << k;
    }
    return v;
}

/* m is one number for P1 and P2, and lambda = l1 + l2: the next gate needs it, opening does not. */
static void check_parts(const numbers *u, told_kind kind, size_t n)
{
    bool planes = kind == M || kind == U, xors = planes || u->ring == DPI_RING_BITS;
    bool narrow = !planes && u->ring == DPI_RING_32;
    const void *m1 = u->part[kind][1][0], *m2 = u->part[kind][2][0];
    assert_memory_equal(m1, m2, n * (narrow ? sizeof(uint32_t) : sizeof(uint64_t)));
    for (size_t i = 0; i < n; i++) {
        uint64_t part[DPI_TRIO_ROLES];
        for (size_t r = 0; r < DPI_TRIO_ROLES; r++) {
            const void *l = u->part[kind][r][r > 0];
            part[r] = narrow ? ((const uint32_t *)l)[i] : ((const uint64_t *)l)[i];
        }
        uint64_t sum = xors ? part[1] ^ part[2] : part[1] + part[2];
        assert_true(part[0] == (narrow ? (uint32_t)sum : sum));
    }
}

/* m and u are what they are; x and halves follow from them. */
static void check_bits(const numbers *u)
{
    uint64_t ring = u->ring == DPI_RING_32 ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < u->n; i++) {
        uint64_t m = number_of(u, M, i), rest = number_of(u, U, i);
        assert_true((((uint64_t)u->x[i] - m - rest) & ring) == 0);
        assert_true((((m >> u->shift) + (rest >> u->shift) - (uint64_t)u->z[HALVES][i]) & ring) ==
                    0);
    }
}

static void compare_with_clear(const scene *s, dpi_ring ring, size_t n, int shift, bool apart)
{
    size_t words = dpi_share_words(n);
    int64_t *x = draw_numbers(ring, n, n), *y = draw_numbers(ring, n, n + 1);
    int64_t *bits = draw_numbers(DPI_RING_BITS, BITS * words, n + 2);
    numbers trio = {.ring = ring, .n = n, .x = x, .y = y, .bits = bits, .shift = shift};
    numbers clear = trio;
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts private = {.row = &dpi_trio, .body = all_gates, .user = &trio, .apart = apart};
    const scene_opts open = {.row = &dpi_clear, .body = all_gates, .user = &clear};
    scene_run_well(s, &private, end);
    scene_run_well(s, &open, end);
    for (told_kind kind = PRODUCT; kind < KINDS; kind++)
        if (trio.told[kind].n > 0)
            check_parts(&trio, kind, trio.told[kind].n);
    join_all(&dpi_trio, &trio);
    join_all(&dpi_clear, &clear);
    for (told_kind kind = PRODUCT; kind < HALVES; kind++)
        assert_memory_equal(trio.z[kind], clear.z[kind],
                            (kind > CONSTANT && ring == DPI_RING_BITS ? 0 : n) * sizeof *x);
    if (ring != DPI_RING_BITS)
        check_bits(&trio);
    free_all(&trio);
    free_all(&clear);
    free(x);
    free(y);
    free(bits);
}

static const size_t sizes[] = {1, 63, 64, 65, 2000, TILES};

static void gates_tell_what_the_clear_row_tells(void **state)
{
    static const int shifts[][2] = {{1, 1}, {13, 7}, {63, 31}};
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_BITS; ring++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            compare_with_clear(*state, ring, sizes[k], shifts[k % 3][ring == DPI_RING_32], false);
}

static void gates_tell_it_with_the_preparation_apart(void **state)
{
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_BITS; ring++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            compare_with_clear(*state, ring, sizes[k], 5, true);
}

/* ---- linear layers ---- */

typedef struct layer {
    dpi_ring ring;
    dpi_linear l;
    int shift;
    const int64_t *x, *w, *bias; /* NULL: none */
    numbers z;                   /* as a product */
} layer;

static void run_layer(dpi_party *p, void *user)
{
    layer *u = user;
    const dpi_linear *l = &u->l;
    dpi_share x = scene_give(p, u->ring, l->records * l->inputs, u->x, 1), bias = {0};
    dpi_share w = scene_give(p, u->ring, l->outputs * l->terms, u->w, 2);
    dpi_share z = used_share(p, u->ring, l->records * l->stops * l->outputs);
    if (u->bias != NULL)
        bias = scene_give(p, u->ring, l->outputs, u->bias, 3);
    p->row->linear(p, u->ring, l, &x, &w, u->bias != NULL ? &bias : NULL, u->shift, &z);
    tell(p, &u->z, PRODUCT, &z);
    dpi_share_free(&x);
    dpi_share_free(&w);
    dpi_share_free(&z);
    dpi_share_free(&bias);
}

/* What is told is the number in the clear, or with a shift that or one more modulo 2^(bits -
 * shift): how often it is which is for t-trio-shift.c. */
static void compare_layer(const scene *s, const layer *of, bool apart)
{
    size_t n = of->l.records * of->l.stops * of->l.outputs;
    int room = WORD - dpi_ring_bits(of->ring) + of->shift;
    int64_t *z = calloc(2 * n, sizeof *z);
    assert_non_null(z);
    for (int clear = 0; clear < 2; clear++) {
        layer u = *of;
        u.z.ring = u.ring;
        const scene_opts o = {.row = clear ? &dpi_clear : &dpi_trio,
                              .body = run_layer,
                              .user = &u,
                              .apart = apart && !clear};
        scene_end end[DPI_SHARE_PARTIES];
        scene_run_well(s, &o, end);
        if (!clear)
            check_parts(&u.z, PRODUCT, n);
        scene_join(o.row, &u.z.told[PRODUCT], z + (clear ? n : 0));
        free_all(&u.z);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t off = (uint64_t)z[i] - (uint64_t)z[n + i];
        assert_true(off == 0 || (of->shift > 0 && off << room >> room <= 1));
    }
    free(z);
}

static void check_layer(const scene *s, dpi_ring ring, const dpi_linear *l)
{
    static const int shifts[] = {0, 0, 9};
    for (int k = 0; k < 3; k++) {
        int64_t *x = draw_numbers(ring, l->records * l->inputs, 5);
        int64_t *w = draw_numbers(ring, l->outputs * l->terms, 6);
        int64_t *bias = draw_numbers(ring, l->outputs, 7);
        const layer u = {.ring = ring,
                         .l = *l,
                         .shift = shifts[k],
                         .x = x,
                         .w = w,
                         .bias = k == 0 ? NULL : bias};
        compare_layer(s, &u, k > 0);
        free(x);
        free(w);
        free(bias);
    }
}

static void dense_layers_tell_what_the_clear_row_tells(void **state)
{
    static const dpi_linear dense[] = {
        {.records = 1, .outputs = 1, .terms = 1, .inputs = 1, .stops = 1},
        {.records = 2, .outputs = 10, .terms = 300, .inputs = 300, .stops = 1},
        {.records = 3, .outputs = DPI_SHARE_TILE + 9, .terms = 2, .inputs = 2, .stops = 1},
        {.records = TILES / 20, .outputs = 20, .terms = 3, .inputs = 3, .stops = 1},
        {.records = 2, .outputs = DPI_SHARE_TILE, .terms = 1, .inputs = 1, .stops = 1}};
    for (size_t k = 0; k < sizeof dense / sizeof *dense; k++)
        for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
            check_layer(*state, ring, &dense[k]);
}

static void convolutions_tell_what_the_clear_row_tells(void **state)
{
    static const dp_window window = {
        .image = {9, 8}, .size = {3, 5}, .stride = {2, 1}, .padding = {1, 2}};
    static const dpi_linear l = {.records = 4,
                                 .outputs = 6,
                                 .terms = 3 * 5 * 2,
                                 .inputs = 9 * 8 * 2,
                                 .stops = 5 * 8,
                                 .window = &window};
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
        check_layer(*state, ring, &l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_tell_what_the_clear_row_tells),
        cmocka_unit_test(gates_tell_it_with_the_preparation_apart),
        cmocka_unit_test(dense_layers_tell_what_the_clear_row_tells),
        cmocka_unit_test(convolutions_tell_what_the_clear_row_tells),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
