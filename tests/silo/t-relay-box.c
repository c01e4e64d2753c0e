/* The folder of a relay: what is in it is counted, also when the disk fails, and a full one is not
 * gone through at each letter. */
#define _XOPEN_SOURCE 700
#include "silo/relay-box.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"

static char folder[64];
static int fails_at; /* of the next calls of fsync this one; 0: none */

int __real_fsync(int file);
int __wrap_fsync(int file);

int __wrap_fsync(int file)
{
    return fails_at > 0 && --fails_at == 0 ? -1 : __real_fsync(file);
}

static dpi_relay_box box;

static int set_up(void **state)
{
    dp_error err = {0};
    (void)state;
    (void)snprintf(folder, sizeof folder, "./relay-box-XXXXXX");
    assert_non_null(mkdtemp(folder));
    box = (dpi_relay_box){.folder = -1, .most_letter = 10, .most_letters = 3, .most_bytes = 100};
    assert_ok(dpi_relay_box_open(&box, folder, &err), err.text);
    fails_at = 0;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        (void)unlinkat(box.folder, names[k], 0);
    dpi_relay_box_close(&box);
    return rmdir(folder);
}

/* A letter of three bytes; the status of its end. */
static int put(const char *name)
{
    dpi_relay_draft draft;
    int status = dpi_relay_box_begin(&box, name, 3, &draft);
    if (status != 0)
        return status;
    assert_int_equal(write(draft.file, "abc", 3), 3);
    return dpi_relay_box_keep(&box, &draft, name);
}

static bool is_there(const char *name)
{
    uint64_t size;
    int file = dpi_relay_box_find(&box, name, &size);
    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

static void check_count(uint64_t letters)
{
    assert_int_equal(box.letters, letters);
    assert_int_equal(box.bytes, 3 * letters);
    assert_int_equal(box.awaited, 0);
    assert_int_equal(box.awaited_bytes, 0);
}

static void what_is_kept_is_counted(void **state)
{
    (void)state;
    assert_int_equal(put("a"), 201);
    assert_int_equal(put("a"), 412);
    assert_int_equal(put("b"), 201);
    check_count(2);
}

/* The letter's bytes, or its name, do not reach the disk: it is not there, and may be put again. */
static void what_the_disk_does_not_take_is_not_there(void **state)
{
    (void)state;
    for (int at = 1; at <= 2; at++) {
        fails_at = at;
        assert_int_equal(put("a"), 507);
        assert_int_equal(fails_at, 0);
        assert_false(is_there("a"));
        check_count(0);
    }
    assert_int_equal(put("a"), 201);
    check_count(1);
}

static void a_full_folder_is_not_gone_through_at_each_letter(void **state)
{
    (void)state;
    assert_int_equal(put("a"), 201);
    assert_int_equal(put("b"), 201);
    assert_int_equal(put("c"), 201);
    uint64_t before = box.counts;
    for (int k = 0; k < 50; k++)
        assert_int_equal(put("d"), 507);
    assert_true(box.counts <= before + 1); /* where these took a second */
    pause_for(30); /* longer than the steps of the file system's clock */
    assert_int_equal(unlinkat(box.folder, "b", 0), 0);
    assert_int_equal(put("d"), 201);
    check_count(3);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(what_is_kept_is_counted),
        ONE(what_the_disk_does_not_take_is_not_there),
        ONE(a_full_folder_is_not_gone_through_at_each_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
