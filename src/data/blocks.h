/* A CSV text cut into blocks of whole records, so that they can be read side by side. */
#ifndef DPI_DATA_BLOCKS_H
#define DPI_DATA_BLOCKS_H

#include <stdbool.h>

#include "data/source.h"

enum { DPI_BLOCK = 512 * 1024 };

/* One block; its room is kept from use to use, for dpi_csv_block_free. */
typedef struct dpi_csv_block {
    char *text; /* [room] */
    size_t size, room;
    size_t line;  /* of its first byte, from 1 */
    size_t lines; /* line feeds in it */
    bool last;    /* nothing follows but line ends, or */
    bool nul;     /* a NUL byte follows */
} dpi_csv_block;

typedef struct dpi_csv_blocks {
    dpi_source *source;
    size_t block;    /* bytes of a block, if records are not longer */
    size_t max_line; /* of one record */
    size_t max_bytes;
    size_t taken;  /* bytes from the source */
    size_t line;   /* of what comes next */
    char *carried; /* [n_carried] begun by the block before */
    size_t n_carried, carried_room;
    bool ended;
} dpi_csv_blocks;

/* Starts; options are the caller's to set: source, block, max_line, max_bytes. */
void dpi_csv_blocks_start(dpi_csv_blocks *b);

/* The next block.  After one that is `last` there is none.
 * DP_EIO; DP_EDATA more than max_bytes; DP_ENOMEM. */
dp_status dpi_csv_blocks_next(dpi_csv_blocks *b, dpi_csv_block *block, dp_error *err);

void dpi_csv_block_free(dpi_csv_block *block);
void dpi_csv_blocks_free(dpi_csv_blocks *b);

#endif
