/* Runs of columns that end early and go on: to the coefficients, and by the letters, of one that
 * was not interrupted, each to the bit; and what does not go on.
 *
 * Owners are processes that are killed at a moment: before or after a letter leaves, or the state
 * is replaced.  With EVERYWHERE in the environment each of both owners is killed at every one. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "silo/columns-state.h"
#include "silo/keys.h"
#include "silo/plan.h"
#include "silo/state.h"
#include "tests/lib/check.h"
#include "tests/lib/pause.h"
#include "tests/silo/owners.h"
#include "tests/silo/registers.h"

enum { STEPS = 4, LETTERS = 4 + 1 + STEPS + 1, MOMENTS = 4 * LETTERS };

static joint j;
static dp_silo_columns terms;

/* ---- moments ---- */

static int moment, killed_at; /* of this process; 0: never */

static void pass_moment(void)
{
    if (++moment == killed_at)
        (void)raise(SIGKILL);
}

int __real_link(const char *from, const char *to);
int __real_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_link(const char *from, const char *to)
{
    pass_moment();
    const int got = __real_link(from, to);
    pass_moment();
    return got;
}

int __wrap_rename(const char *from, const char *to)
{
    pass_moment();
    const int got = __real_rename(from, to);
    pass_moment();
    return got;
}

/* ---- processes ---- */

/* What an owner comes to. */
typedef struct result {
    double w[MOST_D], others[MOST_D];
    size_t common;
} result;

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Begins an owner's process, that ends at a moment, or with its status. */
static pid_t start(size_t k, int at, bool pays)
{
    register_side *s = &registers[k];
    result got = {{0}, {0}, 0};
    dp_ledger *ledger = NULL;
    char path[256];
    (void)snprintf(path, sizeof path, "%s", joint_path("result", k));
    (void)unlink(path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    s->opts.others = got.others;
    s->opts.audit = NULL;
    if (pays) {
        if (dp_ledger_open(joint_path("ledger", k), &ledger, NULL) != DP_OK)
            _exit(98);
        s->opts.ledger = ledger;
        s->opts.ledger_data = "records";
    }
    moment = 0;
    killed_at = at;
    register_act(s);
    killed_at = 0;
    memcpy(got.w, s->w, sizeof got.w);
    got.common = s->common;
    write_file(path, &got, sizeof got);
    write_file(joint_path("message", k), s->err.text, strlen(s->err.text) + 1);
    dp_ledger_close(ledger);
    _exit((int)s->status);
}

static void ended_well(size_t k, int status)
{
    size_t n;
    if (status != DP_OK)
        fail_msg("owner %zu: %d, %s", k, status, (const char *)joint_load("message", k, 0, &n));
}

static void ends_well(size_t k, pid_t process)
{
    ended_well(k, joint_wait(process));
}

/* Both run, and each that is killed at its moment again, as the other may wait for it; which were.
 */
static unsigned run(const int at[2], bool pays)
{
    unsigned killed = 0, over = 0;
    pid_t process[2];
    for (size_t k = 0; k < 2; k++)
        process[k] = start(k, at[k], pays);
    for (size_t k = 0; over != 3; k = 1 - k) {
        const int how = (over >> k & 1) != 0 ? JOINT_RUNNING : joint_look(process[k]);
        if (how == JOINT_KILLED && at[k] > 0 && (killed >> k & 1) == 0) {
            killed |= 1U << k;
            process[k] = start(k, 0, pays);
        } else if (how != JOINT_RUNNING) {
            ended_well(k, how);
            over |= 1U << k;
        } else {
            pause_for(1);
        }
    }
    return killed;
}

static void is_refused(size_t k, int status, const char *why)
{
    size_t n;
    const size_t before = joint_letters();
    assert_int_equal(joint_wait(start(k, 0, false)), status);
    assert_contains((const char *)joint_load("message", k, 0, &n), why);
    assert_int_equal(joint_letters(), before);
}

/* ---- folders ---- */

static void copy_folder(const char *from, const char *to)
{
    static unsigned char bytes[JOINT_FILE];
    char of[600], at[600];
    DIR *d = opendir(from);
    assert_non_null(d);
    (void)mkdir(to, 0700);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(of, sizeof of, "%s/%.255s", from, e->d_name);
        (void)snprintf(at, sizeof at, "%s/%.255s", to, e->d_name);
        FILE *f = fopen(of, "rb");
        assert_non_null(f);
        const size_t n = fread(bytes, 1, sizeof bytes, f);
        assert_true(n < sizeof bytes);
        (void)fclose(f);
        write_file(at, bytes, n);
        assert_int_equal(chmod(at, 0600), 0);
    }
    (void)closedir(d);
}

