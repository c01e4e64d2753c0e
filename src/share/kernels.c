/* The table of kernels, and the choice among them and between the two ways to compute a layer. */
#include "share/kernels.h"

#include <tacit/model.h>

#include "share/kernels-parts.h"

static bool everywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512dq") != 0 && has_avx2();
}
#endif

const dpi_tile_kernel dpi_tile_kernels[] = {
#if defined(__x86_64__)
    {"avx512",
     has_avx512,
     64,
     {2, 2},
     {dpi_dots_avx512_64, dpi_dots_avx512_32},
     {dpi_panel_avx512_64, dpi_panel_avx512_32}},
    {"avx2",
     has_avx2,
     32,
     {1, 2},
     {dpi_dots_avx2_64, dpi_dots_avx2_32},
     {dpi_panel_avx2_64, dpi_panel_avx2_32}},
#endif
    {"portable", everywhere, 8, {0, 0}, {dpi_dots_portable_64, dpi_dots_portable_32}, {NULL, NULL}},
};
const size_t dpi_n_tile_kernels = sizeof dpi_tile_kernels / sizeof *dpi_tile_kernels;

static const dpi_tile_kernel *best(void)
{
    const dpi_tile_kernel *kernel = dpi_tile_kernels;
    while (!kernel->works())
        kernel++;
    return kernel;
}

/* Vector multiplications, or what takes as long, of both ways.  Measured: to sum a vector's lanes
 * takes as long as 2, to copy a run of pixels as 20 and one for every two vectors, and to turn over
 * a weight as one. */
static bool panels_pay(const dpi_layer *y)
{
    if (y->kernel->width[y->ring] == 0)
        return false;
    const size_t lanes = y->kernel->bytes / dpi_ring_bytes(y->ring), rows = y->last - y->first;
    const size_t deep = (y->l->terms + lanes - 1) / lanes, outputs = y->l->outputs;
    const size_t wide = (outputs + lanes - 1) / lanes;
    const size_t copied = y->l->window == NULL ? 0 : 20 * y->l->window->size[0] + deep / 2;
    return y->l->terms * (rows * wide + outputs) < rows * (outputs * (deep + 2) + copied);
}

void dpi_layer_run(const dpi_layer *y, dpi_layer_way way)
{
    if (y->first >= y->last || y->l->terms == 0)
        return;
    if (way == DPI_LAYER_PANELS || (way == DPI_LAYER_BEST && panels_pay(y)))
        dpi_layer_panels(y);
    else
        dpi_layer_dots(y);
}

size_t dpi_linear_room(dpi_ring ring, const dpi_linear *l, size_t n_pairs)
{
    if (l->records == 0 || l->terms == 0)
        return DPI_TILE_BYTES;
    const size_t a = dpi_layer_dots_room(l), b = dpi_layer_panels_room(ring, l, n_pairs);
    return DPI_TILE_BYTES + (a > b ? a : b);
}

void dpi_linear_run(dpi_ring ring, const dpi_linear *l, size_t n_pairs,
                    const dpi_linear_pair pair[], size_t first, size_t last, void *z, void *room)
{
    unsigned char *at = room;
    at += (DPI_TILE_BYTES - (uintptr_t)at % DPI_TILE_BYTES) % DPI_TILE_BYTES;
    const dpi_layer y = {best(), ring, l, n_pairs, pair, first, last, z, at};
    dpi_layer_run(&y, DPI_LAYER_BEST);
}
