/* Fits that end early and go on, paid for by a ledger: it counts each release once, also where a
 * journal is copied or two go on with one. */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include <tacit/owners.h>

#include "infer/journal.h"
#include "tests/infer/releases.h"
#include "tests/infer/scene.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static void the_ledger_pays_once(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    scene_open_ledger(&s, 0.001);
    for (uint64_t k = 0; k <= SCENE_PLANNED; k += 5) {
        s.stop_at = k;
        dp_status status =
            scene_fit(&s, k > 0 && access(folder_path("journal"), F_OK) == 0, NULL, &err);
        assert_fails(status, DP_ESTOPPED, &err, "stopped");
        folder_entry e = folder_look(s.ledger);
        assert_int_equal(e.n, k == 0 ? 1 : 2); /* what was stopped before it began is given back */
        if (k == 0)
            assert_true(e.settled && e.reserved == 0 && e.spent == 0);
        assert_true(k == 0 || e.spent > 0.99);
    }
    s.stop_at = UINT64_MAX;
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    assert_true(folder_look(s.ledger).n == 2 && folder_look(s.ledger).spent < 1.001);
    scene_tear_down(&s);
}

static void each_release_is_counted_before_it_is_used(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    scene_open_ledger(&s, 0.001);
    for (uint64_t k = 1; k <= SCENE_PLANNED; k++) {
        s.stop_at = k;
        assert_fails(scene_fit(&s, k > 1, NULL, &err), DP_ESTOPPED, &err, "stopped");
        folder_entry e = folder_look(s.ledger);
        assert_true(e.n == 1 && !e.settled && e.begun == k && e.reserved == SCENE_PLANNED);
    }
    s.stop_at = UINT64_MAX;
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    folder_entry e = folder_look(s.ledger);
    assert_true(e.n == 1 && e.settled && e.begun == SCENE_PLANNED && e.reserved == SCENE_PLANNED);
    releases_forget();
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    assert_int_equal(releases_count(), 0);
    e = folder_look(s.ledger);
    assert_true(e.n == 1 && e.settled && e.reserved == SCENE_PLANNED && e.spent < 1.001);
    scene_tear_down(&s);
}

/* An older copy lacks releases that somebody may have: those that it makes anew are paid for, or
 * refused. */
static void an_older_copy_pays_again(void **state)
{
    static scene s;
    static unsigned char bytes[SCENE_FILE];
    dp_error err = {0};
    (void)state;
    for (int room = 0; room < 2; room++) {
        scene_set_up(&s, "normal");
        scene_open_ledger(&s, room ? 1 : 0.001);
        s.stop_at = 5;
        assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
        size_t n = scene_load("journal", bytes);
        s.stop_at = 20;
        assert_fails(scene_fit(&s, true, NULL, &err), DP_ESTOPPED, &err, "stopped");
        scene_store("journal", bytes, n);
        s.stop_at = UINT64_MAX;
        if (room == 0) {
            scene_refused(&s, DP_EPRIVACY, "would make it");
        } else {
            assert_ok(scene_fit(&s, true, NULL, &err), err.text);
            folder_entry e = folder_look(s.ledger);
            assert_true(e.n == 1 && e.reserved == SCENE_PLANNED + 15 && e.spent > 1.01);
        }
        scene_tear_down(&s);
    }
}

static dp_status open_own(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    (void)context;
    (void)question;
    (void)n;
    (void)values;
    (void)err;
    return DP_OK;
}

/* A crash between the ledger's count and the journal leaves one release counted that the journal
 * has not.  Owners that open it again as it was pay once; of more than one, and others, each is
 * paid. */
static void what_is_repeated_is_paid_once(void **state)
{
    static scene s;
    static unsigned char bytes[SCENE_FILE];
    dp_error err = {0};
    (void)state;
    for (uint64_t lost = 0; lost <= 2; lost++)
        for (int repeats = 0; repeats < 2; repeats++) {
            const dp_owners alone = {.size = 1,
                                     .honest = 1,
                                     .seed = 7,
                                     .most_records = READER_RECORDS,
                                     .repeats = repeats,
                                     .open = open_own};
            scene_set_up(&s, "normal");
            scene_open_ledger(&s, 0.001);
            s.opts.owners = &alone;
            s.stop_at = 4;
            assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
            size_t n = scene_load("journal", bytes);
            if (lost > 0) {
                s.stop_at = 4 + lost;
                assert_fails(scene_fit(&s, true, NULL, &err), DP_ESTOPPED, &err, "stopped");
                scene_store("journal", bytes, n);
            }
            s.stop_at = UINT64_MAX;
            if (lost <= (uint64_t)repeats) {
                assert_ok(scene_fit(&s, true, NULL, &err), err.text);
                folder_entry e = folder_look(s.ledger);
                assert_true(e.settled && e.begun == SCENE_PLANNED && e.reserved == SCENE_PLANNED);
            } else {
                scene_refused(&s, DP_EPRIVACY, "would make it");
            }
            scene_tear_down(&s);
        }
}

/* Somebody else takes over while the first goes on: that one makes no release any more. */
typedef struct rival {
    scene *s;
    bool done;
} rival;

static int take_over(void *user, const dp_fit_progress *at)
{
    static unsigned char bytes[SCENE_FILE];
    rival *r = user;
    dp_error err = {0};
    dp_fit *made;
    if (at->made != 7 || r->done)
        return 0;
    r->done = true;
    scene_store("copy", bytes, scene_load("journal", bytes));
    dp_fit_opts o = r->s->opts;
    assert_ok(dp_ledger_open(folder_path("ledger"), &o.ledger, &err), err.text);
    o.journal = folder_path("copy");
    o.resume = true;
    o.watch = NULL;
    assert_ok(dp_fit_private(r->s->model, r->s->data, &o, &made, &err), err.text);
    dp_fit_free(made);
    dp_ledger_close(o.ledger);
    return 0;
}

static void of_two_that_go_on_one_is_stopped(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    scene_open_ledger(&s, 0.001);
    rival r = {.s = &s};
    s.opts.watch = take_over;
    s.opts.watch_user = &r;
    assert_fails(scene_fit(&s, false, NULL, &err), DP_EPRIVACY, &err, "resumed elsewhere");
    assert_true(r.done && folder_look(s.ledger).reserved == SCENE_PLANNED);
    dpi_journal *mine;
    assert_ok(dpi_journal_open(folder_path("journal"), &mine, &err), err.text);
    assert_int_equal(dpi_journal_count(mine), 7);
    dpi_journal_free(mine);
    (void)unlink(folder_path("copy"));
    scene_tear_down(&s);
}

static void the_ledger_must_be_that_of_the_fit(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    scene_open_ledger(&s, 1);
    s.stop_at = 5;
    assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    s.stop_at = UINT64_MAX;
    s.opts.ledger = NULL;
    s.opts.ledger_data = NULL;
    scene_refused(&s, DP_EPRIVACY, "entry 1");
    s.opts.ledger = s.ledger;
    s.opts.ledger_data = "records";
    s.records.real[7] += 1; /* other records than the ledger has */
    scene_refused(&s, DP_EDATA, "");
    s.records.real[7] -= 1;
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    scene_tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ledger_pays_once),
        cmocka_unit_test(each_release_is_counted_before_it_is_used),
        cmocka_unit_test(an_older_copy_pays_again),
        cmocka_unit_test(what_is_repeated_is_paid_once),
        cmocka_unit_test(of_two_that_go_on_one_is_stopped),
        cmocka_unit_test(the_ledger_must_be_that_of_the_fit),
    };
    int failed = cmocka_run_group_tests_name("resume-ledger", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
