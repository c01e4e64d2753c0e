/* IDX: what is read, and every way in which it may lie. */
#include <tacit/idx.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static const unsigned char good[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                     1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

static void arrays_are_read(void **state)
{
    (void)state;
    dp_idx *idx;
    dp_error err = {0};
    assert_ok(dp_idx_parse(good, sizeof good, &idx, &err), err.text);
    assert_int_equal(dp_idx_items(idx), 2);
    assert_int_equal(dp_idx_size(idx), 3);
    assert_memory_equal(dp_idx_values(idx), good + 16, 6);
    dp_idx_free(idx);
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};
    assert_ok(dp_idx_parse(labels, sizeof labels, &idx, &err), err.text);
    assert_int_equal(dp_idx_size(idx), 1);
    assert_int_equal(dp_idx_values(idx)[1], 9);
    dp_idx_free(idx);
    dp_idx_free(NULL);
}

static void refused(const unsigned char *bytes, size_t n, const char *why)
{
    dp_idx *idx = (dp_idx *)&idx;
    dp_error err = {0};
    unsigned char *copy = malloc(n > 0 ? n : 1); /* of just this size, for sanitizers */
    assert_non_null(copy);
    if (n > 0)
        memcpy(copy, bytes, n);
    assert_int_equal(dp_idx_parse(copy, n, &idx, &err), DP_EDATA);
    assert_null(idx);
    if (why != NULL)
        assert_non_null(strstr(err.text, why));
    free(copy);
}

static void lies_are_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof good; n++)
        refused(good, n, NULL);
    unsigned char longer[sizeof good + 1] = {0}, other[sizeof good];
    memcpy(longer, good, sizeof good);
    refused(longer, sizeof longer, "cut or damaged");
    static const struct {
        size_t at;
        unsigned char value;
        const char *why;
    } changes[] = {{0, 31, "nor like gzip"}, {2, 9, "unsigned"},         {3, 0, "dimensions"},
                   {3, 5, "dimensions"},     {7, 0, "cannot be"},        {7, 3, "cut or damaged"},
                   {4, 255, "damaged"},      {12, 255, "cut or damaged"}};
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        memcpy(other, good, sizeof good);
        other[changes[k].at] = changes[k].value;
        refused(other, sizeof other, changes[k].why);
    }
    static const unsigned char huge[] = {0,   0,   8,   3,   255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 255, 255, 255, 1,   2,   3,   4};
    refused(huge, sizeof huge, "cannot be");
}

static void files_are_read(void **state)
{
    (void)state;
    char path[] = "t-idx-XXXXXX";
    dp_idx *idx;
    dp_error err = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, good, sizeof good), sizeof good);
    (void)close(file);
    assert_ok(dp_idx_read(path, 0, &idx, &err), err.text);
    assert_int_equal(dp_idx_items(idx), 2);
    dp_idx_free(idx);
    assert_int_equal(dp_idx_read(path, 10, &idx, &err), DP_EDATA);
    assert_null(idx);
    (void)unlink(path);
    err = (dp_error){0};
    assert_int_equal(dp_idx_read(path, 0, &idx, &err), DP_EIO);
    assert_null(idx);
}

/* ---- packed ---- */

enum { PACKED = 4096, LARGE = 100000 };

/* A header of one dimension that says `said`, and `there` values of period 251. */
static unsigned char *make(size_t said, size_t there)
{
    unsigned char *bytes = calloc(8 + there, 1);
    assert_non_null(bytes);
    bytes[2] = 8;
    bytes[3] = 1;
    for (int k = 0; k < 4; k++)
        bytes[4 + k] = (unsigned char)(said >> (24 - 8 * k));
    for (size_t i = 0; i < there; i++)
        bytes[8 + i] = (unsigned char)(i % 251);
    return bytes;
}

