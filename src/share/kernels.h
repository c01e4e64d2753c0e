/* Local arithmetic on whole arrays, compiled for the widest vectors of the machine.
 *
 * No function here branches on, or indexes by, what is in the arrays. */
#ifndef DPI_SHARE_KERNELS_H
#define DPI_SHARE_KERNELS_H

#include "share/share.h"

/* z[row - first][outputs] += sum over pairs of x[pair] (x) w[pair] of rows first ... last - 1, all
 * modulo the ring; DPI_RING_64 and DPI_RING_32.  x[pair][records][inputs], w[pair][outputs][terms].
 * room: dpi_linear_room bytes. */
typedef struct dpi_linear_pair {
    const void *x, *w;
} dpi_linear_pair;
size_t dpi_linear_room(dpi_ring ring, const dpi_linear *l, size_t n_pairs);
void dpi_linear_run(dpi_ring ring, const dpi_linear *l, size_t n_pairs,
                    const dpi_linear_pair pair[], size_t first, size_t last, void *z, void *room);

/* planes[j][words of n]: bit plane[j] of each of x[n]; bits past n are zeros. */
void dpi_planes_of(dpi_ring ring, size_t n, const void *x, size_t n_planes, const int *plane,
                   uint64_t *planes);
/* x[n] of planes 0 ... n_planes - 1. */
void dpi_planes_to(dpi_ring ring, size_t n, size_t n_planes, const uint64_t *planes, void *x);

/* x[i] = bit i of words, as a number 0 or 1. */
void dpi_bits_spread(dpi_ring ring, size_t n, const uint64_t *words, void *x);

#endif
