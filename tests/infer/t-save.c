/* Runs that pay from a ledger, that are interrupted, and that go on. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infer/cost.h"
#include "infer/svi.h"
#include "random/failure.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { N = 40 };

static double x[N], y[N];
static const dp_svi_opts plain = {
    .sigma = 50, .delta = 1e-6, .clip = 1, .steps = 100, .average = 0.5, .optimizer = DP_ADAM};

static void fails(dp_status status, dp_status expected, dp_error *err, const char *why)
{
    assert_int_equal(status, expected);
    assert_int_equal(err->status, expected);
    assert_contains(err->text, why);
    *err = (dp_error){.status = DP_OK};
}

/* y ~ N(x w, 1) with w ~ N(0, scale). */
static dp_model *make_model(double scale)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, scale));
    dp_observe(rows, "y", dp_normal_v(dp_mul(dp_data(rows, "x", 1), w), dp_num(1)));
    return m;
}

/* One data set, in all tests; "columns" in the ledger. */
static dp_dataset *make_data(void)
{
    dp_dataset *data = dp_dataset_new(N);
    if (data == NULL)
        return NULL;
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i % 5 - 2;
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

typedef struct bench {
    dp_model *model;
    dp_dataset *data;
    dp_ledger *ledger;
    dp_svi_opts opts;
} bench;

/* With a ledger where epsilon > 0. */
static bench set_up_for(const dp_svi_opts *opts, double epsilon, dp_adjacency adjacency)
{
    dp_error err = {0};
    bench b = {.model = make_model(1), .data = make_data(), .opts = *opts};
    assert_true(b.model != NULL && b.data != NULL);
    b.ledger = folder_ledger(1); /* empties the folder, too */
    if (epsilon == 0) {
        dp_ledger_close(b.ledger);
        b.ledger = NULL;
        return b;
    }
    const dp_budget budget = {.epsilon = epsilon, .delta = 1e-6, .adjacency = adjacency};
    const dp_ledger_source source = {.records = b.data};
    assert_ok(dp_ledger_add_data(b.ledger, "columns", &source, &budget, &err), err.text);
    b.opts.ledger = b.ledger;
    b.opts.ledger_data = "columns";
    b.opts.ledger_label = "a test";
    return b;
}

static bench set_up(const dp_svi_opts *opts, double epsilon)
{
    return set_up_for(opts, epsilon, DP_ADD_REMOVE);
}

static void tear_down(bench *b)
{
    dp_ledger_close(b->ledger);
    dp_dataset_free(b->data);
    dp_model_free(b->model);
}

static dp_svi *start(const bench *b)
{
    dp_error err = {0};
    dp_svi *svi;
    assert_ok(dp_svi_new(b->model, NULL, b->data, &b->opts, &svi, &err), err.text);
    return svi;
}

static void walk(dp_svi *svi, int steps)
{
    dp_error err = {0};
    for (int i = 0; i < steps; i++)
        assert_ok(dp_svi_step(svi, &err), err.text);
}

static void save(dp_svi *svi, const char *name)
{
    dp_error err = {0};
    assert_ok(dp_svi_save(svi, folder_path(name), &err), err.text);
}

static dp_status try(const bench *b, const char *name, dp_svi **svi, dp_error *err)
{
    const dp_resume_opts with = {.ledger = b->ledger};
    return dp_svi_resume(folder_path(name), b->model, NULL, b->data, &with, svi, err);
}

static dp_svi *go_on(const bench *b, const char *name)
{
    dp_error err = {0};
    dp_svi *svi;
    assert_ok(try(b, name, &svi, &err), err.text);
    return svi;
}

/* planned, reserved and begun of the last entry, and whether it is settled. */
static void entry_is(const bench *b, uint64_t reserved, uint64_t begun, bool settled)
{
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_read(b->ledger, &s, &err), err.text);
    assert_int_equal(s->n, 2);
    assert_true(s->data[1].n > 0);
    const dp_ledger_entry *e = &s->data[1].entries[s->data[1].n - 1];
    assert_int_equal(e->list[0].steps, reserved);
    assert_int_equal(e->begun[0], begun);
    assert_int_equal(e->settled > 0, settled);
    assert_string_equal(e->label, "a test");
    assert_string_equal(e->columns, "x, y");
    assert_int_equal(strlen(e->model), 64);
    dp_ledger_statement_free(s);
}

