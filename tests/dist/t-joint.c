/* Families whose value has one density for several numbers: Dirichlet, and the mixtures.
 *
 * Statistical tests are by Massart's bound, as in t-draw: 2 e^(-2 n d^2) is 1e-11 for each of the 40
 * comparisons here, together less than 1e-9; seeds are fixed. */
#include "dist/family.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/run.h"
#include "graph/gradient.h"
#include "random/gsl.h"
#include "tests/dist/cases.h"

enum { MOST_X = 4, MOST_TOTAL = 24 };

/* x, then the arguments one after the other; value and derivatives in the same order. */
struct joint_point {
    const char *family;
    size_t n_x;
    const char *shape[DPI_MAX_ARGS]; /* "", "3" or "3x2" */
    double number[MOST_TOTAL], value, slope[MOST_TOTAL];
};

#include "tests/dist/reference-joint.h"

static const double mixed[] = {0.3, 0.7};

static const dpi_family *family_of(const struct joint_point *p)
{
    for (size_t i = 0; i < dpi_n_mixtures; i++)
        if (strcmp(dpi_mixtures[i]->component->name, p->family) == 0)
            return dpi_mixtures[i];
    assert_string_equal(p->family, dpi_dirichlet.name);
    return &dpi_dirichlet;
}

static dpi_shape shape_of(const char *text)
{
    dpi_shape shape = dpi_scalar(false);
    for (; *text != 0; text += strlen(text) > 1 ? 2 : 1)
        shape.dim[shape.n_dims++] = (size_t)(*text - '0');
    return shape;
}

/* ---- a density that is run at given numbers ---- */

typedef struct joint {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id in[1 + DPI_MAX_ARGS], slope[1 + DPI_MAX_ARGS], value;
    size_t n_in, size[1 + DPI_MAX_ARGS];
    dpi_run *run;
} joint;

static void add_input(joint *j, dpi_shape shape)
{
    j->size[j->n_in] = dpi_shape_size(&shape);
    j->in[j->n_in++] = dpi_source(&j->g, &dpi_op_input, "in", (dpi_attr){.shape = shape});
}

/* With x of n_x numbers, on the free numbers of a simplex instead where `on_line`. */
static void open(joint *j, const dpi_family *f, size_t n_x, const char *const shape[], bool on_line)
{
    dpi_id wanted[2 * (1 + DPI_MAX_ARGS) + 1];
    size_t n = 0;
    *j = (joint){0};
    dpi_graph_init(&j->g, &j->arena, &j->err);
    dpi_shape of_x = dpi_vector(n_x, false);
    if (on_line)
        of_x = (dpi_shape){.n_dims = 1, .dim = {n_x - 1}};
    add_input(j, of_x);
    for (int k = 0; k < f->n_args; k++)
        add_input(j, shape_of(shape[k]));
    const dpi_support *support = &dpi_supports[f->support];
    dpi_id x = on_line ? support->constrain(&j->g, j->in[0], NULL) : j->in[0];
    j->value = f->log_density(&j->g, x, j->in + 1);
    if (on_line)
        j->value = dpi_add(&j->g, j->value, support->log_jacobian(&j->g, j->in[0], NULL));
    assert_ok(j->err.status, j->err.text);
    assert_int_equal(dpi_get(&j->g, j->value)->shape.n_dims, 0);
    assert_ok(dpi_gradient(&j->g, j->value, j->n_in, j->in, j->slope), j->err.text);
    wanted[n++] = j->value;
    for (size_t k = 0; k < j->n_in; k++) {
        wanted[n++] = j->in[k];
        if (j->slope[k] != DPI_NONE)
            wanted[n++] = j->slope[k];
    }
    dpi_run_spec spec = {.graph = &j->g, .wanted = wanted, .n_wanted = n, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &j->run, &j->err), j->err.text);
}

