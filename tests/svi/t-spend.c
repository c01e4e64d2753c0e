/* Runs that pay from a ledger: what is reserved, what is begun, and who may go on. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random/failure.h"
#include "svi/svi.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/svi/bench.h"

/* The run's account is that of `whole`, and nothing is to be warned of. */
static void costs(const dp_svi *svi, const dp_mechanism *whole)
{
    dp_error err = {0};
    dp_privacy privacy;
    double epsilon;
    assert_ok(dp_epsilon(whole, svi->opts.delta, &epsilon, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_true(privacy.epsilon == epsilon && privacy.warning == NULL);
    assert_int_equal(privacy.steps, svi->optimizer.done);
}

/* An orderly stop after 40 of 100 steps. */
static dp_svi *stopped_and_resumed(const bench *b, dp_svi *svi)
{
    walk(svi, 40);
    save(svi, "run");
    dp_svi_free(svi);
    entry_is(b, 100, 40, false);
    svi = go_on(b, "run");
    entry_is(b, 100, 40, false);
    return svi;
}

/* ---- steps ---- */

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
    assert_fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EPRIVACY, &err,
                 "would fit");
    assert_null(svi);
    b.opts.steps = 100;
    assert_fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EDATA, &err,
                 "column 'y'");
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
    assert_fails(dp_svi_new(other, NULL, b.data, &b.opts, &svi, &err), DP_ENAME, &err, "'z'");
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_true(spent.upper == 0);
    b.opts.ledger_data = NULL;
    assert_fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EINVAL, &err,
                 "ledger_data");
    b.opts.ledger_data = "columns";
    b.opts.seed = 1;
    assert_fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EPRIVACY, &err,
                 "seeded");
    dp_model_free(other);
    tear_down(&b);
}

/* In the form of d3p gradients hold 1/n, which a budget for neighbours of other sizes does not
 * allow. */
