#include "random/feistel.h"

#include <sodium.h>
#include <string.h>

#include "tests/random/chi.h"

static dpi_stream stream;

static void round_function_is_siphash(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 1, "test");
    for (int i = 0; i < 100; i++) {
        unsigned char key[16], message[5], hash[8];
        dpi_stream_bytes(&stream, sizeof key, key);
        dpi_stream_bytes(&stream, sizeof message, message);
        (void)crypto_shorthash(hash, message, sizeof message, key);
        assert_true(dpi_siphash(dpi_load64(key), dpi_load64(key + 8), dpi_load32(message),
                                message[4]) == dpi_load64(hash));
    }
}

static void every_size_gives_a_permutation(void **state)
{
    (void)state;
    static unsigned char seen[20000];
    dpi_stream_start_seeded(&stream, 2, "test");
    for (uint64_t n = 1; n <= 20000; n = n < 200 ? n + 1 : n * 3 / 2) {
        dpi_feistel feistel;
        dpi_feistel_draw(&feistel, &stream, n);
        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t image = dpi_feistel_at(&feistel, i);
            assert_true(image < n);
            assert_int_equal(seen[image]++, 0);
        }
    }
}

static void shapes_are_close_and_rounds_enough(void **state)
{
    (void)state;
    const uint64_t n[] = {131073, 1000000, (uint64_t)1 << 32, (uint64_t)1 << 62, UINT64_MAX};
    const int rounds[] = {14, 14, 10, 10, 10};
    dpi_stream_start_seeded(&stream, 3, "test");
    for (int i = 0; i < 5; i++) {
        dpi_feistel feistel;
        dpi_feistel_draw(&feistel, &stream, n[i]);
        assert_int_equal(feistel.rounds, rounds[i]);
        assert_int_equal(feistel.a % 2, 0);
        assert_true(feistel.a <= (uint64_t)1 << 32 && feistel.b <= (uint64_t)1 << 32);
        assert_true((n[i] - 1) / feistel.b < feistel.a);                   /* a b >= n */
        assert_true(feistel.b <= feistel.a && feistel.a - feistel.b <= 3); /* balanced */
        for (uint64_t k = 0; k < 100; k++)
            assert_true(dpi_feistel_at(&feistel, n[i] - 1 - k) < n[i]);
    }
}

/* p-value of the permutations of 0 .. n-1 that are seen, n <= 6, `per` expected each. */
static double permutations_p(uint64_t n, int rounds, size_t per)
{
    static size_t count[720];
    size_t cells = 1;
    for (uint64_t i = 2; i <= n; i++)
        cells *= i;
    memset(count, 0, sizeof count);
    for (size_t r = 0; r < per * cells; r++) {
        dpi_feistel feistel;
        dpi_feistel_draw(&feistel, &stream, n);
        if (rounds > 0)
            feistel.rounds = rounds;
        uint64_t image[6];
        size_t rank = 0;
        for (uint64_t i = 0; i < n; i++) { /* rank in the factorial number system */
            image[i] = dpi_feistel_at(&feistel, i);
            size_t smaller = 0;
            for (uint64_t j = 0; j < i; j++)
                smaller += image[j] < image[i];
            rank = rank * (i + 1) + smaller;
        }
        count[rank]++;
    }
    return chi_square_p(cells, count, NULL);
}

/* Down here the library does not use it; but with its full rounds no deviation is seen even so,
 * and the same test at once tells the 4 rounds that are often cited, and for 6 elements even 10. */
static void few_rounds_are_not_enough_for_few_elements(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 4, "test");
    for (uint64_t n = 2; n <= 6; n++)
        assert_plausible(permutations_p(n, 0, 60));
    assert_true(permutations_p(4, 4, 400) < 1e-12);
    assert_true(permutations_p(5, 4, 60) < 1e-12);
    assert_true(permutations_p(6, 10, 100) < 1e-12);
}

/* The sign of the permutations of 36 elements, by their cycles: half are odd. */
static void odd_permutations_occur(void **state)
{
    (void)state;
    size_t sign[2] = {0};
    dpi_stream_start_seeded(&stream, 5, "test");
    for (int r = 0; r < 2000; r++) {
        dpi_feistel feistel;
        bool seen[36] = {false};
        dpi_feistel_draw(&feistel, &stream, 36);
        unsigned transpositions = 0;
        for (uint64_t i = 0; i < 36; i++)
            for (uint64_t j = i; !seen[j]; j = dpi_feistel_at(&feistel, j)) {
                seen[j] = true;
                transpositions += dpi_feistel_at(&feistel, j) != i;
            }
        sign[transpositions % 2]++;
    }
    assert_plausible(chi_square_p(2, sign, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_function_is_siphash),
        cmocka_unit_test(every_size_gives_a_permutation),
        cmocka_unit_test(shapes_are_close_and_rounds_enough),
        cmocka_unit_test(few_rounds_are_not_enough_for_few_elements),
        cmocka_unit_test(odd_permutations_occur),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