static void close(joint *j)
{
    dpi_run_free(j->run);
    dpi_arena_free(&j->arena);
}

/* The log density at x and arguments one after the other; slope is nullable. */
static double at(joint *j, const double *number, double *slope)
{
    for (size_t k = 0, from = 0; k < j->n_in; from += j->size[k++])
        memcpy(dpi_run_value(j->run, j->in[k]), number + from, j->size[k] * sizeof *number);
    dpi_run_globals(j->run);
    for (size_t k = 0, from = 0; slope != NULL && k < j->n_in; from += j->size[k++])
        for (size_t e = 0; e < j->size[k]; e++)
            slope[from + e] = j->slope[k] == DPI_NONE ? 0 : dpi_run_value(j->run, j->slope[k])[e];
    return *dpi_run_value(j->run, j->value);
}

/* ---- tables ---- */

static void mixtures_repeat_the_rows_of_their_components(void **state)
{
    (void)state;
    assert_int_equal(dpi_n_mixtures, 13);
    for (size_t i = 0; i < dpi_n_mixtures; i++) {
        const dpi_family *m = dpi_mixtures[i], *c = m->component;
        assert_ptr_equal(dpi_mixture_of(c), m);
        assert_true(strstr(m->name, c->name) != NULL && m->support == c->support);
        assert_true(m->log_density != NULL && m->draw_joint != NULL && m->draw == NULL);
        assert_int_equal(m->n_args, c->n_args + 1);
        assert_string_equal(m->arg_name[0], "weights");
        assert_true(m->arg_domain[0] == DPI_POSITIVE);
        for (int k = 0; k < c->n_args; k++) {
            assert_string_equal(m->arg_name[k + 1], c->arg_name[k]);
            assert_true(m->arg_domain[k + 1] == c->arg_domain[k]);
        }
    }
}

static void every_family_has_a_mixture_or_is_refused(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t i = 0; i < dpi_n_families; i++)
        refused += dpi_mixture_of(dpi_families[i])->refused != NULL;
    assert_int_equal(refused + dpi_n_mixtures, dpi_n_families);
    assert_non_null(dpi_mixture_of(&dpi_uniform)->refused);
    assert_non_null(dpi_mixture_of(&dpi_binomial_logit)->refused);
    assert_non_null(dpi_mixture_of(&dpi_categorical_logit)->refused);
    assert_non_null(dpi_mixture_of(&dpi_chance_logit)->refused);
    assert_non_null(dpi_mixture_of(&dpi_dirichlet)->refused);
    assert_non_null(dpi_mixture_of(dpi_mixtures[0])->refused);
    assert_non_null(dpi_mixture_of(NULL)->refused);
}

/* ---- densities ---- */

static void near(size_t point, size_t k, double found, double wanted, double relative,
                 double absolute)
{
    if (!(fabs(found - wanted) <= absolute + relative * fabs(wanted)))
        print_error("%s, point %zu, number %zu\n", joint_points[point].family, point, k);
    assert_close(found, wanted, relative, absolute);
}

static void values_and_gradients_match_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joint_points / sizeof joint_points[0]; i++) {
        const struct joint_point *p = &joint_points[i];
        const dpi_family *f = family_of(p);
        double slope[MOST_TOTAL];
        joint j;
        open(&j, f, p->n_x, p->shape, false);
        near(i, 0, at(&j, p->number, slope), p->value, 1e-13, 1e-14);
        size_t from = dpi_supports[f->support].discrete ? p->n_x : 0, to = 0;
        for (size_t k = 0; k < j.n_in; k++)
            to += j.size[k];
        /* A share of a component is e^ a difference of log densities, and has their rounding. */
        for (size_t k = from; k < to; k++)
            near(i, k, slope[k], p->slope[k], 1e-12 + 1e-15 * fabs(p->value), 1e-14);
        close(&j);
    }
}

