/* Wishart's distribution and its inverse, of the Cholesky factor L of a covariance W = L L', with a
 * scale that is given by its factor S.
 *
 * Bartlett (1933, Proc. R. Soc. Edinburgh 53, 260): for W of Wishart(df, S S'), A = S^-1 L is lower
 * triangular with independent numbers, normal below the diagonal and A_ii chi with df + 1 - i
 * degrees of freedom.  For W^-1 of Wishart(df, (S S')^-1), B = L^-1 S is so with df - K + i.  The
 * densities of L are those of A and B times the volumes of the maps from L,
 *
 *   dA/dL = prod_i S_ii^-i,   dB/dL = prod_i B_ii^(K - i + 1) L_ii^-i,
 *
 * and chi's log density at a is
 * nu log a - a^2 / 2 - log a - (nu / 2 - 1) log 2 - log Gamma(nu / 2).
 * With log Gamma(h) as log Gamma(h + 1) - log h the density is not a number where nu < 0. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "dist/matrix-rows.h"

/* first, first + step, ...: n numbers. */
static dpi_id series(dpi_graph *g, size_t n, double first, double step)
{
    const dpi_shape vector = {.n_dims = 1, .dim = {n}};
    double *values = dpi_arena_alloc(g->arena, n, sizeof *values);
    if (values == NULL) {
        (void)dpi_fail_nomem(g->err);
        return DPI_NONE;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = first + step * (double)i;
    return dpi_constant_array(g, vector, values);
}

static dpi_id lower(dpi_graph *g, dpi_id a, double diagonal)
{
    return dpi_apply(g, &dpi_op_lower, a, DPI_NONE, &(dpi_attr){.value = diagonal});
}

static dpi_id solved(dpi_graph *g, dpi_id l, dpi_id b)
{
    return dpi_apply(g, &dpi_op_triangular_solve, l, b, &(dpi_attr){.transpose = {false}});
}

static dpi_id log_of_diagonal(dpi_graph *g, dpi_id l)
{
    return dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_diagonal, l));
}

/* Log density of Bartlett's matrix with degrees of freedom nu [K]; logs are those of its
 * diagonal. */
static dpi_id bartlett(dpi_graph *g, dpi_id a, dpi_id logs, dpi_id nu, double n)
{
    dpi_id half = dpi_scale(g, 0.5, nu), one = dpi_constant(g, 1);
    dpi_id log_gamma = dpi_sub(g, dpi_unary(g, &dpi_op_lgamma, dpi_add(g, half, one)),
                               dpi_unary(g, &dpi_op_log, half));
    dpi_id power = dpi_times(g, dpi_sub(g, nu, one), logs);
    dpi_id norm = dpi_add(g, dpi_scale(g, M_LN2, dpi_sub(g, half, one)), log_gamma);
    dpi_id squares = dpi_sum(g, dpi_unary(g, &dpi_op_square, a));
    dpi_id sum = dpi_sub(g, dpi_sum(g, dpi_sub(g, power, norm)), dpi_scale(g, 0.5, squares));
    return dpi_add(g, sum, dpi_constant(g, -0.25 * n * (n - 1) * (M_LN2 + M_LNPI)));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    if (x == DPI_NONE || arg[0] == DPI_NONE || arg[1] == DPI_NONE)
        return DPI_NONE;
    const double n = dpi_row_size(g, x);
    dpi_id scale = lower(g, arg[1], 1), a = lower(g, solved(g, scale, lower(g, x, 1)), 1);
    dpi_id of_scale = log_of_diagonal(g, scale);
    dpi_id logs = dpi_sub(g, log_of_diagonal(g, x), of_scale);
    dpi_id nu = dpi_add(g, arg[0], series(g, (size_t)n, 0, -1));
    dpi_id volume = dpi_sum(g, dpi_times(g, series(g, (size_t)n, -1, -1), of_scale));
    return dpi_add(g, bartlett(g, a, logs, nu, n), volume);
}

