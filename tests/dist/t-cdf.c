/* Distribution functions of the families that have them: reference values, derivatives, and the
 * integral of the density. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/dist/cases.h"

/* [0] of log P(X <= x), [1] of log P(X > x): values and derivatives in x and the arguments. */
struct tail_point {
    double x, arg[MAX_NUMBERS], value[2], slope[2][1 + MAX_NUMBERS];
};

#include "tests/dist/reference-cdf.h"

typedef struct tails_of {
    const dpi_family *family;
    const struct tail_point *points;
    size_t n_points;
    double slope; /* relative error allowed in derivatives */
} tails_of;

#define TAILS(name) &dpi_##name, name##_tails, sizeof name##_tails / sizeof name##_tails[0]
#define ROW(name)                                                                                  \
    {                                                                                              \
        TAILS(name), 1e-11                                                                         \
    }

/* The derivative in df is the small rest of large ones. */
static const tails_of tables[] = {
    ROW(normal),
    ROW(half_normal),
    ROW(log_normal),
    ROW(cauchy),
    ROW(gumbel),
    ROW(half_cauchy),
    ROW(laplace),
    ROW(logistic_distribution),
    ROW(weibull),
    ROW(asymmetric_laplace),
    ROW(pareto),
    ROW(exponential),
    ROW(uniform),
    ROW(kumaraswamy),
    ROW(gamma),
    ROW(inverse_gamma),
    ROW(chi_squared),
    ROW(poisson_log),
    ROW(beta),
    ROW(beta_mean),
    ROW(binomial_logit),
    ROW(negative_binomial),
    ROW(negative_binomial_log),
    ROW(geometric_logit),
    ROW(skew_normal),
    {TAILS(student_t), 1e-9},
    {TAILS(half_student_t), 1e-9},
};

static const tails_of *tails_named(const dpi_family *family)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (tables[i].family == family && tables[i].n_points >= MIN_POINTS)
            return &tables[i];
    fail_msg("family %s has a distribution function without reference values", family->name);
    return NULL;
}

/* Both probabilities as a graph that is run at given numbers. */
typedef struct tails {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    dpi_id x, arg[DPI_MAX_ARGS], value[2], slope[2][1 + DPI_MAX_ARGS];
    int n_args;
    dpi_run *run;
} tails;

static void open_tails(tails *t, const dpi_family *f)
{
    *t = (tails){.n_args = f->n_args};
    dpi_graph_init(&t->graph, &t->arena, &t->err);
    dpi_id wrt[1 + DPI_MAX_ARGS], wanted[4 * (1 + DPI_MAX_ARGS)];
    size_t n = 0, n_wanted = 0;
    wrt[n++] = t->x = dpi_source(&t->graph, &dpi_op_input, "x", (dpi_attr){0});
    for (int k = 0; k < f->n_args; k++)
        wrt[n++] = t->arg[k] = dpi_source(&t->graph, &dpi_op_input, f->arg_name[k], (dpi_attr){0});
    t->value[0] = f->log_cdf(&t->graph, t->x, t->arg);
    t->value[1] = f->log_survival(&t->graph, t->x, t->arg);
    memcpy(wanted, wrt, n * sizeof *wrt);
    n_wanted = n;
    for (int side = 0; side < 2; side++) {
        assert_ok(t->err.status, t->err.text);
        assert_ok(dpi_gradient(&t->graph, t->value[side], n, wrt, t->slope[side]), t->err.text);
        wanted[n_wanted++] = t->value[side];
        for (size_t k = 0; k < n; k++)
            if (t->slope[side][k] != DPI_NONE)
                wanted[n_wanted++] = t->slope[side][k];
    }
    dpi_run_spec spec = {.graph = &t->graph, .wanted = wanted, .n_wanted = n_wanted, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &t->run, &t->err), t->err.text);
}

static void close_tails(tails *t)
{
    dpi_run_free(t->run);
    dpi_arena_free(&t->arena);
}

static void run_tails(tails *t, double x, const double arg[])
{
    *dpi_run_value(t->run, t->x) = x;
    for (int k = 0; k < t->n_args; k++)
        *dpi_run_value(t->run, t->arg[k]) = arg[k];
    dpi_run_globals(t->run);
}

static double number_of(const tails *t, dpi_id id)
{
    return id == DPI_NONE ? 0 : *dpi_run_value(t->run, id);
}

static void each_with_tails(void (*check)(const dpi_family *))
{
    size_t found = 0;
    for (size_t i = 0; i < dpi_n_families; i++) {
        const dpi_family *f = dpi_families[i];
        assert_true((f->log_cdf == NULL) == (f->log_survival == NULL));
        found += f->log_cdf != NULL;
        if (f->log_cdf != NULL)
            check(f);
    }
    assert_int_equal(found, sizeof tables / sizeof tables[0]);
}

