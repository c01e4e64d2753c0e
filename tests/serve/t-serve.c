/* Both sides over loopback: every answer is the oracle's, and who may not ask is told why. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/serve.h>

#include "serve/talk.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { SMALL_KEY = 512, WEAK = DPI_ALLOW_WEAK_KEYS, PATH = 256 };

/* ---- programs ---- */

static void fill(uint64_t *numbers, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next_number(numbers);
}

static dp_program *finish(dp_program *p)
{
    dp_error err = {0};
    const dp_scale_opts opts = {.weight_bits = 10, .activation_bits = 12};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

static dp_program *regression(void)
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
static dp_program *wide(size_t outputs)
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
static dp_program *network(void)
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
static dp_program *image(bool mean)
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

typedef struct scene {
    char folder[PATH], policy[PATH], log[PATH], port[16];
    dp_identity *provider, *client, *stranger;
    dp_server *server;
    pthread_t thread;
    dp_status ended;
} scene;

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

static void write_policy(scene *s, unsigned queries, const char *rest)
{
    FILE *file = fopen(s->policy, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "client = %s client\nqueries = %u\nwindow = 3600\n"
                  "protocols = he2-paillier he2-lattice\n%s",
                  dp_identity_fingerprint(s->client), queries, rest);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(s->policy, 0600), 0);
}

static const char scores[] = "returns = scores\nmodes = linear permute\n"
                             "allow-activation-leak = yes\n";

static scene *new_scene(void)
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

static void free_scene(scene *s)
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

static dp_server_opts server_opts(const scene *s, const dp_program *p, dp_serve_protocol protocol,
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
                            .timeout_ms = 20000,
                            .idle_ms = 20000,
                            .key_bits = SMALL_KEY};
}

static void *serve(void *of)
{
    scene *s = of;
    dp_error err = {0};
    s->ended = dp_server_run(s->server, &err);
    return NULL;
}

static void start(scene *s, const dp_server_opts *opts)
{
    dp_error err = {0};
    assert_ok(dp_server_new(opts, &s->server, &err), err.text);
    (void)snprintf(s->port, sizeof s->port, "%d", dp_server_port(s->server));
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(scene *s)
{
    dp_server_stop(s->server);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    assert_int_equal(s->ended, DP_OK);
    dp_server_free(s->server);
    s->server = NULL;
}

static dp_ask_opts ask_opts(const scene *s, dp_serve_protocol protocol, dp_serve_mode mode)
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
                         .key_bits = SMALL_KEY};
}

/* Asks for n random records, and compares with the oracle. */
static void answers_are_exact(scene *s, const dp_program *p, const dp_ask_opts *opts, int n)
{
    dp_error err = {0};
    dp_ask *ask;
    uint64_t numbers = 77;
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    double *x = calloc(inputs, sizeof *x);
    int64_t *v = calloc(inputs, sizeof *v), *y = calloc(outputs, sizeof *y);
    int64_t *expected = calloc(outputs, sizeof *expected);
    (void)s;
    assert_ok(dp_ask_new(opts, &ask, &err), err.text);
    for (int r = 0; r < n; r++) {
        fill(&numbers, inputs, x);
        assert_ok(dp_ask_query(ask, x, y, &err), err.text);
        assert_ok(dp_program_encode(p, 1, x, v, &err), err.text);
        assert_ok(dp_program_run_exact(p, 1, v, expected, &err), err.text);
        assert_memory_equal(y, expected, outputs * sizeof *y);
    }
    dp_ask_free(ask);
    free(x), free(v), free(y), free(expected);
}

static void serves(dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode, int n)
{
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, protocol, mode);
    start(s, &server);
    const dp_ask_opts opts = ask_opts(s, protocol, mode);
    answers_are_exact(s, p, &opts, n);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

