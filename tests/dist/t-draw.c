/* Draws of every family against its distribution.
 *
 * Continuous: Kolmogorov-Smirnov.  For n independent draws the greatest distance between the
 * empirical and the true distribution function exceeds d with probability at most 2 e^(-2 n d^2)
 * (Massart 1990, Ann. Probab. 18, 1269), whatever n is.  Discrete: Pearson's chi-square over cells
 * of at least 100 expected draws.  Each of at most 200 tests is allowed a false failure of 4e-12,
 * together less than 1e-9; the seeds are fixed, so they pass or fail for good. */
#include "dist/family.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "random/gsl.h"
#include "tests/dist/cases.h"
#include "tests/lib/numbers.h"

enum { N_DRAWS = 100000, MIN_EXPECTED = 100 };

static const double false_failure = 4e-12;

/* Points arg[k] into numbers; the size of the vector argument. */
static size_t point_at(const dist_case *c, const double numbers[], const double *arg[])
{
    for (int k = 0; k < c->family->n_args; k++)
        arg[k] = numbers + k;
    return c->family->vector_arg ? c->n_numbers : 1;
}

static void draw_many(const dist_case *c, const double numbers[], uint64_t seed, size_t n,
                      double *out)
{
    const double *arg[DPI_MAX_ARGS];
    size_t size = point_at(c, numbers, arg);
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    gsl_rng source = dpi_rng_gsl(rng);
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_draw(c->family, &source, arg, size);
    dp_rng_free(rng);
}

static void check_distance(const dist_case *c, const double numbers[], double *x)
{
    qsort(x, N_DRAWS, sizeof *x, ascending);
    double distance = 0;
    for (size_t i = 0; i < N_DRAWS; i++) {
        double f = c->cdf(x[i], numbers);
        distance = fmax(distance, fmax(f - (double)i / N_DRAWS, (double)(i + 1) / N_DRAWS - f));
    }
    double bound = sqrt(log(2 / false_failure) / (2.0 * N_DRAWS));
    if (!(distance <= bound))
        fail_msg("%s: distance %g, at most %g is chance", c->family->name, distance, bound);
}

/* Cells are runs of neighbouring values; what is left at the end joins the last cell. */
static double chi_square(const dist_case *c, const double numbers[], const double *count, size_t n,
                         size_t *cells)
{
    density d;
    density_open(&d, c, false);
    double total = 0, expected = 0, seen = 0, left = N_DRAWS, unseen = N_DRAWS;
    *cells = 0;
    for (size_t k = 0; k < n; k++) {
        expected += N_DRAWS * exp(density_at(&d, (double)k, numbers, NULL));
        seen += count[k];
        bool last = k + 1 == n || left - expected < MIN_EXPECTED;
        if (expected < MIN_EXPECTED && !last)
            continue;
        expected = last ? left : expected;
        seen = last ? unseen : seen;
        total += (seen - expected) * (seen - expected) / expected;
        ++*cells;
        if (last)
            break;
        left -= expected;
        unseen -= seen;
        expected = seen = 0;
    }
    density_close(&d);
    return total;
}

static void check_counts(const dist_case *c, const double numbers[], const double *x)
{
    size_t n = (size_t)c->top(numbers) + 1, cells;
    double *count = dpi_alloc(n, sizeof *count);
    for (size_t i = 0; i < N_DRAWS; i++) {
        assert_true(x[i] >= 0 && x[i] == floor(x[i]) && x[i] < (double)n);
        count[(size_t)x[i]]++;
    }
    double total = chi_square(c, numbers, count, n, &cells);
    dpi_free(count);
    assert_true(cells > 1);
    if (!(gsl_cdf_chisq_Q(total, (double)cells - 1) >= false_failure))
        fail_msg("%s: chi-square %g in %zu cells", c->family->name, total, cells);
}

static void draws_follow_the_distribution(void **state)
{
    (void)state;
    double *x = dpi_alloc(N_DRAWS, sizeof *x);
    for (size_t i = 0; i < dpi_n_families; i++)
        for (size_t t = 0; t < N_TRIED; t++) {
            const dist_case *c = case_of(dpi_families[i]);
            draw_many(c, c->tried[t], 7919 * i + t, N_DRAWS, x);
            if (c->cdf != NULL)
                check_distance(c, c->tried[t], x);
            else
                check_counts(c, c->tried[t], x);
        }
    dpi_free(x);
}

