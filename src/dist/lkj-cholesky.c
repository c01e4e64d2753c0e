/* The distribution of Lewandowski, Kurowicka and Joe (2009, J. Multivar. Anal. 100, 1989) of
 * correlation matrices, density proportional to det^(eta - 1), as one of their Cholesky factors.
 *
 * Of L's numbers below the diagonal the density is
 *
 *   c prod_(i = 2 ... K) L_ii^(K - i + 2 eta - 2),
 *   log c = sum_(k = 1 ... K - 1) (log Gamma(eta + (K - 1) / 2) - log Gamma(eta + (K - 1 - k) / 2)
 *                                  - k log(pi) / 2).
 *
 * The differences are taken as sums of those of neighbours, log Gamma(a + 1/2) - log Gamma(a), each
 * of which is student-density.c's ratio, so that c keeps its digits for large eta: with a = eta + j
 * / 2, that of j = 0 ... K - 2 is met j + 1 times. */
#include <float.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "dist/matrix-rows.h"

static dpi_id log_constant(dpi_graph *g, dpi_id eta, size_t n)
{
    dpi_id sum = dpi_constant(g, -0.25 * (double)(n * (n - 1)) * log(M_PI));
    for (size_t j = 0; j + 1 < n; j++) {
        dpi_id df = dpi_add(g, dpi_scale(g, 2, eta), dpi_constant(g, (double)j));
        dpi_id half = dpi_scale(g, 0.5, dpi_unary(g, &dpi_op_log, df));
        dpi_id ratio = dpi_add(g, dpi_log_gamma_ratio(g, df), half);
        sum = dpi_add(g, sum, dpi_scale(g, (double)(j + 1), ratio));
    }
    return sum;
}

/* Above 0 for each number of the diagonal but the first, which is always 1. */
static dpi_id powers(dpi_graph *g, dpi_id eta, size_t n)
{
    double *left = dpi_arena_alloc(g->arena, n, 2 * sizeof *left);
    if (left == NULL) {
        (void)dpi_fail_nomem(g->err);
        return DPI_NONE;
    }
    double *is_later = left + n;
    for (size_t i = 0; i < n; i++) {
        is_later[i] = i > 0;
        left[i] = i > 0 ? (double)(n - 1 - i) : 0;
    }
    const dpi_shape vector = {.n_dims = 1, .dim = {n}};
    dpi_id twice = dpi_scale(g, 2, dpi_sub(g, eta, dpi_constant(g, 1)));
    return dpi_add(g, dpi_constant_array(g, vector, left),
                   dpi_times(g, dpi_constant_array(g, vector, is_later), twice));
}

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    if (x == DPI_NONE || arg[0] == DPI_NONE)
        return DPI_NONE;
    size_t n = (size_t)dpi_row_size(g, x);
    dpi_id logs = dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_diagonal, x));
    dpi_id kernel = dpi_unary(g, &dpi_op_sum_last, dpi_times(g, powers(g, arg[0], n), logs));
    return dpi_add(g, kernel, log_constant(g, arg[0], n));
}

/* The onion (section 3.2 there), row by row: the square of the length of row i's numbers before the
 * diagonal is Beta(i / 2, eta + (K - 1 - i) / 2) for i = 1 ... K - 1, their direction uniform. */
static void draw_row(gsl_rng *rng, double b, size_t i, double *row)
{
    double length = 0, own = gsl_ran_gamma(rng, b, 1),
           other = gsl_ran_gamma(rng, 0.5 * (double)i, 1);
    for (size_t j = 0; j < i; j++) {
        row[j] = gsl_ran_gaussian(rng, 1);
        length = hypot(length, row[j]);
    }
    for (size_t j = 0; j < i; j++)
        row[j] *= sqrt(other / (own + other)) / length;
    row[i] = fmax(sqrt(own / (own + other)), DBL_MIN);
}

/* n is the number of the matrix's numbers. */
static void draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                 double *out)
{
    (void)arg_size;
    size_t k = (size_t)lround(sqrt((double)n));
    for (size_t e = 0; e < n; e++)
        out[e] = e == 0;
    for (size_t i = 1; i < k; i++)
        draw_row(rng, *arg[0] + 0.5 * (double)(k - 1 - i), i, out + i * k);
}

const dpi_family dpi_lkj_cholesky = {
    .name = "lkj_cholesky",
    .formula = "sum_(i = 2 ... K) (K - i + 2 eta - 2) log x_ii + sum_(k = 1 ... K - 1) (log "
               "Gamma(eta + (K - 1) / 2) - log Gamma(eta + (K - 1 - k) / 2) - k log(pi) / 2)",
    .n_args = 1,
    .arg_name = {"eta"},
    .arg_domain = {DPI_POSITIVE},
    .arg_kind = {DPI_ONE},
    .takes = "an eta that is a number",
    .support = DPI_CORRELATION_FACTOR,
    .log_density = log_density,
    .draw_joint = draw,
    .no_mean = "the mean of a Cholesky factor has no closed form here",
};
