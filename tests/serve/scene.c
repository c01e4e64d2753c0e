#define _XOPEN_SOURCE 700
#include "tests/serve/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/numbers.h"

/* ---- programs ---- */

void fill(uint64_t *numbers, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next_number(numbers);
}

dp_program *finish(dp_program *p)
{
    dp_error err = {0};
    const dp_scale_opts opts = {.weight_bits = 10, .activation_bits = 12};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

dp_program *regression(void)
{
    enum { N = 20, M = 3 };
    double w[N * M], b[M];
    uint64_t numbers = 1;
    fill(&numbers, N * M, w);
    fill(&numbers, M, b);
    dp_program *p = dp_program_new();
    (void)dp_program_argmax(p, dp_program_dense(p, dp_program_input(p, N, "x", -1, 1), M, w, b));
    return finish(p);
}

/* Few outputs of many inputs, which are computed in partial sums. */
dp_program *wide(size_t outputs)
{
    enum { N = 150 };
    double w[N * 8];
    uint64_t numbers = 6;
    fill(&numbers, N * 8, w);
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, N, "x", -1, 1), outputs, w, w + 3);
    return finish(p);
}

/* Convolution, relu, max pool, dense, sigmoid, dense. */
dp_program *network(void)
{
    double w[3 * 9 * 2], v[6 * 27], u[4 * 6], b[8];
    uint64_t numbers = 2;
    const dp_window three = {.size = {3, 3}, .padding = {1, 1}};
    const dp_window two = {.size = {2, 2}, .stride = {2, 2}};
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    fill(&numbers, sizeof u / sizeof *u, u);
    fill(&numbers, sizeof b / sizeof *b, b);
    dp_program *p = dp_program_new();
    int h = dp_program_image(p, 6, 7, 2, "pixel", -1, 1);
    h = dp_program_relu(p, dp_program_convolution(p, h, 3, &three, w, b));
    h = dp_program_max_pool(p, h, &two);
    h = dp_program_sigmoid(p, dp_program_dense(p, h, 6, v, b));
    (void)dp_program_dense(p, h, 4, u, b);
    return finish(p);
}

/* A convolution alone, and means of windows alone. */
dp_program *image(bool mean)
{
    double w[4 * 6 * 2], b[4];
    uint64_t numbers = 3;
    const dp_window window = {.size = {3, 2}, .stride = {2, 2}, .padding = {1, 1}};
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, 4, b);
    dp_program *p = dp_program_new();
    int x = dp_program_image(p, 7, 6, 2, "pixel", -1, 1);
    if (mean)
        (void)dp_program_average_pool(p, x, &window);
    else
        (void)dp_program_convolution(p, x, 4, &window, w, b);
    return finish(p);
}

/* ---- both sides ---- */

static void path_in(const scene *s, const char *name, char path[PATH])
{
    assert_true(snprintf(path, PATH, "%.200s/%s", s->folder, name) < PATH);
}

static dp_identity *identity(const scene *s, const char *name)
{
    char path[PATH];
    dp_error err = {0};
    dp_identity *made;
    path_in(s, name, path);
    assert_ok(dp_identity_new(path, &made, &err), err.text);
    return made;
}

void write_policy(scene *s, unsigned queries, const char *rest)
{
    FILE *file = fopen(s->policy, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "client = %s client\nqueries = %u\nwindow = 3600\n"
                  "protocols = he2-paillier he2-lattice ckks\n%s",
                  dp_identity_fingerprint(s->client), queries, rest);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(s->policy, 0600), 0);
}

const char scores[] = "returns = scores\nmodes = linear permute\n"
                      "allow-activation-leak = yes\n";

scene *new_scene(void)
{
    scene *s = calloc(1, sizeof *s);
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/t-serve-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    path_in(s, "policy", s->policy);
    path_in(s, "log", s->log);
    s->provider = identity(s, "provider");
    s->client = identity(s, "client");
    s->stranger = identity(s, "stranger");
    write_policy(s, 1000, scores);
    return s;
}

