#define _XOPEN_SOURCE 700
#include "tests/silo/joint.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "infer/journal.h"
#include "silo/plan.h"
#include "tests/lib/check.h"

static char folder[64];

const char *joint_path(const char *name, size_t k)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s-%zu", folder, name, k);
    return path;
}

/* Takes away what is in a folder. */
static void empty(const char *path)
{
    DIR *d = opendir(path);
    if (d == NULL)
        return;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char file[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (unlink(file) != 0) {
            empty(file);
            (void)rmdir(file);
        }
    }
    (void)closedir(d);
}

void joint_begin(joint *j)
{
    const char *memory = "/dev/shm"; /* each run waits for the disk some thousand times */
    (void)snprintf(folder, sizeof folder, "%s/silo-joint-%ld",
                   access(memory, W_OK) == 0 ? memory : ".", (long)getpid());
    empty(folder);
    (void)mkdir(folder, 0700);
    assert_int_equal(mkdir(joint_path("mailbox", 0), 0700), 0);
    j->plan = plans_plan(&j->p, UINT_MAX);
    uint64_t own = j->sums = 0;
    for (size_t k = 0; k < j->plan->n_openings; k++)
        *(j->plan->openings[k].alone ? &own : &j->sums) += j->plan->openings[k].times;
    j->planned = own > 0 ? own : j->sums;
}

void joint_end(joint *j)
{
    dp_silo_plan_free(j->plan);
    plans_free(&j->p);
    empty(folder);
    (void)rmdir(folder);
}

void joint_clear(void)
{
    empty(joint_path("mailbox", 0));
    for (size_t k = 0; k < PLANS_MOST; k++) {
        dp_silo_forget(joint_path("state", k));
        (void)unlink(joint_path("fit", k));
        (void)unlink(joint_path("audit", k));
    }
}

dp_silo_run_opts joint_opts(const joint *j, size_t k)
{
    return (dp_silo_run_opts){.key = j->p.keys[k],
                              .mailbox = joint_path("mailbox", 0),
                              .state = joint_path("state", k),
                              .patience_ms = 20000,
                              .hopeless_allowed = true};
}

/* ---- the mailbox ---- */

size_t joint_letters(void)
{
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    (void)closedir(d);
    return n;
}

size_t joint_rounds(void)
{
    bool seen[1024] = {false};
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        const char *round = strchr(e->d_name, '+');
        unsigned long r = round != NULL ? strtoul(round + 1, NULL, 10) : 0;
        assert_true(r < 1024);
        n += r > 0 && !seen[r];
        seen[r] = true;
    }
    (void)closedir(d);
    return n;
}

/* ---- processes ---- */

