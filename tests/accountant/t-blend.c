/* Unsampled Gaussian releases beside sampled ones: the profile against long double, one sampled
 * step against quadrature of the definition, lists against the contour; and how much a query may
 * take. */
#include "accountant/grid/blend.h"

#include <math.h>

#include "accountant/answers/composition.h"
#include "accountant/contour/contour.h"
#include "accountant/grid/grid.h"
#include "accountant/pairs/make.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static double between(uint64_t *seed, double low, double high)
{
    return low * pow(high / low, 0.5 + 0.5 * next_number(seed));
}

static long double phi(long double x)
{
    return erfcl(-x * sqrtl(0.5L)) / 2;
}

static long double profile(long double mu, long double e)
{
    return phi(mu / 2 - e / mu) - expl(e) * phi(-mu / 2 - e / mu);
}

/* A bound on delta(e) of one release alone: all mass at loss 0. */
static double bound(double mu, double e, dpi_side side)
{
    double mass[1] = {1};
    const dpi_curve c = {
        .mass = mass, .grid = {.spacing = 1, .size = 1}, .side = side, .normal_mu = mu};
    return dpi_blend_read(&c, (dpi_question){DPI_ASK_DELTA, e}).delta;
}

static void the_profile_lies_between_its_bounds(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    uint64_t seed = 91;
    for (int i = 0; i < 20000; i++) {
        double mu = between(&seed, 1e-2, 30), x = 40 * next_number(&seed);
        double e = mu * x;
        if (e > 11000)
            continue;
        long double exact = profile(mu, e);
        double low = bound(mu, e, DPI_LOWER), high = bound(mu, e, DPI_UPPER);
        bool tight = high - low <= 1e-7 * high || high <= 5e-65;
        /* expl and erfcl leave 1e-16 of either term */
        long double error = 1e-16L * phi(mu / 2 - e / mu);
        if (!(low <= exact + error && high >= exact - error && low >= 0 && high <= 1 && tight))
            fail_msg("mu %g e %g: [%.17g, %.17g] for %.17Lg", mu, e, low, high, exact);
    }
}

/* delta of one sampled step and a Gaussian release: the trapezoidal rule over the definition. */
static long double exact_delta(double sigma, double q, double mu, double epsilon, bool add)
{
    long double sum = 0, h = 1e-3L * sigma, s2 = (long double)sigma * sigma;
    for (long double x = -14 * sigma; x < 1 + 14 * sigma; x += h) {
        long double plain = expl(-x * x / (2 * s2)),
                    ratio = 1 - q + q * expl((2 * x - 1) / (2 * s2));
        long double loss = add ? -logl(ratio) : logl(ratio);
        sum += (add ? plain : plain * ratio) * profile(mu, epsilon - loss);
    }
    return sum * h / (sigma * sqrtl(2 * acosl(-1)));
}

static void one_sampled_step_beside_a_full_one_meets_its_definition(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 24; i++) {
        double sigma = between(&seed, 0.6, 4), q = between(&seed, 1e-3, 0.5);
        double mu = between(&seed, 0.05, 3),
               epsilon = mu * (mu / 2 + 2.5 + 1.5 * next_number(&seed));
        dpi_direction d = i % 2 ? DPI_ADD : DPI_REMOVE;
        dpi_pair pair[] = {dpi_pair_gaussian(sigma, q, d), dpi_make_full(1 / mu)};
        dpi_pair_times list[] = {{&pair[0], 1}, {&pair[1], 1}};
        dpi_wish wish = {.width = 2e-4, .enough = -1, .interval = 1e-3};
        dpi_bounds b;
        dp_error err = {0};
        dpi_question ask = {DPI_ASK_DELTA, epsilon};
        assert_ok(dpi_grid_solve(list, 2, ask, &wish, &b, &err), err.text);
        double exact = (double)exact_delta(sigma, q, mu, epsilon, d == DPI_ADD);
        if (!(b.lower <= exact * (1 + 1e-12) && b.upper >= exact * (1 - 1e-12)))
            fail_msg("sigma %g q %g mu %g epsilon %g direction %d: [%.15g, %.15g] for %.15g", sigma,
                     q, mu, epsilon, (int)d, b.lower, b.upper, exact);
        assert_true(b.upper - b.lower <= 1e-3 * b.upper);
    }
}

