/* Means of the families against integrals of their distribution functions, sums of their
 * densities, and closed forms of joint families. */
#include <gsl/gsl_integration.h>
#include <math.h>

#include "exec/run.h"
#include "tests/dist/joint.h"

/* The numbers of a node of constants: out[n]. */
static size_t value_of(const dpi_graph *g, dpi_id id, double *out)
{
    dp_error err = {0};
    dpi_run *run;
    dpi_run_spec spec = {.graph = g, .wanted = &id, .n_wanted = 1, .chunk = 1};
    size_t n = dpi_shape_size(&dpi_get(g, id)->shape);
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    dpi_run_globals(run);
    dpi_run_read(run, id, 0, n, out);
    dpi_run_free(run);
    return n;
}

/* The mean at constant arguments. */
static size_t mean_at(const dpi_family *family, const double *arg, size_t n_numbers, double *out)
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_id node[DPI_MAX_ARGS];
    const char *why;
    dpi_graph_init(&g, &arena, &err);
    for (int k = 0; k < family->n_args; k++)
        node[k] = family->vector_arg || family == &dpi_dirichlet
                      ? dpi_constant_array(&g, dpi_vector(n_numbers, false), arg)
                      : dpi_constant(&g, arg[k]);
    size_t n = value_of(&g, dpi_mean(&g, family, node, &why), out);
    assert_ok(err.status, err.text);
    assert_null(why);
    dpi_arena_free(&arena);
    return n;
}

static void every_family_has_a_mean_or_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++)
        assert_true((dpi_families[i]->mean != NULL) != (dpi_families[i]->no_mean != NULL));
    assert_non_null(dpi_dirichlet.mean);
    assert_non_null(dpi_cauchy.no_mean);
    assert_non_null(dpi_half_cauchy.no_mean);
}

/* ---- continuous: the integral of 1 - F above 0 less that of F below ---- */

typedef struct tail {
    const dist_case *of;
    const double *arg;
} tail;

static double weight(double x, void *of)
{
    const tail *t = of;
    double f = t->of->cdf(x, t->arg), g = t->of->cdf(-x, t->arg);
    bool real = t->of->family->support == DPI_REAL || t->of->family->support == DPI_INTERVAL;
    const double *arg = t->arg;
    if (t->of->family->support == DPI_INTERVAL) { /* cdfs are of the interval's own */
        f = x >= arg[1] ? 1 : x <= arg[0] ? 0 : f;
        g = -x >= arg[1] ? 1 : -x <= arg[0] ? 0 : g;
    }
    if (t->of->family->support == DPI_UNIT)
        f = x >= 1 ? 1 : f;
    return 1 - f - (real ? g : 0);
}

static double integral(const dist_case *c, const double *arg)
{
    tail t = {c, arg};
    gsl_function f = {weight, &t};
    gsl_integration_workspace *w = gsl_integration_workspace_alloc(2000);
    double below, above, error;
    (void)gsl_integration_qag(&f, 0, 20, 1e-9, 1e-9, 2000, GSL_INTEG_GAUSS61, w, &below, &error);
    (void)gsl_integration_qagiu(&f, 20, 1e-9, 1e-9, 2000, w, &above, &error);
    gsl_integration_workspace_free(w);
    return below + above;
}

static void means_are_integrals_of_distribution_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dist_case *c = case_of(dpi_families[i]);
        for (int k = 0; c->cdf != NULL && c->family->mean != NULL && k < N_TRIED; k++) {
            double mean;
            assert_int_equal(mean_at(c->family, c->tried[k], c->n_numbers, &mean), 1);
            if (c->family == &dpi_inverse_gamma && c->tried[k][0] <= 1)
                assert_true(isinf(mean) && mean > 0);
            else if (c->family == &dpi_student_t && c->tried[k][0] <= 1)
                assert_true(isnan(mean));
            else
                assert_close(mean, integral(c, c->tried[k]), 1e-6, 1e-7);
        }
    }
    double mean;
    assert_int_equal(mean_at(&dpi_student_t, (const double[]){1, 2, 3}, 3, &mean), 1);
    assert_true(isnan(mean));
    assert_int_equal(mean_at(&dpi_half_student_t, (const double[]){0.9, 3}, 2, &mean), 1);
    assert_true(isinf(mean) && mean > 0);
    assert_int_equal(mean_at(&dpi_pareto, (const double[]){0.9, 1}, 2, &mean), 1);
    assert_true(isinf(mean) && mean > 0);
}

/* ---- discrete: the sum over values ---- */

