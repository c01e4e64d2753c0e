/* Threads that wait for work.
 *
 * A round of work has a number.  A thread sleeps until the number is not that of its last round,
 * does its call and counts itself off; the caller sleeps until all have.  All of that is under one
 * lock, so what one side writes before is seen by the other after.  Nothing spins. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/float.h"
#include "base/fork.h"

typedef struct member {
    struct dpi_pool *pool;
    pthread_t thread;
    size_t number;
} member;

struct dpi_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, finished;
    void (*work)(void *user, size_t k);
    void *user;
    unsigned long long round; /* of work, from 1 */
    size_t busy;              /* threads that have not finished it */
    bool over;
    dpi_fork *mark;  /* whose threads they are */
    member *members; /* [n_members], numbers 1 ... n_members */
    size_t n_members;
};

static void *live(void *of)
{
    member *m = of;
    dpi_pool *pool = m->pool;
    unsigned long long last = 0;
    dpi_float_default();
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == last && !pool->over)
            (void)pthread_cond_wait(&pool->begun, &pool->lock);
        if (pool->over)
            break;
        last = pool->round;
        (void)pthread_mutex_unlock(&pool->lock);
        pool->work(pool->user, m->number);
        (void)pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            (void)pthread_cond_signal(&pool->finished);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts the threads with all signals blocked, so that the program's handlers stay in its own. */
static dp_status start(dpi_pool *pool, size_t n, dp_error *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return dpi_fail(err, DP_ENOMEM, "signals cannot be blocked for new threads; use one");
    bool started = true;
    for (size_t k = 0; k < n && started; k++) {
        member *m = &pool->members[k];
        *m = (member){.pool = pool, .number = k + 1};
        started = pthread_create(&m->thread, NULL, live, m) == 0;
        pool->n_members += started;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started ? DP_OK
                   : dpi_fail(err, DP_ENOMEM, "the system gives only %zu threads; ask for fewer",
                              pool->n_members + 1);
}

dp_status dpi_pool_new(size_t n, dpi_pool **out, dp_error *err)
{
    *out = NULL;
    dpi_pool *pool = dpi_alloc(1, sizeof *pool);
    member *members = dpi_alloc(n, sizeof *members);
    if (pool == NULL || members == NULL) {
        dpi_free(members);
        dpi_free(pool);
        return dpi_fail_nomem(err);
    }
    pool->members = members;
    (void)pthread_mutex_init(&pool->lock, NULL); /* with default attributes these cannot fail */
    (void)pthread_cond_init(&pool->begun, NULL);
    (void)pthread_cond_init(&pool->finished, NULL);
    dp_status status = dpi_fork_new(&pool->mark, err);
    if (status == DP_OK)
        status = start(pool, n - 1, err);
    if (status == DP_OK)
        *out = pool;
    else
        dpi_pool_free(pool);
    return status;
}

void dpi_pool_run(dpi_pool *pool, void (*work)(void *user, size_t k), void *user)
{
    if (pool->n_members == 0 || !dpi_fork_here(pool->mark)) {
        work(user, 0);
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->user = user;
    pool->busy = pool->n_members;
    pool->round++;
    (void)pthread_cond_broadcast(&pool->begun);
    (void)pthread_mutex_unlock(&pool->lock);
    work(user, 0);
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        (void)pthread_cond_wait(&pool->finished, &pool->lock);
    (void)pthread_mutex_unlock(&pool->lock);
}

void dpi_pool_free(dpi_pool *pool)
{
    if (pool == NULL)
        return;
    /* A child of fork has none of the threads, nor their lock. */
    if (pool->mark != NULL && dpi_fork_here(pool->mark)) {
        (void)pthread_mutex_lock(&pool->lock);
        pool->over = true;
        (void)pthread_cond_broadcast(&pool->begun);
        (void)pthread_mutex_unlock(&pool->lock);
        for (size_t k = 0; k < pool->n_members; k++)
            (void)pthread_join(pool->members[k].thread, NULL);
        (void)pthread_cond_destroy(&pool->finished);
        (void)pthread_cond_destroy(&pool->begun);
        (void)pthread_mutex_destroy(&pool->lock);
    }
    dpi_fork_free(pool->mark);
    dpi_free(pool->members);
    dpi_free(pool);
}
