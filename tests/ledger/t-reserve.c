/* Reserving, settling and taking over. */
#define _POSIX_C_SOURCE 200809L
#include "ledger/reserve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static dp_mechanism poisson(double sigma, uint64_t steps)
{
    return (dp_mechanism){
        .sampling = DP_SAMPLING_POISSON, .sigma = sigma, .rate = 0.01, .steps = steps};
}

/* Not by adding epsilons: the whole is that of the list, and less than the parts. */
static void runs_compose_through_the_accountant(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(3);
    const dp_mechanism list[] = {poisson(1.1, 700), gaussian(20, 10)};
    dp_interval whole;
    double parts[2];
    assert_true(spent(ledger) == 0);
    dp_reservation_free(reserve(ledger, poisson(1.1, 300)));
    dp_reservation_free(reserve(ledger, list[1]));
    dp_reservation_free(reserve(ledger, poisson(1.1, 400)));
    assert_ok(dp_account_epsilon(list, 2, 1e-6, 0, &whole, &err), err.text);
    assert_close(spent(ledger), whole.upper, 1e-9, 0);
    for (int i = 0; i < 2; i++)
        assert_ok(dp_epsilon(&list[i], 1e-6, &parts[i], &err), err.text);
    assert_true(spent(ledger) < parts[0] + parts[1]);
    assert_fails(dp_ledger_spent(ledger, "e", &whole, &err), DP_ENAME, &err, "'e'");
    assert_true(whole.upper == INFINITY && whole.lower == 0);
    dp_ledger_close(ledger);
}

/* What is composed leaves a share of delta to the sampler; where that cannot be enough, nothing
 * fits. */
static void delta_covers_failures_of_the_sampler(void **state)
{
    (void)state;
    dp_error err = {0};
    double whole, most;
    dp_reservation *r;
    dp_ledger *ledger = folder_ledger(1000);
    const dp_mechanism m = gaussian(5, 10), loud = gaussian(0.1, 3);
    const dp_spending what = {.data = "d", .list = &loud, .n = 1};
    dp_reservation_free(reserve(ledger, m));
    assert_ok(dp_epsilon(&m, 1e-6, &whole, &err), err.text);
    assert_ok(dp_epsilon(&m, 1e-6 * (1 - 0x1p-40), &most, &err), err.text);
    assert_true(whole < most && spent(ledger) == most);
    assert_ok(dp_epsilon(&loud, 1e-6, &whole, &err), err.text);
    assert_true(whole > 100 && whole < 1000);
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EPRIVACY, &err,
                 "would make it inf");
    assert_true(spent(ledger) == most);
    dp_ledger_close(ledger);
}

static void a_run_calibrated_to_the_budget_fits(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(1);
    dp_mechanism m = poisson(0, 1000);
    assert_ok(dp_calibrate_sigma(&m, 1, 1e-6, 0, &m.sigma, &err), err.text);
    dp_reservation_free(reserve(ledger, m));
    dp_ledger_close(ledger);
}

/* What the refusal names fits, and a little more does not. */
static void a_refusal_says_what_would_fit(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int which = 0; which < 2; which++) {
        dp_ledger *ledger = folder_ledger(1);
        unsigned long long steps;
        double sigma, before;
        dp_reservation_free(reserve(ledger, poisson(1.5, 500)));
        before = spent(ledger);
        assert_int_equal(try_reserve(ledger, poisson(1, 2000), &err), DP_EPRIVACY);
        assert_contains(err.text, "of 1 (delta 1e-06) on 'd' is spent");
        const char *fit = strstr(err.text, "would fit: ");
        assert_non_null(fit);
        assert_int_equal(sscanf(fit, "would fit: %llu steps at sigma 1, or sigma %lf for all 2000",
                                &steps, &sigma),
                         2);
        assert_true(spent(ledger) == before && steps > 0 && steps < 2000 && sigma > 1);
        err = (dp_error){.status = DP_OK};
        if (which == 0) {
            assert_int_equal(try_reserve(ledger, poisson(1, steps + 2 + steps / 200), NULL),
                             DP_EPRIVACY);
            assert_ok(try_reserve(ledger, poisson(1, steps), &err), err.text);
        } else {
            assert_int_equal(try_reserve(ledger, poisson(sigma * 0.98, 2000), NULL), DP_EPRIVACY);
            assert_ok(try_reserve(ledger, poisson(sigma, 2000), &err), err.text);
        }
        dp_ledger_close(ledger);
    }
}

