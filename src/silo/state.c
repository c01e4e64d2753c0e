/*   "TcSilo3\0"   plan   run secret   self   noise   run keys   question
 *   round   set   n   x[n]   hash
 *
 * Numbers have 8 bytes, the little end first; the hash is BLAKE2b of all before it. */
#define _XOPEN_SOURCE 700
#include "silo/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/replace.h"

enum { FIXED = 8 + 6 * 32 + 3 * 8, HASH = 32, MOST_WORDS = 1 << 24 };

static const char magic[8] = "TcSilo3";

static dp_status fail_damaged(const char *path, dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "the state %.200s is damaged, and without it nobody knows what has left; this "
                    "run cannot go on, and what was planned stays spent",
                    path);
}

/* ---- hashes ---- */

void dpi_silo_mix(const unsigned char key[32], const char *purpose, size_t n, const void *bytes,
                  unsigned char hash[32])
{
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, key, HASH, HASH);
    (void)crypto_generichash_update(&h, (const unsigned char *)purpose, strlen(purpose) + 1);
    if (n > 0)
        (void)crypto_generichash_update(&h, bytes, n);
    (void)crypto_generichash_final(&h, hash, HASH);
    sodium_memzero(&h, sizeof h);
}

void dpi_silo_hash_records(size_t rows, size_t d, const char *const *ids, const double *x,
                           const double *y, unsigned char hash[32])
{
    const uint64_t sizes[] = {rows, d, ids != NULL, x != NULL, y != NULL};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, HASH);
    (void)crypto_generichash_update(&h, (const unsigned char *)sizes, sizeof sizes);
    for (size_t i = 0; ids != NULL && i < rows; i++)
        (void)crypto_generichash_update(&h, (const unsigned char *)ids[i], strlen(ids[i]) + 1);
    if (x != NULL)
        (void)crypto_generichash_update(&h, (const unsigned char *)x, rows * d * sizeof *x);
    if (y != NULL)
        (void)crypto_generichash_update(&h, (const unsigned char *)y, rows * sizeof *y);
    (void)crypto_generichash_final(&h, hash, HASH);
    sodium_memzero(&h, sizeof h);
}

void dpi_silo_state_name(const dpi_silo_state *s, char name[DPI_SILO_STATE_NAME])
{
    unsigned char hash[HASH];
    dpi_silo_mix(s->self, "entry of a ledger", 0, NULL, hash);
    (void)sodium_bin2hex(name, DPI_SILO_STATE_NAME, hash, DPI_SILO_STATE_NAME / 2);
}

/* ---- one process at a time ---- */

static dp_status take_lock(dpi_silo_state *s, dp_error *err)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s.lock", s->path);
    if (n < 0 || (size_t)n >= sizeof path)
        return dpi_fail(err, DP_EINVAL, "the state's path is too long");
    s->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (s->lock < 0)
        return dpi_fail(err, DP_EIO, "cannot make %.200s: %s", path, strerror(errno));
    if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
        return DP_OK;
    return dpi_fail(err, DP_ESTATE, "another process runs with the state %.200s; let it end",
                    s->path);
}

/* ---- reading ---- */

static dp_status parse(dpi_silo_state *s, const unsigned char *bytes, size_t size, dp_error *err)
{
    unsigned char hash[HASH];
    dpi_reader r = {.at = bytes, .left = size};
    if (size < FIXED + HASH || memcmp(bytes, magic, sizeof magic) != 0)
        return fail_damaged(s->path, err);
    (void)crypto_generichash(hash, HASH, bytes, size - HASH, NULL, 0);
    if (memcmp(hash, bytes + size - HASH, HASH) != 0)
        return fail_damaged(s->path, err);
    if (memcmp(bytes + 8, s->plan, DPI_SILO_HASH) != 0)
        return dpi_fail(
            err, DP_ESTATE,
            "the state %.200s is of another plan, or another owner; give each a folder of "
            "its own",
            s->path);
    (void)dpi_read_bytes(&r, 8 + DPI_SILO_HASH);
    memcpy(s->run_secret, dpi_read_bytes(&r, 32), 32);
    memcpy(s->self, dpi_read_bytes(&r, 32), 32);
    memcpy(s->noise, dpi_read_bytes(&r, 32), 32);
    memcpy(s->run_keys, dpi_read_bytes(&r, 32), 32);
    memcpy(s->question, dpi_read_bytes(&r, 32), 32);
    s->round = dpi_read_number(&r);
    s->set = dpi_read_number(&r);
    s->n = dpi_read_count(&r, MOST_WORDS);
    if (r.bad || r.left != s->n * sizeof *s->x + HASH)
        return fail_damaged(s->path, err);
    s->x = dpi_alloc(s->n + 1, sizeof *s->x);
    if (s->x == NULL)
        return dpi_fail_nomem(err);
    for (size_t j = 0; j < s->n; j++)
        s->x[j] = dpi_read_number(&r);
    return DP_OK;
}

