/* The sampler against densities whose moments and distribution functions are known.
 *
 * Many chains that start from exact, independent draws have exact, independent draws after any
 * number of transitions, so that chi-square tests of their last draws have the power of independent
 * numbers: that is how the transition itself is tested.  What is left to long chains is the
 * warm-up; there an effective number of draws, which is stated, bounds the error.  Seeds are fixed,
 * and a bound is that of a false failure in 1e9 (6.2 standard errors; chi-square likewise). */
#include "infer/hmc.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static const double far = 6.2; /* standard errors */

/* ---- densities ---- */

enum { N = 3, BINS = 20 };

static const double mean_of[N] = {2.385, -117, 0.03};
static const double root[N][N] = {
    {1.5, 0, 0}, {-20, 12.5, 0}, {0.01, 0.02, 0.04}}; /* z = m + L u */

/* What a density is told besides: the gradient's factor, and what it has seen of memory. */
typedef struct told {
    double slope; /* 1: the gradient is right */
    size_t calls, bytes, settled;
    bool grew;
} told;

static double normal(void *of, const double *z, double *gradient)
{
    told *t = of;
    double u[N], value = 0;
    t->calls++;
    if (t->calls == t->settled)
        t->bytes = faulty_bytes();
    t->grew = t->grew || (t->calls > t->settled && faulty_bytes() != t->bytes);
    for (int i = 0; i < N; i++) {
        u[i] = z[i] - mean_of[i];
        for (int j = 0; j < i; j++)
            u[i] -= root[i][j] * u[j];
        u[i] /= root[i][i];
        value -= u[i] * u[i] / 2;
    }
    for (int i = N - 1; i >= 0; i--) { /* gradient = -L^-T u */
        gradient[i] = -u[i];
        for (int j = i + 1; j < N; j++)
            gradient[i] -= root[j][i] * gradient[j];
        gradient[i] /= root[i][i];
    }
    for (int i = 0; i < N; i++)
        gradient[i] *= t->slope;
    return value;
}

static double variance_of(int i)
{
    double sum = 0;
    for (int j = 0; j <= i; j++)
        sum += root[i][j] * root[i][j];
    return sum;
}

/* Two independent coordinates, Student with 5 degrees of freedom; slopes times *of. */
static double student(void *of, const double *z, double *gradient)
{
    double value = 0;
    for (int i = 0; i < 2; i++) {
        value -= 3 * log1p(z[i] * z[i] / 5);
        gradient[i] = -6 * z[i] / (5 + z[i] * z[i]) * *(const double *)of;
    }
    return value;
}

/* z0 ~ N(0, 1), z1 given z0 ~ N(0, e^z0). */
static double funnel(void *of, const double *z, double *gradient)
{
    (void)of;
    double square = z[1] * z[1] * exp(-z[0]);
    gradient[0] = -z[0] - 0.5 + square / 2;
    gradient[1] = -z[1] * exp(-z[0]);
    return -z[0] * z[0] / 2 - z[0] / 2 - square / 2;
}

/* Gamma(2.5, rate 3) of which z0 is the logarithm; beta(2, 3), of which z1 is the log odds. */
static double bounded(void *of, const double *z, double *gradient)
{
    (void)of;
    double x = exp(z[0]), p = 1 / (1 + exp(-z[1]));
    gradient[0] = 2.5 - 3 * x;
    gradient[1] = 2 * (1 - p) - 3 * p;
    return 2.5 * z[0] - 3 * x + 2 * log(p) + 3 * log1p(-p);
}

/* A normal number of which only z > 0 is inside; *of is the log density elsewhere. */
static double half(void *of, const double *z, double *gradient)
{
    gradient[0] = z[0] > 0 ? -z[0] : (double)NAN;
    return z[0] > 0 ? -z[0] * z[0] / 2 : *(const double *)of;
}

