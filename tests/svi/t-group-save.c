/* Ranks of a group that are interrupted and go on: together, from one state, each with a ledger of
 * its own. */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/group.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/svi/ranks.h"

enum { RANKS = 3, SHARD = 40, ROWS = RANKS * SHARD, STEPS = 20 };

static double y[ROWS];

static int fill(void **state)
{
    for (size_t i = 0; i < ROWS; i++)
        y[i] = (double)(i * i % 9) - 3;
    return sodium_init() < 0 || folder_make(state) != 0;
}

/* ---- a rank ---- */

typedef struct scene {
    const dp_group *group;
    dp_model *model;
    dp_dataset *data;
    dp_ledger *ledger; /* of the shard, or NULL */
    dp_svi_opts opts;
} scene;

/* y ~ Normal(w, 1) on a rank's shard, or on all records. */
static scene set_up(const dp_group *group, const dp_svi_opts *o)
{
    size_t rank = group != NULL ? group->rank : 0, n = group != NULL ? SHARD : ROWS;
    scene s = {group, dp_model_new(), dp_dataset_new(n), NULL, *o};
    dp_plate rows = dp_unit_plate(s.model, "rows");
    dp_observe(rows, "y", dp_normal_v(dp_sample(s.model, "w", 1, dp_normal(0, 2)), dp_num(1)));
    dp_dataset_real(s.data, "y", 1, y + rank * SHARD);
    s.opts.group = group;
    return s;
}

static void tear_down(scene *s)
{
    dp_ledger_close(s->ledger);
    dp_dataset_free(s->data);
    dp_model_free(s->model);
}

static const char *file_of(const scene *s, const char *name)
{
    char own[40];
    (void)snprintf(own, sizeof own, "%s-%zu", name, s->group != NULL ? s->group->rank : 0);
    return folder_path(own);
}

static dp_status begin(const scene *s, int steps, dp_svi **svi, dp_error *err)
{
    dp_status status = dp_svi_new(s->model, NULL, s->data, &s->opts, svi, err);
    for (int i = 0; i < steps && status == DP_OK; i++)
        status = dp_svi_step(*svi, err);
    return status;
}

static dp_status go_on(const scene *s, const char *name, dp_svi **svi, dp_error *err)
{
    const dp_resume_opts with = {s->ledger, s->group};
    return dp_svi_resume(file_of(s, name), s->model, NULL, s->data, &with, svi, err);
}

/* What a run goes on with. */
typedef struct memory {
    double theta[2], first[2], second[2], mean[2], clip, loss;
    uint64_t done, loss_step;
} memory;

static memory memory_of(const dp_svi *svi)
{
    const dpi_optimizer *o = &svi->optimizer;
    memory m = {.clip = svi->opts.clip,
                .done = o->done,
                .loss = svi->extras.last.value,
                .loss_step = svi->extras.last.step};
    memcpy(m.theta, o->theta, sizeof m.theta);
    memcpy(m.first, o->state[0], sizeof m.first);
    memcpy(m.second, o->state[1], sizeof m.second);
    memcpy(m.mean, o->mean, sizeof m.mean);
    return m;
}

static const dp_svi_opts private_run = {.sigma = 50,
                                        .delta = 1e-6,
                                        .clip = 1,
                                        .steps = STEPS,
                                        .average = 0.5,
                                        .loss_every = 3,
                                        .loss_clip = 4,
                                        .loss_sigma = 60,
                                        .clip_quantile = 0.6,
                                        .clip_sigma = 50,
                                        .public_units = ROWS};

/* ---- tests ---- */

static int save_and_go_on(const dp_group *g, void *of)
{
    dp_error err = {0};
    dp_svi *first, *second, *third;
    scene s = set_up(g, of);
    if (begin(&s, 7, &first, &err) != DP_OK ||
        dp_svi_save(first, file_of(&s, "run"), &err) != DP_OK)
        return 1;
    const memory saved = memory_of(first);
    if (dp_svi_run(first, NULL, &err) != DP_OK || go_on(&s, "run", &second, &err) != DP_OK)
        return 2;
    const memory found = memory_of(second);
    if (memcmp(&saved, &found, sizeof saved) != 0 || found.done != 7)
        return 3;
    if (dp_svi_run(second, NULL, &err) != DP_OK || go_on(&s, "run", &third, &err) != DP_OK ||
        dp_svi_run(third, NULL, &err) != DP_OK)
        return 4;
    const memory end = memory_of(first), after = memory_of(second), again = memory_of(third);
    if (after.done != STEPS || memcmp(&end, &after, sizeof end) == 0) /* no noise is repeated */
        return 5;
    if ((memcmp(&after, &again, sizeof after) == 0) != (s.opts.seed != 0)) /* but by a seed */
        return 6;
    dp_svi_free(first);
    dp_svi_free(second);
    dp_svi_free(third);
    tear_down(&s);
    return 0;
}

