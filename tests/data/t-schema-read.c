/* Schemas as texts: what each line declares, what is refused in which words, and that the text that
 * is written is read as the same schema. */
#include <tacit/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/schema-text.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dp_schema *parsed(const char *text)
{
    dp_schema *schema;
    dp_error err = {DP_OK, ""};
    assert_ok(dp_schema_parse(text, strlen(text), "s", &schema, &err), err.text);
    return schema;
}

static void refuses(const char *text, const char *message)
{
    dp_schema *schema;
    dp_error err = {DP_OK, ""};
    dp_status status = dp_schema_parse(text, strlen(text), "s", &schema, &err);
    assert_null(schema);
    assert_fails(status, DP_EDATA, &err, message);
}

static void each_line_declares_a_column(void **state)
{
    (void)state;
    dp_schema *s = parsed("# public\n"
                          "age  real -20 .. 20.5 clamp # years\n"
                          "\n"
                          "\tdistrict integer 1..61\r\n"
                          "children count 0 .. 20\n"
                          "\"lives in\" level \"a town\" \"a \"\"big\"\" town\" C# ..\n"
                          "person unit\n"
                          "records = 1934\n"
                          "missing = drop\n"
                          "separator = ;");
    size_t n;
    const dp_column *c = dp_schema_columns(s, &n);
    assert_int_equal(n, 5);
    assert_string_equal(c[0].name, "age");
    assert_true(c[0].kind == DP_COLUMN_REAL && c[0].low == -20 && c[0].high == 20.5 && c[0].clamp);
    assert_true(c[1].kind == DP_COLUMN_INTEGER && c[1].low == 1 && c[1].high == 61 && !c[1].clamp);
    assert_true(c[2].kind == DP_COLUMN_INTEGER && c[2].low == 0 && c[2].high == 20);
    assert_string_equal(c[3].name, "lives in");
    assert_true(c[3].kind == DP_COLUMN_LEVEL && c[3].n_levels == 4);
    assert_string_equal(c[3].levels[0], "a town");
    assert_string_equal(c[3].levels[1], "a \"big\" town");
    assert_string_equal(c[3].levels[2], "C#");
    assert_string_equal(c[3].levels[3], "..");
    assert_true(c[4].kind == DP_COLUMN_UNIT);
    assert_int_equal(dp_schema_records(s), 1934);
    assert_int_equal(dp_schema_csv(s)->separator, ';');
    assert_true(dp_schema_csv(s)->drop_missing);
    assert_string_equal(dp_schema_text(s),
                        "age real -20 .. 20.5 clamp\n"
                        "district integer 1 .. 61\n"
                        "children integer 0 .. 20\n"
                        "\"lives in\" level \"a town\" \"a \"\"big\"\" town\" C# ..\n"
                        "person unit\n"
                        "separator = ;\n"
                        "missing = drop\n"
                        "records = 1934\n");
    dp_schema *again = parsed(dp_schema_text(s));
    assert_string_equal(dp_schema_text(again), dp_schema_text(s));
    dp_schema_free(again);
    dp_schema_free(s);
}

static void what_is_not_said_is_not_there(void **state)
{
    (void)state;
    dp_schema *s = parsed("\xef\xbb\xbfx real 0.1 .. 1 refuse\nseparator = ,\nmissing = refuse\n");
    size_t n;
    assert_false(dp_schema_columns(s, &n)->clamp);
    assert_int_equal(dp_schema_records(s), 0);
    assert_int_equal(dp_schema_csv(s)->separator, 0);
    assert_false(dp_schema_csv(s)->drop_missing);
    assert_string_equal(dp_schema_text(s), "x real 0.1 .. 1\n");
    dp_schema_free(s);
    dp_schema_free(NULL);
}

/* What would begin a comment, or be skipped at the beginning of a text, is written in quotes. */
static void words_are_written_so_that_they_are_read(void **state)
{
    (void)state;
    dp_schema *s = parsed("\n\xef\xbb\xbfx level \"#a\" b#\n");
    assert_string_equal(dp_schema_text(s), "\"\xef\xbb\xbfx\" level \"#a\" b#\n");
    dp_schema *again = parsed(dp_schema_text(s));
    assert_string_equal(dp_schema_text(again), dp_schema_text(s));
    dp_schema_free(again);
    dp_schema_free(s);
}

