/* Runs of plans of three parties, over TCP. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "silo/describe.h"
#include "silo/plan.h"
#include "tests/silo/joint.h"
#include "tests/silo/trio-town.h"

enum { PATH = 256 };

typedef struct three_side {
    size_t k;
    dp_silo_trio_party at[DP_SILO_TRIO];
    char state[PATH], audit[PATH];
    dp_silo_run_opts opts;
    double w[TOWN_D];
    size_t rows;
    dp_status status;
    dp_error err;
    bool late; /* begins after the others */
} three_side;

static joint j;
static three_side sides[3];

/* East and west have the columns, north helps. */
static void begin(double epsilon, bool told)
{
    town_set_up(epsilon);
    memset(&j, 0, sizeof j);
    plans_make(&j.p);
    static dp_silo_trio terms;
    terms = town_sides[0].terms;
    terms.name = NULL; /* the plan's is taken */
    terms.told = told;
    j.p.opts = (dp_silo_opts){.name = "three",
                              .scheme = epsilon > 0 ? "trio+dp" : "trio",
                              .trio = &terms,
                              .n_owners = 3,
                              .owners = j.p.owners,
                              .epsilon = epsilon,
                              .delta = epsilon > 0 ? 1e-5 : 0,
                              .seed = 11};
    joint_begin(&j);
    for (size_t k = 0; k < 3; k++) {
        three_side *s = &sides[k];
        memset(s, 0, sizeof *s);
        s->k = k;
        memcpy(s->at, town_sides[k].opts.party, sizeof s->at);
        (void)snprintf(s->state, PATH, "%s", joint_path("state", k));
        (void)snprintf(s->audit, PATH, "%s", joint_path("audit", k));
        s->opts = (dp_silo_run_opts){.key = j.p.keys[k],
                                     .state = s->state,
                                     .audit = s->audit,
                                     .patience_ms = TOWN_PATIENCE,
                                     .at = s->at};
    }
}

static void *act(void *of)
{
    three_side *s = of;
    if (s->late)
        (void)sleep(1);
    memset(s->w, 1, sizeof s->w);
    s->err = (dp_error){DP_OK, ""};
    s->status = dp_silo_run_trio(j.plan, &town_sides[s->k].data, &s->opts, &s->rows, s->w, &s->err);
    return NULL;
}

static void run(unsigned who)
{
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
        if ((who >> k & 1) != 0)
            assert_int_equal(pthread_create(&threads[k], NULL, act, &sides[k]), 0);
    for (int k = 0; k < 3; k++)
        if ((who >> k & 1) != 0)
            (void)pthread_join(threads[k], NULL);
}

static void run_well(void)
{
    run(7);
    for (int k = 0; k < 3; k++)
        assert_ok(sides[k].status, sides[k].err.text);
}

/* Openings that were begun. */
static dp_silo_kept look(size_t k)
{
    dp_silo_kept kept;
    dp_error err = {DP_OK, ""};
    assert_ok(dp_silo_look(j.plan, sides[k].state, &kept, &err), err.text);
    assert_true(kept.keeps && (kept.changed > 0) == kept.begun);
    assert_true(!kept.begun || kept.owner == k);
    assert_true(!kept.over || kept.sums == kept.planned);
    return kept;
}

static void assert_nothing(const three_side *s)
{
    assert_int_equal(s->rows, 0);
    for (size_t i = 0; i < TOWN_D; i++)
        assert_true(s->w[i] == 0);
}

/* ---- runs ---- */

static void owners_get_the_coefficients_of_one_table(void **state)
{
    double w[TOWN_D];
    (void)state;
    town_solve(TOWN_N, w);
    for (int told = 0; told < 2; told++) {
        begin(0, told == 1);
        run_well();
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(sides[k].rows, TOWN_N);
            assert_true(look(k).over && look(k).sums == 1);
            for (size_t i = 0; i < TOWN_D; i++)
                assert_close(sides[k].w[i], told == 1 || k == (i < TOWN_D0 ? 0 : 1) ? w[i] : 0,
                             1e-6, 1e-7);
        }
        joint_end(&j);
    }
}

