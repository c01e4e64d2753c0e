/* Forms of observations: values against mpmath, finite derivatives, total mass, means, draws,
 * scores and outcomes of counts with zeros of their own.
 *
 * Draws are compared by chi-square over cells of at least 100 expected draws; each of fewer than
 * 100 tests fails falsely with a chance of at most 1e-11. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "random/gsl.h"
#include "tests/dist/formed.h"
#include "tests/dist/reference-forms.h"
#include "tests/lib/numbers.h"

enum { N_DRAWS = 20000, LEAST = 100, MOST_COUNTS = 4000 };

static dp_dist made(const char *form, dp_dist base, const double own[])
{
    dp_expr first = dp_num(own[0]);
    return strcmp(form, "censored") == 0 ? dp_censored(base, first)
           : strcmp(form, "interval_censored") == 0
               ? dp_interval_censored(base, first, dp_num(own[1]))
           : strcmp(form, "weighted") == 0      ? dp_weighted(base, first, own[1])
           : strcmp(form, "present") == 0       ? dp_present(base, first)
           : strcmp(form, "zero_inflated") == 0 ? dp_zero_inflated(base, first)
                                                : dp_hurdle(base, first);
}

static void values_and_slopes_match_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof form_points / sizeof form_points[0]; i++) {
        const form_point *p = &form_points[i];
        formed f;
        formed_open(&f, made(p->form, dist_of(p->family, p->arg), p->own));
        double slope[1 + DPI_MAX_ARGS], value = formed_at(&f, p->x, slope);
        const dpi_family *base = f.c.family->base;
        const int own = f.c.family->form->n_args;
        if (!(fabs(value - p->value) <= 1e-12 * fabs(p->value) + 1e-14))
            print_error("%s of %s, point %zu\n", p->form, p->family, i);
        assert_close(value, p->value, 1e-12, 1e-14);
        for (int k = 0; k < base->n_args; k++)
            if (base->arg_domain[k] != DPI_NOT_NEGATIVE)
                assert_close(slope[1 + own + k], p->slope[k], 1e-11, 1e-13);
        for (int k = 0; k <= f.c.family->n_args; k++)
            assert_true(isfinite(slope[k]));
        if (f.c.family->form->draw != NULL)
            assert_close(slope[1], p->in_logit, 1e-11, 1e-13);
        formed_close(&f);
    }
}

/* ---- counts with zeros of their own, of every family of counts ---- */

static void each_count(void (*check)(const dist_case *c, formed *f, double top))
{
    static const double logit[] = {-1.3, 0.4};
    size_t n = 0;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dpi_family *family = dpi_families[i];
        if (family->support != DPI_COUNT && family->support != DPI_COUNT_TO)
            continue;
        const dist_case *c = case_of(family);
        for (int k = 0; k < 2 * N_TRIED; k++, n++) {
            dp_dist base = dist_of(family->name, c->tried[k / 2]);
            dp_expr own = dp_num(logit[(k / 2) % 2]);
            formed f;
            formed_open(&f, k % 2 == 0 ? dp_zero_inflated(base, own) : dp_hurdle(base, own));
            check(c, &f, fmin(c->top(c->tried[k / 2]), MOST_COUNTS));
            formed_close(&f);
        }
    }
    assert_true(n >= 12);
}

static void check_mass(const dist_case *c, formed *f, double top)
{
    double total = 0;
    (void)c;
    for (double y = 0; y <= top; y++)
        total += exp(formed_at(f, y, NULL));
    assert_close(total, 1, 1e-7, 0);
}

static void probabilities_sum_to_one(void **state)
{
    (void)state;
    each_count(check_mass);
}

static double mean_of(const formed *f)
{
    const char *why;
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_id arg[DPI_MAX_ARGS];
    dpi_graph_init(&g, &arena, &err);
    for (int k = 0; k < f->c.family->n_args; k++)
        arg[k] = dpi_constant(&g, f->arg[k]);
    dpi_id mean = dpi_mean(&g, f->c.family, arg, &why);
    assert_true(mean != DPI_NONE);
    double value = dpi_get(&g, mean)->attr.value;
    dpi_arena_free(&arena);
    return value;
}

