/* What an answer costs: both sides over loopback, in processes of their own, end to end.
 *   make bench/serve && bench/serve [--queries N] [--threads N] [--program NAME] [--protocol NAME]
 *     [--backend portable] [--pause MS] [--prepare MS]
 * One JSON line for each program and protocol: milliseconds of a query (median and least; the
 * first, for which nothing was made ahead, apart), of opening a session with its key, payload bytes
 * of one query up and down, and rounds; bytes_ahead is what preparations move in
 * both directions for one query (doc/design/serve.md), and --prepare 4294967295 has none.  Weights are random, of 12 bits, inputs of 16: time does
 * not depend on them.  Programs: linear (784 to 1), mnist-1 (784-128-128-10), mnist-2 (a
 * convolution of 5 filters 5 x 5 with stride 2, 100, 10), mnist-3 (16 filters 5 x 5, maxima 2 x 2,
 * twice, 100, 10). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/serve.h>

#include "bench.h"
#include "options.h"
#include "serve/talk.h"

enum { MOST_QUERIES = 1000, PATH = 200, PAUSE = 1500 /* ms */ };

static void must(dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "bench/serve: %s\n", err->text);
    exit(1);
}

/* ---- programs ---- */

static double *random_weights(size_t n)
{
    double *w = malloc(n * sizeof *w);
    for (size_t i = 0; w != NULL && i < n; i++)
        w[i] = 2.0 * rand() / RAND_MAX - 1;
    if (w == NULL)
        exit(1);
    return w;
}

static int dense(dp_program *p, int in, size_t inputs, size_t outputs)
{
    double *w = random_weights(inputs * outputs), *b = random_weights(outputs);
    int stage = dp_program_dense(p, in, outputs, w, b);
    free(w);
    free(b);
    return stage;
}

static int convolve(dp_program *p, int in, size_t channels, size_t filters, size_t stride,
                    size_t padding)
{
    const dp_window window = {
        .size = {5, 5}, .stride = {stride, stride}, .padding = {padding, padding}};
    double *w = random_weights(25 * channels * filters), *b = random_weights(filters);
    int stage = dp_program_convolution(p, in, filters, &window, w, b);
    free(w);
    free(b);
    return dp_program_relu(p, stage);
}

static int largest(dp_program *p, int in)
{
    const dp_window two = {.size = {2, 2}, .stride = {2, 2}};
    return dp_program_max_pool(p, in, &two);
}

static void build_linear(dp_program *p, int x)
{
    (void)dense(p, x, 784, 1);
}

static void build_mnist_1(dp_program *p, int x)
{
    int h = dp_program_relu(p, dense(p, x, 784, 128));
    (void)dense(p, dp_program_relu(p, dense(p, h, 128, 128)), 128, 10);
}

static void build_mnist_2(dp_program *p, int x)
{
    int h = convolve(p, x, 1, 5, 2, 1); /* 13 x 13 x 5 */
    (void)dense(p, dp_program_relu(p, dense(p, h, 845, 100)), 100, 10);
}

static void build_mnist_3(dp_program *p, int x)
{
    int h = largest(p, convolve(p, x, 1, 16, 1, 0)); /* 12 x 12 x 16 */
    h = largest(p, convolve(p, h, 16, 16, 1, 0));    /* 4 x 4 x 16 */
    (void)dense(p, dp_program_relu(p, dense(p, h, 256, 100)), 100, 10);
}

typedef struct kind {
    const char *name;
    void (*build)(dp_program *p, int x);
    dp_serve_mode mode;
} kind;

static const kind kinds[] = {{"linear", build_linear, DP_SERVE_LINEAR},
                             {"mnist-1", build_mnist_1, DP_SERVE_PERMUTE},
                             {"mnist-2", build_mnist_2, DP_SERVE_PERMUTE},
                             {"mnist-3", build_mnist_3, DP_SERVE_PERMUTE}};

static dp_program *build(const kind *k)
{
    dp_error err = {0};
    dp_program *p = dp_program_new();
    srand(1);
    k->build(p, dp_program_image(p, 28, 28, 1, "pixel", 0, 1));
    must(dp_program_fix(p, NULL, &err), &err);
    return p;
}

/* ---- both sides ---- */

typedef struct place {
    char folder[PATH], policy[PATH], log[PATH];
    dp_identity *provider, *client;
    size_t threads, pause, prepare;
    unsigned flags;
} place;