static dpi_id log_density_of_inverse(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    if (x == DPI_NONE || arg[0] == DPI_NONE || arg[1] == DPI_NONE)
        return DPI_NONE;
    const double n = dpi_row_size(g, x);
    dpi_id b = lower(g, solved(g, lower(g, x, 1), lower(g, arg[1], 1)), 1);
    dpi_id of_x = log_of_diagonal(g, x);
    dpi_id logs = dpi_sub(g, log_of_diagonal(g, arg[1]), of_x);
    dpi_id nu = dpi_add(g, arg[0], series(g, (size_t)n, 1 - n, 1));
    dpi_id volume = dpi_add(g, dpi_times(g, series(g, (size_t)n, n, -1), logs),
                            dpi_times(g, series(g, (size_t)n, -1, -1), of_x));
    return dpi_add(g, bartlett(g, b, logs, nu, n), dpi_sum(g, volume));
}

/* ---- draws ---- */

static bool has_scale(size_t k, double df, const double *scale)
{
    for (size_t i = 0; i < k; i++)
        if (!(scale[i * k + i] > 0))
            return false;
    return df > (double)(k - 1);
}

static double chi(gsl_rng *rng, double nu)
{
    return sqrt(2) * exp(0.5 * dpi_draw_log_gamma(rng, 0.5 * nu));
}

/* Number j of row i of Bartlett's matrix. */
static double number_of(gsl_rng *rng, double nu, size_t i, size_t j)
{
    return i == j ? chi(rng, nu) : gsl_ran_gaussian(rng, 1);
}

/* L = S A, row by row from below, as row i of S A is of rows up to i of A. */
static void draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                 double *out)
{
    (void)arg_size;
    const size_t k = (size_t)lround(sqrt((double)n));
    const double df = *arg[0], *scale = arg[1];
    if (!has_scale(k, df, scale))
        return;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            out[i * k + j] = j > i ? 0 : number_of(rng, df - (double)i, i, j);
    for (size_t i = k; i-- > 0;)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t m = j; m <= i; m++)
                sum += scale[i * k + m] * out[m * k + j];
            out[i * k + j] = i == j ? dpi_into_positive(sum) : sum;
        }
}

/* L B = S, column by column from the right: number j of row i is of those behind it in its row. */
static void draw_inverse(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                         double *out)
{
    (void)arg_size;
    const size_t k = (size_t)lround(sqrt((double)n));
    const double df = *arg[0], *scale = arg[1];
    if (!has_scale(k, df, scale))
        return;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            out[i * k + j] = j > i ? 0 : scale[i * k + j];
    /* Row m of B is drawn when the numbers in column m are known, and is not needed after it. */
    for (size_t m = k; m-- > 0;) {
        double own = chi(rng, df - (double)(k - 1 - m));
        for (size_t i = m; i < k; i++)
            out[i * k + m] /= own;
        out[m * k + m] = dpi_into_positive(out[m * k + m]);
        for (size_t j = 0; j < m; j++) {
            double b = gsl_ran_gaussian(rng, 1);
            for (size_t i = m; i < k; i++)
                out[i * k + j] -= out[i * k + m] * b;
        }
    }
}

#define TAKES "a df that is a number and a scale_factor [K][K]"

const dpi_family dpi_wishart_cholesky = {
    .name = "wishart_cholesky",
    .formula = "sum_i ((df - i) log x_ii - df log s_ii - (df / 2 - 1) log 2 - log Gamma((df + 1 - "
               "i) / 2)) - K (K - 1) / 4 log(pi) - |s^-1 x|^2 / 2",
    .n_args = 2,
    .arg_name = {"df", "scale_factor"},
    .arg_domain = {DPI_POSITIVE, DPI_ANY},
    .arg_kind = {DPI_ONE, DPI_SQUARE},
    .takes = TAKES,
    .support = DPI_COVARIANCE_FACTOR,
    .log_density = log_density,
    .draw_joint = draw,
    .no_mean = "the mean of a Cholesky factor has no closed form here",
};

const dpi_family dpi_inverse_wishart_cholesky = {
    .name = "inverse_wishart_cholesky",
    .formula = "sum_i (df log s_ii - (df + i) log x_ii - (df / 2 - 1) log 2 - log Gamma((df + 1 - "
               "i) / 2)) - K (K - 1) / 4 log(pi) - |x^-1 s|^2 / 2",
    .n_args = 2,
    .arg_name = {"df", "scale_factor"},
    .arg_domain = {DPI_POSITIVE, DPI_ANY},
    .arg_kind = {DPI_ONE, DPI_SQUARE},
    .takes = TAKES,
    .support = DPI_COVARIANCE_FACTOR,
    .log_density = log_density_of_inverse,
    .draw_joint = draw_inverse,
    .no_mean = "the mean of a Cholesky factor has no closed form here",
};