/* Two normal densities of standard deviation 1 at -20 and 20. */
static double two_modes(void *of, const double *z, double *gradient)
{
    (void)of;
    double from = z[0] > 0 ? z[0] - 20 : z[0] + 20;
    gradient[0] = -from;
    return -from * from / 2;
}

/* White, of twenty coordinates; the gradient times *of. */
static double white(void *of, const double *z, double *gradient)
{
    double value = 0;
    for (int i = 0; i < 20; i++) {
        value -= z[i] * z[i] / 2;
        gradient[i] = -z[i] * *(const double *)of;
    }
    return value;
}

/* ---- runs ---- */

static double *room(size_t size)
{
    double *made = calloc(size, sizeof *made);
    assert_non_null(made);
    return made;
}

static dp_rng *seeded(uint64_t seed)
{
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    return rng;
}

/* Draws by the caller freed; starts 0 or those given. */
static double *run(dpi_target target, dpi_hmc_opts opts, uint64_t seed, dpi_hmc_report *report)
{
    dp_error err = {0};
    dp_rng *rng = seeded(seed);
    double *draws = room(opts.chains * opts.draws * target.n),
           *start = room(opts.chains * target.n);
    if (opts.start == NULL)
        opts.start = start;
    assert_ok(dpi_hmc(&target, &opts, rng, draws, report, &err), err.text);
    dp_rng_free(rng);
    free(start);
    return draws;
}

/* Mean of f over draws of coordinate i. */
static double mean_over(size_t all, size_t n, size_t i, const double *draws, double (*f)(double))
{
    double sum = 0;
    for (size_t t = 0; t < all; t++)
        sum += f(draws[t * n + i]) / (double)all;
    return sum;
}

/* Fails unless numbers, which are uniform on (0, 1) if all is right, fill the bins evenly. */
static void assert_uniform(size_t all, const double *u)
{
    double count[BINS] = {0}, chi = 0, expected = (double)all / BINS;
    for (size_t t = 0; t < all; t++)
        count[(size_t)fmin(BINS - 1, u[t] * BINS)]++;
    for (int b = 0; b < BINS; b++)
        chi += (count[b] - expected) * (count[b] - expected) / expected;
    if (gsl_cdf_chisq_Q(chi, BINS - 1) < 1e-9)
        print_error("chi-square %g of %d bins\n", chi, BINS);
    assert_true(gsl_cdf_chisq_Q(chi, BINS - 1) >= 1e-9);
}

/* ---- the transition ---- */

enum { MANY = 10000 };

typedef struct walk {
    double step;
    int depth;
    size_t draws;
} walk;

static const walk walks[] = {{0.15, 5, 1}, {0.45, 10, 2}, {0.9, 10, 3}, {1.6, 10, 3}};

/* Of exact draws, the last ones after a walk; u is for distribution functions. */
static double *last_draws(dpi_target target, const walk *w, const double *factor,
                          const double *start)
{
    dpi_hmc_opts opts = {.chains = MANY, .draws = w->draws, .depth = w->depth, .factor = factor};
    dpi_hmc_report report;
    opts.step = w->step;
    opts.start = start;
    double *draws = run(target, opts, 11, &report), *last = room(MANY * target.n);
    assert_true(report.step == w->step);
    for (size_t c = 0; c < MANY; c++)
        memcpy(last + c * target.n, draws + (c * w->draws + w->draws - 1) * target.n,
               target.n * sizeof *last);
    free(draws);
    return last;
}

