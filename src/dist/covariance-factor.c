/* The bijector onto Cholesky factors of covariances, and back: z is the lower triangle row after
 * row, with logarithms on the diagonal. */
#include <float.h>
#include <math.h>

#include "dist/support-rows.h"

static size_t n_free(size_t n)
{
    return n * (n + 1) / 2;
}

/* n of n (n + 1) / 2 numbers. */
static size_t size_for(size_t free)
{
    size_t n = 1;
    while (n_free(n) < free)
        n++;
    return n;
}

/* z as the lower triangle of a matrix [n][n] of zeros: row i has i + 1 numbers of z. */
static dpi_id triangle(dpi_graph *g, dpi_id z)
{
    if (z == DPI_NONE)
        return DPI_NONE;
    const size_t n = size_for(dpi_shape_size(&dpi_get(g, z)->shape));
    const dpi_shape flat = {.n_dims = 1, .dim = {n * n}}, square = {.n_dims = 2, .dim = {n, n}};
    dpi_id sum = DPI_NONE;
    for (size_t i = 0; i < n; i++) {
        const dpi_attr part = {.number = n_free(i), .rows = i + 1};
        const dpi_attr place = {.number = i * n, .inner = i + 1, .shape = flat};
        dpi_id row = dpi_apply(g, &dpi_op_slice, z, DPI_NONE, &part);
        dpi_id placed = dpi_apply(g, &dpi_op_pad, row, DPI_NONE, &place);
        sum = i == 0 ? placed : dpi_add(g, sum, placed);
    }
    return dpi_apply(g, &dpi_op_reshape, sum, DPI_NONE, &(dpi_attr){.shape = square});
}

/* The smallest normal number, added, keeps the diagonal above 0. */
dpi_id dpi_covariance_factor_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    dpi_id square = triangle(g, z);
    dpi_id below = dpi_apply(g, &dpi_op_lower, square, DPI_NONE, &(dpi_attr){.value = 0});
    dpi_id grown = dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_diagonal, square));
    dpi_id diagonal = dpi_add(g, grown, dpi_constant(g, DBL_MIN));
    return dpi_add(g, below, dpi_unary(g, &dpi_op_diagonal_matrix, diagonal));
}

dpi_id dpi_covariance_factor_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    return dpi_unary(g, &dpi_op_sum_last, dpi_unary(g, &dpi_op_diagonal, triangle(g, z)));
}

static const char *wrong(size_t n, const double *x, double off)
{
    (void)off;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            if (x[i * n + j] != 0)
                return "the factor is not lower triangular";
        if (!(x[i * n + i] > 0))
            return "the factor has a diagonal that is not above 0";
    }
    return NULL;
}

static void to_free(size_t n, const double *x, double *z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            z[n_free(i) + j] = i == j ? log(x[i * n + j]) : x[i * n + j];
}

const dpi_row_support dpi_covariance_factor_row = {n_free, wrong, to_free,
                                                   "factor the covariance anew", true};