static void equal_seeds_give_equal_draws(void **state)
{
    (void)state;
    enum { N = 50 };
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dist_case *c = case_of(dpi_families[i]);
        double a[N], b[N], other[N];
        draw_many(c, c->tried[0], 41, N, a);
        draw_many(c, c->tried[0], 41, N, b);
        draw_many(c, c->tried[0], 43, N, other);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_not_equal(a, other, sizeof a);
    }
}

/* Arguments at which samplers underflow, overflow or meet a certainty. */
static const struct {
    const dpi_family *family;
    double arg[MAX_NUMBERS];
} extreme[] = {
    {&dpi_normal, {1e308, 1e308}},
    {&dpi_half_normal, {1e308}},
    {&dpi_half_normal, {1e-320}},
    {&dpi_log_normal, {0, 2000}},
    {&dpi_student_t, {1e-3, 0, 1}},
    {&dpi_student_t, {1e-3, 0, 1e300}},
    {&dpi_student_t, {2, 0, 1}},
    {&dpi_student_t, {1e300, 3, 1}},
    {&dpi_cauchy, {0, 1e308}},
    {&dpi_half_cauchy, {1e308}},
    {&dpi_half_cauchy, {1e-320}},
    {&dpi_laplace, {-1e308, 1e308}},
    {&dpi_gumbel, {-1e308, 1e308}},
    {&dpi_exponential, {1e-308}},
    {&dpi_exponential, {1e308}},
    {&dpi_gamma, {1e-3, 1}},
    {&dpi_gamma, {1e-5, 1e-300}},
    {&dpi_gamma, {1e300, 1e-300}},
    {&dpi_inverse_gamma, {1e-3, 1}},
    {&dpi_inverse_gamma, {1e300, 1}},
    {&dpi_beta, {1e-3, 1e-3}},
    {&dpi_beta, {1e-3, 2}},
    {&dpi_beta, {2, 1e-3}},
    {&dpi_beta, {1e10, 1e-2}},
    {&dpi_beta, {1e-300, 1e-300}},
    {&dpi_beta, {1e-310, 3e-310}},
    {&dpi_beta, {5e-324, 1}},
    {&dpi_beta, {1e308, 1e308}},
    {&dpi_student_t, {5e-324, 0, 1}},
    {&dpi_student_t, {2 + 4e-15, 0, 1}},
    {&dpi_half_student_t, {1e-3, 1e300}},
    {&dpi_half_student_t, {5e-324, 1}},
    {&dpi_half_student_t, {1e300, 1e-320}},
    {&dpi_logistic_distribution, {1e308, 1e308}},
    {&dpi_asymmetric_laplace, {-1e308, 1e308, 1e-300}},
    {&dpi_asymmetric_laplace, {0, 1, 1 - 1e-16}},
    {&dpi_chi_squared, {1e-3}},
    {&dpi_chi_squared, {1e308}},
    {&dpi_weibull, {1e-3, 1}},
    {&dpi_weibull, {1e-300, 1e300}},
    {&dpi_weibull, {1e300, 1e-308}},
    {&dpi_pareto, {1e-308, 1e-3}},
    {&dpi_pareto, {1e308, 1e-300}},
    {&dpi_pareto, {0.1, 1e300}},
    {&dpi_kumaraswamy, {1e-300, 1e-300}},
    {&dpi_kumaraswamy, {1e308, 1e308}},
    {&dpi_kumaraswamy, {1e308, 1e-308}},
    {&dpi_skew_normal, {1e308, 1e308, 1e308}},
    {&dpi_skew_normal, {0, 1e-320, -1e308}},
    {&dpi_von_mises, {3, 1e-308}},
    {&dpi_von_mises, {-3, 1e308}},
    {&dpi_von_mises, {1e300, 2}},
    {&dpi_beta_mean, {1e-300, 1e-300}},
    {&dpi_beta_mean, {1 - 1e-16, 1e-3}},
    {&dpi_beta_mean, {0.3, 1e308}},
    {&dpi_bernoulli_logit, {1e5}},
    {&dpi_bernoulli_logit, {-1e5}},
    {&dpi_chance_logit, {1e5}},
    {&dpi_chance_logit, {-1e5}},
    {&dpi_binomial_logit, {0, 0.3}},
    {&dpi_binomial_logit, {17, 1e5}},
    {&dpi_binomial_logit, {17, -1e5}},
    {&dpi_binomial_logit, {5e9, 0.7}},
    {&dpi_binomial_logit, {1e300, 0.7}},
    {&dpi_binomial_logit, {1e300, -700}},
    {&dpi_binomial_logit, {1e300, 700}},
    {&dpi_binomial_logit, {1e300, -1e5}},
    {&dpi_binomial_logit, {1e300, 1e5}},
    {&dpi_poisson_log, {-1e5}},
    {&dpi_poisson_log, {20.5}},
    {&dpi_poisson_log, {40}},
    {&dpi_poisson_log, {700}},
    {&dpi_negative_binomial_log, {-1e5, 1}},
    {&dpi_negative_binomial_log, {3, 1e-300}},
    {&dpi_negative_binomial_log, {3, 1e300}},
    {&dpi_negative_binomial_log, {600, 0.1}},
    {&dpi_negative_binomial, {1e-308, 1e-308}},
    {&dpi_negative_binomial, {1e300, 3}},
    {&dpi_geometric_logit, {1e5}},
    {&dpi_beta_binomial, {0, 0.3, 2}},
    {&dpi_beta_binomial, {17, 1e-300, 1e-300}},
    {&dpi_beta_binomial, {17, 0.3, 1e308}},
    {&dpi_beta_binomial, {1e15, 0.3, 1e-3}},
    {&dpi_geometric_logit, {-600}},
    {&dpi_categorical_logit, {-1e5, 1e5, 0, 3}},
    {&dpi_ordered_logistic, {-1e5, -1, 3, 1e5}},
    {&dpi_ordered_logistic, {1e5, 1e6, 1e300, 1e308}},
    {&dpi_ordered_probit, {-1e308, -1e306, -3, 1e308}},
};

