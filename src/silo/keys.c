/* Keys of owners.  The file is written under a name that did not exist, and read through a
 * descriptor whose owner and mode have been looked at. */
#define _XOPEN_SOURCE 700
#include "silo/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/disk.h"

enum { SEED = crypto_sign_SEEDBYTES, MOST_FILE = 256 };

static const char prefix[] = "tacit-owner:", first_line[] = "tacit silo key 1\n";

bool dpi_silo_public_read(const char *text, unsigned char public[32])
{
    size_t n = 0, length = sizeof prefix - 1;
    if (text == NULL || strncmp(text, prefix, length) != 0 || strlen(text) != length + 64)
        return false;
    for (const char *c = text + length; *c != '\0'; c++)
        if (strchr("0123456789abcdef", *c) == NULL)
            return false;
    return sodium_hex2bin(public, 32, text + length, 64, NULL, &n, NULL) == 0 && n == 32;
}

void dpi_silo_key_sign(const dp_silo_key *key, size_t n, const unsigned char *bytes,
                       unsigned char signature[64])
{
    (void)crypto_sign_detached(signature, NULL, bytes, n, key->secret);
}

static dp_status start(dp_error *err)
{
    return sodium_init() >= 0 ? DP_OK : dpi_fail(err, DP_EENTROPY, "libsodium cannot be started");
}

static dp_silo_key *of_seed(const unsigned char seed[SEED])
{
    dp_silo_key *key = dpi_alloc(1, sizeof *key);
    if (key == NULL)
        return NULL;
    (void)crypto_sign_seed_keypair(key->public, key->secret, seed);
    memcpy(key->text, prefix, sizeof prefix);
    (void)sodium_bin2hex(key->text + sizeof prefix - 1, 65, key->public, sizeof key->public);
    return key;
}

static dp_status write_new(const char *path, const unsigned char seed[SEED], dp_error *err)
{
    char text[MOST_FILE];
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0 && errno == EEXIST)
        return dpi_fail(err, DP_EIO,
                        "%.200s exists already, and a key is never overwritten; choose another "
                        "name, or move the old one away",
                        path);
    if (file < 0)
        return dpi_fail(err, DP_EIO, "cannot make %.200s: %s", path, strerror(errno));
    size_t n = sizeof first_line - 1;
    memcpy(text, first_line, n);
    (void)sodium_bin2hex(text + n, sizeof text - n, seed, SEED);
    n += 2 * SEED;
    text[n++] = '\n';
    bool good = dpi_disk_write(file, text, n) && fsync(file) == 0;
    good = close(file) == 0 && good && dpi_disk_sync_folder(path);
    sodium_memzero(text, sizeof text);
    if (good)
        return DP_OK;
    (void)unlink(path);
    return dpi_fail(err, DP_EIO, "cannot write %.200s", path);
}

dp_status dp_silo_key_new(const char *path, dp_silo_key **key, dp_error *err)
{
    unsigned char seed[SEED];
    *key = NULL;
    dp_status status = start(err);
    if (status != DP_OK)
        return status;
    randombytes_buf(seed, sizeof seed);
    dp_silo_key *made = of_seed(seed);
    status = made == NULL ? dpi_fail_nomem(err) : write_new(path, seed, err);
    sodium_memzero(seed, sizeof seed);
    if (status == DP_OK)
        *key = made;
    else
        dp_silo_key_free(made);
    return status;
}

static dp_status check_file(int file, const char *path, dp_error *err)
{
    struct stat s;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EIO, "%.200s is no regular file; give the key's own", path);
    if (s.st_uid != geteuid())
        return dpi_fail(err, DP_EPRIVACY, "%.200s belongs to another user; make it your own", path);
    if ((s.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "others may read or write %.200s (mode %03o), and who has it is its owner; "
                        "chmod 600 it, and make a new key if somebody may have seen it",
                        path, (unsigned)(s.st_mode & 0777));
    return DP_OK;
}

dp_status dp_silo_key_load(const char *path, dp_silo_key **key, dp_error *err)
{
    char text[MOST_FILE];
    unsigned char seed[SEED];
    size_t n = 0, length = sizeof first_line - 1;
    *key = NULL;
    dp_status status = start(err);
    if (status != DP_OK)
        return status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return dpi_fail(err, DP_EIO, "cannot open %.200s: %s", path, strerror(errno));
    status = check_file(file, path, err);
    ssize_t got = status == DP_OK ? read(file, text, sizeof text) : 0;
    (void)close(file);
    if (status != DP_OK)
        return status;
    bool good = got == (ssize_t)(length + 2 * SEED + 1) && memcmp(text, first_line, length) == 0 &&
                text[length + 2 * SEED] == '\n' &&
                sodium_hex2bin(seed, SEED, text + length, 2 * SEED, NULL, &n, NULL) == 0 &&
                n == SEED;
    if (good)
        *key = of_seed(seed);
    sodium_memzero(text, sizeof text);
    sodium_memzero(seed, sizeof seed);
    if (!good)
        return dpi_fail(err, DP_EDATA, "%.200s is no key of tacit silo keys", path);
    return *key != NULL ? DP_OK : dpi_fail_nomem(err);
}

const char *dp_silo_key_public(const dp_silo_key *key)
{
    return key->text;
}

void dp_silo_key_free(dp_silo_key *key)
{
    if (key == NULL)
        return;
    sodium_memzero(key, sizeof *key);
    dpi_free(key);
}
