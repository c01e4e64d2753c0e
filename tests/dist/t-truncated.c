/* Truncated distributions: values against mpmath, total mass, derivatives, draws, what is refused.
 *
 * Each of the 200 or fewer tests of draws fails falsely with a chance of at most 1e-11. */
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/dist/formed.h"
#include "tests/dist/reference-truncated.h"
#include "tests/lib/numbers.h"

enum { N_DRAWS = 20000, N_FAR = 2000 };

static void values_and_slopes_match_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truncated_points / sizeof truncated_points[0]; i++) {
        const truncated_point *p = &truncated_points[i];
        formed f;
        formed_open(&f, dp_truncated(dist_of(p->family, p->arg), p->low, p->high));
        double slope[1 + DPI_MAX_ARGS], value = formed_at(&f, p->x, slope);
        const int own = f.c.family->form->n_args, n = f.c.family->base->n_args;
        if (!(fabs(value - p->value) <= 1e-12 * fabs(p->value) + p->slack))
            print_error("%s, point %zu\n", p->family, i);
        assert_close(value, p->value, 1e-12, p->slack);
        for (int k = 0; k <= n; k++)
            if (k > 0 || !dpi_supports[f.c.family->support].discrete)
                assert_close(slope[k == 0 ? 0 : k + own], p->slope[k], 1e-10,
                             1e-15 + 100 * p->slack);
        formed_close(&f);
    }
}

/* ---- every family with a distribution function, at its tried arguments ---- */

typedef struct tried {
    const dist_case *c;
    const double *arg;
    double low, high;
} tried;

/* The number with that probability below it, by bisection of the case's own function. */
static double quantile(const dist_case *c, const double arg[], double p)
{
    double left = c->family->support == DPI_REAL ? -1e6 : 0, right = 1e6;
    for (int k = 0; k < 200; k++) {
        double x = 0.5 * (left + right);
        *(c->cdf(x, arg) < p ? &left : &right) = x;
    }
    return right;
}

static void each_truncation(void (*check)(const tried *t))
{
    static const double share[][2] = {{0.1, 0.9}, {0.3, 1}, {0, 0.6}, {0.05, 0.2}, {0.83, 0.96}};
    size_t n = 0;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dist_case *c = case_of(dpi_families[i]);
        if (!dpi_has_tails(c->family) || c->cdf == NULL || c->family->support == DPI_INTERVAL)
            continue;
        for (int k = 0; k < N_TRIED; k++)
            for (size_t s = 0; s < sizeof share / sizeof share[0]; s++, n++) {
                tried t = {c, c->tried[k], -INFINITY, INFINITY};
                if (share[s][0] > 0)
                    t.low = quantile(c, t.arg, share[s][0]);
                if (share[s][1] < 1)
                    t.high = quantile(c, t.arg, share[s][1]);
                check(&t);
            }
    }
    assert_true(n >= 150);
}

static void open_tried(formed *f, const tried *t)
{
    formed_open(f, dp_truncated(dist_of(t->c->family->name, t->arg), t->low, t->high));
}

static double mass_below(const tried *t, double x)
{
    return isfinite(x) ? t->c->cdf(x, t->arg) : x > 0;
}

static double inside(const tried *t)
{
    double low = fmax(mass_below(t, t->low), 0), high = mass_below(t, t->high);
    return quantile(t->c, t->arg, 0.37 * low + 0.63 * high);
}

static void check_value(const tried *t)
{
    formed f;
    density base;
    double slope[1 + DPI_MAX_ARGS], x = inside(t);
    open_tried(&f, t);
    density_open(&base, t->c, false);
    double wanted =
        density_at(&base, x, t->arg, NULL) - log(mass_below(t, t->high) - mass_below(t, t->low));
    assert_close(formed_at(&f, x, slope), wanted, 1e-11, 1e-11);
    for (size_t k = 0; k <= f.c.n_numbers; k++) {
        double by = formed_difference(&f, k, x);
        if (!(fabs(slope[k] - by) <= 1e-6 * (1 + fabs(by))))
            print_error("%s, slope %zu: %g, not %g\n", f.c.family->name, k, slope[k], by);
        assert_close(slope[k], by, 1e-6, 1e-6);
    }
    density_close(&base);
    formed_close(&f);
}

static void values_are_those_of_the_base_over_its_mass(void **state)
{
    (void)state;
    each_truncation(check_value);
}

/* Of a share near 1 the rest has no digits left from z = 36 on, and a mass of 3e-9 from 27 on. */
static double density_on_line(double z, void *of)
{
    const formed *f = of;
    double end = f->c.family->base->support == DPI_UNIT ? 27 : 700;
    return z < -700 || z > end ? 0 : exp(formed_at(of, z, NULL));
}

/* As a prior: the law of z whose x lies between the bounds. */
static void check_mass(const tried *t)
{
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
    double value, error;
    formed f;
    open_tried(&f, t);
    density_close(&f.d);
    density_open(&f.d, &f.c, true);
    gsl_function of = {density_on_line, &f};
    assert_int_equal(gsl_integration_qagi(&of, 1e-9, 1e-9, 1000, work, &value, &error), 0);
    assert_close(value, 1, 1e-8, 0);
    formed_close(&f);
    gsl_integration_workspace_free(work);
}

