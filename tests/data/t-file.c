#include "data/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/lib/check.h"

static char path[] = "t-file-XXXXXX";

static void write_bytes(size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        assert_true(fputc((int)(i * 7 % 251), file) != EOF);
    assert_int_equal(fclose(file), 0);
}

static void check_bytes(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal((unsigned char)text[i], i * 7 % 251);
}

static void reads_files_of_any_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *text;
        size_t size;
        dp_error err = {0};
        write_bytes(sizes[i]);
        assert_ok(dpi_file_read(path, 1000000, &text, &size, &err), err.text);
        assert_int_equal(size, sizes[i]);
        check_bytes(text, size);
        dpi_free(text);
    }
}

static void holds_the_size_limit(void **state)
{
    (void)state;
    char *text;
    size_t size;
    write_bytes(70000);
    assert_ok(dpi_file_read(path, 70000, &text, &size, NULL), NULL);
    assert_int_equal(size, 70000);
    dpi_free(text);
    static const size_t limits[] = {1, 65536, 69999};
    for (size_t i = 0; i < 3; i++) {
        dp_error err = {0};
        assert_int_equal(dpi_file_read(path, limits[i], &text, &size, &err), DP_EDATA);
        assert_null(text);
        assert_int_equal(size, 0);
        assert_contains(err.text, "raise max_bytes");
    }
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    char *text;
    size_t size;
    dp_error err = {0};
    assert_int_equal(dpi_file_read("no/such/file", 10, &text, &size, &err), DP_EIO);
    assert_null(text);
    assert_contains(err.text, "cannot open no/such/file; check the path");
    err = (dp_error){0};
    assert_int_equal(dpi_file_read(".", 10, &text, &size, &err), DP_EIO);
    assert_null(text);
    assert_contains(err.text, "cannot read .; check that it is a file");
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_files_of_any_size),
        cmocka_unit_test(holds_the_size_limit),
        cmocka_unit_test(refuses_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
