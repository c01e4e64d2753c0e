/* Log densities against reference values, their derivatives and integrals; guide draws; memory. */
#include "dist/family.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/dist/cases.h"

static void each_family(void (*check)(const dist_case *))
{
    for (size_t i = 0; i < dpi_n_families; i++)
        check(case_of(dpi_families[i]));
}

/* ---- the table ---- */

static void the_table_has_every_family_once(void **state)
{
    (void)state;
    assert_true(dpi_n_families >= 18);
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dpi_family *f = dpi_families[i];
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(f->name, dpi_families[j]->name);
        assert_true(strlen(f->formula) > 0 && f->log_density != NULL && f->draw != NULL);
        assert_true(f->n_args >= 1 && f->n_args <= DPI_MAX_ARGS);
        for (int k = 0; k < DPI_MAX_ARGS; k++)
            assert_true((f->arg_name[k] != NULL) == (k < f->n_args));
        for (int k = 0; k < f->n_args; k++)
            if (strstr(f->formula, f->arg_name[k]) == NULL)
                fail_msg("the formula of %s does not mention %s", f->name, f->arg_name[k]);
    }
}

/* ---- values ---- */

/* assert_close that says which family. */
static void near(const dist_case *c, size_t point, double found, double wanted, double relative,
                 double absolute)
{
    if (!(fabs(found - wanted) <= absolute + relative * fabs(wanted)))
        print_error("%s, point %zu\n", c->family->name, point);
    assert_close(found, wanted, relative, absolute);
}

static double slack(const dist_case *c, size_t point, int k)
{
    return c->slack == NULL ? 0 : c->slack(&c->points[point], k);
}

static void check_values(const dist_case *c)
{
    density d;
    density_open(&d, c, false);
    for (size_t i = 0; i < c->n_points; i++) {
        double slope[1 + MAX_NUMBERS],
            value = density_at(&d, c->points[i].x, c->points[i].arg, slope);
        near(c, i, value, c->points[i].value, 1e-12, slack(c, i, VALUE));
    }
    density_close(&d);
}

static void values_match_the_reference(void **state)
{
    (void)state;
    each_family(check_values);
}

/* An error of the series by which the constant is made would be lost in the points above. */
static void the_constant_of_student_t_has_all_digits(void **state)
{
    (void)state;
    const dist_case *c = case_of(&dpi_student_t);
    density d;
    density_open(&d, c, false);
    for (size_t i = 0; i < n_centre_points; i++) {
        const struct point *p = &centre_points[i];
        double slope[1 + MAX_NUMBERS], value = density_at(&d, p->x, p->arg, slope);
        near(c, i, value, p->value, 0, 3e-15);
        near(c, i, slope[1], p->slope[1], 1e-12, 0);
    }
    density_close(&d);
}

/* The derivative in x is none of a discrete family's. */
static size_t first_slope(const dist_case *c)
{
    return dpi_supports[c->family->support].discrete ? 1 : 0;
}

static void check_slopes(const dist_case *c)
{
    density d;
    density_open(&d, c, false);
    for (size_t i = 0; i < c->n_points; i++) {
        double slope[1 + MAX_NUMBERS];
        (void)density_at(&d, c->points[i].x, c->points[i].arg, slope);
        for (size_t k = first_slope(c); k <= c->n_numbers; k++)
            near(c, i, slope[k], c->points[i].slope[k], 1e-11, slack(c, i, (int)k));
    }
    density_close(&d);
}

static void gradients_match_the_reference(void **state)
{
    (void)state;
    each_family(check_slopes);
}

/* The derivative in number k (0 is x) by central differences, extrapolated from three steps. */
static double difference(density *d, size_t k, double x, const double arg[])
{
    double at[1 + MAX_NUMBERS], by[3];
    at[0] = x;
    memcpy(at + 1, arg, d->of->n_numbers * sizeof *arg);
    double centre = at[k], h = 4e-3 * fmin(1, fabs(centre));
    for (int level = 0; level < 3; level++, h /= 2) {
        at[k] = centre + h;
        double up = density_at(d, at[0], at + 1, NULL);
        at[k] = centre - h;
        by[level] = (up - density_at(d, at[0], at + 1, NULL)) / (2 * h);
    }
    double first = (4 * by[1] - by[0]) / 3, second = (4 * by[2] - by[1]) / 3;
    return (16 * second - first) / 15;
}

static void check_differences(const dist_case *c)
{
    density d;
    density_open(&d, c, false);
    for (int t = 0; t < N_TRIED; t++) {
        double x = inner_number(c, c->tried[t]);
        double slope[1 + MAX_NUMBERS];
        (void)density_at(&d, x, c->tried[t], slope);
        for (size_t k = first_slope(c); k <= c->n_numbers; k++)
            near(c, (size_t)t, slope[k], difference(&d, k, x, c->tried[t]), 1e-8, 1e-10);
    }
    density_close(&d);
}