static void densities_normalise_on_the_line(void **state)
{
    (void)state;
    each_truncation(check_mass);
}

static double cut_cdf(double x, void *of)
{
    const tried *t = of;
    double low = mass_below(t, t->low), high = mass_below(t, t->high);
    return (t->c->cdf(x, t->arg) - low) / (high - low);
}

static void check_draws(const tried *t)
{
    static double x[N_DRAWS];
    tried copy = *t;
    formed f;
    open_tried(&f, t);
    formed_draw(&f, 2718 + (uint64_t)f.c.family->n_args, N_DRAWS, x);
    qsort(x, N_DRAWS, sizeof *x, ascending);
    assert_true(x[0] > t->low && x[N_DRAWS - 1] <= t->high);
    assert_follows(N_DRAWS, x, cut_cdf, &copy);
    formed_close(&f);
}

static void draws_follow_the_cut_law(void **state)
{
    (void)state;
    each_truncation(check_draws);
}

/* ---- far out, where draws are by inversion ---- */

static double exponential_cdf(double x, void *of)
{
    const double *law = of; /* start, rate, end */
    return expm1(-law[1] * (x - law[0])) / expm1(-law[1] * (law[2] - law[0]));
}

/* Beyond 60 scales the logistic law is an exponential one, to 1e-26. */
static void draws_far_out_are_by_inversion(void **state)
{
    (void)state;
    static double x[N_FAR];
    double law[3] = {60, 1, INFINITY};
    for (int bounded = 0; bounded < 2; bounded++) {
        formed f;
        law[2] = bounded ? 61.3 : INFINITY;
        formed_open(&f, dp_truncated(dp_logistic_distribution(0, 1), law[0], law[2]));
        formed_draw(&f, 31, N_FAR, x);
        qsort(x, N_FAR, sizeof *x, ascending);
        assert_follows(N_FAR, x, exponential_cdf, law);
        formed_close(&f);
        formed_open(&f, dp_truncated(dp_logistic_distribution(0, 1), -law[2], -law[0]));
        formed_draw(&f, 37, N_FAR, x);
        for (size_t i = 0; i < N_FAR; i++)
            x[i] = -x[i];
        qsort(x, N_FAR, sizeof *x, ascending);
        assert_follows(N_FAR, x, exponential_cdf, law);
        formed_close(&f);
    }
}

static void a_law_without_mass_between_the_bounds_draws_nothing(void **state)
{
    (void)state;
    formed f;
    double x;
    formed_open(&f, dp_truncated(dp_logistic_distribution(0, 1e-300), 1e300, 2e300));
    formed_draw(&f, 41, 1, &x);
    assert_true(isnan(x));
    formed_close(&f);
}

/* ---- bounds and names ---- */

static void bounds_that_cut_nothing_are_left_out(void **state)
{
    (void)state;
    const dp_dist real = dp_logistic_distribution(0, 1), from = dp_pareto(2, 3);
    const struct {
        dp_dist dist;
        const char *name;
    } made[] = {
        {dp_truncated(real, -INFINITY, INFINITY), "logistic_distribution"},
        {dp_truncated(real, -1, INFINITY), "truncated below(logistic_distribution)"},
        {dp_truncated(real, -INFINITY, 1), "truncated above(logistic_distribution)"},
        {dp_truncated(real, -1, 1), "truncated(logistic_distribution)"},
        {dp_truncated(from, 1, INFINITY), "pareto"},
        {dp_truncated(from, 1, 5), "truncated from the start(pareto)"},
        {dp_truncated(from, 3, INFINITY), "truncated below(pareto)"},
    };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        dpi_arena arena = {0};
        dpi_no_form wrong;
        const dpi_family *row = dpi_dist_family(&arena, &made[i].dist, &wrong);
        assert_string_equal(row->name, made[i].name);
        dp_dist again = dpi_dist_of(row), read;
        assert_true(dpi_form_named(row->name, &read));
        assert_ptr_equal(again.family, made[i].dist.family);
        assert_ptr_equal(read.family, made[i].dist.family);
        assert_memory_equal(again.form, made[i].dist.form, sizeof again.form);
        assert_memory_equal(read.form, made[i].dist.form, sizeof again.form);
        dpi_arena_free(&arena);
    }
}

static void names_of_no_form_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "(",
                                      ")",
                                      "normal)",
                                      "truncated(normal",
                                      "truncated(normal))",
                                      "truncated()",
                                      "cut(normal)",
                                      "truncated(truncated)",
                                      "truncated(((((((normal)))))))",
                                      "truncated(normal) "};
    dp_dist dist;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (dpi_form_named(bad[i], &dist))
            fail_msg("'%s' is taken for a distribution", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_slopes_match_the_reference),
        cmocka_unit_test(values_are_those_of_the_base_over_its_mass),
        cmocka_unit_test(densities_normalise_on_the_line),
        cmocka_unit_test(draws_follow_the_cut_law),
        cmocka_unit_test(draws_far_out_are_by_inversion),
        cmocka_unit_test(a_law_without_mass_between_the_bounds_draws_nothing),
        cmocka_unit_test(bounds_that_cut_nothing_are_left_out),
        cmocka_unit_test(names_of_no_form_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
