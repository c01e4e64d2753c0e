/* The file, and its order of writing. */
#define _DEFAULT_SOURCE
#include "infer/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/replace.h"
#include "infer/journal-record.h"
#include "random/entropy.h"

static const char magic[] = "tacit-journal\n"; /* 14 bytes and two NUL */
enum {
    VERSION = 2,
    MAGIC = 16,
    HEADER = 256,
    HASH = DPI_JOURNAL_HASH,
    KEY = DPI_JOURNAL_RECORD_KEY, /* divides the size of a sector, as HEADER does */
};

struct dpi_journal {
    char *path;
    int file;
    dpi_fork *mark;
    dpi_journal_run run;
    uint64_t count, next, of_phase[DPI_JOURNAL_PHASES];
    uint64_t groups;      /* that are open */
    uint64_t group, rest; /* that of the next one to be read; how many of it are left, 0: all */
    off_t at;             /* where the next one begins */
    unsigned char chain[HASH]; /* of what is before it */
    unsigned char key[KEY];    /* of the group that is sealed */
    bool sealed, failed;
    uint64_t waiting;    /* those added, and not open */
    size_t filled;       /* bytes of them */
    unsigned char *room; /* [that of the longest one] */
};

/* ---- bytes ---- */

/* The header's fields in order; written, or read back. */
static void walk(dpi_journal_run *run, unsigned char header[HEADER], bool write)
{
    uint64_t epsilon = dpi_bits_of(run->epsilon), delta = dpi_bits_of(run->delta);
    uint64_t clip = dpi_bits_of(run->clip);
    uint64_t *fields[] = {&epsilon,     &delta,         &clip,        &run->rounds,
                          &run->draws,  &run->seed,     &run->random, &run->releases,
                          &run->phases, &run->ledgered, &run->entry};
    unsigned char *at = header + MAGIC + 8;
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++, at += 8)
        if (write)
            dpi_put_number(at, *fields[k]);
        else
            *fields[k] = dpi_get_number(at);
    memcpy(write ? at : run->model, write ? run->model : at, DPI_PRINT);
    at += DPI_PRINT;
    memcpy(write ? at : run->ledger, write ? run->ledger : at, DPI_JOURNAL_TAG);
    run->epsilon = dpi_of_bits(epsilon);
    run->delta = dpi_of_bits(delta);
    run->clip = dpi_of_bits(clip);
}

static void hash_header(const unsigned char header[HEADER], unsigned char hash[HASH])
{
    (void)crypto_generichash(hash, HASH, header, HEADER - HASH, NULL, 0);
}

/* Where the key of group g lies. */
static off_t key_at(uint64_t g)
{
    return HEADER + (off_t)g * KEY;
}

/* ---- the disk ---- */

