/* What bodies of a scene share and tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/share/scene.h"

enum { SEEDED = 8 };

void scene_must(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "scene: %s\n", what);
    abort();
}

static void *block(size_t n, size_t size)
{
    void *at = calloc(n > 0 ? n : 1, size);
    scene_must(at != NULL, "out of memory");
    return at;
}

dpi_share scene_share(const dpi_party *p, dpi_ring ring, size_t n)
{
    dpi_share x;
    scene_must(dpi_share_new(p, ring, n, &x, NULL) == DP_OK, "out of memory");
    return x;
}

dpi_share scene_give(dpi_party *p, dpi_ring ring, size_t n, const int64_t *x, uint64_t seed)
{
    unsigned char seeds[DPI_SHARE_PARTIES][DPI_DEAL_SEED] = {{0}};
    void *component[DPI_SHARE_PARTIES] = {NULL};
    size_t parties = p->row->parties, full = parties > 1 ? p->row->dealer : 0;
    dpi_share share = scene_share(p, ring, n);
    for (size_t c = 0; c < parties; c++) {
        seeds[c][0] = (unsigned char)(c + 1);
        for (size_t i = 0; i < SEEDED; i++)
            seeds[c][1 + i] = (unsigned char)(seed >> (8 * i));
        if (c == p->role && parties > 1)
            continue;
        component[c] = block(n, dpi_ring_bytes(ring));
        if (c != full)
            dpi_deal_draw(ring, (const unsigned char *)seeds[c], 0, n, component[c]);
    }
    if (component[full] != NULL)
        dpi_deal_split(ring, parties, full, (const unsigned char(*)[DPI_DEAL_SEED])seeds, 0, n, x,
                       component[full]);
    p->row->adopt(p, ring, n, (const void *const *)component, &share);
    for (size_t c = 0; c < parties; c++)
        free(component[c]);
    return share;
}

void scene_tell(dpi_party *p, scene_told *told, dpi_ring ring, int bits, const dpi_share *x)
{
    if (!dpi_party_works(p))
        return;
    void *elements = block(x->n, dpi_ring_bytes(ring));
    if (p->role == 0) { /* alike for all roles; read when they have ended */
        told->ring = ring;
        told->bits = bits;
        told->n = x->n;
    }
    if (p->row->piece(p, ring, bits, x, elements, &told->hash_only[p->role]))
        told->piece[p->role] = elements;
    else
        free(elements);
}

void scene_join(const dpi_share_row *row, scene_told *told, int64_t *x)
{
    row->join(told->ring, told->bits, told->n, (const void *const *)told->piece, x);
    scene_drop(told);
}

void scene_drop(scene_told *told)
{
    for (size_t r = 0; r < DPI_SHARE_PARTIES; r++)
        free(told->piece[r]);
    *told = (scene_told){0};
}
