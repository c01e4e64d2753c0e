/* Stages on hosts: bin packing by dynamic programming over sets of stages.
 *
 * Hosts are filled one after the other.  For each set of stages, and each kind that the last one of
 * them has, the best state is the one that has come to the first host, with the least used of it:
 * whatever follows another state of the same set can follow this one too.  So one state a set and
 * kind is enough, and the answer is exact.  Cost: 2 n 2^n steps. */
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "serve/allot.h"

static const uint32_t nowhere = UINT32_MAX;

typedef struct packed {
    uint32_t host, used;
    unsigned char last, from; /* the stage that came last, and the kind before it */
} packed;

static bool sooner(const packed *a, const packed *b)
{
    return a->host < b->host || (a->host == b->host && a->used < b->used);
}

static unsigned kind_of(const dpi_allot_task *task, size_t stage)
{
    return task->kind != NULL ? task->kind[stage] : 0;
}

/* What becomes of a state when a stage is added, at the first place where it fits. */
static packed add(const dpi_allot_task *task, const packed *p, unsigned kind, size_t stage,
                  size_t threads)
{
    packed next = {.host = p->host,
                   .used = p->used + (uint32_t)threads,
                   .last = (unsigned char)stage,
                   .from = (unsigned char)kind};
    bool same = p->used == 0 || kind_of(task, stage) == kind;
    if (same && next.used <= task->room[p->host])
        return next;
    next.used = (uint32_t)threads;
    do
        next.host++;
    while (next.host < task->hosts && task->room[next.host] < threads);
    if (next.host == task->hosts)
        next.host = nowhere;
    return next;
}

static void fill(const dpi_allot_task *task, const size_t *threads, packed *best)
{
    size_t sets = (size_t)1 << task->stages;
    for (size_t i = 0; i < 2 * sets; i++)
        best[i].host = nowhere;
    best[0] = best[1] = (packed){0};
    for (size_t i = 0; i < 2 * sets; i++)
        for (size_t s = 0; best[i].host != nowhere && s < task->stages; s++) {
            if ((i / 2 >> s & 1) != 0)
                continue;
            packed next = add(task, &best[i], i % 2, s, threads[s]);
            packed *to = &best[2 * (i / 2 | (size_t)1 << s) + kind_of(task, s)];
            if (next.host != nowhere && (to->host == nowhere || sooner(&next, to)))
                *to = next;
        }
}

/* All stages on the one host. */
static bool fits_one(const dpi_allot_task *task, const size_t *threads, size_t *host)
{
    size_t sum = 0;
    bool alike = true;
    for (size_t s = 0; s < task->stages; s++) {
        sum += threads[s];
        alike = alike && kind_of(task, s) == kind_of(task, 0);
        host[s] = 0;
    }
    return alike && sum <= task->room[0];
}

dp_status dpi_allot_pack(const dpi_allot_task *task, const size_t *threads, size_t *host,
                         bool *fits, dp_error *err)
{
    *fits = false;
    if (task->hosts == 1) {
        *fits = fits_one(task, threads, host);
        return DP_OK;
    }
    size_t set = ((size_t)1 << task->stages) - 1;
    packed *best = dpi_alloc(2 * (set + 1), sizeof *best);
    if (best == NULL)
        return dpi_fail_nomem(err);
    fill(task, threads, best);
    unsigned kind = best[2 * set].host == nowhere;
    *fits = best[2 * set + kind].host != nowhere;
    while (*fits && set != 0) {
        const packed *p = &best[2 * set + kind];
        host[p->last] = p->host;
        set &= ~((size_t)1 << p->last);
        kind = p->from;
    }
    dpi_free(best);
    return DP_OK;
}
