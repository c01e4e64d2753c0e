/* Fault injection on the ledger: lives of a process that reserves, leases, steps, settles and takes
 * over, and ends by SIGKILL, at a random moment or inside a system call (a write may be cut in half
 * by it), or meets writes, syncs, truncations and deletions that fail, once or from then on (a full
 * disk).
 *
 * A step is witnessed, by a record in a file of its own, when it begins.  After every life:
 *   the file is whole (SQLite's integrity check, seals, numbers of entries),
 *   for every entry: steps witnessed <= begun <= reserved; nothing witnessed lacks its entry.
 *
 * KILLS lives end by SIGKILL.  The program stands between SQLite and the C library: it defines the
 * calls that write. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ledger/reserve.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

#ifndef KILLS
#define KILLS 50
#endif
enum { PLAN = 40, LIVES_OF_A_LEDGER = 25, MOST_ENTRIES = 20000, OPERATIONS = 3 };

/* ---- the calls that write ---- */

typedef enum fate { UNTOUCHED, DIE, FAIL_ONCE, FAIL_ON } fate;

static fate plan;      /* of this life */
static long countdown; /* calls until then; 0: never, or over */
static long calls, injected;

/* True when this call is to fail; does not return when it is to die. */
static bool struck(bool *half)
{
    calls++;
    *half = false;
    if (plan == UNTOUCHED || (countdown == 0 && plan != FAIL_ON))
        return false;
    if (countdown > 0 && --countdown > 0)
        return false;
    *half = calls % 2 == 0;
    if (plan == DIE && !*half)
        (void)raise(SIGKILL);
    injected++;
    return true;
}

/* A write that is cut in half by death, or finds the disk full, perhaps after half. */
static ssize_t put(int file, const void *bytes, size_t n, off_t at, bool positioned)
{
    bool half, fails = struck(&half);
    size_t m = half ? n / 2 : n;
    if (fails && (!half || plan == DIE || m == 0)) {
        if (plan == DIE) {
            if (positioned)
                (void)!syscall(SYS_pwrite64, file, bytes, m, at);
            else
                (void)!syscall(SYS_write, file, bytes, m);
            (void)raise(SIGKILL);
        }
        errno = ENOSPC;
        return -1;
    }
    return positioned ? syscall(SYS_pwrite64, file, bytes, m, at)
                      : syscall(SYS_write, file, bytes, m);
}

static bool fails_now(int code)
{
    bool half;
    if (!struck(&half))
        return false;
    if (plan == DIE)
        (void)raise(SIGKILL);
    errno = code;
    return true;
}

/* Seen by SQLite although the rest is hidden. */
#pragma GCC visibility push(default)

ssize_t write(int file, const void *bytes, size_t n)
{
    return put(file, bytes, n, 0, false);
}

ssize_t pwrite(int file, const void *bytes, size_t n, off_t at)
{
    return put(file, bytes, n, at, true);
}

ssize_t pwrite64(int file, const void *bytes, size_t n, off64_t at)
{
    return put(file, bytes, n, at, true);
}

int fsync(int file)
{
    return fails_now(EIO) ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    return fails_now(EIO) ? -1 : (int)syscall(SYS_fdatasync, file);
}

