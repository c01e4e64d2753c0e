/* Many queries at a time: in order, as one by one, and with nothing left over when it goes
 * wrong. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/asking.h"
#include "tests/lib/numbers.h"
#include "tests/serve/scene.h"

/* ---- the order ---- */

static void check_order(size_t layers, size_t in_flight, uint64_t queries)
{
    const dpi_stream_shape shape = {layers, in_flight, queries};
    size_t *done = calloc(queries, sizeof *done); /* layers of each query */
    uint64_t items = 0;
    assert_true(dpi_stream_fits(&shape, DPI_LINE_LANES));
    for (dpi_stream_item i = dpi_stream_first(&shape); i.left > 0; dpi_stream_next(&shape, &i)) {
        assert_true(i.query < queries && i.lane == i.query % in_flight);
        assert_int_equal(i.layer, done[i.query]++);
        assert_true(i.query < in_flight || done[i.query - in_flight] == layers);
        if (in_flight == layers)
            assert_int_equal(i.turn, i.query + i.layer); /* a wave */
        items++;
    }
    assert_int_equal(items, queries * layers);
    free(done);
}

static void items_come_in_turn(void **state)
{
    (void)state;
    for (size_t layers = 1; layers < 6; layers++)
        for (size_t in_flight = 2; in_flight < 9; in_flight++)
            for (uint64_t queries = in_flight; queries < 3 * in_flight + 2; queries++)
                check_order(layers, in_flight, queries);
    const dpi_stream_shape one = {3, 1, 1}, more = {3, 1, 2}, none = {3, 2, 0}, wide = {3, 4, 3},
                           vast = {3, 65, 100}, endless = {3, 2, UINT64_C(1) << 32};
    assert_true(dpi_stream_fits(&one, 16));
    assert_false(dpi_stream_fits(&more, 16) || dpi_stream_fits(&none, 16) ||
                 dpi_stream_fits(&wide, 16) || dpi_stream_fits(&vast, 100) ||
                 dpi_stream_fits(&endless, 16));
}

/* ---- threads ---- */

static void threads_follow_what_stages_take(void **state)
{
    (void)state;
    dp_error err = {0};
    size_t each[DPI_LINE_STAGES];
    dpi_stream_profile p;
    dpi_stream_profile_start(&p, 2);
    assert_ok(dpi_stream_threads(&p, 5, false, each, &err), err.text);
    assert_int_equal(each[0] + each[1], 5); /* nothing is known */
    assert_true(each[0] >= 2 && each[1] >= 2);
    p.seconds[0] = 8;
    p.lanes[0] = 2; /* 4 each */
    p.seconds[1] = 10;
    p.lanes[1] = 10;
    assert_ok(dpi_stream_threads(&p, 5, false, each, &err), err.text);
    assert_true(each[0] == 4 && each[1] == 1);
    assert_ok(dpi_stream_threads(&p, 5, true, each, &err), err.text);
    assert_true(each[0] >= 2 && each[1] >= 2);
    assert_ok(dpi_stream_threads(&p, 1, false, each, &err), err.text);
    assert_true(each[0] == 1 && each[1] == 1);
    dpi_stream_profile_end(&p);
}

/* ---- workers ---- */

enum { LANES = 4 };

typedef struct counted {
    size_t passed[LANES], fails_at;
} counted;

/* Goes around all three stages twice. */
static dp_status pass(void *user, size_t stage, size_t lane, dpi_pool *pool, size_t threads,
                      size_t *next, dp_error *err)
{
    counted *c = user;
    assert_true((pool != NULL) == (threads > 1));
    assert_int_equal(c->passed[lane] % 3, stage);
    c->passed[lane]++;
    *next = c->passed[lane] == 6 ? DPI_LINE_OUT : c->passed[lane] % 3;
    return c->passed[lane] == c->fails_at && lane == 2 ? dpi_fail(err, DP_EDATA, "not this one")
                                                       : DP_OK;
}