static void check_mean(const dist_case *c, formed *f, double top)
{
    double sum = 0;
    (void)c;
    for (double y = 0; y <= top; y++)
        sum += y * exp(formed_at(f, y, NULL));
    assert_close(mean_of(f), sum, 1e-5, 0);
}

static void means_are_those_of_the_probabilities(void **state)
{
    (void)state;
    each_count(check_mean);
}

static void check_draws(const dist_case *c, formed *f, double top)
{
    static double y[N_DRAWS], count[MOST_COUNTS + 1];
    double square = 0, seen = 0, expected = 0, left = N_DRAWS, unseen = N_DRAWS;
    size_t cells = 0;
    (void)c;
    memset(count, 0, sizeof count);
    formed_draw(f, 314159, N_DRAWS, y);
    for (size_t i = 0; i < N_DRAWS; i++) {
        assert_true(y[i] >= 0 && y[i] == floor(y[i]));
        count[(size_t)fmin(y[i], MOST_COUNTS)]++;
    }
    for (double x = 0; x <= top; x++) {
        seen += count[(size_t)x];
        expected += N_DRAWS * exp(formed_at(f, x, NULL));
        bool last = x == top || left - expected < LEAST;
        if (expected < LEAST && !last)
            continue;
        expected = last ? left : expected;
        seen = last ? unseen : seen;
        square += (seen - expected) * (seen - expected) / expected;
        cells++;
        if (last)
            break;
        left -= expected;
        unseen -= seen;
        expected = seen = 0;
    }
    assert_true(cells >= 2);
    if (!(gsl_cdf_chisq_Q(square, (double)cells - 1) > 1e-11))
        fail_msg("%s: chi-square %g over %zu cells", f->c.family->name, square, cells);
}

static void draws_have_the_probabilities(void **state)
{
    (void)state;
    each_count(check_draws);
}

/* Draws above 0 of a count that is nearly always 0. */
static void a_hurdle_over_tiny_means_draws_ones(void **state)
{
    (void)state;
    double y[200], ones = 0;
    formed f;
    formed_open(&f, dp_hurdle(dp_poisson_log(dp_num(-40)), dp_num(0)));
    formed_draw(&f, 7, 200, y);
    for (size_t i = 0; i < 200; i++) {
        assert_true(y[i] == 0 || y[i] == 1);
        ones += y[i];
    }
    assert_true(ones > 50 && ones < 150); /* 7 standard errors: 2e-12 */
    formed_close(&f);
}

static void check_scores(const dist_case *c, formed *f, double top)
{
    const double *arg[DPI_MAX_ARGS] = {NULL};
    const int n_args = f->c.family->n_args;
    (void)c;
    assert_true(dpi_has_score(f->c.family));
    for (int k = 0; k < n_args; k++)
        arg[k] = &f->arg[k];
    for (double y = 0; y <= fmin(top, 9); y++) {
        double slope[1 + DPI_MAX_ARGS], score[DPI_MAX_ARGS];
        (void)formed_at(f, y, slope);
        dpi_family_score(f->c.family, 1, &y, arg, 1, score);
        for (int k = 0; k < n_args; k++)
            if (f->c.family->arg_domain[k] != DPI_NOT_NEGATIVE)
                assert_close(score[k], slope[1 + k], 1e-9, 1e-10);
    }
}

static void scores_are_the_slopes(void **state)
{
    (void)state;
    each_count(check_scores);
}

