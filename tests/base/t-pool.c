#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/lib/check.h"

enum { MOST = 7, ROUNDS = 200 };

typedef struct board {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    size_t here, expected;
    size_t calls[MOST];
} board;

/* Returns only once all calls of a round have begun: they do run side by side. */
static void meet(void *user, size_t k)
{
    board *b = user;
    (void)pthread_mutex_lock(&b->lock);
    b->calls[k]++;
    b->here++;
    while (b->here % b->expected != 0 && b->here < b->calls[k] * b->expected)
        (void)pthread_cond_wait(&b->all_here, &b->lock);
    (void)pthread_cond_broadcast(&b->all_here);
    (void)pthread_mutex_unlock(&b->lock);
}

static void every_round_has_one_call_for_each_thread(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, MOST};
    for (int i = 0; i < 3; i++) {
        board b = {.expected = sizes[i]};
        dp_error err = {0};
        dpi_pool *pool;
        (void)pthread_mutex_init(&b.lock, NULL);
        (void)pthread_cond_init(&b.all_here, NULL);
        assert_ok(dpi_pool_new(sizes[i], &pool, &err), err.text);
        for (int round = 0; round < ROUNDS; round++)
            dpi_pool_run(pool, meet, &b);
        dpi_pool_free(pool);
        for (size_t k = 0; k < MOST; k++)
            assert_int_equal(b.calls[k], k < sizes[i] ? ROUNDS : 0);
    }
    dpi_pool_free(NULL);
}

static void a_pool_without_work_ends(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_pool *pool;
    assert_ok(dpi_pool_new(3, &pool, &err), err.text);
    dpi_pool_free(pool);
}

static void count(void *user, size_t k)
{
    size_t *calls = user;
    calls[k]++;
}

/* The threads stay behind in the parent; the child works alone and can free its copy. */
static void a_child_of_fork_works_alone(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_pool *pool;
    assert_ok(dpi_pool_new(3, &pool, &err), err.text);
    pid_t child = fork();
    if (child == 0) {
        size_t calls[3] = {0};
        (void)alarm(20);
        dpi_pool_run(pool, count, calls);
        dpi_pool_free(pool);
        _exit(calls[0] == 1 && calls[1] == 0 && calls[2] == 0 ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    dpi_pool_free(pool);
}

static void see_mask(void *user, size_t k)
{
    sigset_t *mask = user;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask[k]);
}

static void its_threads_take_no_signals(void **state)
{
    (void)state;
    sigset_t mask[2];
    dp_error err = {0};
    dpi_pool *pool;
    assert_ok(dpi_pool_new(2, &pool, &err), err.text);
    dpi_pool_run(pool, see_mask, mask);
    assert_int_equal(sigismember(&mask[0], SIGINT), 0);
    assert_int_equal(sigismember(&mask[1], SIGINT), 1);
    assert_int_equal(sigismember(&mask[1], SIGTERM), 1);
    dpi_pool_free(pool);
}

static void more_threads_than_memory_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_pool *pool;
    assert_int_equal(dpi_pool_new(SIZE_MAX / 2, &pool, &err), DP_ENOMEM);
    assert_null(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_round_has_one_call_for_each_thread),
        cmocka_unit_test(a_pool_without_work_ends),
        cmocka_unit_test(a_child_of_fork_works_alone),
        cmocka_unit_test(its_threads_take_no_signals),
        cmocka_unit_test(more_threads_than_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
