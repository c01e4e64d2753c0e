/* Three and four parties answer as the oracle does, in every number of lanes and records. */
#include <stdlib.h>
#include <string.h>

#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

static void begin(daemons *d, const daemons_opts *o)
{
    dp_error err = {0};
    if (!daemons_start(d, o, &err))
        fail_msg("%s", err.text);
}

/* Asks about n records of random numbers, at most `records` in one query. */
static void answers_are_right(const daemons *d, const dp_program *p, size_t n, size_t records,
                              size_t lanes)
{
    const size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    uint64_t numbers = 4242 + n;
    dp_error err = {0};
    dp_ask *ask;
    double *x = calloc(n * inputs, sizeof *x);
    int64_t *v = calloc(n * inputs, sizeof *v), *y = calloc(n * outputs, sizeof *y);
    int64_t *expected = calloc(n * outputs, sizeof *expected);
    size_t answered = 0;
    const dp_ask_parties_opts o = {
        .identity = d->client, .parties = d->parties, .records = records, .lanes = lanes};
    fill(&numbers, n * inputs, x);
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_ok(dp_ask_many(ask, n, x, y, &answered, &err), err.text);
    assert_int_equal(answered, n);
    assert_ok(dp_program_encode(p, n, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, n, v, expected, &err), err.text);
    assert_memory_equal(y, expected, n * outputs * sizeof *y);
    memset(y, 0, outputs * sizeof *y);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_memory_equal(y, expected, outputs * sizeof *y);
    dp_ask_free(ask);
    free(x), free(v), free(y), free(expected);
}

static void a_linear_model_is_served(void **state)
{
    (void)state;
    dp_program *p = wide(8);
    for (size_t n = 3; n <= 4; n++) {
        const size_t all = n == 3 ? 6 : 24;
        daemons d;
        dp_error err = {0};
        begin(&d, &(daemons_opts){.n = n, .lanes = all});
        assert_ok(daemons_share(&d, p, &err), err.text);
        answers_are_right(&d, p, 1, 1, 1);
        answers_are_right(&d, p, 20, 7, 1);
        answers_are_right(&d, p, 20, 7, 3);
        answers_are_right(&d, p, all - 1, all, all);
        daemons_stop(&d);
    }
    dp_program_free(p);
}

/* Convolution, relu, max and average pools, a sum of two stages, and what ends it. */
static dp_program *residual(bool label)
{
    double w[4 * 9 * 2], v[4 * 9 * 4], u[5 * 24], b[8];
    uint64_t numbers = 12;
    const dp_window three = {.size = {3, 3}, .padding = {1, 1}};
    const dp_window two = {.size = {2, 2}, .stride = {2, 2}};
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, sizeof v / sizeof *v, v);
    fill(&numbers, sizeof u / sizeof *u, u);
    fill(&numbers, sizeof b / sizeof *b, b);
    dp_program *p = dp_program_new();
    int h = dp_program_image(p, 6, 9, 2, "pixel", -1, 1);
    h = dp_program_relu(p, dp_program_convolution(p, h, 4, &three, w, b));
    int g = dp_program_convolution(p, h, 4, &three, v, b);
    h = dp_program_relu(p, dp_program_add(p, h, g));
    h = dp_program_max_pool(p, h, &two);
    h = dp_program_average_pool(p, h, &(dp_window){.size = {2, 2}, .stride = {2, 2}});
    h = dp_program_dense(p, h, 5, u, b);
    if (label)
        (void)dp_program_argmax(p, h);
    return finish(p);
}

static void networks_are_served(void **state)
{
    (void)state;
    dp_program *const programs[] = {regression(), residual(false), residual(true)};
    for (size_t n = 3; n <= 4; n++) {
        daemons d;
        dp_error err = {0};
        begin(&d, &(daemons_opts){.n = n, .lanes = 3});
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
            assert_ok(daemons_share(&d, programs[i], &err), err.text);
            answers_are_right(&d, programs[i], 3, 2, 1);
            answers_are_right(&d, programs[i], 16, 8, 3);
        }
        daemons_stop(&d);
    }
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        dp_program_free(programs[i]);
}

