/* IDX: what is read, and every way in which it may lie. */
#include <tacit/idx.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    } changes[] = {{0, 31, "compressed"}, {2, 9, "unsigned"},         {3, 0, "dimensions"},
                   {3, 5, "dimensions"},  {7, 0, "cannot be"},        {7, 3, "cut or damaged"},
                   {4, 255, "damaged"},   {12, 255, "cut or damaged"}};
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

static void memory_may_run_out(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t k = 1; failed; k++) {
        dp_idx *idx;
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = dp_idx_parse(good, sizeof good, &idx, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(idx == NULL, failed);
        dp_idx_free(idx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
