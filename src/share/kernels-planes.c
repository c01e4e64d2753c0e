/* Numbers as planes of bits, and back. */
#include "share/kernels.h"

#include <string.h>

enum { WORD = 64 };

void dpi_planes_of(dpi_ring ring, size_t n, const void *x, size_t n_planes, const int *plane,
                   uint64_t *planes)
{
    size_t words = dpi_share_words(n);
    memset(planes, 0, n_planes * words * sizeof *planes);
    for (size_t j = 0; j < n_planes; j++)
        for (size_t i = 0; i < n; i++) {
            uint64_t v = ring == DPI_RING_64 ? ((const uint64_t *)x)[i] : ((const uint32_t *)x)[i];
            planes[j * words + i / WORD] |= (v >> plane[j] & 1) << i % WORD;
        }
}

void dpi_planes_to(dpi_ring ring, size_t n, size_t n_planes, const uint64_t *planes, void *x)
{
    size_t words = dpi_share_words(n);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        for (size_t j = 0; j < n_planes; j++)
            v |= (planes[j * words + i / WORD] >> i % WORD & 1) << j;
        if (ring == DPI_RING_64)
            ((uint64_t *)x)[i] = v;
        else
            ((uint32_t *)x)[i] = (uint32_t)v;
    }
}

void dpi_bits_spread(dpi_ring ring, size_t n, const uint64_t *words, void *x)
{
    for (size_t i = 0; i < n; i++)
        if (ring == DPI_RING_64)
            ((uint64_t *)x)[i] = words[i / WORD] >> i % WORD & 1;
        else
            ((uint32_t *)x)[i] = (uint32_t)(words[i / WORD] >> i % WORD & 1);
}
