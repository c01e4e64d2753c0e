#include "loopback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* For sums of so many terms: of both signs, and mostly positive, so that numbers stay near their
 * bounds however many stages there are. */
static double *random_weights(size_t n, size_t terms)
{
    double *w = malloc(n * sizeof *w);
    for (size_t i = 0; w != NULL && i < n; i++)
        w[i] = (1.25 * rand() / RAND_MAX - .25) * 2 / (double)terms;
    if (w == NULL)
        exit(1);
    return w;
}

static int dense(dp_program *p, int in, size_t inputs, size_t outputs)
{
    double *w = random_weights(inputs * outputs, inputs);
    double *b = random_weights(outputs, inputs);
    int stage = dp_program_dense(p, in, outputs, w, b);
    free(w);
    free(b);
    return stage;
}

static dp_window square(size_t size, size_t stride, size_t padding)
{
    return (dp_window){
        .size = {size, size}, .stride = {stride, stride}, .padding = {padding, padding}};
}

/* A convolution and its relu. */
static int convolve(dp_program *p, int in, size_t channels, size_t filters, dp_window window)
{
    const size_t terms = window.size[0] * window.size[1] * channels;
    double *w = random_weights(terms * filters, terms), *b = random_weights(filters, terms);
    int stage = dp_program_convolution(p, in, filters, &window, w, b);
    free(w);
    free(b);
    return dp_program_relu(p, stage);
}

static int largest(dp_program *p, int in)
{
    const dp_window two = square(2, 2, 0);
    return dp_program_max_pool(p, in, &two);
}

static int mean(dp_program *p, int in)
{
    const dp_window two = square(2, 2, 0);
    return dp_program_average_pool(p, in, &two);
}

/* Dense stages of these sizes, with a relu between two of them. */
static void connect(dp_program *p, int in, size_t n, const size_t sizes[])
{
    for (size_t k = 1; k < n; k++) {
        in = dense(p, in, sizes[k - 1], sizes[k]);
        if (k + 1 < n)
            in = dp_program_relu(p, in);
    }
}

static void build_linear(dp_program *p, int x)
{
    (void)dense(p, x, 784, 1);
}

static void build_mnist_1(dp_program *p, int x)
{
    connect(p, x, 4, (const size_t[]){784, 128, 128, 10});
}

static void build_mnist_2(dp_program *p, int x)
{
    int h = convolve(p, x, 1, 5, square(5, 2, 1)); /* 13 x 13 x 5 */
    connect(p, h, 3, (const size_t[]){845, 100, 10});
}

static void build_mnist_3(dp_program *p, int x)
{
    int h = largest(p, convolve(p, x, 1, 16, square(5, 1, 0))); /* 12 x 12 x 16 */
    h = largest(p, convolve(p, h, 16, 16, square(5, 1, 0)));    /* 4 x 4 x 16 */
    connect(p, h, 3, (const size_t[]){256, 100, 10});
}

static void build_lenet_5(dp_program *p, int x)
{
    int h = mean(p, convolve(p, x, 1, 6, square(5, 1, 2))); /* 14 x 14 x 6 */
    h = mean(p, convolve(p, h, 6, 16, square(5, 1, 0)));    /* 5 x 5 x 16 */
    connect(p, h, 4, (const size_t[]){400, 120, 84, 10});
}

static void build_alexnet(dp_program *p, int x)
{
    int h = mean(p, convolve(p, x, 3, 64, square(11, 4, 5))); /* 4 x 4 x 64 */
    h = mean(p, convolve(p, h, 64, 192, square(5, 1, 2)));    /* 2 x 2 x 192 */
    h = convolve(p, h, 192, 384, square(3, 1, 1));
    h = convolve(p, h, 384, 256, square(3, 1, 1));
    h = mean(p, convolve(p, h, 256, 256, square(3, 1, 1))); /* 256 */
    connect(p, h, 4, (const size_t[]){256, 256, 256, 10});
}

/* Filters of one convolution after another; 0: a pool. */
static void build_vgg_16(dp_program *p, int x)
{
    static const size_t filters[] = {64, 64,  0,   128, 128, 0,   256, 256, 256,
                                     0,  512, 512, 512, 0,   512, 512, 512, 0};
    size_t channels = 3;
    for (size_t k = 0; k < sizeof filters / sizeof *filters; k++) {
        x = filters[k] == 0 ? mean(p, x) : convolve(p, x, channels, filters[k], square(3, 1, 1));
        channels = filters[k] == 0 ? channels : filters[k];
    }
    connect(p, x, 4, (const size_t[]){512, 512, 512, 10});
}

const loopback_kind loopback_kinds[] = {
    {"linear", build_linear, DP_SERVE_LINEAR, LOOPBACK_ALL, {28, 28, 1}},
    {"mnist-1", build_mnist_1, DP_SERVE_PERMUTE, LOOPBACK_ALL, {28, 28, 1}},
    {"mnist-2", build_mnist_2, DP_SERVE_PERMUTE, LOOPBACK_ALL, {28, 28, 1}},
    {"mnist-3", build_mnist_3, DP_SERVE_PERMUTE, LOOPBACK_ALL, {28, 28, 1}},
    {"lenet-5", build_lenet_5, DP_SERVE_PERMUTE, LOOPBACK_PARTIES, {28, 28, 1}},
    {"alexnet", build_alexnet, DP_SERVE_PERMUTE, LOOPBACK_NAMED, {32, 32, 3}},
    {"vgg-16", build_vgg_16, DP_SERVE_PERMUTE, LOOPBACK_NAMED, {32, 32, 3}},
    {NULL, NULL, DP_SERVE_LINEAR, LOOPBACK_ALL, {0}}};

bool loopback_takes(const loopback_kind *k, const char *program, bool parties)
{
    if (program[0] == '\0')
        return k->use == LOOPBACK_ALL || (parties && k->use == LOOPBACK_PARTIES);
    return strcmp(program, k->name) == 0 && (parties || k->use != LOOPBACK_NAMED);
}

dp_program *loopback_build(const loopback_kind *k, const dp_scale_opts *scale)
{
    dp_error err = {0};
    dp_program *p = dp_program_new();
    srand(1);
    k->build(p, dp_program_image(p, k->image[0], k->image[1], k->image[2], "pixel", 0, 1));
    loopback_must(dp_program_fix(p, scale, &err), &err);
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
    const dp_server_opts opts = {.program = loopback_build(k, NULL),
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
