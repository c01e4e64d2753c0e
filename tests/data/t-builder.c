/* Tables from records: the same as from a file that holds them, whatever comes. */
#include <tacit/table.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { COLUMNS = 4, ROWS = 1000 };

static const char *const answers[] = {"N", "Y", "0.5", "7"};
static const dp_column schema[COLUMNS] = {
    {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20.5, .clamp = true},
    {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61},
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = answers, .n_levels = 4},
    {.name = "person", .kind = DP_COLUMN_UNIT},
};

typedef char record[COLUMNS][24];

static void invent(record *records, bool with_missing)
{
    for (size_t i = 0; i < ROWS; i++) {
        (void)snprintf(records[i][0], 24, "%.3f", (double)(i * 37 % 450) / 10 - 22);
        (void)snprintf(records[i][1], 24, " %zu", 1 + i * i % 61);
        (void)snprintf(records[i][2], 24, "%s", answers[i * 7 % 4]);
        (void)snprintf(records[i][3], 24, "p%zu ", i * i % 97);
        if (with_missing && i % 5 == 3)
            (void)snprintf(records[i][i % 4], 24, "%s", i % 2 ? "NA" : "");
    }
}

static dp_status build(const record *records, size_t n, const dp_csv_options *o, dp_table **table,
                       dp_error *err)
{
    dp_table_builder *b;
    *table = NULL;
    dp_status status = dp_table_builder_new("a query", o, COLUMNS, schema, &b, err);
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        dp_cell cells[COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++)
            cells[j] = (dp_cell){.text = records[i][j]};
        status = dp_table_builder_add(b, cells, err);
    }
    if (status == DP_OK)
        status = dp_table_builder_finish(b, table, err);
    dp_table_builder_free(b);
    return status;
}

static dp_status parse(const record *records, size_t n, const dp_csv_options *o, dp_table **table,
                       dp_error *err)
{
    static char text[ROWS * 110];
    int length = snprintf(text, sizeof text, "age,district,use,person\n");
    for (size_t i = 0; i < n; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s,%s,%s,%s\n",
                           records[i][0], records[i][1], records[i][2], records[i][3]);
    return dp_table_parse_csv(text, (size_t)length, o, COLUMNS, schema, table, err);
}

static void check_equal(dp_table *a, dp_table *b)
{
    const size_t n = dp_table_rows(a);
    assert_int_equal(n, dp_table_rows(b));
    assert_memory_equal(dp_table_real(a, "age"), dp_table_real(b, "age"), n * sizeof(double));
    for (size_t j = 1; j < COLUMNS; j++) {
        const char *name = schema[j].name;
        assert_int_equal(dp_table_n_levels(a, name), dp_table_n_levels(b, name));
        assert_memory_equal(dp_table_level(a, name), dp_table_level(b, name), n * sizeof(int32_t));
    }
    assert_int_equal(dp_table_status(a), DP_OK);
}

static void records_give_the_table_of_their_file(void **state)
{
    (void)state;
    static record records[ROWS];
    const dp_csv_options drop = {.drop_missing = true};
    for (int missing = 0; missing < 2; missing++) {
        dp_table *built, *read;
        dp_error err = {0};
        invent(records, missing == 1);
        const dp_csv_options *o = missing == 1 ? &drop : NULL;
        assert_ok(build(records, ROWS, o, &built, &err), err.text);
        assert_ok(parse(records, ROWS, o, &read, &err), err.text);
        assert_int_equal(dp_table_rows(built) < ROWS, missing);
        check_equal(built, read);
        dp_table_free(built);
        dp_table_free(read);
    }
}

static void faulty_records_are_refused_as_in_a_file(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"0", "x"}, {"0", "inf"}, {"0", "NA"},  {"0", "1e999"},
                                         {"1", "0"}, {"1", "62"},  {"1", "1.5"}, {"1", ""},
                                         {"2", "n"}, {"2", ""},    {"3", " "},   {"3", "NA"}};
    static record records[ROWS];
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        dp_table *built, *read;
        dp_error ours = {0}, theirs = {0};
        invent(records, false);
        (void)snprintf(records[16][bad[k][0][0] - '0'], 24, "%s", bad[k][1]);
        assert_int_equal(build(records, ROWS, NULL, &built, &ours),
                         parse(records, ROWS, NULL, &read, &theirs));
        assert_int_not_equal(ours.status, DP_OK);
        assert_null(built);
        assert_non_null(strstr(ours.text, "a query, record 17, column '"));
        assert_non_null(strstr(theirs.text, "CSV text, line 18, column '"));
        assert_string_equal(strstr(ours.text, "column"), strstr(theirs.text, "column"));
    }
}

