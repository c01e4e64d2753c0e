/* Blocks of columns, which a table of many records needs and its arithmetic goes through in order.
 *
 * The first `in_memory` bytes are ordinary memory; what is beyond lies in a file of a folder that
 * the caller names, which has no name of its own, so that nobody can open it and it is gone when
 * the process is, however it ends.  It is mapped: the system keeps in memory what there is room
 * for.  Blocks are zeroed, 64-byte aligned, and live until they are freed or the store is. */
#ifndef DPI_BASE_STORE_H
#define DPI_BASE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DPI_STORE_IN_MEMORY = 256 * 1024 * 1024 };

typedef struct dpi_store {
    const char *folder; /* borrowed; NULL: all in memory */
    size_t in_memory;   /* bytes */
    size_t held;        /* bytes of ordinary memory that blocks have */
    int file;           /* plus 1; 0: there is none yet */
    int64_t end;        /* of the file */
    struct dpi_store_block *blocks;
} dpi_store;

/* count * size bytes; NULL when memory is out, or the folder has no room and memory is out. */
void *dpi_store_alloc(dpi_store *store, size_t count, size_t size);

/* Makes *block, of the store or NULL, one of `count * size` bytes that begins with the first
 * `used * size` ones of it; false where there is no room, and then nothing has changed. */
bool dpi_store_grow(dpi_store *store, void **block, size_t used, size_t count, size_t size);

/* Gives a block of the store back; NULL is allowed. */
void dpi_store_free_block(dpi_store *store, void *block);

/* Gives all blocks back; the store is empty and usable again. */
void dpi_store_free(dpi_store *store);

#endif