int ftruncate(int file, off_t size)
{
    return fails_now(EIO) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate64(int file, off64_t size)
{
    return fails_now(EIO) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}

int unlink(const char *path)
{
    return fails_now(EACCES) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

#pragma GCC visibility pop

/* ---- chance, repeatable ---- */

static uint64_t chance_state = 20240607;

static uint64_t chance(uint64_t below) /* splitmix64 (Steele, Lea and Flood 2014) */
{
    uint64_t z = chance_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % below;
}

/* ---- a life ---- */

static int witness; /* file of ids, one for each step that began */

static void begin_step(uint64_t id)
{
    if (syscall(SYS_write, witness, &id, sizeof id) != sizeof id)
        _exit(3);
}

/* Goes through the steps of a reservation in leases, up to `steps` of them; counts from `base`. */
static void walk(dp_reservation *r, uint64_t base, uint64_t steps)
{
    uint64_t leased = 0;
    if (dpi_reservation_mark(r, &base, NULL) != DP_OK) /* as a run that was just saved */
        return;
    for (uint64_t done = 0; done < steps; done++) {
        if (done == leased) {
            uint64_t wanted = done + 1 + chance(PLAN / 2), total;
            wanted = wanted < PLAN ? wanted : PLAN;
            total = base + wanted;
            if (dpi_reservation_mark(r, &total, NULL) != DP_OK)
                return;
            leased = wanted;
        }
        begin_step(dpi_reservation_id(r));
    }
    uint64_t begun = base + steps;
    if (chance(2) == 0)
        (void)!dp_reservation_settle(r, &begun, NULL);
}

static void operate(dp_ledger *ledger, uint64_t entries)
{
    const dp_mechanism m = gaussian(1e5, PLAN);
    const dp_spending what = {.data = "d", .list = &m, .n = 1};
    const dpi_purpose same = {.n_used = 0};
    const uint64_t remaining = PLAN;
    dp_reservation *r;
    uint64_t base = 0;
    dp_status status;
    bool resumes = entries > 0 && chance(3) == 0;
    if (resumes) {
        const dpi_resumption old = {.id = 1 + chance(entries), .n = 1, .remaining = &remaining};
        status = dpi_reserve_again(ledger, &old, &same, &base, &r, NULL);
    } else
        status = dp_ledger_reserve(ledger, &what, &r, NULL);
    if (status != DP_OK)
        return;
    if (!resumes && chance(4) == 0) /* without leases: all of it may be begun at once */
        for (uint64_t k = 0; k < PLAN; k++)
            begin_step(dpi_reservation_id(r));
    else
        walk(r, base, 1 + chance(PLAN));
    dp_reservation_free(r);
}

static void live(uint64_t entries)
{
    dp_ledger *ledger;
    witness = open(folder_path("witness"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (witness < 0)
        _exit(3);
    for (int i = 0; i < OPERATIONS; i++) {
        if (dp_ledger_open(folder_path("ledger"), &ledger, NULL) != DP_OK)
            continue;
        operate(ledger, entries);
        operate(ledger, entries);
        dp_ledger_close(ledger);
    }
    _exit(injected > 0 ? 1 : 0);
}

/* ---- after it ---- */

static uint64_t witnessed[MOST_ENTRIES];

/* Reads the witness file; gives the greatest id. */
static uint64_t read_witness(void)
{
    uint64_t id, last = 0;
    memset(witnessed, 0, sizeof witnessed);
    FILE *file = fopen(folder_path("witness"), "rb");
    while (file != NULL && fread(&id, sizeof id, 1, file) == 1) {
        assert_true(id < MOST_ENTRIES);
        witnessed[id]++;
        last = id > last ? id : last;
    }
    if (file != NULL)
        (void)fclose(file);
    return last;
}

typedef struct tally {
    long kills, in_calls, failing, steps, entries, ledgers, unclosed;
} tally;

/* Checks everything; gives the number of entries. */
static uint64_t examine(tally *t)
{
    dp_error err = {0};
    dp_ledger *ledger;
    const dp_ledger_statement *s;
    size_t faults;
    uint64_t last = read_witness(), n;
    t->unclosed += access(folder_path("ledger-journal"), F_OK) == 0;
    assert_ok(dp_ledger_open(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_check(ledger, stderr, &faults, &err), err.text);
    assert_int_equal(faults, 0);
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    n = s->data[0].n;
    assert_true(last <= n && n < MOST_ENTRIES);
    for (uint64_t i = 0; i < n; i++) {
        const dp_ledger_entry *e = &s->data[0].entries[i];
        assert_int_equal(e->id, i + 1);
        assert_true(witnessed[e->id] <= e->begun[0]);
        assert_true(e->begun[0] <= e->list[0].steps);
    }
    dp_ledger_statement_free(s);
    dp_ledger_close(ledger);
    return n;
}

static void count_up(tally *t, uint64_t entries)
{
    t->entries += (long)entries;
    for (size_t i = 0; i < MOST_ENTRIES; i++)
        t->steps += (long)witnessed[i];
}

/* One life; true when it ended by SIGKILL. */
static bool one_life(tally *t, uint64_t entries)
{
    int ended;
    uint64_t kind = chance(3), length = 1 + chance(kind == 0 ? 25 : 150), seed = chance(UINT64_MAX);
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        chance_state = seed;
        plan = kind == 0 ? UNTOUCHED : kind == 1 ? DIE : chance(2) ? FAIL_ONCE : FAIL_ON;
        countdown = (long)length;
        live(entries);
    }
    if (kind == 0) {
        const struct timespec pause = {.tv_nsec = (long)(length * 1000000 - chance(1000000))};
        (void)nanosleep(&pause, NULL);
        (void)kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFSIGNALED(ended) ? WTERMSIG(ended) == SIGKILL : WEXITSTATUS(ended) < 2);
    t->in_calls += kind == 1 && WIFSIGNALED(ended);
    t->failing += kind == 2 && WIFEXITED(ended) && WEXITSTATUS(ended) == 1;
    return WIFSIGNALED(ended);
}

static void nothing_spent_is_lost_and_no_file_is_corrupt(void **state)
{
    (void)state;
    tally t = {0};
    while (t.kills < KILLS) {
        uint64_t entries = 0;
        dp_ledger_close(folder_ledger(50));
        t.ledgers++;
        for (int i = 0; i < LIVES_OF_A_LEDGER && t.kills < KILLS; i++) {
            t.kills += one_life(&t, entries);
            entries = examine(&t);
        }
        count_up(&t, entries);
    }
    print_message(
        "# %ld kills (%ld inside a system call), %ld lives with failing calls; %ld ledgers, "
        "%ld entries, %ld steps; %ld journals rolled back\n",
        t.kills, t.in_calls, t.failing, t.ledgers, t.entries, t.steps, t.unclosed);
    assert_true(t.in_calls > KILLS / 5 && t.failing > KILLS / 10 && t.steps > KILLS);
    assert_true(t.unclosed > KILLS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_spent_is_lost_and_no_file_is_corrupt),
    };
    return cmocka_run_group_tests_name("kill", tests, folder_make, folder_remove);
}
