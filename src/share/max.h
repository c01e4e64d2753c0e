/* Largest numbers, and where they stand.
 *
 * max(x, y) = y + [x >= y] (x - y): a comparison and one inject.  Of several numbers by a tree, all
 * pairs of a level at once.  For |x|, |y| < 2^bits a difference is below 2^(bits+1), so that
 * bits + 2 of its bits tell its sign; bits + 1 where both are known not to be negative. */
#ifndef DPI_SHARE_MAX_H
#define DPI_SHARE_MAX_H

#include "share/blocks.h"

/* z[i] = max(x[i], y[i]) by a tree for differences; z may be x or y. */
void dpi_max_run(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room,
                 const dpi_share *x, const dpi_share *y, dpi_share *z);

/* x[0][i] = the largest of x[0 ... k - 1][i], x[k][n]; the others are overwritten. */
void dpi_max_of(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room, size_t k,
                size_t n, dpi_share *x);

/* place[0][i] = the first place of the largest of x[0 ... k - 1][i], x[k][n] and place[k][n], which
 * are overwritten; n is at most a block. */
void dpi_argmax_of(dpi_party *p, dpi_ring ring, const dpi_carries *tree, dpi_blocks *room, size_t k,
                   size_t n, dpi_share *x, dpi_share *place);

/* Levels of a tree over k numbers. */
int dpi_max_levels(size_t k);

#endif
