/* Combining rules: values by hand, and coverage of intervals from twins of a model that is known,
 * with the noise of privacy in its posterior. */
#include "tools/combining.h"

#include <math.h>

#include <tacit/random.h>

#include "tests/lib/check.h"

/* q = 2, 3, 4, 7: mean 4, b = 14/3; u = 1, 2, 1, 2: mean 1.5.  T = 5/4 14/3 - 3/2 = 13/3, with
 * freedom 3 (1 - 1.5 6/35)^2. */
static void values_are_those_of_the_papers(void **state)
{
    (void)state;
    const double q[] = {2, 3, 4, 7}, u[] = {1, 2, 1, 2};
    const combined full = combine(COMBINE_FULL, 4, q, u, 0.9, 1);
    assert_close(full.estimate, 4, 1e-14, 0);
    assert_close(full.between, 14.0 / 3, 1e-14, 0);
    assert_close(full.within, 1.5, 1e-14, 0);
    assert_close(full.variance, 13.0 / 3, 1e-14, 0);
    assert_close(full.freedom, 3 * pow(26.0 / 35, 2), 1e-13, 0);
    assert_true(!full.mended);
    assert_close(full.estimate - full.low, full.high - full.estimate, 1e-12, 0);
    const combined part = combine(COMBINE_PARTIAL, 4, q, u, 0.9, 1);
    assert_close(part.variance, 1.5 + 14.0 / 12, 1e-14, 0);
    assert_close(part.freedom, 3 * pow(1 + 4 * 1.5 * 3 / 14, 2), 1e-13, 0);
}

/* Student's quantiles that are closed: freedom 1 has tan(pi (p - 1/2)), 2 has
 * (2 p - 1) sqrt(2 / (4 p (1 - p))); and many have the normal one. */
static void intervals_are_of_student(void **state)
{
    (void)state;
    const double q2[] = {-1, 1}, none[] = {0, 0}; /* b 2, u 0: freedom 1 */
    const combined one = combine(COMBINE_FULL, 2, q2, none, 0.9, 1);
    assert_close(one.freedom, 1, 1e-14, 0);
    assert_close(one.high, sqrt(3) * tan(acos(-1) * 0.45), 1e-10, 0);
    const double q3[] = {-1, 0, 1}, none3[] = {0, 0, 0};
    const combined two = combine(COMBINE_FULL, 3, q3, none3, 0.8, 1);
    assert_close(two.freedom, 2, 1e-14, 0);
    assert_close(two.high, sqrt(4.0 / 3) * 0.8 * sqrt(2 / (4 * 0.9 * 0.1)), 1e-10, 0);
    const double same[] = {5, 5}, u[] = {4, 4};
    const combined normal = combine(COMBINE_PARTIAL, 2, same, u, 0.95, 1);
    assert_true(isinf(normal.freedom));
    assert_close(normal.high, 5 + 2 * 1.959963984540054, 1e-10, 0);
}

static void a_variance_below_zero_is_mended(void **state)
{
    (void)state;
    const double q[] = {1, 1.1, 0.9}, u[] = {1, 1, 1}, same[] = {1, 1, 1};
    const combined c = combine(COMBINE_FULL, 3, q, u, 0.9, 0.25);
    assert_true(c.mended);
    assert_close(c.variance, 0.25, 1e-14, 0);
    assert_close(c.freedom, 2, 1e-14, 0);
    const combined equal = combine(COMBINE_FULL, 3, same, u, 0.9, 2);
    assert_true(equal.mended && equal.high > equal.low);
    assert_close(equal.variance, 2, 1e-14, 0);
}

/* ---- coverage ---- */

typedef struct world {
    double records, noise; /* of the mean that was released, beside its 1 / sqrt(records) */
    size_t rows, twins;
} world;

/* The share of 90 % intervals that hold the mean of unit normal records: the posterior of the mean
 * given the noisy one is normal with variance 1 / records + noise^2; a twin has `rows` normal rows
 * around a draw of it, of which its analyst takes the mean and its variance. */
static double coverage(const world *w, combining_rule rule, size_t repetitions, dp_rng *rng)
{
    enum { MOST = 64 };
    size_t held = 0;
    const double sd = sqrt(1 / w->records + w->noise * w->noise);
    const double n = (double)w->rows;
    assert_true(w->twins <= MOST);
    for (size_t r = 0; r < repetitions; r++) {
        double z[4], q[MOST], u[MOST];
        dp_rng_normal(rng, 1, z);
        const double seen = sd * z[0];
        for (size_t l = 0; l < w->twins; l++) {
            dp_rng_normal(rng, 3, z);
            q[l] = seen + sd * z[0] + z[1] / sqrt(n);
            u[l] = (1 + z[2] * sqrt(2 / (n - 1))) / n; /* chi-squared, of hundreds */
        }
        const combined c = combine(rule, w->twins, q, u, 0.9, n / w->records);
        held += c.low <= 0 && c.high >= 0;
    }
    return (double)held / (double)repetitions;
}

/* Shares of 90 % intervals by 100 000 repetitions, with a standard deviation of 0.001, are told
 * here.  Student's law is near where twins are longer than the table, and on the wide side where
 * they are not, since b - u then varies more than its freedom says.  20000 repetitions have one of
 * 0.0021 at most: 6.2 of both are 0.0145, 1e-9.
 * The rule for partial twins leaves out that all of a row was drawn: where twins are long its
 * intervals hold half of what they should. */
static void intervals_hold_what_they_say(void **state)
{
    (void)state;
    static const struct {
        world w;
        double full, partial;
    } cases[] = {
        {{500, 0.06, 2000, 10}, 0.904, 0.518},
        {{500, 0.06, 2000, 5}, 0.930, 0.618},
        {{500, 0.06, 500, 20}, 0.907, 0.703},
        {{500, 0, 500, 10}, 0.976, 0.902},
    };
    enum { REPETITIONS = 20000 };
    dp_rng *rng;
    assert_ok(dp_rng_new(15, &rng, NULL), "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double full = coverage(&cases[i].w, COMBINE_FULL, REPETITIONS, rng);
        const double partial = coverage(&cases[i].w, COMBINE_PARTIAL, REPETITIONS, rng);
        assert_close(full, cases[i].full, 0, 0.0145);
        assert_close(partial, cases[i].partial, 0, 0.025);
        assert_true(full > 0.89);
    }
    dp_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_papers),
        cmocka_unit_test(intervals_are_of_student),
        cmocka_unit_test(a_variance_below_zero_is_mended),
        cmocka_unit_test(intervals_hold_what_they_say),
    };
    return cmocka_run_group_tests_name("combining", tests, NULL, NULL);
}
