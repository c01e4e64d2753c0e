/* Unit vectors: K numbers x with |x| = 1, the bijector onto them and their even distribution, whose
 * density on the sphere is 1 over its area, 2 pi^(K / 2) / Gamma(K / 2).
 *
 * Stereographic, from the point that is opposite to the first axis: with s = |z|^2,
 *
 *   x_1 = (1 - s) / (1 + s), x_(k + 1) = 2 z_k / (1 + s), log |dx/dz| = (K - 1) log(2 / (1 + s)),
 *
 * |dx/dz| being that onto the sphere: the map keeps angles, and so stretches alike in all
 * directions.  z has K - 1 numbers and z = 0 is the first axis.  Even x are z of a t distribution
 * with K - 1 degrees of freedom and scale 1 / sqrt(K - 1).
 *
 * Not x = y / |y| of K normal numbers, although it treats all axes alike: there the density of y is
 * greatest at y = 0, which has no x and where derivatives are without bound, and records tell
 * nothing of |y|.  A climb to a mode ends in that hole, and means of draws lie near it, where the
 * next round of a fit with noise would ask. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "dist/matrix-rows.h"
#include "dist/support-rows.h"

/* Rows of K - 1 numbers with a 0 before each. */
static dpi_id behind_zero(dpi_graph *g, dpi_id rows)
{
    if (rows == DPI_NONE)
        return DPI_NONE;
    bool is_matrix = dpi_get(g, rows)->shape.n_dims == 2;
    dpi_id columns = is_matrix ? dpi_unary(g, &dpi_op_transpose, rows) : rows;
    if (columns == DPI_NONE)
        return DPI_NONE;
    dpi_shape longer = dpi_get(g, columns)->shape;
    const size_t n = longer.dim[0]++;
    const dpi_attr all = {.rows = n}, place = {.number = 1, .inner = n, .shape = longer};
    dpi_id taken = dpi_apply(g, &dpi_op_slice, columns, DPI_NONE, &all);
    dpi_id padded = dpi_apply(g, &dpi_op_pad, taken, DPI_NONE, &place);
    return is_matrix ? dpi_unary(g, &dpi_op_transpose, padded) : padded;
}

/* 1 + |z|^2. */
static dpi_id above_one(dpi_graph *g, dpi_id z)
{
    return dpi_add(g, dpi_rows_squared(g, z), dpi_constant(g, 1));
}

/* (2 / (1 + s)) (1, z) - (1, 0): of a z that is far off the first axis with a minus. */
dpi_id dpi_unit_vector_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    if (z == DPI_NONE)
        return DPI_NONE;
    const size_t k = (size_t)dpi_row_size(g, z) + 1;
    const dpi_shape vector = {.n_dims = 1, .dim = {k}};
    const dpi_attr at_first = {.number = 0, .inner = 1, .shape = vector};
    dpi_id axis = dpi_apply(g, &dpi_op_pad, dpi_constant(g, 1), DPI_NONE, &at_first);
    dpi_id scale = dpi_div(g, dpi_constant(g, 2), above_one(g, z));
    dpi_id others = behind_zero(g, dpi_times(g, z, dpi_spread_over(g, scale, z)));
    if (others == DPI_NONE)
        return DPI_NONE;
    dpi_id first = dpi_spread_over(g, dpi_sub(g, scale, dpi_constant(g, 1)), others);
    return dpi_add(g, others, dpi_times(g, first, axis));
}

dpi_id dpi_unit_vector_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    const double n = dpi_row_size(g, z);
    dpi_id shrink = dpi_scale(g, -n, dpi_unary(g, &dpi_op_log, above_one(g, z)));
    return dpi_add(g, shrink, dpi_constant(g, n * M_LN2));
}

static size_t n_free(size_t n)
{
    return n - 1;
}

static double length_of(size_t n, const double *x)
{
    double length = 0;
    for (size_t k = 0; k < n; k++)
        length = hypot(length, x[k]);
    return length;
}

static const char *wrong(size_t n, const double *x, double off)
{
    return fabs(length_of(n, x) - 1) <= off ? NULL : "the numbers are not a vector of length 1";
}

/* How far away the point is that no z reaches. */
static const double far_off = 1e150;

/* z = x_(k + 1) / (1 + x_1), which is x_(k + 1) (1 - x_1) over the square of the other numbers'
 * length where x_1 is near -1. */
static void to_free(size_t n, const double *x, double *z)
{
    const double length = length_of(n - 1, x + 1);
    for (size_t k = 0; k + 1 < n; k++)
        z[k] = x[0] > 0 ? x[k + 1] / (1 + x[0]) : x[k + 1] / length * ((1 - x[0]) / length);
    if (x[0] <= 0 && !(length > 1 / far_off))
        for (size_t k = 0; k + 1 < n; k++)
            z[k] = k == 0 ? far_off : 0;
}

const dpi_row_support dpi_unit_vector_row = {n_free, wrong, to_free, "divide them by their length",
                                             false};

/* One number for each row, although it depends on none of x. */
static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    (void)arg;
    if (x == DPI_NONE)
        return DPI_NONE;
    double k = dpi_row_size(g, x);
    dpi_shape rows = dpi_get(g, x)->shape;
    rows.n_dims--;
    dpi_id value = dpi_constant(g, lgamma(0.5 * k) - M_LN2 - 0.5 * k * M_LNPI);
    return rows.n_dims > 0 || rows.per_record ? dpi_expand(g, value, rows) : value;
}

static void draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                 double *out)
{
    (void)arg;
    (void)arg_size;
    double length = 0;
    while (!(length > 0)) {
        for (size_t k = 0; k < n; k++)
            out[k] = gsl_ran_gaussian(rng, 1);
        length = length_of(n, out);
    }
    for (size_t k = 0; k < n; k++)
        out[k] /= length;
}

const dpi_family dpi_unit_vector = {
    .name = "unit_vector",
    .formula = "log Gamma(K / 2) - log 2 - K / 2 log(pi)",
    .support = DPI_UNIT_VECTOR,
    .log_density = log_density,
    .draw_joint = draw,
    .no_mean = "the mean of a unit vector is no unit vector",
};
