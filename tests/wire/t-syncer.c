/* What is on the disk when, by a disk of which the test says when it is done, and whether. */
#define _XOPEN_SOURCE 700
#include "wire/syncer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/pause.h"

enum { FILE_NUMBER = 77 };

/* ---- the disk ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int begun, permits; /* calls of fsync; calls that may end */
static bool broken;

int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    (void)pthread_mutex_lock(&lock);
    assert_int_equal(file, FILE_NUMBER);
    begun++;
    (void)pthread_cond_broadcast(&changed);
    while (permits == 0)
        (void)pthread_cond_wait(&changed, &lock);
    permits--;
    int result = broken ? -1 : 0;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static void permit(int calls)
{
    (void)pthread_mutex_lock(&lock);
    permits += calls;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static void wait_for_calls(int calls)
{
    (void)pthread_mutex_lock(&lock);
    while (begun < calls)
        (void)pthread_cond_wait(&changed, &lock);
    assert_int_equal(begun, calls);
    (void)pthread_mutex_unlock(&lock);
}

static dpi_syncer *new_syncer(void)
{
    dp_error err = {0};
    dpi_syncer *s;
    begun = permits = 0;
    broken = false;
    assert_ok(dpi_syncer_new(FILE_NUMBER, &s, &err), err.text);
    return s;
}

/* ---- who waits ---- */

typedef struct waiter {
    dpi_syncer *syncer;
    uint64_t number;
    pthread_t thread;
    bool good;
    atomic_bool back;
} waiter;

static void *wait_for_disk(void *of)
{
    waiter *w = of;
    w->good = dpi_syncer_wait(w->syncer, w->number);
    atomic_store(&w->back, true);
    return NULL;
}

static void start(waiter *w, dpi_syncer *s, uint64_t number)
{
    w->syncer = s;
    w->number = number;
    atomic_store(&w->back, false);
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_disk, w), 0);
}

static bool is_good(waiter *w)
{
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    return w->good;
}

static void who_waits_is_held_until_the_disk_is_done(void **state)
{
    (void)state;
    dpi_syncer *s = new_syncer();
    waiter w;
    uint64_t number = dpi_syncer_begin(s);
    wait_for_calls(1); /* nobody waits yet */
    start(&w, s, number);
    pause_for(30);
    assert_false(atomic_load(&w.back));
    permit(1);
    assert_true(is_good(&w));
    assert_true(dpi_syncer_wait(s, number)); /* at once */
    assert_false(dpi_syncer_wait(s, 0));
    assert_int_equal(begun, 1);
    dpi_syncer_free(s);
    dpi_syncer_free(NULL);
}

/* A call covers what was written before it began, and no more. */
static void a_call_covers_what_came_before_it(void **state)
{
    (void)state;
    dpi_syncer *s = new_syncer();
    waiter first, second, third;
    start(&first, s, dpi_syncer_begin(s));
    wait_for_calls(1);
    start(&second, s, dpi_syncer_begin(s));
    start(&third, s, dpi_syncer_begin(s));
    permit(1);
    assert_true(is_good(&first));
    wait_for_calls(2);
    pause_for(30);
    assert_false(atomic_load(&second.back) || atomic_load(&third.back));
    permit(1);
    assert_true(is_good(&second));
    assert_true(is_good(&third));
    assert_int_equal(begun, 2);
    dpi_syncer_free(s);
}

static void a_disk_that_failed_is_not_trusted_again(void **state)
{
    (void)state;
    dpi_syncer *s = new_syncer();
    permit(1);
    uint64_t before = dpi_syncer_begin(s);
    assert_true(dpi_syncer_wait(s, before));
    waiter w;
    broken = true;
    start(&w, s, dpi_syncer_begin(s));
    permit(1);
    assert_false(is_good(&w));
    broken = false;
    permit(1);
    assert_int_equal(dpi_syncer_begin(s), 0);
    assert_true(dpi_syncer_wait(s, before));
    assert_false(dpi_syncer_wait(s, before + 1));
    assert_int_equal(begun, 2);
    dpi_syncer_free(s);
}

static void *permit_later(void *none)
{
    pause_for(50);
    permit(2);
    return none;
}

static void what_was_begun_is_on_the_disk_at_the_end(void **state)
{
    (void)state;
    dpi_syncer *s = new_syncer();
    (void)dpi_syncer_begin(s);
    wait_for_calls(1);
    (void)dpi_syncer_begin(s);
    pthread_t later;
    assert_int_equal(pthread_create(&later, NULL, permit_later, NULL), 0);
    dpi_syncer_free(s);
    assert_int_equal(pthread_join(later, NULL), 0);
    assert_int_equal(begun, 2);
}

static void a_child_of_fork_has_nothing_on_the_disk(void **state)
{
    (void)state;
    dpi_syncer *s = new_syncer();
    permit(1);
    uint64_t number = dpi_syncer_begin(s);
    assert_true(dpi_syncer_wait(s, number));
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        bool none = dpi_syncer_begin(s) == 0 && !dpi_syncer_wait(s, number);
        dpi_syncer_free(s);
        _exit(none ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    dpi_syncer_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_held_until_the_disk_is_done),
        cmocka_unit_test(a_call_covers_what_came_before_it),
        cmocka_unit_test(a_disk_that_failed_is_not_trusted_again),
        cmocka_unit_test(what_was_begun_is_on_the_disk_at_the_end),
        cmocka_unit_test(a_child_of_fork_has_nothing_on_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
