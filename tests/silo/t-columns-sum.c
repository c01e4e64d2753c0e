/* Sums of encrypted columns are the sums, to the bit. */
#include "silo/columns-sum.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

static uint64_t seed = 17;

static int64_t draw(int64_t most)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((seed >> 20) % (2 * (uint64_t)most + 1)) - most;
}

static dpi_rlwe_stream *begin_stream(void)
{
    static dpi_rlwe_stream stream;
    unsigned char of[DPI_RLWE_SEED];
    assert_int_equal(dpi_rlwe_seed(of, NULL), DP_OK);
    dpi_rlwe_start(&stream, of, "test");
    return &stream;
}

static void sums_are_exact(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {3, 1024}, {100, 784}, {569, 30}, {9000, 2}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const size_t n = shapes[k][0], d = shapes[k][1];
        const int64_t s_most = 1 << 15;
        dpi_columns_sum *owner, *other;
        dpi_rlwe_stream *random = begin_stream();
        dp_error err = {0};
        assert_ok(dpi_columns_sum_new(n, d, s_most, 70, &owner, &err), err.text);
        assert_ok(dpi_columns_sum_new(n, d, s_most, 70, &other, &err), err.text);
        assert_true(owner->plan.bits >= 70);
        int64_t *x = calloc(n * d, sizeof *x), *added = calloc(d, sizeof *added);
        int64_t *got = calloc(d, sizeof *got);
        int32_t *s = calloc(n, sizeof *s);
        unsigned char *offer = calloc(1, owner->offer_bytes);
        unsigned char *answer = calloc(1, owner->plan.answer_bytes);
        assert_true(x && added && got && s && offer && answer);
        for (size_t i = 0; i < n * d; i++)
            x[i] = draw(1 << 14);
        assert_ok(dpi_columns_sum_offer(owner, x, random, offer, &err), err.text);
        assert_ok(dpi_columns_sum_take(other, owner->offer_bytes, offer, &err), err.text);
        for (int step = 0; step < 2; step++) {
            for (size_t i = 0; i < n; i++)
                s[i] = (int32_t)draw(s_most);
            for (size_t j = 0; j < d; j++)
                added[j] = draw((int64_t)1 << 35);
            assert_ok(dpi_columns_sum_answer(other, s, added, random, answer, &err), err.text);
            assert_ok(dpi_columns_sum_open(owner, owner->plan.answer_bytes, answer, got, &err),
                      err.text);
            for (size_t j = 0; j < d; j++) {
                int64_t sum = added[j];
                for (size_t i = 0; i < n; i++)
                    sum += x[i * d + j] * s[i];
                assert_int_equal(got[j], sum);
            }
        }
        dpi_columns_sum_free(owner);
        dpi_columns_sum_free(other);
        free(x);
        free(added);
        free(got);
        free(s);
        free(offer);
        free(answer);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    dpi_columns_sum *owner, *other;
    dpi_rlwe_stream *random = begin_stream();
    dp_error err = {0};
    dp_status status = dpi_columns_sum_new(5, 1025, 100, 60, &owner, &err);
    assert_null(owner);
    assert_fails(status, DP_ESHAPE, &err, "1025 columns");
    status = dpi_columns_sum_new(5, 4, 100, 1000, &owner, &err);
    assert_fails(status, DP_EPRIVACY, &err, "circuit privacy");
    assert_ok(dpi_columns_sum_new(5, 4, 100, 60, &owner, &err), err.text);
    assert_ok(dpi_columns_sum_new(5, 4, 100, 60, &other, &err), err.text);
    int64_t x[20] = {3}, added[4] = {0}, got[4];
    int32_t s[5] = {100, -101};
    unsigned char *offer = calloc(1, owner->offer_bytes);
    unsigned char *answer = calloc(1, owner->plan.answer_bytes);
    assert_true(offer && answer);
    status = dpi_columns_sum_answer(other, s, added, random, answer, &err);
    assert_fails(status, DP_ESTATE, &err, "no columns yet");
    status = dpi_columns_sum_open(owner, owner->plan.answer_bytes, answer, got, &err);
    assert_fails(status, DP_ESTATE, &err, "only who has offered");
    assert_ok(dpi_columns_sum_offer(owner, x, random, offer, &err), err.text);
    status = dpi_columns_sum_offer(owner, x, random, offer, &err);
    assert_fails(status, DP_ESTATE, &err, "once");
    status = dpi_columns_sum_take(other, owner->offer_bytes - 1, offer, &err);
    assert_fails(status, DP_EPEER, &err, "were expected");
    unsigned char *bad = malloc(owner->offer_bytes);
    assert_non_null(bad);
    memset(bad, 255, owner->offer_bytes);
    status = dpi_columns_sum_take(other, owner->offer_bytes, bad, &err);
    assert_int_equal(status, DP_EPEER);
    err = (dp_error){0};
    assert_ok(dpi_columns_sum_take(other, owner->offer_bytes, offer, &err), err.text);
    status = dpi_columns_sum_answer(other, s, added, random, answer, &err);
    assert_fails(status, DP_EDOMAIN, &err, "beyond the bound 100");
    status = dpi_columns_sum_open(owner, 7, answer, got, &err);
    assert_fails(status, DP_EPEER, &err, "7 bytes");
    free(bad);
    free(offer);
    free(answer);
    dpi_columns_sum_free(owner);
    dpi_columns_sum_free(other);
}

/* Of the same stream the same bytes come, and of another others. */
static void bytes_follow_from_the_stream(void **state)
{
    (void)state;
    enum { N = 40, D = 7 };
    static int64_t x[N * D], added[D];
    static int32_t s[N];
    unsigned char *offer[3], *answer[3];
    dp_error err = {0};
    for (size_t i = 0; i < N; i++)
        s[i] = (int32_t)draw(1000);
    for (size_t i = 0; i < N * D; i++)
        x[i] = draw(1000);
    for (int k = 0; k < 3; k++) {
        dpi_columns_sum *owner, *other;
        dpi_rlwe_stream random;
        const unsigned char of[DPI_RLWE_SEED] = {k == 2};
        assert_ok(dpi_columns_sum_new(N, D, 1000, 70, &owner, &err), err.text);
        assert_ok(dpi_columns_sum_new(N, D, 1000, 70, &other, &err), err.text);
        offer[k] = calloc(1, owner->offer_bytes);
        answer[k] = calloc(1, owner->plan.answer_bytes);
        assert_true(offer[k] && answer[k]);
        dpi_rlwe_start(&random, of, "test");
        assert_ok(dpi_columns_sum_offer(owner, x, &random, offer[k], &err), err.text);
        assert_ok(dpi_columns_sum_take(other, owner->offer_bytes, offer[0], &err), err.text);
        assert_ok(dpi_columns_sum_answer(other, s, added, &random, answer[k], &err), err.text);
        dpi_rlwe_end(&random);
        assert_int_equal(memcmp(offer[k], offer[0], owner->offer_bytes) == 0, k < 2);
        assert_int_equal(memcmp(answer[k], answer[0], owner->plan.answer_bytes) == 0, k < 2);
        dpi_columns_sum_free(owner);
        dpi_columns_sum_free(other);
    }
    for (int k = 0; k < 3; k++) {
        free(offer[k]);
        free(answer[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(bytes_follow_from_the_stream),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