/* Nothing is kept, and each run is another one. */
static void without_noise_it_needs_no_state(void **state)
{
    double first[TOWN_D];
    (void)state;
    begin(0, true);
    for (size_t k = 0; k < 3; k++)
        sides[k].opts.state = sides[k].opts.audit = NULL;
    run_well();
    memcpy(first, sides[2].w, sizeof first);
    run_well();
    assert_memory_equal(sides[2].w, first, sizeof first);
    joint_end(&j);
}

/* Of each peer a line before the link, one before anything is opened, and what went over. */
static void the_log_tells_what_was_done(void **state)
{
    dp_silo_audit found;
    dp_error err = {DP_OK, ""};
    unsigned char hash[DP_SILO_HASH];
    (void)state;
    begin(4, false);
    run_well();
    dp_silo_plan_hash(j.plan, hash);
    for (size_t k = 0; k < 3; k++) {
        assert_ok(dp_silo_audit_check(sides[k].audit, hash, &found, &err), err.text);
        assert_string_equal(found.outcome, "DP_OK");
        assert_int_equal(found.runs, 1);
        assert_int_equal(found.n_peers, 2);
        for (size_t p = 0; p < 2; p++) {
            assert_int_equal(found.peers[p].sent, 3);
            assert_int_equal(found.peers[p].got, 1);
            assert_true(found.peers[p].sent_bytes >= 64 && found.peers[p].got_bytes >= 64);
        }
    }
    joint_end(&j);
}

static void with_noise_all_get_the_same_and_once(void **state)
{
    dp_silo_plan *mine;
    (void)state;
    begin(4, false);
    for (size_t k = 0; k < 3; k++)
        assert_false(look(k).begun);
    run_well();
    assert_true(sides[0].w[0] != 0 && sides[0].w[TOWN_D - 1] != 0);
    for (size_t k = 1; k < 3; k++)
        assert_memory_equal(sides[k].w, sides[0].w, sizeof sides[0].w);
    for (size_t k = 0; k < 3; k++)
        assert_true(look(k).over && look(k).sums == 20);
    dp_silo_forget(sides[0].state); /* it stays */
    assert_true(look(0).over);
    run(1); /* tells them again, alone */
    assert_ok(sides[0].status, sides[0].err.text);
    assert_memory_equal(sides[1].w, sides[0].w, sizeof sides[0].w);
    assert_int_equal(sides[0].rows, TOWN_N);
    mine = j.plan; /* of this one */
    sides[0].opts.audit = NULL;
    j.p.opts.name = "four";
    j.plan = plans_plan(&j.p, UINT_MAX);
    run(1);
    assert_fails(sides[0].status, DP_ESTATE, &sides[0].err, "of another plan");
    dp_silo_plan_free(mine);
    joint_end(&j);
}

static void who_is_missing_ends_it_and_all_begin_anew(void **state)
{
    (void)state;
    begin(4, false);
    for (size_t k = 0; k < 3; k++)
        sides[k].opts.patience_ms = 1500;
    const double since = town_now();
    run(5);
    assert_true(town_now() - since < 10);
    for (size_t k = 0; k < 3; k += 2) {
        assert_fails(sides[k].status, DP_ETIMEOUT, &sides[k].err, "west");
        assert_nothing(&sides[k]);
        assert_int_equal(look(k).sums, 0);
    }
    for (size_t k = 0; k < 3; k++)
        sides[k].opts.patience_ms = TOWN_PATIENCE;
    run_well();
    joint_end(&j);
}

/* Behind so many openings. */
static uint64_t stop_behind;
static int stop(void *user, const dp_fit_progress *at)
{
    (void)user;
    assert_true(at->planned == 20 && at->kept);
    return at->made >= stop_behind;
}

/* Whether it listens or connects. */
static void who_waits_can_be_stopped(void **state)
{
    (void)state;
    begin(4, false);
    stop_behind = 0;
    for (size_t k = 0; k < 3; k += 2) {
        sides[k].opts.watch = stop;
        const double since = town_now();
        run(1U << k);
        assert_true(town_now() - since < 10);
        assert_fails(sides[k].status, DP_ESTOPPED, &sides[k].err, "were waited for");
        assert_int_equal(look(k).sums, 0);
        assert_nothing(&sides[k]);
    }
    joint_end(&j);
}