static void means_are_sums_over_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dist_case *c = case_of(dpi_families[i]);
        for (int k = 0; c->top != NULL && k < N_TRIED; k++) {
            double mean[MAX_NUMBERS + 1], sum = 0;
            density d;
            bool category = c->family->vector_arg;
            size_t n = mean_at(c->family, c->tried[k], c->n_numbers, mean);
            assert_int_equal(n, category ? c->top(c->tried[k]) + 1 : 1);
            density_open(&d, c, false);
            for (double x = 0; x <= c->top(c->tried[k]); x++) {
                double p = exp(density_at(&d, x, c->tried[k], NULL));
                if (category)
                    assert_close(mean[(size_t)x], p, 1e-12, 0);
                sum += x * p;
            }
            density_close(&d);
            if (!category)
                assert_close(mean[0], sum, 1e-9, 1e-12);
        }
    }
}

/* ---- several numbers with one density ---- */

static void a_dirichlet_has_its_concentrations_over_their_sum(void **state)
{
    (void)state;
    const double c[3] = {0.5, 2, 1.5};
    double mean[3];
    assert_int_equal(mean_at(&dpi_dirichlet, c, 3, mean), 3);
    for (int k = 0; k < 3; k++)
        assert_close(mean[k], c[k] / 4, 1e-15, 0);
}

/* Components of two numbers whose mean is that of a normal: loc [K][d] or [K], scale the other. */
static void a_mixture_weighs_means_and_an_order_has_none(void **state)
{
    (void)state;
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    const char *why;
    const double weights[] = {0.6, 1.4}, locs[] = {1, 2, -3, 7}, two[] = {1, 3};
    dpi_graph_init(&g, &arena, &err);
    dpi_shape pairs = dpi_vector(2, false);
    assert_true(dpi_shape_prepend(&pairs, 2, 0));
    dpi_id w = dpi_constant_array(&g, dpi_vector(2, false), weights),
           matrix = dpi_constant_array(&g, pairs, locs),
           vector = dpi_constant_array(&g, dpi_vector(2, false), two), one = dpi_constant(&g, 1);
    dpi_arena rows = {0};
    const dpi_family *normal = row_of(&rows, DPI_MIXTURE, &dpi_normal),
                     *gamma = row_of(&rows, DPI_MIXTURE, &dpi_gamma),
                     *cauchy = row_of(&rows, DPI_MIXTURE, &dpi_cauchy),
                     *order = row_of(&rows, DPI_IN_ORDER, &dpi_normal);
    double mean[2];
    dpi_id id = dpi_mean(&g, normal, (dpi_id[]){w, matrix, one}, &why);
    assert_int_equal(value_of(&g, id, mean), 2);
    assert_close(mean[0], 0.3 * 1 + 0.7 * -3, 1e-15, 1e-15);
    assert_close(mean[1], 0.3 * 2 + 0.7 * 7, 1e-15, 0);
    id = dpi_mean(&g, normal, (dpi_id[]){w, vector, one}, &why);
    assert_int_equal(value_of(&g, id, mean), 1);
    assert_close(mean[0], 0.3 * 1 + 0.7 * 3, 1e-15, 0);
    id = dpi_mean(&g, normal, (dpi_id[]){w, vector, matrix}, &why);
    assert_int_equal(value_of(&g, id, mean), 2);
    assert_close(mean[1], 0.3 * 1 + 0.7 * 3, 1e-15, 0);
    id = dpi_mean(&g, gamma, (dpi_id[]){w, vector, matrix}, &why);
    assert_int_equal(value_of(&g, id, mean), 2);
    assert_close(mean[0], 0.3 * 1 / 1 + 0.7 * 3 / -3, 1e-15, 1e-15);
    id = dpi_mean(&g, normal, (dpi_id[]){w, one, vector}, &why);
    assert_int_equal(value_of(&g, id, mean), 1);
    assert_close(mean[0], 1, 1e-15, 0);
    assert_int_equal(dpi_mean(&g, cauchy, (dpi_id[]){w, one, vector}, &why), DPI_NONE);
    assert_ptr_equal(why, dpi_cauchy.no_mean);
    assert_int_equal(dpi_mean(&g, order, (dpi_id[]){one, one}, &why), DPI_NONE);
    assert_non_null(why);
    assert_ok(err.status, err.text);
    dpi_arena_free(&rows);
    dpi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_has_a_mean_or_a_reason),
        cmocka_unit_test(means_are_integrals_of_distribution_functions),
        cmocka_unit_test(means_are_sums_over_values),
        cmocka_unit_test(a_dirichlet_has_its_concentrations_over_their_sum),
        cmocka_unit_test(a_mixture_weighs_means_and_an_order_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
