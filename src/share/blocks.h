/* Room for what is made of several gates.
 *
 * Such things take numbers in blocks: as many as fit in a cache with all planes of their bits, and
 * enough that a message is worth its round. */
#ifndef DPI_SHARE_BLOCKS_H
#define DPI_SHARE_BLOCKS_H

#include "share/compare.h"

enum { DPI_BLOCK = 1 << 15 /* numbers; the first level of a comparison of 64 bits is one tile */ };

typedef struct dpi_blocks {
    size_t block;        /* numbers, a multiple of 64 */
    dpi_planes planes;   /* of one block */
    dpi_share number[2]; /* one block each, one after the other in memory */
    dpi_share both;      /* the two as one */
    dpi_share repeated;  /* bits for these */
} dpi_blocks;

/* For trees of up to n_planes planes; block is rounded up.  DP_ENOMEM; all zeros then. */
dp_status dpi_blocks_new(const dpi_party *p, dpi_ring ring, size_t n_planes, size_t block,
                         dpi_blocks *room, dp_error *err) DP_MUST_CHECK;
void dpi_blocks_free(dpi_blocks *room);

#endif
