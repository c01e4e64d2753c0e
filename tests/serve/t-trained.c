/* Models are trained, lowered and served: on every record the answer is the oracle's to the bit,
 * and the class that of the fit. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/idx.h>
#include <tacit/infer.h>
#include <tacit/lower.h>
#include <tacit/models.h>
#include <tacit/serve.h>
#include <tacit/table.h>

#include "tests/lib/check.h"

enum { PATH = 300, WOMEN = 1934, NUMBERS = 6, DISTRICTS = 61, SIDE = 8, CLASSES = 10 };
enum { IMAGES = 1797, LEARNT = 1500, TESTED = IMAGES - LEARNT };

/* ---- both sides ---- */

typedef struct scene {
    char folder[PATH - 20], policy[PATH], log[PATH], port[16];
    dp_identity *provider, *client;
    dp_server *server;
    pthread_t thread;
    dp_ask *ask;
} scene;

static dp_identity *identity(const scene *s, const char *name)
{
    char path[PATH];
    dp_error err = {0};
    dp_identity *made;
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    assert_ok(dp_identity_new(path, &made, &err), err.text);
    return made;
}

static void *provide(void *server)
{
    dp_error err = {0};
    return dp_server_run(server, &err) == DP_OK ? server : NULL;
}

static void write_policy(const scene *s)
{
    FILE *file = fopen(s->policy, "w");
    assert_non_null(file);
    assert_int_equal(chmod(s->policy, 0600), 0);
    (void)fprintf(file,
                  "client = %s client\nqueries = 10000\nwindow = 3600\nreturns = scores\n"
                  "protocols = he2-lattice\nmodes = linear permute\nallow-activation-leak = yes\n",
                  dp_identity_fingerprint(s->client));
    assert_int_equal(fclose(file), 0);
}

static void open_scene(scene *s, const dp_program *p, dp_serve_mode mode)
{
    dp_error err = {0};
    *s = (scene){.folder = "/tmp/t-trained-XXXXXX"};
    assert_non_null(mkdtemp(s->folder));
    (void)snprintf(s->policy, sizeof s->policy, "%s/policy", s->folder);
    (void)snprintf(s->log, sizeof s->log, "%s/log", s->folder);
    s->provider = identity(s, "provider");
    s->client = identity(s, "client");
    write_policy(s);
    const unsigned flags = mode == DP_SERVE_PERMUTE ? DP_ALLOW_ACTIVATION_LEAK : 0;
    const dp_server_opts serves = {.program = p,
                                   .identity = s->provider,
                                   .policy = s->policy,
                                   .log = s->log,
                                   .host = "127.0.0.1",
                                   .port = "0",
                                   .protocol = DP_SERVE_LATTICE,
                                   .mode = mode,
                                   .flags = flags};
    assert_ok(dp_server_new(&serves, &s->server, &err), err.text);
    (void)snprintf(s->port, sizeof s->port, "%d", dp_server_port(s->server));
    assert_int_equal(pthread_create(&s->thread, NULL, provide, s->server), 0);
    const dp_ask_opts asks = {.identity = s->client,
                              .host = "127.0.0.1",
                              .port = s->port,
                              .provider = dp_identity_fingerprint(s->provider),
                              .protocol = DP_SERVE_LATTICE,
                              .mode = mode,
                              .flags = flags};
    assert_ok(dp_ask_new(&asks, &s->ask, &err), err.text);
}

static void close_scene(scene *s)
{
    static const char *const names[] = {"provider", "client", "policy", "log"};
    char path[PATH];
    void *ended;
    dp_ask_free(s->ask);
    dp_server_stop(s->server);
    assert_int_equal(pthread_join(s->thread, &ended), 0);
    assert_non_null(ended);
    dp_server_free(s->server);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(s->folder);
    dp_identity_free(s->provider);
    dp_identity_free(s->client);
}

/* ---- trained, lowered, served ---- */

static int class_of(size_t m, const double *y)
{
    size_t best = 0;
    for (size_t k = 1; k < m; k++)
        best = y[k] > y[best] ? k : best;
    return m == 1 ? y[0] > .5 : (int)best;
}

