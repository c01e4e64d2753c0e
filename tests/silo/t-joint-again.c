/* Fits over several owners of whom older copies of all that they keep are put back: the same bytes
 * leave, so that no sum is opened with two noises. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/silo/joint.h"

/* Rounds after which the copies are made, and after which they are put back. */
enum { EARLY = 2, LATE = 5 };

static joint j;

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    joint_begin(&j);
    return 0;
}

/* Whose draws are an owner's own, and follow from what it keeps. */
static int with_latents(void **state)
{
    (void)state;
    plans_make(&j.p);
    dp_model_free(j.p.model);
    j.p.opts.model = j.p.model = plans_latents();
    j.p.opts.source = NULL;
    j.p.opts.rounds = j.p.opts.draws = 0;
    joint_begin(&j);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

static void copy_file(const char *from, const char *to)
{
    static unsigned char bytes[JOINT_FILE];
    FILE *in = fopen(from, "rb");
    assert_non_null(in);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    assert_true(n < sizeof bytes);
    (void)fclose(in);
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(to, 0600), 0);
}

/* Makes `to` a copy of a folder of files. */
static void copy_folder(const char *from, const char *to)
{
    char of[600], at[600];
    DIR *d = opendir(from);
    assert_non_null(d);
    (void)mkdir(to, 0700);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        (void)snprintf(of, sizeof of, "%s/%.255s", from, e->d_name);
        (void)snprintf(at, sizeof at, "%s/%.255s", to, e->d_name);
        if (e->d_name[0] != '.')
            copy_file(of, at);
    }
    (void)closedir(d);
}

static void put_back(size_t k)
{
    dp_silo_forget(joint_path("state", k));
    copy_folder(joint_path("copy", k), joint_path("state", k));
}

/* The round of a letter; 0 for keys. */
static unsigned long round_of(const char *letter)
{
    const char *plus = strchr(letter, '+');
    return plus != NULL ? strtoul(plus + 1, NULL, 10) : 0;
}

/* Takes letters behind the copies' round out of the mailbox: of one owner, or NULL: all. */
static size_t take_letters(const char *owner)
{
    char path[600], part[64];
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    (void)snprintf(part, sizeof part, "-0+%s+", owner != NULL ? owner : "");
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (round_of(e->d_name) > EARLY && (owner == NULL || strstr(e->d_name, part) != NULL)) {
            (void)snprintf(path, sizeof path, "%s/%.255s", joint_path("mailbox", 0), e->d_name);
            assert_int_equal(unlink(path), 0);
            n++;
        }
    (void)closedir(d);
    return n;
}

/* That every letter of rounds before LATE is in the mailbox again as it was. */
static size_t the_same_letters(void)
{
    size_t n = 0;
    DIR *d = opendir(joint_path("before", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t was, is;
        if (round_of(e->d_name) <= EARLY || round_of(e->d_name) >= LATE)
            continue;
        const unsigned char *old = joint_letter("before", e->d_name, 0, &was);
        const unsigned char *new = joint_letter("mailbox", e->d_name, 1, &is);
        assert_int_equal(was, is);
        assert_memory_equal(old, new, was);
        n++;
    }
    (void)closedir(d);
    return n;
}

/* Runs all to a round, at which each is stopped; or, 0, to the end. */
static void run_to(uint64_t round)
{
    pid_t process[PLANS_OWNERS];
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(&j, &(joint_owner){.k = k, .stop_at = round});
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        assert_int_equal(joint_wait(process[k]), round > 0 ? DP_ESTOPPED : DP_OK);
}

/* Makes copies early, and goes on. */
static void begin(void)
{
    run_to(EARLY);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        copy_folder(joint_path("state", k), joint_path("copy", k));
    run_to(LATE);
    copy_folder(joint_path("mailbox", 0), joint_path("before", 0));
}

/* Letters are sealed under keys of the run with nonces that follow from their bodies: equal letters
 * have equal sums, and equal vectors with an owner's share of noise. */
static void all_who_go_back_open_the_same_sums(void **state)
{
    (void)state;
    begin();
    assert_true(take_letters(NULL) > 0);
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        put_back(k);
    run_to(0);
    assert_true(the_same_letters() >= 2 * 3 * (LATE - EARLY - 1));
    joint_same(&j);
}

static void one_that_goes_back_sends_the_same(void **state)
{
    (void)state;
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        begin();
        assert_true(take_letters(j.p.owners[k].name) >= 3 * (LATE - EARLY));
        put_back(k);
        run_to(0);
        assert_true(the_same_letters() > 0);
        joint_same(&j);
        joint_clear();
    }
}

#define ONE(test, set_up) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(all_who_go_back_open_the_same_sums, set_up),
        ONE(one_that_goes_back_sends_the_same, set_up),
        ONE(all_who_go_back_open_the_same_sums, with_latents),
        ONE(one_that_goes_back_sends_the_same, with_latents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
