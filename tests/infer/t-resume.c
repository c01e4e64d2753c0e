/* Fits that end early and go on: the answer is that of a fit that nothing has interrupted, no
 * release is made twice, and what is no journal of this fit is refused. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "infer/journal.h"
#include "tests/graph/faulty.h"
#include "tests/infer/releases.h"
#include "tests/infer/scene.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

/* ---- the same answer ---- */

static void stopped_anywhere_the_answer_is_the_same(void **state)
{
    static const char *const models[] = {"normal", "normal, slopes by group"};
    static scene s;
    static double whole[SCENE_KEPT], pieces[SCENE_KEPT];
    dp_error err = {0};
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        scene_set_up(&s, models[m]);
        s.opts.threads = 1 + m;
        s.opts.journal = NULL;
        s.opts.watch = NULL;
        assert_ok(scene_fit(&s, false, whole, &err), err.text);
        s.opts.journal = s.journal;
        s.opts.watch = scene_stop;
        for (uint64_t k = 1; k <= SCENE_PLANNED; k++) {
            s.stop_at = k;
            releases_forget();
            assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
            assert_int_equal(releases_count(), k);
            s.stop_at = UINT64_MAX;
            assert_ok(scene_fit(&s, true, pieces, &err), err.text);
            assert_memory_equal(pieces, whole, sizeof whole);
            assert_int_equal(unlink(folder_path("journal")), 0);
        }
        scene_tear_down(&s);
    }
}

static void it_may_be_stopped_each_time(void **state)
{
    static scene s;
    static double whole[SCENE_KEPT], pieces[SCENE_KEPT];
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "bernoulli");
    assert_ok(scene_fit(&s, false, whole, &err), err.text);
    assert_int_equal(unlink(folder_path("journal")), 0);
    for (uint64_t k = 1; k <= SCENE_PLANNED; k++) {
        s.stop_at = k;
        assert_fails(scene_fit(&s, k > 1, NULL, &err), DP_ESTOPPED, &err, "stopped");
    }
    s.stop_at = UINT64_MAX;
    assert_ok(scene_fit(&s, true, pieces, &err), err.text);
    assert_memory_equal(pieces, whole, sizeof whole);
    scene_tear_down(&s);
}

/* With noise that nobody knows the releases before the end are those of the journal, and none is
 * made but the others; and a journal that has all gives the same answer again. */
static void no_release_is_made_twice(void **state)
{
    static scene s;
    static double first[SCENE_KEPT], again[SCENE_KEPT];
    static unsigned char before[SCENE_FILE], after[SCENE_FILE];
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    s.opts.seed = 0;
    for (uint64_t k = 1; k <= SCENE_PLANNED; k += 4) {
        (void)unlink(folder_path("journal"));
        s.stop_at = k;
        assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
        size_t n = scene_load("journal", before);
        releases_forget();
        s.stop_at = UINT64_MAX;
        assert_ok(scene_fit(&s, true, first, &err), err.text);
        assert_int_equal(releases_count(), SCENE_PLANNED - k);
        assert_true(scene_load("journal", after) >= n);
        size_t keys = 256 + 32 * (size_t)k, records = 256 + 32 * SCENE_PLANNED;
        assert_memory_equal(before, after, keys);
        assert_memory_equal(before + records, after + records, n - records);
        releases_forget();
        assert_ok(scene_fit(&s, true, again, &err), err.text);
        assert_int_equal(releases_count(), 0);
        assert_memory_equal(first, again, sizeof first);
    }
    scene_tear_down(&s);
}

static void pause_for(long nanoseconds)
{
    const struct timespec t = {.tv_nsec = nanoseconds};
    (void)nanosleep(&t, NULL);
}

/* Whenever a process is killed, also in the middle of writing, the next one goes on. */
static void killed_at_any_time_the_answer_is_the_same(void **state)
{
    static scene s;
    static double whole[SCENE_KEPT], pieces[SCENE_KEPT];
    dp_error err = {0};
    size_t killed = 0;
    (void)state;
    scene_set_up(&s, "normal");
    assert_ok(scene_fit(&s, false, whole, &err), err.text);
    for (long t = 0; t < 30; t++) {
        (void)unlink(folder_path("journal"));
        for (int life = 0; life < 4; life++) {
            bool resume = access(folder_path("journal"), F_OK) == 0;
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0)
                _exit(scene_fit(&s, resume, NULL, NULL) == DP_OK ? 0 : 1);
            pause_for(500000 + 700000 * t + 100000 * life);
            (void)kill(child, SIGKILL);
            int ended;
            assert_int_equal(waitpid(child, &ended, 0), child);
            killed += WIFSIGNALED(ended) != 0;
        }
        bool resume = access(folder_path("journal"), F_OK) == 0;
        dp_status status = scene_fit(&s, resume, pieces, &err);
        if (status == DP_EDATA) { /* killed while the header was written: nothing was released */
            assert_contains(err.text, "without a beginning");
            err = (dp_error){0};
            continue;
        }
        assert_ok(status, err.text);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
    assert_true(killed > 20);
    scene_tear_down(&s);
}