/* Two components at the first two arguments that the family's own tests try: x, weights, arguments. */
static void mix_tried(const dpi_family *m, double x, double number[])
{
    const dist_case *c = case_of(m->component);
    number[0] = x;
    memcpy(number + 1, mixed, sizeof mixed);
    for (int k = 0; k < m->component->n_args; k++)
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
    return exp(at(u->j, number, NULL));
}

static double total_mass(mass *u, gsl_integration_workspace *work)
{
    gsl_function f = {density_of, u};
    const dist_case *c = case_of(u->m->component);
    double value = 0, error = 0, exact = 1e-9;
    if (c->cdf == NULL) {
        double top = fmax(c->top(c->tried[0]), c->top(c->tried[1]));
        for (double x = 0; x <= top; x++)
            value += density_of(x, u);
        return value;
    }
    int status = u->m->support == DPI_REAL
                     ? gsl_integration_qagi(&f, exact, exact, 1000, work, &value, &error)
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
    for (size_t i = 0; i < dpi_n_mixtures; i++) {
        const dist_case *c = case_of(dpi_mixtures[i]->component);
        double x = dpi_supports[c->family->support].discrete ? 1 : 0.41739, sum = 0;
        density d;
        joint j;
        mass u = {&j, dpi_mixtures[i]};
        density_open(&d, c, false);
        open(&j, dpi_mixtures[i], 1, pairs, false);
        for (int k = 0; k < 2; k++)
            sum += mixed[k] * exp(density_at(&d, x, c->tried[k], NULL));
        assert_close(density_of(x, &u), sum, 1e-14, 0);
        assert_close(total_mass(&u, work), 1, 1e-8, 0);
        close(&j);
        density_close(&d);
    }
    (void)gsl_set_error_handler(handler);
    gsl_integration_workspace_free(work);
}

/* By the trapezium rule, whose error for smooth functions on the plane falls faster than any power of
 * the step. */
static void a_mixture_in_the_plane_normalises(void **state)
{
    (void)state;
    joint j;
    double sum = 0, step = 0.15, number[] = {0, 0, 0.3, 0.7, -1.1, 0.4, 0.9, -0.2, 0.6, 0.8};
    open(&j, dpi_mixture_of(&dpi_normal), 2, (const char *[]){"2", "2x2", "2"}, false);
    for (number[0] = -9; number[0] < 9; number[0] += step)
        for (number[1] = -9; number[1] < 9; number[1] += step)
            sum += exp(at(&j, number, NULL)) * step * step;
    assert_close(sum, 1, 1e-10, 0);
    close(&j);
}

/* Components out of sight and without weight change nothing, to the bit of the derivatives. */
static void far_points_and_small_weights_stay_finite(void **state)
{
    (void)state;
    static const double far[] = {0.7, 1e3, -1e8, 1e100, -1e150}, small[] = {0.3, 1e-30, DBL_MIN};
    joint j;
    open(&j, dpi_mixture_of(&dpi_normal), 2, (const char *[]){"2", "2x2", "2"}, false);
    for (size_t f = 0; f < sizeof far / sizeof far[0]; f++)
        for (size_t s = 0; s < sizeof small / sizeof small[0]; s++) {
            double number[] = {far[f], 0.3, small[s], 1 - small[s], -1, 0.4, 0.9, -0.2, 0.6, 0.8};
            double slope[MOST_TOTAL];
            assert_true(isfinite(at(&j, number, slope)));
            for (size_t k = 0; k < sizeof number / sizeof number[0]; k++)
                assert_true(isfinite(slope[k]));
        }
    close(&j);
}

/* ---- the simplex ---- */

typedef struct bijector {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id z, x, log_jacobian;
    dpi_run *run;
} bijector;