static void ranks_go_on_where_they_were_saved(void **state)
{
    (void)state;
    dp_svi_opts o = private_run;
    assert_int_equal(run_ranks(RANKS, save_and_go_on, &o), 0);
    o.seed = 5;
    assert_int_equal(run_ranks(RANKS, save_and_go_on, &o), 0);
}

static int save_twice(const dp_group *g, void *of)
{
    dp_error err = {0};
    dp_svi *svi, *again;
    scene s = set_up(g, of);
    const char *own = file_of(&s, "run");
    if (begin(&s, 4, &svi, &err) != DP_OK || dp_svi_save(svi, own, &err) != DP_OK)
        return 1;
    const memory early = memory_of(svi);
    if (dp_svi_step(svi, &err) != DP_OK ||
        dp_svi_save(svi, g->rank == 1 ? file_of(&s, "later") : own, &err) != DP_OK)
        return 2;
    const memory late = memory_of(svi);
    if (go_on(&s, "run", &again, &err) != DP_OK) /* rank 1's is of step 4 */
        return 3;
    memory found = memory_of(again);
    dp_svi_free(again);
    if (memcmp(&found, &late, sizeof late) != 0 || memcmp(&found, &early, sizeof early) == 0)
        return 4;
    if (go_on(&s, g->rank == 1 ? "later" : "run", &again, &err) != DP_OK ||
        dp_svi_run(again, NULL, &err) != DP_OK)
        return 5;
    dp_svi_free(again);
    dp_svi_free(svi);
    tear_down(&s);
    return 0;
}

static void files_of_different_steps_give_the_state_of_rank_0(void **state)
{
    (void)state;
    dp_svi_opts o = private_run;
    assert_int_equal(run_ranks(RANKS, save_twice, &o), 0);
}

/* What rank 1 does otherwise: its file is of other options, of a state that was changed, not
 * there. */
typedef enum oddity { OTHER_RUN, OTHER_STATE, NO_FILE } oddity;

static dp_status save_of_other_options(const scene *s, dp_error *err)
{
    dp_svi *svi;
    dp_svi_opts o = s->opts;
    o.step_size = 0.01;
    scene other = set_up(NULL, &o);
    dp_status status = begin(&other, 4, &svi, err);
    if (status == DP_OK)
        status = dp_svi_save(svi, file_of(s, "run"), err);
    dp_svi_free(svi);
    tear_down(&other);
    return status;
}

static int disagree(const dp_group *g, void *of)
{
    const oddity does = *(const oddity *)of;
    dp_error err = {0};
    dp_svi *svi, *again;
    scene s = set_up(g, &private_run);
    bool odd = g->rank == 1, same_run = does == OTHER_STATE;
    if (begin(&s, 4, &svi, &err) != DP_OK || dp_svi_save(svi, file_of(&s, "run"), &err) != DP_OK ||
        (odd && does == OTHER_RUN && save_of_other_options(&s, &err) != DP_OK))
        return 1;
    dp_svi_free(svi);
    dp_status status = go_on(&s, odd && does == NO_FILE ? "none" : "run", &again, &err);
    const dp_status expected[] = {DP_EMISMATCH, DP_OK, DP_EIO};
    if (status != (odd        ? expected[does]
                   : same_run ? DP_OK
                              : DP_ESTATE) ||
        (again == NULL) == same_run)
        return 2;
    if (odd && does == OTHER_RUN && strstr(err.text, "rank 1 is of another run") == NULL)
        return 3;
    if (odd && same_run)
        again->optimizer.state[1][0] += 1;
    if (same_run && dp_svi_step(again, &err) != (odd ? DP_EMISMATCH : DP_ESTATE))
        return 4;
    dp_svi_free(again);
    tear_down(&s);
    return 0;
}

static void ranks_that_disagree_do_not_go_on(void **state)
{
    (void)state;
    for (int kind = OTHER_RUN; kind <= NO_FILE; kind++) {
        oddity odd = (oddity)kind;
        assert_int_equal(run_ranks(RANKS, disagree, &odd), 0);
    }
}