/* Lists of two sampled mechanisms and two full ones, which the contour takes in closed form. */
static void lists_meet_the_contour(void **state)
{
    (void)state;
    uint64_t seed = 2026;
    int compared = 0;
    for (int i = 0; i < 60; i++) {
        double delta = between(&seed, 1e-12, 1e-3), estimate;
        dpi_direction d = i % 2 ? DPI_ADD : DPI_REMOVE;
        dpi_pair pair[] = {
            dpi_pair_gaussian(between(&seed, 0.7, 4), between(&seed, 1e-4, 0.2), d),
            dpi_pair_gaussian(between(&seed, 0.7, 4), between(&seed, 1e-4, 0.2), d),
            dpi_make_full(between(&seed, 0.5, 100)),
            dpi_make_full(between(&seed, 0.5, 100)),
        };
        dpi_pair_times list[] = {{&pair[0], floor(between(&seed, 20, 5000))},
                                 {&pair[2], 1},
                                 {&pair[1], floor(between(&seed, 1, 500))},
                                 {&pair[3], floor(between(&seed, 1, 50))}};
        dpi_wish wish = {.width = 4e-4, .enough = -1, .interval = 1e-3};
        dpi_bounds b;
        dp_error err = {0};
        assert_ok(dpi_grid_solve(list, 4, (dpi_question){DPI_ASK_EPSILON, delta}, &wish, &b, &err),
                  err.text);
        assert_true(b.upper - b.lower <= 1e-3 * b.upper && b.points <= 1 << 20);
        if (dpi_contour_epsilon(list, 4, log(delta), &estimate, NULL) != DP_OK)
            continue;
        compared++;
        if (!(b.lower <= estimate * (1 + 1e-8) && b.upper >= estimate * (1 - 1e-8)))
            fail_msg("list %d: [%.12g, %.12g] for %.12g", i, b.lower, b.upper, estimate);
    }
    assert_true(compared > 50);
}

/* 0.3 of the mass lies at 0.5, in the window, and all else may lie just below it. */
static void mass_below_the_window_is_counted(void **state)
{
    (void)state;
    double mass[64] = {0};
    const double mu = 1;
    dpi_curve c = {.mass = mass,
                   .grid = {.spacing = 0.1, .tilt = 2, .tail_tilt = 3, .low = 0, .size = 64},
                   .side = DPI_UPPER,
                   .high = 63,
                   .least = -10,
                   .normal_mu = mu};
    mass[5] = 0.3 * exp(2 * 0.5);
    for (double epsilon = 0; epsilon < 5; epsilon += 0.25) {
        dpi_reading r = dpi_blend_read(&c, (dpi_question){DPI_ASK_DELTA, epsilon});
        long double window = 0.3L * profile(mu, epsilon - 0.5L), below = profile(mu, epsilon);
        assert_true(r.delta >= window + 0.7L * below);
        assert_true(r.delta <= (window + below) * (1 + 1e-5L));
    }
    c.least = 0; /* nothing below */
    dpi_reading r = dpi_blend_read(&c, (dpi_question){DPI_ASK_DELTA, 1});
    assert_close(r.delta, (double)(0.3L * profile(mu, 0.5L)), 1e-9, 0);
}