static void draws_stay_inside_the_support(void **state)
{
    (void)state;
    enum { N = 2000 };
    double *x = dpi_alloc(N, sizeof *x);
    for (size_t i = 0; i < sizeof extreme / sizeof extreme[0]; i++) {
        const dist_case *c = case_of(extreme[i].family);
        const dpi_support *support = &dpi_supports[c->family->support];
        double low = c->family->vector_arg ? MAX_NUMBERS : extreme[i].arg[0];
        draw_many(c, extreme[i].arg, 1009 + i, N, x);
        for (size_t k = 0; k < N; k++)
            if (!support->contains(x[k], low, extreme[i].arg[1]))
                fail_msg("%s, row %zu: draw %.17g", c->family->name, i, x[k]);
    }
    dpi_free(x);
}

static void a_poisson_mean_that_overflows_gives_no_number(void **state)
{
    (void)state;
    double log_rate = 800, x;
    draw_many(case_of(&dpi_poisson_log), &log_rate, 3, 1, &x);
    assert_true(isnan(x));
}

/* A model's values overflow on their way to a distribution; its sampler must come back all the
 * same. */
static void arguments_outside_their_domain_give_no_number(void **state)
{
    (void)state;
    const double never[] = {NAN, INFINITY, -INFINITY}, not_positive[] = {0, -2.385},
                 no_count[] = {-1, 2.385};
    (void)alarm(20); /* seconds, for a sampler that does not come back */
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dist_case *c = case_of(dpi_families[i]);
        for (int k = 0; k < c->family->n_args && !c->family->vector_arg; k++)
            for (size_t v = 0; v < 8; v++) {
                dpi_domain domain = c->family->arg_domain[k];
                double arg[MAX_NUMBERS], x;
                memcpy(arg, c->tried[0], sizeof arg);
                if ((v >= 3 && v < 5 && domain != DPI_POSITIVE && domain != DPI_FRACTION) ||
                    (v >= 5 && v < 7 && domain != DPI_NOT_NEGATIVE) ||
                    (v >= 7 && domain != DPI_FRACTION))
                    continue;
                arg[k] = v < 3   ? never[v]
                         : v < 5 ? not_positive[v - 3]
                         : v < 7 ? no_count[v - 5]
                                 : 1;
                draw_many(c, arg, 3, 1, &x);
                if (!isnan(x))
                    fail_msg("%s, argument %d is %g: draw %g", c->family->name, k, arg[k], x);
            }
    }
    double empty[] = {2, 1}, x;
    draw_many(case_of(&dpi_uniform), empty, 3, 1, &x);
    assert_true(isnan(x));
    (void)alarm(0);
}

