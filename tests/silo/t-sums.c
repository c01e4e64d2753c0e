/* Sums that are kept: read as they were added, and nothing else. */
#define _XOPEN_SOURCE 700
#include "silo/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { SUMS = 4, MOST = 6 };

static const unsigned char whose[DPI_SILO_HASH] = {3}, other[DPI_SILO_HASH] = {4};
static char path[64];

/* In place of the system's: the call whose number is pread_fails gives pread_errno. */
static int pread_fails, pread_errno;

ssize_t pread(int file, void *to, size_t n, off_t at)
{
    if (pread_fails > 0 && --pread_fails == 0) {
        errno = pread_errno;
        return -1;
    }
    return lseek(file, at, SEEK_SET) == at ? read(file, to, n) : -1;
}

/* Sum t has t + 1 numbers. */
static void sum_of(size_t t, uint64_t x[MOST])
{
    for (size_t j = 0; j <= t; j++)
        x[j] = (t + 5) * (j * 0x9e3779b97f4a7c15 + 1);
}

static int set_up(void **state)
{
    dpi_silo_sums *s;
    dp_error err = {0};
    (void)state;
    const char *memory = "/dev/shm"; /* it waits for the disk some thousand times */
    (void)snprintf(path, sizeof path, "%s/sums-%ld", access(memory, W_OK) == 0 ? memory : ".",
                   (long)getpid());
    (void)unlink(path);
    assert_ok(dpi_silo_sums_open(path, whose, &s, &err), err.text);
    for (size_t t = 0; t < SUMS; t++) {
        const unsigned char question[32] = {(unsigned char)t};
        uint64_t x[MOST];
        sum_of(t, x);
        assert_false(dpi_silo_sums_ahead(s));
        assert_ok(dpi_silo_sums_add(s, question, t + 1, x, &err), err.text);
        assert_int_equal(dpi_silo_sums_done(s), t + 1);
    }
    dpi_silo_sums_close(s);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

/* So many are there, all as they were added. */
static void has(size_t n)
{
    dpi_silo_sums *s;
    dp_error err = {0};
    assert_ok(dpi_silo_sums_open(path, whose, &s, &err), err.text);
    for (size_t t = 0; t < n; t++) {
        const unsigned char question[32] = {(unsigned char)t};
        uint64_t x[MOST], was[MOST];
        sum_of(t, was);
        assert_true(dpi_silo_sums_ahead(s));
        assert_ok(dpi_silo_sums_next(s, question, t + 1, x, &err), err.text);
        assert_memory_equal(x, was, (t + 1) * sizeof *x);
    }
    assert_false(dpi_silo_sums_ahead(s));
    dpi_silo_sums_close(s);
}

static long size(void)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (long)s.st_size;
}

static void change(long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int c = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_true(fputc(c ^ 4, f) != EOF);
    assert_int_equal(fclose(f), 0);
}

static void sums_are_read_as_they_were_added(void **state)
{
    (void)state;
    has(SUMS);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
}

/* At each byte a crash could have ended it. */
static void a_torn_end_is_taken_away(void **state)
{
    const long begin = 8 + DPI_SILO_HASH, all = size();
    long ends[SUMS + 1] = {begin};
    (void)state;
    for (size_t t = 0; t < SUMS; t++)
        ends[t + 1] = ends[t] + 32 + 8 + 8 * (long)(t + 1) + 32;
    assert_int_equal(ends[SUMS], all);
    for (long cut = all - 1; cut >= 0; cut--) {
        size_t whole = 0;
        assert_int_equal(truncate(path, cut), 0);
        while (whole < SUMS && ends[whole + 1] <= cut)
            whole++;
        has(whole);
        assert_int_equal(size(), ends[whole]);
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
    }
}

static void refused(const unsigned char of[DPI_SILO_HASH], dp_status status, const char *why)
{
    dpi_silo_sums *s;
    dp_error err = {0};
    assert_fails(dpi_silo_sums_open(path, of, &s, &err), status, &err, why);
    assert_null(s);
}

/* How long the sum that byte `at` is of would be, and where it begins, after that byte was
 * changed. */
