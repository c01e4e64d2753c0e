/* Blocks in memory, and beyond a limit in one file without a name.
 *
 * Each block of the file has pages of its own, reserved before they are used: a write to a page for
 * which a full disk has no room would end the process.  Pages of a block that is given back are
 * handed to the file system where it takes them.  What was written there is not overwritten, no
 * more than that of any file that is deleted. */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE, fallocate */
#endif
#define _XOPEN_SOURCE 700
#include "base/store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

enum { LEAST_MAPPED = 1 << 20, PAGE = 1 << 16 /* a multiple of the system's */ };

typedef struct dpi_store_block {
    struct dpi_store_block *next;
    void *at;
    size_t bytes;
    int64_t place; /* in the file; -1: in memory */
} keeping;

/* A file that no folder lists. */
static int open_nameless(const char *folder)
{
    int file = -1;
#ifdef O_TMPFILE
    file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
#endif
    char path[PATH_MAX];
    if (file < 0 && snprintf(path, sizeof path, "%s/.tacit-XXXXXX", folder) < (int)sizeof path) {
        file = mkstemp(path); /* for its owner alone */
        if (file >= 0) {
            (void)unlink(path);
            (void)fcntl(file, F_SETFD, FD_CLOEXEC);
        }
    }
    return file;
}

static bool map(dpi_store *store, keeping *b)
{
    const size_t bytes = (b->bytes + PAGE - 1) / PAGE * PAGE;
    if (store->folder == NULL || b->bytes < LEAST_MAPPED ||
        bytes > (size_t)(INT64_MAX - store->end))
        return false;
    if (store->file == 0)
        store->file = open_nameless(store->folder) + 1;
    if (store->file == 0 || posix_fallocate(store->file - 1, store->end, (off_t)bytes) != 0)
        return false;
    void *at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, store->file - 1, (off_t)store->end);
    if (at == MAP_FAILED)
        return false;
    b->at = at;
    b->bytes = bytes;
    b->place = store->end;
    store->end += (int64_t)bytes;
    return true;
}

static void unmap(const dpi_store *store, const keeping *b)
{
    (void)munmap(b->at, b->bytes);
#ifdef FALLOC_FL_PUNCH_HOLE
    (void)fallocate(store->file - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, b->place,
                    (off_t)b->bytes);
#else
    (void)store;
#endif
}

void *dpi_store_alloc(dpi_store *store, size_t count, size_t size)
{
    keeping *b = dpi_alloc(1, sizeof *b);
    if (b == NULL || !dpi_mul(count, size, &b->bytes) || b->bytes > SIZE_MAX - PAGE) {
        dpi_free(b);
        return NULL;
    }
    b->place = -1;
    const bool beyond = store->held > store->in_memory || b->bytes > store->in_memory - store->held;
    if (!beyond || !map(store, b)) {
        b->at = dpi_alloc(b->bytes, 1);
        if (b->at == NULL) {
            dpi_free(b);
            return NULL;
        }
        store->held += b->bytes;
    }
    b->next = store->blocks;
    store->blocks = b;
    return b->at;
}

static void give_back(dpi_store *store, keeping *b)
{
    if (b->place >= 0) {
        unmap(store, b);
    } else {
        store->held -= b->bytes;
        dpi_free(b->at);
    }
    dpi_free(b);
}

void dpi_store_free_block(dpi_store *store, void *at)
{
    for (keeping **b = &store->blocks; at != NULL && *b != NULL; b = &(*b)->next)
        if ((*b)->at == at) {
            keeping *gone = *b;
            *b = gone->next;
            give_back(store, gone);
            return;
        }
}

bool dpi_store_grow(dpi_store *store, void **at, size_t used, size_t count, size_t size)
{
    void *larger = dpi_store_alloc(store, count, size);
    if (larger == NULL)
        return false;
    if (used > 0)
        memcpy(larger, *at, used * size);
    dpi_store_free_block(store, *at);
    *at = larger;
    return true;
}

void dpi_store_free(dpi_store *store)
{
    while (store->blocks != NULL) {
        keeping *b = store->blocks;
        store->blocks = b->next;
        give_back(store, b);
    }
    if (store->file > 0)
        (void)close(store->file - 1);
    store->file = 0;
    store->end = 0;
}
