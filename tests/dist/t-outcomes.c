/* Scores against reference values and the derivatives of the log density; nodes and masses of
 * outcomes against Fisher information in closed form, distribution functions, and at extremes. */
#include "dist/outcomes.h"

#include <math.h>
#include <stdlib.h>

#include "num/special.h"
#include "tests/dist/fine.h"
#include "tests/dist/information.h"
#include "tests/lib/numbers.h"

enum { MOST = DPI_MOST_OUTCOMES };

/* Points arg[k] into numbers; the size of the vector argument. */
static size_t point_at(const dist_case *c, const double numbers[], const double *arg[])
{
    for (int k = 0; k < c->family->n_args; k++)
        arg[k] = numbers + k;
    return c->family->vector_arg ? c->n_numbers : 1;
}

static void scores_at(const dist_case *c, const double numbers[], size_t n, const double y[],
                      double s[])
{
    const double *arg[DPI_MAX_ARGS];
    size_t size = point_at(c, numbers, arg);
    c->family->score(n, y, arg, size, s);
}

static size_t outcomes_at(const dist_case *c, const double numbers[], double y[], double mass[])
{
    const double *arg[DPI_MAX_ARGS];
    size_t size = point_at(c, numbers, arg);
    return dpi_outcomes(c->family, arg, size, y, mass);
}

static void each_family(void (*check)(const dist_case *))
{
    for (size_t i = 0; i < dpi_n_families; i++)
        if (dpi_families[i]->score != NULL)
            check(case_of(dpi_families[i]));
}

static void near(const dist_case *c, double found, double wanted, double relative, double absolute)
{
    if (!(fabs(found - wanted) <= absolute + relative * fabs(wanted)))
        print_error("%s\n", c->family->name);
    assert_close(found, wanted, relative, absolute);
}

static void all_regular_families_have_both(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++) {
        bool regular = dpi_families[i] != &dpi_uniform && dpi_families[i] != &dpi_skew_normal;
        assert_true((dpi_families[i]->score != NULL) == regular);
        assert_true((dpi_families[i]->outcomes != NULL) == regular);
    }
}

/* ---- scores ---- */

static void check_reference(const dist_case *c)
{
    for (size_t i = 0; i < c->n_points; i++) {
        const struct point *p = &c->points[i];
        double s[MAX_NUMBERS];
        scores_at(c, p->arg, 1, &p->x, s);
        for (size_t k = first_inferred(c); k < c->n_numbers; k++) {
            double slack = c->slack == NULL ? 0 : c->slack(p, (int)k + 1);
            near(c, s[k], p->slope[k + 1], 1e-11, slack + 4e-16 * fabs(p->value));
        }
    }
}

static void scores_match_the_reference(void **state)
{
    (void)state;
    each_family(check_reference);
}

static void check_gradients(const dist_case *c)
{
    density d;
    density_open(&d, c, false);
    for (int t = 0; t < N_TRIED; t++) {
        double y[MOST], mass[MOST], s[MOST * MAX_NUMBERS], slope[1 + MAX_NUMBERS];
        size_t n = outcomes_at(c, c->tried[t], y, mass);
        scores_at(c, c->tried[t], n, y, s);
        for (size_t j = 0; j < n; j++) {
            (void)density_at(&d, y[j], c->tried[t], slope);
            for (size_t k = first_inferred(c); k < c->n_numbers; k++)
                near(c, s[j * c->n_numbers + k], slope[k + 1], 1e-9, 1e-12);
        }
    }
    density_close(&d);
}

static void scores_at_the_nodes_are_gradients_of_the_log_density(void **state)
{
    (void)state;
    each_family(check_gradients);
}

static void a_number_of_trials_is_not_inferred(void **state)
{
    (void)state;
    double s[2], y = 3;
    scores_at(case_of(&dpi_binomial_logit), (double[]){7, 0.3}, 1, &y, s);
    assert_true(s[0] == 0);
    assert_close(s[1], 3 - 7 * dpi_logistic(0.3), 1e-14, 0);
}

