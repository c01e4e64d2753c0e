#include <tacit/table.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/read.h"
#include "data/schema.h"
#include "tests/lib/check.h"

static const char *const yes_no[] = {"N", "Y"};
static const dp_column schema[] = {
    {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
};

/* The allocation with this number, from 1, fails; 0 lets all succeed. */
static size_t failing, allocations;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

/* While this is set, strtod takes a comma and no point unless the thread has a locale of its
 * own. */
static bool comma_locale;

double __real_strtod(const char *text, char **end);
double __wrap_strtod(const char *text, char **end);

double __wrap_strtod(const char *text, char **end)
{
    char swapped[64];
    size_t i = 0;
    if (!comma_locale || uselocale((locale_t)0) != LC_GLOBAL_LOCALE)
        return __real_strtod(text, end);
    assert_null(end);
    for (; text[i] != 0 && text[i] != '.' && i < sizeof swapped - 1; i++)
        swapped[i] = (char)(text[i] == ',' ? '.' : text[i]);
    swapped[i] = 0;
    return __real_strtod(swapped, NULL);
}

/* Parses the text and gives the status; the table must be there on success only. */
static dp_status parse_with(const char *text, const dp_csv_options *options, dp_error *err)
{
    dp_table *table = (dp_table *)&failing;
    dp_status status = dp_table_parse_csv(text, strlen(text), options, 2, schema, &table, err);
    assert_true((status == DP_OK) == (table != NULL));
    dp_table_free(table);
    return status;
}

static void fails(const char *text, dp_status expected, const char *why)
{
    dp_error err = {0};
    assert_int_equal(parse_with(text, NULL, &err), expected);
    assert_int_equal(err.status, expected);
    assert_contains(err.text, why);
    assert_null(strstr(err.text, "SECRET"));
    assert_null(strstr(err.text, "77"));
    assert_int_equal(parse_with(text, NULL, NULL), expected);
}

static void reads_the_declared_columns_in_any_order(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfid;use;\"age\"\r\n\"x;1\";Y;1e1\r\n2;\"N\";-2.385\r\n";
    const dp_csv_options semicolon = {.separator = ';'};
    dp_table *t;
    dp_error err = {0};
    assert_ok(dp_table_parse_csv(text, strlen(text), &semicolon, 2, schema, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), 2);
    assert_true(dp_table_real(t, "age")[0] == 10 && dp_table_real(t, "age")[1] == -2.385);
    assert_true(dp_table_level(t, "use")[0] == 1 && dp_table_level(t, "use")[1] == 0);
    dp_table_free(t);
}

static void reads_tabs_between_fields(void **state)
{
    (void)state;
    static const char text[] = "use\tage\nY\t 1.5 \n";
    dp_table *t;
    dp_error err = {0};
    assert_ok(dp_table_parse_csv(text, strlen(text), &(dp_csv_options){.separator = '\t'}, 2,
                                 schema, &t, &err),
              err.text);
    assert_true(dp_table_real(t, "age")[0] == 1.5 && dp_table_level(t, "use")[0] == 1);
    dp_table_free(t);
}

static void explains_what_is_wrong_with_the_text(void **state)
{
    (void)state;
    fails("", DP_EDATA, "CSV text is empty");
    fails("age,use\n", DP_EDATA, "no record after its first line");
    fails("age,SECRET\n1,Y\n", DP_ENAME, "no column 'use' among the 2 of the first line");
    fails("age;use\n1;Y\n", DP_ENAME, "among the 1 of the first line; there are semicolons in it");
    fails("age\tuse\n1\tY\n", DP_ENAME, "tabs in it; declare a tab as the separator");
    fails("age, use \n1,Y\n", DP_ENAME,
          "no column 'use' among the 2 of the first line; one differs");
    fails("AGE,use\n1,Y\n", DP_ENAME, "differs in case or in blanks only");
    fails("ages,use\n1,Y\n", DP_ENAME, "'age' among the 2 of the first line; that line must name");
    fails("use,age,x,use\nY,1,2,Y\n", DP_ENAME, "has column 'use' 2 times");
    fails("age,use\n1,Y\n77\n", DP_EDATA, "line 3: 1 fields, but the header has 2");
    fails("age,use\n1,Y\n77,SECRET,\n", DP_EDATA, "line 3: 3 fields, but the header has 2");
    fails("age,use\n77,\"SECRET\n", DP_EDATA, "line 2: a quote opens here and is never closed");
}

static void explains_what_is_wrong_with_a_value(void **state)
{
    (void)state;
    fails("age,use\n1,Y\n,Y\n", DP_EDATA, "CSV text, line 3, column 'age': the value is missing");
    fails("age,use\n1,NA\n", DP_EDATA, "line 2, column 'use': the value is missing");
    fails("age,use\nSECRET,Y\n", DP_EDATA, "line 2, column 'age': the value is not a number");
    fails("age,use\n\"1,77\",Y\n", DP_EDATA, "column 'age': the value is not a number");
    fails("age,use\nNaN,Y\n", DP_EDATA, "line 2, column 'age': the value is not finite");
    fails("age,use\n77,Y\n", DP_EDOMAIN, "column 'age': the value is outside the declared range");
    fails("age,use\n1,SECRET\n", DP_EDOMAIN, "column 'use': the value is none of the 2 declared");
    fails("x,age,use\n\"\n\n\",1,Y\n1,77,Y\n", DP_EDOMAIN, "line 5, column 'age'");
}

static void records_that_lack_a_value_can_be_passed_over(void **state)
{
    (void)state;
    static const char *const known[] = {"N", "Y", "NA"};
    static const char text[] = "age,use\n1,Y\n,Y\n2,\n NA ,N\n3,NA\n4,N\n";
    const dp_csv_options drop = {.drop_missing = true, .max_rows = 3};
    dp_column columns[] = {schema[0], schema[1]};
    dp_error err = {0};
    dp_table *t;
    fails(text, DP_EDATA, "line 3, column 'age': the value is missing");
    assert_ok(dp_table_parse_csv(text, strlen(text), &drop, 2, columns, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), 2);
    assert_true(dp_table_real(t, "age")[0] == 1 && dp_table_real(t, "age")[1] == 4);
    assert_true(dp_table_level(t, "use")[0] == 1 && dp_table_level(t, "use")[1] == 0);
    dp_table_free(t);
    columns[1].levels = known;
    columns[1].n_levels = 3;
    assert_ok(dp_table_parse_csv(text, strlen(text), &drop, 2, columns, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), 3);
    assert_true(dp_table_real(t, "age")[1] == 3 && dp_table_level(t, "use")[1] == 2);
    dp_table_free(t);
    assert_fails(parse_with("age,use\nx,Y\n", &drop, &err), DP_EDATA, &err, "not a number");
    assert_fails(parse_with("age,use\nNA,Y\n", &drop, &err), DP_EDATA, &err,
                 "no record after its first line in which every wanted column is there");
}

enum { SOME = 9 };

/* The table of some records but number `without`; SOME: of all.  Four lack a value. */
static dp_table *read_without(size_t without)
{
    static const char *const record[SOME] = {"1,a\n", ",a\n",  "2,b\n",  "3,\n", "4,a\n",
                                             "NA,\n", "5,b\n", "6,NA\n", "7,c\n"};
    const dp_csv_options drop = {.drop_missing = true};
    const dp_column columns[] = {schema[0], {.name = "who", .kind = DP_COLUMN_UNIT}};
    char text[200] = "age,who\n";
    dp_error err = {0};
    dp_table *t;
    for (size_t i = 0; i < SOME; i++)
        (void)strcat(text, i == without ? "" : record[i]);
    assert_ok(dp_table_parse_csv(text, strlen(text), &drop, 2, columns, &t, &err), err.text);
    return t;
}

/* Whether the rows of `less` are those of `all` without `row`, and divided among units alike. */
static bool is_without(dp_table *all, dp_table *less, size_t row)
{
    const double *age[] = {dp_table_real(all, "age"), dp_table_real(less, "age")};
    const int32_t *who[] = {dp_table_level(all, "who"), dp_table_level(less, "who")};
    const size_t n = dp_table_rows(less);
    bool same = dp_table_rows(all) == n + (row <= n);
    for (size_t i = 0; i < n && same; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t a = i + (i >= row), b = j + (j >= row);
            same = same && age[0][a] == age[1][i] &&
                   (who[0][a] == who[0][b]) == (who[1][i] == who[1][j]);
        }
    return same;
}

/* What a guarantee for one record more or less rests on where some are passed over: where the
 * record lacks nothing one row is missing, else none. */
static void a_record_more_is_a_row_more_or_none(void **state)
{
    (void)state;
    static const bool whole[SOME] = {true, false, true, false, true, false, true, false, true};
    dp_table *all = read_without(SOME);
    assert_int_equal(dp_table_rows(all), 5);
    for (size_t without = 0, row = 0; without < SOME; row += whole[without++]) {
        dp_table *less = read_without(without);
        assert_true(is_without(all, less, whole[without] ? row : SIZE_MAX));
        dp_table_free(less);
    }
    dp_table_free(all);
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    dp_table *t;
    dp_error err = {0};
    assert_int_equal(dp_table_parse_csv("age,use\n1\0,Y\n", 13, NULL, 2, schema, &t, &err),
                     DP_EDATA);
    assert_null(t);
    assert_contains(err.text, "line 2: a NUL byte");
}

static void limits_hold(void **state)
{
    (void)state;
    static const char text[] = "age,use\n1,Y\n2,N\n3,Y\n";
    dp_error err = {0};
    assert_ok(
        parse_with(text, &(dp_csv_options){.max_rows = 3, .max_line = 7, .max_bytes = 20}, &err),
        err.text);
    assert_int_equal(parse_with(text, &(dp_csv_options){.max_rows = 2}, &err), DP_EDATA);
    assert_contains(err.text, "CSV text has more than 2 records; raise max_rows");
    err = (dp_error){0};
    assert_int_equal(parse_with(text, &(dp_csv_options){.max_line = 6}, &err), DP_EDATA);
    assert_contains(err.text, "line 1: the record is longer than 6 bytes");
    err = (dp_error){0};
    assert_int_equal(parse_with(text, &(dp_csv_options){.max_bytes = 19}, &err), DP_EDATA);
    assert_contains(err.text, "larger than 19 bytes; raise max_bytes");
    assert_int_equal(parse_with(text, &(dp_csv_options){.separator = 'x'}, NULL), DP_EINVAL);
}

static void a_faulty_schema_is_refused(void **state)
{
    (void)state;
    dp_table *t;
    dp_error err = {0};
    const dp_column none = {.name = "age"};
    assert_int_equal(dp_table_parse_csv("age\n1\n", 6, NULL, 1, &none, &t, &err), DP_EINVAL);
    assert_null(t);
    err = (dp_error){0};
    assert_int_equal(dp_table_read_csv("no-such.csv", NULL, 1, &none, &t, &err), DP_EINVAL);
    assert_null(t);
    static const char *const twice[] = {"a", "a"};
    const dp_column c = {.name = "x", .kind = DP_COLUMN_LEVEL, .levels = twice, .n_levels = 2};
    assert_int_equal(dp_table_parse_csv("x\na\n", 4, NULL, 1, &c, &t, NULL), DP_EINVAL);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    dp_table *t;
    dp_error err = {0};
    assert_int_equal(dp_table_read_csv("no/such.csv", NULL, 2, schema, &t, &err), DP_EIO);
    assert_null(t);
    assert_contains(err.text, "cannot open no/such.csv; check the path");
    char path[3000];
    memset(path, 'x', sizeof path);
    (void)snprintf(path + 2980, 20, "/the-end.csv");
    err = (dp_error){0};
    assert_int_equal(dp_table_read_csv(path, NULL, 2, schema, &t, &err), DP_EIO);
    assert_contains(err.text, "/the-end.csv; check the path and your right to read it");
}

static void the_longest_table_fits(void **state)
{
    (void)state;
    enum { N = 5000 };
    static char text[2 * N + 3] = "a\n";
    for (size_t i = 0; i < N; i++)
        memcpy(text + 2 + 2 * i, "7\n", 2);
    const dp_column a = {.name = "a", .kind = DP_COLUMN_REAL, .high = 9};
    dp_table *t;
    dp_error err = {0};
    assert_ok(dp_table_parse_csv(text, 2 * N + 2, NULL, 1, &a, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), N);
    for (size_t i = 0; i < N; i++)
        assert_true(dp_table_real(t, "a")[i] == 7);
    dp_table_free(t);
}

/* A table, or what was said instead, of blocks of that size and that many threads. */
static dp_table *read_in_blocks(const char *text, size_t block, size_t threads, dp_error *err)
{
    const dp_column columns[] = {schema[0], schema[1], {.name = "who", .kind = DP_COLUMN_UNIT}};
    dp_csv_options o;
    dpi_source source;
    dp_table *t;
    *err = (dp_error){DP_OK, ""};
    assert_ok(dpi_csv_options_fill(&(dp_csv_options){.max_line = 60, .max_rows = 300}, &o, err),
              err->text);
    o.threads = threads;
    dpi_source_text(&source, "CSV text", text, strlen(text));
    (void)dpi_table_read(&source, block, &o, 3, columns, &t, err);
    return t;
}

static void check_blocks(const char *text)
{
    static const size_t sizes[] = {1, 7, 64, 500, 1 << 16};
    dp_error said, err;
    dp_table *whole = read_in_blocks(text, 1 << 20, 1, &said);
    for (size_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++)
        for (size_t threads = 1; threads <= 3; threads++) {
            dp_table *t = read_in_blocks(text, sizes[b], threads, &err);
            assert_true((t != NULL) == (whole != NULL) && err.status == said.status);
            assert_string_equal(err.text, said.text);
            for (size_t i = 0; t != NULL && i < dp_table_rows(whole); i++) {
                assert_int_equal(dp_table_rows(t), dp_table_rows(whole));
                assert_true(dp_table_real(t, "age")[i] == dp_table_real(whole, "age")[i]);
                assert_true(dp_table_level(t, "use")[i] == dp_table_level(whole, "use")[i]);
                assert_true(dp_table_level(t, "who")[i] == dp_table_level(whole, "who")[i]);
            }
            dp_table_free(t);
        }
    dp_table_free(whole);
}

/* Faults in the first, a middle and the last record, of each kind, and two of them at once. */
static void neither_blocks_nor_threads_change_what_is_read(void **state)
{
    (void)state;
    enum { N = 200 };
    static const char *const fault[] = {"x,Y,u",
                                        "1,Z,u",
                                        "1,Y,",
                                        "99,Y,u",
                                        "1,Y",
                                        "1,Y,u\"",
                                        "\"1\"2",
                                        "1,\"Y,u",
                                        "1\r,Y,u",
                                        "",
                                        "1,Y,\"\n\n\"\r",
                                        ",,,",
                                        "1,Y,\"a\nb\"c",
                                        "\"",
                                        "1,Y,0123456789012345678901234567890123456789012345678901"
                                        "23456789",
                                        "1,Y,u\n1,Y,u\n1,Y,u\n1,Y,u"};
    static char text[N * 120];
    for (size_t f = 0; f <= sizeof fault / sizeof fault[0]; f++)
        for (size_t at = 0; at < N; at += 66) {
            size_t used = (size_t)sprintf(text, "age,\"use\",who\n");
            for (size_t i = 0; i < N; i++) {
                used += (size_t)sprintf(text + used, "%zu.%zu,%c,\"p %zu%s\"%s", i % 19, i,
                                        i % 3 ? 'Y' : 'N', i * i % 31,
                                        i % 7 ? "" : ",\n\"\"\xc3\xab", i % 5 ? "\n" : "\r\n");
                if (f > 0 && (i == at || i == at + 90))
                    used += (size_t)sprintf(text + used, "%s\n", fault[f - 1]);
            }
            check_blocks(text);
        }
}

static void check_point_is_decimal(void)
{
    static const char text[] = "age,use\n2.385,Y\n";
    dp_table *t;
    dp_error err = {0};
    assert_ok(dp_table_parse_csv(text, strlen(text), NULL, 2, schema, &t, &err), err.text);
    assert_true(dp_table_real(t, "age")[0] == 2.385);
    dp_table_free(t);
    fails("age,use\n\"2,3\",Y\n", DP_EDATA, "not a number");
}

/* Simulated, so that it is tested on machines with no such locale; with a real one where it is. */
static void a_decimal_comma_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    comma_locale = true;
    assert_true(strtod("1,5", NULL) == 1.5 && strtod("1.5", NULL) == 1);
    check_point_is_decimal();
    assert_true(strtod("1,5", NULL) == 1.5);
    comma_locale = false;
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        if (setlocale(LC_ALL, locales[i]) == NULL)
            continue;
        check_point_is_decimal();
        assert_true(strtod("1,5", NULL) == 1.5);
    }
    (void)setlocale(LC_ALL, "C");
}

