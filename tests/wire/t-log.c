/* The log of queries, and the budgets counted from it. */
#define _XOPEN_SOURCE 700
#include "wire/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/wire/pair.h"

enum { WINDOW = 3600 };

static dpi_log_query query_of(const wire_pair *p, int who)
{
    dpi_log_query q = {.protocol = DPI_PROTOCOL_HM3, .mode = DPI_MODE_SHARED};
    memcpy(q.client, p->own[who]->fingerprint, sizeof q.client);
    return q;
}

static dpi_query_log *open_log(wire_pair *p, uint64_t queries)
{
    dpi_query_log *log;
    dp_error err = {0};
    assert_ok(dpi_query_log_open(pair_path(p, "log"), queries, WINDOW, &log, &err), err.text);
    return log;
}

/* Spends one, which must be number `expected`. */
static void spend(dpi_query_log *log, const wire_pair *p, int who, uint64_t expected)
{
    const dpi_log_query q = query_of(p, who);
    dpi_log_spent spent;
    dp_error err = {0};
    assert_ok(dpi_query_log_reserve(log, &q, &spent, &err), err.text);
    assert_int_equal(spent.number, expected);
    assert_ok(dpi_query_log_settle(log, &spent, &err), err.text);
}

static void spent(dpi_query_log *log, const wire_pair *p, int who)
{
    const dpi_log_query q = query_of(p, who);
    dpi_log_spent none = {7, 7};
    dp_error err = {0};
    assert_fails(dpi_query_log_reserve(log, &q, &none, &err), DP_EREFUSED, &err,
                 "has used its 3 queries of 3600 seconds; the next is free at 2");
    assert_int_equal(none.number, 0);
    assert_int_equal(dpi_query_log_settle(log, &none, NULL), DP_EIO);
}

static void fails_to_spend(dpi_query_log *log, const wire_pair *p, dp_status status,
                           const char *why)
{
    const dpi_log_query q = query_of(p, CLIENT);
    dpi_log_spent none = {7, 7};
    dp_error err = {0};
    assert_fails(dpi_query_log_reserve(log, &q, &none, &err), status, &err, why);
    assert_int_equal(none.number, 0);
}

static void read_all(wire_pair *p, char *to, size_t room)
{
    FILE *f = fopen(pair_path(p, "log"), "r");
    assert_non_null(f);
    to[fread(to, 1, room - 1, f)] = 0;
    assert_int_equal(fclose(f), 0);
}