static void lanes_pass_all_stages(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_line *line;
    counted c = {.fails_at = 0};
    const size_t threads[] = {1, 2, 1};
    const dpi_line_opts opts = {
        .stages = 3, .lanes = LANES, .threads = threads, .work = pass, .user = &c};
    assert_ok(dpi_line_new(&opts, &line, &err), err.text);
    for (int round = 0; round < 3; round++) {
        memset(c.passed, 0, sizeof c.passed);
        for (size_t k = 0; k < LANES; k++)
            dpi_line_put(line, 0, k);
        for (size_t k = 0; k < LANES; k++)
            while (!dpi_line_ready(line, k))
                (void)usleep(100);
        assert_false(dpi_line_works(line));
    }
    for (size_t k = 0; k < 3; k++) {
        double seconds;
        size_t lanes;
        dpi_line_done(line, k, &seconds, &lanes);
        assert_int_equal(lanes, 3 * 2 * LANES);
        assert_true(seconds > 0 && seconds < 1);
    }
    /* An error is the line's end: the lane does not come out, and nobody waits for it. */
    memset(c.passed, 0, sizeof c.passed);
    c.fails_at = 5;
    dpi_line_put(line, 0, 2);
    while (dpi_line_works(line))
        (void)usleep(100);
    assert_false(dpi_line_ready(line, 2));
    assert_fails(dpi_line_status(line, &err), DP_EDATA, &err, "not this one");
    dpi_line_free(line);
}

/* ---- both sides ---- */

typedef struct asked {
    size_t n, inputs, outputs, answered;
    double *x;
    int64_t *y, *expected;
} asked;

static asked new_asked(const dp_program *p, size_t n, uint64_t numbers)
{
    dp_error err = {0};
    asked a = {.n = n, .inputs = dp_program_inputs(p), .outputs = dp_program_outputs(p)};
    int64_t *v = calloc(a.inputs, sizeof *v);
    a.x = calloc(n * a.inputs, sizeof *a.x);
    a.y = calloc(n * a.outputs, sizeof *a.y);
    a.expected = calloc(n * a.outputs, sizeof *a.expected);
    fill(&numbers, n * a.inputs, a.x);
    for (size_t i = 0; i < n; i++) {
        assert_ok(dp_program_encode(p, 1, a.x + i * a.inputs, v, &err), err.text);
        assert_ok(dp_program_run_exact(p, 1, v, a.expected + i * a.outputs, &err), err.text);
    }
    free(v);
    return a;
}

static void free_asked(asked *a)
{
    free(a->x);
    free(a->y);
    free(a->expected);
}

/* The first so many are answers, and nothing else is. */
static void first_are_answers(const asked *a)
{
    size_t with = a->answered * a->outputs;
    assert_memory_equal(a->y, a->expected, with * sizeof *a->y);
    for (size_t i = with; i < a->n * a->outputs; i++)
        assert_int_equal(a->y[i], 0);
}

static dp_status ask_asked(dp_ask *ask, asked *a, dp_error *err)
{
    memset(a->y, 0xee, a->n * a->outputs * sizeof *a->y);
    return dp_ask_many(ask, a->n, a->x, a->y, &a->answered, err);
}

/* Streams of several widths, and a query between them. */
static void streams(dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode)
{
    static const size_t widths[] = {2, 3, 5, 16};
    dp_error err = {0};
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, protocol, mode);
    asked a = new_asked(p, 7, 3);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, protocol, mode);
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        dp_ask *ask;
        opts.in_flight = widths[k];
        opts.threads = 1 + 3 * k;
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        for (int again = 0; again < 2; again++) {
            assert_ok(ask_asked(ask, &a, &err), err.text);
            assert_int_equal(a.answered, a.n);
            first_are_answers(&a);
            assert_ok(dp_ask_query(ask, a.x, a.y, &err), err.text);
            a.answered = 1;
            assert_memory_equal(a.y, a.expected, a.outputs * sizeof *a.y);
        }
        dp_ask_free(ask);
    }
    stop(s);
    free_asked(&a);
    free_scene(s);
    dp_program_free(p);
}

