/* The log of queries.
 *
 * Each process keeps in memory the queries of the window, and how far it has read; under the lock
 * it reads on to the end, which finds what others have written.  A line that was cut off by a full
 * disk or a crash belongs to a query that was never answered: the next one to write ends it with
 * " torn", and it does not count. */
#define _DEFAULT_SOURCE
#include "wire/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/disk.h"
#include "wire/syncer.h"

enum { LINE = 256, BLOCK = 64 * 1024, TRIES = 2000, NS_A_TRY = 2500000, TIME_TEXT = 20 };

typedef struct asked_one {
    int64_t at;
    unsigned char client[DPI_FINGERPRINT];
} asked_one;

struct dpi_query_log {
    pthread_mutex_t mutex;
    int file;
    dpi_syncer *syncer;
    char *path, *block;
    uint64_t queries, window;
    off_t read_to; /* the end of the last whole line that was read */
    uint64_t lines, asked;
    int64_t latest; /* time in the file */
    asked_one *recent;
    size_t n, room;
};

/* ---- time ---- */

static bool leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_before(int year)
{
    int64_t y = year - 1;
    return 365 * y + y / 4 - y / 100 + y / 400;
}

/* A number of just n digits; -1 where there are others. */
static int digits(const char *text, int n)
{
    int number = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = 10 * number + text[i] - '0';
    }
    return number;
}

/* Seconds since 1970 of "2026-11-23T18:12:27Z"; false when it is no time. */
static bool read_time(const char *t, size_t n, int64_t *seconds)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (n != TIME_TEXT || t[4] != '-' || t[7] != '-' || t[10] != 'T' || t[13] != ':' ||
        t[16] != ':' || t[19] != 'Z')
        return false;
    int year = digits(t, 4), month = digits(t + 5, 2), day = digits(t + 8, 2);
    int hour = digits(t + 11, 2), minute = digits(t + 14, 2), second = digits(t + 17, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60)
        return false;
    if (day > days[month - 1] + (month == 2 && leap(year)))
        return false;
    int64_t past = days_before(year) - days_before(1970) + day - 1;
    for (int m = 1; m < month; m++)
        past += days[m - 1] + (m == 2 && leap(year));
    *seconds = ((past * 24 + hour) * 60 + minute) * 60 + second;
    return true;
}

static void write_time(int64_t seconds, char text[TIME_TEXT + 1])
{
    struct tm parts;
    const time_t t = (time_t)seconds;
    if (gmtime_r(&t, &parts) == NULL ||
        strftime(text, TIME_TEXT + 1, "%Y-%m-%dT%H:%M:%SZ", &parts) != TIME_TEXT)
        text[0] = 0;
}

/* Now, or the latest time in the file where the clock has gone back. */
static int64_t now(const dpi_query_log *log)
{
    int64_t t = (int64_t)time(NULL);
    return t > log->latest ? t : log->latest;
}

/* ---- lines ---- */

static dp_status keep(dpi_query_log *log, const asked_one *one, dp_error *err)
{
    if (log->n == log->room) {
        size_t room = log->room == 0 ? 64 : 2 * log->room;
        asked_one *more = dpi_alloc(room, sizeof *more);
        if (more == NULL)
            return dpi_fail_nomem(err);
        if (log->n > 0)
            memcpy(more, log->recent, log->n * sizeof *more);
        dpi_free(log->recent);
        log->recent = more;
        log->room = room;
    }
    log->recent[log->n++] = *one;
    return DP_OK;
}

/* The next word of a line that ends at `end`, and its length. */
static const char *word(const char **at, const char *end, size_t *n)
{
    const char *from = *at, *blank = memchr(from, ' ', (size_t)(end - from));
    const char *stop = blank != NULL ? blank : end;
    *n = (size_t)(stop - from);
    *at = blank != NULL ? blank + 1 : end;
    return from;
}

static bool is(const char *text, size_t n, const char *expected)
{
    return n == strlen(expected) && memcmp(text, expected, n) == 0;
}

