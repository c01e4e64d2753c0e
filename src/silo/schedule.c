/* From parts to tasks.
 *
 * Every step of a round is a vertex, and the step over records one for each block.  A vertex comes
 * behind those that have made what it reads: at its own party, or for what is received at the
 * sender's.  In the order of a part each vertex of host 0 is behind the one before it, too.  A
 * vertex that reads what the round does not make waits for the round before to end.
 *
 * A queue has what is at work beside a block, and not what is before or behind it: a host that
 * waits for all blocks in order to go on is free while they are made.
 *
 * Contraction: a vertex joins the one before it where it has no other before it and that one has no
 * other behind it, both at one party and neither a block. */
#include "silo/schedule.h"

#include <string.h>

#include "base/error.h"

enum { MOST = 512, NONE = UINT16_MAX };

/* A step of a party, or of its first `block` blocks. */
typedef struct vertex {
    uint16_t party, step, before[MOST], n_before, n_behind;
    uint16_t task;   /* which it is in */
    uint16_t blocks; /* 0: it is none over records */
} vertex;

typedef struct schedule_builder {
    const dpi_silo_schedule_opts *o;
    dpi_silo_schedule *s;
    dpi_arena arena;
    vertex *v;
    size_t n;
} schedule_builder;

void dpi_silo_costs_learn(dpi_silo_costs *c, dpi_silo_step_kind kind, double seconds)
{
    c->step[kind] = c->seen[kind] ? (c->step[kind] + seconds) / 2 : seconds;
    c->seen[kind] = true;
}

static const dpi_silo_part *part_of(const schedule_builder *b, const vertex *v)
{
    return &b->o->parts[v->party];
}

static const dpi_silo_step *step_of(const schedule_builder *b, const vertex *v)
{
    return &part_of(b, v)->steps[v->step];
}

/* ---- vertices ---- */

static dp_status list_vertices(schedule_builder *b, dp_error *err)
{
    size_t most = 0;
    for (size_t k = 0; k < b->o->parties; k++)
        most += b->o->parts[k].n_steps;
    if (most >= NONE || (b->v = dpi_arena_alloc(&b->arena, most + 1, sizeof *b->v)) == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < b->o->parties; k++)
        for (size_t i = 0; i < b->o->parts[k].n_steps; i++) {
            const dpi_silo_step *step = &b->o->parts[k].steps[i];
            if (step->once)
                continue;
            b->v[b->n++] =
                (vertex){.party = (uint16_t)k,
                         .step = (uint16_t)i,
                         .blocks = step->kind == DPI_SILO_INQUIRE ? (uint16_t)b->o->blocks : 0};
        }
    return DP_OK;
}

static bool is_before(const vertex *v, size_t u)
{
    for (size_t k = 0; k < v->n_before; k++)
        if (v->before[k] == u)
            return true;
    return false;
}

static void add_edge(schedule_builder *b, size_t u, size_t v)
{
    if (u == v || b->v[v].n_before == MOST || is_before(&b->v[v], u))
        return;
    b->v[v].before[b->v[v].n_before++] = (uint16_t)u;
    b->v[u].n_behind++;
}

/* Behind all vertices of this party that make a register; what is sent is the party's own. */
static void add_makers(schedule_builder *b, size_t v, uint16_t reg)
{
    const bool own = step_of(b, &b->v[v])->kind == DPI_SILO_SEND;
    for (size_t u = 0; u < b->n; u++) {
        const dpi_silo_step *from = step_of(b, &b->v[u]);
        if (b->v[u].party == b->v[v].party && from->out == reg && from->kind != DPI_SILO_SEND &&
            !(own && from->kind == DPI_SILO_RECV))
            add_edge(b, u, v);
    }
}

/* Behind the sending of what a vertex receives. */
static void add_senders(schedule_builder *b, size_t v)
{
    const dpi_silo_step *to = step_of(b, &b->v[v]);
    const char *name = part_of(b, &b->v[v])->registers[to->out].name;
    for (size_t u = 0; u < b->n; u++) {
        const dpi_silo_step *from = step_of(b, &b->v[u]);
        if (from->kind == DPI_SILO_SEND && b->v[u].party == to->peer &&
            from->peer == b->v[v].party &&
            strcmp(part_of(b, &b->v[u])->registers[from->out].name, name) == 0)
            add_edge(b, u, v);
    }
}

static void add_edges(schedule_builder *b)
{
    for (size_t v = 0; v < b->n; v++) {
        const dpi_silo_step *step = step_of(b, &b->v[v]);
        if (step->kind == DPI_SILO_SEND)
            add_makers(b, v, step->out);
        else if (step->kind == DPI_SILO_RECV)
            add_senders(b, v);
        for (int a = 0; a < dpi_silo_step_args(step->kind) && step->kind != DPI_SILO_SEND; a++)
            add_makers(b, v, step->in[a]);
        if (b->o->order == DPI_SILO_IN_ORDER && v > 0 && b->v[v - 1].party == b->v[v].party)
            add_edge(b, v - 1, v);
    }
}