static void streams_give_what_queries_give(void **state)
{
    (void)state;
    for (int protocol = 0; protocol < 2; protocol++) {
        streams(network(), (dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        streams(regression(), (dp_serve_protocol)protocol, DP_SERVE_LINEAR);
        streams(image(false), (dp_serve_protocol)protocol, DP_SERVE_LINEAR);
    }
}

/* Bytes there and back of one stream. */
static dp_ask_traffic traffic(dp_ask *ask, asked *a)
{
    dp_error err = {0};
    dp_ask_traffic before = dp_ask_counts(ask);
    assert_ok(ask_asked(ask, a, &err), err.text);
    first_are_answers(a);
    dp_ask_traffic after = dp_ask_counts(ask);
    return (dp_ask_traffic){.up = after.up - before.up, .down = after.down - before.down};
}

static void traffic_depends_on_how_many_alone(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ask *ask;
    scene *s = new_scene();
    dp_program *p = network();
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    asked a = new_asked(p, 5, 3), b = new_asked(p, 5, 4);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.in_flight = 3;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    dp_ask_traffic one = traffic(ask, &a), two = traffic(ask, &b);
    assert_true(one.up == two.up && one.down == two.down && one.up > 0 && one.down > 0);
    dp_ask_free(ask);
    stop(s);
    free_asked(&a);
    free_asked(&b);
    free_scene(s);
    dp_program_free(p);
}

/* ---- what goes wrong ---- */

static size_t lines_of(const scene *s, const char *word)
{
    char line[512];
    size_t count = 0;
    FILE *log = fopen(s->log, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log) != NULL)
        count += strstr(line, word) != NULL;
    (void)fclose(log);
    return count;
}

static void each_query_is_one_of_the_budget(void **state)
{
    (void)state;
    enum { BUDGET = 5 };
    dp_error err = {0};
    dp_ask *ask;
    scene *s = new_scene();
    dp_program *p = network();
    asked a = new_asked(p, 12, 3);
    write_policy(s, BUDGET, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.in_flight = 3;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_fails(ask_asked(ask, &a, &err), DP_EREFUSED, &err, "used up");
    assert_true(a.answered >= BUDGET - 3 && a.answered <= BUDGET);
    first_are_answers(&a);
    assert_true(dp_ask_query(ask, a.x, a.y, &err) != DP_OK);
    dp_ask_free(ask);
    stop(s);
    assert_int_equal(lines_of(s, " asked "), BUDGET);
    assert_int_equal(lines_of(s, " ended "), BUDGET); /* also those that were under way */
    assert_true(lines_of(s, "ended DP_OK") >= a.answered);
    free_asked(&a);
    free_scene(s);
    dp_program_free(p);
}

/* Who begins a stream and sends nothing has paid for the place that he holds. */
static void a_stream_that_is_let_lie_is_a_query(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ask *ask;
    scene *s = new_scene();
    dp_program *p = regression();
    write_policy(s, 2, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.in_flight = 2;
    for (int i = 0; i < 3; i++) {
        const unsigned char kind = DPI_QUERY_STREAM, many[DPI_STREAM_BYTES] = {4, [8] = 2};
        unsigned char go;
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        assert_ok(dpi_wire_send(ask->wire, DPI_SAY_QUERY, 0, &kind, 1, 20000), "");
        assert_ok(dpi_wire_send(ask->wire, DPI_SAY_STREAM, 0, many, sizeof many, 20000), "");
        if (i == 2) {
            dp_status status = dpi_wire_receive(ask->wire, DPI_SAY_GO, 0, &go, 1, 20000);
            assert_int_equal(status, DP_EREFUSED);
        }
        const size_t paid = i < 2 ? (size_t)i + 1 : 2;
        for (int k = 0; lines_of(s, " asked ") < paid && k < 5000; k++)
            (void)usleep(1000);
        assert_int_equal(lines_of(s, " asked "), paid);
        dp_ask_free(ask);
    }
    stop(s);
    assert_int_equal(lines_of(s, " asked "), 2);
    assert_int_equal(lines_of(s, " ended "), 2);
    free_scene(s);
    dp_program_free(p);
}

static void no_more_are_under_way_than_the_server_allows(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ask *ask;
    scene *s = new_scene();
    dp_program *p = regression();
    asked a = new_asked(p, 6, 3);
    dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    server.in_flight = DPI_LINE_LANES + 1;
    assert_fails(dp_server_new(&server, &s->server, &err), DP_EINVAL, &err, "");
    server.in_flight = 2;
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.in_flight = DPI_LINE_LANES + 1;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EINVAL, &err, "");
    for (opts.in_flight = 2; opts.in_flight < 4; opts.in_flight++) {
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        if (opts.in_flight == 2)
            assert_ok(ask_asked(ask, &a, &err), err.text);
        else
            assert_fails(ask_asked(ask, &a, &err), DP_EREFUSED, &err, "at a time");
        first_are_answers(&a);
        dp_ask_free(ask);
    }
    stop(s);
    assert_int_equal(lines_of(s, " asked "), 6);
    free_asked(&a);
    free_scene(s);
    dp_program_free(p);
}

static void a_record_out_of_bounds_sends_nothing(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ask *ask;
    scene *s = new_scene();
    dp_program *p = regression();
    asked a = new_asked(p, 4, 3);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.in_flight = 4;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    double kept = a.x[3 * a.inputs];
    a.x[3 * a.inputs] = 2;
    assert_fails(ask_asked(ask, &a, &err), DP_EDOMAIN, &err, "not within");
    assert_int_equal(a.answered, 0);
    first_are_answers(&a);
    a.x[3 * a.inputs] = kept;
    assert_ok(ask_asked(ask, &a, &err), err.text);
    first_are_answers(&a);
    dp_ask_free(ask);
    stop(s);
    assert_int_equal(lines_of(s, " asked "), 4);
    free_asked(&a);
    free_scene(s);
    dp_program_free(p);
}

static void *cut_soon(void *of)
{
    (void)usleep(60000);
    dpi_wire_cut(((dp_ask *)of)->wire);
    return NULL;
}

/* The connection ends in the middle: both sides know, and the next session works. */
static void a_cut_ends_all_that_are_under_way(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ask *ask;
    pthread_t thread;
    scene *s = new_scene();
    dp_program *p = network();
    asked a = new_asked(p, 900, 3);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_PAILLIER, DP_SERVE_PERMUTE);
    start(s, &server);
    dp_ask_opts opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_PERMUTE);
    opts.in_flight = 4;
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_int_equal(pthread_create(&thread, NULL, cut_soon, ask), 0);
    assert_fails(ask_asked(ask, &a, &err), DP_EPEER, &err, "");
    assert_true(a.answered < a.n);
    first_are_answers(&a);
    assert_int_equal(pthread_join(thread, NULL), 0);
    dp_ask_free(ask);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    a.n = 8;
    assert_ok(ask_asked(ask, &a, &err), err.text);
    first_are_answers(&a);
    dp_ask_free(ask);
    stop(s);
    assert_int_equal(lines_of(s, " asked "), lines_of(s, " ended "));
    free_asked(&a);
    free_scene(s);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_turn),
        cmocka_unit_test(threads_follow_what_stages_take),
        cmocka_unit_test(lanes_pass_all_stages),
        cmocka_unit_test(streams_give_what_queries_give),
        cmocka_unit_test(traffic_depends_on_how_many_alone),
        cmocka_unit_test(each_query_is_one_of_the_budget),
        cmocka_unit_test(a_stream_that_is_let_lie_is_a_query),
        cmocka_unit_test(no_more_are_under_way_than_the_server_allows),
        cmocka_unit_test(a_record_out_of_bounds_sends_nothing),
        cmocka_unit_test(a_cut_ends_all_that_are_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
