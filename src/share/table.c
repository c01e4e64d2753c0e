#include "share/table.h"

#include <string.h>

enum {
    PIECES = 64,
    KNOT = 8,              /* bits of the distance of two knots */
    REACH = 13,            /* bits of what is inside, on each side of 0 */
    ONE = 14,              /* fraction of the table's values */
    LOW = 6,               /* bits of a piece's number */
    POSITIONS = REACH + 2, /* bits of c */
    PREFIXES = POSITIONS - 1
};

static const int16_t sigmoid_at[PIECES + 1] = {
#include "program/sigmoid-table.h"
};

/* ---- what is the same for everybody ---- */

static uint64_t slope_of(int k)
{
    return k < PIECES ? (uint64_t)(sigmoid_at[k + 1] - sigmoid_at[k]) : 0;
}

/* As a number modulo 2^64. */
static uint64_t start_of(int k)
{
    return ((uint64_t)sigmoid_at[k] - (uint64_t)k * slope_of(k)) << KNOT;
}

/* The monomials of a function of LOW bits, whose values are the bits of `values`: in each variable,
 * the coefficient of its product is the difference of the two values. */
static uint64_t monomials_of(uint64_t values)
{
    static const uint64_t without[LOW] = {
        UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333), UINT64_C(0x0f0f0f0f0f0f0f0f),
        UINT64_C(0x00ff00ff00ff00ff), UINT64_C(0x0000ffff0000ffff), UINT64_C(0x00000000ffffffff)};
    for (int j = 0; j < LOW; j++)
        values ^= (values & without[j]) << (1 << j);
    return values;
}

static void make_bits(uint64_t (*of)(int k), int n, dpi_table_bit *bits)
{
    for (int j = 0; j < n; j++) {
        uint64_t values = 0;
        for (int k = 0; k < PIECES; k++)
            values |= (of(k) >> j & 1) << k;
        bits[j] = (dpi_table_bit){.monomials = monomials_of(values),
                                  .end = ((of(PIECES) ^ of(0)) >> j & 1) != 0};
    }
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int dpi_table_bits(int bits, int shift)
{
    int lift = shift < 0 ? -shift : 0, down = shift > 0 ? shift : 0;
    return larger(larger(bits + lift, REACH + down) + 3, DPI_TABLE_BITS);
}

void dpi_table_make(dpi_ring ring, int bits, int shift, bool tanh, dpi_table *t)
{
    int lift = shift < 0 ? -shift : 0, down = shift > 0 ? shift : 0;
    int lifted = larger(bits + lift, REACH + down) + 1, left = larger(lifted - down + 1, ONE);
    t->lift = lift;
    t->zero = UINT64_C(1) << (REACH + down);
    t->twice = tanh;
    dpi_relu_make(ring, lifted, down, &t->low);
    dpi_relu_make(ring, left + 1, 0, &t->high);
    dpi_relu_make(ring, ONE + KNOT + 1, KNOT, &t->last);
    make_bits(slope_of, DPI_TABLE_SLOPE, t->slope);
    make_bits(start_of, DPI_TABLE_START, t->start);
}

/* ---- planes ---- */

static dpi_share plane(const dpi_blocks *room, dpi_carries_array array, size_t words, int k)
{
    return dpi_planes_at(&room->planes, array, words, k, 1);
}

static void copy_planes(const dpi_party *p, const dpi_blocks *room, size_t words, int n,
                        dpi_carries_array from_array, int from, dpi_carries_array to_array, int to)
{
    dpi_share a = dpi_planes_at(&room->planes, from_array, words, from, n);
    dpi_share b = dpi_planes_at(&room->planes, to_array, words, to, n);
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++)
        memmove(b.part[k], a.part[k], a.n * sizeof(uint64_t));
}

/* array[to] += with[from], n planes. */
static void add_planes(const dpi_party *p, const dpi_blocks *room, size_t words, int n,
                       dpi_carries_array with_array, int with, dpi_carries_array to_array, int to)
{
    dpi_share a = dpi_planes_at(&room->planes, with_array, words, with, n);
    dpi_share z = dpi_planes_at(&room->planes, to_array, words, to, n);
    dpi_share_add(p, DPI_RING_BITS, &z, &a, &z);
}