static void gradients_match_differences(void **state)
{
    (void)state;
    each_family(check_differences);
}

/* ---- total mass ---- */

typedef struct mass {
    density *d;
    bool on_line;
    const double *arg;
} mass;

/* Where e^|z| overflows, less than 1e-99 of the mass is left. */
static const double line_end = 700;

static double density_of(double x, void *user)
{
    const mass *m = user;
    return m->on_line && fabs(x) > line_end ? 0 : exp(density_at(m->d, x, m->arg, NULL));
}

static double integral(const mass *m, gsl_integration_workspace *work)
{
    gsl_function f = {density_of, (void *)(uintptr_t)m};
    dpi_support_kind support = m->d->of->family->support;
    double value = 0, error = 0, exact = 1e-9;
    const size_t limit = 1000;
    int status =
        m->on_line || support == DPI_REAL
            ? gsl_integration_qagi(&f, exact, exact, limit, work, &value, &error)
        : support == DPI_ABOVE_ZERO || support == DPI_FROM
            ? gsl_integration_qagiu(&f, support == DPI_FROM ? m->arg[0] : 0, exact, exact, limit,
                                    work, &value, &error)
        : support == DPI_CIRCLE
            ? gsl_integration_qags(&f, -M_PI, M_PI, exact, exact, limit, work, &value, &error)
            : gsl_integration_qags(&f, support == DPI_UNIT ? 0 : m->arg[0],
                                   support == DPI_UNIT ? 1 : m->arg[1], exact, exact, limit, work,
                                   &value, &error);
    if (status != GSL_SUCCESS)
        fail_msg("%s: %s", m->d->of->family->name, gsl_strerror(status));
    return value;
}

static double sum(const mass *m)
{
    double total = 0, top = m->d->of->top(m->arg);
    for (double x = 0; x <= top; x++)
        total += density_of(x, (void *)(uintptr_t)m);
    return total;
}

static void check_mass(const dist_case *c, bool on_line)
{
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    density d;
    density_open(&d, c, on_line);
    for (int t = 0; t < N_TRIED; t++) {
        mass m = {&d, on_line, c->tried[t]};
        near(c, (size_t)t, c->cdf == NULL ? sum(&m) : integral(&m, work), 1, 1e-8, 0);
    }
    density_close(&d);
    (void)gsl_set_error_handler(handler);
    gsl_integration_workspace_free(work);
}

static void check_mass_on_support(const dist_case *c)
{
    check_mass(c, false);
}

static void check_mass_on_line(const dist_case *c)
{
    if (dpi_supports[c->family->support].constrain != NULL && c->family->support != DPI_REAL)
        check_mass(c, true);
}

static void densities_normalise(void **state)
{
    (void)state;
    each_family(check_mass_on_support);
}

static void transformed_densities_normalise_on_the_line(void **state)
{
    (void)state;
    each_family(check_mass_on_line);
}

/* ---- guides ---- */

/* If x = t(e) with e standard normal, then log p(x) + log |dt/de| = log phi(e). */
static void check_from_normal(const dist_case *c)
{
    if (c->family->from_normal == NULL)
        return;
    density d;
    density_open(&d, c, false);
    dpi_graph *g = &d.graph;
    dpi_id noise = dpi_source(g, &dpi_op_input, "noise", (dpi_attr){0}), slope;
    dpi_id x = c->family->from_normal(g, noise, d.arg);
    assert_ok(dpi_gradient(g, x, 1, &noise, &slope), d.err.text);
    dpi_id wanted[] = {noise, x, slope, d.arg[0], d.arg[1]};
    dpi_run_spec spec = {.graph = g, .wanted = wanted, .n_wanted = 5, .chunk = 1};
    dpi_run *run;
    assert_ok(dpi_run_new(&spec, &run, &d.err), d.err.text);
    for (int t = 0; t < N_TRIED; t++)
        for (double e = -2.713; e < 3; e += 0.917) {
            *dpi_run_value(run, noise) = e;
            for (int k = 0; k < 2; k++)
                *dpi_run_value(run, d.arg[k]) = c->tried[t][k];
            dpi_run_globals(run);
            double log_density = density_at(&d, *dpi_run_value(run, x), c->tried[t], NULL);
            assert_close(log_density + log(fabs(*dpi_run_value(run, slope))),
                         -0.5 * e * e - 0.5 * log(2 * M_PI), 1e-12, 0);
        }
    dpi_run_free(run);
    density_close(&d);
}

