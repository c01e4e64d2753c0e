/* What an answer costs: both sides over loopback, in processes of their own, end to end.
 *   make bench/serve && bench/serve [--queries N] [--threads N] [--program NAME] [--protocol NAME]
 *     [--backend portable] [--pause MS] [--prepare MS]
 * One JSON line for each program and protocol: milliseconds of a query (median and least; the
 * first, for which nothing was made ahead, apart), and of the processor on each side (medians; on a
 * loaded machine they say more, as long as pauses suffice for what is made ahead); of opening a
 * session with its key; payload bytes of one query up and down, and rounds; bytes_ahead is what
 * preparations move in both directions for one query (doc/design/serve.md), and --prepare
 * 4294967295 has none.  Weights are random, of 12 bits, inputs of 16: time does not depend on them.
 * Programs: linear (784 to 1), mnist-1 (784-128-128-10), mnist-2 (a convolution of 5 filters 5 x 5
 * with stride 2, 100, 10), mnist-3 (16 filters 5 x 5, maxima 2 x 2, twice, 100, 10). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "bench.h"
#include "loopback.h"
#include "options.h"

enum { MOST_QUERIES = 1000, PAUSE = 1500 /* ms */ };

/* ---- measuring ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void pause_for(long milliseconds)
{
    const struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* Seconds of the processor that a process has used. */
static double used_by(clockid_t process)
{
    struct timespec t;
    (void)clock_gettime(process, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return x[n / 2];
}

/* Milliseconds of queries: the first, then others with pauses in which zeros are made. */
static void ask(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                const char *port, clockid_t provider, size_t queries)
{
    static double time[MOST_QUERIES], of_client[MOST_QUERIES], of_provider[MOST_QUERIES], x[784];
    int64_t y[16];
    dp_error err = {0};
    dp_ask *asked;
    const dp_ask_opts opts = {.identity = s->client,
                              .host = "127.0.0.1",
                              .port = port,
                              .provider = dp_identity_fingerprint(s->provider),
                              .protocol = protocol,
                              .mode = k->mode,
                              .flags = s->flags,
                              .threads = s->threads,
                              .prepare_ms = (uint32_t)s->prepare};
    double start = bench_now();
    loopback_must(dp_ask_new(&opts, &asked, &err), &err);
    const double opened = bench_now() - start;
    for (int i = 0; i < 784; i++)
        x[i] = (i * 37 % 256) / 255.0;
    start = bench_now();
    loopback_must(dp_ask_query(asked, x, y, &err), &err);
    const double first = bench_now() - start;
    const dp_ask_traffic before = dp_ask_counts(asked);
    for (size_t r = 0; r < queries; r++) {
        pause_for((long)s->pause);
        start = bench_now();
        const double client_used = bench_processor(), provider_used = used_by(provider);
        loopback_must(dp_ask_query(asked, x, y, &err), &err);
        time[r] = bench_now() - start;
        of_client[r] = bench_processor() - client_used;
        of_provider[r] = used_by(provider) - provider_used;
    }
    const dp_ask_traffic after = dp_ask_counts(asked);
    const double middle = median(time, queries);
    (void)printf("{\"program\": \"%s\", \"protocol\": \"%s\", \"mode\": \"%s\", ", k->name,
                 protocol == DP_SERVE_PAILLIER ? "he2-paillier" : "he2-lattice",
                 k->mode == DP_SERVE_LINEAR ? "linear" : "permute");
    bench_number("ms", 1e3 * middle);
    bench_number("ms_low", 1e3 * time[0]);
    bench_number("ms_processor_client", 1e3 * median(of_client, queries));
    bench_number("ms_processor_provider", 1e3 * median(of_provider, queries));
    bench_number("ms_first", 1e3 * first);
    bench_number("ms_open", 1e3 * opened);
    bench_number("bytes_up", (double)(after.up - before.up) / (double)queries);
    bench_number("bytes_down", (double)(after.down - before.down) / (double)queries);
    bench_number("bytes_ahead",
                 (double)(after.ahead_up + after.ahead_down - before.ahead_up - before.ahead_down) /
                     (double)queries);
    bench_number("rounds", (double)after.rounds);
    bench_number("threads", (double)s->threads);
    (void)printf("\"portable\": %s, ", (s->flags & DPI_PORTABLE) != 0 ? "true" : "false");
    bench_end_line();
    (void)fflush(stdout);
    dp_ask_free(asked);
}

static void measure(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                    size_t queries)
{
    char port[16];
    int number = 0;
    pid_t provider = loopback_start(s, k, protocol, &number);
    (void)snprintf(port, sizeof port, "%d", number);
    clockid_t clock;
    if (clock_getcpuclockid(provider, &clock) != 0)
        bench_stop("the provider", "has no clock here");
    ask(s, k, protocol, port, clock, queries);
    (void)kill(provider, SIGKILL);
    (void)waitpid(provider, NULL, 0);
}

int main(int argc, char **argv)
{
    uint64_t queries = 5, threads = 2, pause = PAUSE, prepare = 0;
    const char *program = "", *protocol = "", *backend = "";
    const bench_option list[] = {
        {.name = "--queries", .count = &queries}, {.name = "--threads", .count = &threads},
        {.name = "--program", .text = &program},  {.name = "--protocol", .text = &protocol},
        {.name = "--backend", .text = &backend},  {.name = "--pause", .count = &pause},
        {.name = "--prepare", .count = &prepare}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (queries < 1 || queries > MOST_QUERIES)
        bench_stop("--queries", "is 1 to 1000");
    if (backend[0] != '\0' && strcmp(backend, "portable") != 0)
        bench_stop("--backend", "is portable, or not given: the fastest here");
    loopback s = {
        .threads = threads, .pause = pause, .prepare = prepare, .flags = DP_ALLOW_ACTIVATION_LEAK};
    if (backend[0] != '\0')
        s.flags |= DPI_PORTABLE;
    loopback_new(&s);
    for (const loopback_kind *kind = loopback_kinds; kind->name != NULL; kind++)
        for (int k = 0; k < 2; k++)
            if ((program[0] == '\0' || strcmp(program, kind->name) == 0) &&
                (protocol[0] == '\0' || strcmp(protocol, k == 0 ? "paillier" : "lattice") == 0))
                measure(&s, kind, (dp_serve_protocol)k, queries);
    loopback_remove(&s);
    return 0;
}
