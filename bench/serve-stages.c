#include "serve-stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "serve/allot.h"

/* ---- timing ---- */

typedef struct whole_query {
    const dpi_serve_row *row;
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    dpi_mode mode;
    void *compiled, *session, *client;
    unsigned char *up, *down;
    int64_t *values, *room;
    uint32_t *order, *back, *next;
} whole_query;

static void *room_of(size_t n, size_t size)
{
    void *made = calloc(n, size);
    if (made == NULL)
        exit(1);
    return made;
}

static void begin(const loopback_kind *k, dp_serve_protocol protocol, const dp_program *p,
                  whole_query *q)
{
    dp_error err = {0};
    const dpi_serve_opts opts = {.key_bits = 2048};
    *q = (whole_query){.row = dpi_serve_rows[dpi_serve_protocol_of(protocol)],
                       .mode = dpi_serve_mode_of(k->mode)};
    loopback_must(dpi_serve_plan_make(p, q->mode, &q->plan, &err), &err);
    loopback_must(q->row->cost(&q->plan, q->mode, &opts, &q->cost, &err), &err);
    loopback_must(q->row->compile(&q->plan, q->mode, &opts, &q->compiled, &err), &err);
    loopback_must(q->row->client_new(&q->plan, q->mode, &opts, &q->client, &err), &err);
    unsigned char *key = room_of(q->cost.key, 1);
    q->row->write_key(q->client, key);
    loopback_must(q->row->open(q->compiled, key, &q->session, &err), &err);
    free(key);
    q->up = room_of(dpi_serve_largest(q->plan.n_layers, q->cost.up, q->cost.up), 1);
    q->down = room_of(dpi_serve_largest(q->plan.n_layers, q->cost.down, q->cost.down), 1);
    q->values = room_of(q->plan.most, sizeof *q->values);
    q->room = room_of(q->plan.most, sizeof *q->room);
    q->order = room_of(q->plan.most, sizeof *q->order);
    q->back = room_of(q->plan.most, sizeof *q->back);
    q->next = room_of(q->plan.most, sizeof *q->next);
}

static void end(whole_query *q)
{
    q->row->close(q->session);
    q->row->client_free(q->client);
    q->row->discard(q->compiled);
    free(q->up);
    free(q->down);
    free(q->values);
    free(q->room);
    free(q->order);
    free(q->back);
    free(q->next);
}

static void answer(whole_query *q, size_t k)
{
    dp_error err = {0};
    const dpi_serve_layer *layer = &q->plan.layer[k];
    if (layer->hidden)
        loopback_must(dpi_serve_order(&q->plan, layer, q->order, q->next, &err), &err);
    const dpi_serve_order_pair order = {.input = k > 0 ? q->back : NULL,
                                        .output = layer->hidden ? q->order : NULL};
    loopback_must(q->row->layer(q->session, k, &order, q->up, q->down, NULL, 1, &err), &err);
    uint32_t *kept = q->back;
    q->back = q->next;
    q->next = kept;
}

/* The client's stage behind layer k - 1, of which k = 0 has none. */
static void take(whole_query *q, size_t k, const double *x)
{
    dp_error err = {0};
    if (k == 0) {
        loopback_must(dp_program_encode(q->plan.p, 1, x, q->values, &err), &err);
        dpi_serve_run(q->plan.p, 1, q->plan.before, q->values, q->room);
    } else {
        const dpi_serve_layer *layer = &q->plan.layer[k - 1];
        loopback_must(q->row->decrypt(q->client, k - 1, q->down, q->values, NULL, 1, &err), &err);
        if (layer->hidden)
            dpi_serve_run_hidden(&q->plan, layer, q->values);
        else
            dpi_serve_run(q->plan.p, layer->first, layer->last, q->values, q->room);
    }
    if (k < q->plan.n_layers)
        loopback_must(q->row->encrypt(q->client, k, q->values, q->up, NULL, 1, &err), &err);
}

void time_stages(const loopback_kind *k, dp_serve_protocol protocol, size_t queries, stages *t)
{
    double x[784];
    dp_program *p = loopback_build(k, NULL);
    whole_query q;
    begin(k, protocol, p, &q);
    *t = (stages){.n = 2 * q.plan.n_layers + 1};
    for (size_t r = 0; r <= queries; r++) {
        for (size_t i = 0; i < 784; i++)
            x[i] = (double)((i + r) * 37 % 251) / 250;
        for (size_t s = 0; s < t->n; s++) {
            double start = bench_processor();
            if (s % 2 == 0)
                take(&q, s / 2, x);
            else
                answer(&q, s / 2);
            if (r > 0)
                t->seconds[s] += (bench_processor() - start) / (double)queries;
        }
    }
    end(&q);
    dp_program_free(p);
}

/* ---- simulating ---- */

/* All cores of a side work on one of its stages after the other: no pipeline but that of the two
 * sides.  Cores are split such that the slower side is fastest. */
static void share(const stages *t, size_t cores, simulated *r)
{
    double sum[2] = {0};
    for (size_t i = 0; i < t->n; i++)
        sum[i % 2] += t->seconds[i];
    r->between = INFINITY;
    for (size_t c = 1; c < cores; c++) {
        double client = sum[0] / (double)c, provider = sum[1] / (double)(cores - c);
        if (fmax(client, provider) >= r->between)
            continue;
        r->between = fmax(client, provider);
        r->alone = client + provider;
    }
    r->latency = 2 * r->between; /* two at a time */
    r->used = cores;
}

/* Each stage in its order, as soon as it is free, the query is through the one before it, and one
 * of the lanes is. */
static void run(size_t n, const double *time, simulated *r)
{
    enum { QUERIES = 400, WARM = 100 };
    static double done[QUERIES];
    double free_at[MOST_STAGES] = {0}, sum = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        double now = q >= n ? done[q - n] : 0, entered = now;
        for (size_t s = 0; s < n; s++) {
            now = fmax(now, free_at[s]) + time[s];
            free_at[s] = now;
        }
        done[q] = now;
        sum += q >= WARM ? now - entered : 0;
    }
    r->between = (done[QUERIES - 1] - done[WARM - 1]) / (QUERIES - WARM);
    r->latency = sum / (QUERIES - WARM);
}

static bool allot(const stages *t, size_t cores, stage_way way, size_t *threads)
{
    dpi_allotment made;
    dp_error err = {0};
    const dpi_allot_task task = {.stages = t->n, .time = t->seconds, .hosts = 1, .room = &cores};
    for (size_t i = 0; i < t->n; i++)
        threads[i] = cores / t->n + (i < cores % t->n);
    if (way == STAGE_ALIKE)
        return true;
    dp_status status =
        way == STAGE_SLOWEST ? dpi_allot(&task, &made, &err) : dpi_allot_even(&task, &made, &err);
    memcpy(threads, made.threads, t->n * sizeof *threads);
    return status == DP_OK;
}

bool simulate(const stages *t, size_t cores, stage_way way, simulated *r)
{
    double time[MOST_STAGES];
    size_t threads[MOST_STAGES] = {0}, n = t->n;
    *r = (simulated){0};
    for (size_t i = 0; i < t->n; i++)
        r->centralised += t->seconds[i];
    if (way == STAGE_SHARED) {
        share(t, cores, r);
        return true;
    }
    if (cores < t->n || !allot(t, cores, way, threads))
        return false;
    for (size_t i = 0; i < n; i++) {
        time[i] = t->seconds[i] / (double)threads[i];
        r->used += threads[i];
    }
    for (size_t i = 0; i < n; i++)
        r->alone += time[i];
    run(n, time, r);
    return true;
}