/* assert_close that says where. */
static void near(const dpi_family *f, const struct tail_point *p, const char *what, double found,
                 double wanted, double relative, double absolute)
{
    if (!(fabs(found - wanted) <= absolute + relative * fabs(wanted)))
        print_error("%s at x = %.17g, argument %.17g: %s is %.17g, not %.17g\n", f->name, p->x,
                    p->arg[0], what, found, wanted);
    assert_close(found, wanted, relative, absolute);
}

/* Digits of a logarithm near 0, where the probability is near 1, are those of the other tail. */
static void check_reference(const dpi_family *f)
{
    const tails_of *table = tails_named(f);
    tails t;
    open_tails(&t, f);
    for (size_t i = 0; i < table->n_points; i++) {
        const struct tail_point *p = &table->points[i];
        run_tails(&t, p->x, p->arg);
        for (int side = 0; side < 2; side++) {
            double lost = p->value[side] > -1e-3 ? 1e-15 : 1e-304;
            const char *what = side == 0 ? "log cdf" : "log survival";
            near(f, p, what, number_of(&t, t.value[side]), p->value[side], 1e-12, 4e-16);
            for (int k = dpi_supports[f->support].discrete; k <= f->n_args; k++)
                near(f, p, k == 0 ? "slope in x" : f->arg_name[k - 1],
                     number_of(&t, t.slope[side][k]), p->slope[side][k], table->slope, lost);
        }
    }
    close_tails(&t);
}

static void probabilities_match_the_reference(void **state)
{
    (void)state;
    each_with_tails(check_reference);
}

/* ---- the density ---- */

typedef struct part {
    density d;
    const double *arg;
} part;

static double density_of(double x, void *user)
{
    part *p = user;
    return exp(density_at(&p->d, x, p->arg, NULL));
}

/* Of the numbers above `low` up to `high`. */
static double mass_between(part *p, double low, double high)
{
    if (p->d.of->cdf == NULL) {
        double sum = 0;
        for (double y = low + 1; y <= high; y++)
            sum += density_of(y, p);
        return sum;
    }
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
    gsl_function f = {density_of, p};
    double value = 0, error = 0;
    int status = gsl_integration_qags(&f, low, high, 1e-11, 1e-11, 1000, work, &value, &error);
    gsl_integration_workspace_free(work);
    if (status != GSL_SUCCESS)
        fail_msg("%s: %s", p->d.of->family->name, gsl_strerror(status));
    return value;
}

/* Between two draws lies the mass that both tails leave; and the slope in x is the density over
 * the probability. */
static void check_mass(const dpi_family *f)
{
    const dist_case *c = case_of(f);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    tails t;
    part p;
    open_tails(&t, f);
    density_open(&p.d, c, false);
    for (int k = 0; k < N_TRIED; k++)
        for (int draw = 0; draw < 8; draw++) {
            const double *arg[DPI_MAX_ARGS], one = inner_number(c, c->tried[k]);
            for (int a = 0; a < f->n_args; a++)
                arg[a] = &c->tried[k][a];
            double two = dpi_draw(f, rng, arg, 1), below[2], above[2];
            double end[2] = {fmin(one, two), fmax(one, two)};
            p.arg = c->tried[k];
            for (int e = 0; e < 2; e++) {
                run_tails(&t, end[e], p.arg);
                below[e] = exp(number_of(&t, t.value[0]));
                above[e] = exp(number_of(&t, t.value[1]));
                assert_close(below[e] + above[e], 1, 1e-12, 0);
                if (c->cdf == NULL)
                    continue;
                double height = density_of(end[e], &p);
                assert_close(number_of(&t, t.slope[0][0]) * below[e], height, 1e-10, 0);
                assert_close(-number_of(&t, t.slope[1][0]) * above[e], height, 1e-10, 0);
            }
            double mass = mass_between(&p, end[0], end[1]);
            assert_close(below[1] - below[0], mass, 1e-9, 1e-10);
            assert_close(above[0] - above[1], mass, 1e-9, 1e-10);
        }
    density_close(&p.d);
    close_tails(&t);
    (void)gsl_set_error_handler(handler);
    gsl_rng_free(rng);
}

static void probabilities_are_integrals_of_the_density(void **state)
{
    (void)state;
    each_with_tails(check_mass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_match_the_reference),
        cmocka_unit_test(probabilities_are_integrals_of_the_density),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
