#define _POSIX_C_SOURCE 200809L
#include "serve-parties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "far.h"
#include "options.h"
#include "serve/party-talk.h"
#include "share/run.h"
#include "tests/serve/daemons.h"

typedef struct work {
    const loopback_kind *kind;
    const serve_parties_opts *opts;
    const dp_program *program;
    daemons parties;
    far_machines far;      /* the last one is the client's and the provider's */
    double *x;             /* [records][inputs] */
    int64_t *y, *expected; /* [records][outputs] */
    double shared, opened, first;
    double time[SERVE_PARTIES_MOST];
    double of_client[SERVE_PARTIES_MOST], of_parties[SERVE_PARTIES_MOST];
    uint64_t up, down; /* of a query */
} work;

static void *block(size_t n, size_t size)
{
    void *at = calloc(n, size);
    if (at == NULL)
        bench_stop("bench/serve", "out of memory");
    return at;
}

/* ---- asking ---- */

/* Seconds of the processor that all parties have used. */
static double used(const daemons *d)
{
    double all = 0;
    for (size_t i = 0; i < d->opts.n; i++) {
        struct timespec t;
        clockid_t clock;
        if (clock_getcpuclockid(d->process[i], &clock) != 0 || clock_gettime(clock, &t) != 0)
            bench_stop("a party", "has no clock here");
        all += (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
    return all;
}

static void make_records(work *w)
{
    const size_t inputs = dp_program_inputs(w->program), records = w->opts->records;
    const size_t outputs = dp_program_outputs(w->program);
    int64_t *v = block(records * inputs, sizeof *v);
    dp_error err = {0};
    w->x = block(records * inputs, sizeof *w->x);
    w->y = block(records * outputs, sizeof *w->y);
    w->expected = block(records * outputs, sizeof *w->expected);
    for (size_t i = 0; i < records * inputs; i++)
        w->x[i] = (double)((i * 37 + i / inputs) % 256) / 255.0;
    loopback_must(dp_program_encode(w->program, records, w->x, v, &err), &err);
    loopback_must(dp_program_run_exact(w->program, records, v, w->expected, &err), &err);
    free(v);
}

static void ask_once(work *w, dp_ask *asked)
{
    const size_t numbers = w->opts->records * dp_program_outputs(w->program);
    dp_error err = {0};
    size_t answered;
    loopback_must(dp_ask_many(asked, w->opts->records, w->x, w->y, &answered, &err), &err);
    if (memcmp(w->y, w->expected, numbers * sizeof *w->y) != 0)
        bench_stop(w->kind->name, "an answer is not that of dp_program_run_exact");
}

static void ask(work *w)
{
    dp_error err = {0};
    dp_ask *asked;
    const dp_ask_parties_opts opts = {.identity = w->parties.client,
                                      .parties = w->parties.parties,
                                      .records = w->opts->records,
                                      .lanes = w->opts->lanes};
    double start = bench_now();
    loopback_must(dp_ask_parties_new(&opts, &asked, &err), &err);
    w->opened = bench_now() - start;
    start = bench_now();
    ask_once(w, asked);
    w->first = bench_now() - start;
    const dp_ask_traffic before = dp_ask_counts(asked);
    for (size_t r = 0; r < w->opts->queries; r++) {
        const double client_used = bench_processor(), parties_used = used(&w->parties);
        start = bench_now();
        ask_once(w, asked);
        w->time[r] = bench_now() - start;
        w->of_client[r] = bench_processor() - client_used;
        w->of_parties[r] = used(&w->parties) - parties_used;
    }
    const dp_ask_traffic after = dp_ask_counts(asked);
    w->up = (after.up - before.up) / w->opts->queries;
    w->down = (after.down - before.down) / w->opts->queries;
    dp_ask_free(asked);
}

/* ---- the line ---- */

/* What parties send each other, of all lanes, and the rounds of the longest. */
static double write_cost(const work *w)
{
    double bytes = 0, rounds = 0;
    dpi_ring ring = DPI_RING_64;
    for (size_t k = 0; k < w->opts->lanes; k++) {
        const size_t n = dpi_party_share_of(w->opts->records, w->opts->lanes, k);
        const dpi_share_opts o = {.batch = n};
        dpi_share_cost cost;
        dpi_share_plan *plan;
        dp_error err = {0};
        if (n == 0)
            continue;
        loopback_must(dpi_share_plan_new(w->program, &o, &plan, &err), &err);
        loopback_must(
            dpi_share_cost_of(plan, w->opts->parties == 3 ? &dpi_trio : &dpi_quad, n, &cost, &err),
            &err);
        ring = dpi_share_plan_ring(plan);
        for (size_t i = 0; i < DPI_SHARE_PARTIES; i++)
            for (size_t j = 0; j < DPI_SHARE_PARTIES; j++)
                bytes += (double)(cost.prepared[i][j] + cost.online[i][j]);
        rounds = (double)cost.rounds > rounds ? (double)cost.rounds : rounds;
        dpi_share_plan_free(plan);
    }
    bench_number("bytes_between", bytes);
    bench_number("rounds", rounds);
    bench_number("ring", dpi_ring_bits(ring));
    return rounds;
}

/* The time that a message is on its way, as often as one waits for the next: the client's query
 * and records, the dealer's first message; rounds, and two of a comparison; and what is told.  What
 * takes longer is work, and what TCP waits for. */
static void write_delay(const work *w, double rounds, double seconds)
{
    const double trips = 1 + 1 + rounds + (w->opts->parties == 4 ? 2 : 0) + 1;
    bench_number("delay", w->opts->delay);
    bench_number("trips", trips);
    bench_number("ms_beyond", 1e3 * seconds - trips * w->opts->delay);
}

static void write_line(work *w)
{
    const serve_parties_opts *o = w->opts;
    const double middle = bench_median(w->time, o->queries);
    (void)printf("{\"program\": \"%s\", \"protocol\": \"%s\", \"mode\": \"shared\", ",
                 w->kind->name, o->parties == 3 ? "trio" : "quad");
    bench_number("records", (double)o->records);
    bench_number("ms", 1e3 * middle);
    bench_number("ms_low", 1e3 * w->time[0]);
    bench_number("records_a_second", (double)o->records / middle);
    bench_number("ms_processor_client", 1e3 * bench_median(w->of_client, o->queries));
    bench_number("ms_processor_parties", 1e3 * bench_median(w->of_parties, o->queries));
    bench_number("ms_first", 1e3 * w->first);
    bench_number("ms_open", 1e3 * w->opened);
    bench_number("ms_share", 1e3 * w->shared);
    bench_number("bytes_up", (double)w->up);
    bench_number("bytes_down", (double)w->down);
    const double rounds = write_cost(w);
    if (o->delay > 0)
        write_delay(w, rounds, middle);
    bench_number("weight_bits", o->scale.weight_bits > 0 ? o->scale.weight_bits : 12);
    bench_number("activation_bits", o->scale.activation_bits > 0 ? o->scale.activation_bits : 16);
    bench_number("lanes", (double)o->lanes);
    bench_number("queries", (double)o->queries);
    bench_end_line();
}

static void enter(void *user, size_t i)
{
    far_enter(user, i);
}

/* Parties that have the program; the caller is where the client is. */
static void begin(work *w)
{
    daemons_opts opts = {.n = w->opts->parties,
                         .lanes = w->opts->lanes,
                         .records = w->opts->records,
                         .processes = true};
    dp_error err = {0};
    for (size_t i = 0; i < w->far.n && i < opts.n; i++)
        opts.host[i] = w->far.address[i];
    if (w->far.n > 0) {
        opts.enter = enter;
        opts.user = &w->far;
    }
    if (!daemons_start(&w->parties, &opts, &err)) {
        daemons_stop(&w->parties);
        bench_stop("the parties do not begin", err.text);
    }
    if (w->far.n > 0)
        far_enter(&w->far, opts.n);
    const double start = bench_now();
    loopback_must(daemons_share(&w->parties, w->program, &err), &err);
    w->shared = bench_now() - start;
}

static void end(work *w)
{
    daemons_stop(&w->parties);
    if (w->far.n > 0) {
        far_leave(&w->far);
        far_free(&w->far);
    }
    free(w->x);
    free(w->y);
    free(w->expected);
}

void serve_parties(const loopback_kind *k, const serve_parties_opts *o)
{
    work *w = block(1, sizeof *w);
    *w = (work){.kind = k, .opts = o};
    const char *why = o->delay > 0 ? far_new(&w->far, o->parties + 1, o->delay) : NULL;
    if (why != NULL) {
        (void)fprintf(stderr, "bench/serve: no delay, since %s\n", why);
        free(w);
        return;
    }
    dp_program *p = loopback_build(k, &o->scale);
    w->program = p;
    make_records(w);
    begin(w);
    ask(w);
    write_line(w);
    end(w);
    dp_program_free(p);
    free(w);
}
