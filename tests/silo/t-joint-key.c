/* Fits under a key that nobody has: those of plain sums, or of means of parameters, to the bit; and
 * when an owner ends early and goes on, the same bytes leave.  With EVERYWHERE in the environment
 * each owner is killed at many more letters. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/joint.h"

static joint j;

static const joint_owner everybody[PLANS_OWNERS] = {{.k = 0}, {.k = 1}, {.k = 2}};

/* What an undisturbed run has opened and fitted; without noise it may open fewer than planned. */
typedef struct undisturbed {
    size_t rounds, size;
    unsigned char fit[JOINT_FILE];
} undisturbed;

static undisturbed of_sums, of_means, *kept;
static const char *plain; /* the scheme that has the same without a key */

static void begin(const char *scheme)
{
    plans_make(&j.p);
    j.p.opts.scheme = scheme;
    j.p.opts.epsilon = j.p.opts.delta = 0;
}

static int with_sums(void **state)
{
    (void)state;
    kept = &of_sums;
    plain = "fedsgd";
    begin("fedsgd+he");
    joint_begin(&j);
    return 0;
}

static int with_means(void **state)
{
    (void)state;
    kept = &of_means;
    plain = "fedavg";
    begin("fedavg+he");
    j.p.opts.rounds = j.p.opts.draws = 0;
    j.p.opts.local_steps = 250;
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

static void a_path(char path[300], const char *folder, size_t k, const char *file)
{
    (void)snprintf(path, 300, "%s/%s", joint_path(folder, k), file);
}

/* ---- the fit ---- */

/* All have the fit of an undisturbed run, which opened each sum once. */
static void is_undisturbed(void)
{
    size_t n;
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const unsigned char *fit = joint_load("fit", k, 0, &n);
        if (kept->size == 0)
            memcpy(kept->fit, fit, kept->size = n);
        assert_int_equal(n, kept->size);
        assert_memory_equal(fit, kept->fit, n);
    }
    if (kept->rounds == 0)
        kept->rounds = joint_rounds();
    assert_true(kept->rounds > 5 && kept->rounds <= j.planned);
    assert_int_equal(joint_rounds(), kept->rounds);
}

static void the_fit_is_that_of_plain_sums(void **state)
{
    (void)state;
    joint_run(&j, everybody);
    is_undisturbed();
    joint_clear();
    dp_silo_plan_free(j.plan);
    j.p.opts.scheme = plain;
    j.plan = plans_plan(&j.p, 7);
    joint_run(&j, everybody);
    is_undisturbed();
}

static void a_run_that_has_ended_gives_its_fit_again(void **state)
{
    size_t n, m;
    (void)state;
    joint_run(&j, everybody);
    const unsigned char *first = joint_load("fit", 1, 0, &n);
    const size_t letters = joint_letters();
    for (size_t k = 0; k < PLANS_OWNERS; k++) { /* nobody answers, and nobody is asked */
        assert_int_equal(joint_wait(joint_start(&j, &everybody[k])), DP_OK);
        const unsigned char *again = joint_load("fit", k, 1, &m);
        assert_int_equal(n, m);
        assert_memory_equal(first, again, n);
    }
    assert_int_equal(joint_letters(), letters);
    dp_silo_forget(joint_path("state", 1));
    assert_int_equal(access(joint_path("state", 1), F_OK), -1);
    assert_int_equal(joint_wait(joint_start(&j, &everybody[1])), DP_ESTATE);
    assert_contains((const char *)joint_load("message", 1, 0, &n), "begun this run before");
}

/* ---- crashes ---- */

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

/* Kills the owners in `who`, each when it has told of so many letters, wherever it then is. */
static void kill_at_letter(unsigned who, size_t letters)
{
    pid_t process[PLANS_OWNERS];
    const joint_owner owners[] = {
        {.k = 0, .audited = true}, {.k = 1, .audited = true}, {.k = 2, .audited = true}};
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &owners[k]);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        if ((who >> k & 1) == 0)
            continue;
        while (lines_of(k) < 2 + letters)
            pause_for(1);
        assert_int_equal(kill(process[k], SIGKILL), 0);
    }
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        if ((who >> k & 1) != 0) {
            (void)joint_wait(process[k]); /* killed, or it was through just before */
            process[k] = joint_start(&j, &owners[k]);
        }
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), DP_OK);
    is_undisturbed();
    joint_clear();
}

/* The letters of an owner's first rounds: run keys to and from two, the key to and from one, and
 * in each round c, h, g, d and s. */
