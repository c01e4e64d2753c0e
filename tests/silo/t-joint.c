/* Fits over several owners: all get the same one, and nothing leaves where something forbids it. */
#define _DEFAULT_SOURCE
#include "tests/silo/joint.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "silo/plan.h"
#include "tests/lib/check.h"

static joint j;

static const joint_owner everybody[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

static void three_owners_reach_equal_fits(void **state)
{
    (void)state;
    joint_run(&j, everybody);
    joint_same(&j);
}

/* What an owner's log has of the others: it sends as much as it is sent, all told. */
static void logs_agree(void **state)
{
    static const joint_owner owners[] = {
        {.k = 0, .audited = true}, {.k = 1, .audited = true}, {.k = 2, .audited = true}};
    dp_silo_audit of[PLANS_OWNERS];
    unsigned char hash[DP_SILO_HASH];
    dp_error err = {0};
    size_t letters = 0;
    (void)state;
    joint_run(&j, owners);
    joint_same(&j);
    dp_silo_plan_hash(j.plan, hash);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        assert_ok(dp_silo_audit_check(joint_path("audit", k), hash, &of[k], &err), err.text);
        assert_true(of[k].runs == 1 && of[k].torn == 0 && of[k].n_peers == 2);
        assert_string_equal(of[k].outcome, "DP_OK");
    }
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        for (size_t i = 0; i < 2; i++) {
            const dp_silo_audit_peer *mine = &of[k].peers[i], *theirs = NULL;
            for (size_t l = 0; l < PLANS_OWNERS; l++)
                if (strcmp(mine->name, j.p.owners[l].name) == 0)
                    for (size_t m = 0; m < 2; m++)
                        if (strcmp(of[l].peers[m].name, j.p.owners[k].name) == 0)
                            theirs = &of[l].peers[m];
            assert_non_null(theirs);
            assert_true(mine->sent == theirs->got && mine->sent_bytes == theirs->got_bytes);
            assert_true(mine->sent > j.planned);
            letters += mine->sent;
        }
    /* A run's key is one letter to two. */
    assert_int_equal(letters, joint_letters() + PLANS_OWNERS);
}

static void in_state(char path[300], const char *name)
{
    (void)snprintf(path, 300, "%s/%s", joint_path("state", 1), name);
}

static void leave(const char *name)
{
    char path[300];
    in_state(path, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

/* A file, and then the folder, which must be empty. */
static void take_away(const char *name)
{
    char path[300];
    in_state(path, name);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(joint_path("state", 1)), 0);
}

static void a_run_that_has_ended_gives_its_fit_again(void **state)
{
    size_t n, m;
    (void)state;
    joint_run(&j, everybody);
    const unsigned char *first = joint_load("fit", 1, 0, &n);
    for (size_t k = 0; k < PLANS_OWNERS; k++) { /* nobody answers, and nobody is asked */
        pid_t alone = joint_start(&j, &everybody[k]);
        assert_int_equal(joint_wait(alone), DP_OK);
        const unsigned char *again = joint_load("fit", k, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(first, again, n);
    }
    leave("run.new-a7Xcz1"); /* as a process that is killed while it writes its state */
    leave("run.backup");
    dp_silo_forget(joint_path("state", 1));
    assert_int_equal(access(joint_path("state", 1), F_OK), 0);
    take_away("run.backup"); /* which is nobody's of these, and all that there was */
    assert_int_equal(access(joint_path("state", 1), F_OK), -1);
    assert_int_equal(joint_wait(joint_start(&j, &everybody[1])), DP_ESTATE);
    assert_non_null(strstr((const char *)joint_load("message", 1, 0, &n), "begun this run before"));
}

static void each_ledger_pays_once(void **state)
{
    static const joint_owner owners[] = {
        {.k = 0, .pays = true}, {.k = 1, .pays = true}, {.k = 2, .pays = true}};
    dp_error err = {0};
    (void)state;
    joint_make_ledgers(&j);
    joint_run(&j, owners);
    joint_same(&j);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        dp_ledger *ledger = NULL;
        dp_interval spent;
        assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
        assert_true(spent.upper <= 4 && spent.upper > 3.9);
        dp_ledger_close(ledger);
    }
    joint_clear();
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        assert_int_equal(joint_wait(joint_start(&j, &owners[k])), DP_EPRIVACY);
        assert_int_equal(joint_letters(), 0);
    }
}