void joint_make_ledgers(const joint *j)
{
    dp_error err = {0};
    const dp_silo_opts *o = dp_silo_plan_opts(j->plan);
    const dp_budget budget = {.epsilon = o->epsilon, .delta = o->delta, .adjacency = DP_ADD_REMOVE};
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        dp_ledger *ledger = NULL;
        dp_dataset *data = plans_data(&j->p, k);
        const dp_ledger_source source = {.records = data};
        (void)unlink(joint_path("ledger", k));
        assert_ok(dp_ledger_create(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
        dp_ledger_close(ledger);
        dp_dataset_free(data);
    }
}

/* Files of this process get no longer than the journal is; letters and the state are shorter. */
static void jam(size_t k)
{
    char path[300];
    struct stat s;
    struct rlimit limit;
    (void)snprintf(path, sizeof path, "%s/journal", joint_path("state", k));
    (void)signal(SIGXFSZ, SIG_IGN);
    if (stat(path, &s) != 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(99);
    limit.rlim_cur = (rlim_t)s.st_size;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(99);
}

static int watch(void *of, const dp_fit_progress *at)
{
    const joint_owner *o = of;
    if (o->kill_at > 0 && at->made == o->kill_at)
        (void)raise(SIGKILL);
    if (o->jam_at > 0 && at->made == o->jam_at)
        jam(o->k);
    return o->stop_at > 0 && at->made >= o->stop_at;
}

static void write_message(size_t k, const char *text)
{
    FILE *f = fopen(joint_path("message", k), "wb");
    if (f != NULL) {
        (void)fputs(text, f);
        (void)fclose(f);
    }
}

/* Does not return. */
static void act(const joint *j, const joint_owner *o)
{
    dp_silo_run_opts opts = joint_opts(j, o->k);
    dp_ledger *ledger = NULL;
    dp_dataset *data = plans_data(&j->p, o->k);
    dp_fit *fit = NULL;
    dp_error err = {0};
    dp_status status = DP_OK;
    opts.watch = watch;
    opts.watch_user = (void *)(uintptr_t)o;
    opts.audit = o->audited ? joint_path("audit", o->k) : NULL;
    if (o->patience_ms > 0)
        opts.patience_ms = o->patience_ms;
    if (o->pays) {
        status = dp_ledger_open(joint_path("ledger", o->k), &ledger, &err);
        opts.ledger = ledger;
        opts.ledger_data = "records";
    }
    if (status == DP_OK)
        status = dp_silo_run(j->plan, j->p.model, data, &opts, &fit, &err);
    if (status == DP_OK)
        status = dp_fit_save(fit, joint_path("fit", o->k), &err);
    write_message(o->k, err.text);
    dp_fit_free(fit);
    dp_ledger_close(ledger);
    dp_dataset_free(data);
    _exit((int)status);
}

pid_t joint_start(const joint *j, const joint_owner *o)
{
    (void)unlink(joint_path("fit", o->k));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        act(j, o);
    return child;
}

static int ended(pid_t process, int flags)
{
    int how = 0;
    const pid_t found = waitpid(process, &how, flags);
    if (flags == WNOHANG && found == 0)
        return JOINT_RUNNING;
    assert_int_equal(found, process);
    if (WIFSIGNALED(how))
        return WTERMSIG(how) == SIGKILL ? JOINT_KILLED : JOINT_STRANGE;
    return WEXITSTATUS(how);
}

int joint_wait(pid_t process)
{
    return ended(process, 0);
}

int joint_look(pid_t process)
{
    return ended(process, WNOHANG);
}

void joint_run(const joint *j, const joint_owner owners[PLANS_OWNERS])
{
    pid_t process[PLANS_OWNERS];
    for (size_t k = 0; k < PLANS_OWNERS; k++)
        process[k] = joint_start(j, &owners[k]);
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        const joint_owner *o = &owners[k];
        joint_owner again = *o;
        if (o->stop_at > 0)
            assert_int_equal(joint_wait(process[k]), DP_ESTOPPED);
        else if (o->kill_at > 0)
            assert_int_equal(joint_wait(process[k]), JOINT_KILLED);
        else if (o->jam_at > 0)
            assert_int_equal(joint_wait(process[k]), DP_EIO);
        else
            continue;
        again.stop_at = again.kill_at = again.jam_at = 0;
        process[k] = joint_start(j, &again);
    }
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        int status = joint_wait(process[k]);
        size_t n;
        if (status != DP_OK)
            fail_msg("owner %zu: %d, %s", k, status, (const char *)joint_load("message", k, 0, &n));
    }
}

/* ---- fits ---- */

static const unsigned char *load(const char *path, int slot, size_t *n)
{
    static unsigned char bytes[2][JOINT_FILE + 1];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    *n = fread(bytes[slot], 1, JOINT_FILE, f);
    bytes[slot][*n] = '\0';
    (void)fclose(f);
    return bytes[slot];
}

const unsigned char *joint_load(const char *name, size_t k, int slot, size_t *n)
{
    return load(joint_path(name, k), slot, n);
}

const unsigned char *joint_letter(const char *mailbox, const char *name, int slot, size_t *n)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%.255s", joint_path(mailbox, 0), name);
    return load(path, slot, n);
}

void joint_same(const joint *j)
{
    for (size_t k = 0; k < j->p.opts.n_owners; k++) {
        size_t n, m;
        const unsigned char *first = joint_load("fit", 0, 0, &n);
        const unsigned char *other = joint_load("fit", k, 1, &m);
        assert_true(n > 1000 && n < JOINT_FILE);
        assert_int_equal(n, m);
        assert_memory_equal(first, other, n);
    }
    assert_int_equal(joint_rounds(), j->sums);
}

/* ---- what is kept ---- */

void joint_journals(const joint *j)
{
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        char path[300];
        dpi_journal *journal = NULL;
        dp_error err = {0};
        (void)snprintf(path, sizeof path, "%s/journal", joint_path("state", k));
        assert_ok(dpi_journal_open(path, &journal, &err), err.text);
        assert_int_equal(dpi_journal_count(journal), j->planned);
        dpi_journal_free(journal);
    }
}

void joint_ledgers(const joint *j)
{
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        dp_ledger *ledger = NULL;
        const dp_ledger_statement *all;
        dp_error err = {0};
        uint64_t begun = 0;
        assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
        assert_int_equal(all->data[0].n, 1); /* one entry, that of the first run */
        for (size_t i = 0; i < all->data[0].entries[0].n; i++)
            begun += all->data[0].entries[0].begun[i];
        assert_int_equal(begun, j->planned);
        assert_true(all->data[0].entries[0].settled > 0);
        dp_ledger_statement_free(all);
        dp_ledger_close(ledger);
    }
}

void joint_run_paid(const joint *j, joint_owner owners[PLANS_OWNERS])
{
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        owners[k].k = k;
        owners[k].pays = true;
    }
    joint_make_ledgers(j);
    joint_run(j, owners);
    joint_same(j);
    joint_journals(j);
    joint_ledgers(j);
}
