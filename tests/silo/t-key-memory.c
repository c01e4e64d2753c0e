/* Steps of a sum under a key, one by one, where each allocation fails in turn: of two parties, of
 * whom one owns the key and the other adds up. */
#include <pthread.h>
#include <string.h>

#include "crypto/threshold.h"
#include "silo/key-sum.h"
#include "silo/split.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { N = 20, AGGREGATOR = 0, OWNER = 1, PARTIES = 2, MOST = 200000 };

static owners all;
static dpi_post *posts[PARTIES];
static dpi_carrier *carriers[PARTIES];

static void *meet(void *of)
{
    const size_t k = *(const size_t *)of;
    unsigned char run[32] = {(unsigned char)(k + 1)};
    dp_error err = {0};
    if (dpi_carrier_memory(all.box, &carriers[k], &err) != DP_OK)
        return NULL;
    const dpi_post_opts opts = owners_post(&all, k, carriers[k], 60000);
    return dpi_post_open(&opts, run, &posts[k], &err) == DP_OK ? &posts[k] : NULL;
}

static int set_up(void **state)
{
    pthread_t threads[PARTIES];
    static const size_t who[PARTIES] = {AGGREGATOR, OWNER};
    (void)state;
    owners_make(&all, PARTIES);
    owners_key(&all, AGGREGATOR);
    for (size_t k = 0; k < PARTIES; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, meet, (void *)(uintptr_t)&who[k]), 0);
    for (size_t k = 0; k < PARTIES; k++) {
        void *met;
        assert_int_equal(pthread_join(threads[k], &met), 0);
        assert_non_null(met);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t k = 0; k < PARTIES; k++) {
        dpi_post_close(posts[k]);
        carriers[k]->kind->close(carriers[k]);
    }
    owners_free(&all);
    return 0;
}

/* A step whose result is put into `out`, whose bytes are there. */
static dp_status step(dpi_silo_machine *m, dpi_silo_step_kind kind, const dpi_silo_values *first,
                      const dpi_silo_values *second, const dpi_silo_values *third,
                      dpi_silo_value *out, dp_error *err)
{
    const dpi_silo_values *const in[DPI_SILO_ARGS] = {first, second, third};
    const dpi_silo_step s = {.kind = kind};
    dpi_silo_register r = {.words = 0};
    dpi_silo_lay(kind, PARTIES, &r);
    out->n = dpi_silo_register_size(&r, N);
    assert_true(out->n <= MOST);
    return m->kernel[kind](m->of[kind], m, &s, in, out, err);
}

static dp_status make(size_t k, dpi_key_sum **s, dpi_silo_machine *m, dp_error *err)
{
    static const unsigned char secret[32] = {7};
    const dpi_key_sum_opts opts = {
        .post = posts[k], .secret = secret, .part = &all.parts[k], .rounds = 1, .most = N};
    *m = (dpi_silo_machine){.part = &all.parts[k], .post = posts[k], .round = 1, .n = N};
    const dp_status status = dpi_key_sum_new(&opts, s, err);
    if (status == DP_OK)
        dpi_key_sum_install(*s, m);
    return status;
}

/* All steps; the sum is in `sum`. */
static dp_status open_one(uint64_t sum[N + 1], dp_error *err)
{
    enum { X, B, H, C, G, D, S, VALUES };
    static unsigned char bytes[VALUES][PARTIES][MOST];
    static dpi_silo_values v[VALUES];
    dpi_key_sum *own = NULL, *adds = NULL;
    dpi_silo_machine m, a;
    for (size_t j = 0; j < VALUES; j++)
        for (size_t k = 0; k < PARTIES; k++)
            v[j].from[k].bytes = bytes[j][k];
    for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < PARTIES; k++)
            memcpy(bytes[X][k] + 8 * j, &(uint64_t){(j + 2) * (k + 3)}, 8);
    dp_status status = make(OWNER, &own, &m, err);
    if (status == DP_OK)
        status = make(AGGREGATOR, &adds, &a, err);
    if (status == DP_OK)
        status = step(&m, DPI_SILO_KEYPART, NULL, NULL, NULL, &v[B].from[OWNER], err);
    if (status == DP_OK)
        status = step(&m, DPI_SILO_SEALED, &v[X], &v[B], NULL, &v[H].from[OWNER], err);
    if (status == DP_OK)
        status = step(&m, DPI_SILO_COVER, &v[X], &v[H], NULL, &v[C].from[OWNER], err);
    if (status == DP_OK)
        status = step(&m, DPI_SILO_AGREE, &v[H], NULL, NULL, &v[G].from[OWNER], err);
    if (status == DP_OK)
        status = step(&m, DPI_SILO_PARTIAL, &v[H], &v[G], NULL, &v[D].from[OWNER], err);
    if (status == DP_OK)
        status = step(&a, DPI_SILO_COMBINE, &v[X], &v[C], &v[D], &v[S].from[AGGREGATOR], err);
    if (status == DP_OK)
        memcpy(sum, bytes[S][AGGREGATOR], (N + 1) * sizeof *sum);
    dpi_key_sum_free(own);
    dpi_key_sum_free(adds);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    const size_t live = faulty_live();
    size_t failures = 0;
    (void)state;
    for (size_t k = 1;; k++) {
        uint64_t sum[N + 1];
        dp_error err = {0};
        faulty_fail(k);
        const dp_status status = open_one(sum, &err);
        const int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), live);
        if (!failed) {
            assert_ok(status, err.text);
            for (size_t j = 0; j < N; j++)
                assert_true(sum[j] == (j + 2) * 7);
            break;
        }
        assert_fails(status, DP_ENOMEM, &err, "");
        failures++;
    }
    assert_true(failures > 30);
}

/* Steps in another order than a part has give nothing. */
static void steps_out_of_order_fail(void **state)
{
    static unsigned char bytes[MOST];
    dpi_key_sum *s;
    dpi_silo_machine m;
    dpi_silo_value out = {.bytes = bytes};
    dpi_silo_values v = {.from = {{.bytes = bytes, .n = sizeof bytes}}};
    dp_error err = {0};
    (void)state;
    assert_ok(make(OWNER, &s, &m, &err), err.text);
    assert_fails(step(&m, DPI_SILO_COVER, &v, &v, NULL, &out, &err), DP_ESTATE, &err,
                 "before it is sealed");
    err = (dp_error){0};
    assert_fails(step(&m, DPI_SILO_AGREE, &v, NULL, NULL, &out, &err), DP_ESTATE, &err,
                 "before there are any");
    err = (dp_error){0};
    assert_fails(step(&m, DPI_SILO_PARTIAL, &v, &v, NULL, &out, &err), DP_ESTATE, &err,
                 "that are not there");
    dpi_key_sum_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(steps_out_of_order_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
