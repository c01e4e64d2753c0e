/* Blocks of a text: together they are the text, and none of them cuts a record. */
#include "data/blocks.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/lib/check.h"

enum { MOST = 4000 };

static size_t cut(const char *text, size_t size, size_t block, size_t max_line, char *joined,
                  size_t *n_blocks, dp_error *err)
{
    dpi_source source;
    dpi_csv_block b = {0};
    size_t joined_size = 0, lines = 1;
    dpi_source_text(&source, "t.csv", text, size);
    dpi_csv_blocks blocks = {.source = &source, .block = block, .max_line = max_line};
    blocks.max_bytes = MOST;
    dpi_csv_blocks_start(&blocks);
    for (*n_blocks = 0; !b.last; ++*n_blocks) {
        if (dpi_csv_blocks_next(&blocks, &b, err) != DP_OK)
            break;
        assert_int_equal(b.line, lines);
        assert_true(b.last || b.size > 0);
        memcpy(joined + joined_size, b.text, b.size);
        joined_size += b.size;
        lines += b.lines;
    }
    dpi_csv_block_free(&b);
    dpi_csv_blocks_free(&blocks);
    return joined_size;
}

static const char text[] = "\xef\xbb\xbfname,x\r\n\"Zo\xc3\xab, \"\"the\nolder\"\"\",1\r\n"
                           "\xe6\x9d\x8e,2\n\"\"\"\",3\n\n\n\"\n\n\",4\nlast,5\n\r\n\n";

static void blocks_of_any_size_are_the_text(void **state)
{
    (void)state;
    char joined[MOST];
    const size_t whole = strlen(text) - 4; /* without the line ends at its end */
    size_t most = 0;
    for (size_t block = 1; block < sizeof text + 9; block++) {
        dp_error err = {0};
        size_t n, size = cut(text, strlen(text), block, 1000, joined, &n, &err);
        assert_int_equal(err.status, DP_OK);
        assert_int_equal(size, whole);
        assert_memory_equal(joined, text, whole);
        most = n > most ? n : most;
        assert_true(block <= strlen(text) || n == 1);
    }
    assert_int_equal(most, 4);
}

static void a_record_without_end_is_not_waited_for(void **state)
{
    (void)state;
    char endless[MOST], joined[MOST];
    dp_error err = {0};
    size_t n;
    memset(endless, 'x', sizeof endless);
    memcpy(endless, "a,b\n1,\"", 7);
    const size_t size = cut(endless, sizeof endless, 16, 100, joined, &n, &err);
    assert_int_equal(err.status, DP_OK);
    assert_int_equal(size, sizeof endless);
    assert_true(n > 10); /* the first of them shows that the record is too long */
}

static void a_nul_byte_ends_the_text(void **state)
{
    (void)state;
    static const char some[] = "a\n1\n2\0\n3\n";
    char joined[MOST];
    for (size_t block = 1; block < 20; block++) {
        dp_error err = {0};
        size_t n;
        assert_int_equal(cut(some, sizeof some - 1, block, 100, joined, &n, &err), 5);
        assert_int_equal(err.status, DP_OK);
    }
}

static void a_text_that_grows_too_large_is_refused(void **state)
{
    (void)state;
    static char large[MOST + 1], joined[MOST + 1];
    dp_error err = {0};
    size_t n;
    memset(large, '\n', sizeof large);
    (void)cut(large, sizeof large, 100, 100, joined, &n, &err);
    assert_int_equal(err.status, DP_EDATA);
    assert_contains(err.text, "t.csv is larger than 4000 bytes; raise max_bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_any_size_are_the_text),
        cmocka_unit_test(a_record_without_end_is_not_waited_for),
        cmocka_unit_test(a_nul_byte_ends_the_text),
        cmocka_unit_test(a_text_that_grows_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