static void who_is_not_there_is_named(void **state)
{
    static const joint_owner hasty = {.k = 0, .patience_ms = 200};
    size_t n;
    (void)state;
    assert_int_equal(joint_wait(joint_start(&j, &hasty)), DP_ETIMEOUT);
    assert_non_null(strstr((const char *)joint_load("message", 0, 0, &n), "west has not begun"));
    joint_run(&j, everybody); /* and it can go on when they are */
    joint_same(&j);
}

/* ---- what is kept ---- */

static dp_silo_kept look(const dp_silo_plan *plan, size_t k)
{
    dp_silo_kept kept;
    dp_error err = {0};
    assert_ok(dp_silo_look(plan, joint_path("state", k), &kept, &err), err.text);
    return kept;
}

static void refuses_to_look(const dp_silo_plan *plan, dp_status expected, const char *why)
{
    dp_silo_kept kept;
    dp_error err = {0};
    assert_fails(dp_silo_look(plan, joint_path("state", 1), &kept, &err), expected, &err, why);
    assert_true(kept.keeps && !kept.begun && kept.sums == 0);
}

/* By what is there of this plan, and not by any file. */
static void a_state_tells_of_its_own_run_alone(void **state)
{
    static const joint_owner owners[] = {{.k = 0}, {.k = 1, .stop_at = 5}, {.k = 2}};
    char file[300];
    pid_t process[PLANS_OWNERS];
    (void)state;
    assert_false(look(j.plan, 1).begun);
    assert_int_equal(mkdir(joint_path("state", 1), 0700), 0);
    (void)snprintf(file, sizeof file, "%s/notes", joint_path("state", 1));
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_false(look(j.plan, 1).begun);
    assert_int_equal(look(j.plan, 1).planned, j.planned);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        joint_owner o = owners[k];
        o.patience_ms = 1000;
        process[k] = joint_start(&j, &o);
    }
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), k == 1 ? DP_ESTOPPED : DP_ETIMEOUT);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const dp_silo_kept kept = look(j.plan, k);
        assert_true(kept.keeps && kept.begun && kept.owner == k && kept.changed > 1700000000);
        assert_in_range(kept.sums, k == 1 ? 5 : 6, 6);
    }
    j.p.opts.name = "another";
    dp_silo_plan *other = plans_plan(&j.p, 0);
    refuses_to_look(other, DP_ESTATE, "of another plan");
    dp_silo_plan_free(other);
    (void)snprintf(file, sizeof file, "%s/run", joint_path("state", 1));
    assert_int_equal(chmod(file, 0644), 0);
    refuses_to_look(j.plan, DP_EPRIVACY, "others may read");
    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(truncate(file, 100), 0);
    refuses_to_look(j.plan, DP_EDATA, "damaged");
    dp_silo_forget(joint_path("state", 1));
    assert_false(look(j.plan, 1).begun);
}

/* ---- without noise ---- */

/* Who has ended, and left a key for the others, is not said to be able to go on. */
static void what_keeps_nothing_does_not_go_on(void **state)
{
    static const joint_owner hasty[] = {{.k = 0, .patience_ms = 1500},
                                        {.k = 1, .patience_ms = 1500}};
    size_t n;
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts.scheme = "fedsgd";
    j.p.opts.epsilon = j.p.opts.delta = 0;
    j.plan = plans_plan(&j.p, 7);
    pid_t gone = joint_start(&j, &everybody[2]);
    while (joint_letters() == 0)
        (void)usleep(1000);
    assert_int_equal(kill(gone, SIGKILL), 0);
    assert_int_equal(joint_wait(gone), JOINT_KILLED);
    pid_t first = joint_start(&j, &hasty[0]), second = joint_start(&j, &hasty[1]);
    assert_int_equal(joint_wait(first), DP_ETIMEOUT);
    assert_int_equal(joint_wait(second), DP_ETIMEOUT);
    const char *said = (const char *)joint_load("message", 0, 0, &n);
    assert_contains(said, "north");
    assert_contains(said, "nothing is kept of this run");
    assert_null(strstr(said, "goes on"));
    assert_false(look(j.plan, 0).keeps || look(j.plan, 0).begun);
}