/* ---- state ---- */

static void a_resumed_run_has_the_state_that_was_saved(void **state)
{
    (void)state;
    const dp_svi_opts kinds[] = {
        plain,
        {.mode = DP_NO_PRIVACY, .steps = 100, .optimizer = DP_MOMENTUM, .step_size = 1e-3},
        {.mode = DP_NO_PRIVACY, .steps = 100, .loss_every = 4},
        {.mode = DP_WITHOUT_GUARANTEE,
         .sigma = 3,
         .clip = 2,
         .steps = 100,
         .form = DP_FORM_PARAMETERS},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_FIXED,
         .batch = 7},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_POISSON,
         .rate = .3},
        {.epsilon = 1,
         .delta = 1e-6,
         .clip = 1,
         .steps = 100,
         .sampling = DP_SAMPLING_ALLOCATION,
         .epoch = 30},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        bench b = set_up(&kinds[k], 0);
        dp_svi *first = start(&b);
        walk(first, 60);
        save(first, "run");
        dp_svi *second = go_on(&b, "run");
        const dpi_optimizer *p = &first->optimizer, *q = &second->optimizer;
        assert_true(p->done == 60 && q->done == 60 && p->n == q->n);
        assert_memory_equal(p->theta, q->theta, p->n * sizeof *p->theta);
        assert_memory_equal(p->first, q->first, p->n * sizeof *p->theta);
        assert_memory_equal(p->second, q->second, p->n * sizeof *p->theta);
        assert_memory_equal(p->mean, q->mean, p->n * sizeof *p->theta);
        assert_true(p->step_size == q->step_size && p->average_from == q->average_from);
        assert_memory_equal(&first->opts, &second->opts, sizeof first->opts);
        while (!dp_svi_done(second))
            walk(second, 1);
        dp_svi_free(first);
        dp_svi_free(second);
        tear_down(&b);
    }
}

/* A loss every three steps and a clip norm that follows a quantile. */
static dp_svi_opts with_extras(dp_precision precision)
{
    dp_svi_opts o = plain;
    o.precision = precision;
    o.loss_every = 3, o.loss_clip = 4, o.loss_sigma = 60;
    o.clip_quantile = 0.6, o.clip_sigma = 50, o.public_units = N;
    return o;
}

static void loss_and_clip_norm_go_on(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++)
        for (int steps = 0; steps < 8; steps += 7) {
            dp_error err = {0};
            dp_loss before, after;
            dp_privacy privacy;
            double epsilon;
            const dp_svi_opts o = with_extras(single ? DP_SINGLE : DP_DOUBLE);
            bench b = set_up(&o, 5);
            dp_svi *first = start(&b);
            walk(first, steps);
            save(first, "run");
            dp_svi *second = go_on(&b, "run");
            dp_status told = dp_svi_loss(first, &before, NULL);
            assert_int_equal(dp_svi_loss(second, &after, NULL), told);
            assert_int_equal(told, steps == 0 ? DP_ESTATE : DP_OK);
            if (steps > 0) {
                assert_true(after.step == 6 && after.value == before.value);
                assert_true(after.noise == 60 * 4 && before.noise == after.noise);
                assert_true(second->opts.clip != o.clip);
                assert_true(second->extras.fraction_below == first->extras.fraction_below);
            }
            assert_true(second->opts.clip == first->opts.clip);
            dp_svi_free(first);
            assert_ok(dp_svi_run(second, NULL, &err), err.text);
            assert_ok(dp_svi_loss(second, &after, &err), err.text);
            assert_int_equal(after.step, 99);
            assert_ok(dp_svi_privacy(second, &privacy, &err), err.text);
            assert_ok(dpi_cost_epsilon(&second->opts, 100, &epsilon, &err), err.text);
            assert_true(privacy.epsilon == epsilon);
            entry_is(&b, 67, 67, true); /* steps without a loss; 33 with one */
            dp_svi_free(second);
            tear_down(&b);
        }
}