static int save_where_one_cannot(const dp_group *g, void *of)
{
    (void)of;
    dp_error err = {0};
    dp_svi *svi;
    scene s = set_up(g, &private_run);
    if (begin(&s, 4, &svi, &err) != DP_OK)
        return 1;
    const char *path = g->rank == 1 ? folder_path("none/run") : file_of(&s, "run");
    if (dp_svi_save(svi, path, &err) != (g->rank == 1 ? DP_EIO : DP_ESTATE))
        return 2;
    err = (dp_error){0};
    if (dp_svi_run(svi, NULL, &err) != DP_OK)
        return 3;
    dp_svi_free(svi);
    tear_down(&s);
    return 0;
}

static void all_know_of_a_file_that_could_not_be_written(void **state)
{
    (void)state;
    assert_int_equal(run_ranks(RANKS, save_where_one_cannot, NULL), 0);
}

/* ---- ledgers ---- */

static dp_status open_ledger(scene *s, dp_error *err)
{
    const dp_budget budget = {.epsilon = 3, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = s->data};
    dp_status status = dp_ledger_create(file_of(s, "ledger"), &s->ledger, err);
    if (status == DP_OK)
        status = dp_ledger_add_data(s->ledger, "shard", &source, &budget, err);
    s->opts.ledger = s->ledger;
    s->opts.ledger_data = "shard";
    return status;
}

/* Reserved and begun of the only entry. */
static bool entry_is(const scene *s, uint64_t reserved, uint64_t begun, bool settled)
{
    const dp_ledger_statement *all;
    if (dp_ledger_read(s->ledger, &all, NULL) != DP_OK)
        return false;
    const dp_ledger_entry *e = all->data[0].entries;
    bool good = all->n == 1 && all->data[0].n == 1 && e->list[0].steps == reserved &&
                e->begun[0] == begun && (e->settled > 0) == settled;
    dp_ledger_statement_free(all);
    return good;
}

static int pay(const dp_group *g, void *of)
{
    dp_error err = {0};
    dp_svi *svi, *again;
    dp_privacy privacy;
    scene s = set_up(g, of);
    if (open_ledger(&s, &err) != DP_OK || begin(&s, 8, &svi, &err) != DP_OK ||
        !entry_is(&s, STEPS, STEPS, false))
        return 1;
    if (dp_svi_save(svi, file_of(&s, "run"), &err) != DP_OK || !entry_is(&s, STEPS, 8, false))
        return 2;
    if (dp_svi_step(svi, &err) != DP_OK) /* lost, with the lease of 1 */
        return 3;
    dp_svi_free(svi);
    if (go_on(&s, "run", &again, &err) != DP_OK || !entry_is(&s, STEPS + 1, 9, false))
        return 4;
    if (dp_svi_run(again, NULL, &err) != DP_OK || !entry_is(&s, STEPS + 1, STEPS + 1, true))
        return 5;
    if (dp_svi_privacy(again, &privacy, &err) != DP_OK || privacy.warning != NULL)
        return 6;
    dp_svi_free(again);
    dp_ledger *kept = s.ledger; /* a rank that leaves its ledger out keeps all from going on */
    if (g->rank == 1)
        s.ledger = NULL;
    dp_status status = go_on(&s, "run", &again, &err);
    s.ledger = kept;
    tear_down(&s);
    return status == (g->rank == 1 ? DP_EPRIVACY : DP_ESTATE) ? 0 : 7;
}

static void every_ledger_counts_the_steps_once(void **state)
{
    (void)state;
    dp_svi_opts o = private_run;
    o.loss_every = 0, o.loss_clip = o.loss_sigma = 0; /* one mechanism */
    assert_int_equal(run_ranks(RANKS, pay, &o), 0);
}

/* Both ranks are given the checkpoint, the ledger and the records of one: their sum would count
 * these twice.  The entry has one owner, so one of them may not begin a step, and all know. */
static int share_an_entry(const dp_group *g, void *of)
{
    dp_error err = {0};
    dp_svi *svi;
    scene s = set_up(g, of);
    dp_resume_opts own = {NULL, g};
    dp_dataset_free(s.data);
    s.data = dp_dataset_new(SHARD);
    dp_dataset_real(s.data, "y", 1, y);
    if (dp_ledger_open(folder_path("ledger-0"), &s.ledger, &err) != DP_OK)
        return 1;
    own.ledger = s.ledger;
    if (dp_svi_resume(folder_path("run-0"), s.model, NULL, s.data, &own, &svi, &err) != DP_OK)
        return 2;
    double before = svi->optimizer.theta[0];
    dp_status status = dp_svi_step(svi, &err);
    bool moved = svi->optimizer.done != 8 || svi->optimizer.theta[0] != before;
    dp_svi_free(svi);
    tear_down(&s);
    return (status == DP_EPRIVACY || status == DP_ESTATE) && !moved ? 0 : 3;
}

