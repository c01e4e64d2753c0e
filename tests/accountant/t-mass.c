/* One step on a grid: what the discretisation must keep and must not lose. */
#include "accountant/grid/mass.h"

#include <math.h>
#include <stdlib.h>

#include "accountant/pairs/make.h"
#include "tests/accountant/oracle.h"
#include "tests/lib/check.h"

enum { SIZE = 1 << 14 };

static double data[SIZE + 2];

static void fill(const dpi_pair *pair, double spacing, double tilt, dpi_mass *mass, dpi_knots *grid)
{
    *grid = (dpi_knots){.spacing = spacing, .tilt = tilt, .tail_tilt = 2 * tilt, .size = SIZE};
    for (int i = 0; i < SIZE; i++)
        data[i] = 0;
    dpi_mass_upper(pair, grid, -60, data, mass);
}

/* Untilted mass and loss of array place i; knots are centred on 0. */
static double untilted(const dpi_pair *pair, const dpi_knots *g, const dpi_mass *m, int i,
                       double *loss)
{
    double l = (i < SIZE / 2 ? i : i - SIZE) * g->spacing;
    *loss = pair->base + l;
    return data[i] * exp(m->log_sum - g->tilt * l);
}

static void keeps_both_total_masses(void **state)
{
    (void)state;
    const double cases[][4] = {
        {1.3, 0.021, 1e-3, 1.7}, {0.4, 0.3, 5e-3, 0.3}, {7, 0.6, 5e-4, 5}, {1, 1e-5, 1e-3, 2}};
    for (int i = 0; i < 8; i++) {
        const double *c = cases[i / 2];
        dpi_pair pair = dpi_pair_gaussian(c[0], c[1], i % 2 ? DPI_ADD : DPI_REMOVE);
        dpi_knots grid;
        dpi_mass mass;
        fill(&pair, c[2], c[3], &mass, &grid);
        double p = 0, q = 0;
        for (int k = 0; k < SIZE; k++) {
            double l, one = untilted(&pair, &grid, &mass, k, &l);
            assert_true(one >= 0);
            p += one;
            q += one * exp(-l);
        }
        assert_close(p, 1, 2e-12, 0);
        assert_close(q, 1, 2e-12, 0);
    }
}

/* At every knot delta of the grid is exact, between knots it is the chord in e^eps: an upper
 * bound. */
static void is_exact_on_knots_and_above_between(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        dpi_pair pair = dpi_pair_gaussian(1.3, 0.2, i ? DPI_ADD : DPI_REMOVE);
        dpi_knots grid;
        dpi_mass mass;
        fill(&pair, 0.01, 1.5, &mass, &grid);
        for (int k = 5; k < 40; k++) {
            double eps_knot = pair.base + (i ? -k : k) * 0.01;
            for (int half = 0; half < 2; half++) {
                double eps = eps_knot + 0.005 * half, delta = 0;
                if (eps <= 0)
                    continue;
                for (int j = 0; j < SIZE; j++) {
                    double l, one = untilted(&pair, &grid, &mass, j, &l);
                    delta += l > eps ? one * -expm1(eps - l) : 0;
                }
                double exact = oracle_delta_once(1.3, 0.2, eps, i == 1);
                assert_true(delta >= exact * (1 - 1e-10) - 1e-15);
                if (!half)
                    assert_close(delta, exact, 1e-9, 1e-13);
                else
                    assert_true(delta > exact * (1 + 1e-7));
            }
        }
    }
}

/* At every epsilon delta of the lower masses is below the exact one, and not by much. */
static void lower_masses_stay_below(void **state)
{
    (void)state;
    static double lower[SIZE + 2];
    for (int i = 0; i < 2; i++) {
        dpi_pair pair = dpi_pair_gaussian(1.3, 0.2, i ? DPI_ADD : DPI_REMOVE);
        dpi_knots grid = {.spacing = 0.01, .tilt = 1.5, .tail_tilt = 3, .size = SIZE};
        dpi_mass mass;
        for (int k = 0; k < SIZE; k++)
            data[k] = lower[k] = 0;
        dpi_mass_lower(&pair, &grid, -60, lower, data, &mass);
        assert_true(mass.log_sum > -INFINITY);
        for (double eps = 1e-3; eps < (i ? 0.21 : 1.5); eps += 0.00137) {
            double delta = 0;
            for (int j = 0; j < SIZE; j++) {
                double l = pair.base + mass.shift + (j < SIZE / 2 ? j : j - SIZE) * grid.spacing;
                double one =
                    lower[j] * exp(mass.log_sum - grid.tilt * (l - pair.base - mass.shift));
                assert_true(one >= 0);
                delta += l > eps ? one * -expm1(eps - l) : 0;
            }
            double exact = oracle_delta_once(1.3, 0.2, eps, i == 1);
            assert_true(delta <= exact * (1 + 1e-10) + 1e-15);
            if (exact > 1e-3)
                assert_true(delta > exact * 0.95);
        }
    }
}

/* Exact profile of one step at any epsilon: delta(e) = 1 - e^e + e^e delta'(-e), the other way
 * round. */
static double profile_once(double sigma, double q, double eps, bool add)
{
    return eps >= 0 ? oracle_delta_once(sigma, q, eps, add)
                    : -expm1(eps) + exp(eps) * oracle_delta_once(sigma, q, -eps, !add);
}