/* And who is in the steps; all go on. */
static void who_takes_steps_can_be_stopped(void **state)
{
    (void)state;
    begin(4, false);
    stop_behind = 3;
    sides[1].opts.watch = stop;
    run(7);
    assert_int_equal(sides[1].status, DP_ESTOPPED);
    assert_int_equal(sides[0].status, DP_EPEER);
    for (size_t k = 0; k < 3; k++)
        assert_true(look(k).sums >= 3 && look(k).sums <= 4 && !look(k).over);
    assert_nothing(&sides[1]);
    sides[1].opts.watch = NULL;
    run_well();
    assert_memory_equal(sides[1].w, sides[0].w, sizeof sides[0].w);
    assert_memory_equal(sides[2].w, sides[0].w, sizeof sides[0].w);
    joint_end(&j);
}

/* Who signed another plan, that says the same but for its name, is not let in. */
static void all_three_have_one_plan(void **state)
{
    (void)state;
    begin(4, false);
    pthread_t threads[2];
    j.p.opts.seed = 12;
    dp_silo_plan *other = plans_plan(&j.p, UINT_MAX);
    assert_int_equal(pthread_create(&threads[0], NULL, act, &sides[0]), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, act, &sides[1]), 0);
    sides[2].status = dp_silo_run_trio(other, &town_sides[2].data, &sides[2].opts, &sides[2].rows,
                                       sides[2].w, &sides[2].err);
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(sides[k].status, DP_EPEER);
        assert_nothing(&sides[k]);
    }
    assert_int_equal(look(0).sums, 0);
    dp_silo_plan_free(other);
    joint_end(&j);
}

/* Puts something in the way of what is kept, while the others are waited for. */
static int take_place(void *user, const dp_fit_progress *at)
{
    char path[PATH + 8];
    const three_side *s = user;
    (void)at;
    (void)snprintf(path, sizeof path, "%s/three", s->state);
    (void)unlink(path);
    (void)mkdir(path, 0700);
    return 0;
}

/* What cannot be kept is not opened, at any of the three. */
static void without_its_state_nothing_is_opened(void **state)
{
    (void)state;
    begin(4, false);
    sides[0].opts.watch = take_place;
    sides[0].opts.watch_user = &sides[0];
    sides[1].late = sides[2].late = true;
    run(7);
    assert_int_equal(sides[0].status, DP_EIO);
    for (size_t k = 0; k < 3; k++) {
        assert_true(sides[k].status != DP_OK);
        assert_nothing(&sides[k]);
    }
    joint_end(&j);
}

/* ---- what is refused before anything leaves ---- */

static void write_policy(const char *path, const char *more)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fprintf(f, "schemes = trio+dp\nepsilon = 4\ndelta = 1e-5\nowners = 3\n%s", more) >
                0);
    assert_int_equal(fclose(f), 0);
}

static void refused(dp_status status, const char *why)
{
    run(2);
    assert_fails(sides[1].status, status, &sides[1].err, why);
}

