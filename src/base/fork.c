/* Telling a child of fork from its parent.
 *
 * A number of a process does not tell them apart: a process that is number 1 of its PID namespace
 * and forks into a new one has a child that is number 1, too, and numbers are used again.  So a
 * mark is a page of its own that the kernel fills with zeros in a child (MADV_WIPEONFORK of Linux
 * 4.14, INHERIT_ZERO of BSD), however the child was made; vfork and threads, which share the
 * memory, share the mark.
 *
 * Where the kernel has neither, the number of the process is compared together with the PID
 * namespace that it counts in; then a child in the same namespace that gets the number of a parent
 * that has ended is taken for it. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/fork.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

struct dpi_fork {
    volatile unsigned char *page; /* [0] is 1 where the mark is set; NULL: compare the others */
    size_t size;
    pid_t process;
    dev_t device; /* of the PID namespace; zeros where the system does not tell it */
    ino_t file;
};

bool dpi_fork_wipe(void *pages, size_t size)
{
#if defined(MADV_WIPEONFORK)
    return madvise(pages, size, MADV_WIPEONFORK) == 0;
#elif defined(INHERIT_ZERO)
    return minherit(pages, size, INHERIT_ZERO) == 0;
#else
    (void)pages;
    (void)size;
    return false;
#endif
}

void dpi_fork_keep(void *pages, size_t size)
{
#if defined(MADV_KEEPONFORK)
    (void)madvise(pages, size, MADV_KEEPONFORK);
#elif defined(INHERIT_ZERO)
    (void)minherit(pages, size, INHERIT_COPY);
#else
    (void)pages;
    (void)size;
#endif
}

static void read_namespace(dev_t *device, ino_t *file)
{
    struct stat space;
    bool told = stat("/proc/self/ns/pid", &space) == 0;
    *device = told ? space.st_dev : 0;
    *file = told ? space.st_ino : 0;
}

dp_status dpi_fork_new(dpi_fork **mark, dp_error *err)
{
    *mark = NULL;
    dpi_fork *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, made->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        dpi_free(made);
        return dpi_fail_nomem(err);
    }
    if (dpi_fork_wipe(page, made->size))
        made->page = page;
    else
        (void)munmap(page, made->size);
    dpi_fork_set(made);
    *mark = made;
    return DP_OK;
}

bool dpi_fork_here(const dpi_fork *mark)
{
    dev_t device;
    ino_t file;
    if (mark->page != NULL)
        return mark->page[0] == 1;
    if (mark->process != getpid())
        return false;
    read_namespace(&device, &file);
    return mark->device == device && mark->file == file;
}

void dpi_fork_set(dpi_fork *mark)
{
    if (mark->page != NULL) {
        mark->page[0] = 1;
        return;
    }
    mark->process = getpid();
    read_namespace(&mark->device, &mark->file);
}

void dpi_fork_free(dpi_fork *mark)
{
    if (mark == NULL)
        return;
    if (mark->page != NULL)
        (void)munmap((void *)(uintptr_t)mark->page, mark->size);
    dpi_free(mark);
}