static bool write_at(int file, const unsigned char *bytes, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t done = pwrite(file, bytes, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* False where there are not so many. */
static bool read_at(int file, unsigned char *bytes, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t done = pread(file, bytes, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static dp_status fail_to_write(dpi_journal *j, dp_error *err)
{
    j->failed = true;
    return dpi_fail(err, DP_EIO,
                    "the journal %.200s cannot be written, and what is released must be there "
                    "first; make room on the disk, and go on with it",
                    j->path);
}

static dp_status damaged(const dpi_journal *j, dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "the journal %.200s is damaged, or its end is missing; what it held stays "
                    "spent: put a whole copy back, or move it away and start anew",
                    j->path);
}

/* ---- making and opening ---- */

static dp_status make(const char *path, dpi_journal **out, dp_error *err)
{
    dpi_journal *j = dpi_alloc(1, sizeof *j);
    *out = NULL;
    if (j == NULL)
        return dpi_fail_nomem(err);
    *j = (dpi_journal){.file = -1, .at = 0};
    j->path = dpi_alloc(strlen(path) + 1, 1);
    j->room = dpi_alloc(dpi_journal_record_size(DPI_JOURNAL_NUMBERS), 1);
    dp_status status = j->path != NULL && j->room != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        strcpy(j->path, path);
        status = dpi_fork_new(&j->mark, err);
    }
    if (status == DP_OK)
        status = dpi_sodium_start(err);
    *out = j;
    return status;
}

/* Takes the file for this process, while it is the one of that name. */
static dp_status take(const dpi_journal *j, dp_error *err)
{
    struct stat own, named;
    if (flock(j->file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? dpi_fail(err, DP_ESTATE,
                              "another process goes on with the journal %.200s; wait for it, or "
                              "end it",
                              j->path)
                   : dpi_fail(err, DP_EIO,
                              "the journal %.200s cannot be locked; keep it on a file system that "
                              "has locks",
                              j->path);
    if (fstat(j->file, &own) != 0 || stat(j->path, &named) != 0 || own.st_ino != named.st_ino ||
        own.st_dev != named.st_dev)
        return dpi_fail(err, DP_ESTATE, "the journal %.200s was just taken away; start anew",
                        j->path);
    return DP_OK;
}

static dp_status write_header(dpi_journal *j, dp_error *err)
{
    size_t size = HEADER + (size_t)j->run.releases * KEY;
    unsigned char *header = dpi_alloc(size, 1);
    if (header == NULL)
        return dpi_fail_nomem(err);
    memset(header, 0, size);
    memcpy(header, magic, sizeof magic - 1);
    dpi_put_number(header + MAGIC, VERSION);
    walk(&j->run, header, true);
    hash_header(header, header + HEADER - HASH);
    memcpy(j->chain, header + HEADER - HASH, HASH);
    bool good =
        write_at(j->file, header, size, 0) && fsync(j->file) == 0 && dpi_sync_folder_of(j->path);
    dpi_free(header);
    j->at = (off_t)size;
    return good ? DP_OK : fail_to_write(j, err);
}

static dp_status create(dpi_journal *j, dp_error *err)
{
    j->file = open(j->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (j->file < 0 && errno == EEXIST)
        return dpi_fail(err, DP_ESTATE,
                        "the journal %.200s is there: a fit was begun and paid for; go on with it "
                        "(resume), or move it away to pay anew",
                        j->path);
    if (j->file < 0)
        return fail_to_write(j, err);
    dp_status status = take(j, err);
    if (status == DP_OK)
        status = write_header(j, err);
    if (status != DP_OK)
        (void)unlink(j->path);
    return status;
}

dp_status dpi_journal_new(const char *path, const dpi_journal_run *run, dpi_journal **out,
                          dp_error *err)
{
    dp_status status = make(path, out, err);
    if (status == DP_OK) {
        (*out)->run = *run;
        status = create(*out, err);
    }
    if (status != DP_OK) {
        dpi_journal_free(*out);
        *out = NULL;
    }
    return status;
}

static dp_status read_header(dpi_journal *j, dp_error *err)
{
    unsigned char header[HEADER], hash[HASH];
    dpi_journal_run *run = &j->run;
    if (!read_at(j->file, header, HEADER, 0) || memcmp(header, magic, sizeof magic - 1) != 0)
        return dpi_fail(
            err, DP_EDATA,
            "%.200s is no journal of a fit, or one without a beginning; put the right one "
            "there, or move it away to start anew",
            j->path);
    if (dpi_get_number(header + MAGIC) != VERSION)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "the journal %.200s is of another version; go on with the one that began "
                        "it",
                        j->path);
    hash_header(header, hash);
    walk(run, header, false);
    if (memcmp(hash, header + HEADER - HASH, HASH) != 0 || run->releases == 0 ||
        run->releases > DPI_JOURNAL_MOST || run->phases == 0 || run->phases > DPI_JOURNAL_PHASES ||
        run->ledgered > 1)
        return damaged(j, err);
    memcpy(j->chain, hash, HASH);
    j->at = key_at(run->releases);
    return DP_OK;
}

/* Reads the record at j->at, whose place is k, to j->room. */
static dp_status read_record(dpi_journal *j, uint64_t k, dpi_journal_release *what, dp_error *err)
{
    unsigned char key[KEY];
    dpi_journal_record r = {.size = 0};
    if (!read_at(j->file, key, KEY, key_at(j->group)) ||
        !read_at(j->file, j->room, DPI_JOURNAL_RECORD_HEAD, j->at))
        return damaged(j, err);
    dpi_journal_record_head(j->room, &r);
    if (r.place != k || r.what.phase >= j->run.phases || r.rest >= j->run.releases ||
        (j->rest > 0 && r.rest != j->rest - 1) || r.size == 0 ||
        !read_at(j->file, j->room + DPI_JOURNAL_RECORD_HEAD, r.size - DPI_JOURNAL_RECORD_HEAD,
                 j->at + DPI_JOURNAL_RECORD_HEAD) ||
        !dpi_journal_record_open(j->room, key, j->chain, &r))
        return damaged(j, err);
    *what = r.what;
    j->rest = r.rest;
    j->group += r.rest == 0;
    j->at += (off_t)r.size;
    return DP_OK;
}

/* How many keys there are; none behind one that is missing. */
static dp_status count_keys(dpi_journal *j, dp_error *err)
{
    unsigned char key[KEY];
    bool ended = false;
    for (uint64_t g = 0; g < j->run.releases; g++) {
        if (!read_at(j->file, key, KEY, key_at(g)))
            return damaged(j, err);
        bool there = !sodium_is_zero(key, KEY);
        if (there && ended)
            return damaged(j, err);
        ended = !there;
        j->groups += there;
    }
    return DP_OK;
}

/* Looks at all, and goes back to the first. */
static dp_status check_records(dpi_journal *j, dp_error *err)
{
    unsigned char chain[HASH];
    off_t at = j->at;
    dpi_journal_release what;
    dp_status status = count_keys(j, err);
    memcpy(chain, j->chain, HASH);
    while (j->group < j->groups && status == DP_OK) {
        if (j->count == j->run.releases)
            return damaged(j, err);
        status = read_record(j, j->count, &what, err);
        if (status == DP_OK)
            j->of_phase[what.phase]++;
        j->count++;
    }
    memcpy(j->chain, chain, HASH);
    j->at = at;
    j->group = 0;
    return status;
}

static dp_status open_old(dpi_journal *j, dp_error *err)
{
    struct stat s;
    j->file = open(j->path, O_RDWR | O_CLOEXEC);
    if (j->file < 0 && errno == ENOENT)
        return dpi_fail(err, DP_ESTATE,
                        "there is no journal %.200s to go on with; start the fit without resume",
                        j->path);
    if (j->file < 0 || fstat(j->file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(
            err, DP_EIO,
            "the journal %.200s cannot be read and written; check that it is a file, and "
            "your rights to it",
            j->path);
    if ((s.st_uid != geteuid() && s.st_uid != 0) || (s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "others may write the journal %.200s (mode %03o), of which the fit is "
                        "made; find out that nobody has, make it this user's, and chmod go-w it",
                        j->path, (unsigned)s.st_mode & 0777);
    dp_status status = take(j, err);
    if (status == DP_OK)
        status = read_header(j, err);
    return status == DP_OK ? check_records(j, err) : status;
}

dp_status dpi_journal_open(const char *path, dpi_journal **out, dp_error *err)
{
    dp_status status = make(path, out, err);
    if (status == DP_OK)
        status = open_old(*out, err);
    if (status != DP_OK) {
        dpi_journal_free(*out);
        *out = NULL;
    }
    return status;
}

void dpi_journal_free(dpi_journal *j)
{
    if (j == NULL)
        return;
    if (j->file >= 0)
        (void)close(j->file);
    sodium_memzero(j->key, KEY);
    if (j->room != NULL)
        sodium_memzero(j->room, j->filled);
    dpi_fork_free(j->mark);
    dpi_free(j->room);
    dpi_free(j->path);
    dpi_free(j);
}

void dpi_journal_drop(dpi_journal *j)
{
    if (j != NULL && j->count == 0 && j->waiting == 0 && dpi_fork_here(j->mark))
        (void)unlink(j->path);
}

/* ---- releases ---- */

const dpi_journal_run *dpi_journal_run_of(const dpi_journal *j)
{
    return &j->run;
}

uint64_t dpi_journal_count(const dpi_journal *j)
{
    return j->count;
}

uint64_t dpi_journal_count_of(const dpi_journal *j, uint64_t phase)
{
    return phase < DPI_JOURNAL_PHASES ? j->of_phase[phase] : 0;
}

uint64_t dpi_journal_waiting(const dpi_journal *j)
{
    return j->waiting;
}

bool dpi_journal_is_ahead(const dpi_journal *j)
{
    return j->next < j->count;
}

dp_status dpi_journal_read(dpi_journal *j, const dpi_journal_release *what, double *out,
                           dp_error *err)
{
    dpi_journal_release found;
    dp_status status = read_record(j, j->next, &found, err);
    if (status != DP_OK)
        return status;
    if (found.phase != what->phase || found.n != what->n ||
        dpi_bits_of(found.sigma) != dpi_bits_of(what->sigma) ||
        memcmp(found.question, what->question, HASH) != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "release %llu in the journal %.200s answers another question than is asked "
                        "now; go on with the version, and on the kind of machine, that began it",
                        (unsigned long long)j->next + 1, j->path);
    for (uint64_t e = 0; e < found.n; e++)
        out[e] = dpi_of_bits(dpi_get_number(j->room + DPI_JOURNAL_RECORD_HEAD + HASH + 8 * e));
    j->next++;
    return DP_OK;
}

bool dpi_journal_has_room(const dpi_journal *j, uint64_t n)
{
    return n <= DPI_JOURNAL_NUMBERS &&
           dpi_journal_record_size(n) <= dpi_journal_record_size(DPI_JOURNAL_NUMBERS) - j->filled;
}

static dp_status check_writable(dpi_journal *j, dp_error *err)
{
    if (!dpi_fork_here(j->mark))
        return dpi_fail(err, DP_ESTATE,
                        "a child of fork may not go on with its parent's journal; fit in one of "
                        "the two");
    return j->failed || j->sealed || j->next != j->count ? fail_to_write(j, err) : DP_OK;
}

dp_status dpi_journal_add(dpi_journal *j, const dpi_journal_release *what, const double *numbers,
                          dp_error *err)
{
    dp_status status = check_writable(j, err);
    if (status != DP_OK)
        return status;
    if (j->count + j->waiting >= j->run.releases || what->n == 0 ||
        !dpi_journal_has_room(j, what->n) || what->phase >= j->run.phases)
        return fail_to_write(j, err);
    j->filled += dpi_journal_record_put(j->room + j->filled, j->count + j->waiting, what, numbers);
    j->waiting++;
    return DP_OK;
}

/* Those that wait, under the key, with their hashes. */
static void seal_all(dpi_journal *j)
{
    size_t at = 0;
    for (uint64_t rest = j->waiting; rest > 0; rest--) {
        dpi_journal_record r;
        dpi_journal_record_head(j->room + at, &r);
        dpi_journal_record_seal(j->room + at, rest - 1, j->key, j->chain);
        j->of_phase[r.what.phase]++;
        at += r.size;
    }
}

dp_status dpi_journal_seal(dpi_journal *j, dp_error *err)
{
    dp_status status = check_writable(j, err);
    if (status == DP_OK && j->waiting == 0)
        status = fail_to_write(j, err);
    if (status == DP_OK)
        status = dpi_entropy(j->key, KEY, err);
    if (status != DP_OK)
        return status;
    seal_all(j);
    /* What a crash has left behind the last release goes first. */
    if (ftruncate(j->file, j->at) != 0 || !write_at(j->file, j->room, j->filled, j->at) ||
        fsync(j->file) != 0)
        return fail_to_write(j, err);
    j->sealed = true;
    return DP_OK;
}

dp_status dpi_journal_open_seal(dpi_journal *j, dp_error *err)
{
    if (!j->sealed || j->failed || !write_at(j->file, j->key, KEY, key_at(j->groups)) ||
        fsync(j->file) != 0)
        return fail_to_write(j, err);
    sodium_memzero(j->key, KEY);
    j->at += (off_t)j->filled;
    j->count += j->waiting;
    j->next = j->count;
    j->waiting = 0;
    j->filled = 0;
    j->sealed = false;
    j->group = ++j->groups;
    return DP_OK;
}
