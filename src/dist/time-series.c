/* Series of T numbers, each from those before it.  With e = x - loc, of which the first p numbers
 * are N(0, first_scale),
 *
 *   gaussian_random_walk   e_t - e_(t - 1) is N(0, scale), p = 1
 *   autoregressive         e_t - sum_k coefficients_k e_(t - k) is N(0, scale), p coefficients
 *
 * A series of no more than p numbers is its first numbers alone. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"
#include "dist/matrix-rows.h"

enum { LOC, FIRST_SCALE, SCALE, COEFFICIENTS };

/* Times first: rows of a plate as columns. */
static dpi_id times_first(dpi_graph *g, dpi_id e)
{
    bool is_row = e == DPI_NONE || dpi_get(g, e)->shape.n_dims == 1;
    return is_row ? e : dpi_unary(g, &dpi_op_transpose, e);
}

static dpi_id part(dpi_graph *g, dpi_id series, size_t from, size_t n)
{
    return dpi_apply(g, &dpi_op_slice, series, DPI_NONE, &(dpi_attr){.number = from, .rows = n});
}

/* sum_t (r_t / scale)^2 over n times of residuals, which are dropped for n = 1. */
static dpi_id squares(dpi_graph *g, dpi_id r, dpi_id scale, size_t n)
{
    dpi_id square = dpi_unary(g, &dpi_op_square, dpi_div(g, r, scale));
    if (square == DPI_NONE || n == 1)
        return square;
    const dpi_shape shape = dpi_get(g, square)->shape;
    return shape.n_dims == 1 ? dpi_sum(g, square)
                             : dpi_sum_to(g, square, dpi_shape_drop_first(shape));
}

/* coefficient k = 0 ... p - 1, or 1 of a walk. */
static dpi_id coefficient(dpi_graph *g, const dpi_id arg[], size_t k)
{
    dpi_id c = arg[COEFFICIENTS];
    return c == DPI_NONE                      ? dpi_constant(g, 1)
           : dpi_get(g, c)->shape.n_dims == 0 ? c
                                              : part(g, c, k, 1);
}

/* Of a series that begins with `first` numbers. */
static dpi_id log_density_of(dpi_graph *g, dpi_id x, const dpi_id arg[], size_t first)
{
    dpi_id e = times_first(g, dpi_sub(g, x, arg[LOC]));
    if (e == DPI_NONE)
        return DPI_NONE;
    size_t n = dpi_get(g, e)->shape.dim[0], p = first < n ? first : n, rest = n - p;
    dpi_id norm = dpi_add(g, dpi_constant(g, 0.5 * (double)n * log(2 * M_PI)),
                          dpi_scale(g, (double)p, dpi_unary(g, &dpi_op_log, arg[FIRST_SCALE])));
    dpi_id sum = squares(g, part(g, e, 0, p), arg[FIRST_SCALE], p);
    if (rest > 0) {
        dpi_id r = part(g, e, p, rest);
        for (size_t k = 0; k < p; k++)
            r = dpi_sub(g, r, dpi_times(g, coefficient(g, arg, k), part(g, e, p - k - 1, rest)));
        sum = dpi_add(g, sum, squares(g, r, arg[SCALE], rest));
        norm = dpi_add(g, norm, dpi_scale(g, (double)rest, dpi_unary(g, &dpi_op_log, arg[SCALE])));
    }
    return dpi_sub(g, dpi_scale(g, -0.5, sum), norm);
}

static void draw_of(gsl_rng *rng, const double *const arg[], size_t loc_size, size_t p,
                    const double *coefficients, size_t n, double *out)
{
    for (size_t t = 0; t < n; t++) {
        out[t] = gsl_ran_gaussian(rng, t < p ? *arg[FIRST_SCALE] : *arg[SCALE]);
        for (size_t k = 0; k < p && t >= p; k++)
            out[t] += coefficients[k] * out[t - k - 1];
    }
    for (size_t t = 0; t < n; t++)
        out[t] = dpi_into_real(out[t] + arg[LOC][loc_size == 1 ? 0 : t]);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    (void)g;
    return arg[LOC];
}

/* ---- the random walk ---- */

static dpi_id walk_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    const dpi_id all[] = {arg[LOC], arg[FIRST_SCALE], arg[SCALE], DPI_NONE};
    return log_density_of(g, x, all, 1);
}

static void walk_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                      double *out)
{
    static const double one = 1;
    draw_of(rng, arg, arg_size[LOC], 1, &one, n, out);
}

/* loc + the sums of steps of their scales: a triangular map, whose diagonal is the scales. */
static dpi_id walk_stretch(dpi_graph *g, dpi_id z, dpi_id mask, const dpi_id arg[], dpi_id *volume)
{
    const dpi_shape row = {.n_dims = 1, .dim = {(size_t)dpi_row_size(g, z)}};
    const dpi_attr place = {.inner = 1, .shape = row};
    dpi_id more = dpi_sub(g, arg[FIRST_SCALE], arg[SCALE]);
    dpi_id scale = dpi_add(g, dpi_expand(g, arg[SCALE], row),
                           dpi_apply(g, &dpi_op_pad, more, DPI_NONE, &place));
    dpi_id sums = dpi_unary(g, &dpi_op_cumulative_sum, dpi_times(g, z, scale));
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), mask);
    *volume = dpi_unary(g, &dpi_op_sum_last, dpi_times(g, mask, dpi_unary(g, &dpi_op_log, scale)));
    return dpi_add(g, dpi_times(g, mask, dpi_add(g, sums, arg[LOC])), dpi_times(g, rest, z));
}

const dpi_family dpi_gaussian_random_walk = {
    .name = "gaussian_random_walk",
    .formula = "log normal density of e_1 / first_scale and of (e_t - e_(t - 1)) / scale, t > 1, "
               "e = x - loc",
    .n_args = 3,
    .arg_name = {"loc", "first_scale", "scale"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE, DPI_POSITIVE},
    .arg_kind = {DPI_EACH, DPI_ONE, DPI_ONE},
    .takes = "a loc that is a number or [T], and scales that are numbers",
    .support = DPI_REAL,
    .log_density = walk_log_density,
    .draw_joint = walk_draw,
    .stretch = walk_stretch,
    .mean = mean,
};

/* ---- autoregression ---- */

static dpi_id autoregressive_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    if (arg[COEFFICIENTS] == DPI_NONE)
        return DPI_NONE;
    return log_density_of(g, x, arg, dpi_shape_size(&dpi_get(g, arg[COEFFICIENTS])->shape));
}

static void autoregressive_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],
                                size_t n, double *out)
{
    draw_of(rng, arg, arg_size[LOC], arg_size[COEFFICIENTS], arg[COEFFICIENTS], n, out);
}

const dpi_family dpi_autoregressive = {
    .name = "autoregressive",
    .formula = "log normal density of e_t / first_scale, t <= p, and of (e_t - sum_k "
               "coefficients_k e_(t - k)) / scale, t > p, e = x - loc",
    .n_args = 4,
    .arg_name = {"loc", "first_scale", "scale", "coefficients"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE, DPI_POSITIVE, DPI_ANY},
    .arg_kind = {DPI_EACH, DPI_ONE, DPI_ONE, DPI_LIST},
    .takes = "a loc that is a number or [T], scales that are numbers and coefficients that are a "
             "number or [p]",
    .support = DPI_REAL,
    .log_density = autoregressive_log_density,
    .draw_joint = autoregressive_draw,
    .mean = mean,
};
