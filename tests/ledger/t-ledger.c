/* The ledger's file, its data sets, what is read from it and which faults are found. */
#include "ledger/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};

static void a_ledger_is_made_once_and_for_its_owner_alone(void **state)
{
    (void)state;
    dp_error err = {0};
    struct stat info;
    dp_ledger *ledger = folder_ledger(2), *other;
    assert_int_equal(stat(folder_path("ledger"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_fails(dp_ledger_create(folder_path("ledger"), &other, &err), DP_EIO, &err,
                 "exists already");
    assert_null(other);
    assert_fails(dp_ledger_create(folder_path("no/ledger"), &other, &err), DP_EIO, &err, "folder");
    assert_ok(dp_ledger_open(folder_path("ledger"), &other, &err), err.text);
    assert_memory_equal(ledger->key, other->key, sizeof ledger->key);
    dp_ledger_close(other);
    dp_ledger_close(ledger);
    dp_ledger_close(NULL);
}

static void what_is_no_ledger_is_not_opened(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    dp_ledger_close(ledger);
    assert_fails(dp_ledger_open(folder_path("none"), &ledger, &err), DP_EIO, &err,
                 "check the path");
    assert_null(ledger);
    assert_fails(dp_ledger_open(folder_path("data.csv"), &ledger, &err), DP_EDATA, &err,
                 "no ledger");
    folder_write("empty", "");
    assert_fails(dp_ledger_open(folder_path("empty"), &ledger, &err), DP_EDATA, &err, "killed");
    folder_sql("PRAGMA user_version = 5");
    assert_fails(dp_ledger_open(folder_path("ledger"), &ledger, &err), DP_EUNSUPPORTED, &err,
                 "newer");
    folder_sql("PRAGMA user_version = 1; UPDATE ledger SET key = x'00'");
    assert_fails(dp_ledger_open(folder_path("ledger"), &ledger, &err), DP_EDATA, &err, "key");
    assert_int_equal(dp_ledger_open(":memory:", &ledger, NULL), DP_EIO);
    assert_int_equal(dp_ledger_open("", &ledger, NULL), DP_EIO);
}

static void budgets_and_names_are_checked(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    folder_write("other.csv", "x\n3\n");
    const dp_ledger_source other = {.path = folder_path("other.csv")}, none = {.path = NULL};
    const double bad[][2] = {{0, 1e-6}, {-1, 1e-6}, {INFINITY, 1e-6}, {NAN, 1e-6},
                             {1, 0},    {1, 1},     {1, NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_budget b = {.epsilon = bad[i][0], .delta = bad[i][1], .adjacency = DP_ADD_REMOVE};
        assert_fails(dp_ledger_add_data(ledger, "e", &other, &b, &err), DP_EDOMAIN, &err,
                     "epsilon");
    }
    dp_budget b = {.epsilon = 1, .delta = 1e-6};
    assert_fails(dp_ledger_add_data(ledger, "e", &other, &b, &err), DP_EDOMAIN, &err,
                 "DP_REPLACE_ONE");
    b = (dp_budget){.epsilon = 1, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = "\n"};
    assert_fails(dp_ledger_add_data(ledger, "e", &other, &b, &err), DP_EINVAL, &err, "unit");
    assert_fails(dp_ledger_add_data(ledger, "", &other, &budget, &err), DP_EINVAL, &err, "name");
    assert_fails(dp_ledger_add_data(ledger, "a\tb", &other, &budget, &err), DP_EINVAL, &err,
                 "control");
    assert_fails(dp_ledger_add_data(ledger, "d", &other, &budget, &err), DP_ENAME, &err, "already");
    assert_fails(dp_ledger_add_data(ledger, "e", &none, &budget, &err), DP_EINVAL, &err, "one of");
    const dp_ledger_source same = {.path = folder_path("data.csv")},
                           away = {.path = folder_path("away")};
    assert_fails(dp_ledger_add_data(ledger, "e", &same, &budget, &err), DP_ENAME, &err, "as 'd'");
    assert_fails(dp_ledger_add_data(ledger, "e", &away, &budget, &err), DP_EIO, &err, "away");
    assert_fails(dp_ledger_update_data(ledger, "e", &other, &err), DP_ENAME, &err, "'e'");
    assert_ok(dp_ledger_add_data(ledger, "e", &other, &budget, &err), err.text);
    assert_fails(dp_ledger_update_data(ledger, "d", &other, &err), DP_ENAME, &err, "as 'e'");
    dp_ledger_close(ledger);
}

/* Format 1 had no sketches, format 2 forgot what data sets were before updates, format 3 what was
 * allowed. */
static void an_older_ledger_is_renewed(void **state)
{
    (void)state;
    dp_error err = {0};
    size_t faults;
    dp_ledger *ledger = folder_ledger(2);
    dp_ledger_close(ledger);
    folder_sql("DROP TABLE sketch; DROP TABLE former; ALTER TABLE data DROP COLUMN overlap;"
               "PRAGMA user_version = 1");
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    assert_int_equal(faults, 0);
    assert_true(spent(ledger) == 0);
    dp_ledger_close(ledger);
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    dp_ledger_close(ledger);
}

/* Numbers that decimal digits would bend come back as they were. */
static void the_statement_is_exact(void **state)
{
    (void)state;
    dp_error err = {0};
    const dp_ledger_statement *s;
    dp_reservation *r;
    dp_ledger *ledger = folder_ledger(0.1 + 0.2);
    const double jumps[] = {0, 1.0 / 3}, chances[] = {0.75, 0.25};
    dp_mechanism list[] = {gaussian(1e3 / 7, 3), gaussian(100.0 / 3, 1)};
    list[1].sampling = DP_SAMPLING_POISSON;
    list[1].jumps = jumps;
    list[1].chances = chances;
    list[1].n_jumps = 2;
    const dp_spending what = {
        .data = "d", .label = "first", .columns = "x, y", .list = list, .n = 2};
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    assert_int_equal(s->n, 1);
    assert_string_equal(s->data[0].name, "d");
    assert_true(s->data[0].path[0] == '/' && s->data[0].budget.epsilon == 0.1 + 0.2);
    assert_true(s->data[0].added > 1600000000 && s->data[0].updated == 0);
    assert_int_equal(s->data[0].n, 1);
    const dp_ledger_entry *e = &s->data[0].entries[0];
    assert_true(e->id == 1 && e->settled == 0 && e->made >= s->data[0].added && e->n == 2);
    assert_string_equal(e->label, "first");
    assert_string_equal(e->columns, "x, y");
    assert_null(e->model);
    assert_true(e->list[0].sigma == 1e3 / 7 && e->list[0].steps == 3 && e->planned[0] == 3);
    assert_true(e->list[1].n_jumps == 2 && e->list[1].jumps[1] == 1.0 / 3 && e->begun[1] == 1);
    assert_true(e->list[1].chances[0] == 0.75 && e->list[1].sampling == DP_SAMPLING_POISSON);
    dp_ledger_statement_free(s);
    dp_ledger_statement_free(NULL);
    dp_ledger_close(ledger);
}

/* Number of faults that the check finds; the lines go to `text`. */
static size_t faults_in(dp_ledger *ledger, char *text, size_t size)
{
    size_t faults;
    dp_error err = {0};
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_ok(dp_ledger_check(ledger, out, &faults, &err), err.text);
    rewind(out);
    text[fread(text, 1, size - 1, out)] = 0;
    (void)fclose(out);
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    return faults;
}

static void every_fault_is_found_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *line;
        bool refused; /* reading the data set fails too */
    } cases[] = {
        {"UPDATE mechanism SET reserved = 2, begun = 2 WHERE entry = 1", "entry 1", true},
        {"UPDATE mechanism SET sigma = '4059000000000001' WHERE entry = 1", "entry 1", true},
        {"UPDATE mechanism SET reserved = -1 WHERE entry = 2", "entry 2", true},
        {"UPDATE entry SET label = 'other' WHERE id = 2", "entry 2", true},
        {"UPDATE data SET epsilon = '4059000000000000'", "data set 1", true},
        {"UPDATE data SET epsilon = 'large'", "data set 1", true},
        {"DELETE FROM mechanism WHERE entry = 1", "entry 1", true},
        {"DELETE FROM mechanism WHERE entry = 2; DELETE FROM entry WHERE id = 2", "missing", true},
        {"DELETE FROM entry WHERE id = 2", "belongs to nothing", true},
        {"UPDATE data_column SET hash = zeroblob(32) WHERE name = 'x'", "its columns", false},
        {"UPDATE sketch SET bytes = zeroblob(8) WHERE data = 2", "sketches of data set 2", false},
        {"DELETE FROM sketch WHERE data = 2", "rows of table 'sketch' are missing", false},
    };
    char text[2000];
    static const double x[] = {1, 2}, y[] = {3, 4};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dp_error err = {0};
        dp_interval spent;
        dp_reservation *r;
        dp_ledger *ledger = folder_ledger(2);
        dp_dataset *columns = dp_dataset_new(2);
        const dp_ledger_source source = {.records = columns};
        dp_dataset_real(columns, "x", 1, x);
        dp_dataset_real(columns, "y", 1, y);
        assert_ok(dp_ledger_add_data(ledger, "columns", &source, &budget, &err), err.text);
        const dp_mechanism m = gaussian(100, 3);
        const dp_spending what = {.data = "d", .list = &m, .n = 1};
        for (int k = 0; k < 2; k++) {
            assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
            dp_reservation_free(r);
        }
        assert_int_equal(faults_in(ledger, text, sizeof text), 0);
        assert_string_equal(text, "");
        folder_sql(cases[i].sql);
        assert_true(faults_in(ledger, text, sizeof text) > 0);
        assert_contains(text, cases[i].line);
        if (cases[i].refused) {
            assert_fails(dp_ledger_spent(ledger, "d", &spent, &err), DP_EDATA, &err, "intact copy");
            assert_true(spent.upper == INFINITY);
        }
        dp_ledger_close(ledger);
        dp_dataset_free(columns);
    }
}

static void spending_above_the_budget_and_changed_files_are_found(void **state)
{
    (void)state;
    char text[2000];
    dp_ledger *ledger = folder_ledger(2);
    folder_write("data.csv", "x,y\n1,3\n");
    assert_int_equal(faults_in(ledger, text, sizeof text), 1);
    assert_contains(text, "not what the ledger knows as 'd'");
    assert_int_equal(remove(folder_path("data.csv")), 0);
    assert_int_equal(faults_in(ledger, text, sizeof text), 1);
    assert_contains(text, "cannot open");
    dp_ledger_close(ledger);
}

/* Half of the file's bytes, overwritten one run after another: no crash, and no silence where what
 * is spent would come out lower. */
static void damaged_files_are_told(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval whole, spent;
    dp_reservation *r;
    dp_ledger *ledger = folder_ledger(2);
    const dp_mechanism m = gaussian(100, 3);
    const dp_spending what = {.data = "d", .list = &m, .n = 1};
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    assert_ok(dp_ledger_spent(ledger, "d", &whole, &err), err.text);
    dp_ledger_close(ledger);
    FILE *file = fopen(folder_path("ledger"), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    for (long at = 0; at < size; at += 61) {
        char kept[8], junk[8] = "\xff\x01\x80junk";
        size_t faults;
        (void)fseek(file, at, SEEK_SET);
        size_t n = fread(kept, 1, sizeof kept, file);
        (void)fseek(file, at, SEEK_SET);
        (void)fwrite(junk, 1, n, file);
        (void)fflush(file);
        if (dp_ledger_open(folder_path("ledger"), &ledger, NULL) == DP_OK) {
            if (dp_ledger_spent(ledger, "d", &spent, NULL) == DP_OK)
                assert_true(spent.upper >= whole.upper);
            (void)!dp_ledger_check(ledger, NULL, &faults, NULL);
            dp_ledger_close(ledger);
        }
        (void)fseek(file, at, SEEK_SET);
        (void)fwrite(kept, 1, n, file);
        (void)fflush(file);
    }
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ledger_is_made_once_and_for_its_owner_alone),
        cmocka_unit_test(what_is_no_ledger_is_not_opened),
        cmocka_unit_test(an_older_ledger_is_renewed),
        cmocka_unit_test(budgets_and_names_are_checked),
        cmocka_unit_test(the_statement_is_exact),
        cmocka_unit_test(every_fault_is_found_and_named),
        cmocka_unit_test(spending_above_the_budget_and_changed_files_are_found),
        cmocka_unit_test(damaged_files_are_told),
    };
    return cmocka_run_group_tests_name("ledger", tests, folder_make, folder_remove);
}