static void a_budget_that_hides_the_number_of_records_refuses_what_tells_it(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval spent;
    dp_svi *svi;
    dp_svi_opts o = plain;
    o.form = DP_FORM_PARAMETERS;
    bench b = set_up(&o, 2);
    assert_fails(dp_svi_new(b.model, NULL, b.data, &b.opts, &svi, &err), DP_EMISMATCH, &err,
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
    assert_fails(dp_svi_step(svi, &err), DP_ESTATE, &err, "settled after 10 steps");
    assert_fails(dp_svi_settle(svi, &err), DP_ESTATE, &err, "already");
    dp_svi_free(svi);
    bench without = set_up(&plain, 0);
    svi = start(&without);
    assert_fails(dp_svi_settle(svi, &err), DP_ESTATE, &err, "no ledger");
    dp_svi_free(svi);
    tear_down(&without);
    tear_down(&b);
}

static void an_orderly_stop_costs_nothing(void **state)
{
    (void)state;
    dp_error err = {0};
    bench b = set_up(&plain, 2);
    dp_svi *svi = stopped_and_resumed(&b, start(&b));
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    entry_is(&b, 100, 100, true);
    const dp_mechanism whole = gaussian(50, 100);
    costs(svi, &whole);
    dp_svi_free(svi);
    tear_down(&b);
}

/* What a cut batch is to the accountant is on the entry from the reservation to the end. */
static void a_truncated_run_reserves_goes_on_and_settles_as_such(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval spent;
    double epsilon;
    const dp_ledger_statement *s;
    dp_svi_opts o = plain;
    o.sampling = DP_SAMPLING_TRUNCATED;
    o.rate = 0.25, o.cap = N / 4, o.public_units = N;
    bench b = set_up(&o, 2);
    dp_svi *svi = start(&b);
    entry_is(&b, 100, 100, false);
    svi = stopped_and_resumed(&b, svi);
    walk(svi, 20);
    assert_ok(dp_svi_settle(svi, &err), err.text);
    entry_is(&b, 60, 60, true);
    assert_ok(dp_ledger_read(b.ledger, &s, &err), err.text);
    const dp_mechanism *entry = &s->data[1].entries[s->data[1].n - 1].list[0];
    assert_int_equal(entry->sampling, DP_SAMPLING_TRUNCATED);
    assert_true(entry->rate == o.rate && entry->cap == o.cap && entry->records == N);
    dp_ledger_statement_free(s);
    const dp_mechanism whole = {.sampling = DP_SAMPLING_TRUNCATED,
                                .sigma = o.sigma,
                                .rate = o.rate,
                                .steps = 60,
                                .records = N,
                                .cap = o.cap};
    assert_int_equal(svi->optimizer.done, 60);
    costs(svi, &whole);
    assert_ok(dp_epsilon(&whole, svi->opts.delta, &epsilon, &err), err.text);
    assert_ok(dp_ledger_spent(b.ledger, "columns", &spent, &err), err.text);
    assert_close(spent.upper, epsilon, 1e-3, 0);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Ranks of a group of one, until the wire breaks after a sum has left. */
static int sum_unless_broken(void *context, size_t n, int64_t *values)
{
    (void)n;
    (void)values;
    return *(const int *)context;
}

/* What failed here another rank may have: a checkpoint does not lower the ledger to the steps that
 * were done. */
static void a_step_that_failed_counts_when_the_run_is_saved(void **state)
{
    (void)state;
    dp_error err = {0};
    int broken = 0;
    const dp_group group = {.size = 1, .context = &broken, .sum = sum_unless_broken};
    bench b = set_up(&plain, 2);
    b.opts.group = &group;
    dp_svi *svi = start(&b);
    walk(svi, 40);
    broken = 1;
    assert_fails(dp_svi_step(svi, &err), DP_EIO, &err, "no longer reach");
    broken = 0;
    assert_fails(dp_svi_step(svi, &err), DP_ESTATE, &err, "parted in step 41");
    save(svi, "run");
    entry_is(&b, 100, 41, false);
    dp_svi_free(svi);
    const dp_resume_opts with = {b.ledger, &group};
    assert_ok(dp_svi_resume(folder_path("run"), b.model, NULL, b.data, &with, &svi, &err),
              err.text);
    entry_is(&b, 101, 41, false);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    entry_is(&b, 101, 101, true);
    dp_svi_free(svi);
    tear_down(&b);
}

/* Saved at 40, lost somewhere after 45: what the ledger has leased counts, and each resumption adds
 * what the one before has begun. */
static void lost_steps_and_second_resumptions_are_paid(void **state)
{
    (void)state;
    dp_error err = {0};
    bench b = set_up(&plain, 2);
    dp_svi *first = start(&b);
    walk(first, 40);
    save(first, "run");
    walk(first, 5); /* leases of 2, 4: up to 46 */
    entry_is(&b, 100, 46, false);
    dp_svi *second = go_on(&b, "run");
    entry_is(&b, 106, 46, false);
    walk(first, 1); /* the rest of its lease, which is counted, */
    assert_fails(dp_svi_step(first, &err), DP_EPRIVACY, &err, "resumed elsewhere");
    assert_fails(dp_svi_save(first, folder_path("other"), &err), DP_EPRIVACY, &err, "elsewhere");
    walk(second, 1);
    entry_is(&b, 106, 48, false);
    dp_svi *third = go_on(&b, "run");
    entry_is(&b, 108, 48, false);
    assert_ok(dp_svi_run(third, NULL, &err), err.text);
    entry_is(&b, 108, 108, true);
    assert_int_equal(dp_svi_step(second, NULL), DP_OK); /* leased */
    assert_int_equal(dp_svi_step(second, NULL), DP_EPRIVACY);
    const dp_mechanism whole = gaussian(50, 108);
    costs(third, &whole);
    assert_int_equal(third->optimizer.done, 100);
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
    assert_fails(try(&b, "run", &svi, &err), DP_EPRIVACY, &err, "would fit: 10 steps");
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
 * reservation. It answers through a pipe: memory checkers give the child, which leaves its parent's
 * connection to the ledger alone, an exit status of their own. */
static int allowed_to_child(const bench *b, dp_svi *svi)
{
    int status, answer[2], allowed = 0;
    assert_int_equal(pipe(answer), 0);
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
        _exit(write(answer[1], &allowed, sizeof allowed) != sizeof allowed);
    }
    (void)close(answer[1]);
    assert_int_equal(read(answer[0], &allowed, sizeof allowed), sizeof allowed);
    (void)close(answer[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return allowed;
}

/* Parent and child would each take the steps that are paid for once, and either could lower what
 * the other spends. */
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

/* Batches of the rest of an epoch, used twice, are not what the account of either process
 * assumes. */
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
    assert_fails(try(&b, "run", &svi, &err), DP_EMISMATCH, &err, "older copy");
    put_back(&b);
    b.opts.sigma = plain.sigma;
    dp_model *kept = b.model;
    b.model = make_model(2);
    dp_svi_free(start(&b));
    dp_model_free(b.model);
    b.model = kept;
    assert_fails(try(&b, "run", &svi, &err), DP_EMISMATCH, &err, "older copy");
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
    assert_fails(try(&b, "run", &svi, &err), DP_EDATA, &err, "older copy");
    assert_null(svi);
    entry_is(&b, 100, 10, false);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_reserves_first_and_settles_last),
        cmocka_unit_test(a_refused_run_does_not_touch_the_data),
        cmocka_unit_test(a_run_that_could_not_be_made_spends_nothing),
        cmocka_unit_test(a_budget_that_hides_the_number_of_records_refuses_what_tells_it),
        cmocka_unit_test(only_settling_lowers),
        cmocka_unit_test(an_orderly_stop_costs_nothing),
        cmocka_unit_test(a_truncated_run_reserves_goes_on_and_settles_as_such),
        cmocka_unit_test(a_step_that_failed_counts_when_the_run_is_saved),
        cmocka_unit_test(lost_steps_and_second_resumptions_are_paid),
        cmocka_unit_test(a_resumption_beyond_the_budget_is_refused),
        cmocka_unit_test(without_a_ledger_the_resumed_run_is_warned_of),
        cmocka_unit_test(a_forked_child_may_not_spend_what_its_parent_reserved),
        cmocka_unit_test(a_forked_child_may_not_finish_its_parents_epoch),
        cmocka_unit_test(a_run_is_not_resumed_on_the_entry_of_another),
        cmocka_unit_test(a_ledger_behind_the_checkpoint_is_told),
    };
    return cmocka_run_group_tests_name("spend", tests, folder_make, folder_remove);
}
