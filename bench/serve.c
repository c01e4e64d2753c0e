/* What an answer costs: all sides over loopback, in processes of their own, end to end.
 *   make bench/serve && bench/serve [--queries N] [--program NAME] [--protocol NAME]
 * and for two parties (paillier, lattice)
 *     [--threads N] [--backend portable] [--pause MS] [--prepare MS]
 * for three (trio) and four (quad)
 *     [--records N] [--lanes N] [--weight-bits N] [--activation-bits N]
 *     [--delay MS]
 * One JSON line for each program and protocol: milliseconds of a query (median and least; the
 * first, for which nothing was made ahead, apart), and of the processor on each side (medians; on a
 * loaded machine they say more, as long as pauses suffice for what is made ahead); of opening a
 * session with its key; payload bytes of one query up and down, and rounds; bytes_ahead is what
 * preparations move in both directions for one query (doc/design/serve.md), and --prepare
 * 4294967295 has none.  Of several parties the processor's milliseconds are those of all together,
 * bytes_between what they send each other without what they compare, ring the bits of their
 * numbers, ms_share how long the provider takes to share the program; each answer is compared with
 * that of dp_program_run_exact.  Queries have one record, and 128, where --records does not say.
 * --delay: parties and client are in network namespaces so many milliseconds apart each way (for
 * root, on Linux), trips is how often a query waits for a message to arrive, and ms_beyond what
 * takes longer than these.
 *
 * Weights are random, of 12 bits, inputs of 16: time does not depend on them.  Programs: linear
 * (784 to 1), mnist-1 (784-128-128-10), mnist-2 (a convolution of 5 filters 5 x 5 with stride 2,
 * 100, 10), mnist-3 (16 filters 5 x 5, maxima 2 x 2, twice, 100, 10); of several parties also
 * lenet-5 (6 filters 5 x 5, padding 2, means 2 x 2, 16 filters 5 x 5, means, 120, 84, 10), and
 * where they are named alexnet and vgg-16 for images 32 x 32 x 3 (loopback.c has their stages). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "bench.h"
#include "loopback.h"
#include "options.h"
#include "serve-parties.h"

enum {
    MOST_QUERIES = 1000,
    PAUSE = 1500 /* ms */,
    QUERIES = 5,
    QUERIES_OF_PARTIES = 51,
    MANY = 128
};

/* ---- measuring ---- */

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
    const double middle = bench_median(time, queries);
    (void)printf("{\"program\": \"%s\", \"protocol\": \"%s\", \"mode\": \"%s\", ", k->name,
                 protocol == DP_SERVE_PAILLIER ? "he2-paillier" : "he2-lattice",
                 k->mode == DP_SERVE_LINEAR ? "linear" : "permute");
    bench_number("ms", 1e3 * middle);
    bench_number("ms_low", 1e3 * time[0]);
    bench_number("ms_processor_client", 1e3 * bench_median(of_client, queries));
    bench_number("ms_processor_provider", 1e3 * bench_median(of_provider, queries));
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

/* By two parties, each protocol that is asked for. */
static void measure_two(const loopback *s, const char *program, const char *protocol,
                        size_t queries)
{
    for (const loopback_kind *kind = loopback_kinds; kind->name != NULL; kind++)
        for (int k = 0; k < 2; k++)
            if (loopback_takes(kind, program, false) &&
                (protocol[0] == '\0' || strcmp(protocol, k == 0 ? "paillier" : "lattice") == 0))
                measure(s, kind, (dp_serve_protocol)k, queries);
}

/* By three and by four; records 0: one, and MANY. */
static void measure_parties(serve_parties_opts o, const char *program, const char *protocol)
{
    const size_t records = o.records;
    for (const loopback_kind *kind = loopback_kinds; kind->name != NULL; kind++)
        for (o.parties = 3; o.parties <= 4; o.parties++)
            for (int k = 0; k < (records == 0 ? 2 : 1); k++) {
                o.records = records > 0 ? records : k == 0 ? 1 : MANY;
                if (loopback_takes(kind, program, true) &&
                    (protocol[0] == '\0' ||
                     strcmp(protocol, o.parties == 3 ? "trio" : "quad") == 0))
                    serve_parties(kind, &o);
            }
}

int main(int argc, char **argv)
{
    uint64_t queries = 0, threads = 2, pause = PAUSE, prepare = 0;
    uint64_t records = 0, lanes = 1, weight_bits = 0, activation_bits = 0;
    double delay = 0;
    const char *program = "", *protocol = "", *backend = "";
    const bench_option list[] = {{.name = "--queries", .count = &queries},
                                 {.name = "--threads", .count = &threads},
                                 {.name = "--program", .text = &program},
                                 {.name = "--protocol", .text = &protocol},
                                 {.name = "--backend", .text = &backend},
                                 {.name = "--pause", .count = &pause},
                                 {.name = "--prepare", .count = &prepare},
                                 {.name = "--records", .count = &records},
                                 {.name = "--lanes", .count = &lanes},
                                 {.name = "--weight-bits", .count = &weight_bits},
                                 {.name = "--activation-bits", .count = &activation_bits},
                                 {.name = "--delay", .number = &delay}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (queries > MOST_QUERIES || queries > SERVE_PARTIES_MOST)
        bench_stop("--queries", "is 1 to 1000");
    if (backend[0] != '\0' && strcmp(backend, "portable") != 0)
        bench_stop("--backend", "is portable, or not given: the fastest here");
    loopback s = {
        .threads = threads, .pause = pause, .prepare = prepare, .flags = DP_ALLOW_ACTIVATION_LEAK};
    if (backend[0] != '\0')
        s.flags |= DPI_PORTABLE;
    loopback_new(&s);
    if (delay == 0)
        measure_two(&s, program, protocol, queries > 0 ? queries : QUERIES);
    loopback_remove(&s);
    const serve_parties_opts o = {
        .queries = queries > 0 ? queries : QUERIES_OF_PARTIES,
        .records = records,
        .lanes = lanes > 0 ? lanes : 1,
        .delay = delay,
        .scale = {.weight_bits = (int)weight_bits, .activation_bits = (int)activation_bits}};
    measure_parties(o, program, protocol);
    return 0;
}