/* With its hash put right, a checkpoint whose loss or share does not go with its options and steps. */
static void losses_that_cannot_be_are_damage(void **state)
{
    (void)state;
    const struct {
        uint64_t step;
        double loss, below;
        dp_status status;
    } cases[] = {
        {6, 1, 0.5, DP_OK},    {6, -1e9, 0, DP_OK},     {6, 1, 1, DP_OK},
        {3, 1, 0.5, DP_EDATA}, {0, NAN, 0.5, DP_EDATA}, {7, 1, 0.5, DP_EDATA},
        {9, 1, 0.5, DP_EDATA}, {6, NAN, 0.5, DP_EDATA}, {6, INFINITY, 0.5, DP_EDATA},
        {6, 1, NAN, DP_EDATA}, {6, 1, -0.1, DP_EDATA},  {6, 1, 1.1, DP_EDATA},
    };
    const dp_svi_opts o = with_extras(DP_DOUBLE);
    bench b = set_up(&o, 0);
    dp_svi *svi = start(&b);
    walk(svi, 7);
    save(svi, "run");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dp_error err = {0};
        dpi_arena arena = {NULL};
        dpi_checkpoint c, again;
        unsigned char *bytes;
        size_t n;
        assert_ok(dpi_checkpoint_read(folder_path("run"), &arena, &c, &err), err.text);
        c.loss_step = cases[i].step;
        c.loss = cases[i].loss;
        c.below = cases[i].below;
        assert_ok(dpi_checkpoint_write(&c, &bytes, &n, &err), err.text);
        assert_int_equal(dpi_checkpoint_parse(bytes, n, &arena, &again, &err), cases[i].status);
        dpi_free(bytes);
        dpi_arena_free(&arena);
    }
    dp_svi_free(svi);
    tear_down(&b);
}

/* The noise of a step, as far as it shows: the release of data whose gradients it drowns. */
static double next_release(dp_svi *svi)
{
    walk(svi, 1);
    return svi->release[0];
}

static void no_noise_is_repeated(void **state)
{
    (void)state;
    dp_svi_opts o = plain;
    o.sigma = 1e5;
    for (int seeded = 0; seeded < 2; seeded++) {
        double seen[8];
        int n = 0;
        o.seed = seeded ? 7 : 0;
        bench b = set_up(&o, 0);
        dp_svi *first = start(&b);
        seen[n++] = next_release(first);
        save(first, "run");
        seen[n++] = next_release(first);
        dp_svi *second = go_on(&b, "run"), *third = go_on(&b, "run");
        seen[n++] = next_release(second);
        seen[n++] = next_release(second);
        seen[n++] = next_release(third);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                if (!seeded || i != 4 || j != 2) /* a seeded run is repeatable from a checkpoint */
                    assert_true(fabs(seen[i] - seen[j]) > 1e-3);
        if (seeded)
            assert_true(seen[4] == seen[2]);
        dp_svi_free(first);
        dp_svi_free(second);
        dp_svi_free(third);
        tear_down(&b);
    }
}

/* The file has the parameters and what is public, and its size says so; not the number of records. */
static void a_checkpoint_has_no_room_for_secrets(void **state)
{
    (void)state;
    bench b = set_up(&plain, 0);
    dp_svi *svi = start(&b);
    save(svi, "run");
    FILE *file = fopen(folder_path("run"), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftell(file), 16 + 8 + 2 * 32 + 28 * 8 + 8 + 16 + 6 * 8 + 4 * 2 * 8 + 32);
    (void)fclose(file);
    dp_svi_free(svi);
    tear_down(&b);
}

static void epochs_are_not_cut(void **state)
{
    (void)state;
    dp_error err = {0};
    const dp_svi_opts o = {.epsilon = 1,
                           .delta = 1e-6,
                           .clip = 1,
                           .steps = 100,
                           .sampling = DP_SAMPLING_ALLOCATION,
                           .epoch = 10};
    bench b = set_up(&o, 2);
    dp_svi *svi = start(&b);
    walk(svi, 11);
    fails(dp_svi_save(svi, folder_path("run"), &err), DP_ESTATE, &err, "save after step 20");
    walk(svi, 9);
    save(svi, "run");
    walk(svi, 1);
    entry_is(&b, 100, 30, false); /* leases are whole epochs */
    assert_ok(dp_svi_settle(svi, &err), err.text);
    entry_is(&b, 30, 30, true);
    dp_svi_free(svi);
    tear_down(&b);
}

/* ---- the ledger ---- */

