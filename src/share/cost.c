/* What a run costs, counted by running the plan with a party that holds nothing and sends nothing:
 * its gates add up what those of the protocol would send.  Elements by link as in trio.h and
 * quad.h. */
#include "base/error.h"
#include "share/run.h"

typedef enum gate { PRODUCT, PLANES, HALVES, FROM_BITS, INJECT, GATES } gate;

/* Elements for each number: so many, and so many for each plane or bit. */
typedef struct price {
    unsigned char once, each;
} price;

typedef struct priced_link {
    unsigned char from, to;
    bool before; /* in the preparation, where phases are apart */
    price price[GATES];
} priced_link;

enum { LINKS = 5 };

/* PRODUCT, PLANES, HALVES, FROM_BITS, INJECT. */
static const priced_link of_trio[LINKS] = {
    {0, 2, true, {{1, 0}, {0, 1}, {1, 0}, {0, 1}, {2, 0}}},
    {1, 2, false, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}}},
    {2, 1, false, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}}},
};

static const priced_link of_quad[LINKS] = {
    {3, 2, true, {{1, 0}, {0, 1}, {1, 0}, {0, 1}, {2, 0}}},
    {3, 0, true, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}}},
    {1, 2, false, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}}},
    {2, 1, false, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}}},
    {2, 0, false, {{1, 0}, {0, 1}, {1, 0}, {0, 1}, {2, 0}}},
};

/* The room of a party that counts. */
typedef struct tally {
    const priced_link *link; /* [LINKS] */
    dpi_share_cost *cost;
} tally;

static void count(dpi_party *p, gate kind, dpi_ring ring, size_t n, size_t each, bool round)
{
    tally *t = p->room;
    for (size_t k = 0; k < LINKS; k++) {
        const priced_link *link = &t->link[k];
        uint64_t elements = n * (link->price[kind].once + each * link->price[kind].each);
        uint64_t bytes = elements * dpi_ring_bytes(ring);
        if (link->before)
            t->cost->prepared[link->from][link->to] += bytes;
        else
            t->cost->online[link->from][link->to] += bytes;
    }
    t->cost->rounds += round;
}

/* ---- gates ---- */

static void add_public(dpi_party *p, dpi_ring ring, const uint64_t *c, uint64_t same, dpi_share *x)
{
    (void)p;
    (void)ring;
    (void)c;
    (void)same;
    (void)x;
}

static void multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                     dpi_share *z)
{
    (void)x;
    (void)y;
    count(p, PRODUCT, ring, z->n, 0, true);
}

static void linear(dpi_party *p, dpi_ring ring, const dpi_linear *l, const dpi_share *x,
                   const dpi_share *w, const dpi_share *bias, int shift, dpi_share *z)
{
    (void)l;
    (void)x;
    (void)w;
    (void)bias;
    (void)shift;
    count(p, PRODUCT, ring, z->n, 0, true);
}

static void to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                    const int *plane, dpi_share *m, dpi_share *u)
{
    (void)ring;
    (void)plane;
    (void)m;
    (void)u;
    count(p, PLANES, DPI_RING_BITS, dpi_share_words(x->n), n_planes, false);
}

static void halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z)
{
    (void)x;
    (void)shift;
    count(p, HALVES, ring, z->n, 0, false);
}

static void from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                      const uint64_t coefficient[], dpi_share *z)
{
    (void)bit;
    (void)coefficient;
    count(p, FROM_BITS, ring, z->n, k, true);
}

static void inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                   dpi_share *z)
{
    (void)bit;
    (void)x;
    count(p, INJECT, ring, z->n, 0, true);
}

static const dpi_share_row counter = {
    .name = "counter",
    .parties = 1,
    .dealer = 1,
    .add_public = add_public,
    .multiply = multiply,
    .linear = linear,
    .to_bits = to_bits,
    .halves = halves,
    .from_bits = from_bits,
    .inject = inject,
};

dp_status dpi_share_cost_of(const dpi_share_plan *plan, const dpi_share_row *row, size_t n,
                            dpi_share_cost *cost, dp_error *err)
{
    *cost = (dpi_share_cost){0};
    tally t = {.link = row == &dpi_quad ? of_quad : of_trio, .cost = cost};
    dpi_party p = {.row = &counter, .room = &t};
    dpi_share_room *room;
    dp_status status = dpi_share_room_new(&p, plan, &room, err);
    if (status != DP_OK)
        return status;
    dpi_share x = {.n = n}, y = {.n = n * dpi_share_answers(plan)}, model = {0};
    dpi_share_run(&p, plan, room, &model, 0, n, &x, &y);
    dpi_share_room_free(room);
    return DP_OK;
}
