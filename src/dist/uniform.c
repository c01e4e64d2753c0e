/* Uniform on (low, high).  The density does not depend on x but the shape of its node does: one
 * number for each element of x. */
#include <float.h>
#include <gsl/gsl_randist.h>

#include "dist/family.h"

static dpi_id log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id width = dpi_unary(g, &dpi_op_log, dpi_sub(g, arg[1], arg[0]));
    if (x == DPI_NONE || width == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, x)->shape;
    if (dpi_get(g, width)->shape.n_dims < shape.n_dims)
        width = dpi_expand(g, width, shape);
    if (shape.per_record)
        width = dpi_times(g, width, dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL));
    return dpi_unary(g, &dpi_op_neg, width);
}

/* log of the share of the width, kept finite at the end where it is 0 */
static dpi_id log_share(dpi_graph *g, dpi_id part, const dpi_id arg[])
{
    dpi_id share = dpi_div(g, part, dpi_sub(g, arg[1], arg[0]));
    return dpi_unary(g, &dpi_op_log,
                     dpi_apply(g, &dpi_op_max, share, dpi_constant(g, DBL_MIN), NULL));
}

static dpi_id log_cdf(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_share(g, dpi_sub(g, x, arg[0]), arg);
}

static dpi_id log_survival(dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return log_share(g, dpi_sub(g, arg[1], x), arg);
}

static double draw(gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    (void)arg_size;
    return gsl_ran_flat(rng, *arg[0], *arg[1]);
}

static dpi_id mean(dpi_graph *g, const dpi_id arg[])
{
    return dpi_scale(g, 0.5, dpi_add(g, arg[0], arg[1]));
}

const dpi_family dpi_uniform = {
    .name = "uniform",
    .formula = "-log(high - low)",
    .n_args = 2,
    .arg_name = {"low", "high"},
    .arg_domain = {DPI_ANY, DPI_ANY},
    .support = DPI_INTERVAL,
    .log_density = log_density,
    .draw = draw,
    .log_cdf = log_cdf,
    .log_survival = log_survival,
    .mean = mean,
};