/* The gradient's factor is no part of what is right: see nuts.c. */
static void a_transition_leaves_a_heavy_tail_as_it_is(void **state)
{
    (void)state;
    double *start = room(2 * MANY), *u = room(MANY), slopes[] = {1, 0.6, -0.5};
    const double factor[4] = {1.5, NAN, -0.7, 0.8};
    dp_rng *rng = seeded(3);
    dp_rng_uniform(rng, 2 * MANY, start);
    for (size_t i = 0; i < 2 * MANY; i++)
        start[i] = gsl_cdf_tdist_Pinv(start[i], 5);
    for (int s = 0; s < 3; s++)
        for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) {
            dpi_target target = {.n = 2, .log_density = student, .of = &slopes[s]};
            double *last = last_draws(target, &walks[w], w % 2 ? factor : NULL, start);
            for (int i = 0; i < 2; i++) {
                for (size_t c = 0; c < MANY; c++)
                    u[c] = gsl_cdf_tdist_P(last[2 * c + (size_t)i], 5);
                assert_uniform(MANY, u);
            }
            free(last);
        }
    dp_rng_free(rng);
    free(start);
    free(u);
}

/* The sum of squares and one of the pairs, too: what is dependent shows there. */
static void a_transition_leaves_a_funnel_as_it_is(void **state)
{
    (void)state;
    double *start = room(2 * MANY), *u = room(MANY);
    dpi_target target = {.n = 2, .log_density = funnel, .of = NULL};
    dp_rng *rng = seeded(4);
    dp_rng_normal(rng, 2 * MANY, start);
    for (size_t c = 0; c < MANY; c++)
        start[2 * c + 1] *= exp(start[2 * c] / 2);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++) {
        double *last = last_draws(target, &walks[w], NULL, start);
        for (int what = 0; what < 3; what++) {
            for (size_t c = 0; c < MANY; c++) {
                double a = last[2 * c], b = last[2 * c + 1] * exp(-a / 2);
                u[c] = what == 0   ? gsl_cdf_ugaussian_P(a)
                       : what == 1 ? gsl_cdf_ugaussian_P(b)
                                   : gsl_cdf_ugaussian_P((a + b) / sqrt(2));
            }
            assert_uniform(MANY, u);
        }
        free(last);
    }
    dp_rng_free(rng);
    free(start);
    free(u);
}

static void a_transition_stays_inside(void **state)
{
    (void)state;
    double *start = room(MANY), *u = room(MANY), outside[] = {-INFINITY, NAN, INFINITY};
    dp_rng *rng = seeded(5);
    dp_rng_normal(rng, MANY, start);
    for (size_t c = 0; c < MANY; c++)
        start[c] = fabs(start[c]);
    for (int k = 0; k < 3; k++) {
        dpi_target target = {.n = 1, .log_density = half, .of = &outside[k]};
        double *last = last_draws(target, &walks[1], NULL, start);
        for (size_t c = 0; c < MANY; c++) {
            assert_true(last[c] > 0);
            u[c] = 2 * gsl_cdf_ugaussian_P(last[c]) - 1;
        }
        assert_uniform(MANY, u);
        free(last);
    }
    dp_rng_free(rng);
    free(start);
    free(u);
}

/* A trajectory in a white density that neither stops early nor goes round: of a half to one and a
 * half half-turns, 3.14 / step leapfrogs each, rounded to what doublings give. */
static void trajectories_end_at_the_turn(void **state)
{
    (void)state;
    double right = 1;
    for (double step = 1.1; step > 0.04; step *= 0.87) {
        dpi_hmc_opts opts = {.chains = 1, .draws = 400, .step = step};
        dpi_hmc_report report;
        free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, opts, 6, &report));
        double turns = (double)report.gradients / 400 * step / 3.14;
        assert_true(turns > 0.4 && turns < 2.1);
        assert_int_equal(report.cut, 0);
        assert_int_equal(report.divergent, 0);
    }
}

static void what_ends_trajectories_is_counted(void **state)
{
    (void)state;
    double right = 1;
    dpi_hmc_opts opts = {.chains = 2, .draws = 100, .depth = 3, .step = 0.01};
    dpi_hmc_report report;
    free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, opts, 7, &report));
    assert_int_equal(report.cut, 200);
    assert_int_equal(report.gradients, 2 + 200 * 7);
    assert_true(report.acceptance > 0.99);
    opts.step = 100;
    free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, opts, 7, &report));
    assert_int_equal(report.divergent, 200);
    assert_true(report.acceptance < 1e-9 && report.r_hat == INFINITY && report.ess == 0);
}

