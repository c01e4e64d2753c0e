/* Letters as files of a folder.  A letter is written under a name of its own, put on the disk, and
 * linked to its tag's name, which fails where there is one: so it appears whole, and the first one
 * stays.  Slashes of a tag are + in the name. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/carrier.h"
#include "wire/disk.h"

typedef struct folder_carrier {
    dpi_carrier base;
    char path[PATH_MAX];
} folder_carrier;

/* Pauses between looks, which grow to the second: letters of one machine come at once, those of a
 * share over a network in their time. */
static const long first_pause = 200 * 1000L, longest_pause = 100 * 1000000L; /* ns */

static dp_status name_of(const folder_carrier *f, const char *tag, char path[PATH_MAX],
                         dp_error *err)
{
    int n = snprintf(path, PATH_MAX, "%s/%s", f->path, tag);
    if (n < 0 || n >= PATH_MAX || strlen(tag) >= DPI_CARRIER_TAG || tag[0] == '.')
        return dpi_fail(err, DP_EINVAL, "the folder's path, or a letter's tag, is too long");
    for (char *c = path + strlen(f->path) + 1; *c != '\0'; c++)
        *c = *c == '/' ? '+' : *c;
    return DP_OK;
}

static dp_status fail_io(const folder_carrier *f, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EIO, "cannot %s in %.200s: %s", what, f->path, strerror(errno));
}

static dp_status put(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err)
{
    const folder_carrier *f = (const folder_carrier *)c;
    char path[PATH_MAX], beside[PATH_MAX];
    dp_status status = name_of(f, tag, path, err);
    if (status != DP_OK)
        return status;
    int length = snprintf(beside, sizeof beside, "%s/.%08x%08x", f->path,
                          (unsigned)randombytes_random(), (unsigned)randombytes_random());
    if (length < 0 || (size_t)length >= sizeof beside)
        return dpi_fail(err, DP_EINVAL, "the folder's path is too long");
    if (access(path, F_OK) == 0)
        return DP_OK;
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (file < 0)
        return fail_io(f, "write", err);
    bool good = dpi_disk_write(file, (const char *)bytes, n) && fsync(file) == 0;
    good = close(file) == 0 && good;
    good = good && (link(beside, path) == 0 || errno == EEXIST);
    if (!good)
        status = fail_io(f, "write a letter", err);
    (void)unlink(beside);
    if (status == DP_OK && !dpi_disk_sync_folder(path))
        status = fail_io(f, "keep a letter", err);
    return status;
}

/* All of a file that is open and has *n bytes at most; *bytes NULL where it is not as a letter must
 * be. */
static dp_status read_file(const folder_carrier *f, int file, const char *tag, size_t *n,
                           unsigned char **bytes, dp_error *err)
{
    struct stat s;
    size_t got = 0;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EPEER, "a file in %.200s is no letter", f->path);
    if ((uint64_t)s.st_size > *n)
        return dpi_carrier_fail_long(tag, err);
    *n = (size_t)s.st_size;
    *bytes = dpi_alloc(*n + 1, 1);
    if (*bytes == NULL)
        return dpi_fail_nomem(err);
    while (got < *n) {
        ssize_t some = read(file, *bytes + got, *n - got);
        if (some == 0 || (some < 0 && errno != EINTR)) {
            dpi_free(*bytes);
            *bytes = NULL;
            return fail_io(f, "read a letter", err);
        }
        got += some > 0 ? (size_t)some : 0;
    }
    return DP_OK;
}

static double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static dp_status get(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err)
{
    const folder_carrier *f = (const folder_carrier *)c;
    char path[PATH_MAX];
    struct timespec pause = {0, first_pause};
    double until = seconds_now() + wait_ms / 1e3;
    *bytes = NULL;
    *n = 0;
    dp_status status = name_of(f, tag, path, err);
    while (status == DP_OK) {
        int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0) {
            *n = most;
            status = read_file(f, file, tag, n, bytes, err);
            (void)close(file);
            return status;
        }
        if (errno != ENOENT && errno != ESTALE)
            return fail_io(f, "read", err);
        if (seconds_now() >= until)
            return dpi_fail(err, DP_ETIMEOUT, "no letter %s has come", tag);
        (void)nanosleep(&pause, NULL);
        status = dpi_carrier_look(c, err);
        pause.tv_nsec =
            pause.tv_nsec * 3 / 2 < longest_pause ? pause.tv_nsec * 3 / 2 : longest_pause;
    }
    return status;
}

static void close_folder(dpi_carrier *c)
{
    dpi_free(c);
}

static const dpi_carrier_kind folder_kind = {"folder", put, get, close_folder};

dp_status dpi_carrier_folder(const char *path, dpi_carrier **c, dp_error *err)
{
    struct stat s;
    *c = NULL;
    if (strlen(path) > PATH_MAX - DPI_CARRIER_TAG - 2)
        return dpi_fail(err, DP_EINVAL, "the mailbox's path is too long");
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return dpi_fail(err, DP_EIO,
                        "%.200s is no folder; give one that all owners reach, and make it first",
                        path);
    folder_carrier *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->base.kind = &folder_kind;
    memcpy(made->path, path, strlen(path) + 1);
    *c = &made->base;
    return DP_OK;
}
