/* Mixtures of K components of one family, with the component that a value comes from summed out:
 *
 *   log p(x) = log sum_k w_k p(x | theta_k) - log sum_k w_k.
 *
 * Each argument of the components is a number, [K], or [K][d]: the component comes first, as in a
 * value of a plate of components.  With a [K][d] among them x has d numbers, which are independent
 * given the component: the sum over them is taken inside.
 *
 * The weights are divided by their sum.  For weights on the simplex that changes nothing but the
 * derivative, which then has no part along (1, ..., 1), where the simplex does not go.
 *
 * In logarithms a component that is far off or has next to no weight adds nothing and harms
 * nothing: value and derivatives are finite as long as one component's log density is.
 *
 * The families are those of which dp_mixture_of takes several, and their zero-inflated and hurdle
 * forms.  Left out are those whose support depends on arguments (uniform, binomial): outside it a
 * component would have to have density 0. */
#include <math.h>

#include "dist/form.h"

/* Argument a, [K] where x is [d], as [K][d]. */
static dpi_id along(dpi_graph *g, dpi_id a, dpi_id x)
{
    const dpi_shape of_x = dpi_get(g, x)->shape;
    if (a == DPI_NONE || of_x.n_dims != 1 || dpi_get(g, a)->shape.n_dims != 1)
        return a;
    return dpi_apply(g, &dpi_op_spread, a, DPI_NONE, &(dpi_attr){.number = of_x.dim[0]});
}

static dpi_id log_density(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    const dpi_family *const component = row->base;
    dpi_id theta[DPI_MAX_ARGS];
    if (x == DPI_NONE)
        return DPI_NONE;
    for (int k = 0; k < component->n_args; k++)
        theta[k] = along(g, arg[k + 1], x);
    dpi_id each = dpi_family_log_density(component, g, x, theta);
    if (each != DPI_NONE && dpi_get(g, x)->shape.n_dims == 1)
        each = dpi_unary(g, &dpi_op_sum_last, each);
    dpi_id joint = dpi_add(g, each, dpi_unary(g, &dpi_op_log, arg[0]));
    dpi_id whole = dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_sum_last, arg[0]));
    return dpi_sub(g, dpi_unary(g, &dpi_op_log_sum_exp, joint), whole);
}

/* The component, by inversion; n when the weights are none. */
static size_t choose(gsl_rng *rng, const double *weight, size_t n)
{
    double total = 0;
    for (size_t k = 0; k < n; k++)
        total += weight[k] >= 0 ? weight[k] : NAN;
    if (!(total > 0 && isfinite(total)))
        return n;
    double left = gsl_rng_uniform(rng) * total;
    size_t possible = 0;
    for (size_t k = 0; k < n && left >= 0; k++) {
        possible = weight[k] > 0 ? k : possible;
        left -= weight[k];
    }
    return possible;
}

static void draw(const dpi_family *row, gsl_rng *rng, const double *const arg[],
                 const size_t arg_size[], size_t n, double *out)
{
    const dpi_family *const component = row->base;
    size_t chosen = choose(rng, arg[0], arg_size[0]);
    for (size_t e = 0; e < n; e++)
        out[e] = NAN;
    for (size_t e = 0; e < n && chosen < arg_size[0]; e++) {
        const double *theta[DPI_MAX_ARGS] = {NULL};
        for (int k = 0; k < component->n_args; k++) {
            size_t each = arg_size[k + 1] / arg_size[0]; /* 0: a number; 1: [K]; else [K][d] */
            theta[k] = arg[k + 1] + chosen * each + (each > 1 ? e : 0);
        }
        out[e] = dpi_draw(component, rng, theta, 1);
    }
}

/* sum_k w_k mean_k / sum_k w_k; a number where all components have the same. */
static dpi_id mean(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why)
{
    dpi_id theta[DPI_MAX_ARGS], matrix = DPI_NONE;
    for (int k = 1; k <= row->base->n_args; k++)
        if (arg[k] != DPI_NONE && dpi_get(g, arg[k])->shape.n_dims == 2)
            matrix = arg[k];
    for (int k = 0; k < row->base->n_args; k++) {
        theta[k] = arg[k + 1];
        if (matrix != DPI_NONE && dpi_get(g, theta[k])->shape.n_dims == 1)
            theta[k] = dpi_spread_over(g, theta[k], matrix);
    }
    dpi_id each = dpi_mean(g, row->base, theta, why);
    if (each == DPI_NONE || arg[0] == DPI_NONE || dpi_get(g, each)->shape.n_dims == 0)
        return each;
    dpi_id whole = dpi_unary(g, &dpi_op_sum_last, arg[0]);
    if (dpi_get(g, each)->shape.n_dims == 2)
        return dpi_div(g, dpi_apply(g, &dpi_op_matmul, arg[0], each, NULL), whole);
    return dpi_div(g, dpi_unary(g, &dpi_op_sum_last, dpi_times(g, arg[0], each)), whole);
}

static const char *refuses(const dpi_family *base)
{
    return dpi_mixes(base) ? NULL
                           : "its components are families of single numbers on a support that no "
                             "argument moves, such as dp_normal_v; not uniform, binomial, chance, "
                             "categorical, Dirichlet or another mixture";
}

static void fill(const dpi_family *base, dpi_family *row)
{
    (void)base;
    row->takes = "weights [K], K at least 2, and components' arguments that are numbers, [K] or "
                 "[K][d]";
}

const dpi_form dpi_mixture = {
    .code = DPI_MIXTURE,
    .name = "mixture of",
    .in_words = true,
    .formula = "log sum_k weights_k f(x | component k) - log sum_k weights_k, f of the base",
    .n_args = 1,
    .arg_name = {"weights"},
    .arg_domain = {DPI_POSITIVE},
    .observed = true,
    .refuses = refuses,
    .fill = fill,
    .log_density = log_density,
    .draw_joint = draw,
    .mean = mean,
};
