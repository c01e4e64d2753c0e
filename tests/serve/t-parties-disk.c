/* No party tells its piece of an answer before its log says on its disk that it was asked for. */
#define _XOPEN_SOURCE 700
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "serve/party-talk.h"
#include "tests/lib/numbers.h"
#include "tests/serve/daemons.h"
#include "tests/serve/disk.h"
#include "tests/serve/scene.h"

enum { INPUTS = 20, RECORDS = 3, LANES = 2, LONG = 20000 };

/* ---- what goes to the client ---- */

static atomic_size_t told; /* pieces that were sent */

dp_status __real_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);
dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);

dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within)
{
    if (kind == DPI_PARTY_OUTPUT)
        atomic_fetch_add(&told, 1);
    return __real_dpi_wire_send(s, kind, layer, bytes, n, within);
}

/* ---- a query ---- */

typedef struct query {
    dp_ask *ask;
    double x[RECORDS * INPUTS];
    int64_t y[RECORDS], expected[RECORDS];
    size_t answered;
    dp_error err;
    dp_status status;
    pthread_t thread;
    atomic_bool back;
} query;

static void *run_query(void *of)
{
    query *q = of;
    q->status = dp_ask_many(q->ask, RECORDS, q->x, q->y, &q->answered, &q->err);
    atomic_store(&q->back, true);
    return NULL;
}

static void open_query(query *q, const daemons *d, const dp_program *p)
{
    const dp_ask_parties_opts o = {
        .identity = d->client, .parties = d->parties, .lanes = LANES, .timeout_ms = LONG};
    int64_t v[RECORDS * INPUTS];
    uint64_t numbers = 3;
    dp_error err = {0};
    fill(&numbers, RECORDS * INPUTS, q->x);
    assert_ok(dp_program_encode(p, RECORDS, q->x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, RECORDS, v, q->expected, &err), err.text);
    assert_ok(dp_ask_parties_new(&o, &q->ask, &err), err.text);
}

/* Asks while the disk takes its time, and then does or does not write. */
static void ask(size_t parties, bool breaks)
{
    dp_error err = {0};
    dp_program *p = regression();
    daemons d;
    query q = {.status = DP_OK};
    if (!daemons_start(&d, &(daemons_opts){.n = parties, .lanes = LANES}, &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(&d, p, &err), err.text);
    open_query(&q, &d, p);
    atomic_store(&told, 0);
    disk_hold(breaks);
    assert_int_equal(pthread_create(&q.thread, NULL, run_query, &q), 0);
    disk_wait((int)parties);
    assert_int_equal(atomic_load(&told), 0);
    assert_false(atomic_load(&q.back));
    atomic_store(&disk_held, 0);
    assert_int_equal(pthread_join(q.thread, NULL), 0);
    if (breaks) {
        memset(q.expected, 0, sizeof q.expected);
        assert_int_not_equal(q.status, DP_OK);
    } else {
        assert_ok(q.status, q.err.text);
    }
    assert_int_equal(atomic_load(&told), breaks ? 0 : parties);
    assert_int_equal(q.answered, breaks ? 0 : RECORDS);
    assert_memory_equal(q.y, q.expected, sizeof q.expected);
    dp_ask_free(q.ask);
    daemons_stop(&d);
    dp_program_free(p);
    (void)disk_release(NULL);
}

static void pieces_wait_for_the_disk(void **state)
{
    (void)state;
    ask(3, false);
    ask(4, false);
}

static void nothing_is_told_when_the_disks_have_failed(void **state)
{
    (void)state;
    ask(3, true);
    ask(4, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_wait_for_the_disk, disk_release, disk_release),
        cmocka_unit_test_setup_teardown(nothing_is_told_when_the_disks_have_failed, disk_release,
                                        disk_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
