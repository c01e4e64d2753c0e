/* Identities and pinned peers. */
#define _XOPEN_SOURCE 700
#include "wire/identity.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/pem.h>

#include "tests/wire/pair.h"

static void a_file_gives_the_identity_again(void **state)
{
    wire_pair *p = *state;
    dp_error err = {0};
    dp_identity *again;
    struct stat s;
    assert_ok(dp_identity_load(pair_path(p, "client"), &again, &err), err.text);
    assert_string_equal(dp_identity_fingerprint(again), dp_identity_fingerprint(p->own[CLIENT]));
    assert_int_equal(EVP_PKEY_eq(again->key, p->own[CLIENT]->key), 1);
    assert_string_not_equal(again->text, p->own[SERVER]->text);
    assert_int_equal(stat(pair_path(p, "client"), &s), 0);
    assert_int_equal(s.st_mode & 07777, 0600);
    dp_identity_free(again);
    dp_identity_free(NULL);
}

/* The fingerprint by another way: the digest of the key's own DER. */
static void the_fingerprint_is_the_digest_of_the_public_key(void **state)
{
    wire_pair *p = *state;
    unsigned char *der = NULL, digest[DPI_FINGERPRINT], back[DPI_FINGERPRINT];
    char text[DPI_FINGERPRINT_TEXT] = "tacit:";
    int n = i2d_PUBKEY(p->own[CLIENT]->key, &der);
    assert_int_equal(n, 44); /* RFC 8410: 12 bytes that say Ed25519, 32 of the key */
    assert_int_equal(EVP_Digest(der, (size_t)n, digest, NULL, EVP_sha256(), NULL), 1);
    OPENSSL_free(der);
    for (int i = 0; i < DPI_FINGERPRINT; i++)
        (void)sprintf(text + 6 + 2 * i, "%02x", digest[i]);
    assert_string_equal(dp_identity_fingerprint(p->own[CLIENT]), text);
    assert_true(dpi_fingerprint_read(text, strlen(text), back));
    assert_memory_equal(back, digest, sizeof digest);
}