/* The payload of a query is what its cost says, for any number of records. */
static void a_query_moves_what_its_cost_says(void **state)
{
    (void)state;
    enum { MOST = 5 };
    dp_program *p = residual(false);
    double x[MOST * 108] = {0};
    int64_t y[MOST * 5];
    for (size_t n = 3; n <= 4; n++) {
        daemons d;
        dp_ask *ask;
        dp_shared_cost cost;
        size_t answered;
        dp_error err = {0};
        begin(&d, &(daemons_opts){.n = n});
        assert_ok(daemons_share(&d, p, &err), err.text);
        const dp_ask_parties_opts o = {.identity = d.client, .parties = d.parties, .records = MOST};
        assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
        for (size_t records = 1; records <= MOST; records += 2) {
            const dp_ask_traffic before = dp_ask_counts(ask);
            assert_ok(dp_ask_many(ask, records, x, y, &answered, &err), err.text);
            const dp_ask_traffic after = dp_ask_counts(ask);
            assert_ok(dp_parties_cost(p, n, records, false, &cost, &err), err.text);
            assert_int_equal(cost.up, after.up - before.up);
            assert_int_equal(cost.down, after.down - before.down);
            assert_int_equal(cost.bits, 32);
            assert_true(cost.rounds > 0 && cost.dealt > 0 && cost.online > 0);
        }
        dp_ask_free(ask);
        daemons_stop(&d);
    }
    dp_program_free(p);
}

/* Rounds and bytes of one layer and its relu, by the tables of share-trio.md and share-quad.md. */
static void costs_are_those_of_the_tables(void **state)
{
    (void)state;
    const double w[3] = {1, -1, .5};
    dp_shared_cost cost;
    dp_error err = {0};
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 3, "x", -1, 1), 1, w, NULL);
    (void)finish(p);
    assert_ok(dp_parties_cost(p, 3, 10, false, &cost, &err), err.text);
    const size_t element = (size_t)cost.bits / 8;
    assert_int_equal(cost.rounds, 1);
    assert_int_equal(cost.dealt, 10 * element);
    assert_int_equal(cost.online, 2 * 10 * element);
    assert_ok(dp_parties_cost(p, 4, 10, false, &cost, &err), err.text);
    assert_int_equal(cost.rounds, 1);
    assert_int_equal(cost.dealt, 2 * 10 * element);
    assert_int_equal(cost.online, 3 * 10 * element);
    assert_int_equal(dp_parties_cost(p, 2, 10, false, &cost, &err), DP_EINVAL);
    assert_int_equal(cost.rounds, 0);
    assert_int_equal(dp_parties_cost(p, 3, 0, false, &cost, &err), DP_EINVAL);
    assert_int_equal(dp_parties_cost(p, 4, 65537, false, &cost, &err), DP_EINVAL);
    dp_program_free(p);
}

/* A relu's shift that the layer before it does saves a round, and bytes before and after. */
static void rounding_by_chance_costs_less(void **state)
{
    (void)state;
    const double w[9] = {1, -1, .5, .25, 1, -.5, 1, 1, 1};
    dp_shared_cost exact, chance;
    dp_error err = {0};
    dp_program *p = dp_program_new();
    const int h = dp_program_dense(p, dp_program_input(p, 3, "x", -1, 1), 3, w, NULL);
    (void)dp_program_dense(p, dp_program_relu(p, h), 1, w, NULL);
    const dp_scale_opts wide = {.weight_bits = 16, .activation_bits = 20};
    assert_ok(dp_program_fix(p, &wide, &err), err.text);
    for (size_t n = 3; n <= 4; n++) {
        assert_ok(dp_parties_cost(p, n, 10, false, &exact, &err), err.text);
        assert_ok(dp_parties_cost(p, n, 10, true, &chance, &err), err.text);
        assert_int_equal(exact.bits, 64);
        assert_true(chance.rounds < exact.rounds);
        assert_true(chance.dealt < exact.dealt && chance.online < exact.online);
        assert_true(chance.up == exact.up && chance.down == exact.down);
    }
    dp_program_free(p);
}

