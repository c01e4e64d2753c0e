/* Log densities against reference values, their derivatives, their integrals and their shapes. */
#include "dist/family.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/run.h"
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
    assert_int_equal(dpi_n_families, 16);
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
        /* A point off every kink and centre, inside the support at each of the arguments tried. */
        double x = dpi_supports[c->family->support].discrete ? 1
                   : c->family->support == DPI_INTERVAL
                       ? 0.7131 * c->tried[t][0] + 0.2869 * c->tried[t][1]
                       : 0.41739;
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
    int status = m->on_line || support == DPI_REAL
                     ? gsl_integration_qagi(&f, exact, exact, limit, work, &value, &error)
                 : support == DPI_ABOVE_ZERO
                     ? gsl_integration_qagiu(&f, 0, exact, exact, limit, work, &value, &error)
                     : gsl_integration_qags(&f, support == DPI_UNIT ? 0 : m->arg[0],
                                            support == DPI_UNIT ? 1 : m->arg[1], exact, exact,
                                            limit, work, &value, &error);
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

/* ---- shapes ---- */

enum { N_RECORDS = 3, N_PLATE = 2 };

/* Shapes of x and of the first and the other arguments: a digit for per-record, a plate or not. */
typedef struct shapes {
    dpi_shape x, first, other;
} shapes;

static double element(const dpi_shape *shape, double base, size_t record, size_t e)
{
    double step = (shape->per_record ? 0.011 * (double)record : 0) +
                  (shape->n_dims > 0 ? 0.0017 * (double)e : 0);
    return base * (1 + step);
}

static double whole_or(const dist_case *c, const dpi_shape *shape, double base, size_t record,
                       size_t e)
{
    bool whole = dpi_supports[c->family->support].discrete;
    double shift = (shape->per_record ? (double)record : 0) + (shape->n_dims > 0 ? (double)e : 0);
    return whole ? fmod(base + shift, 2) : element(shape, base, record, e);
}

static double argument(const dist_case *c, int k, const dpi_shape *shape, size_t record, size_t e)
{
    bool whole = c->family->arg_domain[k] == DPI_NOT_NEGATIVE;
    double base = c->tried[0][k];
    return whole ? base + (shape->per_record ? (double)record : 0)
                 : element(shape, base, record, e);
}

static void put(dpi_run *run, dpi_id id, const dist_case *c, int k, const dpi_shape *shape,
                double x)
{
    size_t size = dpi_shape_size(shape), records = shape->per_record ? N_RECORDS : 1;
    for (size_t r = 0; r < records; r++)
        for (size_t e = 0; e < size; e++)
            dpi_run_value(run, id)[r * size + e] =
                k < 0 ? whole_or(c, shape, x, r, e) : argument(c, k, shape, r, e);
}

static void compare(const dist_case *c, const shapes *s, const double *value,
                    const dpi_shape *result, double x)
{
    density d;
    density_open(&d, c, false);
    size_t size = dpi_shape_size(result), records = result->per_record ? N_RECORDS : 1;
    for (size_t r = 0; r < records; r++)
        for (size_t e = 0; e < size; e++) {
            double arg[MAX_NUMBERS];
            for (int k = 0; k < c->family->n_args; k++)
                arg[k] = argument(c, k, k == 0 ? &s->first : &s->other, r, e);
            double alone = density_at(&d, whole_or(c, &s->x, x, r, e), arg, NULL);
            assert_close(value[r * size + e], alone, 1e-15, 0);
        }
    density_close(&d);
}

static void check_shapes_of(const dist_case *c, const shapes *s)
{
    const dpi_family *f = c->family;
    double x = f->support == DPI_INTERVAL ? 0.6 * c->tried[0][0] + 0.4 * c->tried[0][1] : 0.41739;
    x = dpi_supports[f->support].discrete ? 1 : x;
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    dpi_id in[1 + DPI_MAX_ARGS], wanted[2 + DPI_MAX_ARGS];
    for (int k = 0; k <= f->n_args; k++)
        wanted[k] = in[k] = dpi_source(&g, &dpi_op_input, k == 0 ? "x" : f->arg_name[k - 1],
                                       (dpi_attr){.shape = k == 0   ? s->x
                                                           : k == 1 ? s->first
                                                                    : s->other});
    dpi_id value = wanted[f->n_args + 1] = f->log_density(&g, in[0], in + 1);
    assert_ok(err.status, err.text);
    dpi_shape joined;
    assert_true(dpi_shape_join(&s->x, &s->first, &joined));
    assert_true(f->n_args == 1 || dpi_shape_join(&joined, &s->other, &joined));
    const dpi_shape result = dpi_get(&g, value)->shape;
    assert_true(dpi_shape_same(&result, &joined) && result.per_record == joined.per_record);
    dpi_run *run;
    dpi_run_spec spec = {
        .graph = &g, .wanted = wanted, .n_wanted = (size_t)f->n_args + 2, .chunk = N_RECORDS};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (int k = 0; k <= f->n_args; k++)
        put(run, in[k], c, k - 1, k == 0 ? &s->x : k == 1 ? &s->first : &s->other, x);
    dpi_run_globals(run);
    dpi_run_records(run, N_RECORDS, NULL, 0);
    compare(c, s, dpi_run_value(run, value), &result, x);
    dpi_run_free(run);
    dpi_arena_free(&arena);
}

