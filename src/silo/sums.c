/*   "TcSums1\0"   whose
 *   question   n   sum[n]   hash                for each sum
 *
 * Numbers have 8 bytes, the little end first; a hash is BLAKE2b of its sum under that of the one
 * before it, the first under `whose`.  The file is read twice: once to find its end, and sum by sum
 * as a run asks for them.
 *
 * A crash leaves a file that ends inside its last sum, which was not used: that one is cut off.
 * What cannot be read is an error, and so is what was changed: behind it are sums that were opened,
 * and the file is left as it is. */
#define _XOPEN_SOURCE 700
#include "silo/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/replace.h"

enum { FIRST = 8 + DPI_SILO_HASH, HEAD = 32 + 8, HASH = 32, MOST_WORDS = 1 << 24 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sums are kept as they lie");

static const unsigned char magic[8] = "TcSums1";

struct dpi_silo_sums {
    const char *path;
    int file;
    off_t size;         /* when it was opened */
    uint64_t all, done; /* sums in the file, and of these that were read or added */
    off_t at;           /* of the next one */
    unsigned char chain[HASH];
    bool lost; /* nobody knows what is behind the last sum */
};

static dp_status fail_io(const dpi_silo_sums *s, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EIO, "cannot %s %.200s: %s", what, s->path, strerror(errno));
}

/* False with errno, also where the file ends before that. */
static bool read_at(const dpi_silo_sums *s, off_t at, size_t n, void *to)
{
    for (size_t got = 0; got < n;) {
        const ssize_t some = pread(s->file, (char *)to + got, n - got, at + (off_t)got);
        if (some < 0 && errno == EINTR)
            continue;
        if (some == 0)
            errno = EIO;
        if (some <= 0)
            return false;
        got += (size_t)some;
    }
    return true;
}

static bool write_at(const dpi_silo_sums *s, off_t at, size_t n, const void *from)
{
    for (size_t put = 0; put < n;) {
        const ssize_t some = pwrite(s->file, (const char *)from + put, n - put, at + (off_t)put);
        if (some <= 0)
            return false;
        put += (size_t)some;
    }
    return true;
}

static size_t size_of(uint64_t n)
{
    return HEAD + (size_t)n * sizeof(uint64_t) + HASH;
}

static void hash_of(const unsigned char chain[HASH], size_t n_bytes, const unsigned char *sum,
                    unsigned char hash[HASH])
{
    (void)crypto_generichash(hash, HASH, sum, n_bytes - HASH, chain, HASH);
}

static dp_status fail_changed(const dpi_silo_sums *s, off_t at, dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "the sum at byte %lld of %.200s is not as it was written, and sums that were "
                    "opened are lost with it; make a new plan",
                    (long long)at, s->path);
}

/* The sum at `at`, all of which is there: *sum [out] owned by the caller; NULL on error. */
static dp_status read_whole(const dpi_silo_sums *s, off_t at, const unsigned char chain[HASH],
                            size_t n_bytes, unsigned char **sum, dp_error *err)
{
    unsigned char hash[HASH], *bytes = *sum = dpi_alloc(n_bytes, 1);
    dp_status status = DP_OK;
    if (bytes == NULL)
        return dpi_fail_nomem(err);
    if (!read_at(s, at, n_bytes, bytes)) {
        status = fail_io(s, "read", err);
    } else {
        hash_of(chain, n_bytes, bytes, hash);
        if (memcmp(hash, bytes + n_bytes - HASH, HASH) != 0)
            status = fail_changed(s, at, err);
    }
    if (status != DP_OK) {
        dpi_free(bytes);
        *sum = NULL;
    }
    return status;
}

/* The same; *sum [out] NULL, too, where the file ends inside this one. */
static dp_status read_sum(const dpi_silo_sums *s, off_t at, const unsigned char chain[HASH],
                          unsigned char **sum, size_t *n_bytes, dp_error *err)
{
    unsigned char head[HEAD];
    *sum = NULL;
    if (s->size - at < HEAD)
        return DP_OK;
    if (!read_at(s, at, HEAD, head))
        return fail_io(s, "read", err);
    const uint64_t n = dpi_get_number(head + 32);
    if (n < 1 || n > MOST_WORDS)
        return fail_changed(s, at, err);
    *n_bytes = size_of(n);
    return s->size - at < (off_t)*n_bytes ? DP_OK : read_whole(s, at, chain, *n_bytes, sum, err);
}

/* ---- opening ---- */

static dp_status begin(dpi_silo_sums *s, const unsigned char whose[DPI_SILO_HASH], off_t size,
                       dp_error *err)
{
    unsigned char first[FIRST];
    if (size < FIRST) { /* it is new, or a crash has cut off its making */
        memcpy(first, magic, sizeof magic);
        memcpy(first + sizeof magic, whose, DPI_SILO_HASH);
        return write_at(s, 0, FIRST, first) && fsync(s->file) == 0 && dpi_sync_folder_of(s->path)
                   ? DP_OK
                   : fail_io(s, "write", err);
    }
    if (!read_at(s, 0, FIRST, first))
        return fail_io(s, "read", err);
    if (memcmp(first, magic, sizeof magic) != 0)
        return dpi_fail(err, DP_EDATA, "%.200s is no file of sums; plan anew", s->path);
    if (memcmp(first + sizeof magic, whose, DPI_SILO_HASH) != 0)
        return dpi_fail(err, DP_ESTATE,
                        "the sums of %.200s are of another plan, or another owner; give each a "
                        "folder of its own",
                        s->path);
    return DP_OK;
}