/* ---- tasks ---- */

static bool is_alone(const schedule_builder *b, const vertex *v)
{
    const vertex *u = v->n_before == 1 ? &b->v[v->before[0]] : NULL;
    return u == NULL || u->party != v->party || u->n_behind != 1 || u->blocks > 0 || v->blocks > 0;
}

/* Whether a step reads what the round does not make. */
static bool asks(const schedule_builder *b, const vertex *v)
{
    const dpi_silo_step *step = step_of(b, v);
    bool all = step->kind == DPI_SILO_SEND || step->kind == DPI_SILO_RECV;
    for (int a = 0; a < dpi_silo_step_args(step->kind) && !all; a++) {
        bool made = false;
        for (size_t u = 0; u < b->n && !made; u++)
            made = b->v[u].party == v->party && step_of(b, &b->v[u])->out == step->in[a];
        if (!made)
            return true;
    }
    return false;
}

static double length_of(const schedule_builder *b, const vertex *v)
{
    const dpi_silo_costs *c = &b->o->costs;
    const dpi_silo_step_kind kind = step_of(b, v)->kind;
    return kind == DPI_SILO_ISUM ? c->step[kind] * (double)(b->o->hosts - 1) : c->step[kind];
}

/* Puts a vertex into its task, which is new where it is alone. */
static void put(schedule_builder *b, size_t v)
{
    vertex *at = &b->v[v];
    const dpi_silo_step_kind kind = step_of(b, at)->kind;
    const size_t n = at->blocks > 0 ? at->blocks : 1;
    at->task = is_alone(b, at) ? (uint16_t)b->s->n : b->v[at->before[0]].task;
    if (is_alone(b, at)) {
        for (size_t k = 0; k < n; k++)
            b->s->tasks[b->s->n++] = (dpi_silo_task){.party = at->party, .first = at->step};
    }
    for (size_t k = 0; k < n; k++) {
        dpi_silo_task *t = &b->s->tasks[at->task + k];
        t->steps++;
        t->asks |= asks(b, at);
        t->ends |= kind == DPI_SILO_ADVANCE || kind == DPI_SILO_RETAIN;
        t->records = at->blocks > 0 ? b->o->records * (k + 1) / n - b->o->records * k / n : 0;
        t->length += length_of(b, at) * (at->blocks > 0 ? (double)t->records : 1);
    }
}

/* The tasks of u, all blocks of it, come before those of v. */
static dp_status link_tasks(schedule_builder *b, const vertex *u, const vertex *v, dp_error *err)
{
    const size_t from = u->blocks > 0 ? u->blocks : 1, to = v->blocks > 0 ? v->blocks : 1;
    for (size_t i = 0; i < from && u->task != v->task; i++) {
        dpi_silo_task *t = &b->s->tasks[u->task + i];
        uint32_t *next = dpi_arena_alloc(&b->s->arena, t->n_next + to, sizeof *next);
        if (next == NULL)
            return dpi_fail_nomem(err);
        if (t->n_next > 0)
            memcpy(next, t->next, t->n_next * sizeof *next);
        t->next = next;
        for (size_t k = 0; k < to; k++) {
            t->next[t->n_next++] = (uint32_t)(v->task + k);
            b->s->tasks[v->task + k].waits++;
            t->outside += u->party != v->party;
        }
    }
    return DP_OK;
}

static dp_status make_tasks(schedule_builder *b, dp_error *err)
{
    const size_t most = b->n + b->o->parties * b->o->blocks;
    b->s->tasks = dpi_arena_alloc(&b->s->arena, most, sizeof *b->s->tasks);
    b->s->party = dpi_arena_alloc(&b->s->arena, b->o->parties + 1, sizeof *b->s->party);
    if (b->s->tasks == NULL || b->s->party == NULL)
        return dpi_fail_nomem(err);
    for (size_t v = 0; v < b->n; v++) {
        put(b, v);
        b->s->party[b->v[v].party + 1] = (uint32_t)b->s->n;
    }
    dp_status status = DP_OK;
    for (size_t v = 0; v < b->n; v++)
        for (size_t k = 0; k < b->v[v].n_before && status == DP_OK; k++)
            status = link_tasks(b, &b->v[b->v[v].before[k]], &b->v[v], err);
    return status;
}

/* ---- binding ---- */

bool dpi_silo_task_first(const dpi_silo_task *a, const dpi_silo_task *b, dpi_silo_order order)
{
    if (order == DPI_SILO_BY_PRIORITY && a->outside != b->outside)
        return a->outside > b->outside;
    if (order == DPI_SILO_BY_PRIORITY && a->length != b->length)
        return a->length < b->length;
    return a < b;
}