static void put_back(size_t k)
{
    dp_silo_forget(joint_path("state", k));
    copy_folder(joint_path("copy", k), joint_path("state", k));
}

/* ---- scenes ---- */

static result expected[2];

/* What owner k has come to. */
static const result *result_of(size_t k)
{
    size_t n;
    const result *got = (const result *)(const void *)joint_load("result", k, 0, &n);
    assert_int_equal(n, sizeof *got);
    return got;
}

/* States that no letter has left of, in copies, and from these a run that is not interrupted, whose
 * letters are in a folder of their own. */
static void begin(const char *scheme)
{
    static const int never[2];
    terms = registers_usual;
    terms.steps = STEPS;
    terms.told = true;
    registers_begin(&j, &terms, scheme);
    for (size_t k = 0; k < 2; k++) {
        registers[k].opts.patience_ms = 1;
        assert_int_equal(joint_wait(start(k, 0, false)), DP_ETIMEOUT);
        registers[k].opts.patience_ms = 20000;
        copy_folder(joint_path("state", k), joint_path("copy", k));
        (void)registers_take(NULL);
    }
    (void)run(never, false);
    for (size_t k = 0; k < 2; k++)
        expected[k] = *result_of(k);
    assert_int_equal(expected[0].common, 160);
    assert_memory_equal(expected[0].w, expected[1].others, 4 * sizeof(double));
    copy_folder(joint_path("mailbox", 0), joint_path("before", 0));
}

static void begin_again(void)
{
    (void)registers_take(NULL);
    for (size_t k = 0; k < 2; k++)
        put_back(k);
}

/* That the letters are those of the run that was not interrupted, byte by byte, and so are
 * coefficients. */
