/* No answer leaves before the log says on its disk that it was asked for. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/numbers.h"
#include "tests/serve/disk.h"
#include "tests/serve/scene.h"

/* ---- a query ---- */

enum { ROWS = 2 /* of a stream */ };

typedef struct query {
    dp_ask *ask;
    double *x;
    int64_t *y;
    dp_error err;
    dp_status status;
    bool streams;
    pthread_t thread;
    atomic_bool back;
} query;

static void *run_query(void *of)
{
    query *q = of;
    size_t answered;
    q->status = q->streams ? dp_ask_many(q->ask, ROWS, q->x, q->y, &answered, &q->err)
                           : dp_ask_query(q->ask, q->x, q->y, &q->err);
    atomic_store(&q->back, true);
    return NULL;
}

/* Asks a server of its own while the disk takes its time, and then does or does not write. */
static void ask(dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode, bool streams,
                bool breaks)
{
    dp_error err = {0};
    scene *s = new_scene();
    dp_server_opts server = server_opts(s, p, protocol, mode);
    dp_ask_opts opts = ask_opts(s, protocol, mode);
    server.in_flight = opts.in_flight = streams ? 2 : 0;
    start(s, &server);
    opts.port = s->port;
    const size_t rows = streams ? ROWS : 1;
    const size_t inputs = rows * dp_program_inputs(p), outputs = rows * dp_program_outputs(p);
    query q = {
        .x = calloc(inputs, sizeof *q.x), .y = calloc(outputs, sizeof *q.y), .streams = streams};
    int64_t *v = calloc(inputs, sizeof *v), *expected = calloc(outputs, sizeof *expected);
    uint64_t numbers = 3;
    fill(&numbers, inputs, q.x);
    assert_ok(dp_ask_new(&opts, &q.ask, &err), err.text);
    assert_ok(dp_program_encode(p, rows, q.x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, rows, v, expected, &err), err.text);
    const uint64_t before = dp_ask_counts(q.ask).down;
    disk_hold(breaks);
    assert_int_equal(pthread_create(&q.thread, NULL, run_query, &q), 0);
    disk_wait(1);
    assert_false(atomic_load(&q.back));
    atomic_store(&disk_held, 0);
    assert_int_equal(pthread_join(q.thread, NULL), 0);
    if (breaks) {
        memset(expected, 0, outputs * sizeof *expected);
        assert_int_not_equal(q.status, DP_OK);
        assert_true(dp_ask_counts(q.ask).down <= before + DPI_QUERY_BYTES); /* to go on */
    } else {
        assert_ok(q.status, q.err.text);
    }
    assert_memory_equal(q.y, expected, outputs * sizeof *expected);
    dp_ask_free(q.ask);
    if (breaks)
        ends(s, DP_EIO); /* it could answer nobody any more */
    else
        stop(s);
    (void)disk_release(NULL);
    free_scene(s);
    dp_program_free(p);
    free(q.x), free(q.y), free(v), free(expected);
}

static void answers_wait_for_the_disk(void **state)
{
    (void)state;
    ask(wide(1), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, false, false);
    ask(regression(), DP_SERVE_LATTICE, DP_SERVE_LINEAR, false, false);
    ask(network(), DP_SERVE_LATTICE, DP_SERVE_PERMUTE, false, false);
    ask(network(), DP_SERVE_PAILLIER, DP_SERVE_PERMUTE, true, false);
}

static void nothing_leaves_when_the_disk_has_failed(void **state)
{
    (void)state;
    ask(wide(1), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, false, true);
    ask(network(), DP_SERVE_LATTICE, DP_SERVE_PERMUTE, false, true);
    ask(network(), DP_SERVE_PAILLIER, DP_SERVE_PERMUTE, true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_wait_for_the_disk, disk_release, disk_release),
        cmocka_unit_test_setup_teardown(nothing_leaves_when_the_disk_has_failed, disk_release,
                                        disk_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
