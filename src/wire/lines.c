/* Reading lines, as hostile input: every size is limited and every byte looked at. */
#define _XOPEN_SOURCE 700
#include "wire/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

dp_status dpi_lines_fail(const dpi_lines *l, dp_error *err, const char *what, const char *shown)
{
    return dpi_fail(err, DP_EDATA, "%.150s:%zu: %s%s%.80s%s", l->file, l->number, what,
                    shown != NULL ? ": '" : "", shown != NULL ? shown : "",
                    shown != NULL ? "'" : "");
}

/* Copies length bytes to l->line without what is not meant. */
static dp_status take(dpi_lines *l, const char *from, size_t length, dp_error *err)
{
    l->line[0] = 0;
    if (length > 0 && from[length - 1] == '\r')
        length--;
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)from[i] < 0x20 && from[i] != '\t') || from[i] == 0x7f)
            return dpi_lines_fail(l, err, "a control character; this must be plain text", NULL);
    const char *comment = memchr(from, '#', length);
    if (comment != NULL)
        length = (size_t)(comment - from);
    while (length > 0 && blank(from[length - 1]))
        length--;
    while (length > 0 && blank(*from)) {
        from++;
        length--;
    }
    if (length > DPI_MOST_LINE)
        return dpi_lines_fail(l, err, "a line of more than 1000 bytes", NULL);
    memcpy(l->line, from, length);
    l->line[length] = 0;
    return DP_OK;
}

dp_status dpi_lines_next(dpi_lines *l, bool *there, dp_error *err)
{
    dp_status status = DP_OK;
    *there = false;
    while (status == DP_OK && !*there && l->n > 0) {
        const char *end = memchr(l->at, '\n', l->n), *from = l->at;
        size_t length = end != NULL ? (size_t)(end - from) : l->n;
        size_t used = end != NULL ? length + 1 : length;
        l->at += used;
        l->n -= used;
        l->number++;
        status = take(l, from, length, err);
        *there = status == DP_OK && l->line[0] != 0;
    }
    return status;
}

char *dpi_lines_word(char **text)
{
    char *word = *text, *end = word;
    while (*end != 0 && !blank(*end))
        end++;
    char *next = end;
    while (blank(*next))
        next++;
    *end = 0;
    *text = next;
    return word;
}

static dp_status check_file(int file, const char *path, dp_error *err)
{
    struct stat s;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EIO, "%.200s is no regular file; give the file itself", path);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "%.200s belongs to another user, who can change who is let in; make it "
                        "your own",
                        path);
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return dpi_fail(
            err, DP_EPRIVACY,
            "others may write %.200s (mode %03o), and it says who is let in; chmod go-w "
            "it and read it through",
            path, (unsigned)(s.st_mode & 0777));
    if (s.st_size > DPI_MOST_TEXT)
        return dpi_fail(err, DP_EDATA, "%.200s is longer than 1 MB", path);
    return DP_OK;
}

dp_status dpi_lines_file(const char *path, char **bytes, size_t *n, dp_error *err)
{
    *bytes = NULL;
    *n = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return dpi_fail(err, DP_EIO, "cannot open %.200s; check the path", path);
    dp_status status = check_file(file, path, err);
    char *to = status == DP_OK ? dpi_alloc(DPI_MOST_TEXT, 1) : NULL;
    if (status == DP_OK && to == NULL)
        status = dpi_fail_nomem(err);
    for (ssize_t got = 1; status == DP_OK && got != 0 && *n < DPI_MOST_TEXT;) {
        got = read(file, to + *n, DPI_MOST_TEXT - *n);
        if (got > 0)
            *n += (size_t)got;
        else if (got < 0 && errno != EINTR)
            status = dpi_fail(err, DP_EIO, "cannot read %.200s", path);
    }
    (void)close(file);
    if (status == DP_OK) {
        *bytes = to;
        return DP_OK;
    }
    dpi_free(to);
    *n = 0;
    return status;
}