static void a_table_is_read_with_it(void **state)
{
    (void)state;
    static const char text[] = "age;use\n33;Y\n-3;N\n";
    dp_schema *s = parsed("age real 0 .. 30 clamp\nuse level N Y\nseparator = ;\n");
    size_t n;
    dp_table *table;
    dp_error err = {DP_OK, ""};
    const dp_column *c = dp_schema_columns(s, &n);
    assert_ok(dp_table_parse_csv(text, strlen(text), dp_schema_csv(s), n, c, &table, &err),
              err.text);
    assert_true(dp_table_real(table, "age")[0] == 30 && dp_table_real(table, "age")[1] == 0);
    assert_int_equal(dp_table_level(table, "use")[0], 1);
    dp_table_free(table);
    dp_schema_free(s);
}

static void faults_are_told_with_their_line(void **state)
{
    (void)state;
    refuses("", "s declares no column; write one a line, as in: age real 0 .. 120");
    refuses("# a\n\nx\n", "s:3: 'x' has no kind; write it behind the name");
    refuses("records=5\n", "s:1: 'records=5' has no blanks around its '='");
    refuses("x rael 0 .. 1\n", "s:1: 'rael' is no kind of column; there are real, integer");
    refuses("x \"real\" 0 .. 1\n", "s:1: 'real' is no kind");
    refuses("x real\n", "s:1: the range is missing; write it as 0 .. 120");
    refuses("x real 0 1\n", "s:1: the range is missing");
    refuses("x real 0 .. \n", "s:1: the range is missing");
    refuses("x real 0.. 1\n", "s:1: the range is missing");
    refuses("x real a .. 1\n", "s:1: 'a' is no number; write one as 0.5 or -20");
    refuses("x real 0,5 .. 1\n", "s:1: '0,5' is no number");
    refuses("x real 0 .. inf\n", "s:1: 'inf' is no number");
    refuses("x real 0x1 .. 2\n", "s:1: '0x1' is no number");
    refuses("x real 1 .. 1\n", "s:1: the first end of a range is below the second");
    refuses("x real 0 .. 1 clip\n", "s:1: 'clip' stands behind the range; there may be clamp");
    refuses("x real 0 .. 1 clamp it\n", "s:1: 'it' is too much");
    refuses("x integer 0.5 .. 2\n", "s:1: the ends of this range are whole numbers");
    refuses("x integer 0 .. 2147483647\n", "s:1: more whole numbers than can be told apart");
    refuses("x integer 0 .. 2 clamp\n", "s:1: 'clamp' would make groups of others");
    refuses("x count -1 .. 2\n", "s:1: a count is not below 0; declare the column integer");
    refuses("x level\n", "s:1: the levels are missing");
    refuses("x level a \"\"\n", "s:1: a level must not be empty");
    refuses("x level a b a\n", "s:1: column 'x': level 'a' is declared twice");
    refuses("\"\" level a\n", "s:1: a name must not be empty");
    refuses("x unit a\n", "s:1: 'a' is too much; a unit has a name and nothing else");
    refuses("x unit\ny unit\n", "s:2: 'x' is a unit, too; a record belongs to one");
    refuses("x unit\n\nx level a\n", "s:3: 'x' is declared in line 1, too; remove one");
    refuses("x level \"a\n", "s:1: a quote that is not closed");
    refuses("x level a\"b\n", "s:1: a quote that is not closed, or in the middle of a word");
    refuses("x level \"a\"b\n", "s:1: a quote that is not closed, or in the middle of a word");
    refuses("x level a\x1b\n", "s:1: a control character");
}

static void faults_of_settings_are_told(void **state)
{
    (void)state;
    refuses("records =\n", "s:1: there is no value behind '='");
    refuses("records = many\n", "s:1: 'many' is no number of records");
    refuses("records = 0\n", "s:1: '0' is no number of records");
    refuses("records = 1.5\n", "s:1: '1.5' is no number of records");
    refuses("records = 5\nrecords = 5\n", "s:2: 'records' is set above, too; remove one");
    refuses("missing = drop\nmissing = refuse\n", "s:2: 'missing' is set above, too");
    refuses("separator = ,\nx real 0 .. 1\nseparator = ;\n", "s:3: 'separator' is set above");
    refuses("records = 5 6\n", "s:1: '6' is too much; a setting has one value");
    refuses("separator = :\n", "s:1: ':' separates no fields; write one of , ; and tab");
    refuses("missing = NA\n", "s:1: 'NA' is no rule for missing values, which are empty fields");
    refuses("missing = drop it\n", "s:1: 'it' is too much; a setting has one value");
    refuses("rows = 5\n", "s:1: 'rows' is no setting; there are records, separator and missing");
}