/* Whom records belong to: any text, numbered as it is met; blanks around it do not make a new
 * person. */
static void units_are_numbered_in_the_order_of_the_file(void **state)
{
    (void)state;
    static const int32_t expected[8] = {0, 1, 0, 2, 3, 1, 4, 3};
    const dp_column columns[] = {{.name = "who", .kind = DP_COLUMN_UNIT},
                                 {.name = "age", .kind = DP_COLUMN_INTEGER, .high = 9}};
    dp_error err = {0};
    dp_table *t;
    static const char good[] = "who,age\n"
                               "Mo,1\n007,2\n\" Mo\t\",3\nmo,4\n"
                               "\"M, \"\"o\"\"\",5\n007 ,6\n7,7\n\"M, \"\"o\"\"\",8";
    assert_ok(dp_table_parse_csv(good, sizeof good - 1, NULL, 2, columns, &t, &err), err.text);
    const int32_t *who = dp_table_level(t, "who");
    assert_non_null(who);
    for (int i = 0; i < 8; i++)
        assert_int_equal(who[i], expected[i]);
    assert_int_equal(dp_table_n_levels(t, "who"), 0);
    assert_int_equal(dp_table_status(t), DP_OK);
    dp_table_free(t);
    static const char *const nobody[] = {"who,age\n,1", "who,age\na,1\n NA ,1", "who,age\n\" \",1"};
    for (int k = 0; k < 3; k++) {
        err = (dp_error){0};
        assert_int_equal(
            dp_table_parse_csv(nobody[k], strlen(nobody[k]), NULL, 2, columns, &t, &err), DP_EDATA);
        assert_null(t);
        assert_contains(err.text, "the record belongs to nobody");
    }
}