static dp_status read_state(dpi_silo_state *s, bool *there, dp_error *err)
{
    struct stat st;
    size_t got = 0;
    *there = false;
    int file = open(s->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT)
        return DP_OK;
    if (file < 0 || fstat(file, &st) != 0 || !S_ISREG(st.st_mode)) {
        dp_status status = dpi_fail(err, DP_EIO, "cannot read the state %.200s", s->path);
        if (file >= 0)
            (void)close(file);
        return status;
    }
    *there = true;
    size_t size = (size_t)st.st_size;
    bool open_to_others = (st.st_mode & (S_IRWXG | S_IRWXO)) != 0 || st.st_uid != geteuid();
    const bool fits = size <= FIXED + HASH + 8 * (size_t)MOST_WORDS;
    unsigned char *bytes = fits ? dpi_alloc(size + 1, 1) : NULL;
    while (bytes != NULL && got < size) {
        ssize_t some = read(file, bytes + got, size - got);
        if (some <= 0)
            break;
        got += (size_t)some;
    }
    (void)close(file);
    dp_status status = open_to_others
                           ? dpi_fail(err, DP_EPRIVACY,
                                      "others may read the state %.200s, which has this owner's "
                                      "secrets; it must be this user's, with chmod 600",
                                      s->path)
                       : !fits         ? fail_damaged(s->path, err)
                       : bytes == NULL ? dpi_fail_nomem(err)
                                       : parse(s, bytes, got, err);
    if (bytes != NULL)
        sodium_memzero(bytes, size);
    dpi_free(bytes);
    return status;
}

void dpi_silo_state_whose(const unsigned char plan[DPI_SILO_HASH],
                          const unsigned char owner[DPI_SILO_PUBLIC],
                          unsigned char hash[DPI_SILO_HASH])
{
    (void)crypto_generichash(hash, DPI_SILO_HASH, plan, DPI_SILO_HASH, owner, DPI_SILO_PUBLIC);
}

dp_status dpi_silo_state_open(const char *path, const unsigned char plan[DPI_SILO_HASH],
                              dpi_silo_state *s, dp_error *err)
{
    bool there = false;
    *s = (dpi_silo_state){.path = path, .lock = -1};
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "the system gives no randomness");
    memcpy(s->plan, plan, DPI_SILO_HASH);
    dp_status status = path != NULL ? take_lock(s, err) : DP_OK;
    if (status == DP_OK && path != NULL) {
        dpi_file_sweep(path);
        status = read_state(s, &there, err);
    }
    if (status == DP_OK && !there) {
        randombytes_buf(s->run_secret, sizeof s->run_secret);
        randombytes_buf(s->self, sizeof s->self);
        randombytes_buf(s->noise, sizeof s->noise);
        status = dpi_silo_state_keep(s, err);
    }
    if (status != DP_OK)
        dpi_silo_state_free(s);
    return status;
}

dp_status dpi_silo_state_peek(const char *path, const unsigned char plan[DPI_SILO_HASH],
                              dpi_silo_state *s, bool *there, dp_error *err)
{
    *s = (dpi_silo_state){.path = path, .lock = -1};
    memcpy(s->plan, plan, DPI_SILO_HASH);
    dp_status status = read_state(s, there, err);
    if (status != DP_OK || !*there)
        dpi_silo_state_free(s);
    return status;
}

/* ---- writing ---- */

