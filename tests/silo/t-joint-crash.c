/* Fits over several owners that end early and go on: each sum is opened once, and all owners have
 * the same fit, wherever one of them was stopped.  With EVERYWHERE in the environment each owner is
 * stopped at each point, which takes minutes. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/joint.h"

enum { POINTS = 4 };

static joint j;

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

/* Releases at which a run ends: the first, two in the middle, and the last. */
static uint64_t point(size_t p)
{
    const uint64_t at[POINTS] = {1, j.planned / 3, j.planned - 1, j.planned};
    return at[p];
}

/* Whether it is owner k's turn at a point. */
static bool is_turn(size_t p, size_t k)
{
    return k == p % PLANS_OWNERS || getenv("EVERYWHERE") != NULL;
}

static void check_and_clear(void)
{
    joint_same(&j);
    joint_journals(&j);
    joint_clear();
}

static void whoever_is_stopped_goes_on(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS; p++)
        for (size_t k = 0; k < PLANS_OWNERS; k++) {
            if (!is_turn(p, k))
                continue;
            joint_owner owners[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};
            owners[k].stop_at = point(p);
            joint_run(&j, owners);
            check_and_clear();
        }
}

static void all_may_be_stopped(void **state)
{
    const joint_owner owners[] = {{.k = 0, .stop_at = 2, .pays = true},
                                  {.k = 1, .stop_at = j.planned / 2, .pays = true},
                                  {.k = 2, .stop_at = j.planned - 2, .pays = true}};
    (void)state;
    joint_make_ledgers(&j);
    joint_run(&j, owners);
    joint_ledgers(&j);
    check_and_clear();
}

static void whoever_is_killed_goes_on(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS; p++)
        for (size_t k = 0; k < PLANS_OWNERS; k++) {
            if (!is_turn(p + 1, k))
                continue;
            joint_owner owners[] = {
                {.k = 0, .pays = true}, {.k = 1, .pays = true}, {.k = 2, .pays = true}};
            joint_make_ledgers(&j);
            owners[k].kill_at = point(p);
            joint_run(&j, owners);
            joint_ledgers(&j);
            check_and_clear();
        }
}

/* Between the opening of a sum and its line in the journal: the sum is opened again, as it was. */
static void what_was_opened_and_not_kept_is_opened_as_it_was(void **state)
{
    (void)state;
    for (size_t p = 0; p < POINTS - 1; p++)
        for (size_t k = 0; k < PLANS_OWNERS; k++) {
            if (!is_turn(p, k))
                continue;
            joint_owner owners[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};
            owners[k].jam_at = point(p);
            joint_run(&j, owners);
            check_and_clear();
        }
}

/* ---- the same bytes ---- */

enum { LETTERS = 16, LETTER = 4096 };

typedef struct letter_copy {
    char name[256];
    unsigned char bytes[LETTER];
    size_t n;
} letter_copy;

static letter_copy copies[LETTERS];

static size_t read_letter(const char *name, unsigned char bytes[LETTER])
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", joint_path("mailbox", 0), name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, LETTER, f);
    (void)fclose(f);
    return n;
}

/* Takes an owner's letters of a round out of the mailbox, and keeps them. */
static size_t take_letters(const char *owner, uint64_t round)
{
    char part[64];
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    (void)snprintf(part, sizeof part, "+%llu-0+%s+", (unsigned long long)round, owner);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, part) != NULL) {
            char path[600];
            assert_true(n < LETTERS);
            (void)snprintf(copies[n].name, sizeof copies[n].name, "%.255s", e->d_name);
            copies[n].n = read_letter(copies[n].name, copies[n].bytes);
            (void)snprintf(path, sizeof path, "%s/%s", joint_path("mailbox", 0), e->d_name);
            assert_int_equal(unlink(path), 0);
            n++;
        }
    (void)closedir(d);
    return n;
}

static void the_same_bytes_leave_again(void **state)
{
    static unsigned char bytes[LETTER];
    (void)state;
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        pid_t process[PLANS_OWNERS];
        joint_owner owners[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};
        owners[k].jam_at = 3;
        for (size_t i = 0; i < PLANS_OWNERS; i++)
            process[i] = joint_start(&j, &owners[i]);
        assert_int_equal(joint_wait(process[k]), DP_EIO);
        pause_for(300); /* the others have read what they need of the round */
        size_t n = take_letters(j.p.owners[k].name, 4);
        assert_true(n >= 3);
        owners[k].jam_at = 0;
        process[k] = joint_start(&j, &owners[k]);
        for (size_t i = 0; i < PLANS_OWNERS; i++)
            assert_int_equal(joint_wait(process[i]), DP_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(read_letter(copies[i].name, bytes), copies[i].n);
            assert_memory_equal(bytes, copies[i].bytes, copies[i].n);
        }
        check_and_clear();
    }
}

