/* Laws of sums: exact on a lattice, spreads that keep the mean, and what is given up. */
#include "accountant/pairs/sums.h"

#include <math.h>

#include "tests/lib/check.h"

static const dpi_sums_rule exact_rule = {.total = 13, .moments = true, .unit_most = 0};

/* A term with the values 0, 1, 5 and 9, 1 in the mean. */
static void fill_four(dpi_sum_law *term)
{
    const size_t at[] = {0, 1, 5, 9};
    const double mass[] = {0.72, 0.15, 0.08, 0.05};
    term->unit = 1;
    term->end = 10;
    for (int i = 0; i < 4; i++)
        term->mass[at[i]] = mass[i];
}

static void plain_power(const double *term, int n_term, int times, double *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = i == 0;
    for (int k = 0; k < times; k++)
        for (int i = n - 1; i >= 0; i--) {
            double sum = 0;
            for (int j = 0; j < n_term && j <= i; j++)
                sum += term[j] * out[i - j];
            out[i] = sum;
        }
}

static void sums_of_a_lattice_are_exact(void **state)
{
    (void)state;
    dpi_sums *sums = dpi_sums_new(&exact_rule);
    assert_non_null(sums);
    dpi_sum_law *term = dpi_sums_term(sums);
    fill_four(term);
    double want[128];
    plain_power(term->mass, 10, 13, want, 128);
    const dpi_sum_law *law = dpi_sums_run(sums);
    assert_true(law->terms == 13 && law->unit == 1);
    for (size_t k = law->first; k < law->end; k++) {
        double value = dpi_sum_law_knot(sums, law, k);
        assert_true(value == floor(value) && value < 128);
        assert_close(law->mass[k], want[(size_t)value], law->error, 0);
        assert_close(law->moment[k], 0, 0, 1e-12);
    }
    assert_true(dpi_sums_lost(sums) == 0 && law->error < 1e-12);
    dpi_sums_free(sums);
}

/* Values far beyond the body: the mean stays, the upper law's variance grows, the lower one's
 * falls. */
static void spreads_keep_the_mean_and_order_the_variance(void **state)
{
    (void)state;
    dpi_sums_rule rule = {.total = 11, .moments = true, .unit_most = 0};
    dpi_sums *sums = dpi_sums_new(&rule);
    assert_non_null(sums);
    dpi_sum_law *term = dpi_sums_term(sums);
    double mean = 0, square = 0, got[4] = {0};
    term->unit = 1;
    term->end = DPI_SUMS_BODY + 5 * DPI_SUMS_OCTAVE;
    for (size_t k = 3; k < term->end; k += 97)
        term->mass[k] = 97. / (double)term->end;
    double all = 0;
    for (size_t k = 0; k < term->end; k++)
        all += term->mass[k];
    for (size_t k = 0; k < term->end; k++) {
        double x = dpi_sum_law_knot(sums, term, k), m = term->mass[k] /= all;
        mean += m * x;
        square += m * x * x;
    }
    const dpi_sum_law *law = dpi_sums_run(sums);
    for (size_t k = law->first; k < law->end; k++) {
        double m = law->mass[k], x = dpi_sum_law_knot(sums, law, k);
        double y = m > 0 ? x + law->moment[k] / m : 0;
        got[0] += m;
        got[1] += m * x;
        got[2] += m * (x - 11 * mean) * (x - 11 * mean);
        got[3] += m * (y - 11 * mean) * (y - 11 * mean);
    }
    double variance = 11 * (square - mean * mean);
    assert_close(got[0], 1, 1e-12, 0);
    assert_close(got[1], 11 * mean, 1e-12, 0);
    assert_true(got[3] < variance && variance < got[2]);
    assert_close(got[3], got[2], 1e-3, 0);
    dpi_sums_free(sums);
}

/* A grid that may coarsen does, up to the share of the body's width that was allowed. */
static void grids_coarsen_with_the_sum(void **state)
{
    (void)state;
    dpi_sums_rule rule = {.total = 4096, .coarse = 1. / 32, .unit_most = INFINITY};
    dpi_sums *sums = dpi_sums_new(&rule);
    assert_non_null(sums);
    fill_four(dpi_sums_term(sums));
    const dpi_sum_law *law = dpi_sums_run(sums);
    double deviation = sqrt(4096 * (0.15 + 25 * 0.08 + 81 * 0.05 - 1));
    assert_true(law->unit <= deviation / 30 && law->unit > deviation / 70);
    double sum = 0;
    for (size_t k = law->first; k < law->end; k++)
        sum += law->mass[k];
    assert_close(sum, 1, 1e-11, 0);
    dpi_sums_free(sums);
}

/* What is cut off is counted, by probability or by size, and no more is cut than allowed. */
static void cuts_are_counted(void **state)
{
    (void)state;
    for (int by_size = 0; by_size < 2; by_size++) {
        dpi_sums_rule rule = {.total = 13, .by_size = by_size, .give_up = 1e-4, .unit_most = 0};
        dpi_sums *sums = dpi_sums_new(&rule);
        assert_non_null(sums);
        dpi_sum_law *term = dpi_sums_term(sums);
        fill_four(term);
        const dpi_sum_law *law = dpi_sums_run(sums);
        double p = 1, m = 13;
        for (size_t k = law->first; k < law->end; k++) {
            p -= law->mass[k];
            m -= law->mass[k] * dpi_sum_law_knot(sums, law, k);
        }
        double missing = by_size ? m / 13 : p;
        assert_true(missing > 1e-6 && missing <= dpi_sums_lost(sums) * (1 + 1e-9));
        assert_true(dpi_sums_lost(sums) < 12 * 1e-4);
        dpi_sums_free(sums);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_a_lattice_are_exact),
        cmocka_unit_test(spreads_keep_the_mean_and_order_the_variance),
        cmocka_unit_test(grids_coarsen_with_the_sum),
        cmocka_unit_test(cuts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
