/* A letter is written under a name that begins with a dot, put on the disk, and linked to its own,
 * which fails where there is one. */
#define _XOPEN_SOURCE 700
#include "silo/relay-box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static const char beside[] = ".relay-";

/* Remembers when the folder was changed. */
static void note_time(dpi_relay_box *box)
{
    struct stat s;
    if (fstat(box->folder, &s) == 0)
        box->seen = s.st_mtim;
}

static bool was_changed(const dpi_relay_box *box)
{
    struct stat s;
    return fstat(box->folder, &s) != 0 || s.st_mtim.tv_sec != box->seen.tv_sec ||
           s.st_mtim.tv_nsec != box->seen.tv_nsec;
}

/* Counts what is kept; takes drafts away where `tidies`. */
static bool count(dpi_relay_box *box, bool tidies)
{
    struct stat s;
    const int again = openat(box->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    if (d == NULL) {
        if (again >= 0)
            (void)close(again);
        return false;
    }
    box->letters = box->bytes = 0;
    box->counts++;
    box->counted = dpi_deadline_after(DPI_RELAY_RECOUNT);
    note_time(box);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        const bool is_draft = strncmp(e->d_name, beside, sizeof beside - 1) == 0;
        if (is_draft && tidies)
            (void)unlinkat(box->folder, e->d_name, 0);
        if (!is_draft && fstatat(box->folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(s.st_mode)) {
            box->letters++;
            box->bytes += (uint64_t)s.st_size;
        }
    }
    (void)closedir(d);
    return true;
}

dp_status dpi_relay_box_open(dpi_relay_box *box, const char *folder, dp_error *err)
{
    box->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (box->folder < 0)
        return dpi_fail(err, DP_EIO, "%.200s is no folder of letters: %s; make it first", folder,
                        strerror(errno));
    if (flock(box->folder, LOCK_EX | LOCK_NB) != 0)
        return dpi_fail(err, DP_ESTATE, "another process keeps letters in %.200s; let it end",
                        folder);
    if (!count(box, true))
        return dpi_fail(err, DP_EIO, "the letters of %.200s cannot be counted", folder);
    return DP_OK;
}

void dpi_relay_box_close(dpi_relay_box *box)
{
    if (box->folder >= 0)
        (void)close(box->folder);
    box->folder = -1;
}

static bool has_room(const dpi_relay_box *box, uint64_t size)
{
    const uint64_t bytes = box->bytes + box->awaited_bytes;
    return box->letters + box->awaited < box->most_letters && size <= box->most_bytes &&
           bytes <= box->most_bytes - size;
}

/* Where it is full somebody may have made room. */
static bool finds_room(dpi_relay_box *box, uint64_t size)
{
    if (has_room(box, size))
        return true;
    if (!was_changed(box) && dpi_deadline_left(box->counted) > 0)
        return false;
    return count(box, false) && has_room(box, size);
}

int dpi_relay_box_begin(dpi_relay_box *box, const char *name, uint64_t size, dpi_relay_draft *draft)
{
    draft->file = -1;
    if (faccessat(box->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return 412;
    if (size > box->most_letter)
        return 413;
    if (!finds_room(box, size))
        return 507;
    (void)snprintf(draft->name, sizeof draft->name, "%s%llx", beside,
                   (unsigned long long)box->drafts++);
    draft->file = openat(box->folder, draft->name,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (draft->file < 0)
        return 507;
    note_time(box);
    draft->size = size;
    box->awaited++;
    box->awaited_bytes += size;
    return 0;
}

int dpi_relay_box_keep(dpi_relay_box *box, dpi_relay_draft *draft, const char *name)
{
    int status = fsync(draft->file) == 0 ? 201 : 507;
    if (status == 201 && linkat(box->folder, draft->name, box->folder, name, 0) != 0)
        status = errno == EEXIST ? 412 : 507;
    bool there = status == 201;
    if (there && fsync(box->folder) != 0) {
        status = 507;
        there = unlinkat(box->folder, name, 0) != 0;
    }
    if (there) {
        box->letters++;
        box->bytes += draft->size;
    }
    dpi_relay_box_drop(box, draft);
    return status;
}

void dpi_relay_box_drop(dpi_relay_box *box, dpi_relay_draft *draft)
{
    if (draft->file < 0)
        return;
    (void)close(draft->file);
    (void)unlinkat(box->folder, draft->name, 0);
    note_time(box);
    draft->file = -1;
    box->awaited--;
    box->awaited_bytes -= draft->size;
}

int dpi_relay_box_find(const dpi_relay_box *box, const char *name, uint64_t *size)
{
    struct stat s;
    const int file = openat(box->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode)) {
        *size = (uint64_t)s.st_size;
        return file;
    }
    if (file >= 0)
        (void)close(file);
    return -1;
}
