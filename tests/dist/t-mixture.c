/* Mixtures: their rows, densities and draws.
 *
 * Statistical tests are by Massart's bound (joint.h): 1e-11 for each of some 25 comparisons here;
 * seeds are fixed. */
#include "dist/form.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/dist/joint.h"
#include "tests/lib/numbers.h"

static const double mixed[] = {0.3, 0.7};

/* ---- rows ---- */

static void mixtures_repeat_the_rows_of_their_components(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dpi_family *c = dpi_families[i];
        dpi_arena rows = {0};
        const dpi_family *m = row_of(&rows, DPI_MIXTURE, c);
        assert_true((m != NULL) == (dpi_mixture.refuses(c) == NULL));
        if (m == NULL)
            continue;
        assert_true(strncmp(m->name, "mixture of ", 11) == 0 && strcmp(m->name + 11, c->name) == 0);
        assert_string_equal(row_named(&rows, m->name)->name, m->name);
        assert_true(m->support == c->support && m->base == c && dpi_is_joint(m));
        assert_int_equal(m->n_args, c->n_args + 1);
        assert_string_equal(m->arg_name[0], "weights");
        assert_true(m->arg_domain[0] == DPI_POSITIVE);
        for (int k = 0; k < c->n_args; k++) {
            assert_string_equal(m->arg_name[k + 1], c->arg_name[k]);
            assert_true(m->arg_domain[k + 1] == c->arg_domain[k]);
        }
        dpi_arena_free(&rows);
    }
}

static void what_has_no_mixture_is_refused(void **state)
{
    (void)state;
    static const dpi_family *const none[] = {
        &dpi_uniform,   &dpi_binomial_logit, &dpi_chance_logit,    &dpi_categorical_logit,
        &dpi_dirichlet, &dpi_pareto,         &dpi_ordered_logistic};
    dpi_arena rows = {0};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_non_null(dpi_mixture.refuses(none[i]));
    assert_non_null(dpi_mixture.refuses(row_named(&rows, "mixture of normal")));
    assert_non_null(dpi_mixture.refuses(row_named(&rows, "ordered normal")));
    assert_non_null(dpi_mixture.refuses(row_named(&rows, "weighted(normal)")));
    assert_non_null(dpi_mixture.refuses(row_named(&rows, "truncated(normal)")));
    assert_null(row_named(&rows, "mixture of"));
    assert_null(row_named(&rows, "mixture of mixture of normal"));
    assert_null(row_named(&rows, "mixture of(normal)"));
    assert_null(row_named(&rows, "present(mixture of normal"));
    assert_non_null(row_named(&rows, "present(mixture of normal)"));
    dpi_arena_free(&rows);
}

/* ---- densities ---- */

/* Two components at the first two arguments that the family's own tests try: x, weights,
 * arguments. */
static void mix_tried(const dpi_family *m, double x, double number[])
{
    const dist_case *c = case_of(m->base);
    number[0] = x;
    memcpy(number + 1, mixed, sizeof mixed);
    for (int k = 0; k < m->base->n_args; k++)
        for (int of = 0; of < 2; of++)
            number[3 + 2 * k + of] = c->tried[of][k];
}

static const char *const pairs[DPI_MAX_ARGS] = {"2", "2", "2", "2"};

typedef struct mass {
    joint *j;
    const dpi_family *m;
} mass;

static double density_of(double x, void *user)
{
    const mass *u = user;
    double number[MOST_TOTAL];
    mix_tried(u->m, x, number);
    return exp(joint_at(u->j, number, NULL));
}

static double total_mass(mass *u, gsl_integration_workspace *work)
{
    gsl_function f = {density_of, u};
    const dist_case *c = case_of(u->m->base);
    double value = 0, error = 0, exact = 1e-9;
    if (c->cdf == NULL) {
        double top = fmax(c->top(c->tried[0]), c->top(c->tried[1]));
        for (double x = 0; x <= top; x++)
            value += density_of(x, u);
        return value;
    }
    int status = u->m->support == DPI_REAL
                     ? gsl_integration_qagi(&f, exact, exact, 1000, work, &value, &error)
                 : u->m->support == DPI_CIRCLE ? gsl_integration_qags(&f, -M_PI, M_PI, exact, exact,
                                                                      1000, work, &value, &error)
                 : u->m->support == DPI_UNIT
                     ? gsl_integration_qags(&f, 0, 1, exact, exact, 1000, work, &value, &error)
                     : gsl_integration_qagiu(&f, 0, exact, exact, 1000, work, &value, &error);
    if (status != GSL_SUCCESS)
        fail_msg("%s: %s", u->m->name, gsl_strerror(status));
    return value;
}

