/* A plan whose first owner is several processes: they have what the others have, and one of them
 * that ends, wherever that is, ends all of the owner's, who go on together from what rank 0 keeps. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/silo/joint.h"
#include "tests/svi/ranks.h"

enum { RANKS = 2, SHARD = PLANS_RECORDS / RANKS };

static joint j;

/* What the owner's processes do: where one of them stops, or is killed. */
typedef struct scene {
    size_t odd;
    uint64_t stop_at, kill_at;
    bool bad_data, refused, pays, other_plan;
    const dp_silo_plan *others; /* in place of the plan, of all ranks but the first */
    dp_status want[RANKS];      /* of each */
} scene;

typedef struct watched {
    const scene *as;
    bool odd;
} watched;

static int watch(void *of, const dp_fit_progress *at)
{
    const watched *w = of;
    if (w->odd && w->as->kill_at > 0 && at->made == w->as->kill_at)
        (void)raise(SIGKILL);
    return w->odd && w->as->stop_at > 0 && at->made == w->as->stop_at;
}

static dp_dataset *shard(size_t rank, bool bad)
{
    static double x[SHARD * PLANS_X];
    dp_dataset *d = dp_dataset_new(SHARD);
    memcpy(x, j.p.x[0] + rank * SHARD * PLANS_X, sizeof x);
    if (bad)
        x[3] = 1.0 / 0.0;
    dp_dataset_real(d, "x", PLANS_X, x);
    dp_dataset_real(d, "y", 1, j.p.y[0] + rank * SHARD);
    return d;
}

/* The same but for its seed. */
static dp_silo_plan *another_plan(void)
{
    j.p.opts.seed = 77;
    return plans_plan(&j.p, (1u << PLANS_OWNERS) - 1);
}

static int act(const dp_group *group, void *of)
{
    const scene *as = of;
    watched w = {as, group->rank == as->odd};
    const bool gate = group->rank == 0;
    dp_silo_run_opts o = gate ? joint_opts(&j, 0) : (dp_silo_run_opts){.hopeless_allowed = true};
    dp_silo_plan *other = as->other_plan && !gate ? another_plan() : NULL;
    const dp_silo_plan *plan = other != NULL ? other : as->others != NULL ? as->others : j.plan;
    dp_dataset *data = shard(group->rank, as->bad_data && w.odd);
    dp_ledger *ledger = NULL;
    dp_fit *fit = NULL;
    dp_error err = {0};
    o.group = group;
    o.watch = watch;
    o.watch_user = &w;
    o.policy = as->refused && gate ? joint_path("policy", 0) : NULL;
    if (as->pays && gate) {
        if (dp_ledger_open(joint_path("ledger", 0), &ledger, &err) != DP_OK)
            return 90;
        o.ledger = ledger;
        o.ledger_data = "records";
    }
    dp_status status = dp_silo_run(gate ? j.plan : plan, j.p.model, data, &o, &fit, &err);
    if (status == DP_OK && dp_fit_save(fit, joint_path(gate ? "fit" : "rank", group->rank), &err))
        return 91;
    dp_fit_free(fit);
    dp_ledger_close(ledger);
    dp_dataset_free(data);
    dp_silo_plan_free(other);
    if (status != as->want[group->rank])
        (void)fprintf(stderr, "rank %zu: %d, %s\n", group->rank, (int)status, err.text);
    return status == as->want[group->rank] ? 0 : 92;
}

static pid_t start(const scene *as)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run_ranks(RANKS, act, (void *)(uintptr_t)as));
    return child;
}

static void others_start(pid_t others[PLANS_OWNERS], bool pay)
{
    for (size_t k = 1; k < PLANS_OWNERS; k++)
        others[k] = joint_start(&j, &(joint_owner){.k = k, .pays = pay});
}

static void same_for_all(pid_t others[PLANS_OWNERS])
{
    size_t n, m;
    for (size_t k = 1; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(others[k]), DP_OK);
    joint_same(&j);
    const unsigned char *first = joint_load("fit", 0, 0, &n);
    const unsigned char *rank = joint_load("rank", 1, 1, &m);
    assert_int_equal(n, m);
    assert_memory_equal(first, rank, n);
    joint_clear();
}

static const scene well = {.odd = RANKS};

/* ---- ---- */

/* It knows the shard of rank 0. */
static void make_ledger(void)
{
    const dp_silo_opts *o = dp_silo_plan_opts(j.plan);
    const dp_budget budget = {.epsilon = o->epsilon, .delta = o->delta, .adjacency = DP_ADD_REMOVE};
    dp_dataset *data = shard(0, false);
    const dp_ledger_source source = {.records = data};
    dp_ledger *ledger = NULL;
    dp_error err = {0};
    assert_int_equal(unlink(joint_path("ledger", 0)), 0);
    assert_ok(dp_ledger_create(joint_path("ledger", 0), &ledger, &err), err.text);
    assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
    dp_ledger_close(ledger);
    dp_dataset_free(data);
}

