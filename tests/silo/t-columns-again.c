/* Runs of columns that end early and go on: to the coefficients, and by the letters, of one that
 * was not interrupted, each to the bit; and older copies, and other letters.  With EVERYWHERE in the
 * environment each of both owners is killed at every moment. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silo/keys.h"
#include "silo/plan.h"
#include "silo/state.h"
#include "tests/lib/check.h"
#include "tests/silo/killed.h"

/* ---- killed ---- */

static void whoever_is_killed_goes_on(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    int moments[2] = {0, 0};
    for (int at = 1; at <= KILLED_MOMENTS + 8; at++)
        for (size_t k = 0; k < 2; k++) {
            const int when[2] = {k == 0 ? at : 0, k == 1 ? at : 0};
            if (at % 2 != (int)k && getenv("EVERYWHERE") == NULL)
                continue;
            killed_make_ledgers();
            killed_begin_again();
            moments[k] += killed_run(when, true) != 0;
            killed_same();
            killed_ledgers();
        }
    /* All letters, keys, and what the state is written for besides: none was left out. */
    assert_true(moments[0] + moments[1] >= KILLED_MOMENTS);
    registers_end(&killed_scene);
}

static void so_do_both(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    for (int n = 0; n < 8; n++) {
        const int when[2] = {1 + 5 * n, 1 + 29 * n % KILLED_MOMENTS};
        killed_make_ledgers();
        killed_begin_again();
        (void)killed_run(when, true);
        killed_same();
        killed_ledgers();
    }
    registers_end(&killed_scene);
}

static void and_without_noise(void **state)
{
    (void)state;
    killed_begin("columns");
    for (int at = 2; at <= KILLED_MOMENTS; at += 3) {
        const int when[2] = {at % 2 == 0 ? at : 0, at % 2 == 0 ? 0 : at};
        killed_begin_again();
        (void)killed_run(when, false);
        killed_same();
    }
    registers_end(&killed_scene);
}

/* One that was killed several times, and asks again when all is over. */
static void again_and_again(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    killed_begin_again();
    killed_make_ledgers();
    pid_t other = killed_start(1, 0, true);
    for (int at = 3; at < 30; at += 9)
        assert_int_equal(joint_wait(killed_start(0, at, true)), JOINT_KILLED);
    killed_ends_well(0, killed_start(0, 0, true));
    killed_ends_well(1, other);
    killed_same();
    for (size_t k = 0; k < 2; k++) {
        killed_ends_well(k, killed_start(k, 0, true)); /* nothing leaves, and nothing is paid */
        killed_same();
        killed_ledgers();
    }
    registers_end(&killed_scene);
}

/* ---- older copies ---- */

static void an_older_copy_beside_its_letters_is_refused(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    for (size_t k = 0; k < 2; k++) {
        killed_put_back(k);
        killed_is_refused(k, DP_ESTATE, "older copy");
        killed_is_refused(k, DP_ESTATE, "older copy"); /* and does not become newer by that */
    }
    registers_end(&killed_scene);
}

static void one_without_them_sends_the_same(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    for (size_t k = 0; k < 2; k++) {
        char word[32];
        (void)snprintf(word, sizeof word, "+%s+%s+", killed_scene.p.owners[k].name,
                       killed_scene.p.owners[1 - k].name);
        assert_int_equal(registers_take(word), KILLED_LETTERS);
        killed_put_back(k);
        killed_ends_well(k, killed_start(k, 0, false));
        assert_int_equal(joint_letters(), 2 * (KILLED_LETTERS + 1));
        killed_same();
    }
    registers_end(&killed_scene);
}

/* ---- other letters ---- */

