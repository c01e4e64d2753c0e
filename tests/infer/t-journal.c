/* The journal by itself: what was written is read, once; what is cut, changed, half written or held
 * by another is refused, or forgotten where nobody could have read it. */
#define _XOPEN_SOURCE 700
#include "infer/journal.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { RELEASES = 4, NUMBERS = 3, MOST = 4096 };

static const dpi_journal_run run = {.model = {1, 2, 3},
                                    .epsilon = 2.385,
                                    .delta = 1e-5,
                                    .rounds = 2,
                                    .random = 77,
                                    .releases = RELEASES,
                                    .phases = 2};

static dpi_journal_release asked(uint64_t k)
{
    dpi_journal_release what = {.phase = k % 2, .n = NUMBERS + k, .sigma = 4.5 + (double)k};
    for (int i = 0; i < DPI_JOURNAL_HASH; i++)
        what.question[i] = (unsigned char)(40 * k + 91 + (uint64_t)i);
    return what;
}

static double number(uint64_t k, uint64_t e)
{
    return (double)k - 0.37 * (double)e;
}

static dp_status add(dpi_journal *j, uint64_t k, dp_error *err)
{
    double numbers[NUMBERS + RELEASES];
    const dpi_journal_release what = asked(k);
    for (uint64_t e = 0; e < what.n; e++)
        numbers[e] = number(k, e);
    return dpi_journal_add(j, &what, numbers, err);
}

static dp_status seal(dpi_journal *j, uint64_t k, dp_error *err)
{
    dp_status status = add(j, k, err);
    return status == DP_OK ? dpi_journal_seal(j, err) : status;
}

static void write_one(dpi_journal *j, uint64_t k)
{
    dp_error err = {0};
    assert_ok(seal(j, k, &err), err.text);
    assert_ok(dpi_journal_open_seal(j, &err), err.text);
}

/* Release k as it was written, or an error. */
static dp_status read_one(dpi_journal *j, uint64_t k, dp_error *err)
{
    double numbers[NUMBERS + RELEASES];
    const dpi_journal_release what = asked(k);
    dp_status status = dpi_journal_read(j, &what, numbers, err);
    for (uint64_t e = 0; e < what.n && status == DP_OK; e++)
        assert_true(numbers[e] == number(k, e));
    return status;
}

/* A journal with so many releases. */
static void make(uint64_t n)
{
    dp_error err = {0};
    dpi_journal *j;
    (void)unlink(folder_path("journal"));
    assert_ok(dpi_journal_new(folder_path("journal"), &run, &j, &err), err.text);
    for (uint64_t k = 0; k < n; k++)
        write_one(j, k);
    dpi_journal_free(j);
}

static dp_status open_it(dpi_journal **j, dp_error *err)
{
    return dpi_journal_open(folder_path("journal"), j, err);
}

