/* Mixtures of two to four components of different families, the component summed out:
 *
 *   log p(x) = log sum_k w_k f_k(x) - log sum_k w_k,
 *
 * in logarithms, two at a time from the larger.  The weights are divided by their sum, as in
 * mixture.c. */
#include "dist/form.h"

#include <math.h>

static const dpi_family *component(const dpi_family *row, int k)
{
    return k == 0 ? row->base : k < DPI_MOST_COMPONENTS ? row->other[k - 1] : NULL;
}

static dpi_id weight(dpi_graph *g, dpi_id weights, int k)
{
    return dpi_apply(g, &dpi_op_slice, weights, DPI_NONE,
                     &(dpi_attr){.number = (size_t)k, .rows = 1});
}

static const char *refuses(const dpi_family *base)
{
    return base->form == NULL && dpi_mixes(base)
               ? NULL
               : "its components are families of single numbers on a support that no argument "
                 "moves";
}

static dpi_id log_density(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id sum = DPI_NONE;
    const dpi_family *family;
    int at = 1;
    for (int k = 0; (family = component(row, k)) != NULL; at += family->n_args, k++) {
        dpi_id log_weight = dpi_unary(g, &dpi_op_log, weight(g, arg[0], k));
        dpi_id one = dpi_add(g, log_weight, dpi_family_log_density(family, g, x, arg + at));
        sum = k == 0 ? one : dpi_log_sum(g, sum, one);
    }
    dpi_id whole = dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_sum_last, arg[0]));
    return dpi_sub(g, sum, whole);
}

/* NaN where the weights are none. */
static double draw_value(const dpi_family *row, gsl_rng *rng, const double *const arg[],
                         const size_t arg_size[])
{
    double total = 0;
    for (size_t k = 0; k < arg_size[0]; k++)
        total += arg[0][k] >= 0 ? arg[0][k] : (double)NAN;
    if (!(total > 0 && isfinite(total)))
        return NAN;
    double left = gsl_rng_uniform(rng) * total;
    const dpi_family *family = row->base;
    int at = 1, k = 0;
    while ((left -= arg[0][k]) >= 0 && component(row, k + 1) != NULL) {
        at += family->n_args;
        family = component(row, ++k);
    }
    return dpi_draw(family, rng, arg + at, 1);
}

static dpi_id mean(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why)
{
    dpi_id sum = dpi_constant(g, 0);
    const dpi_family *family;
    int at = 1;
    for (int k = 0; (family = component(row, k)) != NULL; at += family->n_args, k++) {
        dpi_id one = dpi_mean(g, family, arg + at, why);
        if (one == DPI_NONE)
            return DPI_NONE;
        sum = dpi_add(g, sum, dpi_times(g, weight(g, arg[0], k), one));
    }
    return dpi_div(g, sum, dpi_unary(g, &dpi_op_sum_last, arg[0]));
}

static void fill(const dpi_family *base, dpi_family *row)
{
    (void)base;
    row->takes = "weights [n], one for each component, and arguments of components that are "
                 "numbers";
    row->bound_at = 0;
}

const dpi_form dpi_mixture_of_several = {
    .code = DPI_MIXTURE_OF,
    .name = "mixture",
    .formula = "log sum_k weights_k f_k(x) - log sum_k weights_k, f_k of the components",
    .n_args = 1,
    .arg_name = {"weights"},
    .arg_domain = {DPI_POSITIVE},
    .observed = true,
    .refuses = refuses,
    .fill = fill,
    .log_density = log_density,
    .draw_value = draw_value,
    .mean = mean,
};