/* Each draw's answer comes, and with them mean and standard deviation. */
static void posterior_draws_are_served(void **state)
{
    (void)state;
    enum { N = 7, DRAWS = 5 };
    double w[N * DRAWS], x[N], mean, sd, mean_here, sd_here;
    uint64_t numbers = 31;
    int64_t y[DRAWS], v[N], expected[DRAWS];
    daemons d;
    dp_ask *ask;
    dp_error err = {0};
    fill(&numbers, N * DRAWS, w);
    fill(&numbers, N, x);
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, N, "x", -1, 1), DRAWS, w, w);
    dp_program_answer(p, DP_LINK_LOGISTIC, DRAWS);
    (void)finish(p);
    begin(&d, &(daemons_opts){.n = 3});
    assert_ok(daemons_share(&d, p, &err), err.text);
    const dp_ask_parties_opts o = {.identity = d.client, .parties = d.parties};
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    dp_program_decode(dp_ask_program(ask), y, &mean, &sd);
    assert_ok(dp_program_encode(p, 1, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, 1, v, expected, &err), err.text);
    dp_program_decode(p, expected, &mean_here, &sd_here);
    assert_close(mean, mean_here, 0, 0);
    assert_close(sd, sd_here, 0, 0);
    assert_true(sd > 0);
    dp_ask_free(ask);
    daemons_stop(&d);
    dp_program_free(p);
}

typedef struct asking_thread {
    const daemons *d;
    pthread_t thread;
    dp_error err;
} asking_thread;

static void *ask_ten_times(void *of)
{
    asking_thread *t = of;
    const dp_ask_parties_opts o = {
        .identity = t->d->client, .parties = t->d->parties, .records = 4, .lanes = 2};
    double x[4 * 150] = {0};
    int64_t y[4 * 2];
    size_t answered;
    dp_ask *ask;
    for (int i = 0; t->err.status == DP_OK && i < 10; i++) {
        if (dp_ask_parties_new(&o, &ask, &t->err) == DP_OK)
            (void)!dp_ask_many(ask, 4, x, y, &answered, &t->err);
        dp_ask_free(ask);
    }
    return NULL;
}

static void sessions_go_on_side_by_side(void **state)
{
    (void)state;
    daemons d;
    dp_error err = {0};
    asking_thread t[3] = {{.d = &d}, {.d = &d}, {.d = &d}};
    dp_program *p = wide(2);
    begin(&d, &(daemons_opts){.n = 3, .lanes = 2});
    assert_ok(daemons_share(&d, p, &err), err.text);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i].thread, NULL, ask_ten_times, &t[i]), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(t[i].thread, NULL), 0);
        assert_ok(t[i].err.status, t[i].err.text);
    }
    daemons_stop(&d);
    dp_program_free(p);
}

/* The next session has the model that was shared last, and the one that has begun its own. */
static void a_model_is_replaced_between_sessions(void **state)
{
    (void)state;
    daemons d;
    dp_error err = {0};
    dp_ask *ask;
    double x[150] = {.25, .5};
    int64_t v[150], y[8], expected[8];
    dp_program *p = wide(2), *other = wide(8);
    begin(&d, &(daemons_opts){.n = 3});
    assert_ok(daemons_share(&d, p, &err), err.text);
    const dp_ask_parties_opts o = {.identity = d.client, .parties = d.parties};
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_ok(daemons_share(&d, other, &err), err.text);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_ok(dp_program_encode(p, 1, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, 1, v, expected, &err), err.text);
    assert_memory_equal(y, expected, 2 * sizeof *y);
    dp_ask_free(ask);
    answers_are_right(&d, other, 3, 3, 1);
    daemons_stop(&d);
    dp_program_free(p);
    dp_program_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_model_is_served),
        cmocka_unit_test(networks_are_served),
        cmocka_unit_test(a_query_moves_what_its_cost_says),
        cmocka_unit_test(costs_are_those_of_the_tables),
        cmocka_unit_test(rounding_by_chance_costs_less),
        cmocka_unit_test(posterior_draws_are_served),
        cmocka_unit_test(sessions_go_on_side_by_side),
        cmocka_unit_test(a_model_is_replaced_between_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
