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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_model_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