static void check_broadcasting(const dist_case *c)
{
    const dpi_shape number = dpi_scalar(false), record = dpi_scalar(true);
    const dpi_shape plate = dpi_vector(N_PLATE, false), both = dpi_vector(N_PLATE, true);
    const shapes tried[] = {
        {record, number, number}, {number, number, record}, {plate, number, number},
        {both, number, number},   {both, plate, record},    {record, plate, number},
        {record, record, record}, {plate, plate, plate},    {number, both, number},
    };
    for (size_t i = 0; i < sizeof tried / sizeof tried[0] && !c->family->vector_arg; i++)
        check_shapes_of(c, &tried[i]);
}

static void arguments_and_values_broadcast(void **state)
{
    (void)state;
    each_family(check_broadcasting);
}

/* Categories of records under logits that are global, and under logits of each record. */
static void categories_read_the_logits_of_their_record(void **state)
{
    (void)state;
    const dist_case *c = case_of(&dpi_categorical_logit);
    for (int per_record = 0; per_record < 2; per_record++) {
        dpi_arena arena = {0};
        dp_error err = {0};
        dpi_graph g;
        dpi_graph_init(&g, &arena, &err);
        dpi_attr attr = {.shape = dpi_vector(MAX_NUMBERS, per_record)};
        dpi_id y = dpi_source(&g, &dpi_op_input, "y", (dpi_attr){.shape = dpi_scalar(true)});
        dpi_id logits = dpi_source(&g, &dpi_op_input, "logits", attr);
        dpi_id wanted[] = {y, logits, c->family->log_density(&g, y, &logits)};
        dpi_run_spec spec = {.graph = &g, .wanted = wanted, .n_wanted = 3, .chunk = N_TRIED};
        dpi_run *run;
        assert_ok(dpi_run_new(&spec, &run, &err), err.text);
        density d;
        density_open(&d, c, false);
        memcpy(dpi_run_value(run, logits), c->tried,
               (per_record ? N_TRIED : 1) * MAX_NUMBERS * sizeof(double));
        for (int r = 0; r < N_TRIED; r++)
            dpi_run_value(run, y)[r] = (r + 2) % MAX_NUMBERS;
        dpi_run_globals(run);
        dpi_run_records(run, N_TRIED, NULL, 0);
        for (int r = 0; r < N_TRIED; r++)
            assert_close(dpi_run_value(run, wanted[2])[r],
                         density_at(&d, (r + 2) % MAX_NUMBERS, c->tried[per_record ? r : 0], NULL),
                         1e-15, 0);
        density_close(&d);
        dpi_run_free(run);
        dpi_arena_free(&arena);
    }
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

static void guide_draws_have_the_density(void **state)
{
    (void)state;
    each_family(check_from_normal);
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
           result[3] = {0};
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        arg[k] = dpi_source(&g, &dpi_op_input, "arg", attr);
    const dpi_support *support = &dpi_supports[f->support];
    result[0] = f->log_density(&g, x, arg);
    result[1] = support->constrain == NULL ? 0 : support->constrain(&g, x, arg);
    result[2] = f->from_normal == NULL ? 0 : f->from_normal(&g, x, arg);
    allocations_left = SIZE_MAX;
    assert_true(err.status == DP_OK || result[0] == DPI_NONE || result[1] == DPI_NONE ||
                result[2] == DPI_NONE);
    assert_true(err.status != DP_OK || (result[0] >= 0 && result[1] >= 0 && result[2] >= 0));
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
        cmocka_unit_test(gradients_match_the_reference),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(densities_normalise),
        cmocka_unit_test(transformed_densities_normalise_on_the_line),
        cmocka_unit_test(arguments_and_values_broadcast),
        cmocka_unit_test(categories_read_the_logits_of_their_record),
        cmocka_unit_test(guide_draws_have_the_density),
        cmocka_unit_test(running_out_of_memory_gives_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
