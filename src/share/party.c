#include "share/party.h"

#include <sodium.h>

#include "base/compiler.h"
#include "base/error.h"

enum { LINE = 64 /* bytes that parts are aligned to */ };

bool dpi_party_works(const dpi_party *p)
{
    bool deals = p->role == p->row->dealer;
    return p->phase == DPI_TOGETHER || (p->phase == DPI_PREPARE) == deals;
}

dp_status dpi_party_start(dpi_party *p, dp_error *err)
{
    p->room = dpi_alloc(1, p->row->room_bytes);
    return p->room != NULL ? DP_OK : dpi_fail_nomem(err);
}

static void drop(void *block, size_t bytes)
{
    if (block != NULL)
        sodium_memzero(block, bytes);
    dpi_free(block);
}

void *dpi_party_scratch(dpi_party *p, size_t bytes)
{
    if (bytes <= p->scratch_bytes)
        return p->scratch;
    drop(p->scratch, p->scratch_bytes);
    p->scratch = dpi_alloc(1, bytes);
    p->scratch_bytes = p->scratch != NULL ? bytes : 0;
    return p->scratch;
}

void dpi_party_end(dpi_party *p)
{
    drop(p->room, p->row->room_bytes);
    drop(p->scratch, p->scratch_bytes);
    p->room = p->scratch = NULL;
    p->scratch_bytes = 0;
}

/* ---- shares ---- */

dp_status dpi_share_new(const dpi_party *p, dpi_ring ring, size_t n, dpi_share *x, dp_error *err)
{
    size_t parts = p->row->parts[p->role], bytes, lines;
    *x = (dpi_share){0};
    if (!dpi_mul(n, dpi_ring_bytes(ring), &bytes))
        return dpi_fail_nomem(err);
    lines = bytes / LINE + (bytes % LINE != 0);
    bool fits = dpi_mul(lines, LINE, &bytes);
    unsigned char *at = fits && parts > 0 ? dpi_alloc(parts, bytes) : NULL;
    if (at == NULL && !(fits && parts == 0))
        return dpi_fail_nomem(err);
    x->n = n;
    for (size_t k = 0; k < parts; k++)
        x->part[k] = at + k * bytes;
    return DP_OK;
}

void dpi_share_free(dpi_share *x)
{
    dpi_free(x->part[0]);
    *x = (dpi_share){0};
}

/* ---- element by element ---- */

DPI_LOOPS static void add_64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] + b[i];
}

DPI_LOOPS static void add_32(size_t n, const uint32_t *a, const uint32_t *b, uint32_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] + b[i];
}

DPI_LOOPS static void subtract_64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] - b[i];
}

DPI_LOOPS static void subtract_32(size_t n, const uint32_t *a, const uint32_t *b, uint32_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] - b[i];
}

DPI_LOOPS static void add_bits(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] ^ b[i];
}

DPI_LOOPS static void scale_64(size_t n, uint64_t c, const uint64_t *a, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = c * a[i];
}

DPI_LOOPS static void scale_32(size_t n, uint32_t c, const uint32_t *a, uint32_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = c * a[i];
}

DPI_LOOPS static void scale_bits(size_t n, uint64_t c, const uint64_t *a, uint64_t *z)
{
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = c & a[i];
}

void dpi_share_add(const dpi_party *p, dpi_ring ring, const dpi_share *a, const dpi_share *b,
                   dpi_share *z)
{
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++) {
        if (ring == DPI_RING_64)
            add_64(z->n, a->part[k], b->part[k], z->part[k]);
        else if (ring == DPI_RING_32)
            add_32(z->n, a->part[k], b->part[k], z->part[k]);
        else
            add_bits(z->n, a->part[k], b->part[k], z->part[k]);
    }
}

void dpi_share_subtract(const dpi_party *p, dpi_ring ring, const dpi_share *a, const dpi_share *b,
                        dpi_share *z)
{
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++) {
        if (ring == DPI_RING_64)
            subtract_64(z->n, a->part[k], b->part[k], z->part[k]);
        else if (ring == DPI_RING_32)
            subtract_32(z->n, a->part[k], b->part[k], z->part[k]);
        else
            add_bits(z->n, a->part[k], b->part[k], z->part[k]);
    }
}

void dpi_share_scale(const dpi_party *p, dpi_ring ring, uint64_t c, const dpi_share *a,
                     dpi_share *z)
{
    for (size_t k = 0; dpi_party_works(p) && k < p->row->parts[p->role]; k++) {
        if (ring == DPI_RING_64)
            scale_64(z->n, c, a->part[k], z->part[k]);
        else if (ring == DPI_RING_32)
            scale_32(z->n, (uint32_t)c, a->part[k], z->part[k]);
        else
            scale_bits(z->n, c, a->part[k], z->part[k]);
    }
}
