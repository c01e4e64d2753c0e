/* 10^9 Gaussian integers against their law; DRAWS in the environment takes another number.
 *
 * One pass fills counts, from which everything is computed: chi-square over cells of 1/64 standard
 * deviation, Anderson and Darling's statistic over cells of 2^-15, tails beyond 4, 5 and 6, and the
 * lowest 24 bits and bits 16 to 31, value by value (a standard deviation is 2^32; modulo that the
 * density is uniform to 2 exp(-2 pi^2) = 5e-9). */
#include "random/grid.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "tests/random/chi.h"

enum {
    BLOCK = 1 << 16,
    FINE = 1 << 15, /* cells a standard deviation */
    REACH = 10,     /* standard deviations */
    CELLS = 2 * REACH * FINE,
    COARSE = FINE / 64, /* fine cells in a coarse one */
    LOW = 1 << 24,
    HIGH = 1 << 16
};
static int64_t block[BLOCK];
static uint32_t fine[CELLS], low[LOW], high[HIGH];
static double n, beyond[7];
static double products, squares;

static void count(int64_t k)
{
    fine[(k >> 17) + CELLS / 2]++;
    low[k & (LOW - 1)]++;
    high[k >> 16 & (HIGH - 1)]++;
}

static int setup(void **state)
{
    (void)state;
    const char *asked = getenv("DRAWS");
    uint64_t draws = asked != NULL ? strtoull(asked, NULL, 10) : 1000000000;
    dpi_stream stream;
    if (sodium_init() < 0)
        return 1;
    dpi_stream_start_seeded(&stream, 51, "test");
    for (uint64_t done = 0; done < draws; done += BLOCK) {
        dpi_stream_grid(&stream, BLOCK, block);
        for (int i = 0; i < BLOCK; i++)
            count(block[i]);
        for (int i = 0; i + 1 < BLOCK; i += 2) {
            double a = (double)block[i] * 0x1p-32, b = (double)block[i + 1] * 0x1p-32;
            products += a * b;
            squares += a * a + b * b;
        }
        n += BLOCK;
    }
    for (int c = 0; c < CELLS; c++)
        for (int t = 4; t <= 6; t++)
            beyond[t] += c >= CELLS / 2 + t * FINE || c < CELLS / 2 - t * FINE ? fine[c] : 0;
    dpi_stream_end(&stream);
    print_message("# %.0f draws\n", n);
    return 0;
}

static double edge(int cell)
{
    return (double)(cell - CELLS / 2) / FINE;
}

static double mass(double a, double b)
{
    return a > 0 ? gsl_cdf_ugaussian_Q(a) - gsl_cdf_ugaussian_Q(b)
                 : gsl_cdf_ugaussian_P(b) - gsl_cdf_ugaussian_P(a);
}

/* Cells expecting fewer than 20 are left to the tails. */
static void cells_hold_what_they_should(void **state)
{
    (void)state;
    double chi = 0;
    int cells = 0;
    for (int c = 0; c < CELLS; c += COARSE) {
        double expected = n * mass(edge(c), edge(c + COARSE)), found = 0;
        for (int k = 0; k < COARSE; k++)
            found += fine[c + k];
        if (expected < 20)
            continue;
        chi += (found - expected) * (found - expected) / expected;
        cells++;
    }
    double p = chi_p(chi, cells);
    print_message("# chi-square %.2f over %d cells, p %.4f\n", chi, cells, p);
    assert_plausible(p);
}

/* n times the integral of (F_n - F)^2 / (F (1 - F)) dF, at the edges of cells; see t-grid. */
static void anderson_and_darling_find_nothing(void **state)
{
    (void)state;
    double a2 = 0, below = 0;
    for (int c = 0; c + 1 < CELLS; c++) {
        below += fine[c];
        double p = gsl_cdf_ugaussian_P(edge(c + 1)), q = gsl_cdf_ugaussian_Q(edge(c + 1));
        double off = c < CELLS / 2 ? below / n - p : q - (n - below) / n;
        a2 += off * off / (p * q) * mass(edge(c) + 0.5 / FINE, edge(c + 1) + 0.5 / FINE);
    }
    a2 *= n;
    double p = fmin(1, sqrt(3) * chi_p(2 * a2, 1));
    print_message("# A^2 %.4f, p below %.4f\n", a2, p);
    assert_plausible(p);
}