static void a_refusal_of_several_or_of_everything_has_a_remedy(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(0.5);
    const dp_mechanism list[] = {gaussian(1, 1), poisson(1, 1)};
    const dp_spending what = {.data = "d", .list = list, .n = 2};
    dp_reservation *r;
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EPRIVACY, &err, "more noise");
    assert_fails(try_reserve(ledger, gaussian(1, 1), &err), DP_EPRIVACY, &err, "would fit: sigma");
    dp_ledger_close(ledger);
}

static void settling_lowers_only_to_what_was_begun(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    const dp_mechanism list[] = {gaussian(50, 8)};
    dp_reservation *r = reserve(ledger, list[0]);
    dp_interval epsilon;
    double whole = spent(ledger);
    assert_fails(dp_reservation_settle(r, (const uint64_t[]){9}, &err), DP_EINVAL, &err,
                 "lowers only");
    assert_true(spent(ledger) == whole);
    assert_ok(dp_reservation_settle(r, (const uint64_t[]){3}, &err), err.text);
    assert_fails(dp_reservation_settle(r, (const uint64_t[]){1}, &err), DP_ESTATE, &err, "already");
    assert_ok(dpi_reservation_finish(r, &err), err.text);
    dp_reservation_free(r);
    const dp_mechanism three = gaussian(50, 3);
    assert_ok(dp_account_epsilon(&three, 1, 1e-6, 0, &epsilon, &err), err.text);
    assert_close(spent(ledger), epsilon.upper, 1e-3, 0);
    r = reserve(ledger, gaussian(50, 8));
    assert_ok(dp_reservation_settle(r, (const uint64_t[]){0}, &err), err.text);
    dp_reservation_free(r);
    assert_close(spent(ledger), epsilon.upper, 1e-3, 0);
    dp_reservation_free(reserve(ledger, gaussian(50, 8))); /* not settled: all of it stays */
    assert_true(spent(ledger) > whole);
    dp_reservation_free(NULL);
    dp_ledger_close(ledger);
}

static void begun_epochs_count_whole(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    const dp_ledger_statement *s;
    const dp_mechanism m = {
        .sampling = DP_SAMPLING_ALLOCATION, .sigma = 20, .rate = 0.1, .epoch = 10, .steps = 40};
    dp_reservation *r = reserve(ledger, m);
    assert_ok(dp_reservation_settle(r, (const uint64_t[]){11}, &err), err.text);
    dp_reservation_free(r);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    assert_int_equal(s->data[0].entries[0].list[0].steps, 20);
    assert_int_equal(s->data[0].entries[0].begun[0], 20);
    assert_int_equal(s->data[0].entries[0].planned[0], 40);
    assert_true(s->data[0].entries[0].settled > 0);
    dp_ledger_statement_free(s);
    /* Halves of two epochs are not one: a record may be in both. */
    const dp_mechanism half = {
        .sampling = DP_SAMPLING_ALLOCATION, .sigma = 20, .rate = 0.1, .epoch = 10, .steps = 5};
    const dp_mechanism halves[] = {half, half};
    const dp_spending what = {.data = "d", .list = halves, .n = 2};
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EDOMAIN, &err, "whole epochs");
    dp_ledger_close(ledger);
}