/* Masses sum to 1, scores to 0 and their squares to those of all probabilities. */
static void check_outcomes(const dist_case *c, formed *f, double top)
{
    static double y[DPI_MOST_OUTCOMES], mass[DPI_MOST_OUTCOMES],
        score[DPI_MOST_OUTCOMES * DPI_MAX_ARGS];
    const double *arg[DPI_MAX_ARGS] = {NULL};
    const int n_args = f->c.family->n_args;
    (void)c;
    for (int k = 0; k < n_args; k++)
        arg[k] = &f->arg[k];
    size_t n = dpi_outcomes(f->c.family, arg, 1, y, mass);
    assert_true(n > 0 && n <= DPI_MOST_OUTCOMES);
    dpi_family_score(f->c.family, n, y, arg, 1, score);
    for (int k = 0; k < n_args; k++) {
        double total = 0, mean = 0, square = 0, wanted = 0, whole = 0;
        if (f->c.family->arg_domain[k] == DPI_NOT_NEGATIVE)
            continue;
        for (size_t j = 0; j < n; j++) {
            double s = score[j * (size_t)n_args + (size_t)k];
            total += mass[j];
            mean += mass[j] * s;
            square += mass[j] * s * s;
        }
        for (double x = 0; x <= top; x++) {
            double slope[1 + DPI_MAX_ARGS], p = exp(formed_at(f, x, slope));
            wanted += p * slope[1 + k] * slope[1 + k];
            whole += p;
        }
        assert_close(total, 1, 1e-12, 0);
        assert_close(mean, 0, 0, 1e-5 * sqrt(square));
        if (whole > 1 - 1e-9)
            assert_close(square, wanted, 1e-3, 0);
    }
}

static void outcomes_stand_for_the_law(void **state)
{
    (void)state;
    each_count(check_outcomes);
}

static void a_wide_law_of_outcomes_gets_its_zero(void **state)
{
    (void)state;
    double y[DPI_MOST_OUTCOMES], mass[DPI_MOST_OUTCOMES], total = 0;
    const double own = 0.4, eta = 13.8, *arg[] = {&own, &eta};
    formed f;
    formed_open(&f, dp_zero_inflated(dp_poisson_log(dp_num(eta)), dp_num(own)));
    size_t n = dpi_outcomes(f.c.family, arg, 1, y, mass);
    assert_true(n > 0 && n <= DPI_MOST_OUTCOMES);
    for (size_t j = 0; j < n; j++)
        total += mass[j];
    assert_close(total, 1, 1e-12, 0);
    assert_true(y[0] == 0 && y[1] > 0);
    assert_close(mass[0], 1 / (1 + exp(-own)), 1e-12, 0);
    formed_close(&f);
}

/* ---- around one another ---- */

static void forms_go_around_forms(void **state)
{
    (void)state;
    const dp_dist base = dp_truncated(dp_normal(0.3, 1.1), 0, 2);
    formed inner, f;
    formed_open(&inner, base);
    formed_open(&f, dp_present(dp_weighted(base, dp_num(0.7), 2), dp_num(1)));
    assert_string_equal(f.c.family->name, "present(weighted(truncated(normal)))");
    double slope[1 + DPI_MAX_ARGS], own[1 + DPI_MAX_ARGS];
    assert_close(formed_at(&f, 1.3, slope), 0.7 * formed_at(&inner, 1.3, own), 1e-15, 0);
    assert_close(slope[1 + 5], 0.7 * own[1 + 2], 1e-14, 0);
    formed_close(&inner);
    formed_close(&f);
    formed_open(&f, dp_present(dp_weighted(base, dp_num(0.7), 2), dp_num(0)));
    assert_true(formed_at(&f, 77, slope) == 0);
    for (int k = 0; k <= f.c.family->n_args; k++)
        assert_true(isfinite(slope[k]));
    formed_close(&f);
}

/* ---- mixtures of several families ---- */

/* Gamma, log-normal and exponential components with inputs for all numbers. */
typedef struct several {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    const dpi_family *row;
    dpi_id x, arg[DPI_MAX_ARGS], value, slope[1 + DPI_MAX_ARGS];
    dpi_run *run;
} several;

static const double several_weight[] = {0.3, 0.9, 0.6}, several_arg[] = {2.3, 1.1, 0.4, 0.7, 3.1};