static void nothing_leaves_where_something_is_wrong(void **state)
{
    static const dp_silo_columns_data none = {.rows = 1};
    static const dp_group several = {.size = 2};
    char policy[PATH];
    dp_fit *fit = NULL;
    size_t common;
    dp_error err = {DP_OK, ""};
    (void)state;
    begin(4, false);
    three_side *s = &sides[1];
    (void)snprintf(policy, sizeof policy, "%s", joint_path("policy", 1));
    s->opts.policy = policy;
    write_policy(policy, "colluders = 2\n");
    refused(DP_EPRIVACY, "fewer colluders");
    write_policy(policy, "epsilon = 3\n");
    refused(DP_EPRIVACY, "its epsilon is larger");
    s->opts.policy = NULL;
    s->opts.state = NULL;
    refused(DP_EINVAL, "name a folder");
    s->opts.state = s->state;
    s->opts.at = NULL;
    refused(DP_EINVAL, "where are the parties");
    s->opts.at = s->at;
    s->opts.group = &several;
    refused(DP_EUNSUPPORTED, "a party of three is one process");
    s->opts.group = NULL;
    s->opts.key = j.p.keys[4];
    refused(DP_ENAME, "none of the plan's owners");
    s->opts.key = j.p.keys[1];
    town_sides[1].data.rows--;
    refused(DP_EINVAL, "199 rows");
    town_sides[1].data.rows++;
    s->opts.ledger_data = "town";
    refused(DP_EINVAL, "no ledger");
    s->opts.ledger_data = NULL;
    assert_nothing(s);
    s->opts.mailbox = "."; /* the other calls want one */
    dp_dataset *data = plans_data(&j.p, 0);
    dp_status status = dp_silo_run(j.plan, j.p.model, data, &s->opts, &fit, &err);
    assert_fails(status, DP_EINVAL, &err, "dp_silo_run_trio");
    dp_dataset_free(data);
    status = dp_silo_run_columns(j.plan, &none, &s->opts, &common, s->w, &err);
    assert_int_equal(status, DP_EINVAL);
    dp_silo_plan_free(j.plan);
    j.plan = plans_plan(&j.p, 3);
    refused(DP_EPRIVACY, "north has not signed");
    joint_end(&j);
}

/* The step of each part at which another kind stands in place of the plan's; SIZE_MAX: none. */
static size_t changed_step = SIZE_MAX;

dp_status __real_dpi_silo_part_of(const dp_silo_plan *plan, size_t k, dpi_arena *arena,
                                  dpi_silo_part *part, dp_error *err);
dp_status __wrap_dpi_silo_part_of(const dp_silo_plan *plan, size_t k, dpi_arena *arena,
                                  dpi_silo_part *part, dp_error *err);
dp_status __wrap_dpi_silo_part_of(const dp_silo_plan *plan, size_t k, dpi_arena *arena,
                                  dpi_silo_part *part, dp_error *err)
{
    static dpi_silo_step steps[64];
    dp_status status = __real_dpi_silo_part_of(plan, k, arena, part, err);
    if (status != DP_OK || changed_step >= part->n_steps)
        return status;
    assert_true(part->n_steps <= sizeof steps / sizeof *steps);
    memcpy(steps, part->steps, part->n_steps * sizeof *steps);
    steps[changed_step].kind = DPI_SILO_WALK;
    part->steps = steps;
    return status;
}

/* Another version's plan may have other steps: one that this one would not take ends it. */
static void steps_that_are_not_the_plans_are_not_taken(void **state)
{
    dpi_arena arena = {NULL};
    dpi_silo_part part;
    dp_error err = {DP_OK, ""};
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        begin(noisy != 0 ? 4 : 0, false);
        assert_ok(dpi_silo_part_of(j.plan, 1, &arena, &part, &err), err.text);
        const size_t n = part.n_steps;
        dpi_arena_free(&arena);
        assert_true(n >= 6);
        for (changed_step = 0; changed_step < n; changed_step++)
            refused(DP_EMISMATCH, "runs other steps than the plan has for west");
        changed_step = SIZE_MAX;
        assert_false(look(1).begun);
        joint_end(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_get_the_coefficients_of_one_table),
        cmocka_unit_test(without_noise_it_needs_no_state),
        cmocka_unit_test(the_log_tells_what_was_done),
        cmocka_unit_test(with_noise_all_get_the_same_and_once),
        cmocka_unit_test(who_is_missing_ends_it_and_all_begin_anew),
        cmocka_unit_test(who_waits_can_be_stopped),
        cmocka_unit_test(who_takes_steps_can_be_stopped),
        cmocka_unit_test(all_three_have_one_plan),
        cmocka_unit_test(without_its_state_nothing_is_opened),
        cmocka_unit_test(nothing_leaves_where_something_is_wrong),
        cmocka_unit_test(steps_that_are_not_the_plans_are_not_taken),
    };
    return cmocka_run_group_tests(tests, town_make, town_clear);
}