static void a_run_reserves_first_and_settles_last(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval spent;
    dp_privacy privacy;
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b);
    entry_is(&b, 100, 100, false);
    walk(svi, 99);
    entry_is(&b, 100, 100, false);
    walk(svi, 1);
    entry_is(&b, 100, 100, true);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_close(privacy.epsilon, spent.upper, 1e-3, 0);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Values that no model would take, which nobody looks at when there is no budget. */
static void a_refused_run_does_not_touch_the_data(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    bench b = set_up(&plain, 2);
    b.opts.steps = 100000;
    y[3] = NAN;
    fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EPRIVACY, &err, "would fit");
    assert_null(svi);
    b.opts.steps = 100;
    fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EDATA, &err, "column 'y'");
    tear_down(&b);
}

static void a_run_that_could_not_be_made_spends_nothing(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval spent;
    dp_svi *svi;
    bench b = set_up(&plain, 2);
    dp_model *other = dp_model_new();
    dp_plate rows = dp_unit_plate(other, "rows");
    dp_expr w = dp_sample(other, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "z", dp_normal_v(dp_mul(dp_data(rows, "x", 1), w), dp_num(1)));
    fails(dp_svi_new(other, NULL, b.data, &b.opts, &svi, &err), DP_ENAME, &err, "'z'");
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper == 0);
    b.opts.ledger_data = NULL;
    fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EINVAL, &err, "ledger_data");
    b.opts.ledger_data = "columns";
    b.opts.seed = 1;
    fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EPRIVACY, &err, "seeded");
    dp_model_free(other);
    tear_down(&b);
}

/* In the form of d3p gradients hold 1/n, which a budget for neighbours of other sizes does not allow. */
static void a_budget_that_hides_the_number_of_records_refuses_what_tells_it(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval spent;
    dp_svi *svi;
    dp_svi_opts o = plain;
    o.form = DP_FORM_PARAMETERS;
    bench b = set_up(&o, 2);
    fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EMISMATCH, &err,
          "DP_REPLACE_ONE");
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper == 0);
    tear_down(&b);
    b = set_up_for(&o, 2, DP_REPLACE_ONE);
    dp_svi_free(start(&b));
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper > 0);
    tear_down(&b);
}

static void only_settling_lowers(void **state)
{
    (void)state;
    dp_error err = {0};
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b);
    walk(svi, 10);
    dp_svi_free(svi);
    entry_is(&b, 100, 100, false);
    svi = start(&b);
    walk(svi, 10);
    assert_ok(dp_svi_settle(svi, &err), err.text);
    entry_is(&b, 10, 10, true);
    fails(dp_svi_step(svi, &err), DP_ESTATE, &err, "settled after 10 steps");
    fails(dp_svi_settle(svi, &err), DP_ESTATE, &err, "already");
    dp_svi_free(svi);
    bench without = set_up(&plain, 0);
    svi = start(&without);
    fails(dp_svi_settle(svi, &err), DP_ESTATE, &err, "no ledger");
    dp_svi_free(svi);
    tear_down(&without);
    tear_down(&b);
}

