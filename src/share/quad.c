/* Quad's row, and what comes in and goes out. */
#include "share/quad.h"

#include <string.h>

#include "share/elements.h"

enum { P0, P1, P2, P3, ALL = 0xf };

static const dpi_roles sets[DPI_QUAD_SETS] = {ALL & ~(1U << P2), ALL & ~(1U << P1),
                                              ALL & ~(1U << P0)};

/* What a part is of the components -w, -l2, -l1 and X + w: a sum of some, or less some. */
typedef struct made_of {
    bool negative;
    int n, component[DPI_ELEMENTS_SUM];
} made_of;

static const made_of part_of[DPI_QUAD_ROLES][DPI_SHARE_PARTS] = {
    {{false, 3, {3, 2, 1}}, {true, 2, {2, 1}}},
    {{false, 2, {3, 0}}, {true, 1, {2}}, {true, 1, {0}}},
    {{false, 2, {3, 0}}, {true, 1, {1}}, {true, 1, {0}}},
    {{true, 1, {0}}, {true, 2, {2, 1}}},
};

static void put_part(dpi_ring ring, size_t n, const made_of *m, const void *const component[],
                     void *part)
{
    const void *from[DPI_ELEMENTS_SUM] = {NULL};
    for (int k = 0; k < m->n; k++)
        from[k] = component[m->component[k]];
    dpi_elements_sum(ring, n, from, m->negative, part);
}

/* Who holds a component has seen it as the two others have that do.  Without a mesh, which a
 * model's numbers come before, it is left to the caller to compare what was given. */
static void adopt(dpi_party *p, dpi_ring ring, size_t n, const void *const component[],
                  dpi_share *x)
{
    if (!dpi_party_works(p))
        return;
    for (size_t c = 0; c < DPI_QUAD_ROLES; c++)
        if (c != p->role && p->mesh != NULL)
            dpi_mesh_view(p->mesh, ALL & ~(1U << c), component[c], n * dpi_ring_bytes(ring));
    for (size_t k = 0; k < dpi_quad.parts[p->role]; k++)
        put_part(ring, n, &part_of[p->role][k], component, x->part[k]);
}

/* X of P1 and P2, lambda of P0 and P3. */
static bool piece(dpi_party *p, dpi_ring ring, int bits, const dpi_share *x, void *elements,
                  bool *hash_only)
{
    bool masks = p->role == P0 || p->role == P3;
    uint64_t mask = dpi_low_bits(bits);
    for (size_t i = 0; i < x->n; i++)
        dpi_element_put(ring, elements, i, dpi_element(ring, x->part[masks ? 1 : 0], i) & mask);
    *hash_only = p->role == P2 || p->role == P3;
    return true;
}

static void join(dpi_ring ring, int bits, size_t n, const void *const piece[], int64_t *x)
{
    dpi_join_masked(ring, bits, n, piece[P1], piece[P0], x);
}

static void add_public(dpi_party *p, dpi_ring ring, const uint64_t *c, uint64_t same, dpi_share *x)
{
    if (p->role == P3 || !dpi_party_works(p))
        return;
    dpi_elements_add(ring, x->n, c, same, x->part[0]);
}

const dpi_share_row dpi_quad = {
    .name = "quad",
    .parties = DPI_QUAD_ROLES,
    .dealer = P3,
    .sets = sets,
    .n_sets = DPI_QUAD_SETS,
    .compares = true,
    .parts = {2, 3, 3, 2},
    .room_bytes = sizeof(dpi_quad_room),
    .adopt = adopt,
    .piece = piece,
    .tells_as = {P0, P1, P1, P0},
    .join = join,
    .add_public = add_public,
    .multiply = dpi_quad_multiply,
    .linear = dpi_quad_linear,
    .to_bits = dpi_quad_to_bits,
    .halves = dpi_quad_halves,
    .from_bits = dpi_quad_from_bits,
    .inject = dpi_quad_inject,
};
