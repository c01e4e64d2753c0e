/* Threads take the steps one by one in the plan's order, and wait for what theirs reads: whoever
 * makes it took an earlier step, so that somebody can always go on. */
#include "cluster/run.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/float.h"
#include "base/pool.h"

typedef struct crew {
    const dpi_plan_job *job;
    pthread_mutex_t mutex;
    pthread_cond_t made;
    size_t next;     /* step that nobody has taken */
    void **value;    /* [n_values] of what is made and still read */
    bool *is_made;   /* [n_values] */
    uint32_t *uses;  /* [n_values] to come */
    dp_error failed; /* the first one */
} crew;

/* How often steps read each value, and the result once more. */
static void count_uses(crew *w)
{
    const dpi_plan *p = w->job->p;
    memset(w->uses, 0, p->n_values * sizeof *w->uses);
    for (size_t k = 0; k < p->n_steps; k++)
        for (uint32_t i = 0; i < p->step[k].n_in; i++)
            w->uses[p->in[p->step[k].in + i]]++;
    w->uses[w->job->result]++;
}

void dpi_job_check(const dpi_plan_job *job)
{
    const dpi_plan *p = job->p;
    size_t known = 0;
    if (p->status != DP_OK || job->result >= p->n_values || job->input[job->result] != NULL)
        dpi_misuse(__func__, "the plan has failed, or its result is an input");
    for (size_t k = 0; k < p->n_steps; k++) {
        const bool makes = p->step[k].op != DPI_OP_MESSAGE;
        if (makes && job->input[p->step[k].out] != NULL)
            dpi_misuse(__func__, "a value is given that a step makes");
        known += makes;
    }
    for (size_t v = 0; v < p->n_values; v++)
        known += job->input[v] != NULL;
    if (known != p->n_values)
        dpi_misuse(__func__, "an input of the plan is not given");
}

dp_status dpi_job_compute(const dpi_plan_job *job, size_t worker, const dpi_step *s,
                          const void *const *in, void *out, dp_error *err)
{
    dp_error own = {0};
    const dp_status status =
        job->kind.compute(job->kind.self, worker, job->p, s, in, out, &own);
    if (status == DP_OK || own.status == status) {
        if (status != DP_OK)
            *err = own;
        return status;
    }
    return dpi_fail(err, status, "a step of a plan has failed");
}

static bool is_input(const crew *w, uint32_t value)
{
    return w->job->input[value] != NULL;
}

/* ---- under the mutex ---- */

static void fail(crew *w, const dp_error *err)
{
    if (w->failed.status == DP_OK)
        w->failed = *err;
    (void)pthread_cond_broadcast(&w->made);
}

/* The next computation, and waits for its inputs: NULL where there is none, or where one failed. */
static const dpi_step *take(crew *w)
{
    const dpi_plan *p = w->job->p;
    while (w->next < p->n_steps && p->step[w->next].op == DPI_OP_MESSAGE)
        w->next++;
    if (w->next == p->n_steps)
        return NULL;
    const dpi_step *s = &p->step[w->next++];
    for (uint32_t i = 0; i < s->n_in; i++)
        while (!w->is_made[p->in[s->in + i]] && w->failed.status == DP_OK)
            (void)pthread_cond_wait(&w->made, &w->mutex);
    return w->failed.status == DP_OK ? s : NULL;
}

/* Its result is there, and what nothing reads any more is gone. */
static void finish(crew *w, const dpi_step *s, void *out)
{
    const uint32_t *in = w->job->p->in + s->in;
    const bool is_read = w->uses[s->out] > 0;
    if (!is_read)
        dpi_free(out);
    w->value[s->out] = is_read ? out : NULL;
    w->is_made[s->out] = true;
    for (uint32_t i = 0; i < s->n_in; i++)
        if (--w->uses[in[i]] == 0 && !is_input(w, in[i])) {
            dpi_free(w->value[in[i]]);
            w->value[in[i]] = NULL;
        }
    (void)pthread_cond_broadcast(&w->made);
}

/* ---- without it ---- */

static dp_status compute(crew *w, size_t worker, const dpi_step *s, void **out, dp_error *err)
{
    const dpi_plan_job *job = w->job;
    const void **in = dpi_alloc(s->n_in, sizeof *in);
    *out = dpi_alloc(job->kind.bytes(job->kind.self, job->p->value[s->out].level), 1);
    dp_status status = *out == NULL || (in == NULL && s->n_in > 0) ? dpi_fail_nomem(err) : DP_OK;
    for (uint32_t i = 0; i < s->n_in && status == DP_OK; i++) {
        const uint32_t value = job->p->in[s->in + i];
        in[i] = is_input(w, value) ? job->input[value] : w->value[value];
    }
    if (status == DP_OK)
        status = dpi_job_compute(job, worker, s, in, *out, err);
    dpi_free(in);
    return status;
}

static void work(void *user, size_t worker)
{
    crew *w = user;
    (void)pthread_mutex_lock(&w->mutex);
    for (const dpi_step *s; (s = take(w)) != NULL;) {
        dp_error err = {0};
        void *out;
        (void)pthread_mutex_unlock(&w->mutex);
        dp_status status = compute(w, worker, s, &out, &err);
        (void)pthread_mutex_lock(&w->mutex);
        if (status == DP_OK) {
            finish(w, s, out);
        } else {
            dpi_free(out);
            fail(w, &err);
        }
    }
    (void)pthread_mutex_unlock(&w->mutex);
}

static dp_status run(crew *w, size_t threads, dp_error *err)
{
    const dpi_plan_job *job = w->job;
    dpi_pool *pool;
    count_uses(w);
    for (size_t v = 0; v < job->p->n_values; v++) {
        w->value[v] = NULL;
        w->is_made[v] = is_input(w, (uint32_t)v);
    }
    dp_status status = dpi_pool_new(threads, &pool, err);
    if (status != DP_OK)
        return status;
    dpi_pool_run(pool, work, w);
    dpi_pool_free(pool);
    if (w->failed.status == DP_OK)
        memcpy(job->to, w->value[job->result],
               job->kind.bytes(job->kind.self, job->p->value[job->result].level));
    else if (err != NULL)
        *err = w->failed;
    for (size_t v = 0; v < job->p->n_values; v++)
        dpi_free(w->value[v]);
    return w->failed.status;
}

dp_status dpi_run_threads(const dpi_plan_job *job, size_t threads, dp_error *err)
{
    const size_t n = job->p->n_values;
    crew w = {.job = job,
              .mutex = PTHREAD_MUTEX_INITIALIZER,
              .made = PTHREAD_COND_INITIALIZER,
              .value = dpi_alloc(n, sizeof *w.value),
              .is_made = dpi_alloc(n, sizeof *w.is_made),
              .uses = dpi_alloc(n, sizeof *w.uses)};
    dpi_job_check(job);
    const bool room = w.value != NULL && w.is_made != NULL && w.uses != NULL;
    dp_status status = room ? dpi_float_check(err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = run(&w, threads, err);
    dpi_free(w.value);
    dpi_free(w.is_made);
    dpi_free(w.uses);
    (void)pthread_cond_destroy(&w.made);
    (void)pthread_mutex_destroy(&w.mutex);
    return status;
}
