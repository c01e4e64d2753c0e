/* Products by padded rows against plain sums, at all lengths around whole vectors. */
#include "infer/rows.h"

#include <math.h>

#include "tests/lib/check.h"

enum { MOST = 41 };

static double number(size_t i, size_t j)
{
    return sin(1.7 * (double)i + 0.9 * (double)(j * j) + 0.3);
}

/* Whether a matrix of that shape has number j of row i. */
static bool is_there(dpi_rows_shape shape, size_t i, size_t j)
{
    return shape == DPI_ROWS_WHOLE || (shape == DPI_ROWS_LOWER ? j <= i : j >= i);
}

static void it_adds_up_what_its_shape_has(void **state)
{
    (void)state;
    const dpi_rows_shape shapes[] = {DPI_ROWS_WHOLE, DPI_ROWS_LOWER, DPI_ROWS_UPPER};
    for (size_t n = 1; n <= MOST; n++)
        for (int s = 0; s < 3; s++)
            for (int across = 0; across < 2; across++) {
                dpi_arena arena = {0};
                dpi_rows rows;
                double a[MOST * MOST], x[MOST];
                assert_true(dpi_rows_init(&rows, n, shapes[s], &arena));
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < n; j++)
                        a[across ? j * n + i : i * n + j] =
                            is_there(shapes[s], i, j) ? number(i, j) : (double)NAN;
                for (size_t i = 0; i < n; i++)
                    x[i] = number(i, 100);
                (across ? dpi_rows_set_across : dpi_rows_set)(&rows, a);
                dpi_rows_combine(&rows, x, x);
                for (size_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (size_t i = 0; i < n; i++)
                        sum += is_there(shapes[s], i, j) ? number(i, 100) * number(i, j) : 0;
                    assert_close(x[j], sum, 0, 1e-13);
                }
                dpi_arena_free(&arena);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_adds_up_what_its_shape_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
