#define _POSIX_C_SOURCE 200809L
#include "serve/ahead.h"

#include <stddef.h>
#include <time.h>

/* Whether there is work to do; sleeps until somebody says so, which is forgotten here: who says it
 * while a piece of work is being done is heard after it. */
static bool wait_for_work(dpi_ahead *a)
{
    (void)pthread_mutex_lock(&a->lock);
    while (!a->awake && !a->ends)
        (void)pthread_cond_wait(&a->woken, &a->lock);
    bool more = !a->ends;
    a->awake = false;
    (void)pthread_mutex_unlock(&a->lock);
    return more;
}

static void say(dpi_ahead *a, bool awake, bool ends)
{
    (void)pthread_mutex_lock(&a->lock);
    a->awake = a->awake || awake;
    a->ends = a->ends || ends;
    (void)pthread_cond_signal(&a->woken);
    (void)pthread_mutex_unlock(&a->lock);
}

/* Whether nobody says anything for the pause. */
static bool is_quiet(dpi_ahead *a)
{
    enum { SECOND = 1000000000 };
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += a->pause / 1000;
    until.tv_nsec += a->pause % 1000 * 1000000L;
    if (until.tv_nsec >= SECOND) {
        until.tv_sec++;
        until.tv_nsec -= SECOND;
    }
    int waited = 0;
    (void)pthread_mutex_lock(&a->lock);
    while (waited == 0 && !a->awake && !a->ends)
        waited = pthread_cond_timedwait(&a->woken, &a->lock, &until);
    bool quiet = !a->awake && !a->ends;
    (void)pthread_mutex_unlock(&a->lock);
    return quiet;
}

static void *work_ahead(void *of)
{
    dpi_ahead *a = of;
    while (wait_for_work(a))
        if (a->work(a->user))
            say(a, true, false);
        else if (a->later != NULL && is_quiet(a))
            a->later(a->user);
    return NULL;
}

void dpi_ahead_start(dpi_ahead *a, bool (*work)(void *user), void *user)
{
    dpi_ahead_start_later(a, work, NULL, 0, user);
}

void dpi_ahead_start_later(dpi_ahead *a, bool (*work)(void *user), void (*later)(void *user),
                           uint32_t pause, void *user)
{
    pthread_condattr_t monotonic;
    *a = (dpi_ahead){.work = work, .later = later, .pause = pause, .user = user, .awake = true};
    bool made = pthread_condattr_init(&monotonic) == 0;
    if (!made)
        return;
    made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
           pthread_mutex_init(&a->lock, NULL) == 0 && pthread_cond_init(&a->woken, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    a->runs = made && pthread_create(&a->thread, NULL, work_ahead, a) == 0;
}

void dpi_ahead_wake(dpi_ahead *a)
{
    if (a->runs)
        say(a, true, false);
}

void dpi_ahead_end(dpi_ahead *a)
{
    if (!a->runs)
        return;
    say(a, false, true);
    (void)pthread_join(a->thread, NULL);
    (void)pthread_cond_destroy(&a->woken);
    (void)pthread_mutex_destroy(&a->lock);
    a->runs = false;
}