void free_scene(scene *s)
{
    static const char *const names[] = {"provider", "client", "stranger", "policy", "log"};
    char path[PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_in(s, names[i], path);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    dp_identity_free(s->provider);
    dp_identity_free(s->client);
    dp_identity_free(s->stranger);
    free(s);
}

dp_server_opts server_opts(const scene *s, const dp_program *p, dp_serve_protocol protocol,
                           dp_serve_mode mode)
{
    return (dp_server_opts){.program = p,
                            .identity = s->provider,
                            .policy = s->policy,
                            .log = s->log,
                            .host = "127.0.0.1",
                            .port = "0",
                            .protocol = protocol,
                            .mode = mode,
                            .flags =
                                WEAK | (mode == DP_SERVE_PERMUTE ? DP_ALLOW_ACTIVATION_LEAK : 0),
                            .threads = 2,
                            .sessions = 3,
                            .sessions_each = 3,
                            .timeout_ms = 20000,
                            .idle_ms = 20000,
                            .key_bits = SMALL_KEY};
}

static void *serve(void *of)
{
    scene *s = of;
    dp_error err = {0};
    s->ended = dp_server_run(s->server, &err);
    atomic_store(&s->over, true);
    return NULL;
}

void start(scene *s, const dp_server_opts *opts)
{
    dp_error err = {0};
    assert_ok(dp_server_new(opts, &s->server, &err), err.text);
    (void)snprintf(s->port, sizeof s->port, "%d", dp_server_port(s->server));
    atomic_store(&s->over, false);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

void ends(scene *s, dp_status how)
{
    const struct timespec a_while = {.tv_nsec = 1000000};
    for (int i = 0; i < 60000 && !atomic_load(&s->over); i++)
        (void)nanosleep(&a_while, NULL);
    assert_true(atomic_load(&s->over)); /* a minute is long enough */
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    assert_int_equal(s->ended, how);
    dp_server_free(s->server);
    s->server = NULL;
}

void stop(scene *s)
{
    dp_server_stop(s->server);
    ends(s, DP_OK);
}

dp_ask_opts ask_opts(const scene *s, dp_serve_protocol protocol, dp_serve_mode mode)
{
    return (dp_ask_opts){.identity = s->client,
                         .host = "127.0.0.1",
                         .port = s->port,
                         .provider = dp_identity_fingerprint(s->provider),
                         .protocol = protocol,
                         .mode = mode,
                         .flags = WEAK | (mode == DP_SERVE_PERMUTE ? DP_ALLOW_ACTIVATION_LEAK : 0),
                         .threads = 2,
                         .timeout_ms = 20000,
                         .key_bits = SMALL_KEY,
                         .prepare_ms = UINT32_MAX};
}

dp_status answer_exactly(const dp_program *p, const dp_ask_opts *opts, int n, dp_error *err)
{
    dp_ask *ask;
    uint64_t numbers = 77;
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    double *x = calloc(inputs, sizeof *x);
    int64_t *v = calloc(inputs, sizeof *v), *y = calloc(outputs, sizeof *y);
    int64_t *expected = calloc(outputs, sizeof *expected);
    dp_status status = dp_ask_new(opts, &ask, err);
    for (int r = 0; status == DP_OK && r < n; r++) {
        fill(&numbers, inputs, x);
        status = dp_ask_query(ask, x, y, err);
        if (status != DP_OK)
            break;
        assert_ok(dp_program_encode(p, 1, x, v, err), err->text);
        assert_ok(dp_program_run_exact(p, 1, v, expected, err), err->text);
        assert_memory_equal(y, expected, outputs * sizeof *y);
    }
    dp_ask_free(ask);
    free(x), free(v), free(y), free(expected);
    return status;
}

void answers_are_exact(const dp_program *p, const dp_ask_opts *opts, int n)
{
    dp_error err = {0};
    assert_ok(answer_exactly(p, opts, n, &err), err.text);
}
