/* Rounds with a clock of their own: what happens is a heap of moments at which something comes to a
 * task, or a host is through with one.
 *
 * A task is ready when everything before it is there: at once from its own host, after `push` from
 * another one of its party, after `way` from another party; letters and pushes do not wait for each
 * other.  A host that is free takes of its tasks that are ready the first: of the earlier round,
 * and there in the schedule's order.  Rounds overlap as far as that allows. */
#include "silo/schedule.h"

#include <math.h>

enum { NOBODY = UINT32_MAX };

typedef struct moment {
    double time;
    uint64_t turn; /* of two at one time the one that was put first */
    uint32_t what; /* round * tasks + task */
    bool through;  /* its host is, with it; else something has come to it */
} moment;

typedef struct clockwork {
    const dpi_silo_schedule *s;
    size_t rounds, n_heap;
    uint64_t turn;
    moment *heap;
    uint32_t *waits; /* [rounds][tasks] */
    uint32_t *after; /* [rounds][tasks] the next one that is ready at its host */
    uint32_t *ready; /* [parties][hosts] the first */
    bool *busy;      /* [parties][hosts] */
    double now;
    size_t done;
} clockwork;

static bool sooner(const moment *a, const moment *b)
{
    return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

static void push(clockwork *c, double time, uint32_t what, bool through)
{
    size_t at = c->n_heap++;
    const moment m = {time, c->turn++, what, through};
    for (; at > 0 && sooner(&m, &c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = m;
}

static moment pop(clockwork *c)
{
    const moment first = c->heap[0], last = c->heap[--c->n_heap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < c->n_heap; at = child) {
        child += child + 1 < c->n_heap && sooner(&c->heap[child + 1], &c->heap[child]);
        if (!sooner(&c->heap[child], &last))
            break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
    return first;
}

static const dpi_silo_task *task_of(const clockwork *c, uint32_t what)
{
    return &c->s->tasks[what % c->s->n];
}

static size_t host_of(const clockwork *c, const dpi_silo_task *t)
{
    return t->party * c->s->hosts + t->host;
}

static bool is_first(const clockwork *c, uint32_t a, uint32_t b)
{
    const uint32_t n = (uint32_t)c->s->n;
    if (a / n != b / n)
        return a / n < b / n;
    return dpi_silo_task_first(task_of(c, a), task_of(c, b), c->s->order);
}

/* A free host takes the first of its tasks that are ready. */
static void take(clockwork *c, size_t host)
{
    uint32_t *best = &c->ready[host];
    if (c->busy[host] || *best == NOBODY)
        return;
    for (uint32_t *at = best; *at != NOBODY; at = &c->after[*at])
        if (is_first(c, *at, *best))
            best = at;
    const uint32_t what = *best;
    *best = c->after[what];
    c->busy[host] = true;
    push(c, c->now + task_of(c, what)->length, what, true);
}

static void come(clockwork *c, uint32_t what)
{
    const size_t host = host_of(c, task_of(c, what));
    if (--c->waits[what] > 0)
        return;
    c->after[what] = c->ready[host];
    c->ready[host] = what;
}

static void tell(clockwork *c, const dpi_silo_task *from, uint32_t what)
{
    const dpi_silo_task *to = task_of(c, what);
    const double later = to->party != from->party ? c->s->costs.way
                         : to->host != from->host ? c->s->costs.push
                                                  : 0;
    push(c, c->now + later, what, false);
}

static void end(clockwork *c, uint32_t what)
{
    const uint32_t n = (uint32_t)c->s->n, round = what / n;
    const dpi_silo_task *t = task_of(c, what);
    const size_t host = host_of(c, t);
    for (size_t k = 0; k < t->n_next; k++)
        tell(c, t, round * n + t->next[k]);
    for (uint32_t k = c->s->party[t->party]; t->ends && k < c->s->party[t->party + 1]; k++)
        if (c->s->tasks[k].asks && round + 1 < c->rounds)
            tell(c, t, (round + 1) * n + k);
    c->done++;
    c->busy[host] = false;
}

/* What each task waits for; those that wait for nothing come at once. */
static void begin(clockwork *c)
{
    const dpi_silo_schedule *s = c->s;
    for (size_t p = 0; p < s->parties; p++) {
        uint32_t ends = 0;
        for (uint32_t t = s->party[p]; t < s->party[p + 1]; t++)
            ends += s->tasks[t].ends;
        for (size_t r = 0; r < c->rounds; r++)
            for (uint32_t t = s->party[p]; t < s->party[p + 1]; t++) {
                const uint32_t what = (uint32_t)(r * s->n + t);
                c->waits[what] = s->tasks[t].waits + (r > 0 && s->tasks[t].asks ? ends : 0);
                if (c->waits[what] > 0)
                    continue;
                c->waits[what] = 1;
                push(c, 0, what, false);
            }
    }
}

/* All that is at the next moment, so that hosts choose among all that is ready then. */
static void happen(clockwork *c)
{
    c->now = c->heap[0].time;
    while (c->n_heap > 0 && c->heap[0].time == c->now) {
        const moment m = pop(c);
        if (m.through)
            end(c, m.what);
        else
            come(c, m.what);
    }
}

double dpi_silo_schedule_run(const dpi_silo_schedule *s, size_t rounds)
{
    dpi_arena arena = {NULL};
    const size_t all = rounds * s->n, places = s->parties * s->hosts;
    size_t edges = all;
    for (size_t t = 0; t < s->n; t++)
        edges += rounds * (s->tasks[t].n_next + (s->tasks[t].ends ? s->n : 0) + 1);
    clockwork c = {.s = s,
                   .rounds = rounds,
                   .heap = dpi_arena_alloc(&arena, edges, sizeof *c.heap),
                   .waits = dpi_arena_alloc(&arena, all, sizeof *c.waits),
                   .after = dpi_arena_alloc(&arena, all, sizeof *c.after),
                   .ready = dpi_arena_alloc(&arena, places, sizeof *c.ready),
                   .busy = dpi_arena_alloc(&arena, places, sizeof *c.busy)};
    const bool room = c.heap != NULL && c.waits != NULL && c.after != NULL && c.ready != NULL &&
                      c.busy != NULL && all < NOBODY;
    for (size_t h = 0; room && h < places; h++)
        c.ready[h] = NOBODY;
    if (room)
        begin(&c);
    while (room && c.n_heap > 0) {
        happen(&c);
        for (size_t h = 0; h < places; h++)
            take(&c, h);
    }
    dpi_arena_free(&arena);
    return room && c.done == all ? c.now : NAN;
}
