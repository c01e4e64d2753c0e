#include "serve/stream.h"

#include <string.h>

#include "base/error.h"
#include "serve/allot.h"
#include "wire/both.h"

enum { MOST_THREADS = 4096 };

/* ---- the order ---- */

/* Whether the lane has a query in that turn, and which layer of it. */
static bool place(const dpi_stream_shape *shape, dpi_stream_item *i)
{
    uint64_t begins = i->lane * shape->layers / shape->in_flight;
    if (i->turn < begins)
        return false;
    i->query = (i->turn - begins) / shape->layers * shape->in_flight + i->lane;
    i->layer = (size_t)((i->turn - begins) % shape->layers);
    return i->query < shape->queries;
}

static void advance(const dpi_stream_shape *shape, dpi_stream_item *i)
{
    i->lane = (i->lane + 1) % shape->in_flight;
    i->turn += i->lane == 0;
}

bool dpi_stream_fits(const dpi_stream_shape *shape, size_t most)
{
    most = most < DPI_LINE_LANES ? most : DPI_LINE_LANES;
    return shape->queries > 0 && shape->queries <= UINT32_MAX && shape->in_flight > 0 &&
           shape->in_flight <= most && shape->in_flight <= shape->queries &&
           (shape->in_flight > 1 || shape->queries == 1);
}

dpi_stream_item dpi_stream_first(const dpi_stream_shape *shape)
{
    return (dpi_stream_item){.left = shape->queries * shape->layers};
}

void dpi_stream_next(const dpi_stream_shape *shape, dpi_stream_item *item)
{
    if (item->left == 0 || --item->left == 0)
        return;
    do
        advance(shape, item);
    while (!place(shape, item));
}

/* ---- moving ---- */

typedef struct stream_run {
    const dpi_stream_side *side;
    dpi_wire_both both;
    dpi_stream_item out, in;
    bool open[2];              /* out, in: the go before this item has moved */
    bool here[DPI_LINE_LANES]; /* a lane that waits for a message */
    bool refused;
    unsigned char go, gone;
} stream_run;

/* Whether a go comes before the item, in a direction of the provider's messages. */
static bool needs_go(const stream_run *r, bool outward, const dpi_stream_item *i)
{
    return outward != r->side->asks && i->layer == 0 && !r->open[!outward];
}

static dp_status begin_out(stream_run *r)
{
    const dpi_stream_side *s = r->side;
    const dpi_stream_item *i = &r->out;
    if (i->left == 0 || r->both.sends || r->here[i->lane] || !dpi_line_ready(s->line, i->lane))
        return DP_OK;
    if (needs_go(r, true, i)) {
        dpi_refusal why = s->refused(s->user, i->lane);
        r->refused = why != DPI_REFUSED_NOTHING;
        return r->refused ? dpi_wire_both_refuse(&r->both, why, s->timeout)
                          : dpi_wire_both_send(&r->both, DPI_SAY_GO, 0, &r->go, DPI_QUERY_BYTES);
    }
    const unsigned char *bytes = s->asks ? s->up[i->lane] : s->down[i->lane];
    return dpi_wire_both_send(&r->both, s->asks ? DPI_SAY_UP : DPI_SAY_DOWN, (uint32_t)i->layer + 1,
                              bytes, s->asks ? s->cost->up[i->layer] : s->cost->down[i->layer]);
}

static dp_status begin_in(stream_run *r)
{
    const dpi_stream_side *s = r->side;
    const dpi_stream_item *i = &r->in;
    if (i->left == 0 || r->both.receives || !r->here[i->lane])
        return DP_OK;
    if (needs_go(r, false, i))
        return dpi_wire_both_receive(&r->both, DPI_SAY_GO, 0, &r->gone, DPI_QUERY_BYTES);
    unsigned char *bytes = s->asks ? s->down[i->lane] : s->up[i->lane];
    return dpi_wire_both_receive(&r->both, s->asks ? DPI_SAY_DOWN : DPI_SAY_UP,
                                 (uint32_t)i->layer + 1, bytes,
                                 s->asks ? s->cost->down[i->layer] : s->cost->up[i->layer]);
}