static void open_simplex(bijector *b, size_t rows, size_t k)
{
    *b = (bijector){0};
    dpi_graph_init(&b->g, &b->arena, &b->err);
    dpi_shape shape = {.n_dims = 1, .dim = {k - 1}};
    if (rows > 1)
        assert_true(dpi_shape_prepend(&shape, rows, 0));
    b->z = dpi_source(&b->g, &dpi_op_input, "z", (dpi_attr){.shape = shape});
    b->x = dpi_supports[DPI_SIMPLEX].constrain(&b->g, b->z, NULL);
    b->log_jacobian = dpi_supports[DPI_SIMPLEX].log_jacobian(&b->g, b->z, NULL);
    assert_ok(b->err.status, b->err.text);
    assert_int_equal(dpi_shape_size(&dpi_get(&b->g, b->log_jacobian)->shape), rows);
    dpi_run_spec spec = {.graph = &b->g,
                         .wanted = (dpi_id[]){b->z, b->x, b->log_jacobian},
                         .n_wanted = 3,
                         .chunk = 1};
    assert_ok(dpi_run_new(&spec, &b->run, &b->err), b->err.text);
}

static void close_simplex(bijector *b)
{
    dpi_run_free(b->run);
    dpi_arena_free(&b->arena);
}

static const double *simplex_at(bijector *b, size_t n, const double *z)
{
    memcpy(dpi_run_value(b->run, b->z), z, n * sizeof *z);
    dpi_run_globals(b->run);
    return dpi_run_value(b->run, b->x);
}

/* |det| of a small matrix, by elimination with pivots; a is lost. */
static double determinant(size_t n, double *a)
{
    double product = 1;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c; r < n; r++)
            best = fabs(a[r * n + c]) > fabs(a[best * n + c]) ? r : best;
        for (size_t k = 0; k < n; k++) {
            double kept = a[c * n + k];
            a[c * n + k] = a[best * n + k];
            a[best * n + k] = kept;
        }
        product *= a[c * n + c];
        for (size_t r = c + 1; r < n; r++)
            for (size_t k = n; k-- > c;)
                a[r * n + k] -= a[c * n + k] * a[r * n + c] / a[c * n + c];
    }
    return fabs(product);
}

/* dx_1 ... dx_(K - 1) / dz by extrapolated differences. */
static void the_jacobian_of_the_simplex_matches_differences(void **state)
{
    (void)state;
    static const double points[][3] = {{0.713, -1.391, 0.217}, {-2.1, 3.7, 0.9}, {0, 0, 0}};
    for (size_t k = 2; k <= 4; k++)
        for (size_t p = 0; p < 3; p++) {
            bijector b;
            size_t n = k - 1;
            double a[9], log_jacobian;
            open_simplex(&b, 1, k);
            (void)simplex_at(&b, n, points[p]);
            log_jacobian = *dpi_run_value(b.run, b.log_jacobian);
            for (size_t c = 0; c < n; c++) {
                double by[2][3] = {{0}}, z[3], h = 2e-2;
                for (int level = 0; level < 2; level++, h /= 2)
                    for (int side = -1; side <= 1; side += 2) {
                        memcpy(z, points[p], sizeof z);
                        z[c] += side * h;
                        const double *x = simplex_at(&b, n, z);
                        for (size_t r = 0; r < n; r++)
                            by[level][r] += side * x[r] / (2 * h);
                    }
                for (size_t r = 0; r < n; r++)
                    a[r * n + c] = (4 * by[1][r] - by[0][r]) / 3;
            }
            assert_close(log(determinant(n, a)), log_jacobian, 0, 1e-7);
            close_simplex(&b);
        }
}

