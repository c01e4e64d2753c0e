/* Weighted and missing outcomes: a factor before the base's log density.
 *
 * A weight is no more than its public bound, whatever the data say: the smaller of the two counts.
 * Where it is 0, or an outcome is missing, the log density and its derivatives are 0, even where
 * the outcome has no chance: they are not multiplied, but left out.
 *
 * Where an outcome is missing, what stands in its place is a number inside the support, so that
 * nothing is computed that could raise a flag or take long.  A category's number is left as it is:
 * the data have one that exists. */
#include "dist/form.h"

#include <math.h>

static const char *no_reason(const dpi_family *base)
{
    (void)base;
    return NULL;
}

static dpi_id weighted(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id less = dpi_unary(g, &dpi_op_neg, arg[0]), least = dpi_unary(g, &dpi_op_neg, arg[1]);
    dpi_id factor = dpi_unary(g, &dpi_op_neg, dpi_apply(g, &dpi_op_max, less, least, NULL));
    dpi_id counts = dpi_apply(g, &dpi_op_step, factor, dpi_constant(g, 0), NULL);
    dpi_id own = dpi_times(g, factor, dpi_family_log_density(row->base, g, x, arg + 2));
    return dpi_keep(g, own, (dpi_mask){counts, false});
}

/* A weighted outcome is as many that are alike. */
static void weigh(const dpi_family *row, double y, const double *const arg[], dpi_veil *veil)
{
    (void)row;
    (void)y;
    veil->times *= fmin(*arg[0], *arg[1]);
}

const dpi_form dpi_weighted = {
    .code = DPI_WEIGHTED,
    .name = "weighted",
    .formula = "min(weight, bound) log f(x), f of the base",
    .n_args = 2,
    .arg_name = {"weight", "bound"},
    .arg_domain = {DPI_WEIGHT, DPI_POSITIVE},
    .observed = true,
    .refuses = no_reason,
    .log_density = weighted,
    .mean = dpi_base_mean,
    .veil = weigh,
    .open = {1, 1},
};

static const char *refuses_missing(const dpi_family *base)
{
    return dpi_supports[base->support].rows != NULL && base->support != DPI_SIMPLEX
               ? "rows of that kind have no number that could stand for one that is missing"
               : NULL;
}

/* A number in the support of the row's base. */
static dpi_id stand_in(const dpi_family *base, dpi_graph *g, dpi_id x, const dpi_id bound[])
{
    const dpi_shape shape = dpi_get(g, x)->shape;
    switch (base->support) {
    case DPI_ABOVE_ZERO:
        return dpi_constant(g, 1);
    case DPI_UNIT:
        return dpi_constant(g, 0.5);
    case DPI_SIMPLEX:
        return dpi_constant(g, 1 / (double)shape.dim[shape.n_dims - 1]);
    case DPI_INTERVAL:
        return dpi_scale(g, 0.5, dpi_add(g, bound[0], bound[1]));
    case DPI_FROM:
    case DPI_COUNT_ABOVE:
    case DPI_COUNT_BETWEEN:
        return dpi_add(g, bound[0], dpi_constant(g, 1));
    case DPI_UP_TO:
        return dpi_sub(g, bound[0], dpi_constant(g, 1));
    default:
        return dpi_constant(g, 0);
    }
}

static dpi_id present(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    const dpi_family *base = row->base;
    if (x == DPI_NONE)
        return DPI_NONE;
    if (base->support != DPI_CATEGORY)
        x = dpi_choose(g, arg[0], x, stand_in(base, g, x, arg + 1 + base->bound_at));
    return dpi_keep(g, dpi_family_log_density(base, g, x, arg + 1), (dpi_mask){arg[0], false});
}

static void miss(const dpi_family *row, double y, const double *const arg[], dpi_veil *veil)
{
    (void)row;
    (void)y;
    veil->times = *arg[0] != 0 ? veil->times : 0;
}

const dpi_form dpi_present = {
    .code = DPI_PRESENT,
    .name = "present",
    .formula = "present log f(x), f of the base",
    .n_args = 1,
    .arg_name = {"present"},
    .arg_domain = {DPI_FLAG},
    .observed = true,
    .refuses = refuses_missing,
    .log_density = present,
    .mean = dpi_base_mean,
    .veil = miss,
    .open = {1},
};