/* The tasks of a party that are not bound, of which the first by priority is next. */
static dpi_silo_task *next_of(dpi_silo_schedule *s, size_t party, const bool *bound)
{
    dpi_silo_task *found = NULL;
    for (uint32_t t = s->party[party]; t < s->party[party + 1]; t++)
        if (!bound[t] &&
            (found == NULL || dpi_silo_task_first(&s->tasks[t], found, DPI_SILO_BY_PRIORITY)))
            found = &s->tasks[t];
    return found;
}

/* Marks all that is behind a task. */
static void mark_behind(const dpi_silo_schedule *s, const dpi_silo_task *t, bool *marked)
{
    for (size_t k = 0; k < t->n_next; k++)
        if (!marked[t->next[k]]) {
            marked[t->next[k]] = true;
            mark_behind(s, &s->tasks[t->next[k]], marked);
        }
}

/* Whether two tasks can be at work at the same time: neither is behind the other.  marked[n] is
 * what is behind b. */
static bool are_beside(const dpi_silo_schedule *s, const dpi_silo_task *a, const dpi_silo_task *b,
                       const bool *marked, bool *room)
{
    memset(room, 0, s->n * sizeof *room);
    mark_behind(s, a, room);
    return !marked[a - s->tasks] && !room[b - s->tasks];
}

/* What host 0 has to do while a party's blocks are at work, which no other host can. */
static double beside_blocks(const dpi_silo_schedule *s, size_t party, bool *marked)
{
    const dpi_silo_task *block = &s->tasks[s->party[party]], *end = &s->tasks[s->party[party + 1]];
    double length = 0;
    while (block < end && block->records == 0)
        block++;
    if (block == end)
        return 0;
    memset(marked, 0, s->n * sizeof *marked);
    mark_behind(s, block, marked);
    for (const dpi_silo_task *t = &s->tasks[s->party[party]]; t < end; t++)
        if (t->records == 0 && are_beside(s, t, block, marked, marked + s->n))
            length += t->length;
    return length;
}

static dp_status bind(dpi_silo_schedule *s, size_t party, dp_error *err)
{
    bool *bound = dpi_alloc(3 * s->n, sizeof *bound);
    double *queue = dpi_alloc(s->hosts, sizeof *queue);
    dp_status status = bound != NULL && queue != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK)
        queue[0] = beside_blocks(s, party, bound + s->n);
    for (uint32_t t = s->party[party]; status == DP_OK && t < s->party[party + 1]; t++)
        bound[t] = s->tasks[t].records == 0;
    for (dpi_silo_task *t; status == DP_OK && (t = next_of(s, party, bound)) != NULL;) {
        for (uint16_t h = 1; h < s->hosts; h++)
            t->host = queue[h] < queue[t->host] ? h : t->host;
        queue[t->host] += t->length;
        bound[t - s->tasks] = true;
    }
    dpi_free(bound);
    dpi_free(queue);
    return status;
}

dp_status dpi_silo_schedule_new(const dpi_silo_schedule_opts *o, dpi_silo_schedule **out,
                                dp_error *err)
{
    *out = NULL;
    if (o->parties < 1 || o->hosts < 1 || o->blocks < o->hosts || o->blocks > 4096)
        return dpi_fail(err, DP_EINVAL,
                        "%zu parties of %zu hosts, who have %zu blocks of records; there must be a "
                        "block for each host, and 4096 at most",
                        o->parties, o->hosts, o->blocks);
    dpi_silo_schedule *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return dpi_fail_nomem(err);
    s->parties = o->parties;
    s->hosts = o->hosts;
    s->order = o->order;
    s->costs = o->costs;
    schedule_builder b = {.o = o, .s = s};
    dp_status status = list_vertices(&b, err);
    if (status == DP_OK) {
        add_edges(&b);
        status = make_tasks(&b, err);
    }
    for (size_t k = 0; k < o->parties && status == DP_OK; k++)
        status = bind(s, k, err);
    dpi_arena_free(&b.arena);
    if (status == DP_OK)
        *out = s;
    else
        dpi_silo_schedule_free(s);
    return status;
}

void dpi_silo_schedule_free(dpi_silo_schedule *s)
{
    if (s == NULL)
        return;
    dpi_arena_free(&s->arena);
    dpi_free(s);
}

uint64_t dpi_silo_schedule_records(const dpi_silo_schedule *s, size_t party, size_t host)
{
    uint64_t records = 0;
    for (uint32_t t = s->party[party]; t < s->party[party + 1]; t++)
        records += s->tasks[t].host == host ? s->tasks[t].records : 0;
    return records;
}