static void new_place(place *s)
{
    char path[2 * PATH];
    dp_error err = {0};
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/bench-serve-XXXXXX");
    if (mkdtemp(s->folder) == NULL)
        exit(1);
    (void)snprintf(path, sizeof path, "%s/provider", s->folder);
    must(dp_identity_new(path, &s->provider, &err), &err);
    (void)snprintf(path, sizeof path, "%s/client", s->folder);
    must(dp_identity_new(path, &s->client, &err), &err);
    (void)snprintf(s->policy, sizeof s->policy, "%.100s/policy", s->folder);
    (void)snprintf(s->log, sizeof s->log, "%.100s/log", s->folder);
    FILE *file = fopen(s->policy, "w");
    if (file == NULL || chmod(s->policy, 0600) != 0)
        exit(1);
    (void)fprintf(file,
                  "client = %s client\nqueries = 1000000\nwindow = 3600\nreturns = scores\n"
                  "protocols = he2-paillier he2-lattice\nmodes = linear permute\n"
                  "allow-activation-leak = yes\n",
                  dp_identity_fingerprint(s->client));
    if (fclose(file) != 0)
        exit(1);
}

static void remove_place(place *s)
{
    static const char *const names[] = {"provider", "client", "policy", "log"};
    char path[2 * PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    dp_identity_free(s->provider);
    dp_identity_free(s->client);
}

/* The provider, in a process of its own; its port comes through the pipe. */
static pid_t start_provider(const place *s, const kind *k, dp_serve_protocol protocol, int *port)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child != 0) {
        if (child < 0 || read(ends[0], port, sizeof *port) != sizeof *port)
            exit(1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        return child;
    }
    dp_error err = {0};
    dp_server *server;
    const dp_server_opts opts = {.program = build(k),
                                 .identity = s->provider,
                                 .policy = s->policy,
                                 .log = s->log,
                                 .host = "127.0.0.1",
                                 .port = "0",
                                 .protocol = protocol,
                                 .mode = k->mode,
                                 .flags = s->flags,
                                 .threads = s->threads};
    must(dp_server_new(&opts, &server, &err), &err);
    *port = dp_server_port(server);
    if (write(ends[1], port, sizeof *port) != sizeof *port)
        _exit(1);
    must(dp_server_run(server, &err), &err);
    _exit(0);
}

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

/* Milliseconds of queries: the first, then others with pauses in which zeros are made. */
static void ask(const place *s, const kind *k, dp_serve_protocol protocol, const char *port,
                size_t queries)
{
    static double time[MOST_QUERIES], x[784];
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
    must(dp_ask_new(&opts, &asked, &err), &err);
    const double opened = bench_now() - start;
    for (int i = 0; i < 784; i++)
        x[i] = (i * 37 % 256) / 255.0;
    start = bench_now();
    must(dp_ask_query(asked, x, y, &err), &err);
    const double first = bench_now() - start;
    const dp_ask_traffic before = dp_ask_counts(asked);
    for (size_t r = 0; r < queries; r++) {
        pause_for((long)s->pause);
        start = bench_now();
        must(dp_ask_query(asked, x, y, &err), &err);
        time[r] = bench_now() - start;
    }
    const dp_ask_traffic after = dp_ask_counts(asked);
    qsort(time, queries, sizeof *time, ascending);
    (void)printf("{\"program\": \"%s\", \"protocol\": \"%s\", \"mode\": \"%s\", ", k->name,
                 protocol == DP_SERVE_PAILLIER ? "he2-paillier" : "he2-lattice",
                 k->mode == DP_SERVE_LINEAR ? "linear" : "permute");
    bench_number("ms", 1e3 * time[queries / 2]);
    bench_number("ms_low", 1e3 * time[0]);
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

static void measure(const place *s, const kind *k, dp_serve_protocol protocol, size_t queries)
{
    char port[16];
    int number = 0;
    pid_t provider = start_provider(s, k, protocol, &number);
    (void)snprintf(port, sizeof port, "%d", number);
    ask(s, k, protocol, port, queries);
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
    place s = {
        .threads = threads, .pause = pause, .prepare = prepare, .flags = DP_ALLOW_ACTIVATION_LEAK};
    if (backend[0] != '\0')
        s.flags |= DPI_PORTABLE;
    new_place(&s);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int k = 0; k < 2; k++)
            if ((program[0] == '\0' || strcmp(program, kinds[i].name) == 0) &&
                (protocol[0] == '\0' || strcmp(protocol, k == 0 ? "paillier" : "lattice") == 0))
                measure(&s, &kinds[i], (dp_serve_protocol)k, queries);
    remove_place(&s);
    return 0;
}
