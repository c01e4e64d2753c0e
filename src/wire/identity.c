/* Ed25519 keys with self-signed certificates.
 *
 * The certificate is only the envelope in which TLS carries the public key: its name, its number
 * and its dates say nothing and nobody checks them.  The file is two PEM blocks, key and
 * certificate; it is written under a name that did not exist, and read through a descriptor whose
 * owner and mode have been checked, so that no other file can take its place in between. */
#define _XOPEN_SOURCE 700
#include "wire/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/disk.h"

enum { MOST_FILE = 16 * 1024 };

static const char prefix[] = "tacit:";

void dpi_fingerprint_write(const unsigned char from[DPI_FINGERPRINT], char to[DPI_FINGERPRINT_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    memcpy(to, prefix, sizeof prefix);
    to += sizeof prefix - 1;
    for (int i = 0; i < DPI_FINGERPRINT; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    *to = 0;
}

/* A lower-case hexadecimal digit; -1 for another character. */
static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dpi_fingerprint_read(const char *text, size_t n, unsigned char to[DPI_FINGERPRINT])
{
    if (n != DPI_FINGERPRINT_TEXT - 1 || memcmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    text += sizeof prefix - 1;
    for (int i = 0; i < DPI_FINGERPRINT; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool dpi_fingerprint_of(const X509 *certificate, unsigned char to[DPI_FINGERPRINT])
{
    unsigned char *der = NULL;
    X509_PUBKEY *key = X509_get_X509_PUBKEY(certificate);
    int n = key != NULL ? i2d_X509_PUBKEY(key, &der) : 0;
    bool good = n > 0 && EVP_Digest(der, (size_t)n, to, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_free(der);
    return good;
}

/* An object for a key and a certificate that it takes over, also when it fails. */
static dp_status wrap(EVP_PKEY *key, X509 *certificate, dp_identity **identity, dp_error *err)
{
    dp_identity *made = dpi_alloc(1, sizeof *made);
    bool good = made != NULL && dpi_fingerprint_of(certificate, made->fingerprint);
    if (!good) {
        dpi_free(made);
        EVP_PKEY_free(key);
        X509_free(certificate);
        return dpi_fail_nomem(err);
    }
    made->key = key;
    made->certificate = certificate;
    dpi_fingerprint_write(made->fingerprint, made->text);
    *identity = made;
    return DP_OK;
}

/* ---- a new one ---- */

static X509 *certify(EVP_PKEY *key)
{
    X509 *c = X509_new();
    X509_NAME *name = c != NULL ? X509_get_subject_name(c) : NULL;
    const unsigned char *common = (const unsigned char *)"tacit";
    bool good = name != NULL && X509_set_version(c, X509_VERSION_3) == 1 &&
                ASN1_INTEGER_set(X509_get_serialNumber(c), 1) == 1 &&
                ASN1_TIME_set_string_X509(X509_getm_notBefore(c), "20000101000000Z") == 1 &&
                ASN1_TIME_set_string_X509(X509_getm_notAfter(c), "99991231235959Z") == 1 &&
                X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0) == 1 &&
                X509_set_issuer_name(c, name) == 1 && X509_set_pubkey(c, key) == 1 &&
                X509_sign(c, key, NULL) > 0;
    if (good)
        return c;
    X509_free(c);
    return NULL;
}

static dp_status write_new(const char *path, const char *bytes, size_t n, dp_error *err)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0 && errno == EEXIST)
        return dpi_fail(err, DP_EIO,
                        "%.200s exists already, and an identity is never overwritten; choose "
                        "another name, or move the old one away",
                        path);
    bool good = file >= 0 && fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
                dpi_disk_write(file, bytes, n) && fsync(file) == 0;
    if (file >= 0)
        good = close(file) == 0 && good;
    good = good && dpi_disk_sync_folder(path);
    if (good)
        return DP_OK;
    if (file >= 0)
        (void)unlink(path);
    return dpi_fail(err, DP_EIO,
                    "cannot write %.200s; check the path, your right to write to its folder, and "
                    "the room on the disk",
                    path);
}

static dp_status save(const char *path, EVP_PKEY *key, X509 *certificate, dp_error *err)
{
    BIO *text = BIO_new(BIO_s_secmem()); /* wiped when it is freed */
    char *bytes = NULL;
    bool good = text != NULL &&
                PEM_write_bio_PKCS8PrivateKey(text, key, NULL, NULL, 0, NULL, NULL) == 1 &&
                PEM_write_bio_X509(text, certificate) == 1;
    long n = good ? BIO_get_mem_data(text, &bytes) : 0;
    dp_status status = n > 0 ? write_new(path, bytes, (size_t)n, err) : dpi_fail_nomem(err);
    BIO_free(text);
    return status;
}

dp_status dp_identity_new(const char *path, dp_identity **identity, dp_error *err)
{
    *identity = NULL;
    ERR_clear_error();
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (key == NULL)
        return dpi_fail(err, DP_EENTROPY,
                        "cannot make a key: the operating system gives no "
                        "randomness, or OpenSSL here has no Ed25519");
    X509 *certificate = certify(key);
    if (certificate == NULL) {
        EVP_PKEY_free(key);
        return dpi_fail_nomem(err);
    }
    dp_identity *made = NULL;
    dp_status status = wrap(key, certificate, &made, err);
    if (status == DP_OK) /* last, so that no file is left of an identity that was not given */
        status = save(path, key, certificate, err);
    if (status == DP_OK)
        *identity = made;
    else
        dp_identity_free(made);
    return status;
}

/* ---- of a key that is there ---- */

dp_status dpi_identity_of_seed(const unsigned char seed[DPI_IDENTITY_SEED], dp_identity **identity,
                               dp_error *err)
{
    *identity = NULL;
    ERR_clear_error();
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, DPI_IDENTITY_SEED);
    X509 *certificate = key != NULL ? certify(key) : NULL;
    ERR_clear_error();
    if (certificate != NULL)
        return wrap(key, certificate, identity, err);
    EVP_PKEY_free(key);
    return dpi_fail_nomem(err);
}

bool dpi_fingerprint_of_key(const unsigned char key[DPI_IDENTITY_SEED],
                            unsigned char to[DPI_FINGERPRINT])
{
    unsigned char *der = NULL;
    EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, DPI_IDENTITY_SEED);
    const int n = public != NULL ? i2d_PUBKEY(public, &der) : 0;
    const bool good = n > 0 && EVP_Digest(der, (size_t)n, to, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_free(der);
    EVP_PKEY_free(public);
    ERR_clear_error();
    return good;
}

/* ---- from its file ---- */

static dp_status check_file(int file, const char *path, dp_error *err)
{
    struct stat s;
    if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EPRIVACY, "%.200s is no regular file; give the file itself", path);
    if (s.st_uid != geteuid())
        return dpi_fail(err, DP_EPRIVACY,
                        "%.200s belongs to another user, who could read its key or change it; make "
                        "an identity of your own",
                        path);
    if ((s.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "others may read or write %.200s (mode %03o), which holds a private key; "
                        "chmod 600 it, and make a new identity if somebody may have read it",
                        path, (unsigned)(s.st_mode & 0777));
    if (s.st_size > MOST_FILE)
        return dpi_fail(err, DP_EDATA, "%.200s is too long for an identity", path);
    return DP_OK;
}

/* What is in the file; *n is MOST_FILE + 1 where there is more. */
static dp_status read_file(const char *path, char bytes[MOST_FILE + 1], size_t *n, dp_error *err)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ELOOP)
        return dpi_fail(err, DP_EPRIVACY, "%.200s is a link; give the file itself", path);
    if (file < 0)
        return dpi_fail(err, DP_EIO,
                        "cannot open %.200s; check the path, or make an identity there", path);
    dp_status status = check_file(file, path, err);
    ssize_t got = 1;
    for (*n = 0; status == DP_OK && *n <= MOST_FILE && got > 0;) {
        got = read(file, bytes + *n, MOST_FILE + 1 - *n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            status = dpi_fail(err, DP_EIO, "cannot read %.200s", path);
        else
            *n += (size_t)got;
    }
    (void)close(file);
    return status;
}

/* Nobody is asked for a pass phrase: the library has no terminal. */
static int no_phrase(char *to, int size, int writing, void *user)
{
    (void)to;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

dp_status dpi_identity_parse(const char *bytes, size_t n, const char *path, dp_identity **identity,
                             dp_error *err)
{
    *identity = NULL;
    BIO *key_text = BIO_new_mem_buf(bytes, (int)n), *text = BIO_new_mem_buf(bytes, (int)n);
    if (key_text == NULL || text == NULL) {
        BIO_free(key_text);
        BIO_free(text);
        return dpi_fail_nomem(err);
    }
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_text, NULL, no_phrase, NULL);
    X509 *certificate = PEM_read_bio_X509(text, NULL, no_phrase, NULL);
    BIO_free(key_text);
    BIO_free(text);
    bool good = key != NULL && certificate != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
                X509_check_private_key(certificate, key) == 1;
    ERR_clear_error();
    if (good)
        return wrap(key, certificate, identity, err);
    EVP_PKEY_free(key);
    X509_free(certificate);
    return dpi_fail(
        err, DP_EDATA,
        "%.200s is no identity: it must hold an Ed25519 private key without pass phrase "
        "and its certificate; tacit keys create makes one",
        path);
}

dp_status dp_identity_load(const char *path, dp_identity **identity, dp_error *err)
{
    *identity = NULL;
    ERR_clear_error();
    char *bytes = dpi_alloc(MOST_FILE + 1, 1);
    if (bytes == NULL)
        return dpi_fail_nomem(err);
    size_t n = 0;
    dp_status status = read_file(path, bytes, &n, err);
    if (status == DP_OK && n > MOST_FILE)
        status = dpi_fail(err, DP_EDATA, "%.200s is too long for an identity", path);
    if (status == DP_OK)
        status = dpi_identity_parse(bytes, n, path, identity, err);
    OPENSSL_cleanse(bytes, MOST_FILE + 1);
    dpi_free(bytes);
    return status;
}

const char *dp_identity_fingerprint(const dp_identity *identity)
{
    return identity->text;
}

void dp_identity_free(dp_identity *identity)
{
    if (identity == NULL)
        return;
    EVP_PKEY_free(identity->key); /* wipes it */
    X509_free(identity->certificate);
    dpi_free(identity);
}