/* 15 s and 745 MB when the Gaussian was on the grid. */
static void a_full_batch_beside_rare_samples_needs_a_small_grid(void **state)
{
    (void)state;
    const dp_mechanism list[] = {
        {.sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 1},
        {.sampling = DP_SAMPLING_POISSON, .sigma = 1.5, .rate = 0.001, .steps = 639}};
    dp_interval epsilon;
    dp_error err = {0};
    assert_ok(dp_account_epsilon(list, 2, 1e-5, 0, &epsilon, &err), err.text);
    assert_true(epsilon.grid <= 1 << 17);
    assert_close(epsilon.estimate, 4.3780862, 2e-7, 0); /* [4.3780859, 4.3780865] on that grid */
    assert_true(epsilon.lower <= epsilon.estimate && epsilon.estimate <= epsilon.upper);
}

static void work_is_refused_before_it_begins(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static dpi_pair_times list[MANY];
    dpi_pair pair = dpi_pair_gaussian(1, 0.1, DPI_REMOVE);
    dpi_wish wish = {.width = 1e-7, .enough = -1, .interval = 2e-7};
    dpi_bounds b;
    dp_error err = {0};
    for (int i = 0; i < MANY; i++)
        list[i] = (dpi_pair_times){&pair, 1};
    assert_fails(dpi_grid_solve(list, MANY, (dpi_question){DPI_ASK_EPSILON, 1e-5}, &wish, &b, &err),
                 DP_EACCURACY, &err, "ask for a greater width");
    assert_true(b.upper == INFINITY && b.lower == 0);
}

/* No delta below DPI_LEAST_DELTA is told from it: 1.3e-64 took 2^24 points on the way to a narrow
 * interval, and [0, 1e-30] was refused for the second list as not narrow enough. */
static void a_delta_below_the_least_needs_no_narrow_interval(void **state)
{
    (void)state;
    const dp_mechanism cut[] = {
        {.sampling = DP_SAMPLING_FULL, .sigma = 4.5533, .rate = 1, .steps = 2},
        {.sampling = DP_SAMPLING_TRUNCATED,
         .sigma = 1.1909,
         .rate = 0.0006694,
         .steps = 9,
         .records = 43606,
         .cap = 24}};
    dpi_composition c;
    dp_error err = {0};
    dpi_wish wish = {.width = 4e-4, .enough = -1, .interval = 1e-3, .best = true};
    dpi_bounds b;
    assert_ok(dpi_composition_new(cut, 2, DPI_REMOVE, DPI_LOWER, &c, &err), err.text);
    assert_ok(dpi_grid_solve(c.term, c.n, (dpi_question){DPI_ASK_DELTA, 7.59607}, &wish, &b, &err),
              err.text);
    dpi_composition_free(&c);
    assert_true(b.upper == DPI_LEAST_DELTA && b.lower <= b.upper && b.points <= 1 << 20);

    const dp_mechanism answers[] = {{.sampling = DP_SAMPLING_FULL,
                                     .noise = DP_NOISE_RANDOMISED_RESPONSE,
                                     .sigma = 0.5,
                                     .rate = 1,
                                     .steps = 2,
                                     .categories = 2},
                                    {.sampling = DP_SAMPLING_FULL,
                                     .sigma = 1000,
                                     .rate = 1,
                                     .steps = 1,
                                     .adjacency = DP_REPLACE_ONE}};
    dp_interval delta;
    assert_ok(dp_account_delta(answers, 2, 5, 0, &delta, &err), err.text);
    assert_true(delta.lower == 0 && delta.upper > 0 && delta.upper <= DPI_LEAST_DELTA * 1.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_profile_lies_between_its_bounds),
        cmocka_unit_test(one_sampled_step_beside_a_full_one_meets_its_definition),
        cmocka_unit_test(lists_meet_the_contour),
        cmocka_unit_test(mass_below_the_window_is_counted),
        cmocka_unit_test(a_full_batch_beside_rare_samples_needs_a_small_grid),
        cmocka_unit_test(work_is_refused_before_it_begins),
        cmocka_unit_test(a_delta_below_the_least_needs_no_narrow_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
