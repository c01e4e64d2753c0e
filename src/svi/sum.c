/* The clipped sum of a batch.
 *
 * A batch is cut into tasks: as many whole units as fit in a chunk (tasks of equal size where all
 * units are single records), or one unit of more rows than that, which goes through chunk after
 * chunk.  How it is cut depends on the batch alone.  Threads take tasks in their order and compute
 * their sums side by side; the sums are added up in the order of tasks again, with compensation.
 * So every addition happens between the same numbers in the same order whatever the number of
 * threads, and the release is the same to the bit.  A thread that is early parks its sum for the
 * one whose turn it is, and goes on; when there is no room to park it waits.  Adding takes 4
 * operations a released number where computing took hundreds.  Still, passes over long releases
 * cost: the first task's sum is made in its place, the last one's is added where the release is
 * made (release.c), and all are wiped there, so that they are zero when the next batch begins.
 *
 * Draws of records are secrets from the source of noise, and are handed out when a task is taken,
 * in the tasks' order.  A unit of several chunks keeps the source for itself until it has its last
 * draws.
 *
 * Memory: each thread has a chunk of the records' values and the sum of a task, room to park two
 * more where these are short, and the sum of a unit where units have several rows. */
#include "svi/sum.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "exec/clip.h"
#include "exec/whole.h"
#include "num/linalg.h"
#include "svi/waves.h"

/* Chunks of rows from which waking other threads, some 10 us each, is worth it, and numbers
 * released times rows: where rows are much work, two tasks are enough. */
enum { FEW = 4, MUCH = 1 << 20 };

/* Consecutive units of the batch. */
typedef struct batch_task {
    size_t number, first, units, rows;
    bool last; /* of the batch */
} batch_task;

typedef struct sum {
    dpi_summation *s;
    const size_t *batch;
    size_t size;
    double clip;
    bool shared;            /* several threads are at it */
    dp_error *err;          /* under `source`, as is what follows */
    pthread_mutex_t source; /* of tasks and of draws */
    size_t at, next;        /* first unit not handed out; number of the next task */
    pthread_mutex_t fold;   /* held while a task is added to the release */
    pthread_cond_t turned;
    size_t turn;   /* task that may be added; under `fold`, as are the parked sums and the rest */
    size_t parked; /* tasks from turn on that there is room for */
    dp_status status;
} sum;

/* One thread alone needs no locks, which in a step of a few microseconds count. */
static void lock(const sum *t, pthread_mutex_t *mutex)
{
    if (t->shared)
        (void)pthread_mutex_lock(mutex);
}

static void unlock(const sum *t, pthread_mutex_t *mutex)
{
    if (t->shared)
        (void)pthread_mutex_unlock(mutex);
}

/* Overwrites what a worker knows of the last batch, beside its draws and the sums. */
static void wipe_units(const dpi_summation *s, dpi_worker *w)
{
    sodium_memzero(&w->score, sizeof w->score);
    if (w->unit != NULL)
        sodium_memzero(w->unit, s->objective->n_release * sizeof *w->unit);
    if (w->row == NULL)
        return;
    sodium_memzero(w->row, s->chunk * sizeof *w->row);
    sodium_memzero(w->rows, s->chunk * sizeof *w->rows);
}

/* ---- tasks ---- */

static size_t unit_at(const sum *t, size_t position)
{
    return t->batch != NULL ? t->batch[position] : position;
}

/* Takes the next task; false when there is none.  The source is locked. */
static bool next_task(sum *t, batch_task *job)
{
    const dpi_summation *s = t->s;
    size_t left = t->size - t->at;
    *job = (batch_task){.number = t->next, .first = t->at};
    if (left == 0)
        return false;
    if (s->units->start == NULL) { /* equal tasks, as few as can be */
        size_t tasks = (left - 1) / s->chunk + 1;
        job->units = job->rows = (left - 1) / tasks + 1;
    }
    while (s->units->start != NULL && job->units < left) {
        size_t rows = dpi_unit_rows(s->units, unit_at(t, t->at + job->units));
        if (job->units > 0 && job->rows + rows > s->chunk)
            break;
        job->units++;
        job->rows += rows;
    }
    t->next++;
    t->at += job->units;
    job->last = t->at == t->size;
    return true;
}

