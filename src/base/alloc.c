/* Aligned, zeroed, overflow-checked allocation and chunked arenas.
 *
 * Large blocks are whole huge pages, where the system has them: of small ones the processor forgets
 * where those of a few megabytes are, and how long a step takes hangs on which ones it was given. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, MIN_CHUNK = 16 * 1024, HUGE_PAGE = 2 << 20 };

struct dpi_arena_chunk {
    struct dpi_arena_chunk *next;
    size_t used, size;
};

bool dpi_mul(size_t a, size_t b, size_t *product)
{
    bool fits = b == 0 || a <= SIZE_MAX / b;
    *product = fits ? a * b : SIZE_MAX;
    return fits;
}

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Rounds up to the alignment; 0 when that overflows, or would for a large block. */
static size_t round_up(size_t bytes)
{
    return bytes > SIZE_MAX - HUGE_PAGE ? 0 : rounded(bytes, ALIGNMENT);
}

static void *large_block(size_t bytes)
{
    bytes = rounded(bytes, HUGE_PAGE);
    void *block = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (block != NULL)
        (void)madvise(block, bytes, MADV_HUGEPAGE); /* advice only */
#endif
    return block;
}

void *dpi_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (!dpi_mul(count, size, &bytes))
        return NULL;
    bytes = round_up(bytes == 0 ? 1 : bytes);
    void *block = bytes == 0           ? NULL
                  : bytes >= HUGE_PAGE ? large_block(bytes)
                                       : aligned_alloc(ALIGNMENT, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void dpi_free(void *block)
{
    free(block);
}

void *dpi_arena_alloc(dpi_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!dpi_mul(count, size, &bytes))
        return NULL;
    bytes = round_up(bytes == 0 ? 1 : bytes);
    if (bytes == 0 || bytes > SIZE_MAX - ALIGNMENT - MIN_CHUNK)
        return NULL;
    struct dpi_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        size_t room = ALIGNMENT + (bytes > MIN_CHUNK ? bytes : MIN_CHUNK);
        chunk = dpi_alloc(1, room);
        if (chunk == NULL)
            return NULL;
        chunk->used = ALIGNMENT; /* the header's own place */
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *block = (char *)chunk + chunk->used;
    chunk->used += bytes;
    return block;
}

char *dpi_arena_strdup(dpi_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = dpi_arena_alloc(arena, size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

bool dpi_arena_grow(dpi_arena *arena, void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < needed) {
        if (wanted > SIZE_MAX / 2)
            return false;
        wanted *= 2;
    }
    void *block = dpi_arena_alloc(arena, wanted, size);
    if (block == NULL)
        return false;
    if (*capacity > 0)
        memcpy(block, *array, *capacity * size);
    *array = block;
    *capacity = wanted;
    return true;
}

size_t dpi_arena_bytes(const dpi_arena *arena)
{
    size_t bytes = 0;
    for (const struct dpi_arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next)
        bytes += chunk->size;
    return bytes;
}

void dpi_arena_free(dpi_arena *arena)
{
    while (arena->chunks != NULL) {
        struct dpi_arena_chunk *next = arena->chunks->next;
        dpi_free(arena->chunks);
        arena->chunks = next;
    }
}
