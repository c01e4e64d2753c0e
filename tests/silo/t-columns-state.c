/* What an owner of columns keeps: which states are none of its run's, and keys of streams. */
#define _XOPEN_SOURCE 700
#include "silo/columns-state.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/silo/killed.h"
#include "tests/silo/owners.h"

/* ---- what is no state of this run ---- */

static void rows_are_those_of_then(void **state)
{
    (void)state;
    killed_begin("columns+dp");
    register_side *s = &registers[1];
    for (int at = 1; at < 40; at += 19) {
        killed_begin_again();
        assert_int_equal(joint_wait(killed_start(1, 1, false)), JOINT_KILLED);
        s->x[5] += 0x1p-50;
        killed_is_refused(1, DP_ESTATE, "begun with other rows");
        s->x[5] -= 0x1p-50;
        s->y[3] = 1 - s->y[3];
        killed_is_refused(1, DP_ESTATE, "begun with other rows");
        s->y[3] = 1 - s->y[3];
        s->at[2] = "somebody";
        killed_is_refused(1, DP_ESTATE, "begun with other rows");
        s->at[2] = s->ids[2];
        s->rows--;
        killed_is_refused(1, DP_ESTATE, "begun with other rows");
        s->rows++;
    }
    registers_end(&killed_scene);
}

static void states_that_are_none_are_refused(void **state)
{
    static unsigned char whole[4096];
    char path[300];
    size_t n;
    (void)state;
    killed_begin("columns+dp");
    (void)snprintf(path, sizeof path, "%s/run", joint_path("state", 0));
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(whole, 1, sizeof whole, f);
    (void)fclose(f);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    for (size_t at = 0; at < n; at += 29) { /* changed, and cut off */
        whole[at] ^= 1;
        killed_write(path, whole, n);
        killed_is_refused(0, DP_EDATA, "is damaged");
        whole[at] ^= 1;
        killed_write(path, whole, at);
        killed_is_refused(0, DP_EDATA, "is damaged");
    }
    killed_write(path, whole, n);
    assert_int_equal(chmod(path, 0640), 0);
    killed_is_refused(0, DP_EPRIVACY, "others may read");
    assert_int_equal(chmod(path, 0600), 0);
    dp_silo_forget(joint_path("state", 0)); /* lost, or another owner's */
    killed_is_refused(0, DP_ESTATE, "begun this run before");
    dp_silo_forget(joint_path("state", 0));
    killed_copy(joint_path("copy", 1), joint_path("state", 0));
    killed_is_refused(0, DP_ESTATE, "another plan, or another owner");
    killed_put_back(0);
    dp_silo_plan *plan = killed_scene.plan; /* of other steps */
    killed_terms.ridge *= 2;
    killed_scene.plan = plans_plan(&killed_scene.p, 3);
    killed_is_refused(0, DP_ESTATE, "another plan, or another owner");
    dp_silo_plan_free(killed_scene.plan);
    killed_scene.plan = plan;
    registers_end(&killed_scene);
}

/* ---- memory ---- */

/* A run that is over does all of it again, alone; where an allocation fails it says so, nothing
 * leaks, the state is as it was, and the ledger is charged once. */
static void memory_may_run_out_anywhere(void **state)
{
    bool failed;
    (void)state;
    killed_begin("columns+dp");
    register_side *s = &registers[0];
    s->opts.audit = NULL;
    killed_make_ledgers();
    dp_error err = {0};
    dp_ledger *ledger = NULL;
    assert_ok(dp_ledger_open(joint_path("ledger", 0), &ledger, &err), err.text);
    s->opts.ledger = ledger;
    s->opts.ledger_data = "records";
    const size_t live = faulty_live();
    size_t k = 0, refused = 0;
    do {
        faulty_fail(k += 1 + k / 16);
        register_act(s);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        if (s->status != (failed ? DP_ENOMEM : DP_OK))
            fail_msg("allocation %zu: %d, %s", k, (int)s->status, s->err.text);
        assert_int_equal(faulty_live(), live);
        refused += failed;
    } while (failed);
    assert_true(refused > 50);
    dp_ledger_close(ledger);
    killed_ledger(0);
    assert_memory_equal(s->w, killed_expected[0].w, 4 * sizeof(double));
    registers_end(&killed_scene);
}

