/* Linear layers modulo 2^64 and 2^32. */
#include "share/kernels.h"

#include <tacit/program.h>

size_t dpi_linear_room(dpi_ring ring, const dpi_linear *l, size_t n_pairs)
{
    (void)ring;
    (void)l;
    (void)n_pairs;
    return 64;
}

/* What the row picks as its number k; 0 in the padding. */
static uint64_t pick(dpi_ring ring, const dpi_linear *l, const void *x, size_t row, size_t k)
{
    size_t record = row / l->stops, at = k;
    if (l->window != NULL) {
        size_t channels = l->terms / (l->window->size[0] * l->window->size[1]);
        size_t pixel = dp_window_pixel(l->window, row % l->stops, k / channels);
        if (pixel == SIZE_MAX)
            return 0;
        at = pixel * channels + k % channels;
    }
    at += record * l->inputs;
    return ring == DPI_RING_64 ? ((const uint64_t *)x)[at] : ((const uint32_t *)x)[at];
}

void dpi_linear_run(dpi_ring ring, const dpi_linear *l, size_t n_pairs,
                    const dpi_linear_pair pair[], size_t first, size_t last, void *z, void *room)
{
    (void)room;
    for (size_t p = 0; p < n_pairs; p++)
        for (size_t row = first; row < last; row++)
            for (size_t k = 0; k < l->terms; k++) {
                uint64_t x = pick(ring, l, pair[p].x, row, k);
                size_t to = (row - first) * l->outputs;
                for (size_t o = 0; o < l->outputs; o++, to++)
                    if (ring == DPI_RING_64)
                        ((uint64_t *)z)[to] += x * ((const uint64_t *)pair[p].w)[o * l->terms + k];
                    else
                        ((uint32_t *)z)[to] +=
                            (uint32_t)x * ((const uint32_t *)pair[p].w)[o * l->terms + k];
            }
}
