#include "tests/graph/faulty.h"

#include <stdlib.h>

enum { MOST = 4096 };

static size_t countdown, n_live;
static int failed;
static void *live[MOST];
static size_t size_of[MOST];

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

void faulty_fail(size_t k)
{
    countdown = k;
    failed = 0;
}

int faulty_failed(void)
{
    return failed;
}

size_t faulty_live(void)
{
    return n_live;
}

size_t faulty_bytes(void)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n_live; i++)
        bytes += size_of[i];
    return bytes;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (countdown > 0 && --countdown == 0) {
        failed = 1;
        return NULL;
    }
    void *block = __real_aligned_alloc(alignment, size);
    if (n_live == MOST)
        abort();
    if (block != NULL)
        size_of[n_live] = size, live[n_live++] = block;
    return block;
}

void __wrap_free(void *block)
{
    for (size_t i = n_live; block != NULL && i > 0; i--)
        if (live[i - 1] == block) {
            live[i - 1] = live[--n_live];
            size_of[i - 1] = size_of[n_live];
            break;
        }
    __real_free(block);
}
