#include "loopback.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void loopback_must(dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "bench: %s\n", err->text);
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

const loopback_kind loopback_kinds[] = {{"linear", build_linear, DP_SERVE_LINEAR},
                                        {"mnist-1", build_mnist_1, DP_SERVE_PERMUTE},
                                        {"mnist-2", build_mnist_2, DP_SERVE_PERMUTE},
                                        {"mnist-3", build_mnist_3, DP_SERVE_PERMUTE},
                                        {NULL, NULL, DP_SERVE_LINEAR}};

dp_program *loopback_build(const loopback_kind *k)
{
    dp_error err = {0};
    dp_program *p = dp_program_new();
    srand(1);
    k->build(p, dp_program_image(p, 28, 28, 1, "pixel", 0, 1));
    loopback_must(dp_program_fix(p, NULL, &err), &err);
    return p;
}

/* ---- both sides ---- */

void loopback_new(loopback *s)
{
    char path[2 * LOOPBACK_PATH];
    dp_error err = {0};
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/bench-serve-XXXXXX");
    if (mkdtemp(s->folder) == NULL)
        exit(1);
    (void)snprintf(path, sizeof path, "%s/provider", s->folder);
    loopback_must(dp_identity_new(path, &s->provider, &err), &err);
    (void)snprintf(path, sizeof path, "%s/client", s->folder);
    loopback_must(dp_identity_new(path, &s->client, &err), &err);
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

void loopback_remove(loopback *s)
{
    static const char *const names[] = {"provider", "client", "policy", "log"};
    char path[2 * LOOPBACK_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    dp_identity_free(s->provider);
    dp_identity_free(s->client);
}

pid_t loopback_start(const loopback *s, const loopback_kind *k, dp_serve_protocol protocol,
                     int *port)
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
    const dp_server_opts opts = {.program = loopback_build(k),
                                 .identity = s->provider,
                                 .policy = s->policy,
                                 .log = s->log,
                                 .host = "127.0.0.1",
                                 .port = "0",
                                 .protocol = protocol,
                                 .mode = k->mode,
                                 .flags = s->flags,
                                 .threads = s->threads,
                                 .idle_ms = 3600000};
    loopback_must(dp_server_new(&opts, &server, &err), &err);
    *port = dp_server_port(server);
    if (write(ends[1], port, sizeof *port) != sizeof *port)
        _exit(1);
    loopback_must(dp_server_run(server, &err), &err);
    _exit(0);
}