static void the_simplex_is_even_at_zero_and_treats_all_alike(void **state)
{
    (void)state;
    bijector b;
    open_simplex(&b, 1, 5);
    const double *x = simplex_at(&b, 4, (double[4]){0});
    for (size_t k = 0; k < 5; k++)
        assert_close(x[k], 0.2, 2e-15, 0);
    /* An isometry: the logarithms of x, less their mean, are as long as z. */
    const double z[4] = {0.713, -1.391, 0.217, 2.1};
    double mean = 0, square = 0, length = 0;
    x = simplex_at(&b, 4, z);
    for (size_t k = 0; k < 5; k++)
        mean += log(x[k]) / 5;
    for (size_t k = 0; k < 5; k++)
        square += (log(x[k]) - mean) * (log(x[k]) - mean);
    for (size_t k = 0; k < 4; k++)
        length += z[k] * z[k];
    assert_close(square, length, 1e-13, 0);
    close_simplex(&b);
}

static void the_simplex_is_not_left_however_far_z_is(void **state)
{
    (void)state;
    bijector b;
    open_simplex(&b, 3, 4);
    for (double scale = 1; scale < 1e6; scale *= 3)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double z[9] = {sign * scale, 0.7 * scale, 0, 0, 0, scale * sign, -scale, 1, 0.3};
            const double *x = simplex_at(&b, 9, z);
            for (size_t r = 0; r < 3; r++) {
                double sum = 0;
                for (size_t k = 0; k < 4; k++) {
                    assert_true(dpi_supports[DPI_SIMPLEX].contains(x[4 * r + k], 0, 0));
                    sum += x[4 * r + k];
                }
                assert_close(sum, 1, 0, 1e-15 * fmax(1, scale));
                assert_true(isfinite(dpi_run_value(b.run, b.log_jacobian)[r]));
            }
        }
    close_simplex(&b);
}

/* With the Jacobian, over the plane of z; and two categories are a Beta number. */
static void dirichlet_normalises_on_its_free_numbers(void **state)
{
    (void)state;
    joint j;
    double step = 0.1, sum = 0, number[] = {0, 0, 1.7, 2.3, 0.9};
    open(&j, &dpi_dirichlet, 3, (const char *[]){"3"}, true);
    for (number[0] = -40; number[0] < 40; number[0] += step)
        for (number[1] = -40; number[1] < 40; number[1] += step)
            sum += exp(at(&j, number, NULL)) * step * step;
    assert_close(sum, 1, 1e-9, 0);
    close(&j);
    density d;
    double share[] = {0.317, 0.683, 2.71, 1.93};
    density_open(&d, case_of(&dpi_beta), false);
    open(&j, &dpi_dirichlet, 2, (const char *[]){"2"}, false);
    assert_close(at(&j, share, NULL), density_at(&d, share[0], share + 2, NULL), 1e-14, 0);
    close(&j);
    density_close(&d);
}

/* ---- draws ---- */

enum { N_DRAWS = 100000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double worst_allowed(void)
{
    return sqrt(log(2 / 1e-11) / (2.0 * N_DRAWS));
}

static gsl_rng source_of(uint64_t seed, dp_rng **rng)
{
    dp_error err = {0};
    assert_ok(dp_rng_new(seed, rng, &err), err.text);
    return dpi_rng_gsl(*rng);
}

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
    for (size_t i = 0; i < dpi_n_mixtures; i++) {
        const dist_case *c = case_of(dpi_mixtures[i]->component);
        double distance = 0;
        draw_mixture(dpi_mixtures[i], 31 * i + 5, x);
        qsort(x, N_DRAWS, sizeof *x, ascending);
        for (size_t n = 0; n < N_DRAWS; n++)
            if (n + 1 == N_DRAWS || x[n + 1] > x[n])
                distance = fmax(distance, fabs(mixed_cdf(c, x[n]) - (double)(n + 1) / N_DRAWS));
        if (!(distance <= worst_allowed()))
            fail_msg("%s: distance %g", dpi_mixtures[i]->name, distance);
    }
    dpi_free(x);
}

