/* What rows do with whole arrays, in vectors. */
#include "share/elements.h"

enum { BLOCK = 1024 /* elements at a time */ };

/* In place of arrays that a sum does not have. */
static const uint64_t nothing[BLOCK];

/* ---- one ring each ---- */

/* sign: 0, or all ones, which turns the sum's sign. */
DPI_LOOPS static void sum_64(size_t n, const void *const from[], uint64_t sign, uint64_t *z)
{
    const uint64_t *a = from[0], *b = from[1], *c = from[2];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = ((a[i] + b[i] + c[i]) ^ sign) - sign;
}

DPI_LOOPS static void sum_32(size_t n, const void *const from[], uint32_t sign, uint32_t *z)
{
    const uint32_t *a = from[0], *b = from[1], *c = from[2];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = ((a[i] + b[i] + c[i]) ^ sign) - sign;
}

DPI_LOOPS static void sum_bits(size_t n, const void *const from[], uint64_t *z)
{
    const uint64_t *a = from[0], *b = from[1], *c = from[2];
    DPI_APART
    for (size_t i = 0; i < n; i++)
        z[i] = a[i] ^ b[i] ^ c[i];
}

DPI_LOOPS static void add_64(size_t n, uint64_t by, uint64_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] += by;
}

DPI_LOOPS static void add_32(size_t n, uint32_t by, uint32_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] += by;
}

DPI_LOOPS static void add_bits(size_t n, uint64_t by, uint64_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] ^= by;
}

/* ---- all rings ---- */

void dpi_elements_add(dpi_ring ring, size_t n, const uint64_t *c, uint64_t same, void *x)
{
    for (size_t i = 0; c != NULL && i < n; i++) {
        const uint64_t v = dpi_element(ring, x, i);
        dpi_element_put(ring, x, i, ring == DPI_RING_BITS ? v ^ c[i] : v + c[i]);
    }
    if (c != NULL)
        return;
    if (ring == DPI_RING_64)
        add_64(n, same, x);
    else if (ring == DPI_RING_32)
        add_32(n, (uint32_t)same, x);
    else
        add_bits(n, same, x);
}

void dpi_elements_sum(dpi_ring ring, size_t n, const void *const from[DPI_ELEMENTS_SUM],
                      bool negative, void *z)
{
    const uint64_t sign = negative ? UINT64_MAX : 0;
    const size_t each = dpi_ring_bytes(ring);
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t m = dpi_least(BLOCK, n - at);
        const void *part[DPI_ELEMENTS_SUM];
        for (size_t k = 0; k < DPI_ELEMENTS_SUM; k++)
            part[k] = from[k] != NULL ? dpi_past_const(from[k], at * each) : nothing;
        if (ring == DPI_RING_64)
            sum_64(m, part, sign, dpi_past(z, at * each));
        else if (ring == DPI_RING_32)
            sum_32(m, part, (uint32_t)sign, dpi_past(z, at * each));
        else
            sum_bits(m, part, dpi_past(z, at * each));
    }
}