static void neighbours_are_those_of_the_budget(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    const dp_mechanism fixed = {
        .sampling = DP_SAMPLING_FIXED, .sigma = 20, .rate = 0.1, .steps = 4};
    dp_mechanism allocation = {
        .sampling = DP_SAMPLING_ALLOCATION, .sigma = 20, .rate = 0.1, .epoch = 10, .steps = 40};
    dp_mechanism other = gaussian(50, 3);
    other.adjacency = DP_REPLACE_ONE;
    assert_fails(try_reserve(ledger, fixed, &err), DP_EMISMATCH, &err, "use Poisson sampling");
    assert_fails(try_reserve(ledger, other, &err), DP_EMISMATCH, &err, "replace one");
    /* In a budget for replacing one, a full batch is accounted for twice the norm. */
    folder_write("second.csv", "x\n9\n");
    const dp_ledger_source second = {.path = folder_path("second.csv")};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_REPLACE_ONE};
    assert_ok(dp_ledger_add_data(ledger, "r", &second, &budget, &err), err.text);
    dp_reservation *r;
    const dp_mechanism full = gaussian(50, 3);
    dp_spending what = {.data = "r", .list = &full, .n = 1};
    dp_interval half, whole;
    const dp_mechanism twice = gaussian(25, 3);
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    assert_ok(dp_ledger_spent(ledger, "r", &whole, &err), err.text);
    assert_ok(dp_account_epsilon(&twice, 1, 1e-6, 0, &half, &err), err.text);
    assert_close(whole.upper, half.upper, 1e-3, 0);
    what.list = &allocation;
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EMISMATCH, &err, "fixed-size");
    what.list = &fixed;
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    dp_reservation_free(r);
    what.list = &full;
    what.unit = "person";
    assert_fails(dp_ledger_reserve(ledger, &what, &r, &err), DP_EMISMATCH, &err, "person");
    dp_ledger_close(ledger);
}

static void what_is_asked_is_checked(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    dp_reservation *r;
    const dp_mechanism good = gaussian(50, 3), none = gaussian(50, 0), worst = gaussian(-1, 1);
    const dp_spending bad[] = {
        {.list = &good, .n = 1},
        {.data = "d", .n = 1},
        {.data = "d", .list = &good, .n = 0},
        {.data = "d", .list = &good, .n = 1, .label = "a\nb"},
        {.data = "d", .list = &good, .n = 1, .columns = ""},
        {.data = "d", .list = &none, .n = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(dp_ledger_reserve(ledger, &bad[i], &r, NULL), DP_EINVAL);
    assert_int_equal(try_reserve(ledger, worst, NULL), DP_EDOMAIN);
    const dp_spending away = {.data = "e", .list = &good, .n = 1};
    assert_fails(dp_ledger_reserve(ledger, &away, &r, &err), DP_ENAME, &err, "'e'");
    assert_true(spent(ledger) == 0);
    dp_ledger_close(ledger);
}

/* Names of the greatest length leave the remedy its room. */
static void long_names_do_not_displace_the_remedy(void **state)
{
    (void)state;
    dp_error err = {0};
    char name[DPI_MOST_NAME + 1], unit[DPI_MOST_NAME + 1];
    dp_reservation *r;
    dp_ledger *ledger = folder_ledger(2);
    memset(name, 'n', DPI_MOST_NAME);
    memset(unit, 'u', DPI_MOST_NAME);
    name[DPI_MOST_NAME] = unit[DPI_MOST_NAME] = 0;
    folder_write("long.csv", "x\n9\n");
    const dp_ledger_source source = {.path = folder_path("long.csv")};
    const dp_budget budget = {
        .epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE, .unit = unit};
    assert_ok(dp_ledger_add_data(ledger, name, &source, &budget, &err), err.text);
    const dp_mechanism loud = gaussian(1, 100),
                       fixed = {
                           .sampling = DP_SAMPLING_FIXED, .sigma = 20, .rate = 0.1, .steps = 4};
    dpi_purpose what = {.spending = {.data = name, .unit = name, .list = &loud, .n = 1}};
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_EMISMATCH, &err,
                 "set the same unit column");
    what.spending.unit = unit;
    what.tells_size = true;
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_EMISMATCH, &err, "DP_REPLACE_ONE");
    what.tells_size = false;
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_EPRIVACY, &err, "for all 100 steps");
    what.spending.list = &fixed;
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_EMISMATCH, &err, "or full batches");
    const dp_mechanism quiet = gaussian(100, 3);
    what.spending.list = &quiet;
    folder_write("long.csv", "x\n8\n");
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_EDATA, &err, "tacit ledger update");
    what.spending.data = unit;
    assert_fails(dpi_reserve(ledger, &what, &r, &err), DP_ENAME, &err, "dp_ledger_add_data");
    dp_ledger_close(ledger);
}

