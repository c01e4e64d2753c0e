#include <tacit/table.h>

#include <string.h>

#include "tests/lib/check.h"

static const char *const yes_no[] = {"N", "Y"};
static const dp_column schema[] = {
    {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
    {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61},
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
};

static dp_table *small_table(void)
{
    static const char text[] = "use,age,district\nY,2.5,61\nN,-1,1\n";
    dp_table *table;
    dp_error err = {0};
    assert_ok(dp_table_parse_csv(text, strlen(text), NULL, 3, schema, &table, &err), err.text);
    return table;
}

static void gives_columns_by_name(void **state)
{
    (void)state;
    dp_table *t = small_table();
    assert_int_equal(dp_table_rows(t), 2);
    const double *age = dp_table_real(t, "age");
    const int32_t *district = dp_table_level(t, "district"), *use = dp_table_level(t, "use");
    assert_true(age != NULL && district != NULL && use != NULL);
    assert_true(age[0] == 2.5 && age[1] == -1);
    assert_true(district[0] == 60 && district[1] == 0 && use[0] == 1 && use[1] == 0);
    assert_int_equal(dp_table_n_levels(t, "district"), 61);
    assert_int_equal(dp_table_n_levels(t, "use"), 2);
    assert_int_equal(dp_table_status(t), DP_OK);
    assert_null(dp_table_error(t));
    dp_table_free(t);
    dp_table_free(NULL);
}

static void an_unknown_name_sticks(void **state)
{
    (void)state;
    dp_table *t = small_table();
    assert_null(dp_table_real(t, "agee"));
    assert_int_equal(dp_table_status(t), DP_ENAME);
    assert_contains(dp_table_error(t), "no REAL column 'agee'; declare it");
    assert_null(dp_table_real(t, "age"));
    assert_null(dp_table_level(t, "use"));
    assert_int_equal(dp_table_n_levels(t, "use"), 0);
    assert_contains(dp_table_error(t), "agee");
    dp_table_free(t);
}

static void a_wrong_kind_is_an_error(void **state)
{
    (void)state;
    dp_table *t = small_table();
    assert_null(dp_table_level(t, "age"));
    assert_contains(dp_table_error(t), "no LEVEL, INTEGER or UNIT column 'age'");
    dp_table_free(t);
    t = small_table();
    assert_null(dp_table_real(t, "use"));
    assert_int_equal(dp_table_status(t), DP_ENAME);
    dp_table_free(t);
    t = small_table();
    assert_int_equal(dp_table_n_levels(t, "age"), 0);
    assert_int_equal(dp_table_status(t), DP_ENAME);
    dp_table_free(t);
}

static void call_rows(void *of)
{
    (void)of;
    (void)dp_table_rows(NULL);
}

static void call_real(void *of)
{
    (void)of;
    (void)dp_table_real(NULL, "age");
}

static void call_level(void *of)
{
    (void)of;
    (void)dp_table_level(NULL, "use");
}

static void call_n_levels(void *of)
{
    (void)of;
    (void)dp_table_n_levels(NULL, "use");
}

static void call_status(void *of)
{
    (void)of;
    (void)dp_table_status(NULL);
}

static void call_error(void *of)
{
    (void)of;
    (void)dp_table_error(NULL);
}

static void call_name(void *of)
{
    (void)of;
    (void)dp_table_real(small_table(), NULL);
}

static void call_parse(void *of)
{
    (void)of;
    dp_status status = dp_table_parse_csv("a\n1\n", 4, NULL, 3, schema, NULL, NULL);
    (void)status;
}

static void call_read(void *of)
{
    (void)of;
    dp_table *table;
    dp_status status = dp_table_read_csv(NULL, NULL, 3, schema, &table, NULL);
    (void)status;
}

static void misuse_aborts(void **state)
{
    (void)state;
    void (*const calls[])(void *) = {call_rows,  call_real, call_level, call_n_levels, call_status,
                                     call_error, call_name, call_parse, call_read};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_aborts(calls[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_columns_by_name),
        cmocka_unit_test(an_unknown_name_sticks),
        cmocka_unit_test(a_wrong_kind_is_an_error),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