static void categories_need_a_largest_logit(void **state)
{
    (void)state;
    const double bad[][MAX_NUMBERS] = {{0, NAN, 1, 2},
                                       {NAN, 1, 2, 3},
                                       {1, INFINITY, 0, 0},
                                       {-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
    const double last_impossible[MAX_NUMBERS] = {0, -INFINITY, 1, -INFINITY};
    enum { N = 2000 };
    double x[N];
    for (size_t i = 0; i < 4; i++) {
        draw_many(case_of(&dpi_categorical_logit), bad[i], 3, 1, x);
        assert_true(isnan(x[0]));
    }
    draw_many(case_of(&dpi_categorical_logit), last_impossible, 3, N, x);
    for (size_t i = 0; i < N; i++)
        assert_true(x[i] == 0 || x[i] == 2);
}

static void cutpoints_that_decrease_give_no_number(void **state)
{
    (void)state;
    const double bad[][MAX_NUMBERS] = {
        {0, 2, 1, 3}, {3, 2, 4, 5}, {0, 1, 2, NAN}, {0, 1, 2, INFINITY}, {-INFINITY, 0, 1, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x[2] = {0};
        draw_many(case_of(&dpi_ordered_logistic), bad[i], 3, 1, &x[0]);
        draw_many(case_of(&dpi_ordered_probit), bad[i], 3, 1, &x[1]);
        assert_true(isnan(x[0]) && isnan(x[1]));
    }
}

/* Beta(a, b) at the ends: above 1/2 with probability a / (a + b) = 1/4; 2000 draws are off by 0.085
 * or more with probability below 2 e^(-2 2000 0.085^2) < 1e-12 (Hoeffding). */
static void a_beta_of_tiny_shapes_is_at_its_ends(void **state)
{
    (void)state;
    enum { N = 2000 };
    const double arg[][2] = {{1e-300, 3e-300}, {1e-310, 3e-310}, {1e-9, 3e-9}};
    double x[N];
    for (size_t i = 0; i < 3; i++) {
        size_t above = 0;
        draw_many(case_of(&dpi_beta), arg[i], 5, N, x);
        for (size_t k = 0; k < N; k++)
            above += x[k] > 0.5;
        assert_close((double)above / N, 0.25, 0, 0.085);
    }
    draw_many(case_of(&dpi_beta), (const double[]){1e308, 1e308}, 5, 1, x);
    assert_close(x[0], 0.5, 1e-12, 0);
}

/* Means and variances where draws are made in parts or from the normal: 400 draws, so that the mean
 * is normal with sd / 20, and 7 of those are left to chance (2.6e-12); 400 squared deviations have
 * a chi-square law, between 238 and 620 but for 1e-11 on either side. */
static void large_counts_have_the_mean_and_variance(void **state)
{
    (void)state;
    static const struct {
        const dpi_family *family;
        double arg[2], mean, variance;
    } large[] = {
        {&dpi_binomial_logit, {5e9, 0.7}, 3340938860.8, 1108564366.5},
        {&dpi_poisson_log, {21.5}, 2174359553.6, 2174359553.6},
        {&dpi_binomial_logit, {1e20, -30}, 9357622.968839, 9357622.968838},
        {&dpi_binomial_logit, {1e13, -8}, 3353501304.66, 3352376706.9},
        {&dpi_poisson_log, {20}, 485165195.41, 485165195.41},
    };
    enum { N = 400 };
    double x[N];
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        draw_many(case_of(large[i].family), large[i].arg, 31 + i, N, x);
        double mean = 0, squares = 0, sd = sqrt(large[i].variance);
        for (size_t k = 0; k < N; k++) {
            mean += x[k] / N;
            squares += (x[k] - large[i].mean) * (x[k] - large[i].mean) / large[i].variance;
        }
        assert_close(mean, large[i].mean, 0, 7 * sd / 20);
        assert_true(squares > 238 && squares < 620);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(equal_seeds_give_equal_draws),
        cmocka_unit_test(draws_stay_inside_the_support),
        cmocka_unit_test(a_poisson_mean_that_overflows_gives_no_number),
        cmocka_unit_test(arguments_outside_their_domain_give_no_number),
        cmocka_unit_test(categories_need_a_largest_logit),
        cmocka_unit_test(cutpoints_that_decrease_give_no_number),
        cmocka_unit_test(a_beta_of_tiny_shapes_is_at_its_ends),
        cmocka_unit_test(large_counts_have_the_mean_and_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
