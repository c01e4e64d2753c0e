#include "tests/random/wraps.h"

#include <errno.h>
#include <stddef.h>

int fail_allocation, fail_entropy;
bool fail_madvise;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __real_getentropy(void *out, size_t n);
int __wrap_getentropy(void *out, size_t n);
int __real_madvise(void *pages, size_t size, int advice);
int __wrap_madvise(void *pages, size_t size, int advice);

static bool fails(int *countdown)
{
    return *countdown > 0 && --*countdown == 0;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(&fail_allocation) ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_getentropy(void *out, size_t n)
{
    if (!fails(&fail_entropy))
        return __real_getentropy(out, n);
    errno = ENOSYS;
    return -1;
}

int __wrap_madvise(void *pages, size_t size, int advice)
{
    if (!fail_madvise)
        return __real_madvise(pages, size, advice);
    errno = EINVAL;
    return -1;
}
