/* Compositions of every mechanism against intervals that other programs found: the certified bounds
 * of the grid engine must meet them.
 *
 * Most are the optimistic and pessimistic distributions of dp_accounting 0.6.0; of truncated
 * batches there is its pessimistic one alone.  Replaced records and fixed batches by contour
 * quadrature.  The sums of 100 and 1000 discrete Gaussians are, to 200 digits, discrete Gaussians
 * of 100 and 1000 times the variance: summed with 30 digits.  (Of the second, dp_accounting's upper
 * bound lies 4e-8 below that.) */
#include "accountant/grid/grid.h"
#include "accountant/pairs/pair.h"

#include <math.h>
#include <stdbool.h>

#include "tests/lib/check.h"

typedef struct reference {
    dp_mechanism m;
    double delta, lower, upper; /* of epsilon; lower 0: only the upper bound is known */
} reference;

static const double jumps_a[] = {0, 1, 2}, chances_a[] = {0.9, 0.08, 0.02};
static const double jumps_b[] = {0, 1, 2, 3}, chances_b[] = {0.7, 0.2, 0.08, 0.02};

#define POISSON(s, r, t) .sampling = DP_SAMPLING_POISSON, .sigma = (s), .rate = (r), .steps = (t)
#define FULL(s, t) .sampling = DP_SAMPLING_FULL, .sigma = (s), .rate = 1, .steps = (t)
#define FIXED(s, r, t) .sampling = DP_SAMPLING_FIXED, .sigma = (s), .rate = (r), .steps = (t)
#define TRUNCATED(s, n, c, r, t)                                                                   \
    .sampling = DP_SAMPLING_TRUNCATED, .sigma = (s), .rate = (r), .steps = (t), .records = (n),    \
    .cap = (c)
#define LAW(l) .noise = DP_NOISE_##l
#define JUMPS(x, n) .jumps = jumps_##x, .chances = chances_##x, .n_jumps = (n)

static const reference table[] = {
    {{FULL(1, 1), LAW(LAPLACE)}, 1e-6, 0.999988000008, 0.999998000003},
    {{FULL(1, 10), LAW(LAPLACE)}, 1e-6, 9.99887811497, 9.99897808949},
    {{FULL(5, 100), LAW(LAPLACE)}, 1e-6, 10.2764402014, 10.2764810975},
    {{POISSON(1, 0.01, 1000), LAW(LAPLACE)}, 1e-6, 1.27929060323, 1.28640751735},
    {{POISSON(2, 0.1, 100), LAW(LAPLACE)}, 1e-8, 2.5763802735, 2.57694452535},
    {{FULL(1, 1), LAW(DISCRETE_GAUSSIAN)}, 1e-6, 4.49958102296, 4.49959098219},
    {{FULL(1, 10), LAW(DISCRETE_GAUSSIAN)}, 1e-6, 19.4915885358, 19.4916385213},
    {{FULL(4, 100), LAW(DISCRETE_GAUSSIAN)}, 1e-6, 14.450753557218, 14.450753557218},
    {{POISSON(2, 0.1, 100), LAW(DISCRETE_GAUSSIAN)}, 1e-6, 2.67457781072, 2.67503508698},
    {{FULL(8, 1000), LAW(DISCRETE_GAUSSIAN)}, 1e-8, 29.375172003811, 29.375172003811},
    {{FULL(0.5, 10), LAW(RANDOMISED_RESPONSE), .categories = 2},
     1e-6,
     10.9860822421,
     10.9861822421},
    {{FULL(0.2, 5), LAW(RANDOMISED_RESPONSE), .categories = 10},
     1e-6,
     18.5678473027,
     18.5678973027},
    {{FULL(1, 10), JUMPS(a, 3)}, 1e-6, 7.68233945866, 7.68284014228},
    {{FULL(2, 100), JUMPS(b, 4)}, 1e-6, 15.8507930482, 15.8994405406},
    {{TRUNCATED(1.5, 60000, 200, 128.0 / 60000, 9375)}, 1.0 / 60000, 0, 0.53555477818},
    {{TRUNCATED(1.5, 60000, 170, 128.0 / 60000, 9375)}, 1.0 / 60000, 0, 0.537634681749},
    {{TRUNCATED(1.5, 60000, 150, 128.0 / 60000, 9375)}, 1.0 / 60000, 0, 0.749168154371},
    {{TRUNCATED(1, 10000, 150, 0.01, 1000)}, 1e-6, 0, 2.13782201416},
    {{FIXED(1.5, 128.0 / 60000, 9375)}, 1.0 / 60000, 1.98467056723, 2.5038877269},
    {{FIXED(10, 0.02, 100000)}, 0.002, 3.97764604346, 4.35946163823},
    {{FIXED(2, 0.01, 1000)}, 1e-10, 3.2904437509, 3.68056967238},
    {{FIXED(2, 0.01, 10)}, 1e-6, 0.592349450485, 0.596586977935},
    {{FIXED(1, 1, 1)}, 1e-5, 9.99725614643, 9.99725615643},
    {{POISSON(1.5, 128.0 / 60000, 9375), .adjacency = DP_REPLACE_ONE},
     1.0 / 60000,
     1.01254478673,
     1.01254478875},
};

static dpi_bounds bounds_of(const reference *r, dpi_direction direction, dpi_side side)
{
    dpi_pair pair;
    double times;
    dp_error err = {0};
    dpi_bounds bounds;
    assert_ok(dpi_pair_of(&r->m, direction, side, &pair, &times, &err), err.text);
    dpi_pair_times term = {&pair, times};
    dpi_wish wish = {.width = 2e-5, .enough = -1, .interval = 1e-3};
    assert_ok(
        dpi_grid_solve(&term, 1, (dpi_question){DPI_ASK_EPSILON, r->delta}, &wish, &bounds, &err),
        err.text);
    assert_true(bounds.upper - bounds.lower <= 1e-3 * bounds.upper * (1 + 1e-9));
    dpi_pair_free(&pair);
    return bounds;
}

/* Removal is the worse direction in all of these; the other one is looked at where it is cheap. */
static void intervals_meet_those_of_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const reference *r = &table[i];
        dpi_bounds high = bounds_of(r, DPI_REMOVE, DPI_UPPER), low = high;
        bool gap = r->m.sampling == DP_SAMPLING_FIXED || r->m.sampling == DP_SAMPLING_TRUNCATED;
        if (gap)
            low = bounds_of(r, DPI_REMOVE, DPI_LOWER);
        if (!(low.lower <= r->upper * (1 + 1e-9) && high.upper >= r->lower * (1 - 1e-9)))
            fail_msg("row %zu: [%.12g, %.12g] does not meet [%.12g, %.12g]", i, low.lower,
                     high.upper, r->lower, r->upper);
        if (r->m.sampling == DP_SAMPLING_FIXED) { /* both ends are exact */
            assert_true(low.lower <= r->lower && low.upper >= r->lower * (1 - 1e-9));
            assert_true(high.lower <= r->upper && high.upper >= r->upper * (1 - 1e-9));
        }
        if (r->m.sampling == DP_SAMPLING_TRUNCATED)
            assert_true(high.upper <= r->upper * (1 + 1e-3));
        if (r->m.steps <= 100)
            assert_true(bounds_of(r, DPI_ADD, DPI_UPPER).lower <= high.upper);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_meet_those_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
