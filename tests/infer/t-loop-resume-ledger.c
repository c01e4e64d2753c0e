/* Fits by noisy steps that end early and go on, paid for by a ledger: it counts each release once,
 * and before anybody can read it. */
#include <unistd.h>

#include "infer/journal.h"
#include "tests/infer/loop-scene.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static loop_scene s;
static loop_bytes journal, after;

/* ---- the ledger ---- */

static void pay_from_a_ledger(dp_fit_opts *o, const dp_dataset *data)
{
    dp_error err = {0};
    const dp_budget budget = {.epsilon = 1.001, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = data};
    (void)unlink(folder_path("ledger"));
    o->ledger = folder_ledger(1);
    assert_ok(dp_ledger_add_data(o->ledger, "records", &source, &budget, &err), err.text);
    o->seed = 0;
    o->ledger_data = "records";
}

static void the_ledger_counts_before_a_release_is_used(void **state)
{
    dp_error err = {0};
    loop_scene_begin(&s);
    dp_dataset *data = loop_data(&s.records, LOOP_SCENE_N);
    (void)state;
    pay_from_a_ledger(&s.opts, data);
    for (size_t k = 0; k < LOOP_POINTS; k++) {
        s.stop_at = loop_points[k];
        s.opts.resume = k > 0;
        assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), DP_ESTOPPED, &err,
                     "stopped");
        folder_entry e = folder_look(s.opts.ledger);
        assert_true(e.n == 1 && !e.settled && e.reserved == LOOP_PLANNED);
        assert_int_equal(e.begun, loop_points[k]);
    }
    s.stop_at = UINT64_MAX;
    assert_ok(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), err.text);
    folder_entry e = folder_look(s.opts.ledger);
    assert_true(e.n == 1 && e.settled && e.begun == LOOP_PLANNED && e.reserved == LOOP_PLANNED);
    assert_true(e.spent <= 1.001);
    dp_ledger_close(s.opts.ledger);
    dp_dataset_free(data);
}

/* ---- the order in which things come to the disk ---- */

/* What whoever watches the disk finds behind each sync of the journal. */
static struct syncs {
    bool watched;
    dp_ledger *ledger;
    size_t n;         /* syncs */
    uint64_t most;    /* releases that could be read last */
    uint64_t at_once; /* of them the most that one sync brought */
} seen;

int __real_fsync(int file);
int __wrap_fsync(int file);

static void look(void)
{
    static loop_bytes copy;
    dp_error err = {0};
    dpi_journal *j;
    loop_load("journal", &copy);
    loop_store("copy", &copy);
    assert_ok(dpi_journal_open(folder_path("copy"), &j, &err), err.text);
    uint64_t readable = dpi_journal_count(j), counted = folder_look(seen.ledger).begun;
    dpi_journal_free(j);
    assert_true(readable <= counted);
    assert_true(readable >= seen.most);
    seen.at_once = readable - seen.most > seen.at_once ? readable - seen.most : seen.at_once;
    seen.most = readable;
    seen.n++;
}

int __wrap_fsync(int file)
{
    int result = __real_fsync(file);
    if (seen.watched && result == 0 && access(folder_path("journal"), F_OK) == 0)
        look();
    return result;
}

/* Wherever the machine may fail, no release can be read that the ledger has not counted; several
 * are kept at once; and what the call has come to is told of when all is there. */
static void what_can_be_read_is_counted_at_each_sync(void **state)
{
    dp_error err = {0};
    uint64_t ends[] = {300, UINT64_MAX};
    loop_scene_begin(&s);
    dp_dataset *data = loop_data(&s.records, LOOP_SCENE_N);
    (void)state;
    pay_from_a_ledger(&s.opts, data);
    seen = (struct syncs){.ledger = s.opts.ledger};
    for (int part = 0; part < 2; part++) {
        s.stop_at = ends[part];
        s.opts.resume = part > 0;
        seen.watched = true;
        dp_status status = loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err);
        seen.watched = false;
        assert_int_equal(status, part == 0 ? DP_ESTOPPED : DP_OK);
        assert_int_equal(seen.most, part == 0 ? 300 : LOOP_PLANNED);
        err = (dp_error){0};
    }
    assert_true(seen.at_once > 1);
    assert_in_range(seen.n, 4, LOOP_PLANNED);
    (void)unlink(folder_path("copy"));
    dp_ledger_close(s.opts.ledger);
    dp_dataset_free(data);
}

/* An older copy lacks releases that somebody may have; the budget has no room to make them anew. */
static void an_older_copy_is_refused_by_the_ledger(void **state)
{
    dp_error err = {0};
    loop_scene_begin(&s);
    dp_dataset *data = loop_data(&s.records, LOOP_SCENE_N),
               *others = loop_data(&s.records, LOOP_SCENE_N - 1);
    (void)state;
    pay_from_a_ledger(&s.opts, data);
    s.stop_at = 50;
    assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), DP_ESTOPPED, &err,
                 "stopped");
    loop_load("journal", &journal);
    s.opts.resume = true;
    assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, others, NULL, &err), DP_EDATA, &err,
                 "records");
    s.stop_at = 300;
    assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), DP_ESTOPPED, &err,
                 "stopped");
    loop_load("journal", &after);
    loop_store("journal", &journal);
    s.stop_at = UINT64_MAX;
    releases_forget();
    assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), DP_EPRIVACY, &err,
                 "would make it");
    assert_int_equal(releases_count(), 0);
    loop_store("journal", &after);
    assert_ok(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), err.text);
    dp_ledger_close(s.opts.ledger);
    dp_dataset_free(others);
    dp_dataset_free(data);
}

/* What is stopped before its first release is given back. */
static void what_has_not_begun_is_given_back(void **state)
{
    dp_error err = {0};
    loop_scene_begin(&s);
    dp_dataset *data = loop_data(&s.records, LOOP_SCENE_N);
    (void)state;
    pay_from_a_ledger(&s.opts, data);
    s.stop_at = 0;
    assert_fails(loop_scene_fit_data(&s, LOOP_MIXTURE, data, NULL, &err), DP_ESTOPPED, &err,
                 "stopped");
    folder_entry e = folder_look(s.opts.ledger);
    assert_true(e.n == 1 && e.settled && e.reserved == 0 && e.spent == 0);
    assert_int_equal(access(s.journal, F_OK), -1);
    dp_ledger_close(s.opts.ledger);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_counts_before_a_release_is_used),
        cmocka_unit_test(what_can_be_read_is_counted_at_each_sync),
        cmocka_unit_test(an_older_copy_is_refused_by_the_ledger),
        cmocka_unit_test(what_has_not_begun_is_given_back),
    };
    int failed =
        cmocka_run_group_tests_name("loop-resume-ledger", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