static void tails_are_there(void **state)
{
    (void)state;
    for (int t = 4; t <= 6; t++) {
        double mean = 2 * n * gsl_cdf_ugaussian_Q(t);
        double more = beyond[t] < 1 ? 1 : gsl_cdf_poisson_Q((unsigned)beyond[t] - 1, mean);
        double p = fmin(more, gsl_cdf_poisson_P((unsigned)beyond[t], mean));
        print_message("# beyond %d: %.0f, expected %.2f, p %.4f\n", t, beyond[t], mean, p);
        assert_plausible(p);
    }
}

static void bits_are_uniform(const char *name, const uint32_t *found, int cells)
{
    double chi = 0, expected = n / cells;
    int missing = 0;
    for (int c = 0; c < cells; c++) {
        chi += (found[c] - expected) * (found[c] - expected) / expected;
        missing += found[c] == 0;
    }
    /* Wilson and Hilferty for many degrees of freedom. */
    double z = (cbrt(chi / (cells - 1)) - 1 + 2.0 / 9 / cells) / sqrt(2.0 / 9 / cells);
    print_message("# %s: chi-square %.1f over %d values, z %.3f, missing %d\n", name, chi, cells, z,
                  missing);
    assert_standard(z);
    if (expected > 50)
        assert_int_equal(missing, 0);
}

static void all_low_bits_occur_alike(void **state)
{
    (void)state;
    bits_are_uniform("lowest 24 bits", low, LOW);
    bits_are_uniform("bits 16 to 31", high, HIGH);
}

/* A tenth of the draws: sums rounded by single precision are those of the integers, the sums
 * anywhere between two numbers that are kept, and every 16th within 1000 steps of a middle. */
static void rounded_sums_are_those_of_the_integers(void **state)
{
    (void)state;
    static int64_t noise[DPI_GRID_PIECE];
    static double steps[DPI_GRID_PIECE], out[DPI_GRID_PIECE];
    const int64_t unit = INT64_C(1) << DPI_GRID_DROPPED;
    dpi_stream whole, rounded, sums;
    dpi_grid a, b;
    size_t wrong = 0;
    dpi_stream_start_seeded(&whole, 52, "test");
    dpi_stream_start_seeded(&rounded, 52, "test");
    dpi_stream_start_seeded(&sums, 53, "test");
    dpi_grid_begin(&a, dpi_grid_best(), &whole);
    dpi_grid_begin(&b, dpi_grid_best(), &rounded);
    for (double done = 0; done < n / 10; done += DPI_GRID_PIECE) {
        dpi_grid_next(&a, DPI_GRID_PIECE, noise);
        for (int j = 0; j < DPI_GRID_PIECE; j++) {
            int64_t any = (int64_t)dpi_stream_u64(&sums) >> 20;
            steps[j] = (double)(j % 16 > 0 ? any : unit / 2 + any % 1000 - noise[j]);
        }
        dpi_grid_round(&b, DPI_GRID_PIECE, steps, 1, out);
        for (int j = 0; j < DPI_GRID_PIECE; j++)
            wrong += out[j] != (double)dpi_grid_dropped((int64_t)steps[j] + noise[j]);
    }
    print_message("# %.0f sums, %zu wrong\n", n / 10, wrong);
    assert_int_equal(wrong, 0);
    dpi_grid_end(&a);
    dpi_grid_end(&b);
}

static void neighbours_are_uncorrelated_and_the_variance_is_one(void **state)
{
    (void)state;
    print_message("# products z %.3f, squares z %.3f\n", products / sqrt(n / 2),
                  (squares - n) / sqrt(2 * n));
    assert_standard(products / sqrt(n / 2));
    assert_standard((squares - n) / sqrt(2 * n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_they_should),
        cmocka_unit_test(anderson_and_darling_find_nothing),
        cmocka_unit_test(tails_are_there),
        cmocka_unit_test(all_low_bits_occur_alike),
        cmocka_unit_test(neighbours_are_uncorrelated_and_the_variance_is_one),
        cmocka_unit_test(rounded_sums_are_those_of_the_integers),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