static void append_text(wire_pair *p, const char *text)
{
    FILE *f = fopen(pair_path(p, "log"), "a");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void append_asked(wire_pair *p, int who, long seconds_ago, int number)
{
    char line[256], text[32];
    const time_t t = time(NULL) - seconds_ago;
    struct tm parts;
    assert_non_null(gmtime_r(&t, &parts));
    assert_true(strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0);
    (void)snprintf(line, sizeof line, "%s %d asked %s hm3 shared\n", text, number,
                   p->own[who]->text);
    append_text(p, line);
}

static void a_query_is_a_line_before_and_one_after(void **state)
{
    wire_pair *p = *state;
    dpi_query_log *log = open_log(p, 3);
    dp_error err = {0};
    char text[1000], expected[100];
    struct stat s;
    spend(log, p, CLIENT, 1);
    read_all(p, text, sizeof text);
    (void)snprintf(expected, sizeof expected, "Z 1 asked %s hm3 shared\n", p->own[CLIENT]->text);
    assert_string_equal(text + 19, expected);
    assert_ok(dpi_query_log_end(log, 1, DP_EPEER, &err), err.text);
    read_all(p, text, sizeof text);
    assert_contains(text, "Z 1 ended DP_EPEER\n");
    assert_int_equal(stat(pair_path(p, "log"), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    dpi_query_log_close(log);
    dpi_query_log_close(NULL);
}

static void a_budget_ends_and_is_each_clients_own(void **state)
{
    wire_pair *p = *state;
    dpi_query_log *log = open_log(p, 3);
    for (uint64_t i = 1; i <= 3; i++)
        spend(log, p, CLIENT, i);
    spent(log, p, CLIENT);
    for (uint64_t i = 4; i <= 6; i++)
        spend(log, p, STRANGER, i);
    spent(log, p, STRANGER);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
}

static void several_are_spent_at_once_or_none_of_them(void **state)
{
    wire_pair *p = *state;
    dpi_query_log *log = open_log(p, 3);
    const dpi_log_query q = query_of(p, CLIENT), other = query_of(p, STRANGER);
    dpi_log_spent s;
    dp_error err = {0};
    char text[2000];
    assert_fails(dpi_query_log_reserve_many(log, &q, 4, &s, &err), DP_EREFUSED, &err, "has used");
    assert_int_equal(s.number, 0);
    assert_ok(dpi_query_log_reserve_many(log, &q, 2, &s, &err), err.text);
    assert_int_equal(s.number, 1);
    assert_ok(dpi_query_log_settle(log, &s, &err), err.text);
    assert_ok(dpi_query_log_end_many(log, 1, 2, DP_OK, &err), err.text);
    assert_fails(dpi_query_log_reserve_many(log, &q, 2, &s, &err), DP_EREFUSED, &err, "has used");
    assert_ok(dpi_query_log_reserve_many(log, &other, 3, &s, &err), err.text);
    assert_int_equal(s.number, 3);
    spend(log, p, CLIENT, 6);
    spent(log, p, CLIENT);
    read_all(p, text, sizeof text);
    for (int i = 1; i <= 6; i++) {
        char expected[32];
        (void)snprintf(expected, sizeof expected, "Z %d asked ", i);
        assert_contains(text, expected);
    }
    assert_contains(text, "Z 1 ended DP_OK\n");
    assert_contains(text, "Z 2 ended DP_OK\n");
    assert_null(strstr(text, "Z 3 ended"));
    dpi_query_log_close(log);
}

static void a_restart_forgets_nothing(void **state)
{
    wire_pair *p = *state;
    for (uint64_t i = 1; i <= 3; i++) {
        dpi_query_log *log = open_log(p, 3);
        spend(log, p, CLIENT, i);
        dpi_query_log_close(log);
    }
    dpi_query_log *log = open_log(p, 3);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
}

static void what_is_out_of_the_window_is_free_again(void **state)
{
    wire_pair *p = *state;
    append_asked(p, CLIENT, 400L * 86400, 1);
    append_asked(p, CLIENT, WINDOW + 1, 2);
    append_asked(p, CLIENT, WINDOW - 100, 3);
    append_asked(p, SERVER, WINDOW - 100, 4);
    append_asked(p, CLIENT, 1, 5);
    dpi_query_log *log = open_log(p, 3);
    spend(log, p, CLIENT, 6);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
}

/* While the clock is set back: written with its own time, the query would be a day too old once the
 * clock is right again. */
static void the_latest_time_in_the_file_stands(void **state)
{
    wire_pair *p = *state;
    append_asked(p, CLIENT, -86400, 1);
    append_asked(p, CLIENT, -86400, 2);
    dpi_query_log *log = open_log(p, 3);
    spend(log, p, CLIENT, 3);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
    char text[1000];
    read_all(p, text, sizeof text);
    const char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_memory_equal(third, second, strlen("2026-11-23T18:12:27Z"));
}

/* ---- several processes ---- */

/* Spends until there is no more: how often. */
static int spend_all(wire_pair *p)
{
    dpi_query_log *log;
    const dpi_log_query q = query_of(p, CLIENT);
    int n = 0;
    if (dpi_query_log_open(pair_path(p, "log"), 60, WINDOW, &log, NULL) != DP_OK)
        return 200;
    for (dpi_log_spent spent; dpi_query_log_reserve(log, &q, &spent, NULL) == DP_OK; n++)
        if (dpi_query_log_end(log, spent.number, DP_OK, NULL) != DP_OK)
            return 201;
    dpi_query_log_close(log);
    return n;
}

static void processes_share_one_budget(void **state)
{
    enum { N = 4 };
    wire_pair *p = *state;
    pid_t child[N];
    int sum = 0;
    for (int i = 0; i < N; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(spend_all(p));
    }
    for (int i = 0; i < N; i++) {
        int how;
        assert_int_equal(waitpid(child[i], &how, 0), child[i]);
        assert_true(WIFEXITED(how));
        sum += WEXITSTATUS(how);
    }
    assert_int_equal(sum, 60);
    char seen[61] = {0}, *text = malloc(100000);
    assert_non_null(text);
    read_all(p, text, 100000);
    for (const char *at = text; (at = strstr(at, " asked ")) != NULL; at++) {
        const char *number = at;
        while (number[-1] != ' ')
            number--;
        seen[strtol(number, NULL, 10)]++;
    }
    for (int i = 1; i <= 60; i++)
        assert_int_equal(seen[i], 1);
    free(text);
}

static off_t size_of_log(wire_pair *p)
{
    struct stat s;
    assert_int_equal(stat(pair_path(p, "log"), &s), 0);
    return s.st_size;
}

/* Counting and writing are one: while somebody is between the two, nobody else counts. */
static void a_query_waits_while_another_is_counted(void **state)
{
    const struct timespec some = {.tv_nsec = 150000000};
    wire_pair *p = *state;
    int how;
    dpi_query_log_close(open_log(p, 60));
    int held = open(pair_path(p, "log"), O_RDWR | O_CLOEXEC);
    assert_true(held >= 0 && flock(held, LOCK_EX) == 0);
    const off_t size = size_of_log(p);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(spend_all(p));
    (void)nanosleep(&some, NULL);
    assert_int_equal(waitpid(child, &how, WNOHANG), 0);
    assert_int_equal(size_of_log(p), size);
    assert_int_equal(flock(held, LOCK_UN), 0); /* the child has a copy of it */
    assert_int_equal(close(held), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 60);
    assert_true(size_of_log(p) > size);
}

static void a_killed_process_has_spent(void **state)
{
    wire_pair *p = *state;
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dpi_query_log *log;
        dpi_log_spent spent;
        const dpi_log_query q = query_of(p, CLIENT);
        if (dpi_query_log_open(pair_path(p, "log"), 3, WINDOW, &log, NULL) == DP_OK &&
            dpi_query_log_reserve(log, &q, &spent, NULL) == DP_OK)
            (void)!write(pipes[1], "x", 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    dpi_query_log *log = open_log(p, 3);
    spend(log, p, CLIENT, 2);
    spend(log, p, CLIENT, 3);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
}

/* ---- disks ---- */

/* The file may become `size` bytes long, or, with 0, as long as it wants. */
static void limit_size(rlim_t size)
{
    static struct rlimit old;
    struct rlimit low;
    if (size == 0) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        return;
    }
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = old;
    low.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
}

static void a_full_disk_refuses_and_spends_nothing(void **state)
{
    wire_pair *p = *state;
    dpi_query_log *log = open_log(p, 3);
    const dpi_log_query q = query_of(p, CLIENT);
    dpi_log_spent none = {7, 7};
    dp_error err = {0};
    spend(log, p, CLIENT, 1);
    limit_size(150); /* in the middle of the second line */
    dp_status first = dpi_query_log_reserve(log, &q, &none, &err);
    dp_status second = dpi_query_log_reserve(log, &q, &none, NULL);
    limit_size(0);
    assert_fails(first, DP_EIO, &err, "is the disk full?");
    assert_int_equal(second, DP_EIO);
    assert_int_equal(none.number, 0);
    spend(log, p, CLIENT, 2); /* ends the line that was cut off */
    char text[2000];
    read_all(p, text, sizeof text);
    assert_contains(text, " torn\n");
    dpi_query_log_close(log);
    log = open_log(p, 3);
    spend(log, p, CLIENT, 3);
    spent(log, p, CLIENT);
    dpi_query_log_close(log);
}

/* Cut anywhere, the last line is of no query, and all before it count. */
static void a_line_cut_anywhere_does_not_count(void **state)
{
    wire_pair *p = *state;
    char text[1000];
    dpi_query_log *log = open_log(p, 3);
    spend(log, p, CLIENT, 1);
    spend(log, p, CLIENT, 2);
    dpi_query_log_close(log);
    read_all(p, text, sizeof text);
    const size_t whole = strlen(text), first = (size_t)(strchr(text, '\n') + 1 - text);
    for (size_t n = first + 1; n < whole; n++) {
        assert_int_equal(truncate(pair_path(p, "log"), 0), 0);
        char cut[1000];
        (void)snprintf(cut, sizeof cut, "%.*s", (int)n, text);
        append_text(p, cut);
        log = open_log(p, 2);
        spend(log, p, CLIENT, 2);
        dpi_query_log_close(log);
    }
}

static void a_log_that_was_changed_is_refused(void **state)
{
    wire_pair *p = *state;
    dpi_query_log *log = open_log(p, 3);
    spend(log, p, CLIENT, 1);
    spend(log, p, CLIENT, 2);
    char moved[400];
    (void)snprintf(moved, sizeof moved, "%s", pair_path(p, "moved"));
    assert_int_equal(rename(pair_path(p, "log"), moved), 0);
    fails_to_spend(log, p, DP_EDATA, "was moved away");
    append_text(p, "");
    fails_to_spend(log, p, DP_EDATA, "was moved away");
    assert_int_equal(rename(moved, pair_path(p, "log")), 0);
    assert_int_equal(truncate(pair_path(p, "log"), 20), 0);
    fails_to_spend(log, p, DP_EDATA, "has become shorter");
    dpi_query_log_close(log);
}

static void what_is_no_log_is_refused(void **state)
{
    wire_pair *p = *state;
    static const char *const lines[] = {
        "hello\n",
        "\n",
        "2026-11-23T18:12:27Z 1 asked tacit:00 hm3 shared\n",
        "2026-13-23T18:12:27Z 1 ended DP_OK\n",
        "2026-02-29T18:12:27Z 1 ended DP_OK\n",
        "2026-11-23T24:12:27Z 1 ended DP_OK\n",
        "2026-11-23 18:12:27Z 1 ended DP_OK\n",
        "1969-11-23T18:12:27Z 1 ended DP_OK\n",
        "2026-11-23T18:12:27Z  ended DP_OK\n",
        "2026-11-23T18:12:27Z 1 began DP_OK\n",
        "2026-11-23T18:12:27Z x1 ended DP_OK\n",
    };
    dpi_query_log *log;
    dp_error err = {0};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        append_text(p, "");
        assert_int_equal(chmod(pair_path(p, "log"), 0600), 0);
        append_text(p, "2024-02-29T23:59:60Z 1 ended DP_OK\n");
        append_text(p, lines[i]);
        assert_fails(dpi_query_log_open(pair_path(p, "log"), 3, WINDOW, &log, &err), DP_EDATA, &err,
                     "log:2: no line of a log");
        assert_null(log);
        assert_int_equal(unlink(pair_path(p, "log")), 0);
    }
    assert_fails(dpi_query_log_open("/dev/full", 3, WINDOW, &log, &err), DP_EPRIVACY, &err,
                 "no regular file");
    assert_fails(dpi_query_log_open(pair_path(p, "none/log"), 3, WINDOW, &log, &err), DP_EIO, &err,
                 "cannot open");
    append_text(p, "");
    assert_int_equal(chmod(pair_path(p, "log"), 0620), 0);
    assert_fails(dpi_query_log_open(pair_path(p, "log"), 3, WINDOW, &log, &err), DP_EPRIVACY, &err,
                 "others may write");
    assert_int_equal(chmod(pair_path(p, "log"), 0600), 0);
    if (geteuid() == 0) { /* who else could give a file away */
        assert_int_equal(chown(pair_path(p, "log"), 12345, (gid_t)-1), 0);
        assert_fails(dpi_query_log_open(pair_path(p, "log"), 3, WINDOW, &log, &err), DP_EPRIVACY,
                     &err, "another user");
        assert_int_equal(chown(pair_path(p, "log"), 0, (gid_t)-1), 0);
    }
    assert_fails(dpi_query_log_open(pair_path(p, "log"), 0, WINDOW, &log, &err), DP_EINVAL, &err,
                 "no default");
    assert_fails(dpi_query_log_open(pair_path(p, "log"), 3, UINT64_MAX, &log, &err), DP_EINVAL,
                 &err, "no default");
}

/* Longer than the block in which it is read. */
static void a_long_log_is_counted_whole(void **state)
{
    wire_pair *p = *state;
    enum { N = 2000 };
    for (int i = 1; i <= N; i++)
        append_asked(p, i % 2 == 0 ? CLIENT : SERVER, WINDOW / 2, i);
    dpi_query_log *log = open_log(p, N / 2 + 1);
    spend(log, p, CLIENT, N + 1);
    fails_to_spend(log, p, DP_EREFUSED, "has used its 1001 queries");
    dpi_query_log_close(log);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_make, pair_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_query_is_a_line_before_and_one_after),
        TEST(a_budget_ends_and_is_each_clients_own),
        TEST(several_are_spent_at_once_or_none_of_them),
        TEST(a_restart_forgets_nothing),
        TEST(what_is_out_of_the_window_is_free_again),
        TEST(the_latest_time_in_the_file_stands),
        TEST(processes_share_one_budget),
        TEST(a_query_waits_while_another_is_counted),
        TEST(a_killed_process_has_spent),
        TEST(a_full_disk_refuses_and_spends_nothing),
        TEST(a_line_cut_anywhere_does_not_count),
        TEST(a_log_that_was_changed_is_refused),
        TEST(what_is_no_log_is_refused),
        TEST(a_long_log_is_counted_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