static size_t pack(const unsigned char *bytes, size_t n, size_t room, unsigned char *out)
{
    z_stream zip = {.next_in = bytes, .avail_in = (uInt)n};
    assert_int_equal(deflateInit2(&zip, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    zip.next_out = out;
    zip.avail_out = (uInt)room;
    assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&zip);
    return zip.total_out;
}

static size_t pack_made(size_t said, size_t there, unsigned char out[PACKED])
{
    unsigned char *bytes = make(said, there);
    size_t n = pack(bytes, 8 + there, PACKED, out);
    free(bytes);
    return n;
}

static void packed_arrays_are_read(void **state)
{
    (void)state;
    unsigned char packed[PACKED];
    dp_idx *idx;
    dp_error err = {0};
    size_t n = pack(good, sizeof good, sizeof packed, packed);
    assert_ok(dp_idx_parse(packed, n, &idx, &err), err.text);
    assert_true(dp_idx_items(idx) == 2 && dp_idx_size(idx) == 3);
    assert_memory_equal(dp_idx_values(idx), good + 16, 6);
    dp_idx_free(idx);
    n = pack_made(LARGE, LARGE, packed);
    assert_ok(dp_idx_parse(packed, n, &idx, &err), err.text);
    assert_int_equal(dp_idx_items(idx), LARGE);
    for (size_t i = 0; i < LARGE; i++)
        assert_int_equal(dp_idx_values(idx)[i], i % 251);
    dp_idx_free(idx);
}

/* A byte of the file's time or system may change; nothing else may without being seen. */
static void damaged_packed_arrays_are_refused(void **state)
{
    (void)state;
    unsigned char packed[PACKED + 1] = {0};
    size_t n = pack_made(5000, 5000, packed), kept = 0;
    for (size_t k = 0; k < n; k++)
        refused(packed, k, NULL);
    refused(packed, n + 1, "more bytes than it says");
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            dp_idx *idx;
            dp_error err = {0};
            packed[i] ^= (unsigned char)(1 << bit);
            if (dp_idx_parse(packed, n, &idx, &err) == DP_OK) {
                assert_true(dp_idx_items(idx) == 5000 && dp_idx_values(idx)[4999] == 4999 % 251);
                kept++;
            }
            dp_idx_free(idx);
            packed[i] ^= (unsigned char)(1 << bit);
        }
    assert_true(kept <= 8 * 8); /* flags of text, time, extra flags, system */
}

static void lies_in_packed_arrays_are_refused(void **state)
{
    (void)state;
    unsigned char packed[PACKED], twice[2 * PACKED];
    size_t n = pack_made(5001, 5000, packed);
    refused(packed, n, "fewer bytes than it says");
    n = pack_made(4999, 5000, packed);
    refused(packed, n, "more bytes than it says");
    n = pack_made(5000, 5000, packed);
    memcpy(twice, packed, n);
    memcpy(twice + n, packed, n);
    refused(twice, 2 * n, "several files");
    n = pack_made(0, 0, packed);
    refused(packed, n, "cannot be");
}

/* What the header says decides how much is made, and the packed bytes how much it may say. */
static void bombs_do_not_go_off(void **state)
{
    (void)state;
    unsigned char packed[PACKED];
    size_t n = pack_made(UINT32_MAX, 10, packed);
    refused(packed, n, "cannot hold");
    unsigned char *bytes = calloc((size_t)1 << 24, 1), *bomb = malloc(1 << 16);
    assert_true(bytes != NULL && bomb != NULL);
    bytes[2] = 8;
    bytes[3] = 1;
    bytes[7] = 9;
    n = pack(bytes, (size_t)1 << 24, 1 << 16, bomb);
    assert_true(n < 1 << 16);
    refused(bomb, n, "more bytes than it says");
    free(bomb);
    free(bytes);
    char path[] = "t-idx-XXXXXX";
    dp_idx *idx;
    dp_error err = {0};
    int file = mkstemp(path);
    n = pack_made(LARGE, LARGE, packed);
    assert_true(file >= 0 && write(file, packed, n) == (ssize_t)n);
    (void)close(file);
    assert_int_equal(dp_idx_read(path, LARGE - 1, &idx, &err), DP_EDATA);
    assert_contains(err.text, "raise max_bytes");
    assert_null(idx);
    err = (dp_error){0};
    assert_ok(dp_idx_read(path, LARGE, &idx, &err), err.text);
    dp_idx_free(idx);
    (void)unlink(path);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    unsigned char packed[PACKED];
    size_t n = pack_made(LARGE, LARGE, packed);
    for (int zip = 0; zip < 2; zip++) {
        bool failed = true;
        size_t k = 1;
        for (; failed; k++) {
            dp_idx *idx;
            dp_error err = {0};
            faulty_fail(k);
            dp_status status = zip ? dp_idx_parse(packed, n, &idx, &err)
                                   : dp_idx_parse(good, sizeof good, &idx, &err);
            failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(idx == NULL, failed);
            dp_idx_free(idx);
            assert_int_equal(faulty_live(), 0);
        }
        assert_true(k > (zip ? 5 : 3));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(packed_arrays_are_read),
        cmocka_unit_test(damaged_packed_arrays_are_refused),
        cmocka_unit_test(lies_in_packed_arrays_are_refused),
        cmocka_unit_test(bombs_do_not_go_off),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
