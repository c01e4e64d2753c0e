/* Writing past interruptions, and syncing names. */
#define _XOPEN_SOURCE 700
#include "wire/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 }; /* more than Linux opens */

bool dpi_disk_write(int file, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(file, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

bool dpi_disk_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char name[LONGEST_PATH] = ".";
    if (n >= sizeof name)
        return false;
    if (n > 0)
        memcpy(name, path, n);
    int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0)
        good = close(folder) == 0 && good;
    return good;
}
