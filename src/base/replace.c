/* Write a new file beside the old one, sync it, rename it over the old one, sync the folder: rename
 * is atomic, and what it puts there has reached the disk before it. */
#define _XOPEN_SOURCE 700
#include "base/replace.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static bool write_all(int file, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(file, bytes, n);
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return fsync(file) == 0;
}

/* Syncs the folder of the path, cutting the path after it. */
static bool sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        strcpy(path, ".");
    else
        slash[slash == path] = 0;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    bool good = fsync(folder) == 0;
    return close(folder) == 0 && good;
}

bool dpi_sync_folder_of(const char *path)
{
    char *copy = dpi_alloc(strlen(path) + 2, 1); /* and where it is ".", which may be longer */
    if (copy == NULL)
        return false;
    strcpy(copy, path);
    bool good = sync_folder(copy);
    dpi_free(copy);
    return good;
}

dp_status dpi_file_replace(const char *path, const void *bytes, size_t n, dp_error *err)
{
    size_t size = strlen(path) + sizeof ".XXXXXX";
    char *name = dpi_alloc(size, 1);
    if (name == NULL)
        return dpi_fail_nomem(err);
    (void)snprintf(name, size, "%s.XXXXXX", path);
    int file = mkstemp(name);
    bool good = file >= 0 && write_all(file, bytes, n);
    if (file >= 0)
        good = close(file) == 0 && good;
    good = good && rename(name, path) == 0;
    if (!good && file >= 0)
        (void)unlink(name);
    good = good && sync_folder(name);
    dpi_free(name);
    return good ? DP_OK
                : dpi_fail(err, DP_EIO,
                           "cannot write %.200s; check the path, your right to write to its "
                           "folder, and the room on the disk",
                           path);
}
