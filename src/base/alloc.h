/* All memory of the library comes from here: checked sizes, zeroed blocks, arenas.
 *
 * An arena owns everything an object allocates; freeing the object frees the arena.  Blocks of an
 * arena are zeroed, 64-byte aligned and never move. */
#ifndef DPI_BASE_ALLOC_H
#define DPI_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed block of count * size bytes, 64-byte aligned; NULL when that overflows or memory is out.
 * A zero count gives a valid block.  Free with dpi_free. */
void *dpi_alloc(size_t count, size_t size);

/* Frees a block of dpi_alloc; NULL is allowed. */
void dpi_free(void *block);

/* *product = a * b; false (and *product = SIZE_MAX) when it overflows. */
bool dpi_mul(size_t a, size_t b, size_t *product);

typedef struct dpi_arena {
    struct dpi_arena_chunk *chunks; /* newest first */
} dpi_arena;

/* Zeroed block of count * size bytes in the arena; NULL when memory is out. */
void *dpi_arena_alloc(dpi_arena *arena, size_t count, size_t size);

/* Copy of a string in the arena; NULL when memory is out. */
char *dpi_arena_strdup(dpi_arena *arena, const char *text);

/* Makes *array hold at least `needed` items of `size` bytes, growing by doubling.  `capacity` is
 * updated.  Old blocks stay in the arena until it is freed (at most the size of the last one).
 * False when memory is out; then nothing has changed. */
bool dpi_arena_grow(dpi_arena *arena, void **array, size_t *capacity, size_t needed, size_t size);

/* Bytes that the arena has from the system. */
size_t dpi_arena_bytes(const dpi_arena *arena);

/* Frees every block; the arena is empty and usable again. */
void dpi_arena_free(dpi_arena *arena);

#endif
