#define _XOPEN_SOURCE 700
#include "tests/serve/disk.h"

#include <unistd.h>

#include "tests/lib/pause.h"

enum { LONG_ENOUGH = 200 /* ms, in which an answer that does not wait would be there */ };

atomic_int disk_held, disk_broken, disk_begun;

int __real_fsync(int file);
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    atomic_fetch_add(&disk_begun, 1);
    while (atomic_load(&disk_held) != 0)
        pause_for(1);
    return atomic_load(&disk_broken) != 0 ? -1 : __real_fsync(file);
}

void disk_hold(bool breaks)
{
    atomic_store(&disk_begun, 0);
    atomic_store(&disk_held, 1);
    atomic_store(&disk_broken, breaks);
}

void disk_wait(int calls)
{
    while (atomic_load(&disk_begun) < calls)
        pause_for(1);
    pause_for(LONG_ENOUGH);
}

int disk_release(void **state)
{
    (void)state;
    atomic_store(&disk_held, 0);
    atomic_store(&disk_broken, 0);
    return 0;
}