/* begun, reserved of entry 1. */
static void entry_is(dp_ledger *ledger, uint64_t begun, uint64_t reserved)
{
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    assert_int_equal(s->data[0].entries[0].begun[0], begun);
    assert_int_equal(s->data[0].entries[0].list[0].steps, reserved);
    dp_ledger_statement_free(s);
}

static dp_status again(dp_ledger *ledger, uint64_t id, uint64_t remaining, uint64_t *begun,
                       dp_reservation **r, dp_error *err)
{
    const uint64_t done = 40;
    const dp_mechanism m = gaussian(100, 100);
    const dpi_purpose same = {.spending = {.list = &m, .n = 1}};
    const dpi_resumption entry = {.id = id, .n = 1, .done = &done, .remaining = &remaining};
    return dpi_reserve_again(ledger, &entry, &same, begun, r, err);
}

static dp_status mark(dp_reservation *r, uint64_t begun, dp_error *err)
{
    return dpi_reservation_mark(r, &begun, err);
}

/* A run of 100 steps, saved at 40: an orderly stop costs nothing, a second resumption what the
 * first has begun, and the one before may not go on. */
static void taking_over_counts_every_step_once(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    dp_reservation *first = reserve(ledger, gaussian(100, 100)), *second, *third;
    uint64_t begun;
    entry_is(ledger, 100, 100);
    assert_ok(mark(first, 40, &err), err.text);
    assert_ok(again(ledger, 1, 60, &begun, &second, &err), err.text);
    assert_int_equal(begun, 40);
    entry_is(ledger, 40, 100);
    assert_fails(mark(first, 50, &err), DP_EPRIVACY, &err, "resumed elsewhere");
    assert_fails(dp_reservation_settle(first, (const uint64_t[]){1}, &err), DP_EPRIVACY, &err,
                 "elsewhere");
    assert_ok(mark(second, 70, &err), err.text);
    assert_ok(again(ledger, 1, 60, &begun, &third, &err), err.text);
    assert_int_equal(begun, 70);
    entry_is(ledger, 70, 130);
    assert_fails(mark(third, 131, &err), DP_EPRIVACY, &err, "130 steps");
    assert_ok(dpi_reservation_finish(third, &err), err.text);
    entry_is(ledger, 130, 130);
    dp_reservation_free(first);
    dp_reservation_free(second);
    dp_reservation_free(third);
    assert_fails(again(ledger, 1, 1000000, &begun, &third, &err), DP_EPRIVACY, &err, "would fit");
    assert_null(third);
    entry_is(ledger, 130, 130);
    assert_fails(again(ledger, 2, 1, &begun, &third, &err), DP_EDATA, &err, "older");
    assert_fails(again(ledger, 1, UINT64_MAX, &begun, &third, &err), DP_EDATA, &err, "damaged");
    dp_ledger_close(ledger);
}

/* By the public call: nothing more is reserved, and who had it before may settle it no more. */
static void what_is_taken_over_stays_as_it_is(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    const dp_mechanism m = gaussian(100, 100), other = gaussian(90, 100);
    dp_spending what = {.data = "d", .list = &m, .n = 1};
    dp_reservation *first = reserve(ledger, m), *second = NULL;
    assert_ok(dp_ledger_take_over(ledger, 1, &what, &second, &err), err.text);
    entry_is(ledger, 100, 100);
    assert_fails(dp_reservation_settle(first, (const uint64_t[]){0}, &err), DP_EPRIVACY, &err,
                 "elsewhere");
    assert_ok(dp_reservation_settle(second, (const uint64_t[]){100}, &err), err.text);
    dp_reservation_free(first);
    dp_reservation_free(second);
    assert_ok(dp_ledger_take_over(ledger, 1, &what, &second, &err), err.text); /* of one settled */
    entry_is(ledger, 100, 100);
    dp_reservation_free(second);
    what.list = &other;
    assert_fails(dp_ledger_take_over(ledger, 1, &what, &second, &err), DP_EMISMATCH, &err, "");
    assert_null(second);
    what.list = &m;
    assert_fails(dp_ledger_take_over(ledger, 2, &what, &second, &err), DP_EDATA, &err, "older");
    what.n = 0;
    assert_fails(dp_ledger_take_over(ledger, 1, &what, &second, &err), DP_EINVAL, &err, "list");
    dp_ledger_close(ledger);
}

