/* Each allocation of both sides of CKKS' row fails in turn: the call says so, nothing is kept, and an
 * answer is near the program's or none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/ckks.h"
#include "tests/graph/faulty.h"
#include "tests/serve/scene.h"

enum { PIXELS = 16, OUTPUTS = 2 };

static const dpi_serve_row *const row = &dpi_ckks_row;
static dpi_serve_plan plan;
static dpi_serve_cost cost;
static unsigned char *key, *up, *down;
static int64_t x[PIXELS], y[OUTPUTS];

/* A grid, a square, and a row. */
static dp_program *small(void)
{
    const dp_window window = {.size = {2, 2}, .stride = {2, 2}};
    const double filter[4] = {.5, -.25, .125, 1},
                 w[OUTPUTS * 4] = {.5, -1, .25, 1, -.5, .25, 1, .125}, b[OUTPUTS] = {.5, -.5};
    dp_program *p = dp_program_new();
    const int in = dp_program_image(p, 4, 4, 1, "x", -1, 1);
    const int h = dp_program_square(p, dp_program_convolution(p, in, 1, &window, filter, NULL));
    dp_program_dense(p, h, OUTPUTS, w, b);
    return finish(p);
}

static dp_status ask(void *client, void *session, dp_error *err)
{
    dp_status status = row->encrypt(client, 0, x, up, NULL, 1, err);
    if (status == DP_OK)
        status = row->layer(session, 0, NULL, up, down, NULL, 1, err);
    if (status == DP_OK)
        status = row->decrypt(client, 0, down, y, NULL, 1, err);
    return status;
}

static dp_status both_sides(dp_error *err)
{
    void *compiled = NULL, *session = NULL, *client = NULL;
    memset(y, 0, sizeof y);
    dp_status status = row->compile(&plan, DPI_MODE_LINEAR, NULL, &compiled, err);
    assert_int_equal(status == DP_OK, compiled != NULL);
    if (status == DP_OK)
        status = row->client_new(&plan, DPI_MODE_LINEAR, NULL, &client, err);
    assert_int_equal(status == DP_OK, client != NULL);
    if (status == DP_OK) {
        row->write_key(client, key);
        status = row->open(compiled, key, &session, err);
        assert_int_equal(status == DP_OK, session != NULL);
    }
    if (status == DP_OK)
        status = ask(client, session, err);
    row->close(session);
    row->client_free(client);
    row->discard(compiled);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    (void)state;
    int64_t expected[OUTPUTS];
    double real[PIXELS];
    dp_error err = {0};
    dp_program *p = small();
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(row->cost(&plan, DPI_MODE_LINEAR, NULL, &cost, &err), err.text);
    key = malloc(cost.key);
    up = malloc(cost.up[0]);
    down = malloc(cost.down[0]);
    assert_true(key != NULL && up != NULL && down != NULL);
    for (int i = 0; i < PIXELS; i++)
        real[i] = i / 8.0 - 1;
    assert_ok(dp_program_encode(p, 1, real, x, &err), err.text);
    assert_ok(dp_program_run_exact(p, 1, x, expected, &err), err.text);
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
    assert_true(failures > 200);
    for (size_t o = 0; o < OUTPUTS; o++) {
        const int fraction = dp_program_stage(p, dp_program_stages(p) - 1)->fraction;
        assert_true(fabs(ldexp((double)(y[o] - expected[o]), -fraction)) < 0x1p-10);
    }
    free(key), free(up), free(down);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_failed_allocation_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
