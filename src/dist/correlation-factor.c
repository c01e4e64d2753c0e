/* The bijector onto Cholesky factors of correlation matrices, and back; the formulas are in
 * support.h. */
#include <float.h>
#include <math.h>

#include "dist/support-rows.h"

static size_t n_free(size_t n)
{
    return n * (n - 1) / 2;
}

/* n of n (n - 1) / 2 numbers. */
static size_t size_for(size_t free)
{
    size_t n = 2;
    while (n_free(n) < free)
        n++;
    return n;
}

/* z below the diagonal of a matrix [n][n] of zeros: row i has i numbers of z. */
static dpi_id below_diagonal(dpi_graph *g, dpi_id z, size_t n)
{
    const dpi_shape flat = {.n_dims = 1, .dim = {n * n}}, square = {.n_dims = 2, .dim = {n, n}};
    dpi_id sum = DPI_NONE;
    for (size_t i = 1; i < n; i++) {
        const dpi_attr part = {.number = n_free(i), .rows = i};
        const dpi_attr place = {.number = i * n, .inner = i, .shape = flat};
        dpi_id row = dpi_apply(g, &dpi_op_slice, z, DPI_NONE, &part);
        dpi_id placed = dpi_apply(g, &dpi_op_pad, row, DPI_NONE, &place);
        sum = i == 1 ? placed : dpi_add(g, sum, placed);
    }
    return dpi_apply(g, &dpi_op_reshape, sum, DPI_NONE, &(dpi_attr){.shape = square});
}

/* log(1 - tanh(z)^2) / 2 = log 2 - (softplus(2 z) + softplus(-2 z)) / 2, and 0 for z = 0. */
static dpi_id log_left(dpi_graph *g, dpi_id z)
{
    dpi_id up = dpi_unary(g, &dpi_op_softplus, dpi_scale(g, 2, z));
    dpi_id down = dpi_unary(g, &dpi_op_softplus, dpi_scale(g, -2, z));
    return dpi_sub(g, dpi_constant(g, log(2)), dpi_scale(g, 0.5, dpi_add(g, up, down)));
}

static dpi_id identity(dpi_graph *g, size_t n)
{
    const dpi_shape vector = {.n_dims = 1, .dim = {n}};
    dpi_id ones = dpi_expand(g, dpi_constant(g, 1), vector);
    return dpi_unary(g, &dpi_op_diagonal_matrix, ones);
}

/* The smallest normal number, added, keeps the diagonal above 0. */
dpi_id dpi_correlation_factor_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    if (z == DPI_NONE)
        return DPI_NONE;
    size_t n = size_for(dpi_shape_size(&dpi_get(g, z)->shape));
    dpi_id square = below_diagonal(g, z, n), one = identity(g, n);
    dpi_id logs = log_left(g, square);
    dpi_id before = dpi_sub(g, dpi_unary(g, &dpi_op_cumulative_sum, logs), logs);
    dpi_id partial = dpi_add(g, dpi_unary(g, &dpi_op_tanh, square), one);
    dpi_id factor = dpi_times(g, partial, dpi_unary(g, &dpi_op_exp, before));
    return dpi_add(g, factor, dpi_scale(g, DBL_MIN, one));
}

/* Of z's numbers, row after row: row i, number k is met i - k + 1 times. */
dpi_id dpi_correlation_factor_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    if (z == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, z)->shape;
    size_t size = dpi_shape_size(&shape), n = size_for(size);
    double *times = dpi_arena_alloc(g->arena, size, sizeof *times);
    if (times == NULL) {
        (void)dpi_fail_nomem(g->err);
        return DPI_NONE;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            times[n_free(i) + k] = (double)(i - k + 1);
    const dpi_shape vector = {.n_dims = 1, .dim = {size}};
    dpi_id weight = dpi_constant_array(g, vector, times);
    return dpi_unary(g, &dpi_op_sum_last, dpi_times(g, weight, log_left(g, z)));
}

static const char *wrong(size_t n, const double *x, double off)
{
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < n; j++) {
            square += x[i * n + j] * x[i * n + j];
            if (j > i && x[i * n + j] != 0)
                return "the factor is not lower triangular";
        }
        if (!(x[i * n + i] > 0) || !(fabs(square - 1) <= off))
            return "the factor has a diagonal that is not above 0, or a row that is not of length "
                   "1";
    }
    return NULL;
}

/* tanh z_ij = L_ij over the length of what is left of row i, from j on; so sinh z_ij = L_ij over
 * the length of what is left behind j, which keeps its digits. */
static void to_free(size_t n, const double *x, double *z)
{
    for (size_t i = 1; i < n; i++) {
        double left = x[i * n + i];
        for (size_t j = i; j-- > 0;) {
            z[n_free(i) + j] = asinh(x[i * n + j] / left);
            left = hypot(left, x[i * n + j]);
        }
    }
}

const dpi_row_support dpi_correlation_factor_row = {n_free, wrong, to_free,
                                                    "factor the correlation matrix anew", true};
