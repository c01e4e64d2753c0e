#include "serve/ahead.h"

#include <stddef.h>

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

static void *work_ahead(void *of)
{
    dpi_ahead *a = of;
    while (wait_for_work(a))
        if (a->work(a->user))
            say(a, true, false);
    return NULL;
}

void dpi_ahead_start(dpi_ahead *a, bool (*work)(void *user), void *user)
{
    *a = (dpi_ahead){.work = work, .user = user, .awake = true};
    bool made = pthread_mutex_init(&a->lock, NULL) == 0 && pthread_cond_init(&a->woken, NULL) == 0;
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