static void check_same(void)
{
    size_t letters = 0;
    DIR *d = opendir(joint_path("before", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t was, is;
        if (e->d_name[0] == '.')
            continue;
        const unsigned char *old = joint_letter("before", e->d_name, 0, &was);
        const unsigned char *new = joint_letter("mailbox", e->d_name, 1, &is);
        assert_int_equal(was, is);
        assert_memory_equal(old, new, was);
        letters++;
    }
    (void)closedir(d);
    assert_int_equal(letters, 2 * (LETTERS + 1)); /* and keys */
    for (size_t k = 0; k < 2; k++)
        assert_memory_equal(result_of(k), &expected[k], sizeof expected[k]);
}

static void make_ledgers(void)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    for (size_t k = 0; k < 2; k++) {
        dp_ledger *ledger = NULL;
        dp_error err = {0};
        dp_dataset *data = plans_data(&j.p, k);
        const dp_ledger_source source = {.records = data};
        (void)unlink(joint_path("ledger", k));
        assert_ok(dp_ledger_create(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
        dp_ledger_close(ledger);
        dp_dataset_free(data);
    }
}

/* Each ledger has one entry, of all of the plan, and it is settled. */
static void check_ledgers(void)
{
    for (size_t k = 0; k < 2; k++) {
        dp_ledger *ledger = NULL;
        const dp_ledger_statement *all;
        dp_error err = {0};
        assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
        assert_int_equal(all->data[0].n, 1);
        const dp_ledger_entry *e = &all->data[0].entries[0];
        assert_true(e->settled != 0 && e->begun[0] == STEPS && e->begun[1] == 1);
        assert_true(e->list[0].steps == STEPS && e->list[1].steps == 1);
        dp_ledger_statement_free(all);
        dp_ledger_close(ledger);
    }
}

/* ---- killed ---- */

static void whoever_is_killed_goes_on(void **state)
{
    (void)state;
    begin("columns+dp");
    int moments[2] = {0, 0};
    for (int at = 1; at <= MOMENTS + 8; at++)
        for (size_t k = 0; k < 2; k++) {
            const int when[2] = {k == 0 ? at : 0, k == 1 ? at : 0};
            if (at % 2 != (int)k && getenv("EVERYWHERE") == NULL)
                continue;
            make_ledgers();
            begin_again();
            moments[k] += run(when, true) != 0;
            check_same();
            check_ledgers();
        }
    /* All letters, keys, and what the state is written for besides: none was left out. */
    assert_true(moments[0] + moments[1] >= MOMENTS);
    registers_end(&j);
}

static void so_do_both(void **state)
{
    (void)state;
    begin("columns+dp");
    for (int n = 0; n < 8; n++) {
        const int when[2] = {1 + 5 * n, 1 + 29 * n % MOMENTS};
        make_ledgers();
        begin_again();
        (void)run(when, true);
        check_same();
        check_ledgers();
    }
    registers_end(&j);
}

static void and_without_noise(void **state)
{
    (void)state;
    begin("columns");
    for (int at = 2; at <= MOMENTS; at += 3) {
        const int when[2] = {at % 2 == 0 ? at : 0, at % 2 == 0 ? 0 : at};
        begin_again();
        (void)run(when, false);
        check_same();
    }
    registers_end(&j);
}

/* One that was killed several times, and asks again when all is over. */
static void again_and_again(void **state)
{
    (void)state;
    begin("columns+dp");
    begin_again();
    make_ledgers();
    pid_t other = start(1, 0, true);
    for (int at = 3; at < 30; at += 9)
        assert_int_equal(joint_wait(start(0, at, true)), JOINT_KILLED);
    ends_well(0, start(0, 0, true));
    ends_well(1, other);
    check_same();
    for (size_t k = 0; k < 2; k++) {
        ends_well(k, start(k, 0, true)); /* nothing leaves, and nothing is paid */
        check_same();
        check_ledgers();
    }
    registers_end(&j);
}

/* ---- older copies ---- */

static void an_older_copy_beside_its_letters_is_refused(void **state)
{
    (void)state;
    begin("columns+dp");
    for (size_t k = 0; k < 2; k++) {
        put_back(k);
        is_refused(k, DP_ESTATE, "older copy");
        is_refused(k, DP_ESTATE, "older copy"); /* and does not become newer by that */
    }
    registers_end(&j);
}

static void one_without_them_sends_the_same(void **state)
{
    (void)state;
    begin("columns+dp");
    for (size_t k = 0; k < 2; k++) {
        char word[32];
        (void)snprintf(word, sizeof word, "+%s+%s+", j.p.owners[k].name, j.p.owners[1 - k].name);
        assert_int_equal(registers_take(word), LETTERS);
        put_back(k);
        ends_well(k, start(k, 0, false));
        assert_int_equal(joint_letters(), 2 * (LETTERS + 1));
        check_same();
    }
    registers_end(&j);
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
    memcpy(names[k], j.plan->names, sizeof names[k]);
    assert_ok(dpi_carrier_folder(joint_path("mailbox", 0), carrier, &err), err.text);
    (void)snprintf(path, sizeof path, "%s/run", joint_path("copy", k));
    dpi_silo_state_whose(j.plan->hash, j.plan->keys[k], whose);
    assert_ok(dpi_silo_state_peek(path, whose, &s, &there, &err), err.text);
    assert_true(there);
    dpi_post_opts o = {.carrier = *carrier,
                       .party = k,
                       .parties = 2,
                       .names = names[k],
                       .publics = j.plan->keys,
                       .secret = j.p.keys[k]->secret};
    memcpy(o.plan, j.plan->hash, DPI_SILO_HASH);
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
    (void)snprintf(word, sizeof word, "+%u-0+%s+%s+N.c", (unsigned)of, j.p.owners[1].name,
                   j.p.owners[0].name);
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (strstr(e->d_name, word) != NULL)
            (void)joint_letter("mailbox", e->d_name, 0, &n);
    (void)closedir(d);
    n -= 4 + 8 + 24 + 16 + 64; /* around a body */
    assert_ok(dpi_post_receive(post[0], 1, of, 0, "N.c", 0, n, body, &err), err.text);
    (void)snprintf(word, sizeof word, "+%u-0+%s+%s+N.c", (unsigned)step, j.p.owners[1].name,
                   j.p.owners[0].name);
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
    begin("columns+dp");
    for (uint64_t step = 1; step < STEPS; step++) {
        begin_again();
        pid_t other = start(1, 0, false);
        /* Four moments a letter, two for the key and two for the other's. */
        const int at = 4 + 4 * (4 + 1 + STEPS);
        assert_int_equal(joint_wait(start(0, at, false)), JOINT_KILLED);
        assert_int_equal(kill(other, SIGKILL), 0);
        (void)joint_wait(other);
        forge(step, step % STEPS + 1);
        is_refused(0, DP_EPRIVACY, "nothing more leaves");
    }
    registers_end(&j);
}

/* ---- what is no state of this run ---- */

static void rows_are_those_of_then(void **state)
{
    (void)state;
    begin("columns+dp");
    register_side *s = &registers[1];
    for (int at = 1; at < 40; at += 19) {
        begin_again();
        assert_int_equal(joint_wait(start(1, 1, false)), JOINT_KILLED);
        s->x[5] += 0x1p-50;
        is_refused(1, DP_ESTATE, "begun with other rows");
        s->x[5] -= 0x1p-50;
        s->y[3] = 1 - s->y[3];
        is_refused(1, DP_ESTATE, "begun with other rows");
        s->y[3] = 1 - s->y[3];
        s->at[2] = "somebody";
        is_refused(1, DP_ESTATE, "begun with other rows");
        s->at[2] = s->ids[2];
        s->rows--;
        is_refused(1, DP_ESTATE, "begun with other rows");
        s->rows++;
    }
    registers_end(&j);
}

static void states_that_are_none_are_refused(void **state)
{
    static unsigned char whole[4096];
    char path[300];
    size_t n;
    (void)state;
    begin("columns+dp");
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
        write_file(path, whole, n);
        is_refused(0, DP_EDATA, "is damaged");
        whole[at] ^= 1;
        write_file(path, whole, at);
        is_refused(0, DP_EDATA, "is damaged");
    }
    write_file(path, whole, n);
    assert_int_equal(chmod(path, 0640), 0);
    is_refused(0, DP_EPRIVACY, "others may read");
    assert_int_equal(chmod(path, 0600), 0);
    dp_silo_forget(joint_path("state", 0)); /* lost, or another owner's */
    is_refused(0, DP_ESTATE, "begun this run before");
    dp_silo_forget(joint_path("state", 0));
    copy_folder(joint_path("copy", 1), joint_path("state", 0));
    is_refused(0, DP_ESTATE, "another plan, or another owner");
    put_back(0);
    dp_silo_plan *plan = j.plan; /* of other steps */
    terms.ridge *= 2;
    j.plan = plans_plan(&j.p, 3);
    is_refused(0, DP_ESTATE, "another plan, or another owner");
    dp_silo_plan_free(j.plan);
    j.plan = plan;
    registers_end(&j);
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
        cmocka_unit_test(whoever_is_killed_goes_on),
        cmocka_unit_test(so_do_both),
        cmocka_unit_test(and_without_noise),
        cmocka_unit_test(again_and_again),
        cmocka_unit_test(an_older_copy_beside_its_letters_is_refused),
        cmocka_unit_test(one_without_them_sends_the_same),
        cmocka_unit_test(who_is_told_something_else_ends),
        cmocka_unit_test(rows_are_those_of_then),
        cmocka_unit_test(states_that_are_none_are_refused),
        cmocka_unit_test(keys_differ_where_anything_does),
        cmocka_unit_test(steps_are_counted_by_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
