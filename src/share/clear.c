/* The row of one party that holds the numbers themselves.
 *
 * Every gate is its definition, number by number; nothing is fast, and nothing is shared with what
 * the other rows are made of but share.c. */
#include <string.h>

#include <tacit/program.h>

#include "share/party.h"

enum { WORD = 64 };

static uint64_t get(dpi_ring ring, const dpi_share *x, size_t i)
{
    return ring == DPI_RING_32 ? ((const uint32_t *)x->part[0])[i]
                               : ((const uint64_t *)x->part[0])[i];
}

static void put(dpi_ring ring, dpi_share *x, size_t i, uint64_t v)
{
    if (ring == DPI_RING_32)
        ((uint32_t *)x->part[0])[i] = (uint32_t)v;
    else
        ((uint64_t *)x->part[0])[i] = v;
}

static uint64_t get_bit(const dpi_share *words, size_t i)
{
    return ((const uint64_t *)words->part[0])[i / WORD] >> i % WORD & 1;
}

/* A number of the ring with its sign. */
static int64_t as_signed(dpi_ring ring, uint64_t v)
{
    return ring == DPI_RING_32 ? (int32_t)(uint32_t)v : (int64_t)v;
}

static uint64_t within(dpi_ring ring, uint64_t v)
{
    return ring == DPI_RING_32 ? (uint32_t)v : v;
}

static uint64_t low_bits(int bits)
{
    return bits >= WORD ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* ---- from and to the outside ---- */

static void adopt(dpi_party *p, dpi_ring ring, size_t n, const void *const component[],
                  dpi_share *x)
{
    if (dpi_party_works(p))
        memcpy(x->part[0], component[0], n * dpi_ring_bytes(ring));
}

static bool piece(dpi_party *p, dpi_ring ring, int bits, const dpi_share *x, void *elements,
                  bool *hash_only)
{
    (void)p;
    dpi_share to = {.n = x->n, .part = {elements}};
    *hash_only = false;
    for (size_t i = 0; i < x->n; i++)
        put(ring, &to, i, get(ring, x, i) & low_bits(bits));
    return true;
}

static void join(dpi_ring ring, int bits, size_t n, const void *const piece[], int64_t *x)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t v =
            ring == DPI_RING_32 ? ((const uint32_t *)piece[0])[i] : ((const uint64_t *)piece[0])[i];
        x[i] = (int64_t)(((v & low_bits(bits)) ^ sign) - sign);
    }
}

static void add_public(dpi_party *p, dpi_ring ring, const uint64_t *c, uint64_t same, dpi_share *x)
{
    for (size_t i = 0; dpi_party_works(p) && i < x->n; i++) {
        uint64_t by = c != NULL ? c[i] : same, v = get(ring, x, i);
        put(ring, x, i, ring == DPI_RING_BITS ? v ^ by : v + by);
    }
}

/* ---- gates ---- */

static void multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                     dpi_share *z)
{
    for (size_t i = 0; dpi_party_works(p) && i < z->n; i++) {
        uint64_t a = get(ring, x, i), b = get(ring, y, i);
        put(ring, z, i, ring == DPI_RING_BITS ? a & b : a * b);
    }
}

/* Number k of what a row of a record is made of; 0 in the padding. */
static uint64_t pick(dpi_ring ring, const dpi_linear *l, const dpi_share *x, size_t record,
                     size_t stop, size_t k)
{
    if (l->window == NULL)
        return get(ring, x, record * l->inputs + k);
    size_t channels = l->terms / (l->window->size[0] * l->window->size[1]);
    size_t pixel = dp_window_pixel(l->window, stop, k / channels);
    return pixel == SIZE_MAX ? 0
                             : get(ring, x, record * l->inputs + pixel * channels + k % channels);
}

static void linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                   const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z)
{
    size_t rows = dpi_party_works(p) ? l->records * l->stops : 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t o = 0; o < l->outputs; o++) {
            uint64_t sum = bias != NULL ? get(ring, bias, o) : 0;
            for (size_t k = 0; k < l->terms; k++)
                sum += pick(ring, l, x, row / l->stops, row % l->stops, k) *
                       get(ring, w, o * l->terms + k);
            put(ring, z, row * l->outputs + o, (uint64_t)(as_signed(ring, sum) >> shift));
        }
}

/* u of x = m + u. */
static uint64_t mask(const dpi_party *p, dpi_ring ring, uint64_t x)
{
    uint64_t v = x + *(const uint64_t *)p->room;
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return within(ring, v ^ v >> 31);
}

static void put_plane(dpi_share *planes, size_t k, size_t n, size_t i, uint64_t bit)
{
    uint64_t *word = (uint64_t *)planes->part[0] + k * dpi_share_words(n) + i / WORD;
    uint64_t at = UINT64_C(1) << i % WORD;
    *word = (*word & ~at) | (bit << i % WORD);
}

static void to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                    const int *plane, dpi_share *m, dpi_share *u)
{
    if (!dpi_party_works(p))
        return;
    size_t bytes = n_planes * dpi_share_words(x->n) * sizeof(uint64_t);
    memset(m->part[0], 0, bytes);
    memset(u->part[0], 0, bytes);
    for (size_t i = 0; i < x->n; i++) {
        uint64_t v = get(ring, x, i), r = mask(p, ring, v);
        for (size_t k = 0; k < n_planes; k++) {
            put_plane(m, k, x->n, i, (v - r) >> plane[k] & 1);
            put_plane(u, k, x->n, i, r >> plane[k] & 1);
        }
    }
}

static void halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z)
{
    for (size_t i = 0; dpi_party_works(p) && i < z->n; i++) {
        uint64_t v = get(ring, x, i), r = mask(p, ring, v);
        put(ring, z, i, (within(ring, v - r) >> shift) + (r >> shift));
    }
}

static void from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                      const uint64_t coefficient[], dpi_share *z)
{
    for (size_t i = 0; dpi_party_works(p) && i < z->n; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += coefficient[j] * get_bit(&bit[j], i);
        put(ring, z, i, sum);
    }
}

static void inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                   dpi_share *z)
{
    for (size_t i = 0; dpi_party_works(p) && i < z->n; i++)
        put(ring, z, i, get_bit(bit, i) * get(ring, x, i));
}

const dpi_share_row dpi_clear = {
    .name = "clear",
    .parties = 1,
    .dealer = 1, /* nobody */
    .parts = {1},
    .room_bytes = sizeof(uint64_t),
    .adopt = adopt,
    .piece = piece,
    .join = join,
    .add_public = add_public,
    .multiply = multiply,
    .linear = linear,
    .to_bits = to_bits,
    .halves = halves,
    .from_bits = from_bits,
    .inject = inject,
};
