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
            double own[MOST] = {0}, precision[MOST] = {0};
            dpi_told told = {.own = own, .precision = precision};
            if (t % 2 == 1) {
                dpi_arrow_hear(&r.metric, pattern, 0.5, as.sd, &told);
                as.told = &told;
                as.factor = 0.5;
            }
            assert_ok(dpi_arrow_whole(&r.metric, pattern, &as, whole, &err), err.text);
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

/* ---- members of one number ---- */

enum { G = READER_G };

/* What members of "bernoulli by group" are taken to tell, found to tell own[G] with noise sd, all
 * being `total`: their own numbers in the matrix, which another pattern gives the plate's total. */
static void members(const double own[G], double sd, double total, double found[G])
{
    double pattern[64] = {0}, told_own[MOST] = {0}, precision[MOST] = {0}, whole[MOST];
    dpi_told told = {.own = told_own, .precision = precision};
    dpi_expected as = {.told = &told, .factor = 1};
    dp_error err = {0};
    reading r;
    reading_make(&r, reader_named("bernoulli by group"));
    const dpi_read *plate = &r.view.reads[r.view.n_reads - 1];
    size_t p = r.view.p, d = r.view.objective.n_theta, at = p * (p + 1) / 2;
    for (size_t c = 0, e = 0; c < p; e += p - c, c++)
        pattern[e] = total;
    for (size_t k = 0; k < G; k++)
        pattern[at + k * (p + 1) + p] = own[k];
    dpi_arrow_hear(&r.metric, pattern, 1, sd * dpi_own_weight, &told);
    assert_ok(dpi_arrow_whole(&r.metric, pattern, &as, whole, &err), err.text);
    for (size_t k = 0; k < G; k++)
        found[k] = whole[(plate->block->offset + k) * (d + 1)];
    reading_free(&r);
}

static void members_are_as_different_as_noise_leaves_them(void **state)
{
    static const double own[G] = {50, 7, 2, 1};
    double found[G], sum = 0;
    (void)state;
    members(own, 1e-4, 60, found);
    for (size_t k = 0; k < G; k++)
        assert_close(found[k], own[k], 1e-6, 0);
    members(own, 1e4, 60, found);
    for (size_t k = 0; k < G; k++)
        assert_close(found[k], 15, 0.1, 0);
    /* Small ones are positive and below the mean, large ones nearly as found. */
    members((const double[G]){50, 7, -3, 1}, 4, 55, found);
    for (size_t k = 0; k < G; k++)
        sum += found[k];
    assert_close(sum, 55, 1e-9, 0);
    assert_true(found[0] > 40 && found[2] > 0 && found[2] < found[3] && found[3] < 5);
}

/* By the precision of their noise, each of so many times the information. */
static void what_releases_tell_is_joined(void **state)
{
    double pattern[64] = {0}, own[MOST] = {0}, precision[MOST] = {0};
    dpi_told told = {.own = own, .precision = precision};
    reading r;
    (void)state;
    reading_make(&r, reader_named("bernoulli by group"));
    const dpi_read *plate = &r.view.reads[r.view.n_reads - 1];
    size_t p = r.view.p, at = p * (p + 1) / 2, first = plate->block->offset;
    double unit = *dpi_metric_of(&r.metric, plate) = 2;
    pattern[at + p] = 12;
    dpi_arrow_hear(&r.metric, pattern, 1, dpi_own_weight, &told);
    assert_close(own[first], 12 / (unit * unit), 1e-12, 0);
    assert_close(precision[first], pow(unit, 4), 1e-12, 0);
    dpi_arrow_hear(&r.metric, pattern, 0.5, 2 * dpi_own_weight, &told);
    assert_close(precision[first], pow(unit, 4) * (1 + 1. / 16), 1e-12, 0);
    assert_close(own[first], 12 / (unit * unit) * (1 + 2. / 16) / (1 + 1. / 16), 1e-12, 0);
    assert_true(precision[first == 0 ? G : 0] == 0);
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_gives_a_matrix_whatever_its_sign),
        cmocka_unit_test(members_are_as_different_as_noise_leaves_them),
        cmocka_unit_test(what_releases_tell_is_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