/* Densities of a draw, which read its noise where that is all of x: under the law that it is drawn
 * from, and with other arguments. */
static void check_density_of_draw(const dist_case *c)
{
    enum { LAWS = 4 };
    if (c->family->from_normal == NULL)
        return;
    density d;
    density_open(&d, c, false);
    dpi_graph *g = &d.graph;
    const dpi_id noise = dpi_source(g, &dpi_op_input, "noise", (dpi_attr){0});
    const dpi_id x = c->family->from_normal(g, noise, d.arg);
    dpi_id in[] = {noise, d.arg[0], d.arg[1], DPI_NONE, DPI_NONE}, wanted[5 + LAWS];
    for (int k = 3; k < 5; k++)
        in[k] = dpi_source(g, &dpi_op_input, k == 3 ? "loc" : "scale", (dpi_attr){0});
    memcpy(wanted, in, sizeof in);
    for (int k = 0; k < LAWS; k++)
        wanted[5 + k] =
            c->family->log_density(g, x, (dpi_id[]){in[1 + k % 2 * 2], in[2 + k / 2 * 2]});
    dpi_run_spec spec = {.graph = g, .wanted = wanted, .n_wanted = 5 + LAWS, .chunk = 1};
    dpi_run *run;
    assert_ok(dpi_run_new(&spec, &run, &d.err), d.err.text);
    const double e = -1.385, loc = 0.719, scale = 2.281, *own = c->tried[0];
    const double values[] = {e, own[0], own[1], loc, scale};
    const double z = own[0] + own[1] * e, drawn = c->family == &dpi_normal ? z : exp(z);
    for (int k = 0; k < 5; k++)
        *dpi_run_value(run, in[k]) = values[k];
    dpi_run_globals(run);
    for (int k = 0; k < LAWS; k++)
        assert_close(
            *dpi_run_value(run, wanted[5 + k]),
            density_at(&d, drawn, (double[]){values[1 + k % 2 * 2], values[2 + k / 2 * 2]}, NULL),
            1e-13, 1e-13);
    dpi_run_free(run);
    density_close(&d);
}

static void guide_draws_have_the_density(void **state)
{
    (void)state;
    each_family(check_from_normal);
    each_family(check_density_of_draw);
    assert_non_null(dpi_normal.from_normal);
    assert_non_null(dpi_log_normal.from_normal);
}

/* ---- memory ---- */

static size_t allocations_left = SIZE_MAX;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left -= allocations_left != SIZE_MAX;
    return __real_aligned_alloc(alignment, size);
}

/* Builds density, bijector and guide draw with `allowed` allocations; the status. */
static dp_status build(const dpi_family *f, size_t allowed)
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    allocations_left = allowed;
    dpi_graph_init(&g, &arena, &err);
    dpi_attr attr = {.shape = f->vector_arg ? dpi_vector(MAX_NUMBERS, false) : dpi_scalar(false)};
    dpi_id x = dpi_source(&g, &dpi_op_input, "x", (dpi_attr){0}), arg[DPI_MAX_ARGS],
           result[5] = {0};
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        arg[k] = dpi_source(&g, &dpi_op_input, "arg", attr);
    const dpi_support *support = &dpi_supports[f->support];
    result[0] = f->log_density(&g, x, arg);
    result[1] = support->constrain == NULL ? 0 : support->constrain(&g, x, arg);
    result[2] = f->from_normal == NULL ? 0 : f->from_normal(&g, x, arg);
    result[3] = f->log_cdf == NULL ? 0 : f->log_cdf(&g, x, arg);
    result[4] = f->log_survival == NULL ? 0 : f->log_survival(&g, x, arg);
    allocations_left = SIZE_MAX;
    bool complete = true;
    for (int i = 0; i < 5; i++)
        complete = complete && result[i] >= 0;
    assert_true(complete == (err.status == DP_OK));
    dpi_arena_free(&arena);
    return err.status;
}

static void running_out_of_memory_gives_no_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < dpi_n_families; i++) {
        size_t allowed = 0;
        while (build(dpi_families[i], allowed) == DP_ENOMEM)
            assert_true(++allowed < 1000);
        assert_true(allowed > 0);
        assert_int_equal(build(dpi_families[i], allowed), DP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_every_family_once),
        cmocka_unit_test(values_match_the_reference),
        cmocka_unit_test(the_constant_of_student_t_has_all_digits),
        cmocka_unit_test(gradients_match_the_reference),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(densities_normalise),
        cmocka_unit_test(transformed_densities_normalise_on_the_line),
        cmocka_unit_test(guide_draws_have_the_density),
        cmocka_unit_test(running_out_of_memory_gives_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