/* A frame out has been sent. */
static dp_status end_out(stream_run *r, dp_error *err)
{
    const dpi_stream_side *s = r->side;
    if (needs_go(r, true, &r->out)) {
        r->open[0] = true;
        return DP_OK;
    }
    size_t lane = r->out.lane;
    bool last = r->out.layer + 1 == s->shape.layers;
    r->open[0] = false;
    r->here[lane] = true;
    dpi_stream_next(&s->shape, &r->out);
    return last && s->ended != NULL ? s->ended(s->user, lane, err) : DP_OK;
}

/* A frame in has come: its lane goes to the stage that works on it. */
static void end_in(stream_run *r)
{
    const dpi_stream_side *s = r->side;
    if (needs_go(r, false, &r->in)) {
        r->open[1] = true;
        return;
    }
    r->open[1] = false;
    r->here[r->in.lane] = false;
    dpi_line_put(s->line, s->asks ? r->in.layer + 1 : r->in.layer, r->in.lane);
    dpi_stream_next(&s->shape, &r->in);
}

/* While there is work of our own the other side owes nothing that we could wait for too long. */
static dp_status go_on(stream_run *r, dp_error *err)
{
    const dpi_stream_side *s = r->side;
    dp_status status = dpi_line_status(s->line, err);
    if (status != DP_OK)
        return status;
    status = begin_out(r);
    if (status == DP_OK && !r->refused)
        status = begin_in(r);
    if (status == DP_OK && !r->refused)
        status = dpi_wire_both_wait(&r->both, dpi_line_works(s->line) ? UINT32_MAX : s->timeout);
    if (status != DP_OK)
        return dpi_serve_fail(s->wire, status, err);
    dpi_line_heard(s->line);
    if (r->both.received)
        end_in(r);
    return r->both.sent ? end_out(r, err) : DP_OK;
}

dp_status dpi_stream_run(const dpi_stream_side *side, dp_error *err)
{
    stream_run r = {.side = side,
                    .both = {.session = side->wire, .wake = dpi_line_wake(side->line)},
                    .out = dpi_stream_first(&side->shape),
                    .in = dpi_stream_first(&side->shape),
                    .go = 1};
    for (size_t k = 0; k < side->shape.in_flight; k++)
        r.here[k] = !side->asks;
    dp_status status = DP_OK;
    while (status == DP_OK && !r.refused &&
           (r.out.left > 0 || r.in.left > 0 || dpi_line_works(side->line)))
        status = go_on(&r, err);
    if (status == DP_OK)
        status = dpi_line_status(side->line, err);
    dpi_wire_both_end(&r.both);
    return status;
}

/* ---- threads ---- */

void dpi_stream_profile_start(dpi_stream_profile *p, size_t stages)
{
    memset(p, 0, sizeof *p);
    p->stages = stages;
    (void)pthread_mutex_init(&p->lock, NULL); /* with default attributes it cannot fail */
}

void dpi_stream_profile_end(dpi_stream_profile *p)
{
    if (p->stages > 0)
        (void)pthread_mutex_destroy(&p->lock);
}

void dpi_stream_profile_add(dpi_stream_profile *p, dpi_line *line)
{
    (void)pthread_mutex_lock(&p->lock);
    for (size_t k = 0; k < p->stages; k++) {
        double seconds;
        size_t lanes;
        dpi_line_done(line, k, &seconds, &lanes);
        p->seconds[k] += seconds;
        p->lanes[k] += lanes;
    }
    (void)pthread_mutex_unlock(&p->lock);
}

/* Seconds of each stage, or the same for all. */
static void times_of(dpi_stream_profile *p, bool even, double *time)
{
    (void)pthread_mutex_lock(&p->lock);
    for (size_t k = 0; k < p->stages; k++)
        even = even || p->lanes[k] == 0;
    for (size_t k = 0; k < p->stages; k++)
        time[k] = even ? 1 : p->seconds[k] / (double)p->lanes[k];
    (void)pthread_mutex_unlock(&p->lock);
}

dp_status dpi_stream_threads(dpi_stream_profile *p, size_t threads, bool even,
                             size_t each[DPI_LINE_STAGES], dp_error *err)
{
    double time[DPI_LINE_STAGES];
    dpi_allotment made;
    size_t room = threads < MOST_THREADS ? threads : MOST_THREADS;
    room = room > p->stages ? room : p->stages;
    times_of(p, even, time);
    const dpi_allot_task task = {.stages = p->stages, .time = time, .hosts = 1, .room = &room};
    dp_status status = dpi_allot(&task, &made, err);
    if (status == DP_OK)
        memcpy(each, made.threads, p->stages * sizeof *each);
    return status;
}
