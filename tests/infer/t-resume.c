/* Fits that end early and go on: the answer is that of a fit that nothing has interrupted, no
 * release is made twice, and the ledger counts each once. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/infer.h>

#include "infer/journal.h"
#include "tests/graph/faulty.h"
#include "tests/infer/loop-models.h"
#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { MOST = 1 << 20, PLANNED = 1 + 2 + 3 + 6 + 2 + 6 + 1 + 2 + 1, KEPT = 400 };

typedef struct scene {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
    dp_ledger *ledger;
    dp_fit_opts opts;
    uint64_t stop_at;
    char journal[256]; /* its path */
} scene;

static unsigned char file[MOST];

static int stop(void *user, const dp_fit_progress *at)
{
    const scene *s = user;
    assert_true(at->kept);
    assert_int_equal(at->planned, PLANNED);
    return at->made >= s->stop_at;
}

static void set_up(scene *s, const char *model)
{
    *s = (scene){.model = reader_named(model)->make(), .stop_at = UINT64_MAX};
    reader_draw(&s->records, 3);
    s->data = reader_data(&s->records, 100);
    s->opts = (dp_fit_opts){.epsilon = 1,
                            .delta = 1e-6,
                            .draws = KEPT,
                            .rounds = 2,
                            .seed = 5,
                            .hopeless_allowed = true,
                            .journal = s->journal,
                            .watch = stop,
                            .watch_user = s};
    (void)snprintf(s->journal, sizeof s->journal, "%s", folder_path("journal"));
    (void)unlink(folder_path("journal"));
    releases_forget();
}

static void tear_down(scene *s)
{
    dp_ledger_close(s->ledger);
    dp_dataset_free(s->data);
    dp_model_free(s->model);
    (void)unlink(folder_path("journal"));
}

/* A budget that such a fit, and no more than `room` of one more, fits into. */
static void open_ledger(scene *s, double room)
{
    dp_error err = {0};
    const dp_budget budget = {.epsilon = 1 + room, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = s->data};
    s->ledger = folder_ledger(1);
    assert_ok(dp_ledger_add_data(s->ledger, "records", &source, &budget, &err), err.text);
    s->opts.seed = 0;
    s->opts.ledger = s->ledger;
    s->opts.ledger_data = "records";
}

/* Fits; draws[KEPT] [out], nullable, of the first number of a latent. */
static dp_status fit(scene *s, bool resume, double *draws, dp_error *err)
{
    dp_fit *made;
    s->opts.resume = resume;
    dp_status status = dp_fit_private(s->model, s->data, &s->opts, &made, err);
    assert_true((status == DP_OK) == (made != NULL));
    if (made != NULL && draws != NULL) {
        assert_ok(dp_fit_save(made, folder_path("fit"), err), err->text);
        FILE *f = fopen(folder_path("fit"), "rb");
        assert_non_null(f);
        size_t n = fread(file, 1, MOST, f);
        assert_true(n > 1000 && n < MOST);
        (void)fclose(f);
        /* The last ones of the file are hashes and draws: what differs in a draw differs there. */
        memcpy(draws, file + n - KEPT * sizeof *draws, KEPT * sizeof *draws);
        (void)unlink(folder_path("fit"));
    }
    dp_fit_free(made);
    return status;
}

