#define _XOPEN_SOURCE 700
#include "tests/silo/killed.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"

joint killed_scene;
dp_silo_columns killed_terms;

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

void killed_write(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

pid_t killed_start(size_t k, int at, bool pays)
{
    register_side *s = &registers[k];
    killed_outcome got = {{0}, {0}, 0};
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
    killed_write(path, &got, sizeof got);
    killed_write(joint_path("message", k), s->err.text, strlen(s->err.text) + 1);
    dp_ledger_close(ledger);
    _exit((int)s->status);
}

static void ended_well(size_t k, int status)
{
    size_t n;
    if (status != DP_OK)
        fail_msg("owner %zu: %d, %s", k, status, (const char *)joint_load("message", k, 0, &n));
}

void killed_ends_well(size_t k, pid_t process)
{
    ended_well(k, joint_wait(process));
}

unsigned killed_run(const int at[2], bool pays)
{
    unsigned killed = 0, over = 0;
    pid_t process[2];
    for (size_t k = 0; k < 2; k++)
        process[k] = killed_start(k, at[k], pays);
    for (size_t k = 0; over != 3; k = 1 - k) {
        const int how = (over >> k & 1) != 0 ? JOINT_RUNNING : joint_look(process[k]);
        if (how == JOINT_KILLED && at[k] > 0 && (killed >> k & 1) == 0) {
            killed |= 1U << k;
            process[k] = killed_start(k, 0, pays);
        } else if (how != JOINT_RUNNING) {
            ended_well(k, how);
            over |= 1U << k;
        } else {
            pause_for(1);
        }
    }
    return killed;
}

void killed_is_refused(size_t k, int status, const char *why)
{
    size_t n;
    const size_t before = joint_letters();
    assert_int_equal(joint_wait(killed_start(k, 0, false)), status);
    assert_contains((const char *)joint_load("message", k, 0, &n), why);
    assert_int_equal(joint_letters(), before);
}

/* ---- folders ---- */

void killed_copy(const char *from, const char *to)
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
        killed_write(at, bytes, n);
        assert_int_equal(chmod(at, 0600), 0);
    }
    (void)closedir(d);
}

void killed_put_back(size_t k)
{
    dp_silo_forget(joint_path("state", k));
    killed_copy(joint_path("copy", k), joint_path("state", k));
}

/* ---- scenes ---- */

killed_outcome killed_expected[2];

/* What owner k has come to. */
static const killed_outcome *result_of(size_t k)
{
    size_t n;
    const killed_outcome *got =
        (const killed_outcome *)(const void *)joint_load("result", k, 0, &n);
    assert_int_equal(n, sizeof *got);
    return got;
}

void killed_begin(const char *scheme)
{
    static const int never[2];
    killed_terms = registers_usual;
    killed_terms.steps = KILLED_STEPS;
    killed_terms.told = true;
    registers_begin(&killed_scene, &killed_terms, scheme);
    for (size_t k = 0; k < 2; k++) {
        registers[k].opts.patience_ms = 1;
        assert_int_equal(joint_wait(killed_start(k, 0, false)), DP_ETIMEOUT);
        registers[k].opts.patience_ms = 20000;
        killed_copy(joint_path("state", k), joint_path("copy", k));
        (void)registers_take(NULL);
    }
    (void)killed_run(never, false);
    for (size_t k = 0; k < 2; k++)
        killed_expected[k] = *result_of(k);
    assert_int_equal(killed_expected[0].common, 160);
    assert_memory_equal(killed_expected[0].w, killed_expected[1].others, 4 * sizeof(double));
    killed_copy(joint_path("mailbox", 0), joint_path("before", 0));
}

void killed_begin_again(void)
{
    (void)registers_take(NULL);
    for (size_t k = 0; k < 2; k++)
        killed_put_back(k);
}

void killed_same(void)
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
    assert_int_equal(letters, 2 * (KILLED_LETTERS + 1)); /* and keys */
    for (size_t k = 0; k < 2; k++)
        assert_memory_equal(result_of(k), &killed_expected[k], sizeof killed_expected[k]);
}

void killed_make_ledgers(void)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    for (size_t k = 0; k < 2; k++) {
        dp_ledger *ledger = NULL;
        dp_error err = {0};
        dp_dataset *data = plans_data(&killed_scene.p, k);
        const dp_ledger_source source = {.records = data};
        (void)unlink(joint_path("ledger", k));
        assert_ok(dp_ledger_create(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
        dp_ledger_close(ledger);
        dp_dataset_free(data);
    }
}

void killed_ledger(size_t k)
{
    dp_ledger *ledger = NULL;
    const dp_ledger_statement *all;
    dp_error err = {0};
    assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
    assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
    assert_int_equal(all->data[0].n, 1);
    const dp_ledger_entry *e = &all->data[0].entries[0];
    assert_true(e->settled != 0 && e->begun[0] == KILLED_STEPS && e->begun[1] == 1);
    assert_true(e->list[0].steps == KILLED_STEPS && e->list[1].steps == 1);
    dp_ledger_statement_free(all);
    dp_ledger_close(ledger);
}

void killed_ledgers(void)
{
    for (size_t k = 0; k < 2; k++)
        killed_ledger(k);
}
