#include "tests/dist/joint.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "random/gsl.h"

const dpi_family *row_of(dpi_arena *arena, dpi_form_code form, const dpi_family *base)
{
    dpi_no_form wrong;
    const dp_dist dist = {.family = base, .form = {(unsigned char)form}};
    return dpi_dist_family(arena, &dist, &wrong);
}

const dpi_family *row_named(dpi_arena *arena, const char *name)
{
    dpi_no_form wrong;
    dp_dist dist;
    return dpi_form_named(name, &dist) ? dpi_dist_family(arena, &dist, &wrong) : NULL;
}

static dpi_shape shape_of(const char *text)
{
    dpi_shape shape = dpi_scalar(false);
    for (; *text != 0; text += strlen(text) > 1 ? 2 : 1)
        shape.dim[shape.n_dims++] = (size_t)(*text - '0');
    return shape;
}

static void add_input(joint *j, dpi_shape shape)
{
    j->size[j->n_in] = dpi_shape_size(&shape);
    j->in[j->n_in++] = dpi_source(&j->g, &dpi_op_input, "in", (dpi_attr){.shape = shape});
}

void joint_open(joint *j, const dpi_family *f, size_t n_x, const char *const shape[], bool on_line)
{
    dpi_id wanted[2 * (1 + DPI_MAX_ARGS) + 1];
    size_t n_wanted = 0;
    *j = (joint){0};
    dpi_graph_init(&j->g, &j->arena, &j->err);
    const dpi_row_support *rows = dpi_supports[f->support].rows;
    bool is_matrix = rows != NULL && rows->is_matrix;
    size_t n = is_matrix ? (size_t)lround(sqrt((double)n_x)) : n_x;
    dpi_shape of_x = is_matrix ? (dpi_shape){.n_dims = 2, .dim = {n, n}} : dpi_vector(n, false);
    if (on_line)
        of_x = (dpi_shape){.n_dims = 1, .dim = {rows->n_free(n)}};
    add_input(j, of_x);
    for (int k = 0; k < f->n_args; k++)
        add_input(j, shape_of(shape[k]));
    const dpi_support *support = &dpi_supports[f->support];
    dpi_id x = on_line ? support->constrain(&j->g, j->in[0], NULL) : j->in[0];
    j->value = dpi_family_log_density(f, &j->g, x, j->in + 1);
    if (on_line)
        j->value = dpi_add(&j->g, j->value, support->log_jacobian(&j->g, j->in[0], NULL));
    assert_ok(j->err.status, j->err.text);
    assert_int_equal(dpi_get(&j->g, j->value)->shape.n_dims, 0);
    assert_ok(dpi_gradient(&j->g, j->value, j->n_in, j->in, j->slope), j->err.text);
    wanted[n_wanted++] = j->value;
    for (size_t k = 0; k < j->n_in; k++) {
        wanted[n_wanted++] = j->in[k];
        if (j->slope[k] != DPI_NONE)
            wanted[n_wanted++] = j->slope[k];
    }
    dpi_run_spec spec = {.graph = &j->g, .wanted = wanted, .n_wanted = n_wanted, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &j->run, &j->err), j->err.text);
}

void joint_close(joint *j)
{
    dpi_run_free(j->run);
    dpi_arena_free(&j->arena);
}

double joint_at(joint *j, const double *number, double *slope)
{
    for (size_t k = 0, from = 0; k < j->n_in; from += j->size[k++])
        memcpy(dpi_run_value(j->run, j->in[k]), number + from, j->size[k] * sizeof *number);
    dpi_run_globals(j->run);
    for (size_t k = 0, from = 0; slope != NULL && k < j->n_in; from += j->size[k++])
        for (size_t e = 0; e < j->size[k]; e++)
            slope[from + e] = j->slope[k] == DPI_NONE ? 0 : dpi_run_value(j->run, j->slope[k])[e];
    return *dpi_run_value(j->run, j->value);
}

gsl_rng source_of(uint64_t seed, dp_rng **rng)
{
    dp_error err = {0};
    assert_ok(dp_rng_new(seed, rng, &err), err.text);
    return dpi_rng_gsl(*rng);
}

double distance_allowed(void)
{
    return sqrt(log(2 / 1e-11) / (2.0 * N_DRAWS));
}

void assert_drawn_from(double *x, double (*cdf)(double x, const double *arg), const double *arg)
{
    double distance = 0;
    gsl_sort(x, 1, N_DRAWS);
    for (size_t i = 0; i < N_DRAWS; i++) {
        double f = cdf(x[i], arg);
        distance = fmax(distance, fmax(f - (double)i / N_DRAWS, (double)(i + 1) / N_DRAWS - f));
    }
    if (!(distance <= distance_allowed()))
        fail_msg("the empirical distribution function is off by %g", distance);
}