/* Lists the rows `done` ... `done` + m - 1 of a task, and each one's share of the prior. */
static void list_rows(const sum *t, dpi_worker *w, const batch_task *job, size_t done, size_t m)
{
    const dpi_summation *s = t->s;
    double *share = w->scratch;
    size_t n = 0;
    for (size_t u = 0; u < job->units; u++) {
        size_t unit = unit_at(t, job->first + u), rows = dpi_unit_rows(s->units, unit);
        const size_t *row = s->units->row + s->units->start[unit] + done;
        w->rows[u] = rows;
        for (size_t k = 0; k < rows && n < m; k++, n++) {
            w->row[n] = row[k];
            share[n] = 1 / ((double)s->units->n * (double)rows);
        }
    }
    if (dpi_run_numbers(w->run, s->objective->share) > 0)
        dpi_run_write(w->run, s->objective->share, 0, n, share);
}

/* Where the numbers beside the gradient stand in a task's sum. */
static double *extra_of(const dpi_summation *s, const dpi_worker *w)
{
    return w->to + s->objective->n_release - s->extras->n;
}

/* Adds what the units of a chunk of m records that has been clipped add beside their gradients. */
static void add_extras(const sum *t, dpi_worker *w, const batch_task *job, size_t m)
{
    const dpi_summation *s = t->s;
    double *score = w->scratch; /* whose norms have served */
    const double *factor = w->scratch + s->rows;
    dpi_run_read(w->run, s->objective->record, 0, m, score);
    for (size_t u = 0, r = 0, rows; u < job->units; r += rows, u++) {
        double total = 0;
        rows = s->units->start != NULL ? w->rows[u] : 1;
        for (size_t k = 0; k < rows; k++)
            total += score[r + k];
        dpi_extras_add(s->extras, total, factor[r] == 1, extra_of(s, w));
    }
}

/* The same for the m rows of a chunk of one large unit, and when it is whole. */
static void add_score(const dpi_summation *s, dpi_worker *w, size_t m)
{
    double *score = w->scratch;
    dpi_run_read(w->run, s->objective->record, 0, m, score);
    for (size_t r = 0; r < m; r++)
        w->score += score[r];
}

static void finish_large(const sum *t, dpi_worker *w)
{
    const dpi_summation *s = t->s;
    const size_t n = s->objective->n_release;
    double factor = s->whole ? dpi_clip_add_whole(n, w->unit, t->clip, s->steps, w->to)
                             : dpi_clip_add(n, w->unit, t->clip, w->to);
    w->dropped += s->counts && factor == 0;
    if (s->extras->n > 0)
        dpi_extras_add(s->extras, w->score, factor == 1, extra_of(s, w));
}

void dpi_count_dropped(const dpi_summation *s, dpi_worker *w, size_t n)
{
    const double *factor = w->scratch + s->rows;
    for (size_t r = 0; s->counts && r < n; r++)
        w->dropped += factor[r] == 0;
}

/* The same for units of several rows, whose factor stands at the first. */
static void count_dropped_units(const dpi_summation *s, dpi_worker *w, size_t n)
{
    const double *factor = w->scratch + s->rows;
    for (size_t u = 0, r = 0; s->counts && u < n; r += w->rows[u], u++)
        w->dropped += factor[r] == 0;
}

/* Adds the units of a chunk, whose rows are listed where they have several. */
static void add_units(const sum *t, dpi_worker *w, size_t units, const size_t *rows)
{
    const dpi_summation *s = t->s;
    if (s->whole)
        dpi_run_clip_whole(w->run, units, rows, t->clip, s->steps, w->scratch, w->unit, w->to);
    else if (rows == NULL)
        dpi_run_clip_sum(w->run, units, t->clip, w->scratch, w->to);
    else
        dpi_run_clip_units(w->run, units, rows, t->clip, w->scratch, w->unit, w->to);
}

