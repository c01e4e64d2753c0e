/* Ends of steps, one by one. */
#include "cluster/simulate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

typedef struct passage {
    const dpi_plan *p;
    const dpi_costs *costs;
    dpi_times *times;
    double *ready; /* [values][cards] when a card has a value */
    double free[DPI_PLAN_CARDS];
    double out[DPI_PLAN_CARDS], in[DPI_PLAN_CARDS];   /* when a card's ways are free */
    double up[DPI_PLAN_CARDS], down[DPI_PLAN_CARDS];  /* to and from its host */
    double sent[DPI_PLAN_CARDS], got[DPI_PLAN_CARDS]; /* seconds that ways are taken */
    double begun; /* before which nothing of this stage begins */
    uint32_t stage;
} passage;

static double factor(const dpi_costs *costs, uint32_t level)
{
    return fmax(1 - costs->falling * level, 0);
}

double dpi_step_seconds(const dpi_step *s, const dpi_costs *costs)
{
    double seconds = 0;
    for (size_t k = 0; k < DPI_COUNTS; k++)
        seconds += s->count[k] * costs->operation[k];
    return seconds * factor(costs, s->level) + s->seconds;
}

static double *ready_at(const passage *m, uint32_t value, uint32_t card)
{
    return &m->ready[value * m->p->cards + card];
}

static double over(double bytes, double bandwidth)
{
    return bandwidth > 0 ? bytes / bandwidth : 0;
}

static void compute(passage *m, const dpi_step *s)
{
    double begin = fmax(m->free[s->card], m->begun);
    const double seconds = dpi_step_seconds(s, m->costs);
    for (uint32_t k = 0; k < s->n_in; k++)
        begin = fmax(begin, *ready_at(m, m->p->in[s->in + k], s->card));
    m->free[s->card] = *ready_at(m, s->out, s->card) = begin + seconds;
    m->times->busy[s->card] += seconds;
}

/* Over two ways that are both taken from when the first byte goes until the last has gone. */
static double hop(double begin, double seconds, double *from, double *to)
{
    begin = fmax(begin, fmax(*from, *to));
    *from = *to = begin + seconds;
    return begin + seconds;
}

/* How many steps from k on are one message, to several cards. */
static size_t copies(const passage *m, size_t k)
{
    const dpi_step *s = m->p->step;
    size_t n = 1;
    if (m->costs->copying && m->costs->route == DPI_ROUTE_SWITCH)
        while (k + n < m->p->n_steps && s[k + n].op == DPI_OP_MESSAGE && s[k + n].out == s[k].out &&
               s[k + n].card == s[k].card)
            n++;
    return n;
}

/* One message to n cards, of steps s[n]. */
static void copied(passage *m, size_t n, const dpi_step *s)
{
    const dpi_costs *c = m->costs;
    const double wire = over(c->bytes * factor(c, s->level), c->bandwidth);
    double begin = fmax(fmax(m->begun, *ready_at(m, s->out, s->card)), m->out[s->card]);
    for (size_t k = 0; k < n; k++)
        begin = fmax(begin, m->in[s[k].to]);
    m->out[s->card] = begin + wire;
    m->sent[s->card] += wire;
    for (size_t k = 0; k < n; k++) {
        m->in[s[k].to] = begin + wire;
        m->got[s[k].to] += wire;
        *ready_at(m, s->out, s[k].to) = begin + wire + c->latency;
    }
}

static void message(passage *m, const dpi_step *s)
{
    const dpi_costs *c = m->costs;
    const double bytes = c->bytes * factor(c, s->level), wire = over(bytes, c->bandwidth);
    const double begin = fmax(m->begun, *ready_at(m, s->out, s->card));
    double end, lane = 0, net = wire;
    if (c->route == DPI_ROUTE_SWITCH) {
        end = hop(begin, wire, &m->out[s->card], &m->in[s->to]) + c->latency;
    } else {
        const size_t from = s->card / c->per_host, to = s->to / c->per_host;
        lane = over(bytes, c->lane);
        net = from == to ? 0 : wire;
        end = hop(begin, lane, &m->up[s->card], &m->up[s->card]);
        if (from != to)
            end = hop(end, wire, &m->out[from], &m->in[to]) + c->latency;
        end = hop(end, lane, &m->down[s->to], &m->down[s->to]);
    }
    m->sent[s->card] += lane + net;
    m->got[s->to] += lane + net;
    *ready_at(m, s->out, s->to) = end;
}

static double end_of(const passage *m, const dpi_step *s)
{
    return *ready_at(m, s->out, s->op == DPI_OP_MESSAGE ? s->to : s->card);
}

dp_status dpi_simulate(const dpi_plan *p, const dpi_costs *costs, dpi_times *times, dp_error *err)
{
    passage m = {.p = p, .costs = costs, .times = times};
    memset(times, 0, sizeof *times);
    times->total = INFINITY;
    if (p->status != DP_OK)
        return dpi_fail(err, p->status, "the plan to be simulated was not made");
    if (costs->route == DPI_ROUTE_HOST && costs->per_host == 0)
        dpi_misuse(__func__, "hosts have cards");
    m.ready = dpi_alloc(p->n_values * p->cards + 1, sizeof *m.ready);
    if (m.ready == NULL)
        return dpi_fail_nomem(err);
    times->total = 0;
    for (size_t k = 0, n = 1; k < p->n_steps; k += n) {
        const dpi_step *s = &p->step[k];
        n = s->op == DPI_OP_MESSAGE ? copies(&m, k) : 1;
        if (costs->stagewise && s->stage != m.stage)
            m.begun = times->total;
        m.stage = s->stage;
        if (n > 1)
            copied(&m, n, s);
        else if (s->op == DPI_OP_MESSAGE)
            message(&m, s);
        else
            compute(&m, s);
        const double end = fmax(times->total, end_of(&m, s));
        times->stage[s->stage % DPI_STAGES] += end - times->total;
        times->total = end;
    }
    for (size_t i = 0; i < p->cards; i++)
        times->sending[i] = fmax(m.sent[i], m.got[i]);
    dpi_free(m.ready);
    return DP_OK;
}