static size_t load(unsigned char bytes[MOST])
{
    FILE *f = fopen(folder_path("journal"), "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, MOST, f);
    assert_int_equal(fclose(f), 0);
    assert_true(n > 0 && n < MOST);
    return n;
}

static void store(const unsigned char *bytes, size_t n)
{
    FILE *f = fopen(folder_path("journal"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void what_is_written_is_read(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    struct stat s;
    (void)state;
    for (uint64_t n = 0; n <= RELEASES; n++) {
        make(n);
        assert_int_equal(stat(folder_path("journal"), &s), 0);
        assert_int_equal(s.st_mode & 0777, 0600);
        assert_ok(open_it(&j, &err), err.text);
        assert_memory_equal(dpi_journal_run_of(j), &run, sizeof run);
        assert_int_equal(dpi_journal_count(j), n);
        assert_int_equal(dpi_journal_count_of(j, 0), (n + 1) / 2);
        assert_int_equal(dpi_journal_count_of(j, 1), n / 2);
        for (uint64_t k = 0; k < n; k++) {
            assert_true(dpi_journal_is_ahead(j));
            assert_ok(read_one(j, k, &err), err.text);
        }
        assert_false(dpi_journal_is_ahead(j));
        for (uint64_t k = n; k < RELEASES; k++)
            write_one(j, k);
        dpi_journal_free(j);
        assert_ok(open_it(&j, &err), err.text);
        assert_int_equal(dpi_journal_count(j), RELEASES);
        for (uint64_t k = 0; k < RELEASES; k++)
            assert_ok(read_one(j, k, &err), err.text);
        assert_fails(seal(j, 4, &err), DP_EIO, &err, "cannot be written");
        dpi_journal_free(j);
    }
}

/* Releases are written in groups of every size, also where the next process goes on. */
static void groups_are_read_as_what_is_in_them(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    (void)state;
    for (int cuts = 0; cuts < 1 << RELEASES; cuts++) { /* bit k: release k ends a group */
        make(0);
        assert_ok(open_it(&j, &err), err.text);
        uint64_t opened = 0;
        for (uint64_t k = 0; k < RELEASES; k++) {
            assert_ok(add(j, k, &err), err.text);
            assert_int_equal(dpi_journal_waiting(j), k + 1 - opened);
            assert_int_equal(dpi_journal_count(j), opened);
            if (!(cuts >> k & 1))
                continue;
            assert_ok(dpi_journal_seal(j, &err), err.text);
            assert_ok(dpi_journal_open_seal(j, &err), err.text);
            opened = k + 1;
            if (k % 2 == 0)
                continue;
            dpi_journal_free(j);
            assert_ok(open_it(&j, &err), err.text);
            for (uint64_t i = 0; i < opened; i++)
                assert_ok(read_one(j, i, &err), err.text);
        }
        dpi_journal_free(j);
        assert_ok(open_it(&j, &err), err.text);
        assert_int_equal(dpi_journal_count(j), opened);
        assert_int_equal(dpi_journal_count_of(j, 0), (opened + 1) / 2);
        for (uint64_t k = 0; k < opened; k++)
            assert_ok(read_one(j, k, &err), err.text);
        assert_false(dpi_journal_is_ahead(j));
        dpi_journal_free(j);
    }
}

static bool holds(const unsigned char *bytes, size_t n, const void *what, size_t size)
{
    bool found = false;
    for (size_t i = 0; i + size <= n; i++)
        found = found || memcmp(bytes + i, what, size) == 0;
    return found;
}

/* Whether anything of a release, or of what it was asked for, stands there. */
static bool tells_of(const unsigned char *bytes, size_t n, uint64_t k)
{
    const dpi_journal_release what = asked(k);
    bool found = false;
    for (size_t i = 0; i + 8 <= sizeof what.question; i += 8)
        found = found || holds(bytes, n, what.question + i, 8);
    for (uint64_t e = 0; e < what.n; e++) {
        double x = number(k, e);
        found = found || holds(bytes, n, &x, sizeof x);
    }
    return found;
}

/* What waits is in memory alone; what is sealed tells nothing, not even where two releases of a
 * group are the same; and all of a group is there at once. */
static void a_group_is_there_as_a_whole_or_not_at_all(void **state)
{
    dp_error err = {0};
    dpi_journal *j, *other;
    unsigned char before[MOST], bytes[MOST];
    (void)state;
    make(1);
    size_t n = load(before);
    assert_ok(open_it(&j, &err), err.text);
    assert_ok(read_one(j, 0, &err), err.text);
    for (uint64_t k = 1; k < RELEASES; k++)
        assert_ok(add(j, k < 3 ? 1 : k, &err), err.text);
    assert_int_equal(load(bytes), n);
    assert_memory_equal(bytes, before, n);
    assert_ok(dpi_journal_seal(j, &err), err.text);
    size_t sealed = load(bytes);
    assert_true(sealed > n);
    assert_memory_equal(bytes, before, n);
    assert_false(tells_of(bytes, sealed, 1) || tells_of(bytes, sealed, 3));
    for (size_t i = n; i + 24 <= sealed; i++) /* one stream of the cipher for two would show it */
        for (size_t e = i + 8; e + 24 <= sealed; e++)
            assert_memory_not_equal(bytes + i, bytes + e, 24);
    assert_int_equal(dpi_journal_count(j), 1);
    assert_ok(dpi_journal_open_seal(j, &err), err.text);
    assert_int_equal(dpi_journal_count(j), 4);
    dpi_journal_free(j);
    size_t whole = load(before);
    assert_int_equal(whole, sealed);
    for (size_t cut = n; cut < whole; cut++) {
        store(before, cut);
        assert_fails(open_it(&other, &err), DP_EDATA, &err, "damaged");
    }
    store(before, whole);
    assert_ok(open_it(&other, &err), err.text);
    for (uint64_t k = 0; k < RELEASES; k++)
        assert_ok(read_one(other, k < 3 ? k > 0 : k, &err), err.text);
    dpi_journal_free(other);
}

static void so_many_wait_as_there_is_room_for(void **state)
{
    static double numbers[DPI_JOURNAL_NUMBERS];
    dp_error err = {0};
    dpi_journal *j;
    (void)state;
    make(0);
    assert_ok(open_it(&j, &err), err.text);
    assert_false(dpi_journal_has_room(j, (uint64_t)DPI_JOURNAL_NUMBERS + 1));
    assert_true(dpi_journal_has_room(j, DPI_JOURNAL_NUMBERS));
    dpi_journal_release what = asked(0);
    what.n = DPI_JOURNAL_NUMBERS - 10;
    assert_ok(dpi_journal_add(j, &what, numbers, &err), err.text);
    assert_false(dpi_journal_has_room(j, 1));
    assert_fails(add(j, 1, &err), DP_EIO, &err, "cannot be written");
    dpi_journal_free(j);
    assert_ok(open_it(&j, &err), err.text);
    assert_fails(dpi_journal_seal(j, &err), DP_EIO, &err, "cannot be written");
    dpi_journal_free(j);
}

/* Where the next process writes over it; nobody can read what was sealed. */
static void what_was_sealed_and_not_opened_is_made_anew(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    unsigned char bytes[MOST];
    (void)state;
    make(2);
    size_t whole = load(bytes);
    assert_ok(open_it(&j, &err), err.text);
    for (uint64_t k = 0; k < 2; k++)
        assert_ok(read_one(j, k, &err), err.text);
    assert_ok(seal(j, 2, &err), err.text);
    dpi_journal_free(j);
    size_t n = load(bytes);
    assert_true(n > whole);
    assert_false(tells_of(bytes, n, 2));
    for (size_t cut = whole; cut <= n; cut++) { /* as much of it as may be there */
        store(bytes, cut);
        assert_ok(open_it(&j, &err), err.text);
        assert_int_equal(dpi_journal_count(j), 2);
        for (uint64_t k = 0; k < 2; k++)
            assert_ok(read_one(j, k, &err), err.text);
        write_one(j, 2);
        dpi_journal_free(j);
        assert_ok(open_it(&j, &err), err.text);
        for (uint64_t k = 0; k < 3; k++)
            assert_ok(read_one(j, k, &err), err.text);
        dpi_journal_free(j);
    }
}

static void one_that_is_cut_is_refused(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    unsigned char bytes[MOST];
    (void)state;
    make(3);
    size_t n = load(bytes);
    for (size_t cut = 0; cut < n; cut++) {
        store(bytes, cut);
        assert_fails(open_it(&j, &err), DP_EDATA, &err, cut < 256 ? "no journal" : "damaged");
        assert_null(j);
    }
}

static void one_with_another_bit_is_refused(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    unsigned char bytes[MOST];
    (void)state;
    make(RELEASES);
    size_t n = load(bytes);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        store(bytes, n);
        dp_status status = open_it(&j, &err);
        if (status != DP_EDATA && status != DP_EUNSUPPORTED)
            fail_msg("bit %zu: status %d", bit, (int)status);
        err = (dp_error){0};
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void a_key_that_is_taken_out_is_missed(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    unsigned char bytes[MOST];
    (void)state;
    make(3);
    size_t n = load(bytes);
    memset(bytes + 256 + 32, 0, 32);
    store(bytes, n);
    assert_fails(open_it(&j, &err), DP_EDATA, &err, "damaged");
}

static void another_question_is_refused(void **state)
{
    dp_error err = {0};
    (void)state;
    for (int part = 0; part < 4; part++) {
        double numbers[NUMBERS + RELEASES];
        dpi_journal *j;
        make(1);
        dpi_journal_release what = asked(0);
        what.phase += part == 0;
        what.n += part == 1;
        what.sigma += part == 2 ? 1e-9 : 0;
        what.question[31] ^= part == 3;
        assert_ok(open_it(&j, &err), err.text);
        assert_fails(dpi_journal_read(j, &what, numbers, &err), DP_EMISMATCH, &err, "another");
        dpi_journal_free(j);
    }
}

static void one_is_not_written_over(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    (void)state;
    make(1);
    assert_fails(dpi_journal_new(folder_path("journal"), &run, &j, &err), DP_ESTATE, &err, "paid");
    assert_ok(open_it(&j, &err), err.text);
    assert_int_equal(dpi_journal_count(j), 1);
    dpi_journal_drop(j);
    dpi_journal_free(j);
    assert_int_equal(access(folder_path("journal"), F_OK), 0);
    make(0);
    assert_ok(open_it(&j, &err), err.text);
    dpi_journal_drop(j);
    dpi_journal_free(j);
    assert_fails(open_it(&j, &err), DP_ESTATE, &err, "no journal");
}

/* What somebody else wrote there would be the fit. */
static void one_that_others_may_write_is_refused(void **state)
{
    static const mode_t modes[] = {0620, 0602, 0666};
    dp_error err = {0};
    dpi_journal *j;
    (void)state;
    make(1);
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        assert_int_equal(chmod(folder_path("journal"), modes[k]), 0);
        assert_fails(open_it(&j, &err), DP_EPRIVACY, &err, "others may write");
        assert_null(j);
    }
    assert_int_equal(chmod(folder_path("journal"), 0644), 0); /* whoever may see the fit */
    assert_ok(open_it(&j, &err), err.text);
    dpi_journal_free(j);
}

static void one_process_has_it_at_a_time(void **state)
{
    dp_error err = {0};
    dpi_journal *mine, *other;
    (void)state;
    make(1);
    assert_ok(open_it(&mine, &err), err.text);
    assert_fails(open_it(&other, &err), DP_ESTATE, &err, "another process");
    dpi_journal_free(mine);
    assert_ok(open_it(&other, &err), err.text);
    dpi_journal_free(other);
}

static void a_child_of_fork_writes_nothing(void **state)
{
    dp_error err = {0};
    dpi_journal *j;
    int ended;
    (void)state;
    make(0);
    assert_ok(open_it(&j, &err), err.text);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(seal(j, 0, NULL) == DP_ESTATE ? 0 : 1);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    write_one(j, 0);
    dpi_journal_free(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(groups_are_read_as_what_is_in_them),
        cmocka_unit_test(a_group_is_there_as_a_whole_or_not_at_all),
        cmocka_unit_test(so_many_wait_as_there_is_room_for),
        cmocka_unit_test(what_was_sealed_and_not_opened_is_made_anew),
        cmocka_unit_test(one_that_is_cut_is_refused),
        cmocka_unit_test(one_with_another_bit_is_refused),
        cmocka_unit_test(a_key_that_is_taken_out_is_missed),
        cmocka_unit_test(another_question_is_refused),
        cmocka_unit_test(one_is_not_written_over),
        cmocka_unit_test(one_that_others_may_write_is_refused),
        cmocka_unit_test(one_process_has_it_at_a_time),
        cmocka_unit_test(a_child_of_fork_writes_nothing),
    };
    return cmocka_run_group_tests_name("journal", tests, folder_make, folder_remove);
}
