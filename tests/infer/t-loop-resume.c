/* Fits by noisy steps that end early and go on: the answer is that of a fit that nothing has
 * interrupted, no release is made twice, and records are not read again for what was released. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/owners.h>

#include "infer/journal.h"
#include "tests/infer/loop-scene.h"
#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static loop_scene s;
static loop_bytes whole, pieces, journal, after;

/* ---- the same answer ---- */

static void stopped_anywhere_the_answer_is_the_same(void **state)
{
    dp_error err = {0};
    (void)state;
    for (size_t m = 0; m < LOOP_MODELS; m++) {
        loop_scene_begin(&s);
        s.opts.journal = NULL;
        assert_ok(loop_scene_fit(&s, m, &whole, &err), err.text);
        assert_false(s.kept);
        for (size_t k = 0; k < LOOP_POINTS; k++) {
            loop_scene_begin(&s);
            loop_scene_stop(&s, m, loop_points[k]);
            s.opts.threads = 2;
            assert_ok(loop_scene_fit(&s, m, &pieces, &err), err.text);
            loop_same(&pieces, &whole);
        }
    }
}

static void it_may_be_stopped_each_time(void **state)
{
    dp_error err = {0};
    loop_scene_begin(&s);
    (void)state;
    assert_ok(loop_scene_fit(&s, LOOP_CODES, &whole, &err), err.text);
    loop_scene_begin(&s);
    for (size_t k = 0; k < LOOP_POINTS; k++)
        loop_scene_stop(&s, LOOP_CODES, loop_points[k]);
    assert_ok(loop_scene_fit(&s, LOOP_CODES, &pieces, &err), err.text);
    loop_same(&pieces, &whole);
}

/* Where the keys end, of which a group of releases has one. */
static size_t end_of_keys(const loop_bytes *b)
{
    static const unsigned char none[32];
    size_t at = 256;
    while (at < 256 + 32 * LOOP_PLANNED && memcmp(b->at + at, none, sizeof none) != 0)
        at += sizeof none;
    return at;
}

/* With noise that nobody knows, what the journal has is not made again, and it gives the same
 * answer as often as it is asked. */
static void no_release_is_made_twice(void **state)
{
    dp_error err = {0};
    struct stat how;
    (void)state;
    for (size_t m = 0; m < LOOP_MODELS; m++)
        for (size_t k = 0; k < LOOP_POINTS; k += 2) {
            loop_scene_begin(&s);
            s.opts.seed = 0;
            loop_scene_stop(&s, m, loop_points[k]);
            loop_load("journal", &journal);
            assert_int_equal(stat(s.journal, &how), 0);
            assert_int_equal(how.st_mode & 0777, 0600);
            releases_forget();
            assert_ok(loop_scene_fit(&s, m, &whole, &err), err.text);
            assert_int_equal(releases_count(), LOOP_PLANNED - loop_points[k]);
            loop_load("journal", &after);
            size_t keys = end_of_keys(&journal), first = 256 + 32 * LOOP_PLANNED;
            assert_in_range(keys, 256 + 32, 256 + 32 * loop_points[k]);
            assert_true(end_of_keys(&after) > keys || loop_points[k] == LOOP_PLANNED);
            assert_memory_equal(journal.at, after.at, keys);
            assert_memory_equal(journal.at + first, after.at + first, journal.n - first);
            releases_forget();
            assert_ok(loop_scene_fit(&s, m, &pieces, &err), err.text);
            assert_int_equal(releases_count(), 0);
            loop_same(&pieces, &whole);
        }
}

/* Other records give the same fit where all was released before. */
static void records_are_not_read_again(void **state)
{
    static loop_records others;
    dp_error err = {0};
    (void)state;
    loop_draw(&s.records);
    others = s.records;
    for (size_t i = 0; i < LOOP_SCENE_N; i++) {
        others.x[i * LOOP_D] += 7;
        others.y[i] -= 5;
        others.kind[i] = 0;
    }
    for (size_t m = 0; m < LOOP_MODELS; m++) {
        loop_scene_begin(&s);
        s.opts.seed = 0;
        loop_scene_stop(&s, m, LOOP_PLANNED);
        assert_ok(loop_scene_fit(&s, m, &whole, &err), err.text);
        dp_dataset *data = loop_data(&others, LOOP_SCENE_N - 1);
        assert_ok(loop_scene_fit_data(&s, m, data, &pieces, &err), err.text);
        dp_dataset_free(data);
        loop_same(&pieces, &whole);
    }
}