/* Runs a chunk of a task and adds it up: units that are whole into to[], clipped; rows of a larger
 * one into unit[]. */
static void run_chunk(const sum *t, dpi_worker *w, const batch_task *job, size_t done, size_t m)
{
    if (t->s->units->start == NULL) {
        dpi_run_records(w->run, m, t->batch != NULL ? t->batch + job->first : NULL, job->first);
        add_units(t, w, m, NULL);
        dpi_count_dropped(t->s, w, m);
        if (t->s->extras->n > 0)
            add_extras(t, w, job, m);
        return;
    }
    list_rows(t, w, job, done, m);
    dpi_run_records(w->run, m, w->row, 0);
    if (job->rows > t->s->chunk) {
        dpi_run_add_rows(w->run, 0, m, w->unit);
        if (t->s->extras->n > 0)
            add_score(t->s, w, m);
        return;
    }
    add_units(t, w, job->units, w->rows);
    count_dropped_units(t->s, w, job->units);
    if (t->s->extras->n > 0)
        add_extras(t, w, job, m);
}

/* Computes to[] of a task.  The source is locked at the start and not at the end. */
static dp_status run_task(sum *t, dpi_worker *w, const batch_task *job)
{
    const dpi_summation *s = t->s;
    size_t n = s->objective->n_release;
    bool locked = true, large = job->rows > s->chunk;
    dp_status status = DP_OK;
    w->to = job->number == 0 ? s->total : w->part;
    w->score = 0;
    if (large)
        memset(w->unit, 0, n * sizeof *w->unit);
    for (size_t done = 0, m; done < job->rows && status == DP_OK; done += m) {
        m = job->rows - done < s->chunk ? job->rows - done : s->chunk;
        status = dpi_draw_records(t->s, w->run, 0, m, t->err);
        if (status != DP_OK)
            t->at = t->size; /* no more tasks */
        if (locked && (!s->draws || done + m == job->rows || status != DP_OK)) {
            unlock(t, &t->source);
            locked = false;
        }
        if (status == DP_OK)
            run_chunk(t, w, job, done, m);
    }
    if (large && status == DP_OK)
        finish_large(t, w);
    return status;
}

/* Where the sum of a task is parked. */
static dpi_parked *parked_at(const sum *t, size_t number)
{
    size_t at = number % t->parked;
    return &t->s->workers[at / 2].parked[at % 2];
}

/* Adds the sum of a task that is neither the first nor the last, and empties it. */
static void add_part(dpi_summation *s, double *part)
{
    size_t n = s->objective->n_release;
    dpi_add_compensated(n, part, s->total, s->lost);
    memset(part, 0, n * sizeof *part);
    s->has_lost = true;
}

/* Adds part[], whose turn it is, and what is parked behind it.  The first task has added to the sum
 * itself; the last one's is left for the release (release.c), which is the next to go over all
 * numbers. */
static void add_in_turn(sum *t, const dpi_worker *w, const batch_task *job)
{
    dpi_summation *s = t->s;
    if (job->number > 0 && job->last)
        s->last = w->part;
    else if (job->number > 0)
        add_part(s, w->part);
    for (t->turn++; t->parked > 0 && parked_at(t, t->turn)->full; t->turn++) {
        dpi_parked *parked = parked_at(t, t->turn);
        if (parked->last)
            s->last = parked->part;
        else
            add_part(s, parked->part);
        parked->full = false;
    }
    if (t->shared)
        (void)pthread_cond_broadcast(&t->turned);
}

/* Leaves part[] for the thread whose turn comes before, and takes the empty one for it. */
static void park(const sum *t, dpi_worker *w, const batch_task *job)
{
    dpi_parked *parked = parked_at(t, job->number);
    double *part = parked->part;
    parked->part = w->part;
    parked->last = job->last;
    parked->full = true;
    w->part = part;
}