static void numbers_are_taken_without_their_text(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_table_builder *b;
    dp_table *t;
    const dp_csv_options drop = {.drop_missing = true};
    const double numbers[][COLUMNS] = {{0.1 + 0.2, 61, 7, 1e6},
                                       {30, 1, 0.5, 0.1 + 0.2},
                                       {NAN, 2, 7, 3},
                                       {1, 2, NAN, 3},
                                       {-7.25, 3, 7, 1000000}};
    assert_ok(dp_table_builder_new("an array", &drop, COLUMNS, schema, &b, &err), err.text);
    for (size_t i = 0; i < 5; i++) {
        dp_cell cells[COLUMNS] = {{.text = NULL}};
        for (size_t j = 0; j < COLUMNS; j++)
            cells[j].number = numbers[i][j];
        assert_ok(dp_table_builder_add(b, cells, &err), err.text);
    }
    assert_ok(dp_table_builder_finish(b, &t, &err), err.text);
    dp_table_builder_free(b);
    const double age[] = {0.1 + 0.2, 20.5, -7.25};
    const int32_t district[] = {60, 0, 2}, use[] = {3, 2, 3}, person[] = {0, 1, 0};
    assert_int_equal(dp_table_rows(t), 3);
    assert_memory_equal(dp_table_real(t, "age"), age, sizeof age);
    assert_memory_equal(dp_table_level(t, "district"), district, sizeof district);
    assert_memory_equal(dp_table_level(t, "use"), use, sizeof use);
    assert_memory_equal(dp_table_level(t, "person"), person, sizeof person);
    dp_table_free(t);
}

static dp_status add_number(size_t column, double number, dp_error *err)
{
    dp_table_builder *b;
    dp_cell cells[COLUMNS] = {{.number = 1}, {.number = 1}, {.number = 7}, {.number = 1}};
    *err = (dp_error){DP_OK, ""};
    cells[column].number = number;
    assert_ok(dp_table_builder_new("an array", NULL, COLUMNS, schema, &b, err), err->text);
    dp_status status = dp_table_builder_add(b, cells, err), again = DP_OK;
    dp_error second = {DP_OK, ""};
    if (status != DP_OK) { /* the first error stays */
        cells[column].number = 7;
        again = dp_table_builder_add(b, cells, &second);
        assert_int_equal(again, status);
        assert_string_equal(second.text, err->text);
        dp_table *none;
        assert_int_equal(dp_table_builder_finish(b, &none, NULL), status);
        assert_null(none);
    }
    dp_table_builder_free(b);
    return status;
}

static void faulty_numbers_are_refused(void **state)
{
    (void)state;
    dp_error err;
    assert_int_equal(add_number(0, NAN, &err), DP_EDATA);
    assert_non_null(strstr(err.text, "missing"));
    assert_int_equal(add_number(0, INFINITY, &err), DP_EDATA);
    assert_non_null(strstr(err.text, "not finite"));
    assert_int_equal(add_number(1, 1.5, &err), DP_EDATA);
    assert_int_equal(add_number(1, 62, &err), DP_EDOMAIN);
    assert_int_equal(add_number(1, -INFINITY, &err), DP_EDATA);
    assert_int_equal(add_number(2, 8, &err), DP_EDOMAIN);
    assert_int_equal(add_number(2, NAN, &err), DP_EDATA);
    assert_int_equal(add_number(3, NAN, &err), DP_EDATA);
    assert_int_equal(add_number(3, -0.0, &err), DP_OK);
}

static void limits_hold(void **state)
{
    (void)state;
    static record records[ROWS];
    dp_error err = {0};
    dp_table *t;
    invent(records, false);
    const dp_csv_options few = {.max_rows = 999};
    assert_int_equal(build(records, ROWS, &few, &t, &err), DP_EDATA);
    assert_non_null(strstr(err.text, "more than 999 records"));
    err = (dp_error){0};
    assert_ok(build(records, 999, &few, &t, &err), err.text);
    dp_table_free(t);
    assert_int_equal(build(records, 0, NULL, &t, &err), DP_EDATA);
    assert_non_null(strstr(err.text, "a query has no record"));
    err = (dp_error){0};
    dp_table_builder *b;
    assert_int_equal(dp_table_builder_new("a query", NULL, 0, schema, &b, &err), DP_EINVAL);
    assert_null(b);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    static record records[ROWS];
    invent(records, false);
    size_t k = 1;
    for (;; k++) {
        dp_error err = {0};
        dp_table *t;
        const size_t before = faulty_live();
        faulty_fail(k);
        dp_status status = build(records, ROWS, NULL, &t, &err);
        const int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_table_free(t);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    assert_true(k > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_give_the_table_of_their_file),
        cmocka_unit_test(faulty_records_are_refused_as_in_a_file),
        cmocka_unit_test(numbers_are_taken_without_their_text),
        cmocka_unit_test(faulty_numbers_are_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