static void mixtures_normalise_and_are_sums_of_densities(void **state)
{
    (void)state;
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    for (size_t i = 0; i < dpi_n_families; i++) {
        dpi_arena rows = {0};
        const dpi_family *m = row_of(&rows, DPI_MIXTURE, dpi_families[i]);
        if (m == NULL)
            continue;
        const dist_case *c = case_of(m->base);
        double x = dpi_supports[c->family->support].discrete ? 1 : 0.41739, sum = 0;
        density d;
        joint j;
        mass u = {&j, m};
        density_open(&d, c, false);
        joint_open(&j, m, 1, pairs, false);
        for (int k = 0; k < 2; k++)
            sum += mixed[k] * exp(density_at(&d, x, c->tried[k], NULL));
        assert_close(density_of(x, &u), sum, 1e-14, 0);
        assert_close(total_mass(&u, work), 1, 1e-8, 0);
        joint_close(&j);
        density_close(&d);
        dpi_arena_free(&rows);
    }
    (void)gsl_set_error_handler(handler);
    gsl_integration_workspace_free(work);
}

/* Forms of counts may be components: here with zeros of their own. */
static void zero_inflated_counts_are_mixed(void **state)
{
    (void)state;
    enum { MOST = 60 };
    dpi_arena rows = {0};
    const dpi_family *one = row_named(&rows, "zero-inflated(poisson_log)"),
                     *both = row_named(&rows, "mixture of zero-inflated(poisson_log)");
    joint each, all;
    joint_open(&each, one, 1, (const char *[]){"", ""}, false);
    joint_open(&all, both, 1, (const char *[]){"2", "2", ""}, false);
    double chance[MOST], total = 0;
    for (int y = 0; y < MOST; y++) {
        const double first[] = {y, -0.7, 1.3}, second[] = {y, 0.9, 1.3};
        const double number[] = {y, 0.3, 0.7, -0.7, 0.9, 1.3};
        chance[y] = exp(joint_at(&all, number, NULL));
        total += chance[y];
        assert_close(chance[y],
                     0.3 * exp(joint_at(&each, first, NULL)) +
                         0.7 * exp(joint_at(&each, second, NULL)),
                     1e-13, 0);
    }
    assert_close(total, 1, 1e-12, 0);
    const double logit[] = {-0.7, 0.9}, log_rate = 1.3, *const arg[] = {mixed, logit, &log_rate};
    const size_t size[] = {2, 2, 1};
    dp_rng *rng;
    gsl_rng source = source_of(11, &rng);
    double zeros = 0, draws = 20000;
    for (int i = 0; i < draws; i++) {
        double x;
        dpi_draw_site(both, &source, arg, size, 1, 1, &x);
        zeros += x == 0;
    }
    /* 6.2 standard errors: 6e-10. */
    assert_close(zeros / draws, chance[0], 0, 6.2 * sqrt(0.25 / draws));
    dp_rng_free(rng);
    joint_close(&each);
    joint_close(&all);
    dpi_arena_free(&rows);
}

/* By the trapezium rule, whose error for smooth functions on the plane falls faster than any power
 * of the step. */
static void a_mixture_in_the_plane_normalises(void **state)
{
    (void)state;
    dpi_arena rows = {0};
    joint j;
    double sum = 0, step = 0.15, number[] = {0, 0, 0.3, 0.7, -1.1, 0.4, 0.9, -0.2, 0.6, 0.8};
    joint_open(&j, row_of(&rows, DPI_MIXTURE, &dpi_normal), 2, (const char *[]){"2", "2x2", "2"},
               false);
    for (number[0] = -9; number[0] < 9; number[0] += step)
        for (number[1] = -9; number[1] < 9; number[1] += step)
            sum += exp(joint_at(&j, number, NULL)) * step * step;
    assert_close(sum, 1, 1e-10, 0);
    joint_close(&j);
    dpi_arena_free(&rows);
}

/* Components out of sight and without weight change nothing, to the bit of the derivatives. */
static void far_points_and_small_weights_stay_finite(void **state)
{
    (void)state;
    dpi_arena rows = {0};
    static const double far[] = {0.7, 1e3, -1e8, 1e100, -1e150}, small[] = {0.3, 1e-30, DBL_MIN};
    joint j;
    joint_open(&j, row_of(&rows, DPI_MIXTURE, &dpi_normal), 2, (const char *[]){"2", "2x2", "2"},
               false);
    for (size_t f = 0; f < sizeof far / sizeof far[0]; f++)
        for (size_t s = 0; s < sizeof small / sizeof small[0]; s++) {
            double number[] = {far[f], 0.3, small[s], 1 - small[s], -1, 0.4, 0.9, -0.2, 0.6, 0.8};
            double slope[MOST_TOTAL];
            assert_true(isfinite(joint_at(&j, number, slope)));
            for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
                assert_true(isfinite(slope[k]));
        }
    joint_close(&j);
    dpi_arena_free(&rows);
}