static void several_open(several *s)
{
    const dp_dist parts[] = {dp_gamma(2.3, 1.1), dp_log_normal(0.4, 0.7), dp_exponential(3.1)};
    const dp_dist dist = dp_mixture_of(dp_num(1), 3, parts);
    dpi_no_form wrong;
    *s = (several){.row = NULL};
    s->row = dpi_dist_family(&s->arena, &dist, &wrong);
    assert_non_null(s->row);
    assert_string_equal(s->row->name, "mixture(gamma, log_normal, exponential)");
    assert_int_equal(s->row->n_args, 6);
    dpi_graph_init(&s->g, &s->arena, &s->err);
    dpi_id wanted[2 * (1 + DPI_MAX_ARGS) + 1];
    size_t n = 0;
    wanted[n++] = s->x = dpi_source(&s->g, &dpi_op_input, "x", (dpi_attr){0});
    for (int k = 0; k < 6; k++)
        wanted[n++] = s->arg[k] =
            dpi_source(&s->g, &dpi_op_input, "argument",
                       (dpi_attr){.shape = k == 0 ? dpi_vector(3, false) : dpi_scalar(false)});
    wanted[n++] = s->value = dpi_family_log_density(s->row, &s->g, s->x, s->arg);
    assert_ok(dpi_gradient(&s->g, s->value, 7, wanted, s->slope), s->err.text);
    for (int k = 0; k < 7; k++)
        wanted[n++] = s->slope[k];
    dpi_run_spec spec = {.graph = &s->g, .wanted = wanted, .n_wanted = n, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &s->run, &s->err), s->err.text);
    memcpy(dpi_run_value(s->run, s->arg[0]), several_weight, sizeof several_weight);
    for (int k = 0; k < 5; k++)
        *dpi_run_value(s->run, s->arg[k + 1]) = several_arg[k];
}

static double several_at(several *s, double x)
{
    *dpi_run_value(s->run, s->x) = x;
    dpi_run_globals(s->run);
    return *dpi_run_value(s->run, s->value);
}

static double several_density(double x)
{
    return (0.3 * gsl_ran_gamma_pdf(x, 2.3, 1 / 1.1) + 0.9 * gsl_ran_lognormal_pdf(x, 0.4, 0.7) +
            0.6 * gsl_ran_exponential_pdf(x, 1 / 3.1)) /
           1.8;
}

static void mixtures_of_several_have_their_density(void **state)
{
    (void)state;
    several s;
    several_open(&s);
    for (double x = 0.013; x < 30; x *= 1.7) {
        assert_close(several_at(&s, x), log(several_density(x)), 1e-12, 1e-14);
        for (int k = 0; k < 6; k++)
            for (size_t e = 0; e < (k == 0 ? 3 : 1); e++) {
                (void)several_at(&s, x);
                double found = dpi_run_value(s.run, s.slope[1 + k])[e];
                double *number = dpi_run_value(s.run, s.arg[k]) + e, kept = *number, h = 1e-4;
                *number = kept + h;
                double up = several_at(&s, x);
                *number = kept - h;
                assert_close(found, (up - several_at(&s, x)) / (2 * h), 1e-5, 1e-6);
                *number = kept;
            }
    }
    dpi_run_free(s.run);
    dpi_arena_free(&s.arena);
}

static double several_cdf(double x, void *of)
{
    (void)of;
    return (0.3 * gsl_cdf_gamma_P(x, 2.3, 1 / 1.1) + 0.9 * gsl_cdf_lognormal_P(x, 0.4, 0.7) +
            0.6 * gsl_cdf_exponential_P(x, 1 / 3.1)) /
           1.8;
}