static bool looks_torn(long at, long all)
{
    long begin = 8 + DPI_SILO_HASH;
    uint64_t n = 1;
    while (begin + 72 + 8 * (long)n <= at)
        begin += 72 + 8 * (long)n++;
    const long digit = at - begin - 32;
    if (digit < 0 || digit > 7)
        return false;
    n ^= (uint64_t)4 << 8 * digit;
    return n <= 1 << 24 && begin + 72 + 8 * (long)n > all;
}

/* Sums that were opened are behind it, so that nothing is cut off. */
static void what_was_changed_is_refused_and_stays(void **state)
{
    const long begin = 8 + DPI_SILO_HASH, all = size();
    size_t seen = 0;
    (void)state;
    for (long at = begin; at < all; at++)
        if (!looks_torn(at, all)) {
            change(at);
            refused(whose, DP_EDATA, "not as it was written");
            assert_int_equal(size(), all);
            change(at);
            has(SUMS);
            seen++;
        }
    assert_true(seen > (size_t)(all - begin) - 4 * SUMS);
}

/* Reads fail at each place, for good or by a signal; see pread above. */
static void what_cannot_be_read_is_told_and_stays(void **state)
{
    const long all = size();
    (void)state;
    has(SUMS);
    for (int k = 1; k <= 1 + 2 * SUMS; k++) {
        pread_fails = k;
        pread_errno = EIO;
        refused(whose, DP_EIO, "cannot read");
        assert_int_equal(pread_fails, 0);
        assert_int_equal(size(), all);
        pread_fails = k;
        pread_errno = EINTR;
        has(SUMS);
        assert_int_equal(pread_fails, 0);
    }
}

static void what_is_no_file_of_this_run_is_refused(void **state)
{
    char link[80];
    (void)state;
    refused(other, DP_ESTATE, "of another plan");
    assert_int_equal(chmod(path, 0640), 0);
    refused(whose, DP_EPRIVACY, "others may read");
    assert_int_equal(chmod(path, 0600), 0);
    change(2);
    refused(whose, DP_EDATA, "no file of sums");
    change(2);
    (void)snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(rename(path, link), 0);
    assert_int_equal(symlink(link, path), 0);
    refused(whose, DP_EIO, "cannot open");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(link, path), 0);
    has(SUMS);
}

static void another_question_is_not_answered(void **state)
{
    dpi_silo_sums *s;
    dp_error err = {0};
    uint64_t x[MOST];
    const unsigned char first[32] = {0}, second[32] = {1};
    (void)state;
    assert_ok(dpi_silo_sums_open(path, whose, &s, &err), err.text);
    assert_fails(dpi_silo_sums_next(s, second, 1, x, &err), DP_ESTATE, &err, "another question");
    err = (dp_error){0};
    assert_fails(dpi_silo_sums_next(s, first, 2, x, &err), DP_ESTATE, &err, "another question");
    err = (dp_error){0};
    assert_ok(dpi_silo_sums_next(s, first, 1, x, &err), err.text);
    dpi_silo_sums_close(s);
}

/* A full disk, as files may not get longer. */
static void what_cannot_be_written_is_told(void **state)
{
    static const unsigned char question[32] = {9};
    const uint64_t x[MOST] = {1};
    dpi_silo_sums *s;
    struct rlimit limit, was;
    dp_error err = {0};
    uint64_t back[MOST];
    (void)state;
    assert_ok(dpi_silo_sums_open(path, whose, &s, &err), err.text);
    for (size_t t = 0; t < SUMS; t++)
        assert_ok(
            dpi_silo_sums_next(s, (const unsigned char[32]){(unsigned char)t}, t + 1, back, &err),
            err.text);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = was;
    limit.rlim_cur = (rlim_t)size() + 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const dp_status status = dpi_silo_sums_add(s, question, MOST, x, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_fails(status, DP_EIO, &err, "cannot write");
    err = (dp_error){0};
    assert_fails(dpi_silo_sums_add(s, question, MOST, x, &err), DP_EIO, &err, "before");
    dpi_silo_sums_close(s);
    has(SUMS);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(sums_are_read_as_they_were_added),      ONE(a_torn_end_is_taken_away),
        ONE(what_was_changed_is_refused_and_stays), ONE(what_is_no_file_of_this_run_is_refused),
        ONE(another_question_is_not_answered),      ONE(what_cannot_be_written_is_told),
        ONE(what_cannot_be_read_is_told_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