/* ---- moments of scores ---- */

/* E s and E s s' by the nodes; the number of nodes. */
static size_t moments(const dist_case *c, const double numbers[], double mean[], double square[])
{
    size_t K = c->n_numbers;
    double y[MOST], mass[MOST], s[MOST * MAX_NUMBERS], total = 0;
    size_t n = outcomes_at(c, numbers, y, mass);
    assert_true(n <= MOST);
    scores_at(c, numbers, n, y, s);
    for (size_t k = 0; k < K; k++)
        mean[k] = 0;
    for (size_t k = 0; k < K * K; k++)
        square[k] = 0;
    for (size_t j = 0; j < n; j++) {
        assert_true(isfinite(y[j]) && mass[j] >= 0 && mass[j] <= 1);
        total += mass[j];
        for (size_t k = 0; k < K; k++) {
            mean[k] += mass[j] * s[j * K + k];
            for (size_t i = 0; i < K; i++)
                square[k * K + i] += mass[j] * s[j * K + k] * s[j * K + i];
        }
    }
    if (n > 0)
        near(c, total, 1, 1e-12, 0);
    return n;
}

static void check_information_at(const dist_case *c, const double arg[], double of_mean,
                                 double of_square)
{
    size_t K = c->n_numbers;
    double mean[MAX_NUMBERS], square[MAX_NUMBERS * MAX_NUMBERS], f[MAX_NUMBERS * MAX_NUMBERS] = {0};
    assert_true(moments(c, arg, mean, square) > 0);
    information(c->family, arg, f);
    for (size_t k = first_inferred(c); k < K; k++) {
        near(c, mean[k], 0, 0, of_mean * sqrt(f[k * K + k]));
        for (size_t i = first_inferred(c); i < K; i++) {
            near(c, square[k * K + i], f[k * K + i], 0,
                 of_square * sqrt(f[k * K + k]) * sqrt(f[i * K + i]));
        }
    }
}

static void check_information(const dist_case *c)
{
    for (int t = 0; t < N_TRIED; t++)
        check_information_at(c, c->tried[t], 1e-6, 1e-4);
}

static void scores_have_mean_zero_and_fisher_s_information(void **state)
{
    (void)state;
    each_family(check_information);
}