/* Sees to it that part[] is added to the release when all tasks before are; ends all waiting when
 * the task has failed. */
static void fold(sum *t, dpi_worker *w, const batch_task *job, dp_status status)
{
    lock(t, &t->fold);
    if (status != DP_OK) {
        t->status = status;
        if (t->shared)
            (void)pthread_cond_broadcast(&t->turned);
    }
    while (t->status == DP_OK && job->number != t->turn && job->number - t->turn >= t->parked)
        (void)pthread_cond_wait(&t->turned, &t->fold);
    if (t->status == DP_OK && job->number == t->turn)
        add_in_turn(t, w, job);
    else if (t->status == DP_OK)
        park(t, w, job);
    unlock(t, &t->fold);
}

/* What each thread does: tasks, until there are no more. */
static void work(void *of, size_t k)
{
    sum *t = of;
    dpi_worker *w = &t->s->workers[k];
    batch_task job;
    for (;;) {
        lock(t, &t->source);
        if (!next_task(t, &job))
            break;
        fold(t, w, &job, run_task(t, w, &job));
    }
    unlock(t, &t->source);
    wipe_units(t->s, w);
}

void dpi_sum_wipe(dpi_summation *s)
{
    size_t bytes = s->objective->n_release * sizeof *s->total;
    sodium_memzero(s->total, bytes);
    sodium_memzero(s->lost, bytes);
    for (size_t k = 0; k < s->n_workers; k++) {
        if (s->workers[k].part != NULL)
            sodium_memzero(s->workers[k].part, bytes);
        for (int i = 0; i < 2 && s->workers[k].parked[i].part != NULL; i++) {
            sodium_memzero(s->workers[k].parked[i].part, bytes);
            s->workers[k].parked[i].full = false;
        }
    }
    s->last = NULL;
    s->has_lost = false;
}

static bool is_worth_threads(const sum *t)
{
    const dpi_summation *s = t->s;
    size_t rows = 0;
    const double much = (double)MUCH / (double)s->objective->n_release;
    size_t few =
        s->chunk < DPI_SVI_CHUNK || much <= (double)s->chunk ? s->chunk + 1 : FEW * s->chunk;
    for (size_t i = 0; s->pool != NULL && i < t->size && rows < few; i++)
        rows += dpi_unit_rows(s->units, unit_at(t, i));
    return s->pool != NULL && rows >= few;
}

static void on_threads(sum *t)
{
    (void)pthread_mutex_init(&t->source, NULL); /* with default attributes these cannot fail */
    (void)pthread_mutex_init(&t->fold, NULL);
    (void)pthread_cond_init(&t->turned, NULL);
    dpi_pool_run(t->s->pool, work, t);
    (void)pthread_cond_destroy(&t->turned);
    (void)pthread_mutex_destroy(&t->fold);
    (void)pthread_mutex_destroy(&t->source);
}

/* Adds up what the workers have counted. */
static void take_count(dpi_summation *s)
{
    s->dropped = 0;
    for (size_t k = 0; k < s->n_workers; k++) {
        s->dropped += s->workers[k].dropped;
        s->workers[k].dropped = 0;
    }
}

dp_status dpi_sum_batch(dpi_summation *s, size_t size, const size_t *batch, double clip,
                        dp_error *err)
{
    if (s->factors != NULL) {
        dp_status status = dpi_sum_waves(s, size, batch, clip, err);
        take_count(s);
        return status;
    }
    sum t = {.s = s, .batch = batch, .size = size, .clip = clip, .err = err};
    t.parked = s->workers[0].parked[0].part != NULL ? 2 * s->n_workers : 0;
    t.shared = is_worth_threads(&t);
    for (size_t k = 0; k < s->n_workers; k++)
        dpi_run_chains_set(s->workers[k].run, size, clip);
    if (t.shared)
        on_threads(&t);
    else
        work(&t, 0);
    take_count(s);
    if (t.status != DP_OK)
        dpi_sum_wipe(s);
    return t.status;
}