static void an_orderly_stop_costs_nothing(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy privacy;
    double epsilon;
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b);
    walk(svi, 40);
    save(svi, "run");
    dp_svi_free(svi);
    entry_is(&b, 100, 40, false);
    svi = go_on(&b, "run");
    entry_is(&b, 100, 40, false);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    entry_is(&b, 100, 100, true);
    const dp_mechanism whole = gaussian(50, 100);
    assert_ok(dp_epsilon(&whole, svi->opts.delta, &epsilon, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_true(privacy.epsilon == epsilon && privacy.warning == NULL);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Saved at 40, lost somewhere after 45: what the ledger has leased counts, and each resumption adds what
 * the one before has begun. */
static void lost_steps_and_second_resumptions_are_paid(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy privacy;
    double epsilon;
    bench b = set_up(&plain, 2);
    dp_svi *first = start(&b);
    walk(first, 40);
    save(first, "run");
    walk(first, 5); /* leases of 2, 4: up to 46 */
    entry_is(&b, 100, 46, false);
    dp_svi *second = go_on(&b, "run");
    entry_is(&b, 106, 46, false);
    walk(first, 1); /* the rest of its lease, which is counted, */
    fails(dp_svi_step(first, &err), DP_EPRIVACY, &err, "resumed elsewhere");
    fails(dp_svi_save(first, folder_path("other"), &err), DP_EPRIVACY, &err, "elsewhere");
    walk(second, 1);
    entry_is(&b, 106, 48, false);
    dp_svi *third = go_on(&b, "run");
    entry_is(&b, 108, 48, false);
    assert_ok(dp_svi_run(third, NULL, &err), err.text);
    entry_is(&b, 108, 108, true);
    assert_int_equal(dp_svi_step(second, NULL), DP_OK); /* leased */
    assert_int_equal(dp_svi_step(second, NULL), DP_EPRIVACY);
    assert_ok(dp_svi_privacy(third, &privacy, &err), err.text);
    const dp_mechanism whole = gaussian(50, 108);
    assert_ok(dp_epsilon(&whole, third->opts.delta, &epsilon, &err), err.text);
    assert_true(privacy.epsilon == epsilon && privacy.steps == 100);
    dp_svi_free(first);
    dp_svi_free(second);
    dp_svi_free(third);
    tear_down(&b);
}

static void a_resumption_beyond_the_budget_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    double epsilon;
    const dp_mechanism whole = gaussian(50, 110);
    assert_ok(dp_epsilon(&whole, dpi_release_delta(1e-6), &epsilon, &err), err.text);
    bench b = set_up(&plain, epsilon);
    dp_svi *svi = start(&b);
    save(svi, "run");
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    dp_svi_free(svi);
    fails(try(&b, "run", &svi, &err), DP_EPRIVACY, &err, "would fit: 10 steps");
    assert_null(svi);
    entry_is(&b, 100, 100, true);
    tear_down(&b);
}

static void without_a_ledger_the_resumed_run_is_warned_of(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_privacy privacy;
    bench b = set_up(&plain, 0);
    dp_svi *svi = start(&b);
    save(svi, "run");
    dp_svi_free(svi);
    svi = go_on(&b, "run");
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_contains(privacy.warning, "without a ledger");
    dp_svi_free(svi);
    tear_down(&b);
}

/* ---- fork ---- */

/* What a child of fork may do with its parent's run: 1, 2, 4, 8 for a step, settling, saving and a
 * reservation. */
static int allowed_to_child(const bench *b, dp_svi *svi)
{
    int status, allowed = 0;
    (void)fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dp_svi *other;
        allowed |= dp_svi_step(svi, NULL) == DP_OK;
        allowed |= (dp_svi_settle(svi, NULL) == DP_OK) << 1;
        allowed |= (dp_svi_save(svi, folder_path("child"), NULL) == DP_OK) << 2;
        allowed |= (dp_svi_new(b->model, NULL, b->data, &b->opts, &other, NULL) == DP_OK) << 3;
        dp_svi_free(svi);
        dp_ledger_close(b->ledger);
        _exit(allowed);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Parent and child would each take the steps that are paid for once, and either could lower what the other
 * spends. */
static void a_forked_child_may_not_spend_what_its_parent_reserved(void **state)
{
    (void)state;
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b);
    walk(svi, 5);
    assert_int_equal(allowed_to_child(&b, svi), 0);
    entry_is(&b, 100, 100, false);
    save(svi, "run");
    walk(svi, 2); /* one step of its lease is left */
    assert_int_equal(allowed_to_child(&b, svi), 0);
    walk(svi, 93);
    entry_is(&b, 100, 100, true);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Batches of the rest of an epoch, used twice, are not what the account of either process assumes. */
static void a_forked_child_may_not_finish_its_parents_epoch(void **state)
{
    (void)state;
    dp_error err = {0};
    const dp_svi_opts o = {.epsilon = 1,
                           .delta = 1e-6,
                           .clip = 1,
                           .steps = 20,
                           .sampling = DP_SAMPLING_ALLOCATION,
                           .epoch = 10};
    bench b = set_up(&o, 0);
    dp_svi *svi = start(&b);
    walk(svi, 3);
    assert_int_equal(allowed_to_child(&b, svi) & 1, 0);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    dp_svi_free(svi);
    tear_down(&b);
}

/* ---- copies that are put back ---- */

static void copy(const char *from, const char *to)
{
    unsigned char bytes[1 << 17];
    FILE *in = fopen(folder_path(from), "rb"), *out = fopen(folder_path(to), "wb");
    assert_true(in != NULL && out != NULL);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    assert_true(n > 0 && n < sizeof bytes);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void put_back(bench *b)
{
    dp_error err = {0};
    dp_ledger_close(b->ledger);
    copy("kept", "ledger");
    assert_ok(dp_ledger_open(folder_path("ledger"), &b->ledger, &err), err.text);
    b->opts.ledger = b->ledger;
}

/* The number of a run's entry may belong to a cheaper run by then. */
static void a_run_is_not_resumed_on_the_entry_of_another(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    bench b = set_up(&plain, 2);
    copy("ledger", "kept");
    svi = start(&b);
    save(svi, "run");
    dp_svi_free(svi);
    put_back(&b);
    b.opts.sigma = 500;
    dp_svi_free(start(&b));
    fails(try(&b, "run", &svi, &err), DP_EMISMATCH, &err, "older copy");
    put_back(&b);
    b.opts.sigma = plain.sigma;
    dp_model *kept = b.model;
    b.model = make_model(2);
    dp_svi_free(start(&b));
    dp_model_free(b.model);
    b.model = kept;
    fails(try(&b, "run", &svi, &err), DP_EMISMATCH, &err, "older copy");
    tear_down(&b);
}

static void a_ledger_behind_the_checkpoint_is_told(void **state)
{
    (void)state;
    dp_error err = {0};
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b);
    walk(svi, 10);
    save(svi, "run");
    copy("ledger", "kept");
    walk(svi, 30);
    save(svi, "run");
    dp_svi_free(svi);
    put_back(&b);
    fails(try(&b, "run", &svi, &err), DP_EDATA, &err, "older copy");
    assert_null(svi);
    entry_is(&b, 100, 10, false);
    tear_down(&b);
}

/* ---- errors ---- */

static void only_the_same_model_data_and_ledger_will_do(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    bench b = set_up(&plain, 2), wrong;
    dp_svi_free(svi = start(&b));
    svi = start(&b);
    save(svi, "run");
    dp_svi_free(svi);
    fails(try(&b, "none", &svi, &err), DP_EIO, &err, "cannot open");
    fails(try(&b, "data.csv", &svi, &err), DP_EDATA, &err, "no checkpoint");
    wrong = b;
    wrong.model = make_model(1 + 1e-15);
    fails(try(&wrong, "run", &svi, &err), DP_EMISMATCH, &err, "model");
    const dp_resume_opts with = {.ledger = b.ledger};
    assert_int_equal(
        dp_svi_resume(folder_path("run"), b.model, wrong.model, b.data, &with, &svi, NULL),
        DP_EMISMATCH);
    dp_model_free(wrong.model);
    wrong = b;
    wrong.ledger = NULL;
    fails(try(&wrong, "run", &svi, &err), DP_EPRIVACY, &err, "open that ledger");
    assert_ok(dp_ledger_create(folder_path("second"), &wrong.ledger, &err), err.text);
    fails(try(&wrong, "run", &svi, &err), DP_EMISMATCH, &err, "another ledger");
    dp_ledger_close(wrong.ledger);
    x[0] = 77;
    fails(try(&b, "run", &svi, &err), DP_EDATA, &err, "column 'x'");
    x[0] = -2;
    b.opts.ledger = NULL;
    svi = start(&b);
    save(svi, "free");
    dp_svi_free(svi);
    fails(try(&b, "free", &svi, &err), DP_EPRIVACY, &err, "started without a ledger");
    tear_down(&b);
}

static void every_changed_byte_is_told(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_arena arena = {NULL};
    dpi_checkpoint c;
    unsigned char bytes[1000];
    bench b = set_up(&plain, 0);
    dp_svi *svi = start(&b);
    save(svi, "run");
    FILE *file = fopen(folder_path("run"), "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_ok(dpi_checkpoint_parse(bytes, n, &arena, &c, &err), err.text);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dpi_checkpoint_parse(bytes, i, &arena, &c, NULL), DP_EDATA);
        bytes[i] ^= 1;
        assert_int_equal(dpi_checkpoint_parse(bytes, n, &arena, &c, NULL), DP_EDATA);
        bytes[i] ^= 1;
    }
    dpi_arena_free(&arena);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Else the fuzzer would see refusals only. */
static void the_fuzzers_corpus_is_of_this_version(void **state)
{
    (void)state;
    static const char *const names[] = {"two-parameters", "loss-and-clip-norm"};
    const char *root = getenv("top_srcdir");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dp_error err = {0};
        dpi_arena arena = {NULL};
        dpi_checkpoint c;
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/fuzz/corpus/checkpoint/%s", root ? root : "..",
                       names[i]);
        assert_ok(dpi_checkpoint_read(path, &arena, &c, &err), err.text);
        assert_int_equal(c.loss_step, 6 * i);
        dpi_arena_free(&arena);
    }
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *list = opendir(folder_path("."));
    assert_non_null(list);
    while (readdir(list) != NULL)
        count++;
    (void)closedir(list);
    return count;
}

/* No file may grow beyond 100 bytes, as on a full disk: the old checkpoint stays, and nothing beside it;
 * no run starts that the ledger could not write down. */
static void a_full_disk_leaves_what_was_there(void **state)
{
    (void)state;
    dp_error err = {0};
    struct rlimit kept, small;
    bench b = set_up(&plain, 2);
    dp_svi *svi = start(&b), *other;
    walk(svi, 3);
    save(svi, "run");
    walk(svi, 3);
    int files = files_in_folder();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    small = kept;
    small.rlim_cur = 100;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    dp_status saved = dp_svi_save(svi, folder_path("run"), &err);
    dp_status started = dp_svi_new(b.model, NULL, b.data, &b.opts, &other, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    fails(saved, DP_EIO, &err, "room on the disk");
    assert_int_equal(started, DP_EIO);
    assert_null(other);
    assert_int_equal(files_in_folder(), files);
    assert_int_equal(dp_svi_save(svi, folder_path("none/run"), NULL), DP_EIO);
    dp_svi_free(svi);
    svi = go_on(&b, "run");
    assert_int_equal(svi->optimizer.done, 3);
    dp_svi_free(svi);
    tear_down(&b);
}

static void memory_may_run_out_while_saving_and_resuming(void **state)
{
    (void)state;
    bool failed;
    size_t k = 0;
    dp_svi_opts o = plain;
    o.sigma = 1000;
    bench b = set_up(&o, 2);
    dp_svi *svi = start(&b);
    walk(svi, 3);
    save(svi, "run");
    size_t live = faulty_live();
    do {
        dp_error err = {0};
        dp_svi *again = NULL;
        faulty_fail(++k);
        dp_status status = try(&b, "run", &again, &err);
        if (status == DP_OK)
            status = dp_svi_save(again, folder_path("run"), &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_svi_free(again);
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 20 && k < 1000);
    dp_svi_free(svi);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_has_the_state_that_was_saved),
        cmocka_unit_test(loss_and_clip_norm_go_on),
        cmocka_unit_test(losses_that_cannot_be_are_damage),
        cmocka_unit_test(no_noise_is_repeated),
        cmocka_unit_test(a_checkpoint_has_no_room_for_secrets),
        cmocka_unit_test(epochs_are_not_cut),
        cmocka_unit_test(a_run_reserves_first_and_settles_last),
        cmocka_unit_test(a_refused_run_does_not_touch_the_data),
        cmocka_unit_test(a_run_that_could_not_be_made_spends_nothing),
        cmocka_unit_test(a_budget_that_hides_the_number_of_records_refuses_what_tells_it),
        cmocka_unit_test(only_settling_lowers),
        cmocka_unit_test(an_orderly_stop_costs_nothing),
        cmocka_unit_test(lost_steps_and_second_resumptions_are_paid),
        cmocka_unit_test(a_resumption_beyond_the_budget_is_refused),
        cmocka_unit_test(without_a_ledger_the_resumed_run_is_warned_of),
        cmocka_unit_test(a_forked_child_may_not_spend_what_its_parent_reserved),
        cmocka_unit_test(a_forked_child_may_not_finish_its_parents_epoch),
        cmocka_unit_test(a_run_is_not_resumed_on_the_entry_of_another),
        cmocka_unit_test(a_ledger_behind_the_checkpoint_is_told),
        cmocka_unit_test(only_the_same_model_data_and_ledger_will_do),
        cmocka_unit_test(every_changed_byte_is_told),
        cmocka_unit_test(the_fuzzers_corpus_is_of_this_version),
        cmocka_unit_test(a_full_disk_leaves_what_was_there),
        cmocka_unit_test(memory_may_run_out_while_saving_and_resuming),
    };
    return cmocka_run_group_tests_name("save", tests, folder_make, folder_remove);
}