/* ---- long chains ---- */

static double same(double x)
{
    return x;
}

/* Means, variances and covariances, of at least `number` effective draws. */
static void assert_normal(size_t all, const double *draws, double number)
{
    for (int i = 0; i < N; i++) {
        double mean = mean_over(all, N, (size_t)i, draws, same), sd = sqrt(variance_of(i));
        assert_close(mean, mean_of[i], 0, far * sd / sqrt(number));
        for (int j = 0; j <= i; j++) {
            double covariance = 0, sum = 0, scale = sd * sqrt(variance_of(j));
            for (int k = 0; k <= j; k++)
                covariance += root[i][k] * root[j][k];
            for (size_t t = 0; t < all; t++)
                sum += (draws[t * N + (size_t)i] - mean_of[i]) *
                       (draws[t * N + (size_t)j] - mean_of[j]) / (double)all;
            double r = covariance / scale;
            assert_close(sum, covariance, 0, far * scale * sqrt((1 + r * r) / number));
        }
    }
}

static void a_warm_up_finds_a_normal_density(void **state)
{
    (void)state;
    double factor[N * N];
    for (int i = 0; i < N * N; i++)
        factor[i] = root[i / N][i % N] * (i / N == i % N ? 1.3 : 0.9);
    const struct {
        bool adapt;
        const double *factor;
        size_t warmup, gradients; /* at most */
    } ways[] = {{false, factor, 100, 30000}, {true, factor, 100, 30000}, {true, NULL, 500, 160000}};
    for (int w = 0; w < 3; w++) {
        told t = {.slope = 1, .settled = 4};
        dpi_hmc_report report;
        dpi_hmc_opts opts = {.chains = 4,
                             .warmup = ways[w].warmup,
                             .draws = 1000,
                             .factor = ways[w].factor,
                             .adapt = ways[w].adapt};
        double *draws =
            run((dpi_target){.n = N, .log_density = normal, .of = &t}, opts, 8, &report);
        assert_normal(4000, draws, 1000);
        assert_true(report.r_hat < 1.02 && report.ess > 1500 && report.divergent == 0);
        assert_int_equal(report.gradients, t.calls);
        assert_true(t.calls < ways[w].gradients);
        assert_close(report.acceptance, 0.85, 0, 0.1);
        assert_false(t.grew); /* nothing is allocated on the way */
        free(draws);
    }
}

static void the_step_is_made_for_the_acceptance_asked_for(void **state)
{
    (void)state;
    double last = INFINITY, right = 1, asked[] = {0.5, 0.7, 0.9, 0.97};
    for (int i = 0; i < 4; i++) {
        dpi_hmc_opts opts = {.chains = 2, .warmup = 600, .draws = 300, .acceptance = asked[i]};
        dpi_hmc_report report;
        free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, opts, 9, &report));
        assert_close(report.acceptance, asked[i], 0, 0.1);
        assert_true(report.step < last);
        last = report.step;
    }
}

static double from_log(double z)
{
    return exp(z);
}

static double from_odds(double z)
{
    return 1 / (1 + exp(-z));
}

static void bounded_numbers_are_found_behind_their_maps(void **state)
{
    (void)state;
    dpi_hmc_opts opts = {.chains = 4, .warmup = 300, .draws = 1000, .adapt = true};
    dpi_hmc_report report;
    double *draws =
        run((dpi_target){.n = 2, .log_density = bounded, .of = NULL}, opts, 10, &report);
    double number = 1000;
    assert_close(mean_over(4000, 2, 0, draws, from_log), 2.5 / 3, 0,
                 far * sqrt(2.5) / 3 / sqrt(number));
    assert_close(mean_over(4000, 2, 1, draws, from_odds), 0.4, 0, far * 0.2 / sqrt(number));
    assert_true(report.ess > 1000 && report.r_hat < 1.02);
    free(draws);
}

