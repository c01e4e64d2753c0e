/* Epochs of random allocation against quadrature for 2 and 3 steps and against independent figures
 * for many. */
#include "accountant/pairs/allocation.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dpi_pair pair_of(double sigma, uint64_t t, dpi_direction direction, dpi_side side)
{
    dpi_pair pair;
    dp_error err = {0};
    assert_ok(dpi_allocation_pair(sigma, t, direction, side, 0, &pair, &err), err.text);
    assert_true(pair.n_pieces == 0 && pair.base == 0 && pair.n_atoms > 0);
    return pair;
}

/* delta of one epoch: from above or below, by what the pair says of its own errors. */
static double delta_of(const dpi_pair *pair, double epsilon, dpi_side side)
{
    double sign = side == DPI_UPPER ? 1 : -1, sum = 0;
    for (size_t i = pair->n_atoms; i-- > 0;) {
        double loss = pair->atom[i].offset + sign * pair->offset_error;
        if (loss <= epsilon)
            break;
        sum += pair->atom[i].mass * -expm1(epsilon - loss);
    }
    sum *= 1 + sign * pair->mass_error;
    return side == DPI_UPPER ? sum + pair->infinite + pair->lost : sum;
}

static double epsilon_of(const dpi_pair *pair, double delta, dpi_side side)
{
    double low = 0, high = 64;
    while (high - low > 1e-12) {
        double middle = (low + high) / 2;
        if (delta_of(pair, middle, side) > delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- quadrature ---- */

static double normal_below(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* E (Y - c)_+ or E (c - Y)_+ of one term Y = exp(s z - s^2 / 2). */
static double one_term(double s, double c, dpi_direction direction)
{
    if (c <= 0)
        return direction == DPI_REMOVE ? 1 - c : 0;
    double z = log(c) / s + s / 2;
    return direction == DPI_REMOVE ? normal_below(s - z) - c * normal_below(-z)
                                   : c * normal_below(z) - normal_below(z - s);
}

/* The same of a sum of n terms: the trapezoidal rule for all but the last. */
static double sum_of_terms(int n, double s, double c, dpi_direction direction, double step)
{
    if (n == 1)
        return one_term(s, c, direction);
    double sum = 0;
    for (double z = -9; z < 9 + s; z += step)
        sum +=
            exp(-z * z / 2) * sum_of_terms(n - 1, s, c - exp(s * z - s * s / 2), direction, step);
    return sum * step * 0.39894228040143267794;
}

/* E (X - e^eps)_+ or E (1 - e^eps X)_+. */
static double quadrature(int t, double sigma, double epsilon, dpi_direction direction)
{
    double c = t * exp(direction == DPI_REMOVE ? epsilon : -epsilon);
    double sum = sum_of_terms(t, 1 / sigma, c, direction, t == 2 ? 0.001 : 0.02) / t;
    return direction == DPI_REMOVE ? sum : sum * exp(epsilon);
}

static void bounds_hold_a_quadrature_of_few_steps(void **state)
{
    (void)state;
    const struct {
        int t;
        double sigma, epsilon, width;
    } rows[] = {{2, 0.47, 3.1, 1e-3}, {2, 1.3, 0.9, 1e-3},  {2, 1.3, 2.7, 2e-3},
                {2, 7.1, 0.2, 1e-3},  {3, 2.3, 0.83, 1e-3}, {3, 4.7, 0.31, 1e-3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int d = DPI_REMOVE; d <= DPI_ADD; d++) {
            double exact = quadrature(rows[i].t, rows[i].sigma, rows[i].epsilon, d), bound[2];
            for (int side = DPI_LOWER; side <= DPI_UPPER; side++) {
                dpi_pair pair = pair_of(rows[i].sigma, (uint64_t)rows[i].t, d, side);
                bound[side] = delta_of(&pair, rows[i].epsilon, side);
                dpi_pair_free(&pair);
            }
            assert_true(exact > 1e-9);
            assert_true(bound[DPI_LOWER] <= exact * (1 + 1e-9));
            assert_true(exact <= bound[DPI_UPPER] * (1 + 1e-9));
            assert_close(bound[DPI_LOWER], bound[DPI_UPPER], rows[i].width, 0);
        }
    }
}

/* By an independent program, a convolution of lognormal laws by FFT. */
static void bounds_hold_independent_figures(void **state)
{
    (void)state;
    const struct {
        double sigma;
        uint64_t t;
        dpi_direction direction;
        double delta, low, high;
    } rows[] = {{1, 100, DPI_REMOVE, 1e-5, 0.6209396, 0.6209399},
                {1, 100, DPI_ADD, 1e-5, 0.421953, 0.421955},
                {1.5, 469, DPI_REMOVE, 1. / 60000, 0.1030023, 0.1030026}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dpi_pair lower = pair_of(rows[i].sigma, rows[i].t, rows[i].direction, DPI_LOWER);
        dpi_pair upper = pair_of(rows[i].sigma, rows[i].t, rows[i].direction, DPI_UPPER);
        double low = epsilon_of(&lower, rows[i].delta, DPI_LOWER);
        double high = epsilon_of(&upper, rows[i].delta, DPI_UPPER);
        assert_true(low <= rows[i].low && rows[i].high <= high);
        assert_close(low, high, 4e-4, 0);
        dpi_pair_free(&lower);
        dpi_pair_free(&upper);
    }
}

static double total(const dpi_pair *pair, double tilt)
{
    double sum = 0;
    for (size_t i = 0; i < pair->n_atoms; i++)
        sum += pair->atom[i].mass * exp(tilt * pair->atom[i].offset);
    return sum;
}

/* P and Q sum to 1 and atoms rise, for odd and even numbers of steps. */
static void pairs_are_pairs(void **state)
{
    (void)state;
    const uint64_t steps[] = {2, 5, 64, 487, 10007};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int d = DPI_REMOVE; d <= DPI_ADD; d++) {
            dpi_pair pair = pair_of(3.3, steps[i], d, i % 2 ? DPI_LOWER : DPI_UPPER);
            assert_close(total(&pair, 0) + pair.infinite, 1, pair.mass_error + 1e-12, 0);
            assert_close(total(&pair, -1), 1, pair.mass_error + 1e-12, 0);
            for (size_t k = 1; k < pair.n_atoms; k++)
                assert_true(pair.atom[k - 1].offset < pair.atom[k].offset);
            assert_true(pair.mass_error < 1e-5 && pair.lost < 1e-21 && pair.infinite < 1e-21);
            dpi_pair_free(&pair);
        }
}

/* At epsilon = 0 delta is the total variation distance, which has no direction. */
static void directions_agree_on_total_variation(void **state)
{
    (void)state;
    double bound[2][2];
    for (int d = DPI_REMOVE; d <= DPI_ADD; d++)
        for (int side = DPI_LOWER; side <= DPI_UPPER; side++) {
            dpi_pair pair = pair_of(0.9, 37, d, side);
            bound[d][side] = delta_of(&pair, 0, side);
            dpi_pair_free(&pair);
        }
    assert_true(bound[DPI_REMOVE][DPI_LOWER] <= bound[DPI_ADD][DPI_UPPER]);
    assert_true(bound[DPI_ADD][DPI_LOWER] <= bound[DPI_REMOVE][DPI_UPPER]);
    assert_close(bound[DPI_REMOVE][DPI_UPPER], bound[DPI_ADD][DPI_UPPER], 1e-3, 0);
}

static void more_steps_and_more_noise_cost_less(void **state)
{
    (void)state;
    double before = INFINITY;
    const struct {
        double sigma;
        uint64_t t;
    } rows[] = {{2, 10}, {2, 11}, {2.1, 11}, {2.1, 300}, {2.2, 300}, {2.2, 320}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dpi_pair pair = pair_of(rows[i].sigma, rows[i].t, DPI_REMOVE, DPI_UPPER);
        double epsilon = epsilon_of(&pair, 1e-6, DPI_UPPER);
        assert_true(epsilon < before);
        before = epsilon;
        dpi_pair_free(&pair);
    }
}

static void refuses_what_it_cannot_account_for(void **state)
{
    (void)state;
    const struct {
        double sigma;
        uint64_t t;
        const char *says;
    } rows[] = {{NAN, 10, "sigma"},      {0, 10, "sigma"},   {-1, 10, "sigma"},
                {INFINITY, 10, "sigma"}, {0.2, 10, "sigma"}, {1e9, 10, "sigma"},
                {1, 0, "steps"},         {1, 1, "steps"},    {1, UINT64_MAX, "steps"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dpi_pair pair;
        dp_error err = {0};
        memset(&pair, 1, sizeof pair);
        assert_int_equal(
            dpi_allocation_pair(rows[i].sigma, rows[i].t, DPI_ADD, DPI_UPPER, 0, &pair, &err),
            DP_EACCURACY);
        assert_contains(err.text, rows[i].says);
        assert_contains(err.text, "Poisson sampling");
        assert_true(pair.atom == NULL && pair.n_atoms == 0);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        dpi_pair pair;
        size_t before = faulty_live();
        faulty_fail(k);
        dp_status status = dpi_allocation_pair(9, 2, DPI_ADD, DPI_UPPER, 0, &pair, NULL);
        faulty_fail(0);
        if (status == DP_OK) {
            dpi_pair_free(&pair);
            assert_true(k > 3);
            assert_int_equal(faulty_live(), before);
            return;
        }
        assert_int_equal(status, DP_ENOMEM);
        assert_true(pair.atom == NULL && pair.n_atoms == 0);
        assert_int_equal(faulty_live(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_a_quadrature_of_few_steps),
        cmocka_unit_test(bounds_hold_independent_figures),
        cmocka_unit_test(pairs_are_pairs),
        cmocka_unit_test(directions_agree_on_total_variation),
        cmocka_unit_test(more_steps_and_more_noise_cost_less),
        cmocka_unit_test(refuses_what_it_cannot_account_for),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
