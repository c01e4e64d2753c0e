/* The caller's thread moves messages, since MPI moves long ones only while it is called, and one
 * of a pool computes.  From one rank to another messages keep the plan's order, so that they need
 * no other name.  In place of a value that was not made an empty message goes: nobody waits for
 * ever. */
#include "cluster/ranks.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/float.h"
#include "base/pool.h"

enum { NAP = 20000 /* ns between looks at messages: shorter than a socket fills in */ };

typedef struct rank_run {
    const dpi_plan_job *job;
    MPI_Comm comm;
    size_t rank, ranks;
    bool *crosses;         /* [n_steps] messages between ranks, of a value that the other has not */
    const void **in;       /* [most inputs] of the one step that is computed */
    void *spare;      /* as long as any value: what comes goes here where there is no room */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    void **value;    /* [n_values] NULL: not made yet, read by nobody any more, or failed */
    bool *is_there;  /* [n_values] or failed */
    uint32_t *uses;  /* [n_values] of this rank, to come */
    dp_error failed; /* the first one */
} rank_run;

/* One direction of messages, of which one is under way at a time. */
typedef struct rank_line {
    bool sends;
    size_t next; /* step */
    bool moves;
    void *to; /* room for what comes */
    MPI_Request request;
} rank_line;

static size_t bytes_of(const rank_run *r, uint32_t value)
{
    const dpi_card_kind *kind = &r->job->kind;
    return kind->bytes(kind->self, r->job->p->value[value].level);
}

static bool is_own(const rank_run *r, uint32_t card)
{
    return card % r->ranks == r->rank;
}

/* ---- values ---- */

static void put(rank_run *r, uint32_t value, void *bytes)
{
    (void)pthread_mutex_lock(&r->mutex);
    const bool is_read = r->uses[value] > 0;
    if (!is_read)
        dpi_free(bytes);
    r->value[value] = is_read ? bytes : NULL;
    r->is_there[value] = true;
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->mutex);
}

static void use(rank_run *r, uint32_t value)
{
    (void)pthread_mutex_lock(&r->mutex);
    if (--r->uses[value] == 0) {
        dpi_free(r->value[value]);
        r->value[value] = NULL;
    }
    (void)pthread_mutex_unlock(&r->mutex);
}

static void fail(rank_run *r, const dp_error *err)
{
    (void)pthread_mutex_lock(&r->mutex);
    if (r->failed.status == DP_OK)
        r->failed = *err;
    (void)pthread_mutex_unlock(&r->mutex);
}

/* ---- computing ---- */

/* Waits for what the step reads; false where not all of it was made. */
static bool take_inputs(rank_run *r, const dpi_step *s)
{
    const uint32_t *in = r->job->p->in + s->in;
    bool all = true;
    (void)pthread_mutex_lock(&r->mutex);
    for (uint32_t i = 0; i < s->n_in; i++) {
        while (!r->is_there[in[i]])
            (void)pthread_cond_wait(&r->changed, &r->mutex);
        r->in[i] = r->job->input[in[i]] != NULL ? r->job->input[in[i]] : r->value[in[i]];
        all = all && r->in[i] != NULL;
    }
    (void)pthread_mutex_unlock(&r->mutex);
    return all;
}

static void *make(rank_run *r, const dpi_step *s)
{
    dp_error err = {0};
    void *out = dpi_alloc(bytes_of(r, s->out), 1);
    const dp_status status =
        out == NULL ? dpi_fail_nomem(&err) : dpi_job_compute(r->job, 0, s, r->in, out, &err);
    if (status == DP_OK)
        return out;
    dpi_free(out);
    fail(r, &err);
    return NULL;
}

static void compute_all(rank_run *r)
{
    const dpi_plan *p = r->job->p;
    for (size_t k = 0; k < p->n_steps; k++) {
        const dpi_step *s = &p->step[k];
        if (s->op == DPI_OP_MESSAGE || !is_own(r, s->card))
            continue;
        put(r, s->out, take_inputs(r, s) ? make(r, s) : NULL);
        for (uint32_t i = 0; i < s->n_in; i++)
            use(r, p->in[s->in + i]);
    }
}

/* ---- messages ---- */

/* Ranks that wait for a message which MPI cannot move cannot be told. */
static void must(const rank_run *r, int result)
{
    if (result != MPI_SUCCESS)
        (void)MPI_Abort(r->comm, 1);
}

