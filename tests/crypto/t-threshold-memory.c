/* Sums under a key of all owners with each allocation failing in turn. */
#include <stdlib.h>
#include <string.h>

#include "crypto/threshold.h"
#include "tests/lib/check.h"

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

enum { WORDS = 3 };

static unsigned char public[1 << 18], shared[1 << 18], opened[9 * WORDS], partial[9 * WORDS];

typedef struct session {
    dpi_threshold *t;
    dpi_threshold_share *share;
    dpi_threshold_key *key;
    dpi_threshold_sum *sum;
    dpi_rlwe_stream random;
} session;

static dp_status key(session *s, dp_error *err)
{
    const dpi_threshold_spec spec = {.owners = 1, .openings = 9};
    dp_status status = dpi_threshold_new(&spec, &s->t, err);
    if (status == DP_OK)
        status = dpi_threshold_share_new(s->t, 0, &s->random, &s->share, public, err);
    if (status == DP_OK)
        status = dpi_threshold_key_new(s->t, &s->key, err);
    if (status == DP_OK)
        status =
            dpi_threshold_key_add(s->t, s->key, 0, dpi_threshold_public_size(s->t), public, err);
    return status;
}

static dp_status sum(session *s, dp_error *err)
{
    static const unsigned char context[DPI_THRESHOLD_HASH] = {1};
    static const uint64_t words[WORDS] = {4, UINT64_MAX, 6};
    unsigned char digest[DPI_THRESHOLD_HASH];
    const dpi_threshold_parts parts = {opened, shared};
    const unsigned char *const all_opened[] = {opened}, *const all_partial[] = {partial};
    uint64_t result[WORDS];
    dp_status status = dpi_threshold_sum_new(s->t, s->share, context, WORDS, &s->sum, err);
    if (status == DP_OK)
        status = dpi_threshold_encrypt(s->sum, s->key, words, &s->random, &parts, err);
    if (status == DP_OK)
        status = dpi_threshold_digest(s->sum, digest, err);
    if (status == DP_OK)
        status = dpi_threshold_partial(s->sum, digest, partial, err);
    if (status == DP_OK)
        status = dpi_threshold_open(1, all_opened, all_partial, WORDS, result, err);
    dp_error again = {0};
    if (status == DP_OK)
        assert_memory_equal(words, result, sizeof words);
    else if (s->sum != NULL) /* the vector is not in it: it is never opened */
        assert_int_equal(dpi_threshold_digest(s->sum, digest, &again), DP_ESTATE);
    return status;
}

static dp_status whole(void)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {1};
    session s = {0};
    dp_error err = {0};
    dpi_rlwe_start(&s.random, seed, "memory");
    dp_status status = key(&s, &err);
    if (status == DP_OK)
        status = sum(&s, &err);
    dpi_threshold_sum_free(s.sum);
    dpi_threshold_key_free(s.key);
    dpi_threshold_share_free(s.share);
    dpi_threshold_free(s.t);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    allocations = failing = 0;
    assert_int_equal(whole(), DP_OK);
    const int all = allocations;
    assert_true(all > 20);
    for (failing = 1; failing <= all; failing++) {
        allocations = 0;
        assert_int_equal(whole(), DP_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
