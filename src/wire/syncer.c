/* One thread that calls fsync while there is something that no call has covered. */
#define _XOPEN_SOURCE 700
#include "wire/syncer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"

struct dpi_syncer {
    int file;
    dpi_fork *mark; /* of the process that has the thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t begun, done; /* numbers of writes: the last, and the last that is on the disk */
    bool failed, ends;
    atomic_bool runs;
    pthread_t thread;
};

static bool sync_file(int file)
{
    while (fsync(file) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

/* Until it ends, and then to the end of what was begun. */
static void *work(void *of)
{
    dpi_syncer *s = of;
    (void)pthread_mutex_lock(&s->lock);
    while (!s->failed && (!s->ends || s->done < s->begun)) {
        if (s->done == s->begun) {
            (void)pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        uint64_t covered = s->begun;
        (void)pthread_mutex_unlock(&s->lock);
        bool good = sync_file(s->file);
        (void)pthread_mutex_lock(&s->lock);
        s->failed = !good;
        s->done = good ? covered : s->done;
        (void)pthread_cond_broadcast(&s->changed);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Starts the thread with all signals blocked, so that the program's handlers stay in its own. */
static void start(dpi_syncer *s)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    dpi_fork_set(s->mark);
    s->runs = pthread_create(&s->thread, NULL, work, s) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

dp_status dpi_syncer_new(int file, dpi_syncer **syncer, dp_error *err)
{
    *syncer = NULL;
    dpi_syncer *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->file = file;
    dp_status status = dpi_fork_new(&s->mark, err);
    if (status == DP_OK && pthread_mutex_init(&s->lock, NULL) != 0)
        status = dpi_fail_nomem(err);
    if (status == DP_OK && pthread_cond_init(&s->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&s->lock);
        status = dpi_fail_nomem(err);
    }
    if (status == DP_OK) {
        *syncer = s;
        return DP_OK;
    }
    dpi_fork_free(s->mark);
    dpi_free(s);
    return status;
}

/* A child may not even lock what a thread of its parent had locked. */
static bool is_elsewhere(const dpi_syncer *s)
{
    return s->runs && !dpi_fork_here(s->mark);
}

uint64_t dpi_syncer_begin(dpi_syncer *syncer)
{
    if (is_elsewhere(syncer))
        return 0;
    (void)pthread_mutex_lock(&syncer->lock);
    if (!syncer->runs)
        start(syncer);
    bool good = syncer->runs && !syncer->failed;
    uint64_t number = good ? ++syncer->begun : 0;
    (void)pthread_cond_broadcast(&syncer->changed);
    (void)pthread_mutex_unlock(&syncer->lock);
    return number;
}

bool dpi_syncer_wait(dpi_syncer *syncer, uint64_t number)
{
    if (number == 0 || is_elsewhere(syncer))
        return false;
    (void)pthread_mutex_lock(&syncer->lock);
    while (syncer->done < number && !syncer->failed)
        (void)pthread_cond_wait(&syncer->changed, &syncer->lock);
    bool good = syncer->done >= number;
    (void)pthread_mutex_unlock(&syncer->lock);
    return good;
}

void dpi_syncer_free(dpi_syncer *syncer)
{
    if (syncer == NULL)
        return;
    bool elsewhere = is_elsewhere(syncer);
    if (syncer->runs && !elsewhere) {
        (void)pthread_mutex_lock(&syncer->lock);
        syncer->ends = true;
        (void)pthread_cond_broadcast(&syncer->changed);
        (void)pthread_mutex_unlock(&syncer->lock);
        (void)pthread_join(syncer->thread, NULL);
    }
    if (!elsewhere) {
        (void)pthread_cond_destroy(&syncer->changed);
        (void)pthread_mutex_destroy(&syncer->lock);
    }
    dpi_fork_free(syncer->mark);
    dpi_free(syncer);
}
