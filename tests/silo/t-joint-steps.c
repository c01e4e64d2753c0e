/* Models over several owners that are fitted by noisy steps: all get the same fit, also where a run
 * has ended early and goes on, and each sum is opened, and paid for, once. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tacit/fit.h>
#include <tacit/ledger.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/joint.h"

static joint j;

static dp_model *network(size_t units)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "W", PLANS_X, units, dp_init_glorot(1));
    dp_expr to = dp_dense(dp_data(rows, "x", PLANS_X), w, dp_param(m, "b", units, 0));
    dp_observe(rows, "y", dp_normal_v(units > 1 ? dp_sum(to) : to, dp_num(0.5)));
    return m;
}

static int set_up(dp_model *model)
{
    plans_make(&j.p);
    dp_model_free(j.p.model);
    j.p.opts.model = j.p.model = model;
    j.p.opts.source = NULL;
    j.p.opts.rounds = j.p.opts.draws = 0;
    joint_begin(&j);
    return 0;
}

static int with_network(void **state)
{
    (void)state;
    return set_up(network(1));
}

/* No journal holds its steps. */
static int with_wide_network(void **state)
{
    (void)state;
    return set_up(network((1 << 16) / PLANS_X + 1));
}

static int with_latents(void **state)
{
    (void)state;
    return set_up(plans_latents());
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

static void all_have_the_same_network(void **state)
{
    static const joint_owner everybody[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};
    dp_error err = {0};
    dp_fit *fit = NULL;
    double w[PLANS_X];
    (void)state;
    assert_int_equal(j.planned, 545);
    joint_run(&j, everybody);
    joint_same(&j);
    assert_ok(dp_fit_load(joint_path("fit", 1), &fit, &err), err.text);
    assert_ok(dp_fit_parameter(fit, "W", PLANS_X, w, &err), err.text);
    assert_float_equal(w[0], 1.2385, 0.2); /* what the records were drawn with */
    assert_float_equal(w[1], -0.7121, 0.2);
    dp_fit_free(fit);
}

/* ---- what ends early ---- */

enum { POINTS = 4 };

/* The number, a norm, a step, and the last one. */
static const uint64_t points[POINTS] = {1, 20, 40, 545};

static void whoever_is_killed_goes_on(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS; p++) {
        joint_owner owners[PLANS_OWNERS] = {{.k = 0}};
        owners[p % PLANS_OWNERS].kill_at = points[p];
        joint_run_paid(&j, owners);
        joint_clear();
    }
}

static void all_may_be_stopped(void **state)
{
    joint_owner owners[PLANS_OWNERS] = {{.stop_at = 2}, {.stop_at = 100}, {.stop_at = 543}};
    (void)state;
    joint_run_paid(&j, owners);
    joint_clear();
}

/* Between the opening of a sum and its line in the journal: the sum is opened again, as it was. */
static void what_was_opened_and_not_kept_is_opened_as_it_was(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS - 1; p++) {
        joint_owner owners[PLANS_OWNERS] = {{.k = 0}};
        owners[(p + 1) % PLANS_OWNERS].jam_at = points[p];
        joint_run_paid(&j, owners);
        joint_clear();
    }
}

/* Entries of owner k's ledger. */
static size_t entries_of(size_t k)
{
    dp_ledger *ledger = NULL;
    const dp_ledger_statement *all;
    dp_error err = {0};
    assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
    assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
    size_t n = all->data[0].n;
    dp_ledger_statement_free(all);
    dp_ledger_close(ledger);
    return n;
}

/* Who has lost the journal, and not the state of the rounds, would open with other noise; it is
 * told before it pays once more. */
static void who_lost_the_journal_opens_nothing(void **state)
{
    static const joint_owner cut[PLANS_OWNERS] = {{.k = 0, .patience_ms = 3000},
                                                  {.k = 1, .kill_at = 40, .pays = true},
                                                  {.k = 2, .patience_ms = 3000}},
                             again = {.k = 1, .patience_ms = 3000, .pays = true};
    pid_t process[PLANS_OWNERS];
    char path[300];
    size_t n;
    (void)state;
    joint_make_ledgers(&j);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &cut[k]);
    assert_int_equal(joint_wait(process[1]), JOINT_KILLED);
    assert_int_equal(joint_wait(process[0]), DP_ETIMEOUT);
    assert_int_equal(joint_wait(process[2]), DP_ETIMEOUT);
    size_t letters = joint_letters();
    (void)snprintf(path, sizeof path, "%s/journal", joint_path("state", 1));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(entries_of(1), 1);
    assert_int_equal(joint_wait(joint_start(&j, &again)), DP_EPRIVACY);
    assert_contains((const char *)joint_load("message", 1, 0, &n), "cannot be begun again");
    assert_int_equal(entries_of(1), 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(joint_letters(), letters);
}

/* What keeps no journal would pay all once more at each attempt, were it paid before owners
 * meet. */
static void a_wide_network_is_paid_for_when_all_are_there(void **state)
{
    static const joint_owner alone = {.k = 1, .patience_ms = 500, .pays = true};
    (void)state;
    joint_make_ledgers(&j);
    assert_int_equal(joint_wait(joint_start(&j, &alone)), DP_ETIMEOUT);
    assert_int_equal(entries_of(1), 0);
}

/* Sums without noise under a key are kept as they are opened, and a run goes on from them.  Takes a
 * minute, and 200 MB of letters: with EVERYWHERE in the environment alone. */
static void without_noise_a_run_that_was_cut_off_goes_on(void **state)
{
    pid_t process[PLANS_OWNERS];
    const joint_owner owners[PLANS_OWNERS] = {
        {.k = 0, .audited = true}, {.k = 1, .audited = true}, {.k = 2, .audited = true}};
    size_t n, m;
    (void)state;
    if (getenv("EVERYWHERE") == NULL)
        skip();
    dp_silo_plan_free(j.plan);
    j.p.opts.scheme = "fedsgd+he";
    j.p.opts.epsilon = j.p.opts.delta = 0;
    j.plan = plans_plan(&j.p, 7);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &owners[k]);
    while (joint_letters() < 100)
        pause_for(1);
    assert_int_equal(kill(process[1], SIGKILL), 0);
    assert_int_equal(joint_wait(process[1]), JOINT_KILLED);
    process[1] = joint_start(&j, &owners[1]);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), DP_OK);
    for (size_t k = 1; k < PLANS_OWNERS; k++) {
        const unsigned char *first = joint_load("fit", 0, 0, &n),
                            *fit = joint_load("fit", k, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(first, fit, n);
    }
}

#define ONE(test, set_up) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(all_have_the_same_network, with_network),
        ONE(whoever_is_killed_goes_on, with_network),
        ONE(whoever_is_killed_goes_on, with_latents),
        ONE(all_may_be_stopped, with_latents),
        ONE(what_was_opened_and_not_kept_is_opened_as_it_was, with_latents),
        ONE(who_lost_the_journal_opens_nothing, with_network),
        ONE(a_wide_network_is_paid_for_when_all_are_there, with_wide_network),
        ONE(without_noise_a_run_that_was_cut_off_goes_on, with_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
