#include "tests/graph/differences.h"

#include <math.h>
#include <stdlib.h>

/* Differences of 80-bit values leave about 1e-12. */
static const double tolerance = 1e-8;

static void fail_at(const world *w, const char *what, size_t element, double found, double expected)
{
    print_error("%s: %s, element %zu: %.17g, expected %.17g\n", w->text, what, element, found,
                expected);
    fail();
}

static double largest(size_t n, const long double *x)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = fabs((double)x[i]) > top ? fabs((double)x[i]) : top;
    return top;
}

/* One operation loses a few units in the last place; a chain of them, such as e^(a - y) far from 0,
 * more. */
double *checked_value(world *w, dpi_id id, double relative, const char *what)
{
    double *value;
    naive_run(w->e, id);
    world_run(w, 1, &id, POINT_RECORDS, &value);
    size_t n = naive_count(w->e, id);
    double scale = largest(n, naive_value(w->e, id));
    for (size_t i = 0; i < n; i++) {
        double expected = (double)naive_value(w->e, id)[i];
        if (!(fabs(value[i] - expected) <= relative * (fabs(expected) + 0.1 * scale)))
            fail_at(w, what, i, value[i], expected);
    }
    return value;
}

/* d root / d in by differences: [count of in], or for a root per record and a global input
 * [n][count of in]. */
static long double *differences(world *w, dpi_id root, dpi_id in)
{
    const dpi_shape *shape = &dpi_get(&w->g, in)->shape;
    bool root_records = dpi_get(&w->g, root)->shape.per_record;
    size_t size = dpi_shape_size(shape), n_in = naive_count(w->e, in), n = w->e->n;
    long double *slope = calloc(n * n_in, sizeof *slope),
                *direction = calloc(n_in, sizeof *direction);
    long double one[POINT_RECORDS], error[POINT_RECORDS];
    for (size_t i = 0; i < n_in; i++) {
        direction[i] = w->step != 0 ? w->step : fabsl(naive_value(w->e, in)[i]) + 1e-9L;
        naive_slope(w->e, root, 1, &in, (const long double *[]){direction}, 2e-3L, one, error);
        if (!root_records)
            slope[i] = one[0] / direction[i];
        else if (shape->per_record)
            slope[i] = one[i / size] / direction[i];
        else
            for (size_t r = 0; r < n; r++)
                slope[r * size + i] = one[r] / direction[i];
        direction[i] = 0;
    }
    free(direction);
    return slope;
}

static void compare(const world *w, const char *what, size_t n, const double *found,
                    const long double *expected)
{
    double scale = largest(n, expected);
    for (size_t i = 0; i < n; i++) {
        double x = found != NULL ? found[i] : 0;
        if (!(fabs(x - (double)expected[i]) <=
              tolerance * fabs((double)expected[i]) + 1e-10 * scale + 1e-15))
            fail_at(w, what, i, x, (double)expected[i]);
    }
}

void check_gradient(world *w, dpi_id root, const char *what, dpi_id *adjoint)
{
    assert_ok(dpi_gradient(&w->g, root, w->n_real, w->in, adjoint), w->err.text);
    for (size_t k = 0; k < w->n_real; k++) {
        bool records = dpi_get(&w->g, root)->shape.per_record;
        size_t n = naive_count(w->e, w->in[k]);
        n *= records && !dpi_get(&w->g, w->in[k])->shape.per_record ? w->e->n : 1;
        double *value = NULL;
        if (adjoint[k] != DPI_NONE) {
            const dpi_shape *shape = &dpi_get(&w->g, adjoint[k])->shape;
            assert_true(dpi_shape_same(shape, &dpi_get(&w->g, w->in[k])->shape));
            assert_int_equal(shape->per_record,
                             records || dpi_get(&w->g, w->in[k])->shape.per_record);
            value = checked_value(w, adjoint[k], 1e-11, "value of the adjoint");
        }
        long double *expected = differences(w, root, w->in[k]);
        compare(w, what, n, value, expected);
        free(expected);
        free(value);
    }
}

dpi_id adjoints_in_one(world *w, bool root_records, const dpi_id *adjoint)
{
    dpi_id q = DPI_NONE;
    for (size_t k = 0; k < w->n_real; k++) {
        if (adjoint[k] == DPI_NONE)
            continue;
        dpi_shape shape = dpi_get(&w->g, adjoint[k])->shape;
        bool sum = shape.per_record && !root_records;
        shape.per_record = false;
        dpi_id v = world_constant(w, (const char *[]){"v", "vv", "vvv", "vvvv"}[k % 4], shape,
                                  -1.713, 2.385);
        dpi_id term = dpi_sum(&w->g, dpi_times(&w->g, adjoint[k], v));
        if (sum)
            term = dpi_apply(&w->g, &dpi_op_sum_records, term, DPI_NONE, NULL);
        q = q == DPI_NONE ? term : dpi_add(&w->g, q, term);
    }
    return q;
}

/* sum_i u_i (gradient of record i) is the gradient of sum_i u_i p_i. */
static void check_record_sums(world *w, dpi_id u, const dpi_id *each, const dpi_id *total)
{
    for (size_t k = 0; k < w->n_real; k++) {
        assert_int_equal(each[k] == DPI_NONE, total[k] == DPI_NONE);
        if (each[k] == DPI_NONE)
            continue;
        bool records = dpi_get(&w->g, w->in[k])->shape.per_record;
        size_t size = dpi_shape_size(&dpi_get(&w->g, w->in[k])->shape);
        double *value[2];
        world_run(w, 1, &each[k], POINT_RECORDS, &value[0]);
        world_run(w, 1, &total[k], 2, &value[1]);
        for (size_t i = 0; i < (records ? POINT_RECORDS : 1) * size; i++) {
            double sum = 0, scale = 0;
            for (size_t r = records ? i / size : 0; r < (records ? i / size + 1 : POINT_RECORDS);
                 r++) {
                sum += (double)naive_value(w->e, u)[r] * value[0][r * size + i % size];
                scale += fabs(value[0][r * size + i % size]);
            }
            assert_close(value[1][i], sum, 1e-13, 1e-14 * scale);
        }
        free(value[0]);
        free(value[1]);
    }
}

void check_root(world *w, dpi_id root)
{
    dpi_id each[WORLD_INPUTS], total[WORLD_INPUTS], second[WORLD_INPUTS];
    bool records = dpi_get(&w->g, root)->shape.per_record;
    check_gradient(w, root, "derivative", each);
    dpi_id q = adjoints_in_one(w, records, each);
    if (q != DPI_NONE)
        check_gradient(w, q, "second derivative", second);
    if (!records)
        return;
    dpi_id u = world_input(w, "u", dpi_scalar(true), -2.713, 1.385);
    dpi_id t = dpi_apply(&w->g, &dpi_op_sum_records, dpi_times(&w->g, root, u), DPI_NONE, NULL);
    check_gradient(w, t, "derivative of the total", total);
    check_record_sums(w, u, each, total);
    q = adjoints_in_one(w, false, total);
    if (q != DPI_NONE)
        check_gradient(w, q, "second derivative of the total", second);
    assert_ok(w->err.status, w->err.text);
}