/* Begins the line's next message; false where its value is not there yet. */
static bool begin(rank_run *r, rank_line *l)
{
    const dpi_step *s = &r->job->p->step[l->next];
    const int peer = (int)((l->sends ? s->to : s->card) % r->ranks);
    const size_t n = bytes_of(r, s->out);
    int result;
    if (l->sends) {
        (void)pthread_mutex_lock(&r->mutex);
        const bool there = r->is_there[s->out];
        void *bytes = r->value[s->out];
        (void)pthread_mutex_unlock(&r->mutex);
        if (!there)
            return false;
        result =
            MPI_Isend(bytes, bytes == NULL ? 0 : (int)n, MPI_BYTE, peer, 0, r->comm, &l->request);
    } else {
        l->to = dpi_alloc(n, 1); /* without room what comes is cut off, which is an error then */
        result =
            MPI_Irecv(l->to, l->to == NULL ? 0 : (int)n, MPI_BYTE, peer, 0, r->comm, &l->request);
    }
    if (result != MPI_SUCCESS)
        (void)MPI_Abort(r->comm, 1); /* ranks that wait for it cannot be told */
    l->moves = true;
    return true;
}

/* What has come is whole, or an empty message. */
static void end_receiving(rank_run *r, rank_line *l, uint32_t value, const MPI_Status *status)
{
    const dp_error none = {.status = DP_ENOMEM, .text = "no memory for what another rank has sent"};
    const dp_error torn = {.status = DP_EIO, .text = "another rank runs another plan"};
    int count = 0;
    (void)MPI_Get_count(status, MPI_BYTE, &count);
    const bool whole = count == (int)bytes_of(r, value);
    if (l->to == NULL || (!whole && count != 0))
        fail(r, l->to == NULL ? &none : &torn);
    if (!whole) {
        dpi_free(l->to);
        l->to = NULL;
    }
    put(r, value, l->to);
}

/* Whether the message under way has ended. */
static bool end(rank_run *r, rank_line *l)
{
    int done = 0;
    MPI_Status status;
    const uint32_t value = r->job->p->step[l->next].out;
    must(r, MPI_Test(&l->request, &done, &status));
    if (!done)
        return false;
    if (l->sends)
        use(r, value);
    else
        end_receiving(r, l, value, &status);
    l->moves = false;
    l->next++;
    return true;
}

/* Goes on with a line as far as it does; false where nothing has changed. */
static bool move(rank_run *r, rank_line *l)
{
    const dpi_plan *p = r->job->p;
    if (l->moves)
        return end(r, l);
    while (
        l->next < p->n_steps &&
        !(r->crosses[l->next] && is_own(r, l->sends ? p->step[l->next].card : p->step[l->next].to)))
        l->next++;
    return l->next < p->n_steps && begin(r, l);
}

static void move_all(rank_run *r)
{
    rank_line lines[] = {{.sends = true}, {.sends = false}};
    const size_t n = r->job->p->n_steps;
    while (lines[0].next < n || lines[1].next < n) {
        const bool sent = move(r, &lines[0]), got = move(r, &lines[1]);
        if (!sent && !got)
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    }
}

/* ---- the whole ---- */

static void prepare(rank_run *r, uint64_t *at)
{
    const dpi_plan *p = r->job->p;
    memset(at, 0, p->n_values * sizeof *at);
    memset(r->uses, 0, p->n_values * sizeof *r->uses);
    for (size_t v = 0; v < p->n_values; v++) {
        r->value[v] = NULL;
        r->is_there[v] = r->job->input[v] != NULL;
    }
    for (size_t k = 0; k < p->n_steps; k++) {
        const dpi_step *s = &p->step[k];
        const bool message = s->op == DPI_OP_MESSAGE;
        const uint64_t bit = (uint64_t)1 << (message ? s->to : s->card) % r->ranks;
        r->crosses[k] = message && (at[s->out] & bit) == 0;
        r->uses[s->out] += r->crosses[k] && is_own(r, s->card);
        at[s->out] |= bit;
        for (uint32_t i = 0; i < s->n_in && !message && is_own(r, s->card); i++)
            r->uses[p->in[s->in + i]]++;
    }
    r->uses[r->job->result]++;
}