static size_t load(const char *name, unsigned char bytes[MOST])
{
    FILE *f = fopen(folder_path(name), "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, MOST, f);
    assert_true(n < MOST);
    (void)fclose(f);
    return n;
}

static void store(const char *name, const unsigned char *bytes, size_t n)
{
    FILE *f = fopen(folder_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* ---- the same answer ---- */

static void stopped_anywhere_the_answer_is_the_same(void **state)
{
    static const char *const models[] = {"normal", "normal, slopes by group"};
    static scene s;
    static double whole[KEPT], pieces[KEPT];
    dp_error err = {0};
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        set_up(&s, models[m]);
        s.opts.threads = 1 + m;
        s.opts.journal = NULL;
        s.opts.watch = NULL;
        assert_ok(fit(&s, false, whole, &err), err.text);
        s.opts.journal = s.journal;
        s.opts.watch = stop;
        for (uint64_t k = 1; k <= PLANNED; k++) {
            s.stop_at = k;
            releases_forget();
            assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
            assert_int_equal(releases_count(), k);
            s.stop_at = UINT64_MAX;
            assert_ok(fit(&s, true, pieces, &err), err.text);
            assert_memory_equal(pieces, whole, sizeof whole);
            assert_int_equal(unlink(folder_path("journal")), 0);
        }
        tear_down(&s);
    }
}

static void it_may_be_stopped_each_time(void **state)
{
    static scene s;
    static double whole[KEPT], pieces[KEPT];
    dp_error err = {0};
    (void)state;
    set_up(&s, "bernoulli");
    assert_ok(fit(&s, false, whole, &err), err.text);
    assert_int_equal(unlink(folder_path("journal")), 0);
    for (uint64_t k = 1; k <= PLANNED; k++) {
        s.stop_at = k;
        assert_fails(fit(&s, k > 1, NULL, &err), DP_ESTOPPED, &err, "stopped");
    }
    s.stop_at = UINT64_MAX;
    assert_ok(fit(&s, true, pieces, &err), err.text);
    assert_memory_equal(pieces, whole, sizeof whole);
    tear_down(&s);
}

/* With noise that nobody knows the releases before the end are those of the journal, and none is
 * made but the others; and a journal that has all gives the same answer again. */
static void no_release_is_made_twice(void **state)
{
    static scene s;
    static double first[KEPT], again[KEPT];
    static unsigned char before[MOST], after[MOST];
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    s.opts.seed = 0;
    for (uint64_t k = 1; k <= PLANNED; k += 4) {
        (void)unlink(folder_path("journal"));
        s.stop_at = k;
        assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
        size_t n = load("journal", before);
        releases_forget();
        s.stop_at = UINT64_MAX;
        assert_ok(fit(&s, true, first, &err), err.text);
        assert_int_equal(releases_count(), PLANNED - k);
        assert_true(load("journal", after) >= n);
        size_t keys = 256 + 32 * (size_t)k, records = 256 + 32 * PLANNED;
        assert_memory_equal(before, after, keys);
        assert_memory_equal(before + records, after + records, n - records);
        releases_forget();
        assert_ok(fit(&s, true, again, &err), err.text);
        assert_int_equal(releases_count(), 0);
        assert_memory_equal(first, again, sizeof first);
    }
    tear_down(&s);
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
    static double whole[KEPT], pieces[KEPT];
    dp_error err = {0};
    size_t killed = 0;
    (void)state;
    set_up(&s, "normal");
    assert_ok(fit(&s, false, whole, &err), err.text);
    for (long t = 0; t < 30; t++) {
        (void)unlink(folder_path("journal"));
        for (int life = 0; life < 4; life++) {
            bool resume = access(folder_path("journal"), F_OK) == 0;
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0)
                _exit(fit(&s, resume, NULL, NULL) == DP_OK ? 0 : 1);
            pause_for(500000 + 700000 * t + 100000 * life);
            (void)kill(child, SIGKILL);
            int ended;
            assert_int_equal(waitpid(child, &ended, 0), child);
            killed += WIFSIGNALED(ended) != 0;
        }
        bool resume = access(folder_path("journal"), F_OK) == 0;
        dp_status status = fit(&s, resume, pieces, &err);
        if (status == DP_EDATA) { /* killed while the header was written: nothing was released */
            assert_contains(err.text, "without a beginning");
            err = (dp_error){0};
            continue;
        }
        assert_ok(status, err.text);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
    assert_true(killed > 20);
    tear_down(&s);
}

/* What is out of memory goes on later, too. */
static void no_failing_allocation_loses_an_answer(void **state)
{
    static scene s;
    static double whole[KEPT], pieces[KEPT];
    dp_error err = {0};
    bool failed = true;
    size_t kept = 0;
    (void)state;
    set_up(&s, "normal");
    assert_ok(fit(&s, false, whole, &err), err.text);
    for (size_t k = 1; failed; k += 1 + k / 40) {
        (void)unlink(folder_path("journal"));
        faulty_fail(k);
        dp_status status = fit(&s, false, NULL, &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        err = (dp_error){0};
        if (status == DP_OK || access(folder_path("journal"), F_OK) != 0)
            continue;
        kept++;
        assert_ok(fit(&s, true, pieces, &err), err.text);
        assert_memory_equal(pieces, whole, sizeof whole);
    }
    assert_true(kept > 10);
    tear_down(&s);
}

/* Noise that nobody can repeat leaves something to be told with probability 1e-4 at most. */
static void a_hopeless_fit_may_go_on(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    s.opts.epsilon = 0.05;
    s.opts.hopeless_allowed = false;
    assert_fails(fit(&s, false, NULL, &err), DP_EPRIVACY, &err, "records tell");
    s.opts.hopeless_allowed = true;
    assert_ok(fit(&s, true, NULL, &err), err.text);
    tear_down(&s);
}

/* ---- what is refused ---- */

static void refused(scene *s, dp_status expected, const char *why)
{
    dp_error err = {0};
    releases_forget();
    assert_fails(fit(s, true, NULL, &err), expected, &err, why);
    assert_int_equal(releases_count(), 0);
}

static void another_fit_is_refused(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    refused(&s, DP_ESTATE, "no journal");
    s.stop_at = 3;
    assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    assert_fails(fit(&s, false, NULL, &err), DP_ESTATE, &err, "resume");
    const dp_fit_opts as_begun = s.opts;
    s.opts.epsilon = 2;
    refused(&s, DP_EMISMATCH, "another epsilon");
    s.opts = as_begun;
    s.opts.delta = 1e-7;
    refused(&s, DP_EMISMATCH, "another delta");
    s.opts = as_begun;
    s.opts.rounds = 3;
    refused(&s, DP_EMISMATCH, "another number of rounds");
    s.opts = as_begun;
    s.opts.clip = 1;
    refused(&s, DP_EMISMATCH, "another clip norm");
    s.opts = as_begun;
    s.opts.draws = 500;
    refused(&s, DP_EMISMATCH, "another number of draws");
    s.opts = as_begun;
    s.opts.seed = 6;
    refused(&s, DP_EMISMATCH, "another seed");
    s.opts = as_begun;
    dp_model *own = s.model;
    s.model = reader_named("bernoulli")->make();
    refused(&s, DP_EMISMATCH, "another model");
    dp_model_free(s.model);
    s.model = own;
    dpi_journal *other;
    assert_ok(dpi_journal_open(folder_path("journal"), &other, &err), err.text);
    refused(&s, DP_ESTATE, "another process");
    dpi_journal_free(other);
    s.opts.mode = DP_NO_PRIVACY;
    s.opts.epsilon = s.opts.delta = 0;
    refused(&s, DP_EINVAL, "without privacy");
    s.opts = as_begun;
    s.opts.journal = NULL;
    refused(&s, DP_EINVAL, "without a journal");
    tear_down(&s);
}

static void the_loop_keeps_none(void **state)
{
    static scene s;
    static loop_records r;
    dp_error err = {0};
    dp_fit *made;
    (void)state;
    loop_draw(&r);
    dp_dataset *data = loop_data(&r, 100);
    dp_model *model = loop_models[0].make();
    s.opts = (dp_fit_opts){
        .epsilon = 1, .delta = 1e-6, .seed = 5, .journal = folder_path("none"), .resume = true};
    assert_fails(dp_fit_private(model, data, &s.opts, &made, &err), DP_EUNSUPPORTED, &err,
                 "noisy steps");
    s.opts.resume = false;
    assert_ok(dp_fit_private(model, data, &s.opts, &made, &err), err.text);
    assert_int_equal(access(folder_path("none"), F_OK), -1);
    dp_fit_free(made);
    dp_model_free(model);
    dp_dataset_free(data);
}

/* What is cut or changed is refused, before any release. */
static void a_damaged_journal_is_refused(void **state)
{
    static scene s;
    static unsigned char bytes[MOST];
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    s.opts.seed = 0;
    s.stop_at = 9;
    assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    size_t n = load("journal", bytes);
    for (size_t cut = 0; cut < n; cut += 1 + n / 50) {
        store("journal", bytes, cut);
        refused(&s, DP_EDATA, "journal");
    }
    for (size_t at = 100; at < n; at += 1 + n / 50) {
        bool unused = at >= 256 + 9 * 32 && at < 256 + PLANNED * 32;
        bytes[at] ^= 4;
        store("journal", bytes, n);
        refused(&s, DP_EDATA, unused ? "" : "damaged");
        bytes[at] ^= 4;
    }
    store("journal", bytes, n);
    s.stop_at = UINT64_MAX;
    assert_ok(fit(&s, true, NULL, &err), err.text);
    tear_down(&s);
}

/* ---- the ledger ---- */

typedef struct entry {
    size_t n;
    bool settled;
    uint64_t reserved, begun;
    double spent;
} entry;

static entry look(const scene *s)
{
    dp_error err = {0};
    const dp_ledger_statement *all;
    dp_interval spent;
    assert_ok(dp_ledger_spent(s->ledger, "records", &spent, &err), err.text);
    assert_ok(dp_ledger_read(s->ledger, &all, &err), err.text);
    const dp_ledger_data *mine = &all->data[1];
    entry found = {.n = mine->n, .spent = spent.upper};
    for (size_t k = 0; mine->n > 0 && k < mine->entries[0].n; k++) {
        found.settled = mine->entries[0].settled > 0;
        found.reserved += mine->entries[0].list[k].steps;
        found.begun += mine->entries[0].begun[k];
    }
    dp_ledger_statement_free(all);
    return found;
}

static void the_ledger_pays_once(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    open_ledger(&s, 0.001);
    for (uint64_t k = 0; k <= PLANNED; k += 5) {
        s.stop_at = k;
        dp_status status = fit(&s, k > 0 && access(folder_path("journal"), F_OK) == 0, NULL, &err);
        assert_fails(status, DP_ESTOPPED, &err, "stopped");
        entry e = look(&s);
        assert_int_equal(e.n, k == 0 ? 1 : 2); /* what was stopped before it began is given back */
        if (k == 0)
            assert_true(e.settled && e.reserved == 0 && e.spent == 0);
        assert_true(k == 0 || e.spent > 0.99);
    }
    s.stop_at = UINT64_MAX;
    assert_ok(fit(&s, true, NULL, &err), err.text);
    assert_true(look(&s).n == 2 && look(&s).spent < 1.001);
    tear_down(&s);
}

static void each_release_is_counted_before_it_is_used(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    open_ledger(&s, 0.001);
    for (uint64_t k = 1; k <= PLANNED; k++) {
        s.stop_at = k;
        assert_fails(fit(&s, k > 1, NULL, &err), DP_ESTOPPED, &err, "stopped");
        entry e = look(&s);
        assert_true(e.n == 1 && !e.settled && e.begun == k && e.reserved == PLANNED);
    }
    s.stop_at = UINT64_MAX;
    assert_ok(fit(&s, true, NULL, &err), err.text);
    entry e = look(&s);
    assert_true(e.n == 1 && e.settled && e.begun == PLANNED && e.reserved == PLANNED);
    releases_forget();
    assert_ok(fit(&s, true, NULL, &err), err.text);
    assert_int_equal(releases_count(), 0);
    e = look(&s);
    assert_true(e.n == 1 && e.settled && e.reserved == PLANNED && e.spent < 1.001);
    tear_down(&s);
}

/* An older copy lacks releases that somebody may have: those that it makes anew are paid for, or
 * refused. */
static void an_older_copy_pays_again(void **state)
{
    static scene s;
    static unsigned char bytes[MOST];
    dp_error err = {0};
    (void)state;
    for (int room = 0; room < 2; room++) {
        set_up(&s, "normal");
        open_ledger(&s, room ? 1 : 0.001);
        s.stop_at = 5;
        assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
        size_t n = load("journal", bytes);
        s.stop_at = 20;
        assert_fails(fit(&s, true, NULL, &err), DP_ESTOPPED, &err, "stopped");
        store("journal", bytes, n);
        s.stop_at = UINT64_MAX;
        if (room == 0) {
            refused(&s, DP_EPRIVACY, "would make it");
        } else {
            assert_ok(fit(&s, true, NULL, &err), err.text);
            entry e = look(&s);
            assert_true(e.n == 1 && e.reserved == PLANNED + 15 && e.spent > 1.01);
        }
        tear_down(&s);
    }
}

/* Somebody else takes over while the first goes on: that one makes no release any more. */
typedef struct rival {
    scene *s;
    bool done;
} rival;

static int take_over(void *user, const dp_fit_progress *at)
{
    static unsigned char bytes[MOST];
    rival *r = user;
    dp_error err = {0};
    dp_fit *made;
    if (at->made != 7 || r->done)
        return 0;
    r->done = true;
    store("copy", bytes, load("journal", bytes));
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
    set_up(&s, "normal");
    open_ledger(&s, 0.001);
    rival r = {.s = &s};
    s.opts.watch = take_over;
    s.opts.watch_user = &r;
    assert_fails(fit(&s, false, NULL, &err), DP_EPRIVACY, &err, "resumed elsewhere");
    assert_true(r.done && look(&s).reserved == PLANNED);
    dpi_journal *mine;
    assert_ok(dpi_journal_open(folder_path("journal"), &mine, &err), err.text);
    assert_int_equal(dpi_journal_count(mine), 7);
    dpi_journal_free(mine);
    (void)unlink(folder_path("copy"));
    tear_down(&s);
}

static void the_ledger_must_be_that_of_the_fit(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal");
    open_ledger(&s, 1);
    s.stop_at = 5;
    assert_fails(fit(&s, false, NULL, &err), DP_ESTOPPED, &err, "stopped");
    s.stop_at = UINT64_MAX;
    s.opts.ledger = NULL;
    s.opts.ledger_data = NULL;
    refused(&s, DP_EPRIVACY, "entry 1");
    s.opts.ledger = s.ledger;
    s.opts.ledger_data = "records";
    s.records.real[7] += 1; /* other records than the ledger has */
    refused(&s, DP_EDATA, "");
    s.records.real[7] -= 1;
    assert_ok(fit(&s, true, NULL, &err), err.text);
    tear_down(&s);
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
        cmocka_unit_test(the_loop_keeps_none),
        cmocka_unit_test(a_damaged_journal_is_refused),
        cmocka_unit_test(the_ledger_pays_once),
        cmocka_unit_test(each_release_is_counted_before_it_is_used),
        cmocka_unit_test(an_older_copy_pays_again),
        cmocka_unit_test(of_two_that_go_on_one_is_stopped),
        cmocka_unit_test(the_ledger_must_be_that_of_the_fit),
    };
    int failed = cmocka_run_group_tests_name("resume", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
