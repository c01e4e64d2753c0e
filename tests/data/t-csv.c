#include "data/csv.h"

#include "data/blocks.h"

#include <stdint.h>
#include <string.h>

#include "tests/lib/check.h"

/* Opens the text as a file of that content is: the line ends at its end are left out. */
static dp_status open_text(dpi_csv *csv, dpi_arena *arena, dp_error *err)
{
    static dpi_csv_block block;
    dpi_source source;
    dpi_source_text(&source, csv->name, csv->text, csv->size);
    dpi_csv_blocks blocks = {.source = &source, .block = 1 << 20, .max_line = csv->max_line};
    blocks.max_bytes = SIZE_MAX;
    dpi_csv_blocks_start(&blocks);
    dpi_csv_block_free(&block);
    dp_status status = dpi_csv_blocks_next(&blocks, &block, err);
    dpi_csv_blocks_free(&blocks);
    csv->text = block.text;
    csv->size = block.size;
    return status == DP_OK ? dpi_csv_open(csv, arena, err) : status;
}

/* Records of a text with '|' between fields and '/' after records; "!" and the message on error. */
static char *records(const char *text, size_t size, char separator, size_t max_line)
{
    static char out[2000];
    dpi_arena arena = {0};
    dp_error err = {0};
    bool found = true;
    dpi_csv csv = {.name = "t.csv", .text = text, .size = size, .separator = separator};
    csv.max_line = max_line;
    out[0] = 0;
    dp_status status = open_text(&csv, &arena, &err);
    while (status == DP_OK && found) {
        for (size_t f = 0; f < csv.n_fields; f++) {
            strcat(out, f > 0 ? "|" : "");
            strcat(out, csv.fields[f]);
        }
        strcat(out, "/");
        status = dpi_csv_next(&csv, &found, &err);
    }
    if (status != DP_OK) {
        assert_int_equal(status, DP_EDATA);
        strcat(out, "!");
        strcat(out, err.text);
    }
    dpi_arena_free(&arena);
    return out;
}

static char *plain(const char *text)
{
    return records(text, strlen(text), ',', 1000);
}

static void splits_records_and_fields(void **state)
{
    (void)state;
    assert_string_equal(plain("a,b\n1,2\n3,4\n"), "a|b/1|2/3|4/");
    assert_string_equal(plain("a,b\n1,2\n3,4"), "a|b/1|2/3|4/");
    assert_string_equal(plain("a,b\r\n1,2\r\n3,4\r\n"), "a|b/1|2/3|4/");
    assert_string_equal(plain("a,b\n,\n,,"), "a|b/|/!t.csv, line 3: 3 fields, but the header has 2;"
                                             " quote fields that contain the separator ',', and"
                                             " fill in or remove short lines");
    assert_string_equal(plain("a"), "a/");
    assert_string_equal(plain("a\n b \n"), "a/ b /");
    assert_string_equal(records("a;b\n1,5;2\n", 10, ';', 1000), "a|b/1,5|2/");
}

static void unquotes(void **state)
{
    (void)state;
    assert_string_equal(plain("a,b\n\"x,y\",\"\"\n"), "a|b/x,y|/");
    assert_string_equal(plain("\"a\",\"b\"\"c\"\n\"\"\"\",\"1\r\n2\"\n"), "a|b\"c/\"|1\r\n2/");
    assert_string_equal(plain("a,b\n1,\"x\""), "a|b/1|x/");
}

static void skips_the_byte_order_mark_and_empty_lines_at_the_end(void **state)
{
    (void)state;
    assert_string_equal(plain("\xef\xbb\xbf"
                              "a,b\n1,2\n"),
                        "a|b/1|2/");
    assert_string_equal(plain("a,b\n1,2\n\n\r\n\n"), "a|b/1|2/");
    assert_contains(plain("a,b\n\n1,2\n"), "a|b/!t.csv, line 2: 1 fields, but the header has 2");
}

static void names_the_line_of_a_ragged_record(void **state)
{
    (void)state;
    assert_contains(plain("a,b\n1,\"x\ny\"\n1,2,3\n"), "!t.csv, line 4: 3 fields, but the header");
    assert_contains(plain("a,b,c\r\n1,2\r\n"), "!t.csv, line 2: 2 fields, but the header has 3");
}

static void refuses_broken_quotes(void **state)
{
    (void)state;
    assert_contains(plain("a,b\n1,2\n3,\"x\ny,4\n"), "line 3: a quote opens here and is never");
    assert_contains(plain("a,b\n\"\n"), "line 2: a quote opens here");
    assert_contains(plain("a,b\nx\"y,2\n"), "line 2: a quote inside a field");
    assert_contains(plain("a,b\n\"x\"y,2\n"), "line 2: text after the closing quote");
    assert_contains(plain("a,b\n\"x\" ,2\n"), "line 2: text after the closing quote");
    assert_contains(plain("a,b\n\"x\"\r,2\n"), "line 2: text after the closing quote");
}

static void refuses_lone_carriage_returns(void **state)
{
    (void)state;
    assert_contains(plain("a,b\r1,2\r"), "line 1: a carriage return without a line feed");
    assert_contains(plain("a,b\n1\r,2\n"), "line 2: a carriage return without a line feed");
}

static void refuses_empty_texts(void **state)
{
    (void)state;
    assert_contains(plain(""), "t.csv is empty");
    assert_contains(records(NULL, 0, ',', 1000), "t.csv is empty");
    assert_contains(plain("\r\n\n"), "t.csv is empty");
    assert_contains(plain("\xef\xbb\xbf\n"), "t.csv is empty");
}

static void holds_the_line_limit(void **state)
{
    (void)state;
    assert_string_equal(records("a,b\r\n1,2\r\n", 10, ',', 3), "a|b/1|2/");
    assert_contains(records("a,b\n1,22\n", 9, ',', 3), "a|b/!t.csv, line 2: the record is longer"
                                                       " than 3 bytes");
    assert_contains(records("a,b\n1,\"x\n", 9, ',', 3), "line 2: the record is longer");
    assert_contains(records("a,b\n\"2\",\n", 9, ',', 3), "line 2: the record is longer");
    assert_contains(records("abcd,b\n", 7, ',', 3), "line 1: the record is longer");
    assert_string_equal(records("a,b\n1,2", 7, ',', 3), "a|b/1|2/");
    assert_string_equal(records("a\n\"1\"\n", 6, ',', 3), "a/1/");
}

static void messages_never_quote_the_text(void **state)
{
    (void)state;
    assert_null(strstr(plain("a,b\n1,2\nSECRET\n"), "SECRET"));
    assert_null(strstr(plain("a,b\n\"SECRET\"x,1\n"), "SECRET"));
    assert_null(strstr(plain("SE\"CRET,b\n"), "SE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_records_and_fields),
        cmocka_unit_test(unquotes),
        cmocka_unit_test(skips_the_byte_order_mark_and_empty_lines_at_the_end),
        cmocka_unit_test(names_the_line_of_a_ragged_record),
        cmocka_unit_test(refuses_broken_quotes),
        cmocka_unit_test(refuses_lone_carriage_returns),
        cmocka_unit_test(refuses_empty_texts),
        cmocka_unit_test(holds_the_line_limit),
        cmocka_unit_test(messages_never_quote_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