/* Whether it is so of a rank. */
static bool of_any(const rank_run *r, bool here)
{
    int bad = here, any = 1;
    (void)MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, r->comm);
    return any != 0;
}

static dp_status finish(rank_run *r, dp_error *err)
{
    const dpi_plan_job *job = r->job;
    const bool any = of_any(r, r->failed.status != DP_OK);
    if (!any && r->rank == 0)
        memcpy(job->to, r->value[job->result], bytes_of(r, job->result));
    for (size_t v = 0; v < job->p->n_values; v++)
        dpi_free(r->value[v]);
    if (r->failed.status != DP_OK && err != NULL)
        *err = r->failed;
    if (r->failed.status != DP_OK)
        return r->failed.status;
    return any ? dpi_fail(err, DP_EPEER, "another rank has failed at a step of the plan") : DP_OK;
}

/* The caller is the one that moves messages. */
static void work(void *user, size_t k)
{
    if (k == 0)
        move_all(user);
    else
        compute_all(user);
}

static size_t longest(const rank_run *r)
{
    size_t most = 1;
    for (size_t v = 0; v < r->job->p->n_values; v++) {
        const size_t n = bytes_of(r, (uint32_t)v);
        most = n > most ? n : most;
    }
    if (most > INT_MAX)
        dpi_misuse(__func__, "a value is longer than a message of MPI");
    return most;
}

static size_t most_inputs(const dpi_plan *p)
{
    size_t most = 1;
    for (size_t k = 0; k < p->n_steps; k++)
        most = p->step[k].n_in > most ? p->step[k].n_in : most;
    return most;
}

static bool has_room(const rank_run *r, const uint64_t *at)
{
    return r->crosses != NULL && r->in != NULL && r->value != NULL && r->is_there != NULL &&
           r->uses != NULL && r->spare != NULL && at != NULL;
}

/* Where this rank has what it needs, and the others, too. */
static dp_status run(rank_run *r, uint64_t *at, dp_error *err)
{
    dpi_pool *pool = NULL;
    dp_status status = has_room(r, at) ? dpi_float_check(err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_pool_new(2, &pool, err);
    const bool any = of_any(r, status != DP_OK);
    if (any && status == DP_OK)
        status = dpi_fail(err, DP_EPEER, "another rank cannot begin the plan");
    if (status == DP_OK) {
        prepare(r, at);
        dpi_pool_run(pool, work, r);
        status = finish(r, err);
    }
    dpi_pool_free(pool);
    return status;
}

dp_status dpi_run_ranks(const dpi_plan_job *job, MPI_Comm comm, dp_error *err)
{
    const dpi_plan *p = job->p;
    int rank = 0, ranks = 1;
    MPI_Comm own;
    dpi_job_check(job);
    if (p->value[job->result].home != 0)
        dpi_misuse(__func__, "the result is not one of card 0");
    if (MPI_Comm_dup(comm, &own) != MPI_SUCCESS)
        return dpi_fail(err, DP_EIO, "MPI gives no communicator for the plan");
    (void)MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(own, &rank);
    (void)MPI_Comm_size(own, &ranks);
    rank_run r = {.job = job,
                  .comm = own,
                  .rank = (size_t)rank,
                  .ranks = (size_t)ranks,
                  .crosses = dpi_alloc(p->n_steps, sizeof *r.crosses),
                  .in = dpi_alloc(most_inputs(p), sizeof *r.in),
                  .mutex = PTHREAD_MUTEX_INITIALIZER,
                  .changed = PTHREAD_COND_INITIALIZER,
                  .value = dpi_alloc(p->n_values, sizeof *r.value),
                  .is_there = dpi_alloc(p->n_values, sizeof *r.is_there),
                  .uses = dpi_alloc(p->n_values, sizeof *r.uses)};
    uint64_t *at = dpi_alloc(p->n_values, sizeof *at);
    r.spare = dpi_alloc(longest(&r), 1);
    const dp_status status = run(&r, at, err);
    dpi_free(at);
    dpi_free(r.crosses);
    dpi_free(r.in);
    dpi_free(r.spare);
    dpi_free(r.value);
    dpi_free(r.is_there);
    dpi_free(r.uses);
    (void)pthread_cond_destroy(&r.changed);
    (void)pthread_mutex_destroy(&r.mutex);
    (void)MPI_Comm_free(&own);
    return status;
}
