#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

#include "tests/lib/check.h"

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    size_t product;
    assert_false(dpi_mul(SIZE_MAX / 2, 3, &product));
    assert_true(product == SIZE_MAX);
    assert_true(dpi_mul(SIZE_MAX, 1, &product));
    assert_null(dpi_alloc(SIZE_MAX / 2, 3));
    assert_null(dpi_alloc(SIZE_MAX - 8, 1));
    dpi_arena arena = {0};
    assert_null(dpi_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_null(dpi_arena_alloc(&arena, SIZE_MAX - 100, 1));
    dpi_arena_free(&arena);
}

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    dpi_arena arena = {0};
    for (size_t size = 0; size < 50000; size = size * 2 + 7) {
        unsigned char *block = dpi_arena_alloc(&arena, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xff, size);
    }
    dpi_arena_free(&arena);
    assert_null(arena.chunks);
}

static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    dpi_arena arena = {0};
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(
            dpi_arena_grow(&arena, (void **)&items, &capacity, (size_t)i + 1, sizeof *items));
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_false(dpi_arena_grow(&arena, (void **)&items, &capacity, SIZE_MAX, sizeof *items));
    assert_string_equal(dpi_arena_strdup(&arena, "district"), "district");
    dpi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(growing_keeps_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