static void numbers_of_one_value_come_from_one_component(void **state)
{
    (void)state;
    const double weights[] = {1, 3}, loc[] = {-100, 200, 100, -200}, scale[] = {1, 0.001};
    const double *const arg[] = {weights, loc, scale};
    const size_t size[] = {2, 4, 2};
    dp_rng *rng;
    gsl_rng source = source_of(3, &rng);
    double second = 0, tight = 0;
    for (int i = 0; i < 20000; i++) {
        double x[2];
        dpi_draw_site(dpi_mixture_of(&dpi_normal), &source, arg, size, 2, 2, x);
        assert_true(x[0] < 0 ? fabs(x[0] + 100) < 10 && fabs(x[1] - 200) < 10
                             : fabs(x[0] - 100) < 0.01 && fabs(x[1] + 200) < 0.01);
        second += x[0] > 0;
        tight += x[0] > 0 && fabs(x[0] - 100) < 0.001;
    }
    /* 6.2 standard errors: 6e-10. */
    assert_close(second / 20000, 0.75, 0, 6.2 * sqrt(0.75 * 0.25 / 20000));
    assert_close(tight / second, 0.6827, 0, 6.2 * sqrt(0.25 / second));
    dp_rng_free(rng);
}

static void dirichlet_draws_have_beta_margins(void **state)
{
    (void)state;
    static const double tried[][3] = {{0.713, 2.39, 11.7}, {0.05, 0.02, 0.11}, {1, 1, 1}};
    double *x = dpi_alloc((size_t)3 * N_DRAWS, sizeof *x), *margin = dpi_alloc(N_DRAWS, sizeof *x);
    for (size_t t = 0; t < 3; t++) {
        const double *const arg[] = {tried[t]};
        dp_rng *rng;
        gsl_rng source = source_of(71 + t, &rng);
        double all = tried[t][0] + tried[t][1] + tried[t][2];
        dpi_draw_site(&dpi_dirichlet, &source, arg, (const size_t[]){3}, (size_t)3 * N_DRAWS, 3, x);
        for (size_t k = 0; k < 3; k++) {
            double distance = 0, a = tried[t][k];
            for (size_t i = 0; i < N_DRAWS; i++) {
                margin[i] = x[3 * i + k];
                assert_close(x[3 * i] + x[3 * i + 1] + x[3 * i + 2], 1, 0, 1e-15);
                assert_true(margin[i] > 0 && margin[i] < 1);
            }
            qsort(margin, N_DRAWS, sizeof *margin, ascending);
            for (size_t i = 0; i < N_DRAWS; i++) {
                /* Numbers next to 0 and 1 are where rounding puts all that lies closer. */
                if (margin[i] <= 1e-300 || margin[i] >= 1 - 1e-15)
                    continue;
                double f = gsl_cdf_beta_P(margin[i], a, all - a);
                distance =
                    fmax(distance, fmax(f - (double)i / N_DRAWS, (double)(i + 1) / N_DRAWS - f));
            }
            if (!(distance <= worst_allowed()))
                fail_msg("margin %zu of case %zu: distance %g", k, t, distance);
        }
        dp_rng_free(rng);
    }
    dpi_free(x);
    dpi_free(margin);
}

static void rows_of_dirichlet_arguments_keep_to_their_rows(void **state)
{
    (void)state;
    const double a[] = {1e4, 1, 1e4, 1e4},
                 one[] = {1e-300}, *const rows[] = {a}, *const same[] = {one};
    double x[6];
    dp_rng *rng;
    gsl_rng source = source_of(9, &rng);
    dpi_draw_site(&dpi_dirichlet, &source, rows, (const size_t[]){4}, 4, 2, x);
    assert_true(x[0] > 0.99 && x[1] < 0.01 && fabs(x[2] - 0.5) < 0.1 && fabs(x[3] - 0.5) < 0.1);
    dpi_draw_site(&dpi_dirichlet, &source, same, (const size_t[]){1}, 6, 3, x);
    for (size_t i = 0; i < 6; i++)
        assert_true(x[i] == DBL_MIN || x[i] == 1 - DBL_EPSILON / 2);
    dp_rng_free(rng);
}

