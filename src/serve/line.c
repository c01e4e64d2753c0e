#define _XOPEN_SOURCE 700
#include "serve/line.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/float.h"

typedef struct line_stage {
    dpi_line *line;
    pthread_t thread;
    pthread_cond_t filled;
    dpi_pool *pool;
    size_t number, threads;
    size_t queue[DPI_LINE_LANES], first, waiting;
    double seconds;
    size_t done;
    bool runs;
} line_stage;

struct dpi_line {
    dpi_line_opts opts;
    pthread_mutex_t lock;
    bool over;
    bool ready[DPI_LINE_LANES];
    size_t inside; /* lanes in queues and in hand */
    int wake[2];   /* a pipe: its end to read, and that to write */
    dp_error err;
    line_stage stage[DPI_LINE_STAGES];
};

/* ---- waking who is outside ---- */

/* A byte that does not fit is not needed: there is one to be read. */
static void wake(const dpi_line *line)
{
    ssize_t written = write(line->wake[1], "", 1);
    (void)written;
}

int dpi_line_wake(const dpi_line *line)
{
    return line->wake[0];
}

void dpi_line_heard(dpi_line *line)
{
    char bytes[DPI_LINE_LANES];
    while (read(line->wake[0], bytes, sizeof bytes) > 0)
        continue;
}

/* ---- queues, under the lock ---- */

static void enqueue(dpi_line *line, size_t stage, size_t lane)
{
    line_stage *s = &line->stage[stage];
    s->queue[(s->first + s->waiting++) % DPI_LINE_LANES] = lane;
    (void)pthread_cond_signal(&s->filled);
}

/* Sleeps until there is a lane: false when the line ends. */
static bool dequeue(line_stage *s, size_t *lane)
{
    while (s->waiting == 0 && !s->line->over)
        (void)pthread_cond_wait(&s->filled, &s->line->lock);
    if (s->line->over)
        return false;
    *lane = s->queue[s->first];
    s->first = (s->first + 1) % DPI_LINE_LANES;
    s->waiting--;
    return true;
}

static void stop(dpi_line *line)
{
    line->over = true;
    for (size_t k = 0; k < line->opts.stages; k++)
        (void)pthread_cond_signal(&line->stage[k].filled);
}

static void hand_on(line_stage *s, size_t lane, size_t next, dp_status status, const dp_error *err)
{
    dpi_line *line = s->line;
    if (status != DP_OK) {
        (void)dpi_fail(&line->err, status, "%s",
                       err->status != DP_OK ? err->text : dp_status_text(status));
        stop(line);
    }
    if (status == DP_OK && next < line->opts.stages) {
        enqueue(line, next, lane);
        return;
    }
    line->inside--;
    line->ready[lane] = status == DP_OK;
    wake(line);
}

/* ---- workers ---- */

static double processor(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *of)
{
    line_stage *s = of;
    dpi_line *line = s->line;
    size_t lane;
    dpi_float_default();
    (void)pthread_mutex_lock(&line->lock);
    while (dequeue(s, &lane)) {
        dp_error err = {0};
        size_t next = DPI_LINE_OUT;
        (void)pthread_mutex_unlock(&line->lock);
        double start = processor();
        dp_status status =
            line->opts.work(line->opts.user, s->number, lane, s->pool, s->threads, &next, &err);
        double took = (processor() - start) * (double)s->threads;
        (void)pthread_mutex_lock(&line->lock);
        s->seconds += took;
        s->done++;
        hand_on(s, lane, next, status, &err);
    }
    (void)pthread_mutex_unlock(&line->lock);
    return NULL;
}

