/* The public model of clipping against closed forms, and the clip norm for distant records against
 * sums and searches. */
#include "infer/clip.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "tests/lib/check.h"

/* |x|^2 / 2 is exponential for d = 2, so that P(|r x| > b) = E exp(-b^2 / (2 r^2)) = e^-b; its
 * derivative gives e^-b (1 + b / 2) for d = 4. */
static void tails_are_those_of_a_normal_times_a_leverage(void **state)
{
    (void)state;
    for (double b = 0.5; b < 5; b += 0.81) {
        assert_close(dpi_clipped_beyond(2, b), exp(-b), 0.05, 0);
        assert_close(dpi_clipped_beyond(4, b), exp(-b) * (1 + b / 2), 0.05, 0);
    }
}

static double doubt_of(const dpi_distant *of)
{
    double chance = of->n * dpi_clipped_beyond(of->d, of->bound);
    return sqrt(of->noise * of->noise + chance);
}

/* The prior is at 0, on x > 0 as normal(0, .02 n) and as normal(0, .1 n), by shares. */
static double mean_by_sum(const dpi_distant *of, const double shares[3])
{
    enum { STEPS = 400000 };
    double sd = doubt_of(of), most = fmax(of->more, 0), mass = 0, sum = 0;
    double best = (most - of->more) * (most - of->more) / (2 * sd * sd);
    for (int k = 1; k < 3; k++) {
        double u = (k == 1 ? 0.02 : 0.1) * of->n, step = 12 * u / STEPS;
        for (int i = 0; i < STEPS; i++) {
            double x = (i + 0.5) * step, off = (of->more - x) / sd, unit = x / u;
            double density = exp(best - off * off / 2 - unit * unit / 2) / u;
            density *= shares[k] * step * sqrt(2 / 3.14159265358979);
            mass += density, sum += density * x;
        }
    }
    return sum / (mass + shares[0] * exp(best - of->more * of->more / (2 * sd * sd)));
}

