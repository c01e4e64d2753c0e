/* Trio's ends where the parties themselves have numbers and are told some: what one of them gives,
 * and what is opened.
 *
 * Who gives x knows it, so that of its masks those alone must be fresh that hide it from others.  F
 * is drawn by P0 and P1, G by P0 and P2.
 *
 *   P0 gives   l1 = F, l2 = G   m = x + F + G goes to P1, who lacks G, and to P2, who lacks F
 *   P1 gives   l1 = F, l2 = 0   m = x + F     goes to P2, who lacks F; P0 lacks m
 *   P2 gives   l1 = 0, l2 = G   m = x + G     goes to P1, who lacks G; P0 lacks m
 *
 * Opened, x = m - lambda.  P1 tells m to P0, and P0 tells lambda to P1 and P2.  What a role is told
 * follows from x and what it holds, and so tells it nothing but x. */
#include <string.h>

#include "base/error.h"
#include "share/elements.h"
#include "share/trio.h"

enum { P0, P1, P2 };

static const dpi_roles first_set = 1U << P0 | 1U << P1, second_set = 1U << P0 | 1U << P2;

static uint64_t *numbers(const dpi_share *x, size_t part)
{
    return x->part[part];
}

/* Messages of n numbers at `from` to one role. */
static void post(const dpi_party *p, size_t to, size_t n, const uint64_t *from)
{
    void *message = dpi_mesh_room(p->mesh, to, n * sizeof *from);
    memcpy(message, from, n * sizeof *from);
    dpi_mesh_post(p->mesh, to);
}

/* What this role does in a giver's place: z's masks are made, and m where it is lambda. */
static void give_own(const dpi_party *p, const int64_t *x, const dpi_share *z)
{
    const size_t n = z->n, bytes = n * sizeof(uint64_t);
    dpi_trio_room *room = p->room;
    uint64_t *mask = numbers(z, p->role == P0 ? 0 : 1),
             *m = p->role == P0 ? room->came : z->part[0];
    dpi_mesh_draw(p->mesh, p->role == P2 ? second_set : first_set, mask, bytes);
    if (p->role == P0) {
        dpi_mesh_draw(p->mesh, second_set, room->dealt, bytes);
        for (size_t i = 0; i < n; i++)
            mask[i] += room->dealt[i];
    }
    for (size_t i = 0; i < n; i++)
        m[i] = (uint64_t)x[i] + mask[i];
    if (p->role != P1)
        post(p, P1, n, m);
    if (p->role != P2)
        post(p, P2, n, m);
}

/* And in the place of another: P0 knows masks alone, P1 and P2 take m. */
static void give_other(const dpi_party *p, size_t giver, const dpi_share *z)
{
    const size_t bytes = z->n * sizeof(uint64_t);
    if (p->role == P0) {
        dpi_mesh_draw(p->mesh, giver == P1 ? first_set : second_set, z->part[0], bytes);
        return;
    }
    dpi_mesh_take(p->mesh, giver, z->part[0], bytes);
    if (giver == P0)
        dpi_mesh_draw(p->mesh, p->role == P1 ? first_set : second_set, z->part[1], bytes);
    else
        memset(z->part[1], 0, bytes);
}

void dpi_trio_give(dpi_party *p, size_t giver, const int64_t *x, dpi_share *z)
{
    if (p->phase != DPI_TOGETHER || giver >= DPI_TRIO_ROLES || (p->role == giver) != (x != NULL))
        dpi_misuse(__func__, "the giver alone has numbers, and phases are not apart");
    for (size_t first = 0; first < z->n; first += DPI_SHARE_TILE) {
        const size_t n = dpi_least(DPI_SHARE_TILE, z->n - first);
        const dpi_share tile = dpi_share_from(DPI_RING_64, z, first, n);
        if (x != NULL)
            give_own(p, x + first, &tile);
        else
            give_other(p, giver, &tile);
    }
}

void dpi_trio_open(dpi_party *p, dpi_roles to, const dpi_share *x, int64_t *out)
{
    const size_t teller = p->role == P0 ? P1 : P0;
    const bool told = (to >> p->role & 1) != 0;
    dpi_trio_room *room = p->room;
    if (p->phase != DPI_TOGETHER || told != (out != NULL))
        dpi_misuse(__func__, "who is told has room for it, and phases are not apart");
    for (size_t first = 0; first < x->n; first += DPI_SHARE_TILE) {
        const size_t n = dpi_least(DPI_SHARE_TILE, x->n - first);
        const uint64_t *own = numbers(x, 0) + first;
        if (p->role == P1 && (to >> P0 & 1) != 0)
            post(p, P0, n, own);
        for (size_t role = P1; p->role == P0 && role <= P2; role++)
            if ((to >> role & 1) != 0)
                post(p, role, n, own);
        if (!told)
            continue;
        dpi_mesh_take(p->mesh, teller, room->came, n * sizeof *own);
        dpi_join_masked(DPI_RING_64, dpi_ring_bits(DPI_RING_64), n,
                        p->role == P0 ? room->came : own, p->role == P0 ? own : room->came,
                        out + first);
    }
}
