/* Many queries at a time: what a pipeline gives on the cores that there are, and what its stages
 * would give on more.
 *   make bench/serve-stream && bench/serve-stream [--queries N] [--threads N] [--in-flight N]
 *     [--rounds N] [--program NAME] [--protocol NAME] [--profiles N] [--delay MS]
 * JSON lines.  "measured": both sides over loopback in processes of their own, queries without
 * pauses between them: one by one, so many at a time with threads alike, and with threads by what
 * stages take, in turn; with --delay each message comes so much later, as from far away;
 * milliseconds between answers, the median and the least of the rounds.
 * "stages": milliseconds that each stage takes of one thread, in order: the client encrypts, the
 * provider computes layer 1, the client decrypts, computes and encrypts, ...; the mean of
 * --profiles queries in one process. "simulated": an event simulation of such stages on 4 to 50
 * cores, which are not here: stages of T ms take T / y on y cores, each works on one query at a
 * time in the order of their coming, messages take no time. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"
#include "delay.h"
#include "loopback.h"
#include "options.h"
#include "serve-stages.h"

enum { MOST_QUERIES = 4096, MOST_ROUNDS = 100, INPUTS = 784, OUTPUTS = 16 };

typedef struct asking_how {
    uint64_t queries, in_flight;
    bool even;
    double delay; /* milliseconds each way */
} asking_how;

static const char *name_of(dp_serve_protocol protocol)
{
    return protocol == DP_SERVE_PAILLIER ? "he2-paillier" : "he2-lattice";
}

static dp_ask *open_session(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                            const char *port, const asking_how *how)
{
    dp_error err = {0};
    dp_ask *asked;
    const dp_ask_opts opts = {.identity = s->client,
                              .host = "127.0.0.1",
                              .port = port,
                              .provider = dp_identity_fingerprint(s->provider),
                              .protocol = protocol,
                              .mode = k->mode,
                              .flags = s->flags | (how->even ? DPI_EVEN_THREADS : 0),
                              .threads = s->threads,
                              .in_flight = how->in_flight,
                              .prepare_ms = UINT32_MAX};
    loopback_must(dp_ask_new(&opts, &asked, &err), &err);
    return asked;
}

/* One way of asking, with a provider of its own. */
typedef struct asked_way {
    asking_how how;
    pid_t provider, delay; /* 0: none */
    dp_ask *asked;
    double seconds[MOST_ROUNDS]; /* between answers */
} asked_way;

