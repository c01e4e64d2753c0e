/* Each allocation of both sides of the lattice's row fails in turn, in a query that is prepared:
 * the call says so, the answer is that of the oracle or none, and nothing is kept. */
#include <stdlib.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/serve/scene.h"

enum { INPUTS = 20, OUTPUTS = 3 };

static const dpi_serve_row *const row = &dpi_he2_lattice;
static dpi_serve_plan plan;
static dpi_serve_cost cost;
static unsigned char *key, *up, *down;
static int64_t x[INPUTS], y[OUTPUTS];

static dp_status ask(void *client, void *session, dp_error *err)
{
    const dpi_serve_masked *m = row->masked;
    const dpi_serve_order_pair none = {0};
    dp_status status = m->mask(client, 0, NULL, up, NULL, 1, err);
    if (status == DP_OK)
        status = m->prepare(session, 0, &none, up, down, NULL, 1, err);
    if (status == DP_OK)
        status = m->keep(client, 0, down, NULL, NULL, 1, err);
    if (status == DP_OK)
        status = m->send(client, 0, x, up, NULL, 1, err);
    if (status == DP_OK)
        status = m->layer(session, 0, &none, up, down, NULL, 1, err);
    if (status == DP_OK)
        status = m->take(client, 0, down, y, NULL, 1, err);
    return status;
}

static dp_status both_sides(dp_error *err)
{
    const dpi_serve_opts opts = {0};
    void *compiled = NULL, *session = NULL, *client = NULL;
    memset(y, 0, sizeof y);
    dp_status status = row->compile(&plan, DPI_MODE_LINEAR, &opts, &compiled, err);
    assert_int_equal(status == DP_OK, compiled != NULL);
    if (status == DP_OK)
        status = row->client_new(&plan, DPI_MODE_LINEAR, &opts, &client, err);
    if (status == DP_OK) {
        row->write_key(client, key);
        status = row->open(compiled, key, &session, err);
    }
    if (status == DP_OK)
        status = ask(client, session, err);
    if (session != NULL)
        row->close(session);
    if (client != NULL)
        row->client_free(client);
    if (compiled != NULL)
        row->discard(compiled);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    (void)state;
    const dpi_serve_opts opts = {0};
    dp_error err = {0};
    dp_program *p = regression();
    int64_t expected[OUTPUTS] = {0};
    const dp_stage *s = dp_program_stage(p, 1);
    assert_int_equal(s->size, OUTPUTS);
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(row->cost(&plan, DPI_MODE_LINEAR, &opts, &cost, &err), err.text);
    key = malloc(cost.key);
    up = malloc(cost.up[0]);
    down = malloc(cost.down[0]);
    assert_true(key != NULL && up != NULL && down != NULL);
    for (int i = 0; i < INPUTS; i++)
        x[i] = i * 13 - 100;
    for (size_t o = 0; o < OUTPUTS; o++) {
        expected[o] = s->bias[o];
        for (size_t i = 0; i < INPUTS; i++)
            expected[o] += s->weights[o * INPUTS + i] * x[i];
    }
    const size_t live = faulty_live();
    size_t failures = 0;
    for (int failed = 1; failed; failures += failed != 0) {
        err = (dp_error){DP_OK, ""};
        faulty_fail(failures + 1);
        dp_status status = both_sides(&err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), live);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(err.status, status);
    }
    assert_true(failures > 50);
    assert_memory_equal(y, expected, sizeof y);
    free(key), free(up), free(down);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_failed_allocation_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
