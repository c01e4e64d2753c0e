/* Splines as expressions: truncated powers of a record's number, and public matrices.
 *
 * x is taken to (0, 1) by its range and held there by rectifiers, which are exact at both ends.
 * Knots beyond the range lie as far apart as the first and the last interval within. */
#include <tacit/smooth.h>

#include <math.h>
#include <stdio.h>

#include "model/declare.h"
#include "num/spline.h"

enum { DEGREE_MOST = 5, FUNCTIONS_LEAST = 4, FUNCTIONS_MOST = 100, CUBIC = 3 };

static dp_expr fail(dp_model *m, dp_status status, const char *call, const char *why)
{
    (void)dpi_fail(&m->err, status, "after %s:%d: %s: %s",
                   m->graph.where.file != NULL ? m->graph.where.file : "model", m->graph.where.line,
                   call, why);
    return dpi_expression(m, DPI_NONE);
}

static bool is_range(double low, double high)
{
    return isfinite(low) && isfinite(high) && low < high && isfinite(high - low);
}

static bool is_number(dp_expr x)
{
    return x.id != DPI_NONE && dpi_get(&x.model->graph, x.id)->shape.n_dims == 0;
}

/* (x - low) / (high - low), held within 0 and 1: max(0, u) less what u is above 1. */
static dp_expr share_of_range(dp_expr x, double low, double high)
{
    dp_expr u = dp_scale(1 / (high - low), dp_sub(x, dp_num(low)));
    return dp_sub(dp_relu(u), dp_relu(dp_sub(u, dp_num(1))));
}

/* powers' (u - t)_+^degree */
static dp_expr combine(dp_expr u, size_t degree, size_t n, const double *knots, size_t m,
                       const double *powers)
{
    dp_expr right = dp_relu(dp_sub(u, dp_constant(u.model, n, knots))), power = right;
    for (size_t d = 1; d < degree; d++)
        power = dp_mul(power, right);
    return dp_matmul(power, dp_constant_matrix(u.model, n, m, powers));
}

/* What is wrong with the knots, or NULL; knots[n_interior + 2 degree + 2] on (0, 1). */
static const char *place_knots(const dp_spline *s, size_t degree, double *knots)
{
    size_t n = s->n_interior, last = degree + n + 1;
    for (size_t i = 0; i < n; i++)
        knots[degree + 1 + i] = s->interior != NULL ? (s->interior[i] - s->low) / (s->high - s->low)
                                                    : (double)(i + 1) / (double)(n + 1);
    knots[degree] = 0;
    knots[last] = 1;
    for (size_t i = degree + 1; i <= last; i++)
        if (!(knots[i] > knots[i - 1]))
            return "interior knots must rise and lie between low and high, at no end and no two "
                   "at one place";
    for (size_t k = 1; k <= degree; k++) {
        knots[degree - k] = -(double)k * knots[degree + 1];
        knots[last + k] = 1 + (double)k * (1 - knots[last - 1]);
    }
    return NULL;
}

dp_expr dp_spline_basis(dp_expr x, const dp_spline *spline)
{
    enum { KNOTS = FUNCTIONS_MOST + 2 * DEGREE_MOST };
    dp_model *m = dpi_expr_model(x, x, __func__);
    size_t degree = spline->degree == 0 ? CUBIC : spline->degree;
    double knots[KNOTS];
    if (m->err.status != DP_OK)
        return dpi_expression(m, DPI_NONE);
    if (!is_range(spline->low, spline->high))
        return fail(m, DP_EDOMAIN, __func__, "give a public range, low < high");
    if (degree > DEGREE_MOST || spline->n_interior > FUNCTIONS_MOST - FUNCTIONS_LEAST)
        return fail(m, DP_EDOMAIN, __func__,
                    "the degree is 1 to 5, and there are at most 96 interior knots");
    if (!is_number(x))
        return fail(m, DP_ESHAPE, __func__, "x must be one number; take it by dp_slice");
    const char *why = place_knots(spline, degree, knots);
    if (why != NULL)
        return fail(m, DP_EDOMAIN, __func__, why);
    size_t n = spline->n_interior + 2 * degree + 2, functions = n - degree - 1;
    double *powers = dpi_arena_alloc(&m->arena, n * functions, sizeof *powers);
    if (powers == NULL) {
        (void)dpi_fail_nomem(&m->err);
        return dpi_expression(m, DPI_NONE);
    }
    dpi_spline_powers(degree, n, knots, powers);
    return combine(share_of_range(x, spline->low, spline->high), degree, n, knots, functions,
                   powers);
}

