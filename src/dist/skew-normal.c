/* Skew normal(loc, scale, shape) on the real line: with z = (x - loc) / scale the density is
 * 2 phi(z) Phi(shape z) / scale (Azzalini 1985, Scand. J. Stat. 12, 171).
 *
 * It is no regular likelihood: at shape = 0 the scores in loc and shape are proportional, so that
 * no score is made. */
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    dpi_id side = dpi_log_normal_cdf_node(g, 0, dpi_times(g, arg[2], z));
    dpi_id twice = dpi_add(g, side, dpi_constant(g, M_LN2));
    return dpi_add(g, dpi_normal.log_density(g, x, arg), twice);
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    return dpi_tail_node(g, &dpi_op_log_skew_tail, DPI_LOWER, arg[2], z);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id z = dpi_div(g, dpi_sub(g, x, arg[0]), arg[1]);
    return dpi_tail_node(g, &dpi_op_log_skew_tail, DPI_UPPER, arg[2], z);
}

/* d |u| + sqrt(1 - d^2) v has shape d / sqrt(1 - d^2) when u and v are standard normal. */
static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    double u = fabs(gsl_ran_gaussian(rng, 1)), v = gsl_ran_gaussian(rng, 1);
    double length = hypot(1, *arg[2]);
    double z = *arg[2] / length * u + v / length;
    return dpi_into_real(*arg[0] + *arg[1] * z);
}

/* loc + scale d sqrt(2 / pi), d as above */
static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    dpi_id square = dpi_add(g, dpi_unary(g, &dpi_op_square, arg[2]), dpi_constant(g, 1));
    dpi_id d = dpi_div(g, arg[2], dpi_unary(g, &dpi_op_sqrt, square));
    return dpi_add(g, arg[0], dpi_times(g, arg[1], dpi_scale(g, sqrt(M_2_PI), d)));
}

const dpi_family dpi_skew_normal = {
    .name = "skew_normal",
    .formula = "log 2 - z^2 / 2 + log Phi(shape z) - log scale - log(2 pi) / 2, "
               "z = (x - loc) / scale",
    .n_args = 3,
    .arg_name = {"loc", "scale", "shape"},
    .arg_domain = {DPI_ANY, DPI_POSITIVE, DPI_ANY},
    .support = DPI_REAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
};
