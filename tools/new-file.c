#define _XOPEN_SOURCE 700
#include "tools/new-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool new_file_check(const char *path, const char *reason, message *why)
{
    char folder[PATH_MAX];
    if (access(path, F_OK) == 0)
        return complain(why, "--out: %.300s is there already, and %s; give another name", path,
                        reason);
    const char *slash = strrchr(path, '/');
    size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof folder)
        return complain(why, "--out is too long a path; give a shorter one");
    memcpy(folder, path, n);
    folder[n] = '\0';
    if (access(n > 0 ? folder : ".", W_OK | X_OK) != 0)
        return complain(why, "--out: no file can be made as %.300s (%s); give another place", path,
                        strerror(errno));
    return true;
}

bool new_file_begin(new_file *f, const char *path, message *why)
{
    struct stat there;
    *f = (new_file){.path = path};
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return complain(why, "%.300s is no regular file; give another name", path);
    const int n = snprintf(f->name, sizeof f->name, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof f->name) {
        f->name[0] = '\0';
        return complain(why, "%.100s... is too long a path; give a shorter one", path);
    }
    const int file = mkstemp(f->name);
    if (file < 0) {
        const int wrong = errno;
        f->name[0] = '\0';
        return complain(why, "no file can be made as %.300s (%s); give another place", path,
                        strerror(wrong));
    }
    (void)close(file);
    return true;
}

/* As an ordinary new file would be, and on the disk. */
static bool settle(const char *name)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    const int file = open(name, O_RDONLY);
    bool good = file >= 0 && fsync(file) == 0;
    if (file >= 0)
        good = close(file) == 0 && good;
    return chmod(name, 0666 & ~mask) == 0 && good;
}

bool new_file_keep(new_file *f, message *why)
{
    if (settle(f->name) && rename(f->name, f->path) == 0) {
        f->name[0] = '\0';
        return true;
    }
    const int wrong = errno;
    new_file_drop(f);
    return complain(why, "%.300s cannot be written (%s); is the disk full?", f->path,
                    strerror(wrong));
}

void new_file_drop(new_file *f)
{
    if (f->name[0] != '\0')
        (void)unlink(f->name);
    f->name[0] = '\0';
}