/* ---- draws ---- */

/* P(X <= x) of the mixture that mix_tried makes. */
static double mixed_cdf(const dist_case *c, double x)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        double one = 0;
        density d;
        if (c->cdf != NULL) {
            sum += mixed[k] * c->cdf(x, c->tried[k]);
            continue;
        }
        density_open(&d, c, false);
        for (double y = 0; y <= x; y++)
            one += exp(density_at(&d, y, c->tried[k], NULL));
        density_close(&d);
        sum += mixed[k] * one;
    }
    return sum;
}

static void draw_mixture(const dpi_family *m, uint64_t seed, double *x)
{
    const double *arg[DPI_MAX_ARGS] = {NULL};
    size_t size[DPI_MAX_ARGS] = {0};
    double number[MOST_TOTAL];
    dp_rng *rng;
    gsl_rng source = source_of(seed, &rng);
    mix_tried(m, 0, number);
    for (int k = 0; k < m->n_args; k++) {
        arg[k] = number + 1 + 2 * k;
        size[k] = 2;
    }
    for (size_t i = 0; i < N_DRAWS; i++)
        dpi_draw_site(m, &source, arg, size, 1, 1, x + i);
    dp_rng_free(rng);
}

/* Massart's bound holds for jumps, too: there distances are taken after all that is equal. */
static void mixtures_draw_from_their_density(void **state)
{
    (void)state;
    double *x = dpi_alloc(N_DRAWS, sizeof *x);
    for (size_t i = 0; i < dpi_n_families; i++) {
        dpi_arena rows = {0};
        const dpi_family *m = row_of(&rows, DPI_MIXTURE, dpi_families[i]);
        if (m == NULL)
            continue;
        const dist_case *c = case_of(m->base);
        double distance = 0;
        draw_mixture(m, 31 * i + 5, x);
        qsort(x, N_DRAWS, sizeof *x, ascending);
        for (size_t n = 0; n < N_DRAWS; n++)
            if (n + 1 == N_DRAWS || x[n + 1] > x[n])
                distance = fmax(distance, fabs(mixed_cdf(c, x[n]) - (double)(n + 1) / N_DRAWS));
        if (!(distance <= distance_allowed()))
            fail_msg("%s: distance %g", m->name, distance);
        dpi_arena_free(&rows);
    }
    dpi_free(x);
}

static void numbers_of_one_value_come_from_one_component(void **state)
{
    (void)state;
    dpi_arena rows = {0};
    const double weights[] = {1, 3}, loc[] = {-100, 200, 100, -200}, scale[] = {1, 0.001};
    const double *const arg[] = {weights, loc, scale};
    const size_t size[] = {2, 4, 2};
    dp_rng *rng;
    gsl_rng source = source_of(3, &rng);
    double second = 0, tight = 0;
    for (int i = 0; i < 20000; i++) {
        double x[2];
        dpi_draw_site(row_of(&rows, DPI_MIXTURE, &dpi_normal), &source, arg, size, 2, 2, x);
        assert_true(x[0] < 0 ? fabs(x[0] + 100) < 10 && fabs(x[1] - 200) < 10
                             : fabs(x[0] - 100) < 0.01 && fabs(x[1] + 200) < 0.01);
        second += x[0] > 0;
        tight += x[0] > 0 && fabs(x[0] - 100) < 0.001;
    }
    /* 6.2 standard errors: 6e-10. */
    assert_close(second / 20000, 0.75, 0, 6.2 * sqrt(0.75 * 0.25 / 20000));
    assert_close(tight / second, 0.6827, 0, 6.2 * sqrt(0.25 / second));
    dp_rng_free(rng);
    dpi_arena_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures_repeat_the_rows_of_their_components),
        cmocka_unit_test(what_has_no_mixture_is_refused),
        cmocka_unit_test(mixtures_normalise_and_are_sums_of_densities),
        cmocka_unit_test(zero_inflated_counts_are_mixed),
        cmocka_unit_test(a_mixture_in_the_plane_normalises),
        cmocka_unit_test(far_points_and_small_weights_stay_finite),
        cmocka_unit_test(mixtures_draw_from_their_density),
        cmocka_unit_test(numbers_of_one_value_come_from_one_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
