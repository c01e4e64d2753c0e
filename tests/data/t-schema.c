#include "data/schema.h"

#include <math.h>

#include "tests/lib/check.h"

static const char *const yes_no[] = {"N", "Y"};

static void refuses(dp_column c, const char *why)
{
    dp_error err = {0};
    assert_int_equal(dpi_schema_check(1, &c, &err), DP_EINVAL);
    assert_contains(err.text, why);
}

static void takes_every_kind(void **state)
{
    (void)state;
    const dp_column good[] = {
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20, .clamp = true},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61},
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
    };
    dp_error err = {0};
    assert_ok(dpi_schema_check(3, good, &err), err.text);
}

static void refuses_faulty_declarations(void **state)
{
    (void)state;
    dp_error err = {0};
    assert_int_equal(dpi_schema_check(0, NULL, &err), DP_EINVAL);
    assert_contains(err.text, "no columns");
    refuses((dp_column){.name = "a", .low = 0, .high = 1}, "no such .kind");
    refuses((dp_column){.kind = DP_COLUMN_REAL, .high = 1}, "has no name");
    refuses((dp_column){.name = "", .kind = DP_COLUMN_REAL, .high = 1}, "has no name");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_REAL}, ".low < .high");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_REAL, .high = INFINITY}, "finite");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_REAL, .low = NAN, .high = 1}, "finite");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_REAL, .high = 1, .n_levels = 2},
            "only a LEVEL column");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_INTEGER, .high = 1.5}, "whole numbers");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_INTEGER, .high = 2147483647},
            "more levels than");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_INTEGER, .low = 0x1p60, .high = 0x1.1p60},
            "more levels than");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_INTEGER, .high = 3, .clamp = true},
            ".clamp would move");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_LEVEL}, "no levels");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_LEVEL, .levels = yes_no}, "no levels");
    refuses((dp_column){.name = "a",
                        .kind = DP_COLUMN_LEVEL,
                        .levels = yes_no,
                        .n_levels = (size_t)INT32_MAX + 1},
            "more levels than");
    refuses(
        (dp_column){
            .name = "a", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2, .high = 1},
        "no .low, .high or .clamp");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_UNIT, .high = 9}, "nothing else");
    refuses((dp_column){.name = "a", .kind = DP_COLUMN_UNIT, .levels = yes_no}, "nothing else");
}

static void refuses_a_name_that_stands_twice(void **state)
{
    (void)state;
    const dp_column twice[] = {{.name = "age", .kind = DP_COLUMN_REAL, .high = 1},
                               {.name = "age", .kind = DP_COLUMN_REAL, .high = 2}};
    dp_error err = {0};
    assert_int_equal(dpi_schema_check(2, twice, &err), DP_ENAME);
    assert_contains(err.text, "column 'age' is declared twice");
}

static void options_have_defaults(void **state)
{
    (void)state;
    dp_csv_options o;
    dp_error err = {0};
    assert_ok(dpi_csv_options_fill(NULL, &o, &err), err.text);
    assert_true(o.separator == ',' && o.max_bytes == (size_t)1 << 40 && o.max_line == 1048576);
    assert_true(o.max_rows == 2000000000 && o.threads == 0 && o.scratch == NULL);
    const dp_csv_options mine = {
        .separator = ';', .max_bytes = 1, .max_line = 2, .max_rows = 3, .drop_missing = true};
    assert_ok(dpi_csv_options_fill(&mine, &o, &err), err.text);
    assert_true(o.separator == ';' && o.max_bytes == 1 && o.max_line == 2 && o.max_rows == 3);
    assert_ok(dpi_csv_options_fill(&(dp_csv_options){.separator = '\t'}, &o, &err), err.text);
    assert_int_equal(dpi_csv_options_fill(&(dp_csv_options){.separator = '|'}, &o, &err),
                     DP_EINVAL);
    assert_contains(err.text, "use ',', ';' or a tab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_kind),
        cmocka_unit_test(refuses_faulty_declarations),
        cmocka_unit_test(refuses_a_name_that_stands_twice),
        cmocka_unit_test(options_have_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