dp_status dpi_silo_state_keep(dpi_silo_state *s, dp_error *err)
{
    unsigned char hash[HASH];
    dpi_bytes b = {NULL, 0, 0, false};
    if (s->path == NULL)
        return DP_OK;
    if (s->lost)
        return dpi_fail(
            err, DP_EIO,
            "the state %.200s could not be written before, so that nothing more leaves; "
            "make room, and run again",
            s->path);
    dpi_bytes_add(&b, magic, sizeof magic);
    dpi_bytes_add(&b, s->plan, sizeof s->plan);
    dpi_bytes_add(&b, s->run_secret, 32);
    dpi_bytes_add(&b, s->self, 32);
    dpi_bytes_add(&b, s->noise, 32);
    dpi_bytes_add(&b, s->run_keys, 32);
    dpi_bytes_add(&b, s->question, 32);
    dpi_bytes_number(&b, s->round);
    dpi_bytes_number(&b, s->set);
    dpi_bytes_number(&b, s->n);
    for (size_t j = 0; j < s->n; j++)
        dpi_bytes_number(&b, s->x[j]);
    if (!b.failed)
        (void)crypto_generichash(hash, HASH, b.at, b.n, NULL, 0);
    dpi_bytes_add(&b, hash, HASH);
    dp_status status = b.failed ? dpi_fail_nomem(err) : dpi_file_replace(s->path, b.at, b.n, err);
    if (b.at != NULL)
        sodium_memzero(b.at, b.n);
    dpi_bytes_free(&b);
    s->lost = status != DP_OK;
    return status;
}

dp_status dpi_silo_state_meet(dpi_silo_state *s, const dpi_post_opts *opts, dpi_post **post,
                              dp_error *err)
{
    dp_status status = dpi_post_open(opts, s->run_secret, post, err);
    if (status != DP_OK)
        return status;
    const unsigned char *all = dpi_post_run_keys(*post);
    if (sodium_is_zero(s->run_keys, sizeof s->run_keys)) {
        memcpy(s->run_keys, all, sizeof s->run_keys);
        status = dpi_silo_state_keep(s, err);
    } else if (memcmp(s->run_keys, all, sizeof s->run_keys) != 0) {
        status = dpi_fail(
            err, DP_ESTATE,
            "an owner has begun this plan anew, and a sum would be opened a second time with "
            "other noise; it must go on with its state of then, or all need a new plan");
    }
    if (status != DP_OK) {
        dpi_post_close(*post);
        *post = NULL;
    }
    return status;
}

static void drop_vector(dpi_silo_state *s)
{
    if (s->x != NULL)
        sodium_memzero(s->x, s->n * sizeof *s->x);
    dpi_free(s->x);
    s->x = NULL;
    s->n = 0;
}

/* Puts the next round's secret in the place of this one's, of which nothing is left. */
static void turn_on(unsigned char secret[32])
{
    static const unsigned char purpose[] = "noise of the next round";
    unsigned char next[32];
    (void)crypto_generichash(next, 32, purpose, sizeof purpose - 1, secret, 32);
    memcpy(secret, next, 32);
    sodium_memzero(next, sizeof next);
}

dp_status dpi_silo_state_begin(dpi_silo_state *s, uint64_t round, const unsigned char question[32],
                               size_t n, const uint64_t *x, dp_error *err)
{
    if (n > MOST_WORDS)
        return dpi_fail(err, DP_EUNSUPPORTED, "a round opens at most 2^24 numbers");
    if (s->lost)
        return dpi_silo_state_keep(s, err);
    drop_vector(s);
    s->x = dpi_alloc(n + 1, sizeof *s->x);
    if (s->x == NULL)
        return dpi_fail_nomem(err);
    memcpy(s->x, x, n * sizeof *x);
    s->n = n;
    s->round = round;
    s->set = 0;
    memcpy(s->question, question, 32);
    turn_on(s->noise);
    return dpi_silo_state_keep(s, err);
}

void dpi_silo_state_free(dpi_silo_state *s)
{
    drop_vector(s);
    if (s->lock >= 0)
        (void)close(s->lock);
    sodium_memzero(s, sizeof *s);
    s->lock = -1;
}