/* Half-normal numbers; coordinates that are begun anew do not move a chain. */
static void a_warm_up_stays_inside(void **state)
{
    (void)state;
    double outside = -INFINITY, start[] = {0.01, 0.5, 1, 2};
    dpi_hmc_opts opts = {.chains = 4, .warmup = 300, .draws = 1000, .start = start, .adapt = true};
    dpi_hmc_report report;
    double *draws =
        run((dpi_target){.n = 1, .log_density = half, .of = &outside}, opts, 19, &report);
    assert_close(mean_over(4000, 1, 0, draws, same), 0.79788, 0, far * 0.6028 / sqrt(200));
    assert_true(report.divergent > 0 && report.r_hat < 1.05 && report.ess > 200);
    free(draws);
}

/* A gradient of the wrong size or sign leaves the draws right, at a price that the report names:
 * the energy is then lost by the way that is gone, however small the steps. */
static void a_wrong_gradient_is_noticed(void **state)
{
    (void)state;
    double right = 1, wrong[] = {1.5, 0.6, 0, -1};
    dpi_hmc_report good, bad;
    dpi_hmc_opts opts = {.chains = 2, .warmup = 100, .draws = 100, .depth = 8}, shorter = opts;
    free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, opts, 12, &good));
    shorter.warmup = 0;
    shorter.step = good.step / 4;
    free(run((dpi_target){.n = 20, .log_density = white, .of = &right}, shorter, 12, &bad));
    assert_true(bad.acceptance > 0.97);
    assert_int_equal(good.cut, 0);
    for (int i = 0; i < 4; i++) {
        free(run((dpi_target){.n = 20, .log_density = white, .of = &wrong[i]}, shorter, 12, &bad));
        assert_true(bad.acceptance < 0.8); /* shorter steps do not help */
        free(run((dpi_target){.n = 20, .log_density = white, .of = &wrong[i]}, opts, 12, &bad));
        assert_true(bad.step < good.step / 50 && bad.cut > 190);
        assert_true((double)bad.gradients / bad.ess > 50 * (double)good.gradients / good.ess);
    }
}

static void chains_in_two_modes_are_told(void **state)
{
    (void)state;
    const double apart[] = {-20, 21, -19, 20}, together[] = {19, 21, 20, 20.5};
    dpi_hmc_opts opts = {.chains = 4, .warmup = 200, .draws = 200, .adapt = true};
    dpi_hmc_report report;
    opts.start = apart;
    free(run((dpi_target){.n = 1, .log_density = two_modes, .of = NULL}, opts, 13, &report));
    assert_true(report.r_hat > 1.5 && report.ess < 20);
    opts.start = together;
    free(run((dpi_target){.n = 1, .log_density = two_modes, .of = NULL}, opts, 13, &report));
    assert_true(report.r_hat < 1.05 && report.ess > 100);
}

static void equal_seeds_give_equal_draws(void **state)
{
    (void)state;
    told t = {.slope = 1};
    dpi_hmc_opts opts = {.chains = 2, .warmup = 60, .draws = 20, .adapt = true};
    dpi_hmc_report report[3];
    double *draws[3];
    for (int i = 0; i < 3; i++)
        draws[i] = run((dpi_target){.n = N, .log_density = normal, .of = &t}, opts, i < 2 ? 14 : 15,
                       &report[i]);
    assert_memory_equal(draws[0], draws[1], 2 * 20 * N * sizeof(double));
    assert_true(report[0].step == report[1].step && report[0].ess == report[1].ess);
    assert_memory_not_equal(draws[0], draws[2], 2 * 20 * N * sizeof(double));
    for (int i = 0; i < 3; i++)
        free(draws[i]);
}

/* ---- errors ---- */

