#include "tests/dist/bijector.h"

#include <math.h>
#include <string.h>

void bijector_open(bijector *b, dpi_support_kind kind, size_t rows, size_t k)
{
    const dpi_support *support = &dpi_supports[kind];
    *b = (bijector){.n_free = support->rows->n_free(k)};
    dpi_graph_init(&b->g, &b->arena, &b->err);
    dpi_shape shape = {.n_dims = 1, .dim = {b->n_free}};
    if (rows > 1)
        assert_true(dpi_shape_prepend(&shape, rows, 0));
    b->z = dpi_source(&b->g, &dpi_op_input, "z", (dpi_attr){.shape = shape});
    b->x = support->constrain(&b->g, b->z, NULL);
    b->log_jacobian = support->log_jacobian(&b->g, b->z, NULL);
    assert_ok(b->err.status, b->err.text);
    assert_int_equal(dpi_shape_size(&dpi_get(&b->g, b->log_jacobian)->shape), rows);
    dpi_run_spec spec = {.graph = &b->g,
                         .wanted = (dpi_id[]){b->z, b->x, b->log_jacobian},
                         .n_wanted = 3,
                         .chunk = 1};
    assert_ok(dpi_run_new(&spec, &b->run, &b->err), b->err.text);
}

void bijector_close(bijector *b)
{
    dpi_run_free(b->run);
    dpi_arena_free(&b->arena);
}

const double *bijector_at(bijector *b, const double *z)
{
    size_t n = dpi_shape_size(&dpi_get(&b->g, b->z)->shape);
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

/* Column c of dx/dz, out[n_free]. */
static void differences(bijector *b, const size_t *at, const double *point, size_t c, double *out)
{
    double by[2][MOST_FREE] = {{0}}, z[MOST_FREE], h = 2e-2;
    for (int level = 0; level < 2; level++, h /= 2)
        for (int side = -1; side <= 1; side += 2) {
            memcpy(z, point, b->n_free * sizeof *z);
            z[c] += side * h;
            const double *x = bijector_at(b, z);
            for (size_t r = 0; r < b->n_free; r++)
                by[level][r] += side * x[at[r]] / (2 * h);
        }
    for (size_t r = 0; r < b->n_free; r++)
        out[r] = (4 * by[1][r] - by[0][r]) / 3;
}

void bijector_check(dpi_support_kind kind, size_t k, const size_t *at, const double *z, double off)
{
    bijector_check_part(kind, k, at, z, off, 0);
}

void bijector_check_part(dpi_support_kind kind, size_t k, const size_t *at, const double *z,
                         double off, double more)
{
    bijector b;
    double a[MOST_FREE * MOST_FREE], column[MOST_FREE], back[MOST_FREE];
    bijector_open(&b, kind, 1, k);
    assert_true(b.n_free <= MOST_FREE);
    dpi_supports[kind].rows->free(k, bijector_at(&b, z), back);
    double log_jacobian = *dpi_run_value(b.run, b.log_jacobian);
    for (size_t c = 0; c < b.n_free; c++) {
        assert_close(back[c], z[c], off, off);
        differences(&b, at, z, c, column);
        for (size_t r = 0; r < b.n_free; r++)
            a[r * b.n_free + c] = column[r];
    }
    assert_close(log(determinant(b.n_free, a)), log_jacobian + more, 0, 2e-7);
    bijector_close(&b);
}