/* The first n planes of LEFT, each times its fellow of RIGHT, where they were. */
static void multiply_planes(dpi_party *p, const dpi_blocks *room, size_t words, int n)
{
    dpi_share left = dpi_planes_at(&room->planes, DPI_CARRIES_LEFT, words, 0, n);
    dpi_share right = dpi_planes_at(&room->planes, DPI_CARRIES_RIGHT, words, 0, n);
    p->row->multiply(p, DPI_RING_BITS, &left, &right, &left);
}

/* ---- the piece's number ---- */

/* Planes 0 ... LOW of P become k's bits, of 0 <= c <= 2^14. */
static void find_piece(dpi_party *p, dpi_ring ring, dpi_blocks *room, const dpi_share *c)
{
    int plane_of[POSITIONS];
    size_t words = dpi_share_words(c->n);
    dpi_share m = dpi_planes_at(&room->planes, DPI_CARRIES_LEFT, words, 0, POSITIONS);
    dpi_share u = dpi_planes_at(&room->planes, DPI_CARRIES_RIGHT, words, 0, POSITIONS);
    for (int k = 0; k < POSITIONS; k++)
        plane_of[k] = k;
    p->row->to_bits(p, ring, c, POSITIONS, plane_of, &m, &u);
    copy_planes(p, room, words, POSITIONS, DPI_CARRIES_LEFT, 0, DPI_CARRIES_P, 0);
    add_planes(p, room, words, POSITIONS, DPI_CARRIES_RIGHT, 0, DPI_CARRIES_P, 0);
    copy_planes(p, room, words, POSITIONS, DPI_CARRIES_P, 0, DPI_CARRIES_OUT, 0);
    multiply_planes(p, room, words, PREFIXES);
    copy_planes(p, room, words, PREFIXES, DPI_CARRIES_LEFT, 0, DPI_CARRIES_G, 0);
    for (int d = 1, n = PREFIXES; d < n; d *= 2) {
        int ends = n - 2 * d > 0 ? n - 2 * d : 0;
        copy_planes(p, room, words, n - d, DPI_CARRIES_P, d, DPI_CARRIES_LEFT, 0);
        copy_planes(p, room, words, n - d, DPI_CARRIES_G, 0, DPI_CARRIES_RIGHT, 0);
        copy_planes(p, room, words, ends, DPI_CARRIES_P, 2 * d, DPI_CARRIES_LEFT, n - d);
        copy_planes(p, room, words, ends, DPI_CARRIES_P, d, DPI_CARRIES_RIGHT, n - d);
        multiply_planes(p, room, words, n - d + ends);
        add_planes(p, room, words, n - d, DPI_CARRIES_LEFT, 0, DPI_CARRIES_G, d);
        copy_planes(p, room, words, ends, DPI_CARRIES_LEFT, n - d, DPI_CARRIES_P, 2 * d);
    }
    copy_planes(p, room, words, LOW + 1, DPI_CARRIES_OUT, KNOT, DPI_CARRIES_P, 0);
    add_planes(p, room, words, LOW + 1, DPI_CARRIES_G, KNOT - 1, DPI_CARRIES_P, 0);
}

/* Products of planes of OUT: plane `left` times `right` becomes plane left | right. */
typedef struct table_product {
    unsigned char left, right;
} table_product;

static void make_products(dpi_party *p, const dpi_blocks *room, size_t words, int n,
                          const table_product *of)
{
    for (int i = 0; i < n; i++) {
        copy_planes(p, room, words, 1, DPI_CARRIES_OUT, of[i].left, DPI_CARRIES_LEFT, i);
        copy_planes(p, room, words, 1, DPI_CARRIES_OUT, of[i].right, DPI_CARRIES_RIGHT, i);
    }
    multiply_planes(p, room, words, n);
    for (int i = 0; i < n; i++)
        copy_planes(p, room, words, 1, DPI_CARRIES_LEFT, i, DPI_CARRIES_OUT,
                    of[i].left | of[i].right);
}

