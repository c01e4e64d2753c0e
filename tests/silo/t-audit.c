/* Logs of letters: what was written is read, and what was changed since is found. */
#define _XOPEN_SOURCE 700
#include "silo/audit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { ROOM = 16 * 1024, LINES = 9 };

static char path[64], text[ROOM + 1], changed[ROOM + 1];
static const unsigned char plan[DP_SILO_HASH] = {1, 2, 3}, another[DP_SILO_HASH] = {1, 2, 4};

static size_t load(void)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(text, 1, ROOM, f);
    (void)fclose(f);
    text[n] = '\0';
    return n;
}

static void store(const char *from, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static dpi_audit *begin(void)
{
    dpi_audit *a = NULL;
    dp_error err = {0};
    assert_ok(dpi_audit_open(path, plan, &a, &err), err.text);
    return a;
}

static void tell(dpi_audit *a, bool leaves, const char *peer, const char *tag, size_t bytes)
{
    dp_error err = {0};
    assert_ok(dpi_audit_letter(a, leaves, peer, tag, bytes, &err), err.text);
}

/* The first run of a log, which ends in a crash. */
static void crash(void)
{
    pid_t child = fork();
    int how = 1;
    assert_true(child >= 0);
    if (child == 0) {
        dpi_audit *a = begin();
        tell(a, true, "west", "run/1-0/east/west/x.m", 2592);
        tell(a, false, "north", "run/1-0/north/east/x.m", 180);
        tell(a, true, "west", "run/2-0/east/west/x.m", 7);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

/* Two runs: LINES lines. */
static size_t write_log(void)
{
    (void)unlink(path);
    crash();
    dpi_audit *a = begin();
    tell(a, true, "west", "run/2-0/east/west/x.m", 7);
    tell(a, false, "west", "run/2-0/west/east/x.c", 1000);
    dpi_audit_close(a, DP_OK);
    return load();
}

static dp_status check(dp_silo_audit *found, dp_error *err)
{
    *err = (dp_error){0};
    return dp_silo_audit_check(path, plan, found, err);
}

static void refuses(const char *bytes, size_t n, dp_status expected, const char *why)
{
    static dp_silo_audit found, zeros;
    dp_error err;
    dpi_audit *a = NULL;
    store(bytes, n);
    assert_fails(check(&found, &err), expected, &err, why);
    assert_memory_equal(&found, &zeros, sizeof zeros);
    assert_fails(dpi_audit_open(path, plan, &a, &err), expected, &err, why);
    assert_null(a);
    assert_int_equal(load(), n); /* and nothing is added to it */
    assert_memory_equal(text, bytes, n);
}

/* ---- what was written ---- */

static void letters_are_added_up(void **state)
{
    dp_silo_audit found;
    dp_error err;
    struct stat s;
    (void)state;
    size_t n = write_log();
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_ok(check(&found, &err), err.text);
    assert_memory_equal(found.plan, plan, sizeof plan);
    assert_true(found.lines == LINES && found.runs == 2 && found.torn == 0);
    assert_string_equal(found.outcome, "DP_OK");
    assert_int_equal(found.n_peers, 2);
    const dp_silo_audit_peer *west = &found.peers[0], *north = &found.peers[1];
    assert_string_equal(west->name, "west");
    assert_true(west->sent == 3 && west->sent_bytes == 2592 + 7 + 7);
    assert_true(west->got == 1 && west->got_bytes == 1000);
    assert_string_equal(north->name, "north");
    assert_true(north->sent == 0 && north->sent_bytes == 0);
    assert_true(north->got == 1 && north->got_bytes == 180);
    assert_string_equal(found.head, (text[n - 1] = '\0', text + n - 65));
    assert_ok(dp_silo_audit_check(path, NULL, &found, &err), err.text);
    assert_fails(dp_silo_audit_check(path, another, &found, &err), DP_EMISMATCH, &err,
                 "another plan");
}

static void a_run_that_has_not_ended_says_so(void **state)
{
    dp_silo_audit found;
    dp_error err = {0};
    dpi_audit *second = NULL;
    (void)state;
    (void)unlink(path);
    dpi_audit *a = begin();
    assert_ok(check(&found, &err), err.text);
    assert_true(found.lines == 2 && found.runs == 1 && found.n_peers == 0);
    assert_string_equal(found.outcome, "");
    assert_fails(dpi_audit_open(path, plan, &second, &err), DP_ESTATE, &err, "another process");
    dpi_audit_close(a, DP_ETIMEOUT);
    dpi_audit_close(NULL, DP_OK);
    assert_ok(check(&found, &err), err.text);
    assert_string_equal(found.outcome, "DP_ETIMEOUT");
    a = begin();
    assert_ok(check(&found, &err), err.text);
    assert_string_equal(found.outcome, "");
    dpi_audit_close(a, DP_OK);
}

/* ---- what was changed ---- */

static void each_changed_byte_is_found(void **state)
{
    static const unsigned char by[] = {1, 16, 32, 128};
    dp_silo_audit found;
    dp_error err;
    (void)state;
    size_t n = write_log();
    memcpy(changed, text, n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof by; k++) {
            changed[i] = (char)(changed[i] ^ by[k]);
            store(changed, n);
            dp_status status = check(&found, &err);
            if (i < n - 1 && status == DP_OK)
                fail_msg("byte %zu may be changed", i);
            if (i == n - 1) /* the last line has no end now, as after a crash */
                assert_true(status == DP_OK && found.torn == 1 && found.outcome[0] == '\0');
            changed[i] = text[i];
        }
}

/* Where line k of the log begins; line LINES is its end. */
static size_t line_at(const char *of, size_t k)
{
    const char *at = of;
    for (; k > 0; k--)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - of);
}

static void each_line_that_is_moved_is_found(void **state)
{
    static char was[ROOM + 1];
    (void)state;
    size_t n = write_log();
    memcpy(was, text, n + 1);
    for (size_t k = 0; k < LINES; k++) {
        size_t from = line_at(was, k), to = line_at(was, k + 1);
        memcpy(changed, was, from); /* taken out; the last one is the log's end, which head tells */
        memcpy(changed + from, was + to, n - to);
        if (k < LINES - 1)
            refuses(changed, n - (to - from), DP_EDATA, k == 0 ? ":1:" : "does not follow");
        memcpy(changed, was, to); /* twice */
        memcpy(changed + to, was + from, n - from);
        refuses(changed, n + (to - from), DP_EDATA, "does not follow");
        for (size_t j = k + 1; j < LINES; j++) { /* in each other's place */
            size_t begin_j = line_at(was, j), end_j = line_at(was, j + 1);
            size_t at = from;
            memcpy(changed + at, was + begin_j, end_j - begin_j);
            at += end_j - begin_j;
            memcpy(changed + at, was + to, begin_j - to);
            at += begin_j - to;
            memcpy(changed + at, was + from, to - from);
            memcpy(changed, was, from);
            memcpy(changed + end_j, was + end_j, n - end_j);
            refuses(changed, n, DP_EDATA, "");
        }
    }
}

static void what_is_cut_off_is_told(void **state)
{
    static char was[ROOM + 1];
    dp_silo_audit all, found;
    dp_error err;
    (void)state;
    size_t n = write_log();
    memcpy(was, text, n + 1);
    assert_ok(check(&all, &err), err.text);
    for (size_t k = 1; k < LINES; k++) {
        store(was, line_at(was, k));
        assert_ok(check(&found, &err), err.text);
        assert_string_equal(found.outcome, "");
        assert_string_not_equal(found.head, all.head);
    }
}

static void what_is_no_log_is_refused(void **state)
{
    dp_silo_audit found;
    dp_error err = {0};
    dpi_audit *a = NULL;
    (void)state;
    (void)unlink(path);
    assert_fails(check(&found, &err), DP_EIO, &err, "cannot open");
    store("", 0);
    assert_fails(check(&found, &err), DP_EDATA, &err, "no line");
    refuses("hello\n", 6, DP_EDATA, ":1: no line of a log");
    refuses("a torn\n", 7, DP_EDATA, ":1: no line of a log");
    refuses("a file without an end of its line", 33, DP_EDATA, "log of letters");
    memset(changed, 'x', 600);
    refuses(changed, 600, DP_EDATA, "more than 512 bytes");
    memset(changed, 0, 600);
    refuses(changed, 600, DP_EDATA, "more than 512 bytes");
    (void)write_log();
    assert_int_equal(chmod(path, 0620), 0);
    assert_fails(dpi_audit_open(path, plan, &a, &err), DP_EPRIVACY, &err, "others may write");
    assert_int_equal(chmod(path, 0600), 0);
    assert_fails(dpi_audit_open(path, another, &a, &err), DP_EMISMATCH, &err, "another plan");
    (void)unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_fails(dpi_audit_open(path, plan, &a, &err), DP_EIO, &err, "cannot open");
    (void)unlink(path);
}

/* Its chain is right: somebody wrote a whole log. */
static void what_would_speak_to_a_terminal_is_no_line(void **state)
{
    static const char *const names[] = {"west", "w\033[1m", "w\177"};
    dp_silo_audit found;
    dp_error err = {0};
    (void)state;
    for (int k = 0; k < 3; k++) {
        (void)unlink(path);
        dpi_audit *a = begin();
        tell(a, true, names[k], "run/1-0/east/west/x.m", 7);
        dpi_audit_close(a, DP_OK);
        if (k == 0)
            assert_ok(check(&found, &err), err.text);
        else
            assert_fails(check(&found, &err), DP_EDATA, &err, ":3: a line that no run writes");
        err = (dp_error){0};
    }
}

/* ---- after a crash ---- */

/* The log is cut off at each byte, as a crash may leave it, and gone on with. */
/* What a loss of power leaves: a line that ends in zeros. */
static void a_line_torn_with_zeros_is_mended(void **state)
{
    dp_silo_audit found;
    dp_error err = {0};
    (void)state;
    size_t n = write_log();
    memset(text + n, 0, 20);
    memcpy(text + n, "2026", 4);
    store(text, n + 20);
    dpi_audit_close(begin(), DP_OK);
    assert_ok(check(&found, &err), err.text);
    assert_int_equal(found.torn, 1);
    dpi_audit_close(begin(), DP_OK);
    assert_ok(check(&found, &err), err.text);
}

static void a_torn_line_is_mended_and_counted(void **state)
{
    static char was[ROOM + 1];
    dp_silo_audit found;
    dp_error err;
    (void)state;
    size_t n = write_log(), first = line_at(text, 1);
    memcpy(was, text, n + 1);
    for (size_t i = 0; i < n; i += i < first + 200 ? 1 : 5) {
        bool whole = i == 0 || was[i - 1] == '\n', torn_first = i < first;
        store(was, i);
        if (!torn_first) {
            assert_ok(check(&found, &err), err.text);
            assert_int_equal(found.torn, !whole);
        }
        dpi_audit *a = begin();
        tell(a, true, "west", "run/2-0/east/west/x.m", 7);
        dpi_audit_close(a, DP_OK);
        size_t m = load();
        assert_ok(check(&found, &err), err.text);
        assert_int_equal(found.torn, !whole && !torn_first);
        assert_string_equal(found.outcome, "DP_OK");
        if (torn_first || whole || i % 7 != 0)
            continue;
        assert_memory_equal(text, was, i); /* what is torn stays, and cannot be changed either */
        memcpy(changed, text, m);
        changed[i - 1] = (char)(changed[i - 1] ^ 1);
        refuses(changed, m, DP_EDATA, "does not follow");
    }
}

static void a_line_that_cannot_be_written_stops_letters(void **state)
{
    dp_error err = {0};
    dp_silo_audit found;
    pid_t child = fork();
    int how = 1;
    (void)state;
    assert_true(child >= 0);
    if (child == 0) { /* a file of at most so many bytes, as on a full disk */
        (void)unlink(path);
        dpi_audit *a = begin();
        struct rlimit limit, full;
        (void)signal(SIGXFSZ, SIG_IGN);
        bool good = getrlimit(RLIMIT_FSIZE, &limit) == 0;
        full = limit;
        full.rlim_cur = load() + 100;
        good = good && setrlimit(RLIMIT_FSIZE, &full) == 0 &&
               dpi_audit_letter(a, true, "west", "run/1-0/east/west/x.m", 7, &err) == DP_EIO;
        err = (dp_error){0};
        good = good && setrlimit(RLIMIT_FSIZE, &limit) == 0 && /* there is room again: too late */
               dpi_audit_letter(a, true, "west", "run/1-0/east/west/x.m", 7, &err) == DP_EIO;
        dpi_audit_close(a, DP_OK);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_ok(check(&found, &err), err.text);
    assert_true(found.torn == 1 && found.n_peers == 0 && found.outcome[0] == '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_added_up),
        cmocka_unit_test(a_run_that_has_not_ended_says_so),
        cmocka_unit_test(each_changed_byte_is_found),
        cmocka_unit_test(each_line_that_is_moved_is_found),
        cmocka_unit_test(what_is_cut_off_is_told),
        cmocka_unit_test(what_is_no_log_is_refused),
        cmocka_unit_test(what_would_speak_to_a_terminal_is_no_line),
        cmocka_unit_test(a_line_torn_with_zeros_is_mended),
        cmocka_unit_test(a_torn_line_is_mended_and_counted),
        cmocka_unit_test(a_line_that_cannot_be_written_stops_letters),
    };
    const char *memory = "/dev/shm"; /* each line that leaves waits for the disk */
    (void)snprintf(path, sizeof path, "%s/silo-audit-%ld", access(memory, W_OK) == 0 ? memory : ".",
                   (long)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    return failed;
}