static dp_status read_line(dpi_query_log *log, const char *line, size_t n, dp_error *err)
{
    static const char torn[] = " torn";
    const size_t tail = sizeof torn - 1;
    if (n >= tail && memcmp(line + n - tail, torn, tail) == 0)
        return DP_OK;
    asked_one one;
    size_t length;
    const char *end = line + n, *at = word(&line, end, &length);
    bool good = read_time(at, length, &one.at), asked = false;
    at = word(&line, end, &length); /* the query's number */
    good = good && length > 0 && strspn(at, "0123456789") == length;
    at = word(&line, end, &length);
    asked = is(at, length, "asked");
    good = good && (asked || is(at, length, "ended"));
    at = word(&line, end, &length);
    if (asked)
        good = good && dpi_fingerprint_read(at, length, one.client);
    if (!good)
        return dpi_fail(err, DP_EDATA,
                        "%.200s:%" PRIu64 ": no line of a log of queries; the file is damaged, and "
                        "budgets cannot be counted from it",
                        log->path, log->lines + 1);
    log->latest = one.at > log->latest ? one.at : log->latest;
    dp_status status = asked ? keep(log, &one, err) : DP_OK;
    log->asked += asked && status == DP_OK;
    return status;
}

/* Reads the whole lines from log->read_to on; *torn when the file does not end with one. */
static dp_status read_on(dpi_query_log *log, off_t size, bool *torn, dp_error *err)
{
    while (log->read_to < size) {
        ssize_t got = pread(log->file, log->block, BLOCK, log->read_to);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return dpi_fail(err, DP_EIO, "cannot read %.200s", log->path);
        size_t used = 0;
        for (const char *end;
             (end = memchr(log->block + used, '\n', (size_t)got - used)) != NULL;) {
            size_t n = (size_t)(end - log->block) - used;
            dp_status status = read_line(log, log->block + used, n, err);
            if (status != DP_OK)
                return status;
            used += n + 1;
            log->read_to += (off_t)n + 1;
            log->lines++;
        }
        if (used == 0 && got == BLOCK)
            return dpi_fail(err, DP_EDATA,
                            "%.200s holds a line of more than %d bytes; it is no log", log->path,
                            BLOCK);
        if (used == 0)
            break;
    }
    *torn = log->read_to < size;
    return DP_OK;
}

/* ---- under the lock ---- */

static dp_status lock(dpi_query_log *log, dp_error *err)
{
    const struct timespec pause = {.tv_nsec = NS_A_TRY};
    for (int i = 0; i < TRIES; i++) {
        if (flock(log->file, LOCK_EX | LOCK_NB) == 0)
            return DP_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        (void)nanosleep(&pause, NULL);
    }
    return dpi_fail(err, DP_EIO,
                    "cannot lock %.200s; does another process hold it, or is it on a file system "
                    "without locks?",
                    log->path);
}

/* The file under the name is still the one that is open, and nothing was taken off it. */
static dp_status check_file(const dpi_query_log *log, off_t *size, dp_error *err)
{
    struct stat own, named;
    if (fstat(log->file, &own) != 0)
        return dpi_fail(err, DP_EIO, "cannot read %.200s", log->path);
    if (stat(log->path, &named) != 0 || own.st_ino != named.st_ino || own.st_dev != named.st_dev)
        return dpi_fail(
            err, DP_EDATA,
            "%.200s was moved away or replaced while it is in use; stop all that use it "
            "before",
            log->path);
    if (own.st_size < log->read_to)
        return dpi_fail(err, DP_EDATA,
                        "%.200s has become shorter; what was spent can no longer be counted",
                        log->path);
    *size = own.st_size;
    return DP_OK;
}

static dp_status fail_to_write(const dpi_query_log *log, dp_error *err)
{
    return dpi_fail(err, DP_EIO,
                    "cannot write to %.200s; without it no query is answered: is the disk full?",
                    log->path);
}

/* Writes, and begins to put it on the disk: *number for dpi_syncer_wait, nullable. */
static dp_status append(dpi_query_log *log, const char *text, uint64_t *number, dp_error *err)
{
    bool written = dpi_disk_write(log->file, text, strlen(text));
    uint64_t begun = written ? dpi_syncer_begin(log->syncer) : 0;
    if (number != NULL)
        *number = begun;
    return begun > 0 ? DP_OK : fail_to_write(log, err);
}

