/* Blocks of a store: what is in them stays, in memory and in the file, and the file has no name. */
#define _POSIX_C_SOURCE 200809L
#include "base/store.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { MEGABYTE = 1 << 20 };

/* Entries of a folder but itself and its parent. */
static int entries(const char *folder)
{
    int found = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *e; (e = readdir(list)) != NULL;)
        found += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    (void)closedir(list);
    return found;
}

static void fill(void *block, size_t bytes, unsigned seed)
{
    unsigned char *to = block;
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(i * 31 + i / 4099 + seed);
}

static bool holds(const void *block, size_t bytes, unsigned seed)
{
    const unsigned char *from = block;
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != (unsigned char)(i * 31 + i / 4099 + seed))
            return false;
    return true;
}

static bool is_zero(const void *block, size_t bytes)
{
    const unsigned char *from = block;
    return bytes == 0 || (from[0] == 0 && memcmp(from, from + 1, bytes - 1) == 0);
}

static void what_is_beyond_lies_in_a_file_without_a_name(void **state)
{
    (void)state;
    char folder[] = "/tmp/t-store-XXXXXX";
    assert_non_null(mkdtemp(folder));
    dpi_store store = {.folder = folder, .in_memory = 2 * MEGABYTE};
    enum { BLOCKS = 6 };
    void *block[BLOCKS];
    for (unsigned b = 0; b < BLOCKS; b++) {
        block[b] = dpi_store_alloc(&store, MEGABYTE + b, 1);
        assert_non_null(block[b]);
        assert_int_equal((uintptr_t)block[b] % 64, 0);
        assert_true(is_zero(block[b], MEGABYTE + b));
        fill(block[b], MEGABYTE + b, b);
    }
    assert_true(store.held <= store.in_memory);
    assert_true(store.file > 0 && store.end >= 4 * MEGABYTE);
    assert_int_equal(entries(folder), 0);
    for (unsigned b = 0; b < BLOCKS; b++)
        assert_true(holds(block[b], MEGABYTE + b, b));
    for (unsigned b = 0; b < BLOCKS; b += 2)
        dpi_store_free_block(&store, block[b]);
    for (unsigned b = 1; b < BLOCKS; b += 2)
        assert_true(holds(block[b], MEGABYTE + b, b));
    dpi_store_free(&store);
    assert_true(store.held == 0 && store.file == 0 && store.blocks == NULL);
    assert_int_equal(rmdir(folder), 0);
}

static void blocks_grow_from_memory_into_the_file(void **state)
{
    (void)state;
    dpi_store store = {.folder = "/tmp", .in_memory = MEGABYTE};
    void *block = NULL;
    size_t used = 0;
    for (size_t n = 1000; n < 8 * MEGABYTE; n *= 3) {
        assert_true(dpi_store_grow(&store, &block, used, n, 1));
        assert_true(holds(block, used, 7));
        assert_true(is_zero((char *)block + used, n - used));
        fill(block, n, 7);
        used = n;
        assert_true(store.held <= MEGABYTE);
    }
    assert_true(store.file > 0 && store.held == 0);
    dpi_store_free(&store);
}

static void without_a_folder_all_is_in_memory(void **state)
{
    (void)state;
    const char *const folders[] = {NULL, "/no/such/folder"};
    for (int f = 0; f < 2; f++) {
        dpi_store store = {.folder = folders[f], .in_memory = 1000};
        void *block = dpi_store_alloc(&store, 3 * MEGABYTE, 1);
        assert_non_null(block);
        assert_true(store.file == 0 && store.held == 3 * MEGABYTE);
        dpi_store_free_block(&store, block);
        assert_int_equal(store.held, 0);
        assert_null(dpi_store_alloc(&store, SIZE_MAX / 2, 3));
        assert_null(dpi_store_alloc(&store, SIZE_MAX, 1));
        dpi_store_free(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_beyond_lies_in_a_file_without_a_name),
        cmocka_unit_test(blocks_grow_from_memory_into_the_file),
        cmocka_unit_test(without_a_folder_all_is_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
