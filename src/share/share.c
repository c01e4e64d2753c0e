#include "share/share.h"

#include "share/elements.h"

enum { WORD = 64 };

size_t dpi_ring_bytes(dpi_ring ring)
{
    return ring == DPI_RING_32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

int dpi_ring_bits(dpi_ring ring)
{
    return ring == DPI_RING_64 ? WORD : ring == DPI_RING_32 ? WORD / 2 : 1;
}

dpi_share dpi_share_from(dpi_ring ring, const dpi_share *x, size_t first, size_t n)
{
    dpi_share part = {.n = n};
    for (size_t k = 0; k < DPI_SHARE_PARTS; k++)
        if (x->part[k] != NULL)
            part.part[k] = (unsigned char *)x->part[k] + first * dpi_ring_bytes(ring);
    return part;
}

size_t dpi_share_words(size_t n)
{
    return n / WORD + (n % WORD != 0);
}

void dpi_join_masked(dpi_ring ring, int bits, size_t n, const void *m, const void *lambda,
                     int64_t *x)
{
    const uint64_t mask = dpi_low_bits(bits), sign = UINT64_C(1) << (bits - 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t a = dpi_element(ring, m, i), b = dpi_element(ring, lambda, i);
        uint64_t v = (ring == DPI_RING_BITS ? a ^ b : a - b) & mask;
        x[i] = (int64_t)((v ^ sign) - sign);
    }
}