/* RFC 8032, section 7.1, test 1: a seed, and the public key of it. */
static void a_seed_gives_the_identity_of_its_public_key(void **state)
{
    static const unsigned char seed[DPI_IDENTITY_SEED] = {
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
        0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
        0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
    static const unsigned char key[DPI_IDENTITY_SEED] = {
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe,
        0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6,
        0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
    unsigned char print[DPI_FINGERPRINT];
    dp_identity *made = NULL;
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_identity_of_seed(seed, &made, &err), err.text);
    assert_true(dpi_fingerprint_of_key(key, print));
    assert_memory_equal(made->fingerprint, print, sizeof print);
    dp_identity_free(made);
}

static void no_other_text_is_a_fingerprint(void **state)
{
    wire_pair *p = *state;
    unsigned char to[DPI_FINGERPRINT];
    const char *good = p->own[CLIENT]->text;
    const size_t n = strlen(good);
    assert_true(dpi_fingerprint_read(good, n, to));
    assert_false(dpi_fingerprint_read(good, n - 1, to));
    assert_false(dpi_fingerprint_read(good, n + 1, to));
    for (size_t i = 0; i < n; i++) {
        char bad[DPI_FINGERPRINT_TEXT];
        memcpy(bad, good, sizeof bad);
        for (const char *c = "gAF/:` "; *c != 0; c++) {
            bad[i] = good[i] == *c ? '!' : *c;
            assert_false(dpi_fingerprint_read(bad, n, to));
        }
    }
}

static void a_file_is_never_overwritten(void **state)
{
    wire_pair *p = *state;
    dp_error err = {0};
    dp_identity *other = p->own[0];
    assert_fails(dp_identity_new(pair_path(p, "client"), &other, &err), DP_EIO, &err,
                 "never overwritten");
    assert_null(other);
    assert_int_equal(symlink("nowhere", pair_path(p, "link")), 0);
    assert_fails(dp_identity_new(pair_path(p, "link"), &other, &err), DP_EIO, &err, "exists");
    assert_fails(dp_identity_new(pair_path(p, "none/x"), &other, &err), DP_EIO, &err, "cannot");
}

/* Sizes are limited to 100 bytes: the key is written in part, and nothing is left. */
static void a_full_disk_leaves_no_file(void **state)
{
    wire_pair *p = *state;
    dp_error err = {0};
    dp_identity *other;
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = old;
    low.rlim_cur = 100;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    dp_status status = dp_identity_new(pair_path(p, "full"), &other, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, handler);
    assert_fails(status, DP_EIO, &err, "room on the disk");
    assert_null(other);
    assert_int_equal(access(pair_path(p, "full"), F_OK), -1);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    assert_int_equal(close(file), 0);
}

static void fails_to_load(wire_pair *p, const char *name, dp_status status, const char *why)
{
    dp_error err = {0};
    dp_identity *i = p->own[0];
    assert_fails(dp_identity_load(pair_path(p, name), &i, &err), status, &err, why);
    assert_null(i);
}

static void a_file_that_others_can_read_is_refused(void **state)
{
    wire_pair *p = *state;
    for (mode_t bit = 1; bit <= 0040; bit <<= 1) {
        assert_int_equal(chmod(pair_path(p, "client"), 0600 | bit), 0);
        fails_to_load(p, "client", DP_EPRIVACY, "others may read or write");
    }
    assert_int_equal(chmod(pair_path(p, "client"), 0400), 0);
    dp_error err = {0};
    dp_identity *again;
    assert_ok(dp_identity_load(pair_path(p, "client"), &again, &err), err.text);
    dp_identity_free(again);
    assert_int_equal(symlink("client", pair_path(p, "link")), 0);
    fails_to_load(p, "link", DP_EPRIVACY, "link");
    fails_to_load(p, ".", DP_EPRIVACY, "no regular file");
    assert_int_equal(mkfifo(pair_path(p, "pipe"), 0600), 0);
    fails_to_load(p, "pipe", DP_EPRIVACY, "no regular file"); /* and does not wait */
    fails_to_load(p, "none", DP_EIO, "cannot open");
}

static void write_key(const char *path, EVP_PKEY *key, X509 *certificate, const char *phrase)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (key != NULL)
        assert_int_equal(PEM_write_PKCS8PrivateKey(f, key,
                                                   phrase != NULL ? EVP_aes_256_cbc() : NULL,
                                                   phrase, phrase != NULL ? 4 : 0, NULL, NULL),
                         1);
    if (certificate != NULL)
        assert_int_equal(PEM_write_X509(f, certificate), 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void what_is_no_identity_is_refused(void **state)
{
    wire_pair *p = *state;
    dp_identity *const *own = p->own;
    write_file(pair_path(p, "x"), "", 0600);
    fails_to_load(p, "x", DP_EDATA, "no identity");
    write_file(pair_path(p, "x"), "-----BEGIN PRIVATE KEY-----\n", 0600);
    fails_to_load(p, "x", DP_EDATA, "no identity");
    write_key(pair_path(p, "x"), own[0]->key, NULL, NULL);
    fails_to_load(p, "x", DP_EDATA, "no identity");
    write_key(pair_path(p, "x"), NULL, own[0]->certificate, NULL);
    fails_to_load(p, "x", DP_EDATA, "no identity");
    write_key(pair_path(p, "x"), own[0]->key, own[1]->certificate, NULL);
    fails_to_load(p, "x", DP_EDATA, "no identity");
    write_key(pair_path(p, "x"), own[0]->key, own[0]->certificate, "word");
    fails_to_load(p, "x", DP_EDATA, "without pass phrase");
    EVP_PKEY *rsa = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    write_key(pair_path(p, "x"), rsa, own[0]->certificate, NULL);
    EVP_PKEY_free(rsa);
    fails_to_load(p, "x", DP_EDATA, "Ed25519");
    static char large[20000];
    memset(large, 'x', sizeof large - 1);
    write_file(pair_path(p, "x"), large, 0600);
    fails_to_load(p, "x", DP_EDATA, "too long");
}

/* ---- peers ---- */

#define A "tacit:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "tacit:10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void peers_are_read_and_found(void **state)
{
    (void)state;
    static const char text[] = "# who\n\n" A "  Anna of the clinic\r\n\t" B "\tb # second\n";
    dpi_peers peers;
    dp_error err = {0};
    unsigned char print[DPI_FINGERPRINT];
    assert_ok(dpi_peers_parse(text, strlen(text), "peers", &peers, &err), err.text);
    assert_int_equal(peers.n, 2);
    assert_string_equal(peers.list[0].name, "Anna of the clinic");
    assert_string_equal(peers.list[1].name, "b");
    assert_true(dpi_fingerprint_read(B, strlen(B), print));
    assert_int_equal(dpi_peers_find(&peers, print), 1);
    print[0] ^= 0x10;
    assert_int_equal(dpi_peers_find(&peers, print), 0);
    for (int i = 0; i < DPI_FINGERPRINT; i++) {
        print[i] ^= 0x80;
        assert_int_equal(dpi_peers_find(&peers, print), 2);
        print[i] ^= 0x80;
    }
    dpi_peers_free(&peers);
    assert_int_equal(dpi_peers_find(&peers, print), 0);
}

static void wrong_lines_of_peers_are_told(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {A, "peers:1: a name must follow"},
        {"\n\n" A " # x", "peers:3: a name must follow"},
        {"tacit:00 x", "peers:1: a fingerprint is"},
        {A "0 x", "a fingerprint is"},
        {A " a\n" A " b", "peers:2: this fingerprint has a name"},
        {A " a\n" B " a", "peers:2: this name has a fingerprint"},
        {A " a\x01", "peers:1: a control character"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dpi_peers peers;
        dp_error err = {0};
        assert_fails(dpi_peers_parse(cases[i][0], strlen(cases[i][0]), "peers", &peers, &err),
                     DP_EDATA, &err, cases[i][1]);
        assert_null(peers.list);
    }
}

static void names_and_lines_have_a_longest(void **state)
{
    (void)state;
    static char text[2000];
    dpi_peers peers;
    dp_error err = {0};
    (void)snprintf(text, sizeof text, "%s ", A);
    memset(text + strlen(text), 'n', 200);
    assert_ok(dpi_peers_parse(text, strlen(text), "peers", &peers, &err), err.text);
    dpi_peers_free(&peers);
    text[strlen(text)] = 'n';
    assert_fails(dpi_peers_parse(text, strlen(text), "peers", &peers, &err), DP_EDATA, &err,
                 "longer than 200");
    memset(text, 'n', sizeof text);
    assert_fails(dpi_peers_parse(text, sizeof text, "peers", &peers, &err), DP_EDATA, &err,
                 "more than 1000");
}

static void there_are_at_most_4096_peers(void **state)
{
    (void)state;
    enum { LINE = 90 };
    char *text = calloc(DPI_MOST_PEERS + 1, LINE), *at = text;
    assert_non_null(text);
    for (int i = 0; i < DPI_MOST_PEERS; i++)
        at += sprintf(at, "tacit:%064x peer %d\n", i, i);
    dpi_peers peers;
    dp_error err = {0};
    assert_ok(dpi_peers_parse(text, strlen(text), "peers", &peers, &err), err.text);
    assert_int_equal(peers.n, DPI_MOST_PEERS);
    for (size_t i = 0; i < peers.n; i += 117)
        assert_int_equal(dpi_peers_find(&peers, peers.list[i].fingerprint), i);
    assert_string_equal(peers.list[4095].name, "peer 4095");
    dpi_peers_free(&peers);
    (void)strcpy(at, A " one more\n");
    assert_fails(dpi_peers_parse(text, strlen(text), "peers", &peers, &err), DP_EDATA, &err,
                 "peers:4097: there are more than 4096");
    assert_null(peers.list);
    free(text);
}

static void a_file_of_peers_must_not_be_writable_by_others(void **state)
{
    wire_pair *p = *state;
    dpi_peers peers;
    dp_error err = {0};
    write_file(pair_path(p, "peers"), A " a\n", 0644);
    assert_ok(dpi_peers_load(pair_path(p, "peers"), &peers, &err), err.text);
    assert_int_equal(peers.n, 1);
    dpi_peers_free(&peers);
    write_file(pair_path(p, "peers"), A " a\n", 0620);
    assert_fails(dpi_peers_load(pair_path(p, "peers"), &peers, &err), DP_EPRIVACY, &err,
                 "others may write");
    assert_fails(dpi_peers_load(pair_path(p, "none"), &peers, &err), DP_EIO, &err, "cannot open");
    assert_fails(dpi_peers_load(p->folder, &peers, &err), DP_EIO, &err, "no regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_make, pair_remove)
        TEST(a_file_gives_the_identity_again),
        TEST(the_fingerprint_is_the_digest_of_the_public_key),
        TEST(a_seed_gives_the_identity_of_its_public_key),
        TEST(no_other_text_is_a_fingerprint),
        TEST(a_file_is_never_overwritten),
        TEST(a_full_disk_leaves_no_file),
        TEST(a_file_that_others_can_read_is_refused),
        TEST(what_is_no_identity_is_refused),
        cmocka_unit_test(peers_are_read_and_found),
        cmocka_unit_test(wrong_lines_of_peers_are_told),
        cmocka_unit_test(names_and_lines_have_a_longest),
        cmocka_unit_test(there_are_at_most_4096_peers),
        TEST(a_file_of_peers_must_not_be_writable_by_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