/* Asks about all records; how many classes differ from those of expected[n][m], the fit's own. */
static int ask_about_all(scene *s, const dp_program *p, const dp_dataset *data, size_t m,
                         const double *expected)
{
    dp_error err = {0};
    int differ = 0;
    const size_t n = dp_dataset_size(data), inputs = dp_program_inputs(p);
    double *x = calloc(n * inputs, sizeof *x), *mean = calloc(m, sizeof *mean);
    int64_t *v = calloc(inputs, sizeof *v), *y = calloc(m, sizeof *y), *oracle = calloc(m, 8);
    assert_int_equal(dp_program_outputs(p), m);
    assert_ok(dp_program_read(p, data, n * inputs, x, &err), err.text);
    for (size_t i = 0; i < n; i++) {
        assert_ok(dp_program_encode(p, 1, x + i * inputs, v, &err), err.text);
        assert_ok(dp_program_run_exact(p, 1, v, oracle, &err), err.text);
        assert_ok(dp_ask_query(s->ask, x + i * inputs, y, &err), err.text);
        assert_memory_equal(y, oracle, m * sizeof *y);
        dp_program_decode(dp_ask_program(s->ask), y, mean, NULL);
        for (size_t k = 0; k < m; k++)
            assert_close(mean[k], expected[i * m + k], 0, .01);
        differ += class_of(m, mean) != class_of(m, expected + i * m);
    }
    free(x), free(mean), free(v), free(y), free(oracle);
    return differ;
}

static void answers(dp_fit *fit, const dp_lower_opts *lower, const dp_dataset *data, size_t m,
                    const double *expected, int may_differ, dp_serve_mode mode)
{
    dp_error err = {0};
    dp_program *p;
    scene s;
    assert_ok(dp_program_of_fit(fit, "y", lower, &p, &err), err.text);
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    open_scene(&s, p, mode);
    assert_true(ask_about_all(&s, p, data, m, expected) <= may_differ);
    close_scene(&s);
    dp_program_free(p);
    dp_fit_free(fit);
}

/* ---- women ---- */

static const char *source(const char *name)
{
    static char path[PATH];
    const char *top = getenv("top_srcdir");
    (void)snprintf(path, sizeof path, "%s/examples/data/%s", top != NULL ? top : ".", name);
    return path;
}

static dp_table *women(void)
{
    static const char *const yes_no[] = {"N", "Y"}, *const children[] = {"0", "1", "2", "3+"};
    static const dp_column columns[] = {
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
        {.name = "urban", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "livch", .kind = DP_COLUMN_LEVEL, .levels = children, .n_levels = 4},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = DISTRICTS}};
    dp_table *t;
    dp_error err = {0};
    assert_ok(dp_table_read_csv(source("contraception.csv"), NULL, 5, columns, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), WOMEN);
    return t;
}