/* With all signals blocked, so that the program's handlers stay in its own threads. */
static dp_status start(line_stage *s, dp_error *err)
{
    sigset_t all, before;
    if (s->threads > 1) {
        dp_status status = dpi_pool_new(s->threads, &s->pool, err);
        if (status != DP_OK)
            return status;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    s->runs = pthread_create(&s->thread, NULL, work, s) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->runs ? DP_OK
                   : dpi_fail(err, DP_ENOMEM,
                              "the system gives no thread for stage %zu; ask for "
                              "fewer, or for one query after the other",
                              s->number);
}

static bool open_wake(dpi_line *line)
{
    if (pipe(line->wake) != 0) {
        line->wake[0] = line->wake[1] = -1;
        return false;
    }
    for (int k = 0; k < 2; k++)
        if (fcntl(line->wake[k], F_SETFL, O_NONBLOCK) != 0 ||
            fcntl(line->wake[k], F_SETFD, FD_CLOEXEC) != 0)
            return false;
    return true;
}

dp_status dpi_line_new(const dpi_line_opts *opts, dpi_line **made, dp_error *err)
{
    *made = NULL;
    if (opts->stages > DPI_LINE_STAGES || opts->lanes > DPI_LINE_LANES)
        dpi_misuse(__func__, "too many stages or lanes");
    dpi_line *line = dpi_alloc(1, sizeof *line);
    if (line == NULL)
        return dpi_fail_nomem(err);
    line->opts = *opts;
    (void)pthread_mutex_init(&line->lock, NULL); /* with default attributes these cannot fail */
    for (size_t k = 0; k < opts->stages; k++) {
        line->stage[k] = (line_stage){
            .line = line, .number = k, .threads = opts->threads[k] > 1 ? opts->threads[k] : 1};
        (void)pthread_cond_init(&line->stage[k].filled, NULL);
    }
    dp_status status =
        open_wake(line) ? DP_OK : dpi_fail(err, DP_ENOMEM, "the system gives no pipe");
    for (size_t k = 0; status == DP_OK && k < opts->stages; k++)
        status = start(&line->stage[k], err);
    if (status == DP_OK)
        *made = line;
    else
        dpi_line_free(line);
    return status;
}

void dpi_line_free(dpi_line *line)
{
    if (line == NULL)
        return;
    (void)pthread_mutex_lock(&line->lock);
    stop(line);
    (void)pthread_mutex_unlock(&line->lock);
    /* A stage that is still at work hands on to others: all end before anything is taken away. */
    for (size_t k = 0; k < line->opts.stages; k++)
        if (line->stage[k].runs)
            (void)pthread_join(line->stage[k].thread, NULL);
    for (size_t k = 0; k < line->opts.stages; k++) {
        (void)pthread_cond_destroy(&line->stage[k].filled);
        dpi_pool_free(line->stage[k].pool);
    }
    for (int k = 0; k < 2; k++)
        if (line->wake[k] >= 0)
            (void)close(line->wake[k]);
    (void)pthread_mutex_destroy(&line->lock);
    dpi_free(line);
}

/* ---- from outside ---- */

void dpi_line_put(dpi_line *line, size_t stage, size_t lane)
{
    (void)pthread_mutex_lock(&line->lock);
    line->ready[lane] = false;
    line->inside++;
    enqueue(line, stage, lane);
    (void)pthread_mutex_unlock(&line->lock);
}

bool dpi_line_ready(dpi_line *line, size_t lane)
{
    (void)pthread_mutex_lock(&line->lock);
    bool ready = line->ready[lane];
    (void)pthread_mutex_unlock(&line->lock);
    return ready;
}

bool dpi_line_works(dpi_line *line)
{
    (void)pthread_mutex_lock(&line->lock);
    bool works = line->inside > 0 && !line->over;
    (void)pthread_mutex_unlock(&line->lock);
    return works;
}

dp_status dpi_line_status(dpi_line *line, dp_error *err)
{
    (void)pthread_mutex_lock(&line->lock);
    dp_error first = line->err;
    (void)pthread_mutex_unlock(&line->lock);
    return first.status == DP_OK ? DP_OK : dpi_fail(err, first.status, "%s", first.text);
}

void dpi_line_done(dpi_line *line, size_t stage, double *seconds, size_t *lanes)
{
    (void)pthread_mutex_lock(&line->lock);
    *seconds = line->stage[stage].seconds;
    *lanes = line->stage[stage].done;
    (void)pthread_mutex_unlock(&line->lock);
}
