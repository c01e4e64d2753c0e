/* Masks cancel, hide, and a number that is no sum shows. */
#include "silo/masks.h"

#include <gsl/gsl_cdf.h>
#include <sodium.h>
#include <string.h>

#include "tests/lib/check.h"

enum { LONG = 5000 };

static void what_is_added_is_taken_away(void **state)
{
    static uint64_t x[LONG], was[LONG];
    unsigned char key[DPI_MASK_KEY] = {1, 2, 3};
    (void)state;
    for (size_t n = 1; n <= LONG; n = n * 3 + 1) {
        for (size_t j = 0; j < n; j++)
            was[j] = x[j] = j % 3 == 0 ? UINT64_MAX : j * 0x123456789abcdefULL;
        dpi_mask_add(key, false, n, x);
        for (size_t j = 0; j < n; j++)
            assert_true(x[j] != was[j]);
        dpi_mask_add(key, true, n, x);
        assert_memory_equal(x, was, n * sizeof *x);
    }
}

/* The stream of a longer vector begins with that of a shorter one: masks of a sum and of its words
 * are the same however long the vector is. */
static void streams_do_not_depend_on_the_length(void **state)
{
    static uint64_t x[LONG], y[LONG];
    unsigned char key[DPI_MASK_KEY] = {9};
    (void)state;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    dpi_mask_add(key, false, LONG, x);
    dpi_mask_add(key, false, 1500, y);
    assert_memory_equal(x, y, 1500 * sizeof *x);
}

/* Chi-square of the bytes of masked zeros, which fails once in 10^9 keys; of zeros it is far
 * off. */
static double chi_square(const uint64_t *x, size_t n)
{
    double counts[256] = {0}, chi = 0, each = (double)n / 32;
    const unsigned char *bytes = (const unsigned char *)x;
    for (size_t b = 0; b < 8 * n; b++)
        counts[bytes[b]]++;
    for (int v = 0; v < 256; v++)
        chi += (counts[v] - each) * (counts[v] - each) / each;
    return chi;
}

static void what_is_masked_looks_random(void **state)
{
    static uint64_t x[LONG];
    unsigned char key[DPI_MASK_KEY] = {77};
    double limit = gsl_cdf_chisq_Qinv(1e-9, 255);
    (void)state;
    for (size_t j = 0; j < LONG; j++)
        x[j] = j % 5;
    assert_true(chi_square(x, LONG) > limit);
    dpi_mask_add(key, false, LONG, x);
    assert_true(chi_square(x, LONG) < limit);
}

static void checks_add_up_and_garbage_shows(void **state)
{
    static uint64_t x[3][LONG], sum[LONG];
    unsigned char key[DPI_MASK_KEY] = {5}, other[DPI_MASK_KEY] = {6};
    uint64_t checks = 0;
    (void)state;
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < 3; i++) {
        randombytes_buf(x[i], sizeof x[i]);
        checks += dpi_mask_check(key, LONG, x[i]);
        for (size_t j = 0; j < LONG; j++)
            sum[j] += x[i][j];
    }
    assert_true(dpi_mask_check(key, LONG, sum) == checks);
    assert_true(dpi_mask_check(other, LONG, sum) != checks);
    for (size_t j = 0; j < LONG; j += 499) {
        sum[j] ^= (uint64_t)1 << j % 64;
        assert_true(dpi_mask_check(key, LONG, sum) != checks);
        sum[j] ^= (uint64_t)1 << j % 64;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_taken_away),
        cmocka_unit_test(streams_do_not_depend_on_the_length),
        cmocka_unit_test(what_is_masked_looks_random),
        cmocka_unit_test(checks_add_up_and_garbage_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