static void refuse(dpi_hmc_opts opts, dp_status expected, const char *why)
{
    static const double start[2 * N] = {0};
    told t = {.slope = 1};
    dpi_target target = {.n = N, .log_density = normal, .of = &t};
    dpi_hmc_report report;
    dp_error err = {0};
    dp_rng *rng = seeded(16);
    double *draws = room(2 * 5 * N);
    opts.start = start;
    assert_fails(dpi_hmc(&target, &opts, rng, draws, &report, &err), expected, &err, why);
    assert_true(report.r_hat == INFINITY && report.ess == 0);
    assert_true(expected == DP_EINVAL || (isnan(draws[0]) && isnan(draws[opts.draws * N - 1])));
    dp_rng_free(rng);
    free(draws);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    double factor[N * N] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    dpi_hmc_opts good = {.chains = 2, .draws = 5, .factor = factor};
    dpi_hmc_opts bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].chains = 0;
    bad[1].draws = SIZE_MAX;
    bad[2].depth = 21;
    bad[3].acceptance = 1;
    bad[4].step = NAN;
    refuse(bad[0], DP_EINVAL, "0, 5 and one are given");
    refuse(bad[1], DP_EINVAL, "are too many");
    refuse(bad[2], DP_EDOMAIN, "21 doublings");
    refuse(bad[3], DP_EDOMAIN, "acceptance 1;");
    refuse(bad[4], DP_EDOMAIN, "step");
    factor[4] = 0;
    refuse(bad[5], DP_EDOMAIN, "positive diagonal");
    factor[4] = 1;
    factor[6] = NAN;
    refuse(bad[5], DP_EDOMAIN, "not finite");
}

static void a_start_outside_is_refused(void **state)
{
    (void)state;
    double outside = -INFINITY, start[] = {1, -1}, draws[8] = {0};
    dpi_target target = {.n = 1, .log_density = half, .of = &outside};
    dpi_hmc_opts opts = {.chains = 2, .draws = 4, .start = start};
    dpi_hmc_report report;
    dp_error err = {0};
    dp_rng *rng = seeded(17);
    assert_fails(dpi_hmc(&target, &opts, rng, draws, &report, &err), DP_EDOMAIN, &err,
                 "chain 1 starts where");
    assert_true(isnan(draws[0]) && isnan(draws[7]));
    dp_rng_free(rng);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    told t = {.slope = 1};
    const double start[2 * N] = {0};
    double *draws = room(2 * 10 * N);
    dpi_target target = {.n = N, .log_density = normal, .of = &t};
    dpi_hmc_opts opts = {.chains = 2, .warmup = 40, .draws = 10, .start = start, .adapt = true};
    dpi_hmc_report report;
    dp_rng *rng = seeded(18);
    size_t before = faulty_live(), k = 0;
    for (bool failed = true; failed;) {
        dp_error err = {0};
        faulty_fail(++k);
        dp_status status = dpi_hmc(&target, &opts, rng, draws, &report, &err);
        failed = faulty_failed();
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_true(isnan(draws[0]) == failed && (report.r_hat == INFINITY || !failed));
        assert_int_equal(faulty_live(), before);
    }
    faulty_fail(0);
    assert_true(k > 2);
    dp_rng_free(rng);
    free(draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transition_leaves_a_heavy_tail_as_it_is),
        cmocka_unit_test(a_transition_leaves_a_funnel_as_it_is),
        cmocka_unit_test(a_transition_stays_inside),
        cmocka_unit_test(trajectories_end_at_the_turn),
        cmocka_unit_test(what_ends_trajectories_is_counted),
        cmocka_unit_test(a_warm_up_finds_a_normal_density),
        cmocka_unit_test(the_step_is_made_for_the_acceptance_asked_for),
        cmocka_unit_test(bounded_numbers_are_found_behind_their_maps),
        cmocka_unit_test(a_warm_up_stays_inside),
        cmocka_unit_test(a_wrong_gradient_is_noticed),
        cmocka_unit_test(chains_in_two_modes_are_told),
        cmocka_unit_test(equal_seeds_give_equal_draws),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_start_outside_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