/* ---- keys ---- */

/* A stream belongs to all that it was asked for with, and to the letters before. */
static void keys_differ_where_anything_does(void **state)
{
    enum { KEYS = 8 };
    static owners all;
    unsigned char key[2][KEYS][32], records[32] = {7}, secret[32] = {0};
    (void)state;
    owners_make(&all, 2);
    for (int m = 0; m < 2; m++) { /* twice the same but for a letter, of one state */
        dpi_carrier *carrier[2];
        dpi_post *post[2];
        dpi_columns_state *s;
        dp_error err = {0};
        for (size_t k = 0; k < 2; k++)
            assert_ok(dpi_carrier_memory(all.box, &carrier[k], &err), err.text);
        dpi_post_opts o = owners_post(&all, 1, carrier[1], 1);
        dp_status status = dpi_post_open(&o, secret, &post[1], NULL); /* puts its key there */
        assert_int_equal(status, m == 0 ? DP_ETIMEOUT : DP_OK);
        dpi_post_close(post[1]);
        o = owners_post(&all, 0, carrier[0], 10000);
        (void)unlink("t-columns-state.run");
        if (m == 0)
            (void)unlink("t-columns-state.kept");
        else
            assert_int_equal(rename("t-columns-state.kept", "t-columns-state.run"), 0);
        assert_ok(dpi_columns_state_new("t-columns-state.run", &o, records, &s, &err), err.text);
        assert_ok(dpi_columns_state_meet(s, &o, &post[0], &err), err.text);
        if (m == 0)
            assert_int_equal(link("t-columns-state.run", "t-columns-state.kept"), 0);
        dpi_columns_state_key(s, "a", 1, 0, NULL, key[m][0]);
        dpi_columns_state_key(s, "b", 1, 0, NULL, key[m][1]);
        dpi_columns_state_key(s, "a", 2, 0, NULL, key[m][2]);
        dpi_columns_state_key(s, "a", 1, 1, "", key[m][3]);
        dpi_columns_state_key(s, "a", 1, 1, "x", key[m][4]);
        o = owners_post(&all, 1, carrier[1], 10000);
        assert_ok(dpi_post_open(&o, secret, &post[1], &err), err.text);
        const char *body = m == 0 ? "left" : "LEFT";
        unsigned char got[4];
        assert_ok(
            dpi_post_send(post[1], 0, (uint64_t)m, 0, "m", 4, (const unsigned char *)body, &err),
            err.text);
        assert_ok(dpi_post_receive(post[0], 1, (uint64_t)m, 0, "m", 0, 4, got, &err), err.text);
        dpi_columns_state_key(s, "a", 1, 0, NULL, key[m][5]);
        assert_ok(dpi_post_send(post[0], 1, (uint64_t)m, 0, "n", 4, got, &err), err.text);
        dpi_columns_state_key(s, "a", 1, 0, NULL, key[m][6]);
        assert_false(dpi_columns_state_begun(s));
        memset(key[m][7], m, 32);
        for (size_t k = 0; k < 2; k++) {
            dpi_post_close(post[k]);
            carrier[k]->kind->close(carrier[k]);
        }
        dpi_columns_state_free(s);
    }
    for (int a = 0; a < 2 * KEYS; a++)
        for (int b = 0; b < a; b++)
            assert_int_equal(memcmp(key[a / KEYS][a % KEYS], key[b / KEYS][b % KEYS], 32) == 0,
                             a % KEYS == b % KEYS && a % KEYS < 5);
    (void)unlink("t-columns-state.run");
    (void)unlink("t-columns-state.run.lock");
    owners_free(&all);
}

static void steps_are_counted_by_letters(void **state)
{
    (void)state;
    assert_int_equal(dpi_columns_state_steps(0, 9), 0);
    assert_int_equal(dpi_columns_state_steps(5, 9), 0); /* columns, which tell nothing */
    assert_int_equal(dpi_columns_state_steps(6, 9), 1);
    assert_int_equal(dpi_columns_state_steps(14, 9), 9);
    assert_int_equal(dpi_columns_state_steps(15, 9), 9); /* coefficients */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_then),
        cmocka_unit_test(states_that_are_none_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(keys_differ_where_anything_does),
        cmocka_unit_test(steps_are_counted_by_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
