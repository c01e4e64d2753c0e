/* Owners whose releases are their own: all get the same fit, also where a run has ended early and
 * goes on; each opening is made once, and each owner pays its own releases once. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/fit.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/joint.h"

enum { LOCAL = 64, BEFORE = 33, ROOM = 1 << 18 };

static joint j;

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    j.p.opts.scheme = "dp-pvi";
    j.p.opts.source = NULL;
    j.p.opts.rounds = j.p.opts.draws = 0;
    j.p.opts.local_steps = LOCAL;
    j.p.opts.epsilon = 40;
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

static const char *journal_of(size_t k)
{
    static char path[300];
    (void)snprintf(path, sizeof path, "%s/journal", joint_path("state", k));
    return path;
}

static size_t length_of(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (size_t)s.st_size : 0;
}

static void all_have_the_same_fit(void **state)
{
    joint_owner owners[PLANS_OWNERS] = {{.k = 0}};
    dp_summary w[PLANS_X];
    dp_privacy spent;
    dp_fit *fit = NULL;
    dp_error err = {0};
    (void)state;
    assert_int_equal(j.planned, 545);
    assert_int_equal(j.sums, 8);
    joint_run_paid(&j, owners);
    assert_ok(dp_fit_load(joint_path("fit", 1), &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", PLANS_X, w, &err), err.text);
    assert_float_equal(w[0].mean, 1.2385, 0.2); /* what the records were drawn with */
    assert_float_equal(w[1].mean, -0.7121, 0.2);
    dp_fit_privacy(fit, &spent);
    assert_true(spent.is_private);
    assert_close(spent.epsilon, 40, 1e-3, 0);
    assert_int_equal(spent.steps, 545);
    dp_fit_free(fit);
}

/* ---- what ends early ---- */

/* The number, a norm, and behind an opening, the last one too. */
static const uint64_t points[] = {1, 20, BEFORE + 2 * LOCAL, 545};
enum { POINTS = sizeof points / sizeof *points };

static void whoever_is_killed_goes_on(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS; p++) {
        joint_owner owners[PLANS_OWNERS] = {{.k = 0}};
        owners[p % PLANS_OWNERS].kill_at = points[p];
        joint_run_paid(&j, owners);
        joint_clear();
    }
}

/* Between two steps of its own, of which others know nothing. */
static void whoever_is_killed_between_steps_goes_on(void **state)
{
    (void)state;
    joint_owner whole[PLANS_OWNERS] = {{.k = 0}};
    joint_run_paid(&j, whole);
    const size_t all = length_of(journal_of(1));
    joint_clear();
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const size_t until = all * (BEFORE + (k + 1) * LOCAL + LOCAL / 2) / 545;
        pid_t process[PLANS_OWNERS];
        joint_make_ledgers(&j);
        for (size_t i = 0; i < PLANS_OWNERS; i++)
            process[i] = joint_start(&j, &whole[i]);
        while (length_of(journal_of(k)) < until)
            pause_for(1);
        assert_int_equal(kill(process[k], SIGKILL), 0);
        assert_int_equal(joint_wait(process[k]), JOINT_KILLED);
        process[k] = joint_start(&j, &whole[k]);
        for (size_t i = 0; i < PLANS_OWNERS; i++)
            assert_int_equal(joint_wait(process[i]), DP_OK);
        joint_same(&j);
        joint_journals(&j);
        joint_ledgers(&j);
        joint_clear();
    }
}

static void all_may_be_stopped(void **state)
{
    joint_owner owners[PLANS_OWNERS] = {{.stop_at = 2}, {.stop_at = 100}, {.stop_at = 500}};
    (void)state;
    joint_run_paid(&j, owners);
}

/* A release that was made and not kept is made again as it was, and has not left. */
static void what_was_released_and_not_kept_is_made_again(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS - 1; p++) {
        joint_owner owners[PLANS_OWNERS] = {{.k = 0}};
        owners[(p + 1) % PLANS_OWNERS].jam_at = points[p];
        joint_run_paid(&j, owners);
        joint_clear();
    }
}

/* ---- what is refused ---- */

static void stop_behind(uint64_t releases)
{
    pid_t process[PLANS_OWNERS];
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const joint_owner o = {.k = k, .stop_at = k == 1 ? releases : 0, .patience_ms = 1500};
        process[k] = joint_start(&j, &o);
    }
    assert_int_equal(joint_wait(process[1]), DP_ESTOPPED);
    assert_int_equal(joint_wait(process[0]), DP_ETIMEOUT);
    assert_int_equal(joint_wait(process[2]), DP_ETIMEOUT);
}

static void is_refused(dp_status status, const char *why)
{
    const joint_owner again = {.k = 1, .patience_ms = 1500};
    const size_t letters = joint_letters();
    size_t n;
    assert_int_equal(joint_wait(joint_start(&j, &again)), status);
    assert_contains((const char *)joint_load("message", 1, 0, &n), why);
    assert_int_equal(joint_letters(), letters);
}

/* What is in the journal of owner 1, at most ROOM bytes, and puts it back. */
static size_t take_journal(unsigned char *kept)
{
    FILE *f = fopen(journal_of(1), "rb");
    assert_non_null(f);
    const size_t n = fread(kept, 1, ROOM, f);
    assert_int_equal(fclose(f), 0);
    assert_true(n > 0 && n < ROOM);
    return n;
}

static void put_journal(const unsigned char *kept, size_t n)
{
    FILE *f = fopen(journal_of(1), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(kept, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Its steps would be taken again, and what was opened already follows from others. */
static void an_older_journal_is_refused(void **state)
{
    static unsigned char kept[ROOM];
    (void)state;
    stop_behind(BEFORE + LOCAL);
    const size_t n = take_journal(kept);
    stop_behind(BEFORE + 3 * LOCAL);
    put_journal(kept, n);
    is_refused(DP_EPRIVACY, "is older than what was opened");
    assert_int_equal(unlink(journal_of(1)), 0);
    is_refused(DP_EPRIVACY, "cannot be begun again");
}

/* Its sum was begun, and nobody else has answered yet: its steps are not taken again, either. */
static void and_so_is_one_beside_a_round_that_was_begun(void **state)
{
    static unsigned char kept[ROOM];
    const joint_owner alone = {.k = 1, .patience_ms = 1500};
    (void)state;
    stop_behind(BEFORE + LOCAL + 1);
    const size_t n = take_journal(kept);
    assert_int_equal(joint_wait(joint_start(&j, &alone)), DP_ETIMEOUT);
    put_journal(kept, n);
    is_refused(DP_EPRIVACY, "is older than what was opened");
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(all_have_the_same_fit),
        ONE(whoever_is_killed_goes_on),
        ONE(whoever_is_killed_between_steps_goes_on),
        ONE(all_may_be_stopped),
        ONE(what_was_released_and_not_kept_is_made_again),
        ONE(an_older_journal_is_refused),
        ONE(and_so_is_one_beside_a_round_that_was_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