/* Arguments far out, at which the same holds. */
static const struct {
    const dpi_family *family;
    double arg[MAX_NUMBERS];
} far[] = {
    {&dpi_bernoulli_logit, {40}},
    {&dpi_bernoulli_logit, {-600}},
    {&dpi_poisson_log, {-13.8}},
    {&dpi_poisson_log, {3.4}},
    {&dpi_poisson_log, {5.6}},
    {&dpi_poisson_log, {13.8}},
    {&dpi_poisson_log, {-300}},
    {&dpi_poisson_log, {30}},
    {&dpi_binomial_logit, {1, 0.3}},
    {&dpi_binomial_logit, {64, 0.3}},
    {&dpi_binomial_logit, {1e6, 2}},
    {&dpi_binomial_logit, {1e6, -14}},
    {&dpi_binomial_logit, {1e6, 14}},
    {&dpi_binomial_logit, {900, -3}},
    {&dpi_binomial_logit, {1e15, 0.1}},
    {&dpi_binomial_logit, {70, 50}},
    {&dpi_normal, {1e6, 1e-3}},
    {&dpi_normal, {0, 1e100}},
    {&dpi_log_normal, {3, 20}},
    {&dpi_student_t, {0.2, 1, 3}},
    {&dpi_student_t, {1, 1, 3}},
    {&dpi_student_t, {2000, 1, 3}},
    {&dpi_gamma, {0.02, 3}},
    {&dpi_gamma, {1e4, 1e-3}},
    {&dpi_gamma, {1e8, 1}},
    {&dpi_inverse_gamma, {0.05, 3}},
    {&dpi_inverse_gamma, {3e3, 0.1}},
    {&dpi_beta, {0.6, 0.6}},
    {&dpi_beta, {300, 1}},
    {&dpi_beta, {0.05, 20}},
    {&dpi_beta, {3e4, 2e5}},
    {&dpi_exponential, {1e-100}},
    {&dpi_laplace, {3e5, 1e-2}},
    {&dpi_gumbel, {-30, 1e3}},
    {&dpi_half_student_t, {0.2, 3}},
    {&dpi_half_student_t, {2000, 1e-9}},
    {&dpi_logistic_distribution, {1e4, 1e-3}},
    {&dpi_asymmetric_laplace, {3, 1e5, 0.003}},
    {&dpi_chi_squared, {0.04}},
    {&dpi_chi_squared, {1e8}},
    {&dpi_weibull, {0.03, 1e-5}},
    {&dpi_weibull, {300, 1e9}},
    {&dpi_pareto, {1e-9, 0.1}},
    {&dpi_pareto, {1e9, 1e6}},
    {&dpi_kumaraswamy, {0.03, 0.3}},
    {&dpi_kumaraswamy, {300, 7.3}},
    {&dpi_von_mises, {2, 1e-9}},
    {&dpi_von_mises, {-3, 12.4}},
    {&dpi_von_mises, {1, 12.6}},
    {&dpi_von_mises, {0, 300}},
    {&dpi_beta_mean, {0.003, 20}},
    {&dpi_beta_mean, {0.13, 2e5}},
    {&dpi_negative_binomial_log, {-6, 3}},
    {&dpi_negative_binomial_log, {9, 0.3}},
    {&dpi_negative_binomial_log, {11, 2}},
    {&dpi_negative_binomial_log, {4, 300}},
    {&dpi_negative_binomial_log, {7, 20}},
    {&dpi_negative_binomial, {50, 4}},
    {&dpi_negative_binomial, {1e4, 0.03}},
    {&dpi_negative_binomial, {1e-3, 1e-3}},
    {&dpi_geometric_logit, {-13}},
    {&dpi_beta_binomial, {2, 0.3, 2}},
    {&dpi_beta_binomial, {2000, 0.5, 0.3}},
    {&dpi_beta_binomial, {5000, 0.01, 1000}},
    {&dpi_beta_binomial, {5000, 0.93, 3}},
    {&dpi_beta_binomial, {300, 0.001, 300}},
    {&dpi_geometric_logit, {30}},
};

static void so_they_have_far_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        check_information_at(case_of(far[i].family), far[i].arg, 1e-5, 1e-3);
}

/* ---- kinks ---- */

/* E max(s - at, 0) and the like by the nodes and by cells, in standard deviations of the score. */
static void check_kinks(const dist_case *c)
{
    size_t K = c->n_numbers;
    for (int t = 0; t < N_TRIED; t++) {
        double y[MOST], mass[MOST], s[MOST * MAX_NUMBERS], f[MAX_NUMBERS * MAX_NUMBERS] = {0};
        size_t n = outcomes_at(c, c->tried[t], y, mass);
        scores_at(c, c->tried[t], n, y, s);
        information(c->family, c->tried[t], f);
        fine_law *law = fine_law_of(c, c->tried[t]);
        double *fine = malloc(law->n * K * sizeof *fine), worst = 0;
        scores_at(c, c->tried[t], law->n, law->y, fine);
        for (size_t k = first_inferred(c); k < K; k++)
            for (double at = -2.9; at < 3; at += 0.117) {
                double sd = sqrt(f[k * K + k]), nodes = 0, cells = 0;
                for (size_t j = 0; j < n; j++)
                    nodes += mass[j] * fmax(s[j * K + k] / sd - at, 0);
                for (size_t j = 0; j < law->n; j++)
                    cells += law->mass[j] * fmax(fine[j * K + k] / sd - at, 0);
                worst = fmax(worst, fabs(nodes - cells));
            }
        near(c, worst, 0, 0, 2e-3);
        free(fine);
        free(law);
    }
}