static void ranks_have_what_other_owners_have(void **state)
{
    pid_t others[PLANS_OWNERS];
    scene pays = well;
    (void)state;
    pays.pays = true;
    joint_make_ledgers(&j);
    make_ledger();
    others_start(others, true);
    assert_int_equal(joint_wait(start(&pays)), 0);
    for (size_t k = 1; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(others[k]), DP_OK);
    joint_same(&j);
    joint_journals(&j);
    joint_ledgers(&j);
    joint_clear();
}

static void ranks_that_end_early_go_on(void **state)
{
    const scene early[] = {
        {.odd = 1, .stop_at = 2, .want = {DP_ESTATE, DP_ESTOPPED}},
        {.odd = 0, .stop_at = 3, .want = {DP_ESTOPPED, DP_ESTATE}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof early / sizeof *early; k++) {
        pid_t others[PLANS_OWNERS];
        others_start(others, false);
        assert_int_equal(joint_wait(start(&early[k])), 0);
        assert_int_equal(joint_wait(start(&well)), 0);
        same_for_all(others);
    }
}

/* A rank that is killed: its group ends all sums. */
static void ranks_of_whom_one_is_killed_go_on(void **state)
{
    const scene early[] = {
        {.odd = 1, .kill_at = 2, .want = {DP_EIO, DP_OK}},
        {.odd = 0, .kill_at = 3, .want = {DP_OK, DP_EIO}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof early / sizeof *early; k++) {
        pid_t others[PLANS_OWNERS];
        others_start(others, false);
        const int how = joint_wait(start(&early[k]));
        assert_true(how == (k == 0 ? 1 : JOINT_KILLED)); /* of the parent, who is rank 0 */
        while (joint_letters() == 0)
            ;
        assert_int_equal(joint_wait(start(&well)), 0);
        same_for_all(others);
    }
}

static void nothing_leaves_where_a_rank_fails_first(void **state)
{
    const scene early[] = {
        {.odd = 1, .bad_data = true, .want = {DP_ESTATE, DP_EDATA}},
        {.odd = 0, .bad_data = true, .want = {DP_EDATA, DP_ESTATE}},
        {.odd = 0, .refused = true, .want = {DP_EPRIVACY, DP_ESTATE}},
        {.odd = RANKS, .other_plan = true, .want = {DP_EMISMATCH, DP_EMISMATCH}},
    };
    FILE *f = fopen(joint_path("policy", 0), "w");
    (void)state;
    assert_non_null(f);
    (void)fputs("schemes = fedsgd\nepsilon = 1\ndelta = 1e-5\nowners = 2\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(joint_path("policy", 0), 0600), 0);
    for (size_t k = 0; k < sizeof early / sizeof *early; k++) {
        assert_int_equal(joint_wait(start(&early[k])), 0);
        assert_int_equal(joint_letters(), 0);
    }
}

static void steps_of_its_own_are_refused(void **state)
{
    dp_silo_plan *plan = NULL, *kept = j.plan;
    dp_silo_opts o = j.p.opts;
    dp_error err = {0};
    const scene refused = {.odd = RANKS, .want = {DP_EUNSUPPORTED, DP_EUNSUPPORTED}};
    (void)state;
    o.scheme = "fedavg";
    o.epsilon = o.delta = 0;
    o.rounds = o.draws = o.colluders = 0;
    o.local_steps = 8;
    assert_ok(dp_silo_plan_new(&o, &plan, &err), err.text);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_ok(dp_silo_plan_sign(plan, j.p.keys[k], &err), err.text);
    j.plan = plan;
    assert_int_equal(joint_wait(start(&refused)), 0);
    assert_int_equal(joint_letters(), 0);
    j.plan = kept;
    const scene by_one = {.odd = RANKS, .others = plan, .want = {DP_ESTATE, DP_EUNSUPPORTED}};
    assert_int_equal(joint_wait(start(&by_one)), 0);
    assert_int_equal(joint_letters(), 0);
    dp_silo_plan_free(plan);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_what_other_owners_have),
        cmocka_unit_test(ranks_that_end_early_go_on),
        cmocka_unit_test(ranks_of_whom_one_is_killed_go_on),
        cmocka_unit_test(nothing_leaves_where_a_rank_fails_first),
        cmocka_unit_test(steps_of_its_own_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