/* "<name>_<part>" */
static const char *part_of(char text[], size_t size, const char *name, const char *part)
{
    (void)snprintf(text, size, "%s_%s", name, part);
    return text;
}

static const char *wrong_options(const dp_smooth_opts *o)
{
    if (!is_range(o->low, o->high))
        return "give a public range, low < high";
    if (o->functions != 0 && (o->functions < FUNCTIONS_LEAST || o->functions > FUNCTIONS_MOST))
        return "a smooth function is made of 4 to 100 functions";
    if (!(o->slope_scale >= 0 && o->sd_scale >= 0 && isfinite(o->slope_scale + o->sd_scale)))
        return "scales of priors are above 0; 0 means the default";
    return NULL;
}

dp_expr dp_smooth_at(dp_expr x, const char *name, const dp_smooth_opts *opts, const char *file,
                     int line)
{
    enum { NAME = 256 };
    dp_model *m = dpi_expr_model(x, x, __func__);
    char text[NAME];
    if (!dpi_enter(m, name, file, line) || !dpi_name_is_good(m, name))
        return dpi_expression(m, DPI_NONE);
    const char *why = wrong_options(opts);
    if (why != NULL || !is_number(x)) {
        FAIL(m, why != NULL ? DP_EDOMAIN : DP_ESHAPE,
             "smooth '%s' over %g ... %g by %zu functions: %s", name, opts->low, opts->high,
             opts->functions, why != NULL ? why : "x must be one number; take it by dp_slice");
        return dpi_expression(m, DPI_NONE);
    }
    size_t functions = opts->functions == 0 ? 10 : opts->functions, n = functions + CUBIC + 1;
    double *powers = dpi_arena_alloc(&m->arena, n * (functions - 2), sizeof *powers);
    double knots[FUNCTIONS_MOST + CUBIC + 1];
    dp_error err = {0};
    if (powers == NULL || dpi_spline_wiggles(functions, powers, &err) != DP_OK) {
        (void)dpi_fail_nomem(&m->err);
        return dpi_expression(m, DPI_NONE);
    }
    dpi_spline_knots(functions, knots);
    double slope_scale = opts->slope_scale == 0 ? 1 : opts->slope_scale;
    double sd_scale = opts->sd_scale == 0 ? 1 : opts->sd_scale;
    dp_expr slope = dp_sample_at(m, part_of(text, NAME, name, "slope"), 1,
                                 dp_normal(0, slope_scale), file, line);
    dp_expr sd =
        dp_sample_at(m, part_of(text, NAME, name, "sd"), 1, dp_half_normal(sd_scale), file, line);
    dp_expr wiggle = dp_sample_at(m, part_of(text, NAME, name, "wiggle"), functions - 2,
                                  dp_normal_v(dp_num(0), sd), file, line);
    dp_expr u = share_of_range(x, opts->low, opts->high);
    dp_expr bent = combine(u, CUBIC, n, knots, functions - 2, powers);
    /* u has mean 1/2 and variance 1/12 over its range. */
    dp_expr line_part = dp_mul(slope, dp_scale(sqrt(12), dp_sub(u, dp_num(0.5))));
    return dp_add(line_part, dp_dot(bent, wiggle));
}