/* Counts the sums, and cuts off one that is not all there. */
static dp_status count(dpi_silo_sums *s, const unsigned char whose[DPI_SILO_HASH], dp_error *err)
{
    unsigned char chain[HASH], *sum;
    size_t n_bytes = 0;
    off_t end = FIRST;
    memcpy(chain, whose, HASH);
    for (;;) {
        const dp_status status = read_sum(s, end, chain, &sum, &n_bytes, err);
        if (status != DP_OK)
            return status;
        if (sum == NULL)
            break;
        memcpy(chain, sum + n_bytes - HASH, HASH);
        dpi_free(sum);
        end += (off_t)n_bytes;
        s->all++;
    }
    s->size = end;
    return ftruncate(s->file, end) == 0 ? DP_OK : fail_io(s, "cut off", err);
}

static dp_status open_file(dpi_silo_sums *s, const unsigned char whose[DPI_SILO_HASH],
                           dp_error *err)
{
    struct stat st;
    s->file = open(s->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (s->file < 0 || fstat(s->file, &st) != 0 || !S_ISREG(st.st_mode))
        return fail_io(s, "open", err);
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0 || st.st_uid != geteuid())
        return dpi_fail(err, DP_EPRIVACY,
                        "others may read %.200s; it must be this user's, with chmod 600", s->path);
    s->size = st.st_size < FIRST ? FIRST : st.st_size;
    dp_status status = begin(s, whose, st.st_size, err);
    return status == DP_OK ? count(s, whose, err) : status;
}

dp_status dpi_silo_sums_open(const char *path, const unsigned char whose[DPI_SILO_HASH],
                             dpi_silo_sums **s, dp_error *err)
{
    *s = NULL;
    dpi_silo_sums *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    *made = (dpi_silo_sums){.path = path, .file = -1, .at = FIRST};
    memcpy(made->chain, whose, HASH);
    const dp_status status = open_file(made, whose, err);
    if (status == DP_OK)
        *s = made;
    else
        dpi_silo_sums_close(made);
    return status;
}

void dpi_silo_sums_close(dpi_silo_sums *s)
{
    if (s != NULL && s->file >= 0)
        (void)close(s->file);
    dpi_free(s);
}

/* ---- sums ---- */

uint64_t dpi_silo_sums_done(const dpi_silo_sums *s)
{
    return s->done;
}

bool dpi_silo_sums_ahead(const dpi_silo_sums *s)
{
    return s->done < s->all;
}

static void pass(dpi_silo_sums *s, size_t n_bytes, const unsigned char *sum)
{
    memcpy(s->chain, sum + n_bytes - HASH, HASH);
    s->at += (off_t)n_bytes;
    s->done++;
}

dp_status dpi_silo_sums_next(dpi_silo_sums *s, const unsigned char question[32], size_t n,
                             uint64_t *values, dp_error *err)
{
    unsigned char *sum;
    size_t n_bytes = 0;
    if (s->lost || !dpi_silo_sums_ahead(s))
        dpi_misuse(__func__, "a sum that is not there");
    dp_status status = read_sum(s, s->at, s->chain, &sum, &n_bytes, err);
    if (status != DP_OK)
        return status;
    if (sum == NULL)
        return fail_changed(s, s->at, err);
    if (n_bytes != size_of(n) || memcmp(sum, question, 32) != 0)
        status = dpi_fail(err, DP_ESTATE,
                          "sum %llu of %.200s answers another question than is asked now; go on "
                          "with the same records, model and options",
                          (unsigned long long)s->done + 1, s->path);
    else
        memcpy(values, sum + HEAD, n * sizeof *values);
    if (status == DP_OK)
        pass(s, n_bytes, sum);
    dpi_free(sum);
    return status;
}

dp_status dpi_silo_sums_add(dpi_silo_sums *s, const unsigned char question[32], size_t n,
                            const uint64_t *values, dp_error *err)
{
    const size_t n_bytes = size_of(n);
    if (dpi_silo_sums_ahead(s) || n < 1 || n > MOST_WORDS)
        dpi_misuse(__func__, "a sum in another's place");
    if (s->lost)
        return dpi_fail(err, DP_EIO, "%.200s could not be written before; make room, and run again",
                        s->path);
    unsigned char *sum = dpi_alloc(n_bytes, 1);
    if (sum == NULL)
        return dpi_fail_nomem(err);
    memcpy(sum, question, 32);
    dpi_put_number(sum + 32, n);
    memcpy(sum + HEAD, values, n * sizeof *values);
    hash_of(s->chain, n_bytes, sum, sum + n_bytes - HASH);
    dp_status status = DP_OK;
    if (write_at(s, s->at, n_bytes, sum) && fdatasync(s->file) == 0) {
        s->all++;
        pass(s, n_bytes, sum);
    } else {
        s->lost = true;
        status = fail_io(s, "write", err);
    }
    dpi_free(sum);
    return status;
}