/* Nanoseconds that a fit takes which nobody kills. */
static long time_of_one(void)
{
    dp_error err = {0};
    struct timespec begin, end;
    loop_scene_begin(&s);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_ok(loop_scene_fit(&s, LOOP_COLUMNS, NULL, &err), err.text);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    return (long)(end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}

static void killed_at_any_time_the_answer_is_the_same(void **state)
{
    dp_error err = {0};
    size_t killed = 0;
    loop_scene_begin(&s);
    (void)state;
    s.opts.journal = NULL;
    assert_ok(loop_scene_fit(&s, LOOP_COLUMNS, &whole, &err), err.text);
    const long took = time_of_one();
    for (long t = 0; t < 12; t++) {
        loop_scene_begin(&s);
        for (int life = 0; life < 3; life++) {
            const long wait = took / 40 * (3 * t + life + 1);
            const struct timespec some = {.tv_sec = wait / 1000000000,
                                          .tv_nsec = wait % 1000000000};
            s.opts.resume = access(s.journal, F_OK) == 0;
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0)
                _exit(loop_scene_fit(&s, LOOP_COLUMNS, NULL, NULL) == DP_OK ? 0 : 1);
            (void)nanosleep(&some, NULL);
            (void)kill(child, SIGKILL);
            int ended;
            assert_int_equal(waitpid(child, &ended, 0), child);
            killed += WIFSIGNALED(ended) != 0;
        }
        s.opts.resume = access(s.journal, F_OK) == 0;
        dp_status status = loop_scene_fit(&s, LOOP_COLUMNS, &pieces, &err);
        if (status == DP_EDATA) {
            /* Killed while the header and room for keys were written, of which a page may be there
             * and the next not: nothing was released. */
            struct stat how;
            assert_int_equal(stat(s.journal, &how), 0);
            assert_in_range(how.st_size, 0, 256 + 32 * LOOP_PLANNED - 1);
            assert_contains(err.text, how.st_size < 256 ? "without a beginning" : "is missing");
            err = (dp_error){0};
            continue;
        }
        assert_ok(status, err.text);
        loop_same(&pieces, &whole);
    }
    assert_true(killed > 10);
}

