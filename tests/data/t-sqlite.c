/* Tables from queries on SQLite databases: the values, and what is refused. */
#include <tacit/table.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

static const char *const levels[] = {"N", "Y"};
static const dp_column schema[] = {
    {.name = "age", .kind = DP_COLUMN_REAL, .low = 0, .high = 120},
    {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = 2},
    {.name = "who", .kind = DP_COLUMN_UNIT},
};

static char path[] = "t-sqlite%a?b#-XXXXXX"; /* signs that a URI has for itself */

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
}

static sqlite3 *opened(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static int make(void **state)
{
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    sqlite3 *db = opened();
    run(db, "CREATE TABLE visits (age, use TEXT, who, bytes);"
            "INSERT INTO visits VALUES (0.1 + 0.2, 'N', 9007199254740993, x'00'),"
            "(40, 'Y', 9007199254740992, x'01'), ('41.5', 'N', 9007199254740993, 'text'),"
            "(NULL, 'N', 'p', 1);"
            "CREATE TABLE other (text); INSERT INTO other VALUES ('secret-7');");
    (void)sqlite3_close(db);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static dp_status query(const char *sql, const dp_csv_options *o, dp_table **t, dp_error *err)
{
    *err = (dp_error){DP_OK, ""};
    return dp_table_read_sqlite(path, sql, o, 3, schema, t, err);
}

static void rows_become_records(void **state)
{
    (void)state;
    dp_error err;
    dp_table *t;
    const dp_csv_options drop = {.drop_missing = true};
    assert_ok(query("SELECT use, who, age FROM visits; -- all\n", &drop, &t, &err), err.text);
    const double age[] = {0.1 + 0.2, 40, 41.5}; /* all its digits */
    const int32_t use[] = {0, 1, 0}, who[] = {0, 1, 0};
    assert_int_equal(dp_table_rows(t), 3);
    assert_memory_equal(dp_table_real(t, "age"), age, sizeof age);
    assert_memory_equal(dp_table_level(t, "use"), use, sizeof use);
    assert_memory_equal(dp_table_level(t, "who"), who, sizeof who); /* apart by 1 at 2^53 */
    dp_table_free(t);
    assert_ok(query("WITH a AS (SELECT 1 AS age, 'p' AS who) SELECT a.*, upper('y') AS use FROM a",
                    NULL, &t, &err),
              err.text);
    dp_table_free(t);
    assert_fails(query("SELECT * FROM visits", NULL, &t, &err), DP_EDATA, &err,
                 "record 4, column 'age': the value is missing");
}

static void other_statements_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "DELETE FROM visits",
        "INSERT INTO visits VALUES (1, 'N', 1, 1) RETURNING age, use, who",
        "CREATE TABLE x (y)",
        "PRAGMA table_info(visits)",
        "ATTACH 'other.db' AS other",
        "SELECT age, use, who FROM visits; SELECT 1",
        "SELECT age, use, who FROM visits; DROP TABLE visits",
        "SELECT age, use, load_extension('x') AS who FROM visits",
        "SELECT age, use, who FROM pragma_table_info('visits')",
        "",
        "-- nothing",
        "SELEC age",
        "SELECT nothing FROM visits",
    };
    dp_error err;
    dp_table *t;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_fails(query(bad[i], NULL, &t, &err), DP_EDATA, &err, "the query");
        assert_null(t);
    }
    assert_fails(query("SELECT age, use FROM visits", NULL, &t, &err), DP_ENAME, &err,
                 "gives no column 'who'");
    assert_fails(query("SELECT age, use, who, 1 AS age FROM visits", NULL, &t, &err), DP_ENAME,
                 &err, "more than one column 'age'");
}

static void faulty_values_are_refused_and_not_told(void **state)
{
    (void)state;
    dp_error err;
    dp_table *t;
    assert_fails(query("SELECT 1 AS age, 'N' AS use, bytes AS who FROM visits", NULL, &t, &err),
                 DP_EDATA, &err, "record 1, column 'who': the value is bytes");
    assert_fails(query("SELECT 1 AS age, 'N' AS use, 'a' || char(0) || 'b' AS who", NULL, &t, &err),
                 DP_EDATA, &err, "is bytes");
    assert_fails(query("SELECT 121 AS age, 'N' AS use, 1 AS who", NULL, &t, &err), DP_EDOMAIN, &err,
                 "outside the declared range");
    assert_int_equal(
        query("SELECT json_extract(text, '$.a') AS age, 'N' AS use, 1 AS who FROM other", NULL, &t,
              &err),
        DP_EDATA);
    assert_null(strstr(err.text, "secret"));
    assert_int_equal(query("SELECT text AS age, 'N' AS use, 1 AS who FROM other", NULL, &t, &err),
                     DP_EDATA);
    assert_null(strstr(err.text, "secret"));
    assert_fails(query("SELECT age, use, who FROM visits WHERE age < 0", NULL, &t, &err), DP_EDATA,
                 &err, "has no record");
}

static void a_file_that_is_written_is_refused(void **state)
{
    (void)state;
    static const char *const all = "SELECT 1 AS age, use, 1 AS who FROM visits";
    dp_error err;
    dp_table *t;
    sqlite3 *db = opened();
    run(db, "PRAGMA journal_mode = wal; UPDATE visits SET use = 'N' WHERE age = 40");
    assert_fails(query(all, NULL, &t, &err), DP_EDATA, &err, "a journal stands beside it");
    run(db, "PRAGMA journal_mode = delete; BEGIN; UPDATE visits SET use = 'Y' WHERE age = 40");
    assert_fails(query(all, NULL, &t, &err), DP_EDATA, &err, "a journal stands beside it");
    run(db, "ROLLBACK");
    (void)sqlite3_close(db);
    assert_ok(query(all, NULL, &t, &err), err.text);
    dp_table_free(t);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    dp_error err = {DP_OK, ""};
    dp_table *t;
    assert_fails(dp_table_read_sqlite("none.sqlite", "SELECT 1", NULL, 3, schema, &t, &err), DP_EIO,
                 &err, "cannot open none.sqlite");
    assert_fails(dp_table_read_sqlite(".", "SELECT 1", NULL, 3, schema, &t, &err), DP_EIO, &err,
                 "cannot open");
    char text[] = "t-sqlite-text-XXXXXX";
    const int file = mkstemp(text);
    assert_true(file >= 0 && write(file, "age,use,who\n1,N,1\n", 18) == 18 && close(file) == 0);
    dp_status status =
        dp_table_read_sqlite(text, "SELECT * FROM visits", NULL, 3, schema, &t, &err);
    (void)unlink(text);
    assert_int_not_equal(status, DP_OK);
    assert_contains(err.text, "not a database");
    const dp_csv_options small = {.max_bytes = 1000};
    assert_fails(query("SELECT * FROM visits", &small, &t, &err), DP_EDATA, &err, "max_bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_records),
        cmocka_unit_test(other_statements_are_refused),
        cmocka_unit_test(faulty_values_are_refused_and_not_told),
        cmocka_unit_test(a_file_that_is_written_is_refused),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make, end);
}