/* Plane m of OUT becomes the product of those bits of k that m has; none is made of m = 0. */
static void make_monomials(dpi_party *p, const dpi_blocks *room, size_t words)
{
    static const table_product two[] = {{1, 2}, {1, 4}, {2, 4}, {8, 16}, {8, 32}, {16, 32}};
    static const table_product three[] = {{3, 4}, {24, 32}};
    table_product all[49];
    for (int i = 0; i < 49; i++)
        all[i] = (table_product){.left = (unsigned char)(i % 7 + 1),
                                 .right = (unsigned char)((i / 7 + 1) << 3)};
    for (int j = 0; j < LOW; j++)
        copy_planes(p, room, words, 1, DPI_CARRIES_P, j, DPI_CARRIES_OUT, 1 << j);
    make_products(p, room, words, 6, two);
    make_products(p, room, words, 2, three);
    make_products(p, room, words, 49, all);
}

/* ---- numbers ---- */

/* The number of n bits of the table at k: sum of 2^j bit[j], the last one negative where asked. */
static void look_up(dpi_party *p, dpi_ring ring, dpi_blocks *room, int n, const dpi_table_bit *bits,
                    bool negative, dpi_share *z)
{
    dpi_share bit[DPI_TABLE_START];
    uint64_t coefficient[DPI_TABLE_START];
    size_t words = dpi_share_words(z->n);
    for (int j = 0; j < n; j++) {
        coefficient[j] = UINT64_C(1) << j;
        bit[j] = plane(room, DPI_CARRIES_G, words, j);
        dpi_share_subtract(p, DPI_RING_BITS, &bit[j], &bit[j], &bit[j]);
        for (int m = 1; m < PIECES; m++)
            if ((bits[j].monomials >> m & 1) != 0)
                add_planes(p, room, words, 1, DPI_CARRIES_OUT, m, DPI_CARRIES_G, j);
        if (bits[j].end)
            add_planes(p, room, words, 1, DPI_CARRIES_P, LOW, DPI_CARRIES_G, j);
        if ((bits[j].monomials & 1) != 0)
            p->row->add_public(p, DPI_RING_BITS, NULL, UINT64_MAX, &bit[j]);
    }
    if (negative)
        coefficient[n - 1] = 0 - coefficient[n - 1];
    p->row->from_bits(p, ring, (size_t)n, bit, coefficient, z);
}

/* z = a - z. */
static void from_above(dpi_party *p, dpi_ring ring, uint64_t a, dpi_share *z)
{
    dpi_share_scale(p, ring, UINT64_MAX, z, z);
    p->row->add_public(p, ring, NULL, a, z);
}

static void table_block(dpi_party *p, dpi_ring ring, const dpi_table *t, dpi_blocks *room,
                        const dpi_share *x, dpi_share *z)
{
    const uint64_t end = UINT64_C(1) << (REACH + 1);
    dpi_share slope = dpi_share_from(ring, &room->number[0], 0, z->n);
    dpi_share start = dpi_share_from(ring, &room->number[1], 0, z->n);
    dpi_share_scale(p, ring, UINT64_C(1) << t->lift, x, z);
    p->row->add_public(p, ring, NULL, t->zero, z);
    dpi_relu_run(p, ring, &t->low, room, z, z);
    from_above(p, ring, end, z);
    dpi_relu_run(p, ring, &t->high, room, z, z);
    from_above(p, ring, end, z);
    find_piece(p, ring, room, z);
    make_monomials(p, room, dpi_share_words(z->n));
    look_up(p, ring, room, DPI_TABLE_SLOPE, t->slope, false, &slope);
    look_up(p, ring, room, DPI_TABLE_START, t->start, true, &start);
    p->row->multiply(p, ring, z, &slope, z);
    dpi_share_add(p, ring, z, &start, z);
    dpi_relu_run(p, ring, &t->last, room, z, z);
    if (t->twice) {
        dpi_share_scale(p, ring, 2, z, z);
        p->row->add_public(p, ring, NULL, 0 - (UINT64_C(1) << ONE), z);
    }
}

void dpi_table_run(dpi_party *p, dpi_ring ring, const dpi_table *t, dpi_blocks *room,
                   const dpi_share *x, dpi_share *z)
{
    for (size_t first = 0; first < x->n; first += room->block) {
        size_t n = x->n - first < room->block ? x->n - first : room->block;
        dpi_share from = dpi_share_from(ring, x, first, n), to = dpi_share_from(ring, z, first, n);
        table_block(p, ring, t, room, &from, &to);
    }
}
