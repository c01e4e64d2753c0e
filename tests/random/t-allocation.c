#include "random/allocation.h"

#include <string.h>

#include "tests/random/chi.h"

enum { MOST = 5000 };

static dpi_stream stream;
static size_t order[MOST], start[MOST + 1], scratch[MOST];

static void every_record_is_in_one_batch(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{0, 1}, {0, 7},    {1, 1},     {1, 9},
                               {5, 1}, {9, 5000}, {5000, 13}, {5000, 256}};
    dpi_stream_start_seeded(&stream, 51, "test");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s][0], t = sizes[s][1];
        static unsigned char seen[MOST];
        memset(seen, 0, sizeof seen);
        dpi_allocation_draw(&stream, n, t, order, start, scratch);
        assert_true(start[0] == 0 && start[t] == n);
        for (size_t k = 0; k < t; k++)
            for (size_t i = start[k]; i < start[k + 1]; i++) {
                assert_true(order[i] < n && !seen[order[i]]);
                assert_true(i == start[k] || order[i - 1] < order[i]);
                seen[order[i]] = 1;
            }
        for (size_t i = 0; i < n; i++)
            assert_true(scratch[i] == 0);
    }
}

/* All t^n outcomes are equally likely: uniform, independent, batches of any size. */
static void all_allocations_are_equally_likely(void **state)
{
    (void)state;
    static size_t count[1024];
    dpi_stream_start_seeded(&stream, 52, "test");
    for (size_t n = 1; n <= 5; n++)
        for (size_t t = 1; t <= 4; t++) {
            size_t cells = 1;
            for (size_t i = 0; i < n; i++)
                cells *= t;
            memset(count, 0, sizeof count);
            for (size_t r = 0; r < 40 * cells; r++) {
                size_t outcome = 0, place[5] = {0};
                dpi_allocation_draw(&stream, n, t, order, start, scratch);
                for (size_t k = 0; k < t; k++)
                    for (size_t i = start[k]; i < start[k + 1]; i++)
                        place[order[i]] = k;
                for (size_t i = 0; i < n; i++)
                    outcome = outcome * t + place[i];
                count[outcome]++;
            }
            assert_plausible(chi_square_p(cells, count, NULL));
        }
}

/* The pair of batches of two records, in this epoch and the next one. */
static void epochs_are_drawn_afresh(void **state)
{
    (void)state;
    enum { T = 12, N = 300 };
    static size_t count[T * T];
    size_t last = 0;
    dpi_stream_start_seeded(&stream, 53, "test");
    for (size_t r = 0; r < 20000; r++) {
        size_t now = 0;
        dpi_allocation_draw(&stream, N, T, order, start, scratch);
        for (size_t k = 0; k < T; k++)
            for (size_t i = start[k]; i < start[k + 1]; i++)
                if (order[i] == 17)
                    now = k;
        if (r > 0)
            count[last * T + now]++;
        last = now;
    }
    assert_plausible(chi_square_p(sizeof count / sizeof *count, count, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_in_one_batch),
        cmocka_unit_test(all_allocations_are_equally_likely),
        cmocka_unit_test(epochs_are_drawn_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