static void impossible_arguments_draw_nan(void **state)
{
    (void)state;
    const double loc[] = {0, 1}, one[] = {1};
    static const double bad[][2] = {{NAN, 1}, {-1, 2}, {0, 0}, {INFINITY, 1}};
    dp_rng *rng;
    gsl_rng source = source_of(1, &rng);
    for (size_t i = 0; i < 4; i++) {
        double x[2] = {0};
        dpi_draw_site(dpi_mixture_of(&dpi_normal), &source, (const double *[]){bad[i], loc, one},
                      (const size_t[]){2, 2, 1}, 1, 1, x);
        assert_true(isnan(x[0]));
        dpi_draw_site(&dpi_dirichlet, &source, (const double *[]){bad[i]}, (const size_t[]){2}, 2,
                      2, x);
        assert_true(isnan(x[0]) && isnan(x[1]));
    }
    dp_rng_free(rng);
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

/* Density and bijector with `allowed` allocations; the status. */
static dp_status build(const dpi_family *f, size_t allowed)
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    allocations_left = allowed;
    dpi_graph_init(&g, &arena, &err);
    bool rows = dpi_supports[f->support].rows;
    dpi_attr vector = {.shape = dpi_vector(3, false)};
    dpi_id z = dpi_source(&g, &dpi_op_input, "z", vector), arg[DPI_MAX_ARGS];
    for (int k = 0; k < DPI_MAX_ARGS; k++) {
        dpi_shape shape = dpi_vector(rows ? 4 : 2, false);
        arg[k] = dpi_source(&g, &dpi_op_input, "arg", (dpi_attr){.shape = shape});
    }
    dpi_id x = rows ? dpi_supports[f->support].constrain(&g, z, arg) : z;
    dpi_id jacobian = rows ? dpi_supports[f->support].log_jacobian(&g, z, arg) : z;
    dpi_id value = f->log_density(&g, x, arg);
    allocations_left = SIZE_MAX;
    assert_true((err.status == DP_OK) == (x >= 0 && jacobian >= 0 && value >= 0));
    dpi_arena_free(&arena);
    return err.status;
}

static void running_out_of_memory_gives_no_node(void **state)
{
    (void)state;
    for (size_t i = 0; i <= dpi_n_mixtures; i++) {
        const dpi_family *f = i < dpi_n_mixtures ? dpi_mixtures[i] : &dpi_dirichlet;
        size_t allowed = 0;
        while (build(f, allowed) == DP_ENOMEM)
            assert_true(++allowed < 1000);
        assert_true(allowed > 0);
        assert_int_equal(build(f, allowed), DP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures_repeat_the_rows_of_their_components),
        cmocka_unit_test(every_family_has_a_mixture_or_is_refused),
        cmocka_unit_test(values_and_gradients_match_the_reference),
        cmocka_unit_test(mixtures_normalise_and_are_sums_of_densities),
        cmocka_unit_test(a_mixture_in_the_plane_normalises),
        cmocka_unit_test(far_points_and_small_weights_stay_finite),
        cmocka_unit_test(the_jacobian_of_the_simplex_matches_differences),
        cmocka_unit_test(the_simplex_is_even_at_zero_and_treats_all_alike),
        cmocka_unit_test(the_simplex_is_not_left_however_far_z_is),
        cmocka_unit_test(dirichlet_normalises_on_its_free_numbers),
        cmocka_unit_test(mixtures_draw_from_their_density),
        cmocka_unit_test(numbers_of_one_value_come_from_one_component),
        cmocka_unit_test(dirichlet_draws_have_beta_margins),
        cmocka_unit_test(rows_of_dirichlet_arguments_keep_to_their_rows),
        cmocka_unit_test(impossible_arguments_draw_nan),
        cmocka_unit_test(running_out_of_memory_gives_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
