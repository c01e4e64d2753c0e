/* What the ledger knows of a data set: its file or columns, by their content. */
#include <tacit/ledger.h>

#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static void data_that_changed_are_refused_until_the_owner_says_so(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    dp_reservation_free(reserve(ledger, gaussian(50, 3)));
    double before = spent(ledger);
    folder_write("data.csv", "x,y\n1,3\n");
    assert_fails(try_reserve(ledger, gaussian(50, 3), &err), DP_EDATA, &err, "tacit ledger update");
    const dp_ledger_source source = {.path = folder_path("data.csv")};
    assert_ok(dp_ledger_update_data(ledger, "d", &source, &err), err.text);
    assert_true(spent(ledger) == before);
    assert_ok(try_reserve(ledger, gaussian(50, 3), &err), err.text);
    assert_true(spent(ledger) > before);
    dp_ledger_close(ledger);
}

/* Of answers of yes and no, which no sketch tells from another's, by a file and by columns. */
static void what_was_updated_gets_no_second_budget(void **state)
{
    (void)state;
    dp_error err = {0};
    size_t faults;
    dp_ledger *ledger = folder_ledger(2);
    double x[] = {1, 0}, y[] = {0, 1};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source file = {.path = folder_path("data.csv"), .overlap_allowed = true};
    folder_write("copy.csv", "x,y\n1,2\n");
    folder_write("data.csv", "x,y\n1,2\n");
    assert_ok(dp_ledger_update_data(ledger, "d", &file, &err), err.text);
    folder_write("data.csv", "x,y\n3,4\n5,6\n");
    assert_ok(dp_ledger_update_data(ledger, "d", &file, &err), err.text);
    const dp_ledger_source copy = {.path = folder_path("copy.csv")};
    assert_fails(dp_ledger_add_data(ledger, "e", &copy, &budget, &err), DP_ENAME, &err,
                 "before an update, as 'd'");
    dp_dataset *first = dp_dataset_new(2), *second = dp_dataset_new(2), *turned = dp_dataset_new(2);
    dp_dataset_real(first, "x", 1, x);
    dp_dataset_real(first, "y", 1, y);
    dp_dataset_real(second, "x", 1, y);
    dp_dataset_real(turned, "y", 1, y);
    dp_dataset_real(turned, "x", 1, x);
    const dp_ledger_source of_first = {.records = first}, of_second = {.records = second},
                           of_turned = {.records = turned},
                           meant = {.records = turned, .overlap_allowed = true};
    assert_ok(dp_ledger_add_data(ledger, "m", &of_first, &budget, &err), err.text);
    assert_ok(dp_ledger_update_data(ledger, "m", &of_second, &err), err.text);
    assert_fails(dp_ledger_add_data(ledger, "n", &of_first, &budget, &err), DP_ENAME, &err,
                 "before an update, as 'm'");
    assert_fails(dp_ledger_add_data(ledger, "n", &of_turned, &budget, &err), DP_ENAME, &err, "'m'");
    /* The data set itself may go back. */
    assert_ok(dp_ledger_update_data(ledger, "m", &of_first, &err), err.text);
    assert_fails(dp_ledger_add_data(ledger, "n", &of_second, &budget, &err), DP_ENAME, &err, "'m'");
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    assert_int_equal(faults, 0);
    folder_sql("UPDATE former SET change = 9 WHERE id = 1");
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    assert_int_equal(faults, 1);
    assert_fails(dp_ledger_add_data(ledger, "n", &of_second, &budget, &err), DP_EDATA, &err,
                 "before an update");
    folder_sql("UPDATE former SET change = 1 WHERE id = 1");
    assert_ok(dp_ledger_update_data(ledger, "m", &of_second, &err), err.text);
    assert_ok(dp_ledger_add_data(ledger, "n", &meant, &budget, &err), err.text);
    dp_dataset_free(first);
    dp_dataset_free(second);
    dp_dataset_free(turned);
    dp_ledger_close(ledger);
}

static void columns_in_memory_are_known_by_their_content(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    double x[] = {1, 2}, z[] = {5, 6};
    const int32_t g[] = {0, 1};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    dp_dataset *whole = dp_dataset_new(2), *part = dp_dataset_new(2), *more = dp_dataset_new(2);
    dp_reservation *r;
    const dp_mechanism m = gaussian(50, 3);
    dp_dataset_real(whole, "x", 1, x);
    dp_dataset_index(whole, "g", g);
    dp_dataset_index(part, "g", g);
    dp_dataset_real(more, "x", 1, x);
    dp_dataset_real(more, "z", 1, z);
    const dp_ledger_source source = {.records = whole}, larger = {.records = more};
    dp_spending what = {.data = "m", .list = &m, .n = 1, .records = part};
    assert_ok(dp_ledger_add_data(ledger, "m", &source, &budget, &err), err.text);
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    what.records = more;
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EDATA, &err,
                 "column 'z' is not in what");
    x[1] = 7;
    what.records = whole;
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EDATA, &err,
                 "column 'x' is not what");
    assert_ok(dp_ledger_update_data(ledger, "m", &larger, &err), err.text);
    what.records = more;
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    dp_dataset_free(whole);
    dp_dataset_free(part);
    dp_dataset_free(more);
    dp_ledger_close(ledger);
}

/* The same columns in another order, without some or with more are the same people. */
static void the_same_columns_have_one_budget(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    const double x[] = {1, 2}, y[] = {3, 4}, z[] = {5, 6};
    const struct {
        const char *name;
        const double *values;
    } columns[][3] = {
        {{"x", x}, {"y", y}}, {{"y", y}, {"x", x}}, {{"x", x}}, {{"z", z}, {"x", x}, {"y", y}}};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    for (int k = 0; k < 5; k++) {
        dp_dataset *data = dp_dataset_new(2);
        for (int i = 0; k < 4 && i < 3 && columns[k][i].name != NULL; i++)
            dp_dataset_real(data, columns[k][i].name, 1, columns[k][i].values);
        if (k == 4) { /* one column in common is no sign of anything */
            dp_dataset_real(data, "x", 1, x);
            dp_dataset_real(data, "z", 1, z);
        }
        const dp_ledger_source source = {.records = data};
        const char *name = k == 0 ? "m" : "again";
        dp_status status = dp_ledger_add_data(ledger, name, &source, &budget, &err);
        if (k == 0 || k == 4)
            assert_ok(status, err.text);
        else
            assert_fails(status, DP_ENAME, &err, "'m'");
        dp_dataset_free(data);
    }
    dp_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_that_changed_are_refused_until_the_owner_says_so),
        cmocka_unit_test(what_was_updated_gets_no_second_budget),
        cmocka_unit_test(columns_in_memory_are_known_by_their_content),
        cmocka_unit_test(the_same_columns_have_one_budget),
    };
    return cmocka_run_group_tests_name("data", tests, folder_make, folder_remove);
}
