/* Keys of owners: the file is its owner's alone, and never written over. */
#define _XOPEN_SOURCE 700
#include "silo/keys.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"

static char path[64], other[64];

static void name_files(void)
{
    (void)snprintf(path, sizeof path, "silo-key-%ld", (long)getpid());
    (void)snprintf(other, sizeof other, "silo-key-%ld-other", (long)getpid());
    (void)unlink(path);
    (void)unlink(other);
}

static void write_file(const char *text, size_t n, mode_t mode)
{
    (void)unlink(path);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void a_key_is_read_as_it_was_made(void **state)
{
    dp_silo_key *made = NULL, *read = NULL, *again = NULL;
    unsigned char public[32], signature[64];
    struct stat s;
    dp_error err = {0};
    (void)state;
    name_files();
    assert_ok(dp_silo_key_new(path, &made, &err), err.text);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_ok(dp_silo_key_load(path, &read, &err), err.text);
    assert_string_equal(dp_silo_key_public(made), dp_silo_key_public(read));
    assert_int_equal(strlen(dp_silo_key_public(made)), DP_SILO_PUBLIC_TEXT - 1);
    assert_true(dpi_silo_public_read(dp_silo_key_public(made), public));
    dpi_silo_key_sign(read, 3, (const unsigned char *)"abc", signature);
    assert_int_equal(
        crypto_sign_verify_detached(signature, (const unsigned char *)"abc", 3, public), 0);
    assert_fails(dp_silo_key_new(path, &again, &err), DP_EIO, &err, "never overwritten");
    assert_null(again);
    assert_ok(dp_silo_key_new(other, &again, &err), err.text);
    assert_string_not_equal(dp_silo_key_public(made), dp_silo_key_public(again));
    dp_silo_key_free(made);
    dp_silo_key_free(read);
    dp_silo_key_free(again);
    dp_silo_key_free(NULL);
    (void)unlink(path);
    (void)unlink(other);
}

static void refuses(dp_status expected, const char *why)
{
    dp_silo_key *key = NULL;
    dp_error err = {0};
    assert_fails(dp_silo_key_load(path, &key, &err), expected, &err, why);
    assert_null(key);
}

static void what_is_no_key_is_refused(void **state)
{
    static const char good[] = "tacit silo key 1\n"
                               "00000000000000000000000000000000"
                               "00000000000000000000000000000000\n";
    enum { N = sizeof good - 1 };
    char bad[N + 1];
    dp_silo_key *key = NULL;
    dp_error err = {0};
    (void)state;
    name_files();
    refuses(DP_EIO, "cannot open");
    write_file(good, N, 0600);
    assert_ok(dp_silo_key_load(path, &key, &err), err.text);
    dp_silo_key_free(key);
    write_file(good, N, 0640);
    refuses(DP_EPRIVACY, "others may read");
    write_file(good, N, 0602);
    refuses(DP_EPRIVACY, "mode 602");
    write_file(good, N - 1, 0600);
    refuses(DP_EDATA, "no key");
    write_file("", 0, 0600);
    refuses(DP_EDATA, "no key");
    memcpy(bad, good, N);
    bad[N] = 'x';
    write_file(bad, N + 1, 0600);
    refuses(DP_EDATA, "no key");
    for (size_t k = 0; k < N; k++) {
        memcpy(bad, good, N);
        bad[k] = '~';
        write_file(bad, N, 0600);
        refuses(DP_EDATA, "no key");
    }
    (void)unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    refuses(DP_EIO, "cannot open");
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(DP_EIO, "no regular file");
    (void)rmdir(path);
}

static void what_is_no_public_text_is_refused(void **state)
{
    char text[] = "tacit-owner:"
                  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    unsigned char public[32];
    (void)state;
    assert_true(dpi_silo_public_read(text, public));
    assert_true(public[0] == 0x01 && public[31] == 0xef);
    assert_false(dpi_silo_public_read(NULL, public));
    assert_false(dpi_silo_public_read("", public));
    for (size_t k = 0; text[k] != '\0'; k++) {
        char was = text[k];
        text[k] = k < 12 || was < 'a' ? 'g' : (char)(was - 'a' + 'A');
        assert_false(dpi_silo_public_read(text, public));
        text[k] = '\0';
        assert_false(dpi_silo_public_read(text, public));
        text[k] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_read_as_it_was_made),
        cmocka_unit_test(what_is_no_key_is_refused),
        cmocka_unit_test(what_is_no_public_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