/* Locked, with all that is in the file read, and its last line ended. */
static dp_status enter(dpi_query_log *log, dp_error *err)
{
    (void)pthread_mutex_lock(&log->mutex);
    off_t size = 0;
    bool torn = false;
    dp_status status = lock(log, err);
    if (status == DP_OK)
        status = check_file(log, &size, err);
    if (status == DP_OK)
        status = read_on(log, size, &torn, err);
    if (status == DP_OK && torn)
        status = append(log, " torn\n", NULL, err);
    return status;
}

static void leave(dpi_query_log *log)
{
    (void)flock(log->file, LOCK_UN);
    (void)pthread_mutex_unlock(&log->mutex);
}

/* Forgets what is out of the window; how many of the client's are in it, and the earliest. */
static uint64_t count(dpi_query_log *log, const dpi_log_query *q, int64_t t, int64_t *earliest)
{
    uint64_t of_client = 0;
    size_t kept = 0;
    for (size_t i = 0; i < log->n; i++) {
        const asked_one *one = &log->recent[i];
        if (t - one->at >= (int64_t)log->window)
            continue;
        if (memcmp(one->client, q->client, DPI_FINGERPRINT) == 0) {
            if (of_client == 0 || one->at < *earliest)
                *earliest = one->at;
            of_client++;
        }
        log->recent[kept++] = *one;
    }
    log->n = kept;
    return of_client;
}