/* The chance of each woman, by the posterior means of the fit. */
static void chances(const dp_fit *fit, const double *x, const int32_t *place, double *chance)
{
    dp_summary intercept, w[NUMBERS], effect[DISTRICTS];
    dp_error err = {0};
    assert_ok(dp_fit_summary(fit, "intercept", 1, &intercept, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", NUMBERS, w, &err), err.text);
    assert_ok(dp_fit_summary(fit, "district_effect", DISTRICTS, effect, &err), err.text);
    for (size_t i = 0; i < WOMEN; i++) {
        double eta = intercept.mean + effect[place[i]].mean;
        for (size_t j = 0; j < NUMBERS; j++)
            eta += w[j].mean * x[i * NUMBERS + j];
        chance[i] = 1 / (1 + exp(-eta));
    }
}

static void a_private_regression_with_groups_answers_for_every_woman(void **state)
{
    (void)state;
    static double x[WOMEN * NUMBERS], use[WOMEN], chance[WOMEN];
    const dp_grouping district = {"district", DISTRICTS};
    const dp_regression_opts opts = {.predictors = NUMBERS,
                                     .groupings = &district,
                                     .n_groupings = 1,
                                     .likelihood = DP_LIKELIHOOD_LOGISTIC};
    const dp_fit_opts ask = {.epsilon = 4, .delta = 1e-4, .seed = 3};
    dp_error err = {0};
    dp_model *m;
    dp_fit *fit;
    dp_table *t = women();
    const double *age = dp_table_real(t, "age");
    for (size_t i = 0; i < WOMEN; i++) {
        const int32_t children = dp_table_level(t, "livch")[i];
        x[i * NUMBERS] = age[i] / 20;
        x[i * NUMBERS + 1] = age[i] * age[i] / 400;
        x[i * NUMBERS + 2] = dp_table_level(t, "urban")[i];
        if (children > 0)
            x[i * NUMBERS + 2 + (size_t)children] = 1;
        use[i] = dp_table_level(t, "use")[i];
    }
    dp_dataset *data = dp_dataset_new(WOMEN);
    dp_dataset_real(data, "x", NUMBERS, x);
    dp_dataset_real(data, "y", 1, use);
    dp_dataset_index(data, "district", dp_table_level(t, "district"));
    assert_ok(dp_hierarchical_regression(&opts, &m, &err), err.text);
    assert_ok(dp_fit_private(m, data, &ask, &fit, &err), err.text);
    chances(fit, x, dp_table_level(t, "district"), chance);
    const dp_lower_opts lower = {.low = -1, .high = 1};
    answers(fit, &lower, data, 1, chance, 2, DP_SERVE_LINEAR);
    dp_dataset_free(data);
    dp_model_free(m);
    dp_table_free(t);
}

/* ---- digits ---- */

static dp_dataset *digits(const dp_idx *images, const int32_t *labels, size_t from, size_t n)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_bytes(data, "x", (size_t)SIDE * SIDE, 16,
                     dp_idx_values(images) + from * SIDE * SIDE);
    dp_dataset_index(data, "y", labels + from);
    return data;
}

static dp_fit *learn(const dp_dataset *data)
{
    static const dp_cnn_layer layers[] = {{4, 3, 1, 0, 2, 2}};
    const dp_cnn_opts opts = {.rows = SIDE,
                              .columns = SIDE,
                              .layers = layers,
                              .n_layers = 1,
                              .hidden = 24,
                              .classes = CLASSES,
                              .activation = DP_ACTIVATION_RELU};
    const dp_svi_opts svi_opts = {.mode = DP_NO_PRIVACY,
                                  .sampling = DP_SAMPLING_POISSON,
                                  .rate = .05,
                                  .steps = 600,
                                  .step_size = 1e-2,
                                  .seed = 1};
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    dp_fit *fit;
    assert_ok(dp_cnn(&opts, &m, &err), err.text);
    assert_ok(dp_svi_new(m, NULL, data, &svi_opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    dp_model_free(m);
    return fit;
}

static void a_trained_network_answers_for_every_image(void **state)
{
    (void)state;
    static double chance[TESTED * CLASSES];
    static int32_t label[IMAGES];
    dp_idx *images, *classes;
    dp_error err = {0};
    int right = 0;
    assert_ok(dp_idx_read(source("digits-idx3-ubyte"), 0, &images, &err), err.text);
    assert_ok(dp_idx_read(source("digits-labels-idx1-ubyte"), 0, &classes, &err), err.text);
    assert_int_equal(dp_idx_items(images), IMAGES);
    for (size_t i = 0; i < IMAGES; i++)
        label[i] = dp_idx_values(classes)[i];
    dp_dataset *train = digits(images, label, 0, LEARNT);
    dp_dataset *test = digits(images, label, LEARNT, TESTED);
    dp_fit *fit = learn(train);
    const dp_given given = {.data = test};
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "class_probability"), &given,
                              sizeof chance / sizeof *chance, chance, &err),
              err.text);
    for (size_t i = 0; i < TESTED; i++)
        right += class_of(CLASSES, chance + i * CLASSES) == label[LEARNT + i];
    assert_true(right > TESTED * 85 / 100);
    const dp_lower_opts lower = {.low = 0, .high = 1};
    answers(fit, &lower, test, CLASSES, chance, 1, DP_SERVE_PERMUTE);
    dp_dataset_free(train);
    dp_dataset_free(test);
    dp_idx_free(images);
    dp_idx_free(classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_private_regression_with_groups_answers_for_every_woman),
        cmocka_unit_test(a_trained_network_answers_for_every_image)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
