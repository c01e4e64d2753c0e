#include "random/subset.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/chi.h"

typedef void sampler(dpi_stream *stream, size_t n, size_t size, size_t *out);

static dpi_stream stream;
static size_t out[200001];

static sampler *const exact[] = {dpi_fixed_subset, dpi_subset_bitmap, dpi_subset_table,
                                 dpi_subset_reservoir};
enum { N_EXACT = 4 };

/* Number of an ordered choice of `size` from n, mixed radix n, n-1, ... */
static size_t rank_of(size_t n, size_t size)
{
    size_t rank = 0;
    for (size_t i = 0; i < size; i++) {
        size_t smaller = 0;
        for (size_t j = 0; j < i; j++) {
            assert_true(out[j] != out[i]);
            smaller += out[j] < out[i];
        }
        assert_true(out[i] < n);
        rank = rank * (n - i) + out[i] - smaller;
    }
    return rank;
}

static void all_ordered_choices_are_equally_likely(void **state)
{
    (void)state;
    static size_t count[5040];
    dpi_stream_start_seeded(&stream, 31, "test");
    for (size_t s = 0; s < N_EXACT; s++)
        for (size_t n = 1; n <= 7; n++) {
            size_t cells = 1;
            for (size_t size = 1; size <= n; size++) {
                cells *= n - size + 1;
                memset(count, 0, sizeof count);
                size_t draws = cells * (n < 7 ? 60 : 25);
                for (size_t r = 0; r < draws; r++) {
                    exact[s](&stream, n, size, out);
                    count[rank_of(n, size)]++;
                }
                assert_plausible(chi_square_p(cells, count, NULL));
            }
        }
}

/* Ordered pairs at the first two and at the first and last place, for n = 8 .. 40. */
static void pairs_of_places_are_uniform(void **state)
{
    (void)state;
    static size_t first[1600], last[1600];
    dpi_stream_start_seeded(&stream, 32, "test");
    for (size_t s = 0; s < N_EXACT; s++)
        for (size_t n = 8; n <= 40; n += 4) {
            size_t cells = n * (n - 1), size = n / (1 + n % 3);
            memset(first, 0, sizeof first);
            memset(last, 0, sizeof last);
            for (size_t r = 0; r < 40 * cells; r++) {
                exact[s](&stream, n, size, out);
                size_t a = out[0], b = out[1], c = out[size - 1];
                first[a * (n - 1) + b - (b > a)]++;
                last[a * (n - 1) + c - (c > a)]++;
            }
            assert_plausible(chi_square_p(cells, first, NULL));
            assert_plausible(chi_square_p(cells, last, NULL));
        }
}

/* Inclusion counts of `runs` subsets have covariance runs f (1-f) (I - 11'/n) n/(n-1), f = size/n,
 * so their squared sum over runs f (1-f) n/(n-1) is chi-square with n-1 degrees. */
static void check_inclusion(sampler *sample, size_t n, size_t size, size_t runs)
{
    static size_t count[2000];
    memset(count, 0, sizeof count);
    for (size_t r = 0; r < runs; r++) {
        sample(&stream, n, size, out);
        for (size_t i = 0; i < size; i++)
            count[out[i]]++;
    }
    double f = (double)size / (double)n, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double off = (double)count[i] - (double)runs * f;
        sum += off * off;
    }
    double variance = (double)runs * f * (1 - f) * (double)n / ((double)n - 1);
    assert_plausible(chi_p(sum / variance, (double)n - 1));
}

static void records_are_included_equally_often(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 33, "test");
    for (size_t s = 0; s < N_EXACT; s++) {
        check_inclusion(exact[s], 500, 10, 20000);
        check_inclusion(exact[s], 2000, 499, 400);
        check_inclusion(exact[s], 2000, 501, 400);
        check_inclusion(exact[s], 97, 96, 2000);
    }
}

/* Where the numbers fall, in 64 parts at three places of the order, and pairs in 16 x 16 parts.
 * For n this large drawing without replacement does not show in the parts. */
static void check_large(sampler *sample, size_t n, size_t size, size_t runs)
{
    size_t place[3][64], pair[256] = {0}, sixteenth = n / 16 + 1;
    double part[64], part_pair[256];
    memset(place, 0, sizeof place);
    for (size_t r = 0; r < runs; r++) {
        sample(&stream, n, size, out);
        const size_t seen[] = {out[0], out[size / 2], out[size - 1]};
        for (int k = 0; k < 3; k++) {
            assert_true(seen[k] < n);
            place[k][(size_t)((double)seen[k] / (double)n * 64)]++;
        }
        pair[seen[0] / sixteenth * 16 + seen[1] / sixteenth]++;
    }
    for (size_t i = 0; i < 64; i++)
        part[i] = 1.0 / 64;
    for (size_t i = 0; i < 256; i++) {
        double width = (double)sixteenth / (double)n, rest = 1 - 15 * width;
        part_pair[i] = (i / 16 == 15 ? rest : width) * (i % 16 == 15 ? rest : width);
    }
    for (int k = 0; k < 3; k++)
        assert_plausible(chi_square_p(64, place[k], part));
    assert_plausible(chi_square_p(256, pair, part_pair));
}

static void thresholds_change_nothing(void **state)
{
    (void)state;
    const size_t n = DPI_SUBSET_BITMAP_N, size = DPI_SUBSET_TABLE_SIZE;
    dpi_stream_start_seeded(&stream, 34, "test");
    for (size_t at = n - 1; at <= n + 1; at++) {
        check_large(dpi_fixed_subset, at, 3, 10000);
        check_large(dpi_fixed_subset, at, size, 3000);
        check_large(dpi_fixed_subset, at, size + 1, at > n ? 1500 : 3000);
    }
    check_large(dpi_subset_feistel, n + 1, 3, 30000);
    check_large(dpi_subset_feistel, 5000, 3, 30000);
    check_large(dpi_fixed_subset, (size_t)-1, 3, 10000);
    check_large(dpi_fixed_subset, (size_t)-1 / 2 + 2, size + 1, 1500);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void numbers_are_distinct_and_the_rest_is_untouched(void **state)
{
    (void)state;
    const size_t n[] = {1, 2, 500, 500, 131072, 131072, 131073, 131073, 131073, 200000};
    const size_t size[] = {1, 2, 125, 126, 32768, 32769, 1024, 1025, 32768, 200000};
    dpi_stream_start_seeded(&stream, 35, "test");
    for (int i = 0; i < 10; i++) {
        out[size[i]] = 77;
        dpi_fixed_subset(&stream, n[i], size[i], out);
        assert_int_equal(out[size[i]], 77);
        qsort(out, size[i], sizeof *out, ascending);
        for (size_t k = 1; k < size[i]; k++)
            assert_true(out[k - 1] < out[k]);
        assert_true(out[size[i] - 1] < n[i]);
    }
    out[0] = 77;
    dpi_fixed_subset(&stream, 0, 0, out);
    dpi_fixed_subset(&stream, 10, 0, out);
    assert_int_equal(out[0], 77);
}

static void draw_more_than_all(void *of)
{
    (void)of;
    dpi_fixed_subset(&stream, 3, 4, out);
}

static void more_than_all_aborts(void **state)
{
    (void)state;
    assert_aborts(draw_more_than_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ordered_choices_are_equally_likely),
        cmocka_unit_test(pairs_of_places_are_uniform),
        cmocka_unit_test(records_are_included_equally_often),
        cmocka_unit_test(thresholds_change_nothing),
        cmocka_unit_test(numbers_are_distinct_and_the_rest_is_untouched),
        cmocka_unit_test(more_than_all_aborts),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