/* Owner 0 alone, with the records of all, has the fit of all three. */
static void without_noise_it_is_the_fit_of_all_records(void **state)
{
    size_t n, m;
    dp_silo_plan *plan = NULL;
    dp_fit *fit = NULL;
    dp_error err = {0};
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts.scheme = "fedsgd";
    j.p.opts.epsilon = j.p.opts.delta = 0;
    j.plan = plans_plan(&j.p, 7);
    joint_run(&j, everybody);
    const unsigned char *together = joint_load("fit", 0, 0, &n);
    for (size_t k = 1; k < PLANS_OWNERS; k++) {
        const unsigned char *other = joint_load("fit", k, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(together, other, n);
    }
    assert_int_equal(access(joint_path("state", 0), F_OK), -1); /* nothing is kept */
    dp_silo_opts o = j.p.opts;
    o.n_owners = 1;
    assert_ok(dp_silo_plan_new(&o, &plan, &err), err.text);
    assert_ok(dp_silo_plan_sign(plan, j.p.keys[0], &err), err.text);
    dp_dataset *all = dp_dataset_new(PLANS_OWNERS * PLANS_RECORDS);
    dp_dataset_real(all, "x", PLANS_X, j.p.x[0]);
    dp_dataset_real(all, "y", 1, j.p.y[0]);
    const dp_silo_run_opts opts = joint_opts(&j, 0);
    assert_ok(dp_silo_run(plan, j.p.model, all, &opts, &fit, &err), err.text);
    assert_ok(dp_fit_save(fit, joint_path("alone", 0), &err), err.text);
    const unsigned char *alone = joint_load("alone", 0, 1, &m);
    assert_int_equal(n, m);
    assert_memory_equal(together, alone, n);
    dp_dataset_free(all);
    dp_fit_free(fit);
    dp_silo_plan_free(plan);
}

/* ---- refusals ---- */

typedef struct attempt {
    const dp_silo_plan *plan;
    const dp_model *model;
    dp_dataset *data;
    dp_silo_run_opts opts;
} attempt;

static attempt usual(void)
{
    return (attempt){
        .plan = j.plan, .model = j.p.model, .data = plans_data(&j.p, 0), .opts = joint_opts(&j, 0)};
}

/* It is refused, and not a byte has left. */
static void refused(attempt a, dp_status expected, const char *why)
{
    dp_fit *fit;
    dp_error err = {0};
    a.opts.patience_ms = 100;
    assert_fails(dp_silo_run(a.plan, a.model, a.data, &a.opts, &fit, &err), expected, &err, why);
    assert_null(fit);
    assert_int_equal(joint_letters(), 0);
    dp_dataset_free(a.data);
}

static void what_is_not_refused_leaves(void **state)
{
    attempt a = usual();
    dp_fit *fit;
    dp_error err = {0};
    (void)state;
    a.opts.patience_ms = 100;
    assert_fails(dp_silo_run(a.plan, a.model, a.data, &a.opts, &fit, &err), DP_ETIMEOUT, &err, "");
    assert_int_equal(joint_letters(), 1);
    dp_dataset_free(a.data);
}

static void all_must_have_signed(void **state)
{
    (void)state;
    for (unsigned signers = 0; signers < 7; signers++) {
        dp_silo_plan *plan = plans_plan(&j.p, signers);
        attempt a = usual();
        a.plan = plan;
        refused(a, DP_EPRIVACY, "has not signed the plan");
        dp_silo_plan_free(plan);
    }
}

static void who_is_in_no_plan_runs_none(void **state)
{
    attempt a = usual();
    (void)state;
    a.opts.key = j.p.keys[3];
    refused(a, DP_ENAME, "none of the plan's owners");
}

static void another_model_is_refused(void **state)
{
    dp_model *model = plans_model(2.5);
    attempt a = usual();
    (void)state;
    a.model = model;
    refused(a, DP_EMISMATCH, "not the one of the plan");
    dp_model_free(model);
    j.plan->openings[0].times++; /* as another version would have it */
    refused(usual(), DP_EMISMATCH, "other sums than the plan says");
    j.plan->openings[0].times--;
    j.plan->openings[1].sigma *= 1 + 1e-15;
    refused(usual(), DP_EMISMATCH, "other sums than the plan says");
}

static void the_policy_is_asked(void **state)
{
    const char *path = joint_path("policy", 0);
    attempt a = usual();
    (void)state;
    a.opts.policy = path;
    refused(a, DP_EIO, "cannot open");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    (void)fputs("schemes = secagg+dp\nepsilon = 3.9\ndelta = 1\nowners = 3\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0600), 0);
    a = usual();
    a.opts.policy = path;
    refused(a, DP_EPRIVACY, "its epsilon is larger");
}

static void a_mailbox_that_is_not_there_is_refused(void **state)
{
    attempt a = usual();
    (void)state;
    a.opts.mailbox = joint_path("nowhere", 0);
    refused(a, DP_EIO, "no folder");
}

static void records_that_do_not_fit_stay(void **state)
{
    attempt a = usual();
    dp_dataset *more;
    static double x[PLANS_X * 1001], y[1001];
    (void)state;
    dp_dataset_free(a.data);
    a.data = dp_dataset_new(PLANS_RECORDS);
    dp_dataset_real(a.data, "x", PLANS_X, j.p.x[0]);
    refused(a, DP_ENAME, "no column 'y'");
    joint_clear();
    a = usual();
    dp_dataset_free(a.data);
    more = a.data = dp_dataset_new(1001);
    dp_dataset_real(more, "x", PLANS_X, x);
    dp_dataset_real(more, "y", 1, y);
    refused(a, DP_EDATA, "more records than the plan allows");
}

static void a_state_is_of_one_plan_and_of_its_owner(void **state)
{
    attempt a = usual();
    dp_silo_plan *other;
    (void)state;
    assert_int_equal(mkdir(joint_path("state", 0), 0700), 0);
    assert_int_equal(chmod(joint_path("state", 0), 0750), 0);
    refused(a, DP_EPRIVACY, "others may look into");
    assert_int_equal(chmod(joint_path("state", 0), 0700), 0);
    a = usual();
    dp_dataset_free(a.data);
    a.data = dp_dataset_new(PLANS_RECORDS); /* the state is made, and no more */
    refused(a, DP_ENAME, "no column");
    j.p.opts.seed++;
    other = plans_plan(&j.p, 7);
    a = usual();
    a.plan = other;
    refused(a, DP_ESTATE, "of another plan");
    dp_silo_plan_free(other);
}

static void a_log_is_of_one_plan(void **state)
{
    attempt a = usual();
    (void)state;
    a.opts.audit = joint_path("audit", 0);
    FILE *f = fopen(a.opts.audit, "wb");
    assert_non_null(f);
    (void)fputs("hello\n", f);
    assert_int_equal(fclose(f), 0);
    refused(a, DP_EDATA, "no line of a log");
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(three_owners_reach_equal_fits),
        ONE(logs_agree),
        ONE(a_run_that_has_ended_gives_its_fit_again),
        ONE(each_ledger_pays_once),
        ONE(who_is_not_there_is_named),
        ONE(a_state_tells_of_its_own_run_alone),
        ONE(what_keeps_nothing_does_not_go_on),
        ONE(without_noise_it_is_the_fit_of_all_records),
        ONE(what_is_not_refused_leaves),
        ONE(all_must_have_signed),
        ONE(who_is_in_no_plan_runs_none),
        ONE(another_model_is_refused),
        ONE(the_policy_is_asked),
        ONE(a_mailbox_that_is_not_there_is_refused),
        ONE(records_that_do_not_fit_stay),
        ONE(a_state_is_of_one_plan_and_of_its_owner),
        ONE(a_log_is_of_one_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
