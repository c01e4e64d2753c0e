/* NPY: what is mapped, and every way in which a file may lie. */
#include <tacit/npy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/npy-header.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

#define REAL_2_BY_3 "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"

/* A file as NumPy writes it: version 1.0, header padded to a multiple of 64.  Returns its size. */
static size_t write_npy(unsigned char *file, const char *dictionary, size_t value_bytes)
{
    size_t text = strlen(dictionary), header = (10 + text + 1 + 63) / 64 * 64;
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)((header - 10) % 256);
    file[9] = (unsigned char)((header - 10) / 256);
    memset(file + 10, ' ', header - 10);
    memcpy(file + 10, dictionary, text);
    file[header - 1] = '\n';
    for (size_t i = 0; i < value_bytes; i++)
        file[header + i] = (unsigned char)(i % 7);
    return header + value_bytes;
}

static dp_status read_copy(const unsigned char *file, size_t n, dpi_npy_header *h, dp_error *err)
{
    *err = (dp_error){0};
    unsigned char *copy = malloc(n > 0 ? n : 1); /* of just this size, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, file, n);
    dp_status status = dpi_npy_header_read(copy, n, n, h, err);
    free(copy);
    return status;
}

static void check_shape(const char *dictionary, size_t rows, size_t columns, bool real)
{
    unsigned char file[1024];
    dpi_npy_header h;
    dp_error err = {0};
    size_t n = write_npy(file, dictionary, rows * columns * (real ? 8 : 4));
    assert_ok(read_copy(file, n, &h, &err), err.text);
    assert_int_equal(h.rows, rows);
    assert_int_equal(h.columns, columns);
    assert_int_equal(h.real, real);
    assert_int_equal(h.start % 64, 0);
}

static void headers_are_read(void **state)
{
    (void)state;
    check_shape(REAL_2_BY_3, 2, 3, true);
    check_shape("{'descr': '<i4', 'fortran_order': False, 'shape': (5,), }", 5, 1, false);
    check_shape("{'shape':(4,1),'fortran_order':False,'descr':'<f8'}", 4, 1, true);
    check_shape("{'shape': (4, 2,), 'descr': '<f8', 'fortran_order': False}", 4, 2, true);
}

static void refused(const char *dictionary, size_t value_bytes, const char *why)
{
    unsigned char file[1024];
    dpi_npy_header h;
    dp_error err = {0};
    size_t n = write_npy(file, dictionary, value_bytes);
    assert_int_equal(read_copy(file, n, &h, &err), DP_EDATA);
    assert_contains(err.text, why);
    assert_int_equal(h.rows, 0);
}

static void other_arrays_are_refused(void **state)
{
    (void)state;
    static const char *const misfits[] = {
        "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f8', 'shape': (2, 3), }",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), ",
        REAL_2_BY_3 "}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3), }",
        ""};
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++)
        refused(misfits[i], 48, "are taken");
    refused(REAL_2_BY_3, 47, "cut or damaged");
    refused(REAL_2_BY_3, 49, "cut or damaged");
    refused(REAL_2_BY_3, 24, "cut or damaged");
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", 0, "empty");
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952, 1), }", 0,
            "cut or damaged"); /* 2^61 doubles: 0 bytes modulo 2^64 */
}

static void every_cut_and_other_versions_are_refused(void **state)
{
    (void)state;
    unsigned char file[1024];
    dpi_npy_header h;
    dp_error err;
    size_t n = write_npy(file, REAL_2_BY_3, 48);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(read_copy(file, k, &h, &err), DP_EDATA);
    file[6] = 9;
    assert_int_equal(read_copy(file, n, &h, &err), DP_EDATA);
    file[6] = 1, file[0] = 'N';
    assert_int_equal(read_copy(file, n, &h, &err), DP_EDATA);
    (void)write_npy(file, REAL_2_BY_3, 48); /* and now a header of 132 bytes */
    memset(file + 10 + strlen(REAL_2_BY_3), ' ', 132 - 10 - strlen(REAL_2_BY_3));
    file[8] = (unsigned char)(132 - 10);
    assert_int_equal(read_copy(file, 132 + 48, &h, &err), DP_EDATA);
    assert_contains(err.text, "multiple of 8");
}

/* Version 2.0 has a length of 4 bytes. */
static void longer_lengths_are_read(void **state)
{
    (void)state;
    unsigned char file[1024];
    dpi_npy_header h;
    dp_error err = {0};
    size_t n = write_npy(file, REAL_2_BY_3, 48);
    memmove(file + 12, file + 10, 116); /* the last two blanks make room */
    file[6] = 2, file[8] = 116, file[9] = file[10] = file[11] = 0;
    file[127] = '\n';
    assert_ok(read_copy(file, n, &h, &err), err.text);
    assert_int_equal(h.start, 128);
}

static void make_file(char *path, const unsigned char *bytes, size_t n)
{
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, bytes, n) == (ssize_t)n && close(file) == 0);
}

static void files_are_mapped(void **state)
{
    (void)state;
    unsigned char bytes[1024];
    char path[] = "t-npy-XXXXXX";
    dp_npy *npy;
    dp_error err = {0};
    double values[6] = {1, -2.5, 3e300, 4, 5, 6};
    size_t n = write_npy(bytes, REAL_2_BY_3, 48);
    memcpy(bytes + n - 48, values, sizeof values);
    make_file(path, bytes, n);
    assert_ok(dp_npy_open(path, &npy, &err), err.text);
    assert_int_equal(dp_npy_rows(npy), 2);
    assert_int_equal(dp_npy_columns(npy), 3);
    assert_memory_equal(dp_npy_real(npy), values, sizeof values);
    assert_null(dp_npy_index(npy));
    dp_npy_free(npy);
    dp_npy_free(NULL);
    faulty_fail(1);
    assert_int_equal(dp_npy_open(path, &npy, &err), DP_ENOMEM);
    assert_null(npy);
    faulty_fail(0);
    assert_int_equal(faulty_live(), 0);
    (void)unlink(path);
    err = (dp_error){0};
    assert_int_equal(dp_npy_open(path, &npy, &err), DP_EIO);
    err = (dp_error){0};
    assert_int_equal(dp_npy_open(".", &npy, &err), DP_EIO);
    assert_null(npy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_read),
        cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(every_cut_and_other_versions_are_refused),
        cmocka_unit_test(longer_lengths_are_read),
        cmocka_unit_test(files_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