static int jam(void *user, const dp_fit_progress *at)
{
    struct rlimit limit;
    struct stat how;
    loop_scene *mine = user;
    mine->told = at->made;
    if (at->made != 40)
        return 0;
    assert_int_equal(stat(mine->journal, &how), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = (rlim_t)how.st_size; /* files get no longer than the journal is */
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return 0;
}

/* A disk without room ends the fit, which tells nothing of what is not there; later it goes on. */
static void what_cannot_be_kept_is_not_told(void **state)
{
    struct rlimit before;
    dp_error err = {0};
    (void)state;
    loop_scene_begin(&s);
    assert_ok(loop_scene_fit(&s, LOOP_MIXTURE, &whole, &err), err.text);
    loop_scene_begin(&s);
    dp_fit_watch *usual = s.opts.watch;
    s.opts.watch = jam;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_fails(loop_scene_fit(&s, LOOP_MIXTURE, NULL, &err), DP_EIO, &err, "cannot be written");
    assert_true(s.told >= 40);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    s.opts.watch = usual;
    s.opts.resume = true;
    assert_ok(loop_scene_fit(&s, LOOP_MIXTURE, &pieces, &err), err.text);
    loop_same(&pieces, &whole);
}

/* ---- what is refused ---- */

static void another_fit_is_refused(void **state)
{
    dp_error err = {0};
    loop_scene_begin(&s);
    (void)state;
    s.opts.resume = true;
    loop_scene_refused(&s, LOOP_NETWORK, DP_ESTATE, "no journal");
    s.opts.resume = false;
    loop_scene_stop(&s, LOOP_NETWORK, 40);
    const dp_fit_opts begun = s.opts;
    s.opts.resume = false;
    loop_scene_refused(&s, LOOP_NETWORK, DP_ESTATE, "resume");
    s.opts = begun;
    s.opts.epsilon = 2;
    loop_scene_refused(&s, LOOP_NETWORK, DP_EMISMATCH, "another epsilon");
    s.opts = begun;
    s.opts.delta = 1e-7;
    loop_scene_refused(&s, LOOP_NETWORK, DP_EMISMATCH, "another delta");
    s.opts = begun;
    s.opts.seed = 6;
    loop_scene_refused(&s, LOOP_NETWORK, DP_EMISMATCH, "another seed");
    s.opts = begun;
    loop_scene_refused(&s, LOOP_COLUMNS, DP_EMISMATCH, "another model");
    loop_load("journal", &journal);
    for (size_t cut = 0; cut < journal.n; cut += 1 + journal.n / 20) {
        after = journal;
        after.n = cut;
        loop_store("journal", &after);
        loop_scene_refused(&s, LOOP_NETWORK, DP_EDATA, "journal");
    }
    for (size_t at = 0; at < 6; at++) { /* numbers of some release */
        after = journal;
        after.at[journal.n - 40 - 133 * at] ^= 4;
        loop_store("journal", &after);
        loop_scene_refused(&s, LOOP_NETWORK, DP_EDATA, "damaged");
    }
    loop_store("journal", &journal);
    assert_ok(loop_scene_fit(&s, LOOP_NETWORK, NULL, &err), err.text);
}

/* ---- owners ---- */

static dp_status open_own(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    size_t *opened = context;
    (void)question;
    (void)n;
    (void)values;
    (void)err;
    ++*opened;
    return DP_OK;
}

/* One owner, whose noise is seeded. */
static void what_was_opened_is_not_opened_again(void **state)
{
    dp_error err = {0};
    size_t opened = 0;
    dp_owners alone = {.size = 1,
                       .honest = 1,
                       .seed = 7,
                       .most_records = LOOP_SCENE_N,
                       .context = &opened,
                       .open = open_own};
    (void)state;
    for (size_t m = 0; m < LOOP_MODELS; m++) {
        loop_scene_begin(&s);
        s.opts.owners = &alone;
        s.opts.journal = NULL;
        assert_ok(loop_scene_fit(&s, m, &whole, &err), err.text);
        loop_scene_begin(&s);
        s.opts.owners = &alone;
        opened = 0;
        for (size_t k = 0; k < LOOP_POINTS; k++) {
            loop_scene_stop(&s, m, loop_points[k]);
            assert_int_equal(opened, loop_points[k]);
        }
        alone.seed = 8;
        loop_scene_refused(&s, m, DP_EMISMATCH, "another seed");
        alone.seed = 7;
        assert_ok(loop_scene_fit(&s, m, &pieces, &err), err.text);
        assert_int_equal(opened, LOOP_PLANNED);
        loop_same(&pieces, &whole);
    }
}

/* ---- more than a journal takes ---- */

enum { WIDE = (DPI_JOURNAL_NUMBERS - 1) / 3 };

/* A network of so many outcomes: two weights and an intercept each, and the count of norms. */
static dp_model *wide_network(size_t outcomes)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "W", 2, outcomes, dp_init_glorot(1));
    dp_expr to = dp_dense(dp_data(rows, "x", 2), w, dp_param(m, "b", outcomes, 0));
    dp_observe(rows, "y", dp_normal_v(to, dp_num(1)));
    return m;
}

static void what_is_too_long_keeps_none(void **state)
{
    static double x[2] = {1, 2}, y[WIDE + 1];
    dp_error err = {0};
    dp_fit *made;
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        loop_scene_begin(&s);
        dp_model *m = wide_network(WIDE + more);
        dp_dataset *data = dp_dataset_new(1);
        dp_dataset_real(data, "x", 2, x);
        dp_dataset_real(data, "y", WIDE + more, y);
        s.opts.epsilon = 30;
        s.stop_at = 3;
        assert_fails(dp_fit_private(m, data, &s.opts, &made, &err), DP_ESTOPPED, &err, "stopped");
        assert_int_equal(s.kept, more == 0);
        assert_int_equal(access(s.journal, F_OK) == 0, more == 0);
        s.opts.resume = true;
        s.stop_at = 5;
        assert_fails(dp_fit_private(m, data, &s.opts, &made, &err),
                     more == 0 ? DP_ESTOPPED : DP_EUNSUPPORTED, &err,
                     more == 0 ? "stopped" : "65539 numbers");
        dp_dataset_free(data);
        dp_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_anywhere_the_answer_is_the_same),
        cmocka_unit_test(it_may_be_stopped_each_time),
        cmocka_unit_test(no_release_is_made_twice),
        cmocka_unit_test(records_are_not_read_again),
        cmocka_unit_test(killed_at_any_time_the_answer_is_the_same),
        cmocka_unit_test(what_cannot_be_kept_is_not_told),
        cmocka_unit_test(another_fit_is_refused),
        cmocka_unit_test(what_was_opened_is_not_opened_again),
        cmocka_unit_test(what_is_too_long_keeps_none),
    };
    int failed = cmocka_run_group_tests_name("loop-resume", tests, folder_make, folder_remove);
    releases_forget();
    return failed;
}