static void paillier_answers_regressions(void **state)
{
    (void)state;
    serves(regression(), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 5);
    serves(image(false), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(wide(1), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(wide(7), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(image(true), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
}

/* Each side by itself, so that they must mean the same numbers. */
static void paillier_answers_without_vector_instructions(void **state)
{
    (void)state;
    dp_program *p = wide(1);
    for (int side = 0; side < 2; side++) {
        scene *s = new_scene();
        dp_server_opts server = server_opts(s, p, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
        server.flags |= side == 0 ? DPI_PORTABLE : 0;
        start(s, &server);
        dp_ask_opts opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
        opts.flags |= side == 1 ? DPI_PORTABLE : 0;
        answers_are_exact(s, p, &opts, 2);
        stop(s);
        free_scene(s);
    }
    dp_program_free(p);
}

static void lattice_answers_regressions(void **state)
{
    (void)state;
    serves(regression(), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 5);
    serves(image(false), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 2);
    serves(image(true), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 2);
}

static void networks_are_answered_with_consent(void **state)
{
    (void)state;
    serves(network(), DP_SERVE_PAILLIER, DP_SERVE_PERMUTE, 3);
    serves(network(), DP_SERVE_LATTICE, DP_SERVE_PERMUTE, 3);
}

/* ---- refusals ---- */

static void servers_refuse_what_was_not_agreed_to(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_error err = {0};
    dp_server *server;
    dp_program *p = network(), *q = regression();
    dp_server_opts opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.flags = WEAK;
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "every hidden number");
    opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "one linear stage");
    opts = server_opts(s, q, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    opts.flags = 0;
    assert_fails(dp_server_new(&opts, &server, &err), DP_EINVAL, &err, "2048 or 3072");
    write_policy(s, 5, "returns = scores\nmodes = linear\n");
    opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "does not allow");
    write_policy(s, 5, "returns = label\nmodes = linear\n");
    opts = server_opts(s, q, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EUNSUPPORTED, &err, "returns = scores");
    assert_null(server);
    dp_program_free(p);
    dp_program_free(q);
    free_scene(s);
}

static void askers_are_told_why_not(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_error err = {0};
    dp_ask *ask;
    dp_program *p = regression(), *other = image(true);
    unsigned char hash[DP_PROGRAM_HASH];
    double x[20] = {0};
    int64_t y[1];
    write_policy(s, 2, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);

    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.identity = s->stranger;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "does not know");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.provider = dp_identity_fingerprint(s->stranger);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EPEER, &err, "");
    opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "protocol or mode");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "protocol or mode");
    opts.flags = WEAK;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EPRIVACY, &err, "every hidden number");
    opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    opts.flags = 0;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EINVAL, &err, "2048 or 3072");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_ok(dp_program_hash(other, hash, &err), err.text);
    opts.hash = hash;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "another program");

    /* None of these was a query; the third is one too many. */
    assert_ok(dp_program_hash(p, hash, &err), err.text);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    x[3] = 1.5;
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EDOMAIN, &err, "not within");
    x[3] = .5;
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    stop(s);
    dp_program_free(p);
    dp_program_free(other);
    free_scene(s);
}

typedef struct asker {
    scene *s;
    const dp_program *p;
} asker;

static void *ask_many(void *of)
{
    const asker *a = of;
    const dp_ask_opts opts = ask_opts(a->s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    answers_are_exact(a->s, a->p, &opts, 4);
    return NULL;
}

static void clients_ask_at_the_same_time(void **state)
{
    (void)state;
    enum { CLIENTS = 3 };
    scene *s = new_scene();
    dp_program *p = regression();
    pthread_t threads[CLIENTS];
    asker a = {.s = s, .p = p};
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    for (int k = 0; k < CLIENTS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, ask_many, &a), 0);
    for (int k = 0; k < CLIENTS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    stop(s);
    dp_program_free(p);
    free_scene(s);
}

/* What moves is a function of the program alone. */
static void traffic_does_not_depend_on_the_record(void **state)
{
    (void)state;
    dp_program *p = network();
    double x[84];
    int64_t y[4];
    dp_error err = {0};
    for (int protocol = 0; protocol < 2; protocol++) {
        scene *s = new_scene();
        const dp_server_opts server =
            server_opts(s, p, (dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        start(s, &server);
        const dp_ask_opts opts = ask_opts(s, (dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        dp_ask *ask;
        dp_ask_traffic before, after, first = {0};
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        for (int r = 0; r < 4; r++) {
            uint64_t numbers = (uint64_t)r;
            fill(&numbers, 84, x);
            for (int i = 0; i < 84; i++)
                x[i] = r == 0 ? 0 : r == 1 ? 1 : r == 2 ? -1 : x[i];
            before = dp_ask_counts(ask);
            assert_ok(dp_ask_query(ask, x, y, &err), err.text);
            after = dp_ask_counts(ask);
            if (r == 0)
                first =
                    (dp_ask_traffic){.up = after.up - before.up, .down = after.down - before.down};
            assert_true(after.up - before.up == first.up && first.up > 0);
            assert_true(after.down - before.down == first.down && first.down > 0);
        }
        assert_int_equal(after.rounds, 4);
        dp_query_cost cost;
        assert_ok(dp_serve_cost(p, server.protocol, server.mode, 0, &cost, &err), err.text);
        assert_int_equal(cost.rounds, 4);
        /* Paillier's key is shorter here. */
        assert_true(protocol == DP_SERVE_PAILLIER || cost.up == first.up);
        assert_true(protocol == DP_SERVE_PAILLIER || cost.down == first.down);
        dp_ask_free(ask);
        stop(s);
        free_scene(s);
    }
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paillier_answers_regressions),
        cmocka_unit_test(paillier_answers_without_vector_instructions),
        cmocka_unit_test(lattice_answers_regressions),
        cmocka_unit_test(networks_are_answered_with_consent),
        cmocka_unit_test(servers_refuse_what_was_not_agreed_to),
        cmocka_unit_test(askers_are_told_why_not),
        cmocka_unit_test(clients_ask_at_the_same_time),
        cmocka_unit_test(traffic_does_not_depend_on_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