/* n lines of queries from a number on, as one write: what follows the number is the same. */
static dp_status append_lines(dpi_query_log *log, const char *time_text, uint64_t number, size_t n,
                              const char *rest, uint64_t *write, dp_error *err)
{
    char *text = n < SIZE_MAX / LINE ? dpi_alloc(n, LINE) : NULL, *at = text;
    if (text == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        at += snprintf(at, LINE, "%s %" PRIu64 " %s\n", time_text, number + i, rest);
    dp_status status = append(log, text, write, err);
    dpi_free(text);
    return status;
}

static dp_status fail_spent(const dpi_query_log *log, int64_t earliest, dp_error *err)
{
    char time_text[TIME_TEXT + 1];
    write_time(earliest + (int64_t)log->window, time_text);
    return dpi_fail(err, DP_EREFUSED,
                    "this client has used its %" PRIu64 " queries of %" PRIu64
                    " seconds; the next is free at %s",
                    log->queries, log->window, time_text);
}

dp_status dpi_query_log_reserve_many(dpi_query_log *log, const dpi_log_query *q, size_t n,
                                     dpi_log_spent *spent, dp_error *err)
{
    *spent = (dpi_log_spent){0};
    dp_status status = enter(log, err);
    int64_t t = now(log), earliest = t;
    char rest[LINE / 2 + LINE / 4], time_text[TIME_TEXT + 1], client[DPI_FINGERPRINT_TEXT];
    uint64_t used = status == DP_OK ? count(log, q, t, &earliest) : 0;
    if (status == DP_OK && (used >= log->queries || n > log->queries - used))
        status = fail_spent(log, earliest, err);
    if (status == DP_OK) {
        write_time(t, time_text);
        dpi_fingerprint_write(q->client, client);
        (void)snprintf(rest, sizeof rest, "asked %s %s %s", client, dpi_protocol_name(q->protocol),
                       dpi_mode_name(q->mode));
        status = append_lines(log, time_text, log->asked + 1, n, rest, &spent->write, err);
    }
    if (status == DP_OK)
        spent->number = log->asked + 1; /* counted when the line is read again, at the next call */
    leave(log);
    return status;
}

dp_status dpi_query_log_reserve(dpi_query_log *log, const dpi_log_query *q, dpi_log_spent *spent,
                                dp_error *err)
{
    return dpi_query_log_reserve_many(log, q, 1, spent, err);
}

dp_status dpi_query_log_settle(dpi_query_log *log, const dpi_log_spent *spent, dp_error *err)
{
    return dpi_syncer_wait(log->syncer, spent->write) ? DP_OK : fail_to_write(log, err);
}

dp_status dpi_query_log_end_many(dpi_query_log *log, uint64_t number, size_t n, dp_status outcome,
                                 dp_error *err)
{
    char rest[LINE / 2], time_text[TIME_TEXT + 1];
    dp_status status = enter(log, err);
    if (status == DP_OK) {
        write_time(now(log), time_text);
        (void)snprintf(rest, sizeof rest, "ended %s", dp_status_name(outcome));
        status = append_lines(log, time_text, number, n, rest, NULL, err);
    }
    leave(log);
    return status;
}

dp_status dpi_query_log_end(dpi_query_log *log, uint64_t number, dp_status outcome, dp_error *err)
{
    return dpi_query_log_end_many(log, number, 1, outcome, err);
}

dp_status dpi_query_log_check(dpi_query_log *log, dp_error *err)
{
    dp_error why = {0};
    dp_status status = enter(log, &why);
    bool works = dpi_syncer_begin(log->syncer) > 0;
    leave(log);
    if (status == DP_EDATA)
        return dpi_fail(err, status, "%s", why.text);
    return works ? DP_OK : fail_to_write(log, err);
}

/* ---- opening ---- */

static dp_status check_mode(const dpi_query_log *log, dp_error *err)
{
    struct stat s;
    if (fstat(log->file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EPRIVACY, "%.200s is no regular file, and keeps nothing",
                        log->path);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "%.200s belongs to another user, who can change what was spent; make it "
                        "your own",
                        log->path);
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return dpi_fail(
            err, DP_EPRIVACY,
            "others may write %.200s (mode %03o), from which budgets are counted; chmod "
            "600 it",
            log->path, (unsigned)(s.st_mode & 0777));
    if (!dpi_disk_sync_folder(log->path))
        return dpi_fail(err, DP_EIO, "cannot sync the folder of %.200s", log->path);
    return DP_OK;
}

dp_status dpi_query_log_open(const char *path, uint64_t queries, uint64_t window,
                             dpi_query_log **log_out, dp_error *err)
{
    *log_out = NULL;
    if (queries == 0 || window == 0 || window > DPI_MOST_COUNT)
        return dpi_fail(
            err, DP_EINVAL,
            "a budget is 1 or more queries in 1 to 3155760000 seconds; it has no default");
    dpi_query_log *log = dpi_alloc(1, sizeof *log);
    if (log == NULL || pthread_mutex_init(&log->mutex, NULL) != 0) {
        dpi_free(log);
        return dpi_fail_nomem(err);
    }
    log->file = -1;
    log->queries = queries;
    log->window = window;
    log->path = dpi_alloc(strlen(path) + 1, 1);
    log->block = dpi_alloc(BLOCK, 1);
    dp_status status = log->path == NULL || log->block == NULL ? dpi_fail_nomem(err) : DP_OK;
    if (status == DP_OK) {
        (void)strcpy(log->path, path);
        log->file = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                         S_IRUSR | S_IWUSR);
        status = log->file >= 0 ? check_mode(log, err)
                                : dpi_fail(err, DP_EIO,
                                           "cannot open %.200s; check the path, and your right to "
                                           "write there",
                                           path);
    }
    if (status == DP_OK)
        status = dpi_syncer_new(log->file, &log->syncer, err);
    if (status == DP_OK) { /* what is wrong with it is told now, and not to the first client */
        status = enter(log, err);
        leave(log);
    }
    if (status == DP_OK)
        *log_out = log;
    else
        dpi_query_log_close(log);
    return status;
}

void dpi_query_log_close(dpi_query_log *log)
{
    if (log == NULL)
        return;
    dpi_syncer_free(log->syncer);
    if (log->file >= 0)
        (void)close(log->file);
    (void)pthread_mutex_destroy(&log->mutex);
    dpi_free(log->path);
    dpi_free(log->block);
    dpi_free(log->recent);
    dpi_free(log);
}