/* ---- at any letter ---- */

static size_t lines_of(size_t k)
{
    size_t n = 0;
    FILE *f = fopen(joint_path("audit", k), "rb");
    for (int c; f != NULL && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f != NULL)
        (void)fclose(f);
    return n;
}

/* Kills owner k when it has told of so many letters, wherever it then is. */
static void kill_at_letter(size_t k, size_t letters)
{
    pid_t process[PLANS_OWNERS];
    dp_silo_audit found;
    dp_error err = {0};
    const joint_owner owners[] = {{.k = 0, .audited = true, .pays = true},
                                  {.k = 1, .audited = true, .pays = true},
                                  {.k = 2, .audited = true, .pays = true}};
    joint_make_ledgers(&j);
    for (size_t i = 0; i < PLANS_OWNERS; i++)
        process[i] = joint_start(&j, &owners[i]);
    while (lines_of(k) < 2 + letters)
        pause_for(1);
    assert_int_equal(kill(process[k], SIGKILL), 0);
    (void)joint_wait(process[k]); /* killed, or it was through just before */
    process[k] = joint_start(&j, &owners[k]);
    for (size_t i = 0; i < PLANS_OWNERS; i++)
        assert_int_equal(joint_wait(process[i]), DP_OK);
    assert_ok(dp_silo_audit_check(joint_path("audit", k), NULL, &found, &err), err.text);
    assert_int_equal(found.runs, 2);
    assert_string_equal(found.outcome, "DP_OK");
    joint_ledgers(&j);
    check_and_clear();
}

static void whoever_is_killed_at_a_letter_goes_on(void **state)
{
    (void)state;
    for (size_t p = 0; p < 9; p++)
        for (size_t k = 0; k < PLANS_OWNERS; k++)
            if (is_turn(p, k))
                kill_at_letter(k, 1 + 7 * p);
}

/* ---- what was lost ---- */

static void lose(size_t k, const char *file)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", joint_path("state", k), file);
    assert_int_equal(unlink(path), 0);
}

static void is_refused(size_t k, int status, const char *why)
{
    const joint_owner alone = {.k = k, .patience_ms = 200};
    size_t n, before = joint_letters();
    assert_int_equal(joint_wait(joint_start(&j, &alone)), status);
    assert_contains((const char *)joint_load("message", k, 0, &n), why);
    assert_int_equal(joint_letters(), before);
}

static void what_was_opened_is_not_opened_anew(void **state)
{
    const joint_owner hasty[] = {
        {.k = 0, .patience_ms = 1500}, {.k = 1, .stop_at = 3}, {.k = 2, .patience_ms = 1500}};
    pid_t process[PLANS_OWNERS];
    (void)state;
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &hasty[k]);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), k == 1 ? DP_ESTOPPED : DP_ETIMEOUT);
    lose(0, "run");
    is_refused(0, DP_ESTATE, "no state of its rounds");
    lose(1, "journal");
    is_refused(1, DP_EPRIVACY, "cannot be begun again");
    dp_silo_forget(joint_path("state", 2));
    is_refused(2, DP_ESTATE, "begun this run before");
}

/* ---- owners that may drop out ---- */

/* One of five ends, and the others go on without it; it gets the same fit when it is back. */
static void who_drops_out_may_come_back(void **state)
{
    pid_t process[PLANS_MOST];
    joint_owner owners[PLANS_MOST];
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts.n_owners = PLANS_MOST;
    j.p.opts.dropouts = 1;
    j.plan = plans_plan(&j.p, 31);
    for (size_t k = 0; k < PLANS_MOST; k++)
        owners[k] = (joint_owner){.k = k, .patience_ms = 4000, .kill_at = k == 3 ? 5 : 0};
    for (size_t k = 0; k < PLANS_MOST; k++)
        process[k] = joint_start(&j, &owners[k]);
    for (size_t k = 0; k < PLANS_MOST; k++)
        assert_int_equal(joint_wait(process[k]), k == 3 ? JOINT_KILLED : DP_OK);
    owners[3].kill_at = 0;
    assert_int_equal(joint_wait(joint_start(&j, &owners[3])), DP_OK);
    joint_same(&j);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(whoever_is_stopped_goes_on),
        ONE(all_may_be_stopped),
        ONE(whoever_is_killed_goes_on),
        ONE(what_was_opened_and_not_kept_is_opened_as_it_was),
        ONE(the_same_bytes_leave_again),
        ONE(whoever_is_killed_at_a_letter_goes_on),
        ONE(what_was_opened_is_not_opened_anew),
        ONE(who_drops_out_may_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