static void whoever_is_killed_at_a_letter_goes_on(void **state)
{
    const bool everywhere = getenv("EVERYWHERE") != NULL;
    (void)state;
    for (size_t p = 0; p < (everywhere ? 40 : 9); p++)
        for (size_t k = 0; k < PLANS_OWNERS; k++)
            if (k == p % PLANS_OWNERS || everywhere)
                kill_at_letter(1u << k, 2 + (everywhere ? p : 2 * p));
}

static void all_may_be_killed(void **state)
{
    (void)state;
    kill_at_letter(7, 9);
    kill_at_letter(7, 21);
}

/* ---- the same bytes ---- */

enum { LETTERS = 16, LETTER = 1 << 18 };

typedef struct letter_copy {
    char name[256];
    unsigned char bytes[LETTER];
    size_t n;
} letter_copy;

static letter_copy copies[LETTERS];

/* Takes an owner's letters of a round out of the mailbox, and keeps them. */
static size_t take_letters(const char *owner, size_t round)
{
    char part[64], path[600];
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    (void)snprintf(part, sizeof part, "+%zu-0+%s+", round, owner);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, part) != NULL) {
            assert_true(n < LETTERS);
            (void)snprintf(copies[n].name, sizeof copies[n].name, "%.255s", e->d_name);
            const unsigned char *bytes = joint_letter("mailbox", e->d_name, 0, &copies[n].n);
            assert_true(copies[n].n <= LETTER);
            memcpy(copies[n].bytes, bytes, copies[n].n);
            (void)snprintf(path, sizeof path, "%s/%s", joint_path("mailbox", 0), e->d_name);
            assert_int_equal(unlink(path), 0);
            n++;
        }
    (void)closedir(d);
    return n;
}

/* As a crash would that comes before a sum is all on the disk. */
static void tear_off(size_t k)
{
    char path[300];
    struct stat s;
    a_path(path, "state", k, "sums");
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(truncate(path, s.st_size - 5), 0);
}

/* A sum that was opened and not kept is opened as it was, with the key that there was. */
static void the_same_bytes_leave_again(void **state)
{
    size_t m;
    (void)state;
    joint_run(&j, everybody);
    is_undisturbed();
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const size_t n = take_letters(j.p.owners[k].name, kept->rounds);
        assert_int_equal(n, k == 0 ? 2 : 4); /* s to two; c, d, and h and g to one */
        tear_off(k);
        assert_int_equal(joint_wait(joint_start(&j, &everybody[k])), DP_OK);
        for (size_t i = 0; i < n; i++) {
            const unsigned char *bytes = joint_letter("mailbox", copies[i].name, 0, &m);
            assert_int_equal(m, copies[i].n);
            assert_memory_equal(bytes, copies[i].bytes, m);
        }
        is_undisturbed();
    }
}

/* ---- what was lost ---- */

static void lose(size_t k, const char *file)
{
    char path[300];
    a_path(path, "state", k, file);
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

static void change(size_t k, long at)
{
    char path[300];
    a_path(path, "state", k, "sums");
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int c = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    (void)fputc(c ^ 1, f);
    assert_int_equal(fclose(f), 0);
}

static void what_was_opened_is_not_opened_anew(void **state)
{
    char path[300];
    (void)state;
    joint_run(&j, everybody);
    a_path(path, "state", 1, "sums");
    assert_int_equal(chmod(path, 0640), 0);
    is_refused(1, DP_EPRIVACY, "others may read");
    assert_int_equal(chmod(path, 0600), 0);
    change(1, 9); /* whose it is */
    is_refused(1, DP_ESTATE, "of another plan");
    change(1, 9);
    change(1, 60); /* within the first sum, behind which are others */
    is_refused(1, DP_EDATA, "not as it was written");
    lose(2, "sums");
    is_refused(2, DP_EPRIVACY, "opened again");
    lose(0, "run");
    is_refused(0, DP_ESTATE, "no state of its rounds");
    dp_silo_forget(joint_path("state", 2));
    is_refused(2, DP_ESTATE, "begun this run before");
}

#define OF(test, set_up) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF(the_fit_is_that_of_plain_sums, with_sums),
        OF(a_run_that_has_ended_gives_its_fit_again, with_sums),
        OF(whoever_is_killed_at_a_letter_goes_on, with_sums),
        OF(all_may_be_killed, with_sums),
        OF(the_same_bytes_leave_again, with_sums),
        OF(what_was_opened_is_not_opened_anew, with_sums),
        OF(the_fit_is_that_of_plain_sums, with_means),
        OF(a_run_that_has_ended_gives_its_fit_again, with_means),
        OF(whoever_is_killed_at_a_letter_goes_on, with_means),
        OF(the_same_bytes_leave_again, with_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
