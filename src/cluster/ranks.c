/* The caller's thread moves messages, since MPI moves long ones only while it is called, and a thread
 * of its own computes.  From one rank to another messages keep the plan's order, so that they need no
 * other name.  In place of a value that was not made an empty message goes: nobody waits for ever. */
#include "cluster/ranks.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

enum { NAP = 20000 /* ns between looks at messages: shorter than a socket fills in */ };

typedef struct rank_run {
    const dpi_plan_job *job;
    MPI_Comm comm;
    size_t rank, ranks;
    bool *crosses;         /* [n_steps] messages between ranks, of a value that the other has not */
    const void **in;       /* [most inputs] of the one step that is computed */
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
    r->value[value] = bytes;
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
    const dpi_card_kind *kind = &r->job->kind;
    dp_error err = {0};
    void *out = dpi_alloc(bytes_of(r, s->out), 1);
    const dp_status status = out == NULL
                                 ? dpi_fail_nomem(&err)
                                 : kind->compute(kind->self, 0, r->job->p, s, r->in, out, &err);
    if (status == DP_OK)
        return out;
    dpi_free(out);
    fail(r, &err);
    return NULL;
}

static void *compute_all(void *user)
{
    rank_run *r = user;
    const dpi_plan *p = r->job->p;
    for (size_t k = 0; k < p->n_steps; k++) {
        const dpi_step *s = &p->step[k];
        if (s->op == DPI_OP_MESSAGE || !is_own(r, s->card))
            continue;
        put(r, s->out, take_inputs(r, s) ? make(r, s) : NULL);
        for (uint32_t i = 0; i < s->n_in; i++)
            use(r, p->in[s->in + i]);
    }
    return NULL;
}

/* ---- messages ---- */

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

static void end_receiving(rank_run *r, rank_line *l, uint32_t value, bool good, const MPI_Status *status)
{
    const dp_error none = {.status = DP_ENOMEM, .text = "no memory for what another rank has sent"};
    int count = 0;
    (void)MPI_Get_count(status, MPI_BYTE, &count);
    if (l->to == NULL)
        fail(r, &none);
    if (!good || count == 0) {
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
    const dp_error broken = {.status = DP_EIO, .text = "MPI could not send what a plan has made"};
    const uint32_t value = r->job->p->step[l->next].out;
    const bool good = MPI_Test(&l->request, &done, &status) == MPI_SUCCESS;
    if (good && !done)
        return false;
    if (!l->sends)
        end_receiving(r, l, value, good, &status);
    else if (!good)
        fail(r, &broken);
    if (l->sends)
        use(r, value);
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

/* Without a thread nothing is made, and others are told so. */
static void compute_none(rank_run *r)
{
    const dpi_plan *p = r->job->p;
    const dp_error none = {.status = DP_ENOMEM, .text = "no thread that computes a plan's steps"};
    fail(r, &none);
    for (size_t k = 0; k < p->n_steps; k++)
        if (p->step[k].op != DPI_OP_MESSAGE && is_own(r, p->step[k].card))
            put(r, p->step[k].out, NULL);
}

static dp_status run(rank_run *r, uint64_t *at, dp_error *err)
{
    pthread_t thread;
    prepare(r, at);
    const bool runs = pthread_create(&thread, NULL, compute_all, r) == 0;
    if (!runs)
        compute_none(r);
    move_all(r);
    if (runs)
        (void)pthread_join(thread, NULL);
    return finish(r, err);
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
           r->uses != NULL && at != NULL;
}

static void check(const rank_run *r)
{
    const dpi_plan *p = r->job->p;
    if (p->status != DP_OK || p->value[r->job->result].home != 0 ||
        r->job->input[r->job->result] != NULL)
        dpi_misuse(__func__, "the plan has failed, or its result is not one of card 0");
    for (size_t v = 0; v < p->n_values; v++)
        if (bytes_of(r, (uint32_t)v) > INT_MAX)
            dpi_misuse(__func__, "a value is longer than a message of MPI");
}

dp_status dpi_run_ranks(const dpi_plan_job *job, MPI_Comm comm, dp_error *err)
{
    const dpi_plan *p = job->p;
    int rank = 0, ranks = 1;
    MPI_Comm own;
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
    const bool room = has_room(&r, at);
    check(&r);
    dp_status status = room ? DP_OK : dpi_fail_nomem(err);
    if (of_any(&r, !room) && room)
        status = dpi_fail(err, DP_EPEER, "another rank has no memory for the plan");
    if (status == DP_OK)
        status = run(&r, at, err);
    dpi_free(at);
    dpi_free(r.crosses);
    dpi_free(r.in);
    dpi_free(r.value);
    dpi_free(r.is_there);
    dpi_free(r.uses);
    (void)pthread_cond_destroy(&r.changed);
    (void)pthread_mutex_destroy(&r.mutex);
    (void)MPI_Comm_free(&own);
    return status;
}
