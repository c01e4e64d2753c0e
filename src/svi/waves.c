/* The clipped sum of a batch where the release is long.
 *
 * A batch is cut into tasks of records, and these are done in waves of SLOTS tasks.  In a wave's
 * first pass threads take tasks in their order, run the records and keep the factors of their
 * gradients; in its second they take blocks of the release and add to them what was kept, task
 * after task (exec/factors.h).  Tasks depend on the batch alone, and every number of the sum is
 * made by one thread from the same numbers in the same order, so it is the same to the bit on any
 * number of threads.
 *
 * A thread runs the records of some tasks together, where there are enough for all threads: weights
 * are packed for products once then.  A record does not depend on its company, so this shows
 * nowhere.
 *
 * What the sum's place held before does not matter: the first wave writes all of it.
 *
 * Against a sum for each task, which sum.c makes: the release is written once a wave and not a few
 * times a task.  Memory: the factors of SLOTS tasks; no thread has a release of its own. */
#include "svi/waves.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "exec/factors.h"
#include "svi/sum.h"

enum { SLOTS = 8 };

typedef struct wave {
    dpi_summation *s;
    const size_t *batch;
    size_t size, tasks;
    double clip;
    size_t chain;
    pthread_mutex_t next; /* of what follows, and of the source of draws */
    size_t task, end;     /* next task, and the wave's end */
    size_t block;         /* next block */
    dp_status status;
    dp_error *err;
    size_t first; /* task of the wave */
} wave;

static const size_t long_release = 50000; /* numbers, from which on it pays */

bool dpi_waves_may(const dpi_summation *s)
{
    return s->objective->n_release >= long_release && s->units->start == NULL && !s->whole;
}

dp_status dpi_waves_init(dpi_summation *s, dpi_arena *arena, dp_error *err)
{
    if (!dpi_waves_may(s) || !dpi_factors_pay(s->run))
        return DP_OK;
    return dpi_factors_new(arena, s->run, SLOTS, s->chunk, s->extras->n, &s->factors, err);
}

void dpi_waves_free(dpi_summation *s)
{
    if (s->factors != NULL)
        dpi_factors_wipe(s->factors);
}

/* First record of a task of the batch: tasks differ by one record at most. */
static size_t first_record(const wave *t, size_t task)
{
    size_t rest = t->size % t->tasks;
    return t->size / t->tasks * task + (task < rest ? task : rest);
}

/* Adds what m records that have been kept add beside their gradients. */
static void add_extras(const dpi_summation *s, const dpi_worker *w, size_t first, size_t m,
                       double *extra)
{
    double *score = w->scratch + first; /* whose norms have served */
    dpi_run_read(w->run, s->objective->record, first, m, score);
    for (size_t r = 0; r < m; r++)
        dpi_extras_add(s->extras, score[r], score[s->rows + r] == 1, extra);
}

/* Runs the records of tasks `task` ... `end` - 1 and keeps each task's. */
static void run_tasks(const wave *t, dpi_worker *w, size_t task, size_t end)
{
    const dpi_summation *s = t->s;
    const size_t from = first_record(t, task), m = first_record(t, end) - from;
    dpi_run_records(w->run, m, t->batch != NULL ? t->batch + from : NULL, from);
    dpi_factors_weigh(w->run, m, t->clip, t->chain, w->scratch);
    dpi_count_dropped(s, w, m);
    for (; task < end; task++) {
        const size_t first = first_record(t, task) - from, slot = task - t->first;
        const size_t n = first_record(t, task + 1) - from - first;
        dpi_factors_keep(s->factors, w->run, first, n, t->chain, w->scratch, slot);
        if (s->extras->n > 0)
            add_extras(s, w, first, n, dpi_factors_extra(s->factors, slot));
    }
}

/* Draws for tasks `task` ... `end` - 1, one after the other, since several inputs of a task are
 * drawn before the next task's. */
static dp_status draw_tasks(const wave *t, const dpi_worker *w, size_t task, size_t end)
{
    const size_t from = first_record(t, task);
    dp_status status = DP_OK;
    for (; task < end && status == DP_OK; task++) {
        const size_t first = first_record(t, task);
        status =
            dpi_draw_records(t->s, w->run, first - from, first_record(t, task + 1) - first, t->err);
    }
    return status;
}

/* Tasks that a thread takes next: no more than leave the others as many. */
static size_t at_once(const wave *t)
{
    const size_t share = (t->end - t->task - 1) / t->s->n_workers + 1;
    const size_t most = t->s->rows / t->s->chunk;
    return share < most ? share : most;
}

/* What each thread does in the first pass. */
static void keep(void *of, size_t k)
{
    wave *t = of;
    dpi_worker *w = &t->s->workers[k];
    for (;;) {
        (void)pthread_mutex_lock(&t->next);
        if (t->task == t->end || t->status != DP_OK)
            break;
        const size_t task = t->task, end = task + at_once(t);
        t->task = end;
        t->status = draw_tasks(t, w, task, end);
        if (t->status != DP_OK)
            break;
        (void)pthread_mutex_unlock(&t->next);
        run_tasks(t, w, task, end);
    }
    (void)pthread_mutex_unlock(&t->next);
}

/* And in the second. */
static void add(void *of, size_t k)
{
    wave *t = of;
    dpi_summation *s = t->s;
    size_t blocks = dpi_factors_blocks(s->factors);
    (void)k;
    for (;;) {
        (void)pthread_mutex_lock(&t->next);
        size_t block = t->block++;
        (void)pthread_mutex_unlock(&t->next);
        if (block >= blocks)
            return;
        dpi_factors_add(s->factors, block, t->end - t->first, t->chain, t->first == 0, s->total,
                        t->tasks > SLOTS ? s->lost : NULL);
    }
}

static void run_pass(wave *t, void (*pass)(void *, size_t))
{
    if (t->s->pool != NULL && t->tasks > 1)
        dpi_pool_run(t->s->pool, pass, t);
    else
        pass(t, 0);
}

dp_status dpi_sum_waves(dpi_summation *s, size_t size, const size_t *batch, double clip,
                        dp_error *err)
{
    size_t n = s->objective->n_release;
    wave t = {.s = s, .batch = batch, .size = size, .clip = clip, .err = err};
    t.tasks = size > 0 ? (size - 1) / s->chunk + 1 : 0;
    t.chain = dpi_factors_chain(s->run, size, clip);
    if (t.tasks == 0)
        memset(s->total, 0, n * sizeof *s->total);
    (void)pthread_mutex_init(&t.next, NULL); /* cannot fail with default attributes */
    for (; t.end < t.tasks && t.status == DP_OK; t.first = t.end) {
        t.end = t.tasks - t.first < SLOTS ? t.tasks : t.first + SLOTS;
        t.block = 0;
        run_pass(&t, keep);
        if (t.status == DP_OK)
            run_pass(&t, add);
    }
    (void)pthread_mutex_destroy(&t.next);
    dpi_factors_wipe_sums(s->factors);
    if (t.status != DP_OK)
        dpi_sum_wipe(s);
    else if (t.tasks > SLOTS)
        sodium_memzero(s->lost, n * sizeof *s->lost);
    return t.status;
}
