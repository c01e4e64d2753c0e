/* Letters in memory and in a folder: the first one of a tag stays, whole, and is waited for. */
#define _XOPEN_SOURCE 700
#include "silo/carrier.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/lib/check.h"

enum { LONG = 300000, LETTERS = 40 };

static dpi_letter_box *box;
static char folder[] = "silo-letters-XXXXXX";

static dpi_carrier *carrier(bool in_memory)
{
    dpi_carrier *c = NULL;
    dp_error err = {0};
    assert_ok(in_memory ? dpi_carrier_memory(box, &c, &err) : dpi_carrier_folder(folder, &c, &err),
              err.text);
    return c;
}

static void put(dpi_carrier *c, const char *tag, const char *text)
{
    dp_error err = {0};
    assert_ok(c->kind->put(c, tag, strlen(text), (const unsigned char *)text, &err), err.text);
}

static void gets(dpi_carrier *c, const char *tag, const char *text)
{
    dp_error err = {0};
    unsigned char *bytes;
    size_t n;
    assert_ok(c->kind->get(c, tag, 2000, 100, &n, &bytes, &err), err.text);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, n);
    dpi_free(bytes);
}

static void the_first_letter_stays(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        dpi_carrier *one = carrier(m == 1), *other = carrier(m == 1);
        put(one, "run/1-0/a/b/x", "first");
        put(other, "run/1-0/a/b/x", "second");
        put(one, "run/1-0/a/b/y", "");
        gets(other, "run/1-0/a/b/x", "first");
        gets(one, "run/1-0/a/b/x", "first"); /* and is not taken away */
        gets(other, "run/1-0/a/b/y", "");
        one->kind->close(one);
        other->kind->close(other);
    }
}

/* A file of four gibibytes, in place of a small letter, is not read: nothing is allocated for
 * it. */
static void what_is_longer_than_the_letter_is_not_read(void **state)
{
    char path[128];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/run+5-0+a+b+huge", folder);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)1 << 32), 0);
    assert_int_equal(close(file), 0);
    for (int m = 0; m < 2; m++) {
        dp_error err = {0};
        unsigned char *bytes = (unsigned char *)path;
        size_t n = 7;
        dpi_carrier *c = carrier(m == 1);
        put(c, "run/5-0/a/b/x", "eleven byte");
        assert_fails(c->kind->get(c, "run/5-0/a/b/x", 100, 10, &n, &bytes, &err), DP_EPEER, &err,
                     "more bytes than the letter");
        assert_null(bytes);
        err = (dp_error){0};
        if (m == 0)
            assert_fails(c->kind->get(c, "run/5-0/a/b/huge", 100, 1000, &n, &bytes, &err), DP_EPEER,
                         &err, "more bytes than the letter");
        err = (dp_error){0};
        assert_ok(c->kind->get(c, "run/5-0/a/b/x", 100, 11, &n, &bytes, &err), err.text);
        dpi_free(bytes);
        c->kind->close(c);
    }
}

static void what_does_not_come_ends_the_wait(void **state)
{
    dp_error err = {0};
    unsigned char *bytes;
    size_t n;
    struct timespec before, after;
    (void)state;
    for (int m = 0; m < 2; m++) {
        dpi_carrier *c = carrier(m == 1);
        (void)clock_gettime(CLOCK_MONOTONIC, &before);
        assert_fails(c->kind->get(c, "run/9-9/a/b/x", 60, 100, &n, &bytes, &err), DP_ETIMEOUT, &err,
                     "9-9");
        (void)clock_gettime(CLOCK_MONOTONIC, &after);
        double waited = (double)(after.tv_sec - before.tv_sec) +
                        1e-9 * (double)(after.tv_nsec - before.tv_nsec);
        assert_true(waited >= 0.059);
        assert_null(bytes);
        c->kind->close(c);
    }
}

static void *put_later(void *of)
{
    dpi_carrier *c = of;
    (void)nanosleep(&(struct timespec){0, 50000000}, NULL);
    put(c, "run/2-0/a/b/late", "late");
    return NULL;
}

static void what_comes_late_is_waited_for(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        pthread_t thread;
        dpi_carrier *one = carrier(m == 1), *other = carrier(m == 1);
        assert_int_equal(pthread_create(&thread, NULL, put_later, one), 0);
        gets(other, "run/2-0/a/b/late", "late");
        assert_int_equal(pthread_join(thread, NULL), 0);
        one->kind->close(one);
        other->kind->close(other);
    }
}

static void tag_of(int k, char *tag, size_t room)
{
    (void)snprintf(tag, room, "run/3-%d/a/b/x", k);
}

/* Another process writes letters backwards, and each twice; none is seen in part. */
static void letters_of_another_process_come_whole(void **state)
{
    static unsigned char body[LONG];
    char tag[64];
    dp_error err = {0};
    (void)state;
    dpi_carrier *c = carrier(false);
    pid_t child = fork();
    assert_true(child >= 0);
    for (int k = LETTERS - 1; k >= 0 && child == 0; k--)
        for (int twice = 0; twice < 2; twice++) {
            memset(body, k + 100 * twice, sizeof body);
            tag_of(k, tag, sizeof tag);
            if (c->kind->put(c, tag, sizeof body, body, &err) != DP_OK)
                _exit(1);
        }
    if (child == 0)
        _exit(0);
    for (int k = 0; k < LETTERS; k++) {
        unsigned char *bytes;
        size_t n;
        tag_of(k, tag, sizeof tag);
        assert_ok(c->kind->get(c, tag, 20000, sizeof body, &n, &bytes, &err), err.text);
        assert_int_equal(n, sizeof body);
        for (size_t i = 0; i < n; i++)
            assert_true(bytes[i] == k);
        dpi_free(bytes);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    c->kind->close(c);
}

static void what_is_no_folder_or_letter_is_refused(void **state)
{
    dp_error err = {0};
    dpi_carrier *c = NULL;
    unsigned char *bytes;
    size_t n;
    char path[128];
    (void)state;
    assert_fails(dpi_carrier_folder("/nowhere", &c, &err), DP_EIO, &err, "no folder");
    assert_null(c);
    c = carrier(false);
    (void)snprintf(path, sizeof path, "%s/run+4-0+a+b+x", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(c->kind->get(c, "run/4-0/a/b/x", 0, 100, &n, &bytes, &err), DP_EIO);
    err = (dp_error){0};
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* and it is not waited for */
    assert_fails(c->kind->get(c, "run/4-0/a/b/x", 0, 100, &n, &bytes, &err), DP_EPEER, &err,
                 "no letter");
    c->kind->close(c);
}

static int make(void **state)
{
    dp_error err = {0};
    (void)state;
    return mkdtemp(folder) == NULL || dpi_letter_box_new(&box, &err) != DP_OK;
}

static int clear(void **state)
{
    char command[128];
    (void)state;
    dpi_letter_box_free(box);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_letter_stays),
        cmocka_unit_test(what_is_longer_than_the_letter_is_not_read),
        cmocka_unit_test(what_does_not_come_ends_the_wait),
        cmocka_unit_test(what_comes_late_is_waited_for),
        cmocka_unit_test(letters_of_another_process_come_whole),
        cmocka_unit_test(what_is_no_folder_or_letter_is_refused),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