static void kinks_cost_little(void **state)
{
    (void)state;
    each_family(check_kinks);
}

/* By the largest and smallest steps of counts that are not all nodes. */
static void kinks_cost_little_for_any_mean(void **state)
{
    (void)state;
    const dist_case *c = case_of(&dpi_poisson_log);
    for (double arg = 0.1; arg < 8; arg += 0.0917) {
        double y[MOST], mass[MOST], mean = exp(arg), worst = 0;
        size_t n = outcomes_at(c, &arg, y, mass);
        fine_law *law = fine_law_of(c, &arg);
        for (double at = -3; at < 3; at += 0.0317) {
            double nodes = 0, cells = 0, from = mean + at * sqrt(mean);
            for (size_t j = 0; j < n; j++)
                nodes += mass[j] * fmax(y[j] - from, 0) / sqrt(mean);
            for (size_t j = 0; j < law->n; j++)
                cells += law->mass[j] * fmax(law->y[j] - from, 0) / sqrt(mean);
            worst = fmax(worst, fabs(nodes - cells));
        }
        near(c, worst, 0, 0, 1.7e-3);
        free(law);
    }
}

/* From laws of a few counts to those of which steps or panels are taken; off by more than 2e-3
 * where a panel is widest. */
static void long_tails_cost_little_more(void **state)
{
    (void)state;
    const dist_case *c = case_of(&dpi_negative_binomial);
    for (double f = 0.05; f < 400; f *= 2.37)
        for (double mean = 0.3; mean < 500; mean *= 3.17) {
            double arg[] = {mean, f}, y[MOST], mass[MOST], worst = 0,
                   sd = sqrt(mean + mean * mean / f);
            check_information_at(c, arg, 5e-5, 1e-3);
            size_t n = outcomes_at(c, arg, y, mass);
            fine_law *law = fine_law_of(c, arg);
            for (double at = -3; at < 3; at += 0.317) {
                double nodes = 0, cells = 0, from = mean + at * sd;
                for (size_t j = 0; j < n; j++)
                    nodes += mass[j] * fmax(y[j] - from, 0) / sd;
                for (size_t j = 0; j < law->n; j++)
                    cells += law->mass[j] * fmax(law->y[j] - from, 0) / sd;
                worst = fmax(worst, fabs(nodes - cells));
            }
            near(c, worst, 0, 0, 5e-3);
            free(law);
        }
}

/* ---- where there is no distribution, and at the ends of double ---- */

static const struct {
    const dpi_family *family;
    double arg[MAX_NUMBERS];
} none[] = {
    {&dpi_normal, {0, 0}},
    {&dpi_normal, {NAN, 1}},
    {&dpi_normal, {0, INFINITY}},
    {&dpi_poisson_log, {710}},
    {&dpi_poisson_log, {NAN}},
    {&dpi_negative_binomial_log, {710, 1}},
    {&dpi_negative_binomial_log, {0, 0}},
    {&dpi_negative_binomial, {0, 1}},
    {&dpi_geometric_logit, {-710}},
    {&dpi_binomial_logit, {2.5, 0}},
    {&dpi_beta_binomial, {7, 1, 2}},
    {&dpi_beta_binomial, {7.5, 0.5, 2}},
    {&dpi_beta_binomial, {0x1p54, 0.5, 2}},
    {&dpi_binomial_logit, {-1, 0}},
    {&dpi_binomial_logit, {0x1p54, 0}},
    {&dpi_gamma, {-1, 1}},
    {&dpi_asymmetric_laplace, {0, 1, 1}},
    {&dpi_beta_mean, {0, 1}},
    {&dpi_kumaraswamy, {0, 1}},
    {&dpi_pareto, {0, 1}},
    {&dpi_von_mises, {0, 0}},
    {&dpi_student_t, {0, 0, 1}},
    {&dpi_bernoulli_logit, {INFINITY}},
    {&dpi_ordered_logistic, {0, 2, 1, 3}},
    {&dpi_ordered_probit, {0, 1, 2, NAN}},
    {&dpi_categorical_logit, {0, 1, NAN, 2}},
    {&dpi_categorical_logit, {0, 1, INFINITY, 2}},
    {&dpi_categorical_logit, {-INFINITY, -INFINITY, -INFINITY, -INFINITY}},
    {&dpi_uniform, {0, 1}},
};