static void sizes_are_limited(void **state)
{
    (void)state;
    enum { LINE = 32 };
    char *text = malloc(LINE * (DPI_MOST_COLUMNS + 2)), *to = text;
    assert_non_null(text);
    for (int i = 0; i <= DPI_MOST_COLUMNS; i++) {
        if (i == DPI_MOST_COLUMNS)
            dp_schema_free(parsed(text));
        to += sprintf(to, "x%d real 0 .. 1\n", i);
    }
    refuses(text, "s:4097: more than 4096 columns");
    free(text);
    text = calloc(DPI_MOST_SCHEMA + 2, 1);
    assert_non_null(text);
    memset(text, '\n', DPI_MOST_SCHEMA + 1);
    refuses(text, "s is longer than 1 MiB");
    memset(text, 'x', 201);
    memcpy(text + 201, " unit", 6);
    refuses(text, "s:1: a name must not be longer than 200 bytes");
    free(text);
}

static void files_are_read(void **state)
{
    (void)state;
    dp_schema *schema;
    dp_error err = {DP_OK, ""};
    assert_fails(dp_schema_load("no-such.schema", &schema, &err), DP_EIO, &err, "no-such.schema");
    assert_null(schema);
    assert_fails(dp_schema_load(".", &schema, &err), DP_EIO, &err, "no folder");
    assert_fails(dp_schema_load("/dev/zero", &schema, &err), DP_EDATA, &err,
                 "/dev/zero is longer than 1 MiB");
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] = "a level x y\nb real 0..1\nc integer 1 .. 3\nrecords = 3\n";
    size_t k = 1, before = faulty_live();
    for (;; k++) {
        dp_schema *schema;
        dp_error err = {DP_OK, ""};
        faulty_fail(k);
        dp_status status = dp_schema_parse(text, strlen(text), "s", &schema, &err);
        bool failed = faulty_failed();
        faulty_fail(0);
        dp_schema_free(schema);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    assert_true(k > 3); /* arenas take few blocks */
}

static dp_status check(const char *text, size_t most, dp_error *faults, size_t *n)
{
    return dp_schema_check(text, strlen(text), "s", most, faults, n);
}

static void each_fault_is_told(void **state)
{
    (void)state;
    static const char *const text = "age rael 0 .. 120\n"
                                    "sex level F M\n"
                                    "height real 2 .. 1\n"
                                    "a\"b level 0 1\n"
                                    "sex unit\n"
                                    "recrods = 5\n"
                                    "weight\n"
                                    "records = 7\n"
                                    "x real 0 .. 1 \"";
    static const char *const told[] = {"s:1: 'rael'",    "s:3: the first end",
                                       "s:4: a quote",   "s:5: 'sex' is declared in line 2",
                                       "s:6: 'recrods'", "s:7: 'weight' has no kind",
                                       "s:9: a quote"};
    dp_error faults[10];
    size_t n;
    assert_int_equal(check(text, 10, faults, &n), DP_EDATA);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(faults[i].status, DP_EDATA);
        assert_contains(faults[i].text, told[i]);
    }
    assert_int_equal(check(text, 3, faults, &n), DP_EDATA);
    assert_int_equal(n, 3);
    assert_int_equal(check("# nothing\n", 3, faults, &n), DP_EDATA);
    assert_int_equal(n, 1);
    assert_contains(faults[0].text, "declares no column");
    assert_int_equal(check("age real 0 .. 1", 3, faults, &n), DP_OK);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_declares_a_column),
        cmocka_unit_test(what_is_not_said_is_not_there),
        cmocka_unit_test(words_are_written_so_that_they_are_read),
        cmocka_unit_test(a_table_is_read_with_it),
        cmocka_unit_test(faults_are_told_with_their_line),
        cmocka_unit_test(faults_of_settings_are_told),
        cmocka_unit_test(each_fault_is_told),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