/* The post of owner k, who is in the test's hands. */
static dpi_post *post_of(size_t k, dpi_carrier **carrier)
{
    static char names[2][DP_OWNERS_MOST][DPI_SILO_NAME];
    unsigned char whose[DPI_SILO_HASH];
    dpi_silo_state s;
    dpi_post *post;
    bool there;
    char path[300];
    dp_error err = {0};
    memcpy(names[k], killed_scene.plan->names, sizeof names[k]);
    assert_ok(dpi_carrier_folder(joint_path("mailbox", 0), carrier, &err), err.text);
    (void)snprintf(path, sizeof path, "%s/run", joint_path("copy", k));
    dpi_silo_state_whose(killed_scene.plan->hash, killed_scene.plan->keys[k], whose);
    assert_ok(dpi_silo_state_peek(path, whose, &s, &there, &err), err.text);
    assert_true(there);
    dpi_post_opts o = {.carrier = *carrier,
                       .party = k,
                       .parties = 2,
                       .names = names[k],
                       .publics = killed_scene.plan->keys,
                       .secret = killed_scene.p.keys[k]->secret,
                       .patience_ms = 20000};
    memcpy(o.plan, killed_scene.plan->hash, DPI_SILO_HASH);
    assert_ok(dpi_post_open(&o, s.run_secret, &post, &err), err.text);
    dpi_silo_state_free(&s);
    return post;
}

/* In the place of its answer of one step the second owner puts that of another, signed as it must
 * be. */
static void forge(uint64_t step, uint64_t of)
{
    static unsigned char body[JOINT_FILE];
    dpi_carrier *carrier[2];
    dpi_post *post[2] = {post_of(0, &carrier[0]), post_of(1, &carrier[1])};
    char word[64];
    size_t n;
    dp_error err = {0};
    (void)snprintf(word, sizeof word, "+%u-0+%s+%s+N.c", (unsigned)of,
                   killed_scene.p.owners[1].name, killed_scene.p.owners[0].name);
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, word) != NULL)
            (void)joint_letter("mailbox", e->d_name, 0, &n);
    (void)closedir(d);
    n -= 4 + 8 + 24 + 16 + 64; /* around a body */
    assert_ok(dpi_post_receive(post[0], 1, of, 0, "N.c", 0, n, body, &err), err.text);
    (void)snprintf(word, sizeof word, "+%u-0+%s+%s+N.c", (unsigned)step,
                   killed_scene.p.owners[1].name, killed_scene.p.owners[0].name);
    assert_int_equal(registers_take(word), 1);
    assert_ok(dpi_post_send(post[1], 0, step, 0, "N.c", n, body, &err), err.text);
    for (int k = 0; k < 2; k++) {
        dpi_post_close(post[k]);
        carrier[k]->kind->close(carrier[k]);
    }
}

/* Nothing leaves of an owner that is told other answers than before it ended: its own next ones
 * would be of other residuals. */
static void who_is_told_something_else_ends(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    pid_t other;
    for (uint64_t step = 1; step < KILLED_STEPS; step++) {
        killed_begin_again();
        other = killed_start(1, 0, false);
        /* Four moments a letter, two for the key and two for the other's. */
        const int at = 4 + 4 * (4 + 1 + KILLED_STEPS);
        assert_int_equal(joint_wait(killed_start(0, at, false)), JOINT_KILLED);
        assert_int_equal(kill(other, SIGKILL), 0);
        (void)joint_wait(other);
        forge(step, step % (KILLED_STEPS - 1) + 1); /* those have come */
        killed_is_refused(0, DP_EPRIVACY, "nothing more leaves");
    }
    killed_begin_again(); /* behind the end: coefficients were told, and are no others now */
    other = killed_start(1, 0, false);
    killed_ends_well(0, killed_start(0, 0, false));
    killed_ends_well(1, other);
    forge(KILLED_STEPS, 1);
    killed_is_refused(0, DP_EPRIVACY, "nothing more leaves");
    registers_end(&killed_scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_killed_goes_on),
        cmocka_unit_test(so_do_both),
        cmocka_unit_test(and_without_noise),
        cmocka_unit_test(again_and_again),
        cmocka_unit_test(an_older_copy_beside_its_letters_is_refused),
        cmocka_unit_test(one_without_them_sends_the_same),
        cmocka_unit_test(who_is_told_something_else_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
