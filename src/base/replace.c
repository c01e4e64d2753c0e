/* Write a new file beside the old one, sync it, rename it over the old one, sync the folder: rename
 * is atomic, and what it puts there has reached the disk before it. */
#define _XOPEN_SOURCE 700
#include "base/replace.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

/* Behind the name of a file, that of what will take its place. */
static const char beside[] = ".new-XXXXXX";

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
    char copy[PATH_MAX]; /* no memory: for want of it the disk would be blamed */
    if (strlen(path) + 2 > sizeof copy)
        return false;
    strcpy(copy, path);
    return sync_folder(copy);
}

dp_status dpi_file_replace(const char *path, const void *bytes, size_t n, dp_error *err)
{
    size_t size = strlen(path) + sizeof beside;
    char *name = dpi_alloc(size, 1);
    if (name == NULL)
        return dpi_fail_nomem(err);
    (void)snprintf(name, size, "%s%s", path, beside);
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

void dpi_file_sweep(const char *path)
{
    char folder[PATH_MAX], name[PATH_MAX], left[PATH_MAX];
    const size_t mark = strlen(beside) - 6; /* to the letters that are random */
    if (strlen(path) >= PATH_MAX)
        return;
    const char *dir = dirname(strcpy(folder, path)), *own = basename(strcpy(name, path));
    const size_t n = strlen(own);
    DIR *d = opendir(dir);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        bool is_left = strlen(e->d_name) == n + strlen(beside) && memcmp(e->d_name, own, n) == 0 &&
                       memcmp(e->d_name + n, beside, mark) == 0;
        int size = is_left ? snprintf(left, sizeof left, "%s/%s", dir, e->d_name) : 0;
        if (size > 0 && (size_t)size < sizeof left)
            (void)unlink(left);
    }
    if (d != NULL)
        (void)closedir(d);
}
