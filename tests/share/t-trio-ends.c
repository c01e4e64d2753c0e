/* What a party gives comes out where it is opened, and neither tells a party anything else.
 *
 * Views.  What is taken of a gift must be uniform, whatever the numbers are: each byte of what a
 * party takes, and of it less what else it holds of the share, goes through a chi-square test of
 * 255 degrees of freedom.  A value above 500 has probability 1e-17; there are some hundred. */
#include "share/trio.h"

#include <stdlib.h>
#include <string.h>

#include "tests/share/scene.h"

enum {
    P0,
    P1,
    P2,
    ROLES = DPI_TRIO_ROLES,
    TILES = 2 * DPI_SHARE_TILE + 77,
    FEW = 8192,
    VALUES = 256,
    LIMIT = 500
};

typedef struct ends {
    size_t n;
    int64_t *x[ROLES];   /* given by each role */
    int64_t *got[ROLES]; /* [n] opened to a role */
    dpi_roles to;
    uint64_t *taken[ROLES][ROLES]; /* [giver][taker] first message of each */
    uint64_t *mask[ROLES][ROLES];  /* the taker's other part of the gift */
    bool unmasked; /* what is sent is without the mask, as if it had not been drawn */
} ends;

static uint64_t hash(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

static void *room(size_t n)
{
    void *bytes = calloc(n, sizeof(uint64_t));
    assert_non_null(bytes);
    return bytes;
}

static void make(ends *e, bool constant)
{
    for (size_t k = 0; k < ROLES; k++) {
        e->x[k] = room(e->n);
        e->got[k] = room(e->n);
        for (size_t i = 0; i < e->n; i++)
            e->x[k][i] = constant ? -1 : (int64_t)hash(i * ROLES + k + 1);
        for (size_t j = 0; j < ROLES; j++) {
            e->taken[k][j] = room(e->n);
            e->mask[k][j] = room(e->n);
        }
    }
}

static void drop(ends *e)
{
    for (size_t k = 0; k < ROLES; k++) {
        free(e->x[k]);
        free(e->got[k]);
        for (size_t j = 0; j < ROLES; j++) {
            free(e->taken[k][j]);
            free(e->mask[k][j]);
        }
    }
}

/* z = x0 + 2 x1 + 4 x2 x0, opened. */
static void give_and_open(dpi_party *p, void *user)
{
    ends *e = user;
    dpi_share x[ROLES], z = scene_share(p, DPI_RING_64, e->n);
    for (size_t k = 0; k < ROLES; k++) {
        x[k] = scene_share(p, DPI_RING_64, e->n);
        dpi_trio_give(p, k, k == p->role ? e->x[k] : NULL, &x[k]);
    }
    p->row->multiply(p, DPI_RING_64, &x[2], &x[0], &z);
    dpi_share_scale(p, DPI_RING_64, 4, &z, &z);
    dpi_share_scale(p, DPI_RING_64, 2, &x[1], &x[1]);
    dpi_share_add(p, DPI_RING_64, &z, &x[1], &z);
    dpi_share_add(p, DPI_RING_64, &z, &x[0], &z);
    dpi_trio_open(p, e->to, &z, (e->to >> p->role & 1) != 0 ? e->got[p->role] : NULL);
    for (size_t k = 0; k < ROLES; k++)
        dpi_share_free(&x[k]);
    dpi_share_free(&z);
}

static void what_is_given_is_opened_to_those_that_are_told(void **state)
{
    static const dpi_roles told[] = {1, 2, 4, 3, 7};
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        ends e = {.n = k == 0 ? TILES : 1000 + k, .to = told[k]};
        scene_end end[DPI_SHARE_PARTIES];
        const scene_opts o = {.row = &dpi_trio, .body = give_and_open, .user = &e};
        make(&e, false);
        scene_run_well(*state, &o, end);
        for (size_t role = 0; role < ROLES; role++)
            for (size_t i = 0; i < e.n; i++) {
                const uint64_t a = (uint64_t)e.x[0][i], b = (uint64_t)e.x[1][i];
                const uint64_t z = a + 2 * b + 4 * (uint64_t)e.x[2][i] * a;
                assert_true((uint64_t)e.got[role][i] == ((told[k] >> role & 1) != 0 ? z : 0));
            }
        drop(&e);
    }
}