/* Profile of masses whose knots all lie on one side of the base. */
static double profile_of(const double *masses, const dpi_pair *pair, const dpi_knots *g,
                         const dpi_mass *m, double eps)
{
    double delta = m->infinite;
    for (int i = 0; i < SIZE; i++) {
        bool wrapped = pair->piece[0].sign > 0 ? i >= SIZE - 16 : i >= 16;
        double l = (wrapped ? i - SIZE : i) * g->spacing;
        double loss = pair->base + m->shift + l;
        if (loss > eps && masses[i] > 0)
            delta += masses[i] * exp(m->log_sum - g->tilt * l) * -expm1(eps - loss);
    }
    return delta;
}

/* Knots so far apart that all of a step lies on two or three of them, above the base and below
 * 0. */
static void lower_masses_stay_below_on_coarse_grids(void **state)
{
    (void)state;
    static double lower[SIZE + 2];
    const double steps[][2] = {{3.4469, 0.00216}, {1.3, 0.2}, {20, 0.01}, {0.6, 1e-3}};
    for (int i = 0; i < 8; i++) {
        double sigma = steps[i / 2][0], q = steps[i / 2][1];
        bool add = i % 2;
        dpi_pair pair = dpi_pair_gaussian(sigma, q, add ? DPI_ADD : DPI_REMOVE);
        for (double coarse = 0.1; coarse < 40; coarse *= 1.17) {
            dpi_knots grid = {.spacing = coarse * q, .tilt = 2.86, .tail_tilt = 5, .size = SIZE};
            dpi_mass mass;
            for (int k = 0; k < SIZE; k++)
                data[k] = lower[k] = 0;
            dpi_mass_lower(&pair, &grid, -40, lower, data, &mass);
            for (int k = -40; k < 40; k++) {
                double eps = 0.25 * k * grid.spacing;
                double found = profile_of(lower, &pair, &grid, &mass, eps);
                assert_true(found <= profile_once(sigma, q, eps, add) * (1 + 1e-10) + 1e-15);
            }
            assert_true(profile_of(lower, &pair, &grid, &mass, -50) <= 1 + 1e-12);
        }
    }
}

/* The tail's tilt counts every mass, however steep it is: what it takes from one knot to the next
 * may be more than a double holds in AGAIN of them.  The
 * sum is at least the largest of its terms, and at most SIZE of these. */
static void steep_tails_are_counted(void **state)
{
    (void)state;
    const double steps[][2] = {{0.2, 0.5}, {0.1, 0.99}, {0.7, 0.3}}, steep[] = {1, 12, 30, 100};
    for (int i = 0; i < 12; i++) {
        dpi_pair pair = dpi_pair_gaussian(steps[i / 4][0], steps[i / 4][1], DPI_ADD);
        const double spacing = 0.02, tilt = steep[i % 4] / 10 / spacing;
        dpi_knots grid = {
            .spacing = spacing, .tilt = tilt, .tail_tilt = steep[i % 4] / spacing, .size = SIZE};
        dpi_mass mass;
        for (int k = 0; k < SIZE; k++)
            data[k] = 0;
        dpi_mass_upper(&pair, &grid, -60, data, &mass);
        double least = -INFINITY;
        for (int64_t k = mass.bottom; k <= mass.top; k++) {
            double one = data[(size_t)k & (SIZE - 1)], l = (double)k * spacing;
            least = fmax(least, log(one) + mass.log_sum + (grid.tail_tilt - tilt) * l);
        }
        assert_true(mass.log_tail_sum >= least && mass.log_tail_sum <= least + log(SIZE));
    }
}

/* Two pieces whose small losses end at different places: what is cut off either must not sink. */
static void ends_of_small_losses_are_moved_up(void **state)
{
    (void)state;
    const dp_mechanism m = {.sampling = DP_SAMPLING_TRUNCATED,
                            .sigma = 0.7,
                            .rate = 0.1,
                            .steps = 1,
                            .records = 100,
                            .cap = 10};
    for (int add = 0; add < 2; add++) {
        dpi_pair pair = dpi_make_truncated(&m, add ? DPI_ADD : DPI_REMOVE, DPI_UPPER);
        assert_int_equal(pair.n_pieces, 2);
        double share = pair.piece[1].weight;
        for (double cut = -8; cut < -1.5; cut++) {
            dpi_knots grid = {.spacing = 0.01, .tilt = 0.5, .tail_tilt = 1, .size = SIZE};
            dpi_mass mass;
            for (int k = 0; k < SIZE; k++)
                data[k] = 0;
            dpi_mass_upper(&pair, &grid, cut, data, &mass);
            for (double eps = -6; eps < 3; eps += 0.0173) {
                double exact = (1 - share) * profile_once(0.7, 0.1, eps, add) +
                               share * profile_once(0.35, 0.1, eps, add);
                assert_true(profile_of(data, &pair, &grid, &mass, eps) >= exact * (1 - 1e-11));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_both_total_masses),
        cmocka_unit_test(is_exact_on_knots_and_above_between),
        cmocka_unit_test(lower_masses_stay_below),
        cmocka_unit_test(lower_masses_stay_below_on_coarse_grids),
        cmocka_unit_test(steep_tails_are_counted),
        cmocka_unit_test(ends_of_small_losses_are_moved_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