/* Eight processes want what fits three times. */
static void processes_at_once_cannot_overspend(void **state)
{
    (void)state;
    enum { PROCESSES = 8, FIT = 3 };
    pid_t child[PROCESSES];
    int granted = 0;
    dp_error err = {0};
    double three;
    const dp_mechanism all = gaussian(100, 3 * 50);
    assert_ok(dp_epsilon(&all, 1e-6, &three, &err), err.text);
    dp_ledger_close(folder_ledger(three * 1.01));
    (void)fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            dp_ledger *ledger;
            dp_reservation *r;
            const dp_mechanism m = gaussian(100, 50);
            const dp_spending what = {.data = "d", .list = &m, .n = 1};
            dp_status status = dp_ledger_open(folder_path("ledger"), &ledger, NULL);
            if (status == DP_OK)
                status = dp_ledger_reserve(ledger, &what, &r, NULL);
            _exit(status == DP_OK ? 0 : status == DP_EPRIVACY ? 1 : 2);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int ended;
        assert_int_equal(waitpid(child[i], &ended, 0), child[i]);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) < 2);
        granted += WEXITSTATUS(ended) == 0;
    }
    assert_int_equal(granted, FIT);
}

/* Everything once, with allocation k of the library's own failing: no leak, and no reservation
 * whose success was not told. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    size_t k = 0;
    bool failed;
    dp_ledger *ledger = folder_ledger(2);
    dp_ledger_close(ledger);
    size_t live = faulty_live(), granted = 0;
    const dp_mechanism m = gaussian(400, 8);
    const dp_spending what = {.data = "d", .label = "l", .list = &m, .n = 1};
    do {
        dp_error err = {0};
        dp_reservation *r = NULL;
        const dp_ledger_statement *s = NULL;
        dp_interval epsilon;
        size_t faults;
        dp_status status = DP_OK;
        faulty_fail(++k);
        status = dp_ledger_open(folder_path("ledger"), &ledger, &err);
        if (status == DP_OK)
            status = dp_ledger_reserve(ledger, &what, &r, &err);
        granted += r != NULL;
        if (status == DP_OK)
            status = dp_reservation_settle(r, (const uint64_t[]){1}, &err);
        if (status == DP_OK)
            status = dp_ledger_spent(ledger, "d", &epsilon, &err);
        if (status == DP_OK)
            status = dp_ledger_read(ledger, &s, &err);
        if (status == DP_OK)
            status = dp_ledger_check(ledger, NULL, &faults, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_ledger_statement_free(s);
        dp_reservation_free(r);
        dp_ledger_close(ledger);
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 10 && k < 1000);
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    assert_int_equal(s->data[0].n, granted);
    dp_ledger_statement_free(s);
    dp_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_compose_through_the_accountant),
        cmocka_unit_test(delta_covers_failures_of_the_sampler),
        cmocka_unit_test(a_run_calibrated_to_the_budget_fits),
        cmocka_unit_test(a_refusal_says_what_would_fit),
        cmocka_unit_test(a_refusal_of_several_or_of_everything_has_a_remedy),
        cmocka_unit_test(settling_lowers_only_to_what_was_begun),
        cmocka_unit_test(begun_epochs_count_whole),
        cmocka_unit_test(neighbours_are_those_of_the_budget),
        cmocka_unit_test(what_is_asked_is_checked),
        cmocka_unit_test(long_names_do_not_displace_the_remedy),
        cmocka_unit_test(taking_over_counts_every_step_once),
        cmocka_unit_test(what_is_taken_over_stays_as_it_is),
        cmocka_unit_test(processes_at_once_cannot_overspend),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests_name("reserve", tests, folder_make, folder_remove);
}