static void opening_is_one_message_to_each(void **state)
{
    ends e = {.n = 1000, .to = 7};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &dpi_trio, .body = give_and_open, .user = &e};
    make(&e, false);
    scene_run_well(*state, &o, end);
    const uint64_t one = e.n * sizeof(uint64_t);
    /* P0: its gift and the opening, to P2 what the product deals besides; P1: its gift and the
     * product to P2, the opening to P0; P2: its gift and the product. */
    assert_int_equal(end[P0].traffic.online[P1], 2 * one);
    assert_int_equal(end[P0].traffic.online[P2] + end[P0].traffic.prepared[P2], 3 * one);
    assert_int_equal(end[P1].traffic.online[P2], 2 * one);
    assert_int_equal(end[P1].traffic.online[P0], one);
    assert_int_equal(end[P2].traffic.online[P1], 2 * one);
    assert_int_equal(end[P2].traffic.online[P0], 0);
    drop(&e);
}

/* ---- views ---- */

static void only_give(dpi_party *p, void *user)
{
    ends *e = user;
    for (size_t k = 0; k < ROLES; k++) {
        dpi_share z = scene_share(p, DPI_RING_64, e->n);
        dpi_trio_give(p, k, k == p->role ? e->x[k] : NULL, &z);
        if (k != p->role && p->role != P0)
            memcpy(e->mask[k][p->role], z.part[1], e->n * sizeof(uint64_t));
        dpi_share_free(&z);
    }
}

/* In the sender's thread: each gift is one message, the first from its giver. */
static void note(void *user, const scene_message *message)
{
    ends *e = user;
    if (message->kind != DPI_MESH_POSTED || message->n != e->n * sizeof(uint64_t))
        return;
    if (e->unmasked)
        memcpy(message->bytes, e->x[message->from], message->n);
    memcpy(e->taken[message->from][message->to], message->bytes, message->n);
}

static double chi_square(size_t n, const uint64_t *x, size_t byte)
{
    size_t count[VALUES] = {0};
    const double expected = (double)n / VALUES;
    double total = 0;
    for (size_t i = 0; i < n; i++)
        count[x[i] >> (8 * byte) & 0xff]++;
    for (size_t k = 0; k < VALUES; k++)
        total += ((double)count[k] - expected) * ((double)count[k] - expected) / expected;
    return total;
}

/* The largest of bytes of what was taken, and of it less and with the mask that the taker has. */
static double largest(const ends *e, size_t giver, size_t taker)
{
    double most = 0;
    uint64_t *sum = room(e->n);
    for (int sign = -1; sign <= 1; sign++) {
        for (size_t i = 0; i < e->n; i++)
            sum[i] = e->taken[giver][taker][i] + (uint64_t)(int64_t)sign * e->mask[giver][taker][i];
        for (size_t byte = 0; byte < sizeof *sum; byte++) {
            const double x = chi_square(e->n, sum, byte);
            most = x > most ? x : most;
        }
    }
    free(sum);
    return most;
}

static void check_views(const scene *s, bool constant, bool unmasked)
{
    ends e = {.n = FEW, .unmasked = unmasked};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {
        .row = &dpi_trio, .body = only_give, .user = &e, .tamper = note, .unverified = true};
    make(&e, constant);
    scene_run_well(s, &o, end);
    static const size_t ways[][2] = {{P0, P1}, {P0, P2}, {P1, P2}, {P2, P1}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const double x = largest(&e, ways[k][0], ways[k][1]);
        assert_true(unmasked ? x >= LIMIT : x < LIMIT);
    }
    drop(&e);
}

static void a_gift_is_uniform_to_those_who_take_it(void **state)
{
    check_views(*state, true, false);
    check_views(*state, false, false);
}

static void a_gift_without_its_mask_is_seen(void **state)
{
    check_views(*state, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_is_opened_to_those_that_are_told),
        cmocka_unit_test(opening_is_one_message_to_each),
        cmocka_unit_test(a_gift_is_uniform_to_those_who_take_it),
        cmocka_unit_test(a_gift_without_its_mask_is_seen),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
