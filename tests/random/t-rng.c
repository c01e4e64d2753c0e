#include "random/rng.h"

#include <math.h>
#include <string.h>

#include "tests/random/chi.h"
#include "tests/random/wraps.h"

static dp_rng *new_rng(uint64_t seed)
{
    dp_rng *rng;
    dp_error err = {0};
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    return rng;
}

/* These numbers may never change: they are what a seed means.  They were computed outside of the
 * library from BLAKE2b (Python's hashlib), ChaCha20 written from RFC 8439, and normal.c's
 * formula. */
static void a_seed_means_the_same_for_ever(void **state)
{
    (void)state;
    dp_rng *rng = new_rng(20240131);
    uint64_t below[3];
    double u, z[2];
    assert_ok(dp_rng_below(rng, 1000000, 3, below, NULL), NULL);
    dp_rng_uniform(rng, 1, &u);
    dp_rng_normal(rng, 2, z);
    assert_int_equal(below[0], 766861);
    assert_int_equal(below[1], 593941);
    assert_int_equal(below[2], 644626);
    assert_true(u == 0x1.7fcd2293dd210p-3);
    assert_close(z[0], 1.1524527372852216, 1e-14, 0);
    assert_close(z[1], 0.5426646809061886, 1e-14, 0);
    dp_rng_free(rng);
}

static void equal_seeds_agree_and_others_do_not(void **state)
{
    (void)state;
    double x[3][5];
    for (int i = 0; i < 3; i++) {
        dp_rng *rng = new_rng(i == 2 ? 42 : 41);
        dp_rng_uniform(rng, 5, x[i]);
        dp_rng_free(rng);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    for (int i = 0; i < 5; i++)
        assert_true(x[0][i] != x[2][i]);
    dp_rng_free(NULL);
}

static void a_random_source_can_be_repeated_from_its_seed(void **state)
{
    (void)state;
    dp_rng *a, *b;
    uint64_t seed, second;
    double x[2];
    assert_ok(dp_rng_new_random(&a, &seed, NULL), NULL);
    assert_ok(dp_rng_new_random(&b, &second, NULL), NULL);
    assert_true(seed != second);
    dp_rng_free(b);
    b = new_rng(seed);
    dp_rng_uniform(a, 1, &x[0]);
    dp_rng_uniform(b, 1, &x[1]);
    assert_true(x[0] == x[1]);
    dp_rng_free(a);
    dp_rng_free(b);
    assert_ok(dp_rng_new_random(&a, NULL, NULL), NULL);
    dp_rng_free(a);
}

static void fills_have_their_distributions(void **state)
{
    (void)state;
    enum { N = 100000 };
    static double x[N];
    static uint64_t k[N];
    size_t count[10] = {0}, tenth[10] = {0};
    double sum = 0, squares = 0;
    dp_rng *rng = new_rng(43);
    dp_rng_normal(rng, N, x);
    for (int i = 0; i < N; i++) {
        sum += x[i];
        squares += x[i] * x[i] - 1;
    }
    assert_standard(sum / sqrt(N));
    assert_standard(squares / sqrt(2.0 * N));
    dp_rng_uniform(rng, N, x);
    assert_ok(dp_rng_below(rng, 10, N, k, NULL), NULL);
    for (int i = 0; i < N; i++) {
        tenth[(int)(x[i] * 10)]++;
        count[k[i]]++;
    }
    assert_plausible(chi_square_p(10, tenth, NULL));
    assert_plausible(chi_square_p(10, count, NULL));
    dp_rng_uniform(rng, 0, NULL);
    dp_rng_normal(rng, 0, NULL);
    dp_rng_free(rng);
}

static void an_empty_range_is_an_error(void **state)
{
    (void)state;
    dp_rng *rng = new_rng(44);
    dp_error err = {0};
    uint64_t k[2] = {7, 7};
    assert_int_equal(dp_rng_below(rng, 0, 2, k, &err), DP_EDOMAIN);
    assert_contains(err.text, "bound must be >= 1");
    assert_true(k[0] == 0 && k[1] == 0);
    dp_rng_free(rng);
}

static void a_system_that_fails_is_an_error(void **state)
{
    (void)state;
    dp_rng *rng = (dp_rng *)(void *)1;
    dp_error err = {0};
    uint64_t seed = 7;
    fail_allocation = 1;
    assert_int_equal(dp_rng_new(1, &rng, &err), DP_ENOMEM);
    assert_null(rng);
    for (int k = 1; k <= 2; k++) {
        rng = (dp_rng *)(void *)1;
        err = (dp_error){0};
        fail_entropy = k;
        assert_int_equal(dp_rng_new_random(&rng, &seed, &err), DP_EENTROPY);
        assert_contains(err.text, "getentropy");
        assert_null(rng);
        assert_int_equal(seed, 0);
    }
    fail_entropy = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_means_the_same_for_ever),
        cmocka_unit_test(equal_seeds_agree_and_others_do_not),
        cmocka_unit_test(a_random_source_can_be_repeated_from_its_seed),
        cmocka_unit_test(fills_have_their_distributions),
        cmocka_unit_test(an_empty_range_is_an_error),
        cmocka_unit_test(a_system_that_fails_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
