/* A pattern that is all noise still gives a matrix, which is positive semidefinite. */
#include "infer/arrow.h"

#include <math.h>

#include "infer/inquiries.h"
#include "tests/infer/readers.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1024, TRIES = 40 };

/* x' a x */
static double at(size_t n, const double *a, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum += x[i] * a[i * n + j] * x[j];
    return sum;
}

static void fill(size_t n, double middle, uint64_t *seed, double *pattern)
{
    for (size_t e = 0; e < n; e++)
        pattern[e] = middle + next_number(seed);
}

static void noise_gives_a_matrix_whatever_its_sign(void **state)
{
    static const double middles[] = {-3, -1, 0, 1};
    static double pattern[MOST], whole[MOST], x[MOST];
    dp_error err = {0};
    uint64_t seed = 9;
    (void)state;
    for (size_t i = 0; i < n_readers; i++)
        for (int t = 0; t < TRIES; t++) {
            reading r;
            reading_make(&r, &readers[i]);
            reading_turn(&r, 1);
            size_t d = r.view.objective.n_theta, n = dpi_pattern_size(&r.view);
            assert_true(n <= MOST && d * d <= MOST);
            fill(n, middles[t % 4], &seed, pattern);
            dpi_expected as = {
                .sd = t < TRIES / 2 ? 1 : 1e-3, .least = 0.25, .level = t % 3, .spread = t % 5};
            assert_ok(dpi_arrow_whole(&r.metric, pattern, &as, whole, NULL, &err), err.text);
            for (int k = 0; k < 20; k++) {
                fill(d, 0, &seed, x);
                double size = 0;
                for (size_t e = 0; e < d * d; e++)
                    size = fmax(size, fabs(whole[e]));
                assert_true(isfinite(size));
                assert_true(at(d, whole, x) >= -1e-12 * size * (double)(d * d));
            }
            reading_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_gives_a_matrix_whatever_its_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