/* The shortest records, whose names take all the room there is. */
static void names_fill_their_room(void **state)
{
    (void)state;
    const dp_column column = {.name = "w", .kind = DP_COLUMN_UNIT};
    char text[401] = "w";
    dp_error err = {0};
    dp_table *t;
    for (size_t i = 0; i < 199; i++)
        text[1 + 2 * i] = '\n', text[2 + 2 * i] = (char)('a' + i % 26);
    assert_ok(dp_table_parse_csv(text, 399, NULL, 1, &column, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), 199);
    for (int32_t i = 0; i < 199; i++)
        assert_int_equal(dp_table_level(t, "w")[i], i % 26);
    dp_table_free(t);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    enum { LEVELS = 1500 }; /* more than a block of an arena holds */
    static const char path[] = "t-read-alloc.csv";
    static char names[LEVELS][8];
    const char *levels[LEVELS];
    for (int i = 0; i < LEVELS; i++) {
        (void)snprintf(names[i], sizeof names[i], "Y%.0d", i);
        levels[i] = names[i];
    }
    const dp_column large[] = {
        schema[0],
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = LEVELS},
        {.name = "who", .kind = DP_COLUMN_UNIT},
    };
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 20000; i++)
        (void)fprintf(file, i == 0 ? "age,use,who\n" : "%d,Y,p%d\n", i % 20, i % 300);
    assert_int_equal(fclose(file), 0);
    dp_status status = DP_ENOMEM;
    for (failing = 1; status == DP_ENOMEM; failing++) {
        dp_table *t;
        dp_error err = {0};
        allocations = 0;
        status = dp_table_read_csv(path, NULL, 3, large, &t, &err);
        if (status == DP_ENOMEM) {
            assert_null(t);
            assert_contains(err.text, "out of memory");
        }
        dp_table_free(t);
    }
    assert_int_equal(status, DP_OK);
    assert_true(failing > 8);
    failing = 0;
    (void)remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_declared_columns_in_any_order),
        cmocka_unit_test(reads_tabs_between_fields),
        cmocka_unit_test(explains_what_is_wrong_with_the_text),
        cmocka_unit_test(explains_what_is_wrong_with_a_value),
        cmocka_unit_test(records_that_lack_a_value_can_be_passed_over),
        cmocka_unit_test(a_record_more_is_a_row_more_or_none),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_faulty_schema_is_refused),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(the_longest_table_fits),
        cmocka_unit_test(neither_blocks_nor_threads_change_what_is_read),
        cmocka_unit_test(a_decimal_comma_locale_changes_nothing),
        cmocka_unit_test(units_are_numbered_in_the_order_of_the_file),
        cmocka_unit_test(names_fill_their_room),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
