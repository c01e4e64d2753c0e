/* A session from keys to results with each allocation failing in turn. */
#include <stdlib.h>

#include "base/alloc.h"
#include "crypto/lattice.h"
#include "tests/lib/check.h"

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

enum { INPUTS = 5000, OUTPUTS = 3 };

static int32_t w[INPUTS * OUTPUTS];
static int64_t x[INPUTS], y[OUTPUTS];
static unsigned char query[1 << 20], answer[1 << 20];

typedef struct session {
    dpi_bfv *f;
    dpi_bfv_secret *secret;
    dpi_bfv_cipher *key;
    dpi_lattice_layer *layer;
    dpi_lattice_plan plan;
    dpi_rlwe_stream random;
} session;

static dp_status begin(session *s, dp_error *err)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {1};
    const dpi_lattice_shape shape = dpi_lattice_dense(INPUTS, OUTPUTS, 9);
    dpi_bfv_spec spec;
    dpi_rlwe_start(&s->random, seed, "memory");
    dp_status status = dpi_lattice_choose(1, &shape, 30, 20, &spec, err);
    if (status == DP_OK)
        status = dpi_bfv_new(&spec, &s->f, err);
    if (status == DP_OK)
        status = dpi_lattice_plan_make(s->f, &shape, &s->plan, err);
    if (status == DP_OK)
        status = dpi_bfv_secret_new(s->f, &s->random, &s->secret, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(s->f, &s->key, err);
    if (status == DP_OK)
        status = dpi_bfv_encrypt(s->f, s->secret, NULL, &s->random, s->key, err);
    if (status == DP_OK)
        status = dpi_lattice_layer_new(&s->plan, w, &s->layer, err);
    return status;
}

static dp_status exchange(session *s, dp_error *err)
{
    const size_t size = s->plan.query_bytes;
    assert_true(size <= sizeof query && s->plan.answer_bytes <= sizeof answer);
    dp_status status = dpi_lattice_query(&s->plan, s->secret, x, &s->random, query, err);
    if (status == DP_OK)
        status = dpi_lattice_answer(s->layer, s->key, size, query, NULL, &s->random, answer, err);
    if (status == DP_OK)
        status = dpi_lattice_open(&s->plan, s->secret, s->plan.answer_bytes, answer, y, err);
    uint64_t *message = status == DP_OK ? dpi_bfv_polynomial(s->f) : NULL;
    if (status == DP_OK)
        status =
            message == NULL ? DP_ENOMEM : dpi_bfv_decrypt(s->f, s->secret, s->key, message, err);
    dpi_free(message);
    return status;
}

static dp_status whole(void)
{
    session s = {0};
    dp_error err = {0};
    dp_status status = begin(&s, &err);
    if (status == DP_OK)
        status = exchange(&s, &err);
    dpi_lattice_layer_free(s.layer);
    dpi_bfv_cipher_free(s.key);
    dpi_bfv_secret_free(s.secret);
    dpi_bfv_free(s.f);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < INPUTS; i++)
        x[i] = (int64_t)(i % 7) - 3;
    int64_t expected = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        w[INPUTS + i] = (int32_t)(i % 19) - 9;
        expected += w[INPUTS + i] * x[i];
    }
    failing = 0;
    allocations = 0;
    assert_int_equal(whole(), DP_OK);
    assert_int_equal(y[1], expected);
    const int all = allocations;
    assert_true(all > 30);
    for (failing = 1; failing <= all; failing++) {
        allocations = 0;
        assert_int_equal(whole(), DP_ENOMEM);
    }
    failing = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
