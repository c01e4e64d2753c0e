#include "share/share.h"

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
