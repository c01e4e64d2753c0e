/* Runs of three parties that end early and go on: each is killed before and after it sends, takes
 * and keeps anything, the helper too.  All come to the same coefficients, each piece of an opening
 * that leaves a party is the same whenever it leaves, and so is each sum that is opened.  With
 * EVERYWHERE in the environment each of the three is killed at every moment. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/silo/threes.h"

/* ---- killed ---- */

static void whoever_is_killed_goes_on(void **state)
{
    const bool all = getenv("EVERYWHERE") != NULL;
    int count[THREES], killed = 0, times = 0;
    (void)state;
    threes_begin(true);
    threes_count(count);
    for (size_t k = 0; k < THREES; k++)
        for (int n = 1 + (int)k; n <= count[k]; n += all ? 1 : 37) {
            int when[THREES] = {0};
            when[k] = n;
            threes_begin_again();
            threes_make_ledgers();
            killed += threes_run(when) == 1U << k;
            times++;
            threes_same(NULL);
            threes_ledgers();
        }
    assert_true(killed >= times - THREES); /* how messages gather may differ at the end */
    joint_end(&threes_scene);
}

/* Behind the last of the steps but one there is all that happens in any. */
static void at_the_end_too(void **state)
{
    int count[THREES];
    (void)state;
    threes_begin(true);
    threes_count(count);
    for (size_t k = 0; k < THREES; k++)
        for (int back = (int)k; back < 16; back += 3) {
            int when[THREES] = {0};
            when[k] = count[k] - back;
            threes_begin_again();
            (void)threes_run(when);
            threes_same(NULL);
        }
    joint_end(&threes_scene);
}

static void so_do_all_at_once(void **state)
{
    int count[THREES];
    (void)state;
    threes_begin(true);
    threes_count(count);
    for (int n = 0; n < 8; n++) {
        const int when[THREES] = {1 + (17 + 23 * n) % count[0], 1 + (5 + 31 * n) % count[1],
                                  n % 3 == 0 ? 0 : 1 + (41 * n) % count[2]};
        threes_begin_again();
        threes_make_ledgers();
        (void)threes_run(when);
        threes_same(NULL);
        threes_ledgers();
    }
    joint_end(&threes_scene);
}

/* The same numbers, as nothing is drawn. */
static void and_without_noise(void **state)
{
    int count[THREES];
    double w[TOWN_D];
    (void)state;
    threes_begin(false);
    threes_count(count);
    memcpy(w, threes_result(0)->w, sizeof w);
    for (size_t k = 0; k < THREES; k++)
        for (int n = 3; n <= count[k]; n += n > count[k] - 16 ? 4 : 71) {
            int when[THREES] = {0};
            when[k] = n;
            threes_begin_again();
            (void)threes_run(when);
            threes_same(w);
        }
    joint_end(&threes_scene);
}

static void who_asks_again_is_told_the_same(void **state)
{
    (void)state;
    threes_begin(true);
    threes_make_ledgers();
    assert_int_equal(threes_run(threes_never), 0);
    const size_t seen = threes_sights();
    const threes_outcome first = *threes_result(0);
    for (size_t k = 0; k < THREES; k++) {
        assert_int_equal(joint_wait(threes_start(k, 0, THREES_PATIENCE)), DP_OK);
        assert_memory_equal(threes_result(k)->w, first.w, sizeof first.w);
    }
    assert_int_equal(threes_sights(), seen);
    threes_ledgers();
    joint_end(&threes_scene);
}

/* ---- what is refused ---- */

/* All three run once more, and end with errors, of which party k's is this one; nothing more is
 * opened. */
static void refused(size_t k, dp_status status, const char *why)
{
    pid_t process[THREES];
    const size_t seen = threes_sights();
    for (size_t p = 0; p < THREES; p++)
        process[p] = threes_start(p, 0, 1500);
    for (size_t p = 0; p < THREES; p++) {
        const int how = joint_wait(process[p]);
        assert_true(how != DP_OK && how != JOINT_KILLED);
        if (p == k && how != (int)status)
            fail_msg("party %zu: %d, %s", k, how, threes_message(k));
    }
    assert_contains(threes_message(k), why);
    assert_int_equal(threes_sights(), seen);
}

/* All run until party k is killed behind so many openings; the others end as it is gone. */
static void interrupt(size_t k, uint64_t opened)
{
    pid_t process[THREES];
    int when = 60;
    dp_silo_kept kept = {.sums = 0};
    while (kept.sums < opened) { /* as far as it takes */
        when += 17;
        assert_true(when < 400);
        threes_begin_again();
        for (size_t p = 0; p < THREES; p++)
            process[p] = threes_start(p, p == k ? when : 0, THREES_PATIENCE);
        for (size_t p = 0; p < THREES; p++)
            (void)joint_wait(process[p]);
        dp_error err = {0};
        assert_ok(dp_silo_look(threes_scene.plan, joint_path("state", k), &kept, &err), err.text);
        assert_false(kept.over);
    }
}

static void rows_are_those_of_then(void **state)
{
    (void)state;
    threes_begin(true);
    interrupt(1, 2);
    threes_x[5] += 0x1p-50;
    refused(1, DP_ESTATE, "begun with other rows");
    threes_x[5] -= 0x1p-50;
    threes_ids[1][2] = "somebody";
    refused(1, DP_ESTATE, "begun with other rows");
    threes_ids[1][2] = threes_names[2 * 73 % TOWN_N - THREES_LACKING];
    (void)threes_run(threes_never);
    threes_same(NULL);
    joint_end(&threes_scene);
}

/* Who lost its state, or puts back an older one, while another has opened more. */
static void older_copies_are_refused(void **state)
{
    static unsigned char older[1 << 16], newest[1 << 16];
    size_t n_older, n_newest;
    (void)state;
    threes_begin(true);
    for (size_t k = 0; k < THREES; k++) {
        interrupt(k, 1);
        FILE *f = fopen(threes_state(k), "rb");
        assert_non_null(f);
        n_older = fread(older, 1, sizeof older, f);
        (void)fclose(f);
        (void)threes_run(threes_never);
        f = fopen(threes_state(k), "rb");
        assert_non_null(f);
        n_newest = fread(newest, 1, sizeof newest, f);
        (void)fclose(f);
        threes_put(threes_state(k), older, n_older);
        assert_int_equal(chmod(threes_state(k), 0600), 0);
        const size_t seen = threes_sights();
        assert_int_not_equal(joint_wait(threes_start(k, 0, 500)), DP_OK);
        assert_int_equal(threes_sights(), seen);
        threes_put(threes_state(k), newest, n_newest);
        assert_int_equal(chmod(threes_state(k), 0600), 0);
        assert_int_equal(joint_wait(threes_start(k, 0, 500)), DP_OK);
        threes_same(NULL);
    }
    for (size_t k = 0; k < THREES; k++) {
        interrupt((k + 1) % THREES, 2);
        assert_int_equal(unlink(threes_state(k)), 0);
        refused(k, DP_ESTATE, "older copy");
    }
    joint_end(&threes_scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_killed_goes_on),
        cmocka_unit_test(at_the_end_too),
        cmocka_unit_test(so_do_all_at_once),
        cmocka_unit_test(and_without_noise),
        cmocka_unit_test(who_asks_again_is_told_the_same),
        cmocka_unit_test(rows_are_those_of_then),
        cmocka_unit_test(older_copies_are_refused),
    };
    return cmocka_run_group_tests(tests, town_make, town_clear);
}