/* Answers are compared with those that come one by one. */
static double ask(asked_way *w)
{
    static double x[MOST_QUERIES * INPUTS];
    static int64_t y[MOST_QUERIES * OUTPUTS], first[OUTPUTS];
    dp_error err = {0};
    size_t answered, outputs = dp_program_outputs(dp_ask_program(w->asked));
    for (size_t i = 0; i < w->how.queries * INPUTS; i++)
        x[i] = (double)(i * 37 % 251) / 250;
    loopback_must(dp_ask_query(w->asked, x, first, &err), &err);
    double start = bench_now();
    loopback_must(dp_ask_many(w->asked, w->how.queries, x, y, &answered, &err), &err);
    double seconds = bench_now() - start;
    if (memcmp(y, first, outputs * sizeof *y) != 0)
        bench_stop("a stream", "has given another answer than a query");
    return seconds / (double)w->how.queries;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell_measured(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                          asked_way *w, size_t rounds)
{
    qsort(w->seconds, rounds, sizeof *w->seconds, ascending);
    (void)printf("{\"kind\": \"measured\", \"program\": \"%s\", \"protocol\": \"%s\", "
                 "\"threads_alike\": %s, ",
                 k->name, name_of(protocol), w->how.even ? "true" : "false");
    bench_number("in_flight", (double)w->how.in_flight);
    bench_number("queries", (double)w->how.queries);
    bench_number("rounds", (double)rounds);
    bench_number("queries_per_second", 1 / w->seconds[rounds / 2]);
    bench_number("ms_between_answers", 1e3 * w->seconds[rounds / 2]);
    bench_number("ms_between_answers_low", 1e3 * w->seconds[0]);
    bench_number("threads", (double)s->threads);
    bench_number("delay_ms", w->how.delay);
    bench_end_line();
    (void)fflush(stdout);
}

static void open_way(loopback *s, const loopback_kind *k, dp_serve_protocol protocol, asked_way *w)
{
    char port[16];
    int number = 0;
    unsigned flags = s->flags;
    s->flags |= w->how.even ? DPI_EVEN_THREADS : 0;
    w->provider = loopback_start(s, k, protocol, &number);
    s->flags = flags;
    if (w->how.delay > 0)
        w->delay = delay_start(number, w->how.delay, &number);
    (void)snprintf(port, sizeof port, "%d", number);
    w->asked = open_session(s, k, protocol, port, &w->how);
}

static void end_process(pid_t process)
{
    if (process == 0)
        return;
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
}

/* All ways in turn, so that other work of the machine meets them alike.  The first round is not
 * counted: it shows what stages take. */
static void measure(loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                    const asking_how *how, size_t rounds)
{
    enum { WAYS = 3 };
    asked_way w[WAYS] = {{.how = {how->queries, 1, false, how->delay}},
                         {.how = {how->queries, how->in_flight, true, how->delay}},
                         {.how = *how}};
    for (size_t i = 0; i < WAYS; i++)
        open_way(s, k, protocol, &w[i]);
    for (size_t r = 0; r <= rounds; r++)
        for (size_t i = 0; i < WAYS; i++) {
            double seconds = ask(&w[i]);
            if (r > 0)
                w[i].seconds[r - 1] = seconds;
        }
    for (size_t i = 0; i < WAYS; i++) {
        tell_measured(s, k, protocol, &w[i], rounds);
        dp_ask_free(w[i].asked);
        end_process(w[i].delay);
        end_process(w[i].provider);
    }
}

/* ---- stages ---- */

static void tell_stages(const loopback_kind *k, dp_serve_protocol protocol, const stages *t)
{
    (void)printf("{\"kind\": \"stages\", \"program\": \"%s\", \"protocol\": \"%s\", \"ms\": [",
                 k->name, name_of(protocol));
    for (size_t i = 0; i < t->n; i++)
        (void)printf("%s%.4g", i > 0 ? ", " : "", 1e3 * t->seconds[i]);
    (void)printf("], ");
    bench_end_line();
    (void)fflush(stdout);
}

static void tell_simulated(const loopback_kind *k, dp_serve_protocol protocol, const stages *t)
{
    static const size_t cores[] = {4, 8, 16, 25, 50};
    static const char *const names[] = {"alike", "least_slowest", "least_spread", "shared"};
    for (size_t c = 0; c < sizeof cores / sizeof *cores; c++)
        for (int way = 0; way < STAGE_WAYS; way++) {
            simulated r;
            if (!simulate(t, cores[c], (stage_way)way, &r))
                continue;
            (void)printf("{\"kind\": \"simulated\", \"program\": \"%s\", \"protocol\": \"%s\", "
                         "\"threads\": \"%s\", ",
                         k->name, name_of(protocol), names[way]);
            bench_number("cores", (double)cores[c]);
            bench_number("cores_used", (double)r.used);
            bench_number("ms_alone", 1e3 * r.alone);
            bench_number("ms_between_answers", 1e3 * r.between);
            bench_number("ms_in_stream", 1e3 * r.latency);
            bench_number("ms_centralised", 1e3 * r.centralised);
            bench_number("change_alone_percent", 100 * (r.alone / r.centralised - 1));
            bench_number("change_between_percent", 100 * (r.between / r.centralised - 1));
            bench_end_line();
        }
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t queries = 32, threads = 2, in_flight = 8, profiles = 5, rounds = 5;
    double delay = 0;
    const char *program = "", *protocol = "";
    const bench_option list[] = {
        {.name = "--queries", .count = &queries},     {.name = "--threads", .count = &threads},
        {.name = "--in-flight", .count = &in_flight}, {.name = "--program", .text = &program},
        {.name = "--protocol", .text = &protocol},    {.name = "--profiles", .count = &profiles},
        {.name = "--rounds", .count = &rounds},       {.name = "--delay", .number = &delay}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (rounds < 1 || rounds > MOST_ROUNDS)
        bench_stop("--rounds", "is 1 to 100");
    if (queries > MOST_QUERIES || in_flight < 2 || (queries > 0 && in_flight > queries))
        bench_stop("--queries", "is at most 4096, and at least --in-flight, which is at least 2");
    loopback s = {.threads = threads, .flags = DP_ALLOW_ACTIVATION_LEAK};
    loopback_new(&s);
    for (const loopback_kind *k = loopback_kinds; k->name != NULL; k++)
        for (int p = 0; p < 2; p++) {
            stages t;
            if (!loopback_takes(k, program, false) ||
                (protocol[0] != '\0' && strcmp(protocol, p == 0 ? "paillier" : "lattice") != 0))
                continue;
            if (queries > 0)
                measure(&s, k, (dp_serve_protocol)p,
                        &(asking_how){queries, in_flight, false, delay}, rounds);
            if (profiles > 0) {
                time_stages(k, (dp_serve_protocol)p, profiles, &t);
                tell_stages(k, (dp_serve_protocol)p, &t);
                tell_simulated(k, (dp_serve_protocol)p, &t);
            }
        }
    loopback_remove(&s);
    return 0;
}
