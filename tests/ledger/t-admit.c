/* Composing outside the write lock.  The accountant is held while another process works on the same
 * ledger: that process never waits, and what it has changed is composed anew.
 *
 * The other process is forked before there is a connection, since SQLite's do not survive a fork;
 * it opens the ledger, does what it is told by one byte, and answers with one. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/reserve.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

/* ---- the other process ---- */

static int orders[2], answers[2];
static pid_t other;

enum { ON_ANOTHER = 'e', ON_THE_SAME = 'd', MUCH = 'D', MARK = 'm' };

static char obey(dp_ledger *ledger, char order)
{
    const dp_mechanism m = gaussian(order == MUCH ? 4 : 400, 1);
    const dp_spending what = {.data = order == ON_ANOTHER ? "e" : "d", .list = &m, .n = 1};
    static dp_reservation *kept;
    const uint64_t begun = 1;
    dp_reservation *r = NULL;
    if (order == MARK)
        return (char)dpi_reservation_mark(kept, &begun, NULL);
    dp_status status = dp_ledger_reserve(ledger, &what, &r, NULL);
    if (kept == NULL)
        kept = r;
    else
        dp_reservation_free(r);
    return (char)status;
}

/* Waits for nobody: where the ledger is locked the answer is DP_ESTATE. */
static void serve(void)
{
    char order;
    while (read(orders[0], &order, 1) == 1) {
        static dp_ledger *ledger;
        char answer = DP_EIO;
        if (ledger != NULL || dp_ledger_open(folder_path("ledger"), &ledger, NULL) == DP_OK) {
            (void)sqlite3_busy_timeout(ledger->db, 0);
            answer = obey(ledger, order);
        }
        if (write(answers[1], &answer, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void start_other(void)
{
    assert_true(pipe(orders) == 0 && pipe(answers) == 0);
    (void)fflush(NULL);
    other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        (void)close(orders[1]);
        serve();
    }
    (void)close(orders[0]);
    (void)close(answers[1]);
}

static void stop_other(void)
{
    int how;
    (void)close(orders[1]);
    (void)close(answers[0]);
    assert_int_equal(waitpid(other, &how, 0), other);
    assert_int_equal(how, 0);
}

static int tell(char order)
{
    char answer = 0;
    assert_int_equal(write(orders[1], &order, 1), 1);
    assert_int_equal(read(answers[0], &answer, 1), 1);
    return answer;
}

/* ---- the accountant ---- */

static const char *during; /* orders, one for each composition, while there are any */
static bool for_ever;      /* the last of them again and again */
static int compositions, refused;
dp_status __real_dp_account_epsilon(const dp_mechanism *list, size_t n, double delta, double width,
                                    dp_interval *epsilon, dp_error *err);
dp_status __wrap_dp_account_epsilon(const dp_mechanism *list, size_t n, double delta, double width,
                                    dp_interval *epsilon, dp_error *err);

dp_status __wrap_dp_account_epsilon(const dp_mechanism *list, size_t n, double delta, double width,
                                    dp_interval *epsilon, dp_error *err)
{
    if (during != NULL && during[0] != 0) {
        compositions++;
        refused += tell(during[0]) != DP_OK;
        during += for_ever ? 0 : 1;
    } else {
        compositions += during != NULL;
    }
    return __real_dp_account_epsilon(list, n, delta, width, epsilon, err);
}

static void hold(const char *what, bool again)
{
    during = what;
    for_ever = again;
    compositions = refused = 0;
}

/* A ledger with data sets "d" and "e", known to the other process. */
static dp_ledger *set_up(double epsilon)
{
    dp_error err = {0};
    during = NULL;
    start_other();
    dp_ledger *ledger = folder_ledger(epsilon);
    folder_write("other.csv", "x\n3\n");
    const dp_ledger_source source = {.path = folder_path("other.csv")};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    assert_ok(dp_ledger_add_data(ledger, "e", &source, &budget, &err), err.text);
    return ledger;
}

static void tear_down(dp_ledger *ledger)
{
    during = NULL;
    dp_ledger_close(ledger);
    stop_other();
}

static size_t entries_of_d(dp_ledger *ledger)
{
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    size_t n = s->data[0].n;
    dp_ledger_statement_free(s);
    return n;
}

/* ---- tests ---- */

static void while_one_composes_others_reserve(void **state)
{
    (void)state;
    dp_ledger *ledger = set_up(2);
    hold("ee", false);
    dp_reservation_free(reserve(ledger, gaussian(50, 3)));
    assert_int_equal(refused, 0);
    assert_int_equal(compositions, 1); /* another data set is none of its business */
    assert_int_equal(entries_of_d(ledger), 1);
    tear_down(ledger);
}

static void what_was_reserved_meanwhile_is_composed_too(void **state)
{
    (void)state;
    dp_ledger *ledger = set_up(2);
    hold("d", false);
    dp_reservation_free(reserve(ledger, gaussian(50, 3)));
    assert_int_equal(refused, 0);
    assert_int_equal(compositions, 2);
    assert_int_equal(entries_of_d(ledger), 2);
    hold("m", false); /* a run that goes on costs no more than it reserved */
    dp_reservation_free(reserve(ledger, gaussian(50, 3)));
    assert_true(refused == 0 && compositions == 1);
    tear_down(ledger);
}

/* What fitted when it was composed no longer does. */
static void a_budget_taken_meanwhile_is_not_spent_twice(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = set_up(1.5); /* gaussian(4, 1) once, not twice */
    hold("D", false);
    assert_fails(try_reserve(ledger, gaussian(4, 1), &err), DP_EPRIVACY, &err, "is spent");
    assert_int_equal(refused, 0);
    during = NULL;
    assert_int_equal(entries_of_d(ledger), 1);
    assert_true(spent(ledger) <= 1.5);
    tear_down(ledger);
}

static void who_is_overtaken_again_and_again_gives_up(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = set_up(2);
    hold("d", true);
    assert_fails(try_reserve(ledger, gaussian(50, 3), &err), DP_ESTATE, &err, "try again");
    assert_int_equal(refused, 0);
    assert_int_equal(entries_of_d(ledger), (size_t)compositions);
    tear_down(ledger);
}

static void a_run_is_resumed_without_the_lock(void **state)
{
    (void)state;
    dp_error err = {0};
    uint64_t begun;
    const uint64_t done = 0, remaining = 100;
    const dp_mechanism m = gaussian(100, 100);
    const dpi_purpose same = {.spending = {.list = &m, .n = 1}};
    const dpi_resumption entry = {.id = 1, .n = 1, .done = &done, .remaining = &remaining};
    dp_ledger *ledger = set_up(2);
    dp_reservation *first = reserve(ledger, m), *second;
    hold("de", false);
    assert_ok(dpi_reserve_again(ledger, &entry, &same, &begun, &second, &err), err.text);
    assert_true(refused == 0 && compositions == 2); /* the first was overtaken */
    assert_int_equal(begun, 100);
    dp_reservation_free(first);
    dp_reservation_free(second);
    tear_down(ledger);
}

static void reading_and_checking_compose_without_the_lock(void **state)
{
    (void)state;
    dp_error err = {0};
    size_t faults;
    dp_ledger *ledger = set_up(2);
    dp_reservation_free(reserve(ledger, gaussian(50, 3)));
    hold("dd", false);
    assert_true(spent(ledger) > 0);
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    assert_true(faults == 0 && refused == 0 && compositions >= 2);
    tear_down(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_one_composes_others_reserve),
        cmocka_unit_test(what_was_reserved_meanwhile_is_composed_too),
        cmocka_unit_test(a_budget_taken_meanwhile_is_not_spent_twice),
        cmocka_unit_test(who_is_overtaken_again_and_again_gives_up),
        cmocka_unit_test(a_run_is_resumed_without_the_lock),
        cmocka_unit_test(reading_and_checking_compose_without_the_lock),
    };
    return cmocka_run_group_tests_name("admit", tests, folder_make, folder_remove);
}