/* What is out of memory goes on later, too. */
static void no_failing_allocation_loses_an_answer(void **state)
{
    static scene s;
    static double whole[SCENE_KEPT], pieces[SCENE_KEPT];
    dp_error err = {0};
    bool failed = true;
    size_t kept = 0;
    (void)state;
    scene_set_up(&s, "normal");
    assert_ok(scene_fit(&s, false, whole, &err), err.text);
    for (size_t k = 1; failed; k += 1 + k / 40) {
        (void)unlink(folder_path("journal"));
        faulty_fail(k);
        dp_status status = scene_fit(&s, false, NULL, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        err = (dp_error){0};
        if (status == DP_OK || access(folder_path("journal"), F_OK) != 0)
            continue;
        kept++;
        assert_ok(scene_fit(&s, true, pieces, &err), err.text);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
    assert_true(kept > 10);
    scene_tear_down(&s);
}

/* Noise that nobody can repeat leaves something to be told with probability 1e-4 at most: not in
 * three fits. */
static void a_hopeless_fit_may_go_on(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    s.opts.epsilon = 0.05;
    s.opts.hopeless_allowed = false;
    dp_status status = DP_OK;
    for (int fits = 0; fits < 3 && status == DP_OK; fits++)
        status = scene_fit(&s, false, NULL, &err);
    assert_fails(status, DP_EPRIVACY, &err, "records tell");
    s.opts.hopeless_allowed = true;
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    scene_tear_down(&s);
}

/* ---- what is refused ---- */

static void another_fit_is_refused(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    scene_refused(&s, DP_ESTATE, "no journal");
    s.stop_at = 3;
    assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTATE, &err, "resume");
    const dp_fit_opts as_begun = s.opts;
    s.opts.epsilon = 2;
    scene_refused(&s, DP_EMISMATCH, "another epsilon");
    s.opts = as_begun;
    s.opts.delta = 1e-7;
    scene_refused(&s, DP_EMISMATCH, "another delta");
    s.opts = as_begun;
    s.opts.rounds = 3;
    scene_refused(&s, DP_EMISMATCH, "another number of rounds");
    s.opts = as_begun;
    s.opts.clip = 1;
    scene_refused(&s, DP_EMISMATCH, "another clip norm");
    s.opts = as_begun;
    s.opts.draws = 500;
    scene_refused(&s, DP_EMISMATCH, "another number of draws");
    s.opts = as_begun;
    s.opts.seed = 6;
    scene_refused(&s, DP_EMISMATCH, "another seed");
    s.opts = as_begun;
    dp_model *own = s.model;
    s.model = reader_named("bernoulli")->make();
    scene_refused(&s, DP_EMISMATCH, "another model");
    dp_model_free(s.model);
    s.model = own;
    dpi_journal *other;
    assert_ok(dpi_journal_open(folder_path("journal"), &other, &err), err.text);
    scene_refused(&s, DP_ESTATE, "another process");
    dpi_journal_free(other);
    s.opts.mode = DP_NO_PRIVACY;
    s.opts.epsilon = s.opts.delta = 0;
    scene_refused(&s, DP_EINVAL, "without privacy");
    s.opts = as_begun;
    s.opts.journal = NULL;
    scene_refused(&s, DP_EINVAL, "without a journal");
    scene_tear_down(&s);
}

/* What is cut or changed is refused, before any release. */
static void a_damaged_journal_is_refused(void **state)
{
    static scene s;
    static unsigned char bytes[SCENE_FILE];
    dp_error err = {0};
    (void)state;
    scene_set_up(&s, "normal");
    s.opts.seed = 0;
    s.stop_at = 9;
    assert_fails(scene_fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    size_t n = scene_load("journal", bytes);
    for (size_t cut = 0; cut < n; cut += 1 + n / 50) {
        scene_store("journal", bytes, cut);
        scene_refused(&s, DP_EDATA, "journal");
    }
    for (size_t at = 100; at < n; at += 1 + n / 50) {
        bool unused = at >= 256 + 9 * 32 && at < 256 + SCENE_PLANNED * 32;
        bytes[at] ^= 4;
        scene_store("journal", bytes, n);
        scene_refused(&s, DP_EDATA, unused ? "" : "damaged");
        bytes[at] ^= 4;
    }
    scene_store("journal", bytes, n);
    s.stop_at = UINT64_MAX;
    assert_ok(scene_fit(&s, true, NULL, &err), err.text);
    scene_tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_anywhere_the_answer_is_the_same),
        cmocka_unit_test(it_may_be_stopped_each_time),
        cmocka_unit_test(no_release_is_made_twice),
        cmocka_unit_test(killed_at_any_time_the_answer_is_the_same),
        cmocka_unit_test(no_failing_allocation_loses_an_answer),
        cmocka_unit_test(a_hopeless_fit_may_go_on),
        cmocka_unit_test(another_fit_is_refused),
        cmocka_unit_test(a_damaged_journal_is_refused),
    };
    int failed = cmocka_run_group_tests_name("resume", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