static void mixtures_of_several_draw_from_it(void **state)
{
    (void)state;
    static double x[N_DRAWS];
    const double *arg[DPI_MAX_ARGS] = {several_weight}, none[3] = {0, 0, 0};
    size_t size[DPI_MAX_ARGS] = {3, 1, 1, 1, 1, 1};
    dp_error err = {0};
    dp_rng *rng;
    several s;
    several_open(&s);
    assert_ok(dp_rng_new(53, &rng, &err), err.text);
    gsl_rng source = dpi_rng_gsl(rng);
    for (int k = 0; k < 5; k++)
        arg[k + 1] = &several_arg[k];
    for (size_t i = 0; i < N_DRAWS; i++)
        dpi_draw_site(s.row, &source, arg, size, 1, 1, &x[i]);
    qsort(x, N_DRAWS, sizeof *x, ascending);
    assert_follows(N_DRAWS, x, several_cdf, NULL);
    arg[0] = none;
    dpi_draw_site(s.row, &source, arg, size, 1, 1, &x[0]);
    assert_true(isnan(x[0]));
    dp_rng_free(rng);
    dpi_run_free(s.run);
    dpi_arena_free(&s.arena);
}

static const char *refusal(dp_dist dist)
{
    dpi_no_form wrong = {.why = NULL};
    dpi_arena arena = {0};
    if (dist.family->refused != NULL)
        return dist.family->refused;
    assert_null(dpi_dist_family(&arena, &dist, &wrong));
    dpi_arena_free(&arena);
    return wrong.why;
}

static void forms_that_are_none_are_refused(void **state)
{
    (void)state;
    const dp_expr one = dp_num(1);
    dp_dist deep = dp_normal(0, 1);
    for (int k = 0; k < 5; k++)
        deep = dp_present(deep, one);
    assert_contains(refusal(deep), "at most four forms");
    assert_contains(refusal(dp_zero_inflated(dp_normal(0, 1), one)), "families of counts");
    assert_contains(refusal(dp_hurdle(dp_normal(0, 1), one)), "counts or of numbers above 0");
    assert_contains(refusal(dp_hurdle(dp_bernoulli_logit(one), one)), "families of counts");
    assert_contains(refusal(dp_zero_inflated(dp_zero_inflated(dp_poisson_log(one), one), one)),
                    "families of counts");
    assert_contains(refusal(dp_censored(dp_categorical_logit(one), one)), "no distribution fun");
    assert_contains(refusal(dp_censored(dp_weighted(dp_normal(0, 1), one, 1), one)),
                    "go around a censored");
    const dp_dist kinds[] = {dp_normal(0, 1), dp_gamma(1, 1)};
    const dp_dist moved[] = {dp_pareto(1, 1), dp_pareto(2, 1)};
    const dp_dist long_ones[] = {dp_student_t(3, 0, 1), dp_student_t(3, 0, 1),
                                 dp_student_t(3, 0, 1), dp_student_t(3, 0, 1)};
    const dp_dist deep_ones[] = {dp_truncated(dp_normal(0, 1), 0, 1), dp_normal(0, 1)};
    assert_contains(refusal(dp_mixture_of(one, 2, kinds)), "numbers of different kinds");
    assert_contains(refusal(dp_mixture_of(one, 2, moved)), "a support that no argument moves");
    assert_contains(refusal(dp_mixture_of(one, 1, kinds)), "two to four families");
    assert_contains(refusal(dp_mixture_of(one, 4, long_ones)), "at most eleven arguments");
    assert_contains(refusal(dp_mixture_of(one, 2, deep_ones)), "none of them with a form");
    assert_contains(refusal(dp_present(dp_ordered(dp_normal(0, 1)), one)), "rows of that kind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_slopes_match_the_reference),
        cmocka_unit_test(probabilities_sum_to_one),
        cmocka_unit_test(means_are_those_of_the_probabilities),
        cmocka_unit_test(draws_have_the_probabilities),
        cmocka_unit_test(a_hurdle_over_tiny_means_draws_ones),
        cmocka_unit_test(scores_are_the_slopes),
        cmocka_unit_test(outcomes_stand_for_the_law),
        cmocka_unit_test(a_wide_law_of_outcomes_gets_its_zero),
        cmocka_unit_test(forms_go_around_forms),
        cmocka_unit_test(mixtures_of_several_have_their_density),
        cmocka_unit_test(mixtures_of_several_draw_from_it),
        cmocka_unit_test(forms_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