static void the_mean_is_that_of_the_prior_given_the_release(void **state)
{
    (void)state;
    static const double more[] = {-60, -7.3, 0, 11.9, 31, 47.7, 160, 400};
    static const double shares[2][3] = {{0.5, 0.25, 0.25}, {0.2, 0.2, 0.6}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        for (double noise = 2.1; noise < 50; noise *= 2.7)
            for (int varied = 0; varied < 2; varied++) {
                dpi_distant of = {7, 2000, 7.28, more[i], noise, varied};
                assert_close(dpi_distant_mean(&of), mean_by_sum(&of, shares[varied]), 1e-5, 0.01);
                assert_close(dpi_distant_signal(&of), more[i] / doubt_of(&of), 1e-12, 0);
            }
}

static void extremes_have_a_clip_norm(void **state)
{
    (void)state;
    for (double size = 1e3; size < 1e300; size *= 1e9) {
        dpi_distant of = {.d = 3, .n = 1, .bound = 5, .more = size, .noise = 2};
        assert_true(dpi_wide_clip(&of, 3) >= 0 && isfinite(dpi_wide_clip(&of, 3)));
        of.n = 1e9, of.noise = 0.01;
        assert_true(dpi_wide_clip(&of, 3) > 0 && isfinite(dpi_wide_clip(&of, 3)));
        of.n = 1, of.more = -size;
        assert_true(dpi_wide_clip(&of, 3) == 0);
    }
}

/* Of noise d (2 / pi)^1/2 s C and 1.2 times what is missed, k B^5/2 C^-3/2 / (3/2). */
static void the_norm_has_the_least_of_noise_and_what_is_missed(void **state)
{
    (void)state;
    const double sigma = 0.93;
    dpi_distant of = {.d = 7, .n = 2000, .bound = 7.28, .more = 51, .noise = 5.7};
    double k = 1.2 * dpi_distant_mean(&of), best = 0, least = INFINITY;
    for (double c = 1; c < 100; c *= 1.0005) {
        double missed = k * pow(of.bound, 2.5) * pow(c, -1.5) / 1.5;
        double loss = missed + of.d * sqrt(2 / 3.14159265358979) * sigma * c;
        best = loss < least ? c : best;
        least = fmin(loss, least);
    }
    assert_true(best > 10 && best < 30);
    assert_close(dpi_wide_clip(&of, sigma), best, 1e-3, 0);
}

/* With l = log(|h| / sqrt d) normal: P(l < c) + E C / |h| where it is not, and the like of the
 * square, in closed form. */
static void what_is_kept_of_lengths_is_that_of_their_law(void **state)
{
    (void)state;
    const dpi_norms of = {.heard = true, .mean = 0.3, .variance = 0.2};
    const double s = sqrt(of.variance), d = 5;
    for (double clip = 0.5; clip < 20; clip *= 1.3) {
        double c = log(clip / sqrt(d)) - of.mean, below = gsl_cdf_ugaussian_P(c / s);
        double first = exp(c + of.variance / 2) * gsl_cdf_ugaussian_Q(c / s + s);
        double second = exp(2 * c + 2 * of.variance) * gsl_cdf_ugaussian_Q(c / s + 2 * s);
        dpi_clipped at = dpi_clipped_at(&of, d, clip);
        assert_close(at.slope, below + first, 1e-2, 0);
        assert_close(at.variance, below + second, 1e-2, 0);
    }
    assert_true(dpi_clipped_at(&of, d, INFINITY).slope == 1);
}

/* Of d = 2: by themselves leverages are chi^2_4, the logarithm of whose root over sqrt 2 has mean
 * (1 - Euler's constant) / 2 and variance (pi^2 / 6 - 1) / 4; .1 is added to both. */
static void what_noise_hides_of_lengths_is_taken_for_usual(void **state)
{
    const double usual_mean = 0.1 + (1 - 0.57721566490153286) / 2;
    const double usual_variance = 0.1 + (3.14159265358979 * 3.14159265358979 / 6 - 1) / 4;
    const double told[3] = {500, 500 * 0.6, 500 * (0.6 * 0.6 + 0.3)};
    (void)state;
    dpi_norms found = dpi_hear_norms(2, told, (double[3]){0, 0, 0});
    assert_true(found.heard);
    assert_close(found.mean, 0.6, 1e-12, 0);
    assert_close(found.variance, 0.3, 1e-12, 0);
    found = dpi_hear_norms(2, told, (double[3]){1e9, 1e12, 1e15});
    assert_close(found.mean, usual_mean, 1e-5, 0);
    assert_close(found.variance, usual_variance, 1e-5, 0);
    found = dpi_hear_norms(2, told, (double[3]){1, 150, 100}); /* .3 and .2, as what is usual */
    assert_close(found.mean, (usual_mean + 0.6) / 2, 1e-12, 0);
    assert_close(found.variance, (usual_variance + 0.3) / 2, 1e-12, 0);
}

static void extremes_of_lengths_have_a_clip_norm(void **state)
{
    static const double sizes[] = {-1e300, -1e9, -3, 0, 1e-300, 2, 1e9, 1e300};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    for (size_t i = 0; i < SIZES * SIZES * SIZES; i++) {
        double told[3] = {sizes[i % SIZES], sizes[i / SIZES % SIZES], sizes[i / SIZES / SIZES]};
        for (double noise = 1e-3; noise < 1e200; noise *= 1e40) {
            dpi_norms found = dpi_hear_norms(3, told, (double[3]){noise, 2 * noise, 4 * noise});
            double clip = dpi_best_clip(&found, 3, 1000, 0.1) / sqrt(3);
            assert_true(found.variance >= 0.02 && found.variance <= 4);
            assert_true(fabs(found.mean) <= 2 && clip > 0.79 && clip < 12.01);
        }
    }
}

/* Beside noise that falls as chance does, as from n to 100 n records, a model that is not right is
 * what is left. */
static void more_records_of_levels_are_heard_further_out(void **state)
{
    const dpi_norms heard = {.heard = true, .mean = 0.3, .variance = 0.5}, usual = {.heard = false};
    (void)state;
    const double few = dpi_best_clip(&heard, 4, 1000, 1), many = dpi_best_clip(&heard, 4, 1e5, 10);
    assert_true(many > 1.5 * few);
    assert_close(dpi_best_clip(&usual, 4, 1000, 1), dpi_best_clip(&usual, 4, 1e5, 10), 1e-12, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_those_of_a_normal_times_a_leverage),
        cmocka_unit_test(the_mean_is_that_of_the_prior_given_the_release),
        cmocka_unit_test(extremes_have_a_clip_norm),
        cmocka_unit_test(the_norm_has_the_least_of_noise_and_what_is_missed),
        cmocka_unit_test(what_is_kept_of_lengths_is_that_of_their_law),
        cmocka_unit_test(what_noise_hides_of_lengths_is_taken_for_usual),
        cmocka_unit_test(extremes_of_lengths_have_a_clip_norm),
        cmocka_unit_test(more_records_of_levels_are_heard_further_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