static int alone(void *context, size_t n, int64_t *values)
{
    (void)context;
    (void)n;
    (void)values;
    return 0;
}

static void one_entry_does_not_pay_for_two_ranks(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    const dp_group one = {.size = 1, .sum = alone};
    dp_svi_opts o = private_run;
    o.loss_every = 0, o.loss_clip = o.loss_sigma = 0;
    scene s = set_up(&one, &o);
    (void)remove(file_of(&s, "ledger"));
    assert_ok(open_ledger(&s, &err), err.text);
    assert_ok(begin(&s, 8, &svi, &err), err.text);
    assert_ok(dp_svi_save(svi, file_of(&s, "run"), &err), err.text);
    dp_svi_free(svi);
    tear_down(&s);
    assert_int_equal(run_ranks(2, share_an_entry, &o), 0);
}

/* ---- other numbers of ranks ---- */

static int run_and_save(const dp_group *g, void *of)
{
    dp_error err = {0};
    dp_svi *svi;
    scene s = set_up(g, of);
    if (begin(&s, 6, &svi, &err) != DP_OK || dp_svi_save(svi, file_of(&s, "few"), &err) != DP_OK)
        return 1;
    dp_svi_free(svi);
    tear_down(&s);
    return 0;
}

/* A checkpoint without a ledger is of no certain rank. */
static void one_process_goes_on_with_the_run_of_several(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *alone, *on;
    dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 7, .seed = 3};
    assert_int_equal(run_ranks(RANKS, run_and_save, &o), 0);
    scene s = set_up(NULL, &o);
    assert_ok(begin(&s, 6, &alone, &err), err.text);
    assert_ok(go_on(&s, "few", &on, &err), err.text);
    assert_int_equal(on->optimizer.done, 6);
    assert_close(on->optimizer.theta[0], alone->optimizer.theta[0], 1e-12, 0);
    assert_ok(dp_svi_run(on, NULL, &err), err.text);
    assert_true(on->optimizer.theta[0] != alone->optimizer.theta[0]); /* it has moved */
    dp_svi_free(alone);
    dp_svi_free(on);
    tear_down(&s);
}

/* ---- memory ---- */

static int without_memory(const dp_group *g, void *of)
{
    (void)of;
    dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 2};
    dp_svi *svi = NULL;
    dp_error err = {0};
    scene s = set_up(g, &o);
    if (begin(&s, 1, &svi, &err) != DP_OK || dp_svi_save(svi, file_of(&s, "run"), &err) != DP_OK)
        return 1;
    dp_svi_free(svi);
    size_t live = faulty_live(), k = 0;
    for (int64_t failed[2] = {1}; failed[0] != 0;) {
        err = (dp_error){0};
        faulty_fail(g->rank == 1 ? ++k : 0);
        dp_status status = go_on(&s, "run", &svi, &err);
        failed[0] = faulty_failed() != 0;
        faulty_fail(0);
        if (g->rank == 1 && status != (failed[0] ? DP_ENOMEM : DP_OK))
            return 2;
        dp_svi_free(svi);
        if (faulty_live() != live || dpi_group_add(g, DP_OK, 1, failed, &err) != DP_OK ||
            (g->rank == 0 && status != (failed[0] ? DP_ESTATE : DP_OK)))
            return 3;
    }
    tear_down(&s);
    return g->rank == 0 || k > 20 ? 0 : 4;
}

static void a_rank_without_memory_stops_all(void **state)
{
    (void)state;
    assert_int_equal(run_ranks(2, without_memory, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_go_on_where_they_were_saved),
        cmocka_unit_test(files_of_different_steps_give_the_state_of_rank_0),
        cmocka_unit_test(ranks_that_disagree_do_not_go_on),
        cmocka_unit_test(all_know_of_a_file_that_could_not_be_written),
        cmocka_unit_test(every_ledger_counts_the_steps_once),
        cmocka_unit_test(one_entry_does_not_pay_for_two_ranks),
        cmocka_unit_test(one_process_goes_on_with_the_run_of_several),
        cmocka_unit_test(a_rank_without_memory_stops_all),
    };
    return cmocka_run_group_tests_name("group-save", tests, fill, folder_remove);
}