static void without_a_distribution_there_is_no_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        double y[MOST], mass[MOST];
        assert_int_equal(outcomes_at(case_of(none[i].family), none[i].arg, y, mass), 0);
    }
    enum { MANY = DPI_MOST_OUTCOMES + 1 };
    double logits[MANY] = {0}, y[MOST], mass[MOST];
    const double *arg = logits;
    assert_int_equal(dpi_outcomes(&dpi_categorical_logit, &arg, MANY, y, mass), 0);
    assert_int_equal(dpi_outcomes(&dpi_categorical_logit, &arg, MOST, y, mass), MOST);
}

/* Numbers of any size that double holds, half of them whole. */
static double any_number(dpi_domain domain, uint64_t *state)
{
    double size = pow(10, 307 * pow(next_number(state), 3)), sign = next_number(state);
    double x = domain == DPI_ANY && sign < 0 ? -size : size;
    return domain == DPI_NOT_NEGATIVE ? floor(fmin(size, 0x1p60))
           : domain == DPI_FRACTION   ? 0.5 + 0.4999999 * next_number(state)
                                      : x;
}

/* Nodes lie in the support, and masses sum to 1, for whatever arguments. */
static void check_extremes(const dist_case *c)
{
    const dpi_family *f = c->family;
    const dpi_support *support = &dpi_supports[f->support];
    uint64_t state = 71;
    for (int i = 0; i < 20000; i++) {
        double numbers[MAX_NUMBERS], y[MOST], mass[MOST], total = 0;
        for (size_t k = 0; k < c->n_numbers; k++)
            numbers[k] = any_number(f->arg_domain[f->vector_arg ? 0 : k], &state);
        if (f->support == DPI_LEVEL)
            qsort(numbers, c->n_numbers, sizeof *numbers, ascending);
        size_t n = outcomes_at(c, numbers, y, mass);
        double low = f->vector_arg ? MAX_NUMBERS : numbers[0];
        for (size_t j = 0; j < n; j++) {
            total += mass[j];
            if (!(support->contains(y[j], low, 0) && mass[j] >= 0))
                fail_msg("%s %g %g: node %g, mass %g", f->name, numbers[0], numbers[1], y[j],
                         mass[j]);
        }
        if (n > 0)
            near(c, total, 1, 1e-9, 0);
        bool nothing =
            ((f == &dpi_poisson_log || f == &dpi_negative_binomial_log) &&
             isinf(exp(numbers[0]))) ||
            (f == &dpi_geometric_logit && isinf(exp(-numbers[0]))) ||
            ((f == &dpi_binomial_logit || f == &dpi_beta_binomial) && numbers[0] > 0x1p53);
        assert_true((n == 0) == nothing);
    }
}

static void nodes_lie_in_the_support_whatever_the_arguments(void **state)
{
    (void)state;
    each_family(check_extremes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_regular_families_have_both),
        cmocka_unit_test(scores_match_the_reference),
        cmocka_unit_test(scores_at_the_nodes_are_gradients_of_the_log_density),
        cmocka_unit_test(a_number_of_trials_is_not_inferred),
        cmocka_unit_test(scores_have_mean_zero_and_fisher_s_information),
        cmocka_unit_test(so_they_have_far_out),
        cmocka_unit_test(kinks_cost_little),
        cmocka_unit_test(kinks_cost_little_for_any_mean),
        cmocka_unit_test(long_tails_cost_little_more),
        cmocka_unit_test(without_a_distribution_there_is_no_node),
        cmocka_unit_test(nodes_lie_in_the_support_whatever_the_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
