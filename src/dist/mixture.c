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
 * Left out are families whose support depends on arguments (uniform, binomial): outside it a
 * component would have to have density 0. */
#include <math.h>

#include "dist/family.h"

/* Argument a, [K] where x is [d], as [K][d]. */
static dpi_id along(dpi_graph *g, dpi_id a, dpi_id x)
{
    const dpi_shape of_x = dpi_get(g, x)->shape;
    if (a == DPI_NONE || of_x.n_dims != 1 || dpi_get(g, a)->shape.n_dims != 1)
        return a;
    return dpi_apply(g, &dpi_op_spread, a, DPI_NONE, &(dpi_attr){.number = of_x.dim[0]});
}

static dpi_id log_density_of(const dpi_family *component, dpi_graph *g, dpi_id x,
                             const dpi_id arg[])
{
    dpi_id theta[DPI_MAX_ARGS];
    if (x == DPI_NONE)
        return DPI_NONE;
    for (int k = 0; k < component->n_args; k++)
        theta[k] = along(g, arg[k + 1], x);
    dpi_id each = component->log_density(g, x, theta);
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

static void draw_of(const dpi_family *component, gsl_rng *rng, const double *const arg[],
                    const size_t arg_size[], size_t n, double *out)
{
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
static dpi_id mean_of(const dpi_family *component, dpi_graph *g, const dpi_id arg[])
{
    dpi_id theta[DPI_MAX_ARGS], matrix = DPI_NONE;
    for (int k = 1; k <= component->n_args; k++)
        if (arg[k] != DPI_NONE && dpi_get(g, arg[k])->shape.n_dims == 2)
            matrix = arg[k];
    for (int k = 0; k < component->n_args; k++) {
        theta[k] = arg[k + 1];
        if (matrix != DPI_NONE && dpi_get(g, theta[k])->shape.n_dims == 1)
            theta[k] = dpi_spread_over(g, theta[k], matrix);
    }
    dpi_id each = component->mean != NULL ? component->mean(g, theta) : DPI_NONE;
    if (each == DPI_NONE || arg[0] == DPI_NONE || dpi_get(g, each)->shape.n_dims == 0)
        return each;
    dpi_id whole = dpi_unary(g, &dpi_op_sum_last, arg[0]);
    if (dpi_get(g, each)->shape.n_dims == 2)
        return dpi_div(g, dpi_apply(g, &dpi_op_matmul, arg[0], each, NULL), whole);
    return dpi_div(g, dpi_unary(g, &dpi_op_sum_last, dpi_times(g, arg[0], each)), whole);
}

/* clang-format off */
#define LIST(...) __VA_ARGS__

/* A row for components of a family, whose support and arguments it repeats (t-mixture compares
 * them). */
#define MIXTURE(of, on, count, names, domains)                                                     \
    static dpi_id of##_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])                     \
    {                                                                                              \
        return log_density_of(&dpi_##of, g, x, arg);                                               \
    }                                                                                              \
    static void of##_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],        \
                          size_t n, double *out)                                                   \
    {                                                                                              \
        draw_of(&dpi_##of, rng, arg, arg_size, n, out);                                            \
    }                                                                                              \
    static dpi_id of##_mean(dpi_graph *g, const dpi_id arg[])                                      \
    {                                                                                              \
        return mean_of(&dpi_##of, g, arg);                                                         \
    }                                                                                              \
    static const dpi_family mixture_of_##of = {                                                    \
        .name = "mixture of " #of,                                                                 \
        .formula = "log sum_k weights_k p(x | component k) - log sum_k weights_k, p " #of,         \
        .n_args = 1 + (count), .arg_name = {"weights", LIST names},                                \
        .arg_domain = {DPI_POSITIVE, LIST domains}, .support = on, .component = &dpi_##of,         \
        .takes = "weights [K], K at least 2, and components' arguments that are numbers, [K] or "  \
                 "[K][d]",                                                                         \
        .log_density = of##_log_density, .draw_joint = of##_draw, .mean = of##_mean}

MIXTURE(normal, DPI_REAL, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
MIXTURE(half_normal, DPI_ABOVE_ZERO, 1, ("scale"), (DPI_POSITIVE));
MIXTURE(log_normal, DPI_ABOVE_ZERO, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
MIXTURE(student_t, DPI_REAL, 3, ("df", "loc", "scale"), (DPI_POSITIVE, DPI_ANY, DPI_POSITIVE));
MIXTURE(cauchy, DPI_REAL, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
MIXTURE(half_cauchy, DPI_ABOVE_ZERO, 1, ("scale"), (DPI_POSITIVE));
MIXTURE(laplace, DPI_REAL, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
MIXTURE(gumbel, DPI_REAL, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
MIXTURE(exponential, DPI_ABOVE_ZERO, 1, ("rate"), (DPI_POSITIVE));
MIXTURE(gamma, DPI_ABOVE_ZERO, 2, ("shape", "rate"), (DPI_POSITIVE, DPI_POSITIVE));
MIXTURE(inverse_gamma, DPI_ABOVE_ZERO, 2, ("shape", "scale"), (DPI_POSITIVE, DPI_POSITIVE));
MIXTURE(beta, DPI_UNIT, 2, ("a", "b"), (DPI_POSITIVE, DPI_POSITIVE));
MIXTURE(bernoulli_logit, DPI_BINARY, 1, ("logit"), (DPI_ANY));
MIXTURE(poisson_log, DPI_COUNT, 1, ("log_rate"), (DPI_ANY));
/* clang-format on */

const dpi_family *const dpi_mixtures[] = {
    &mixture_of_normal,        &mixture_of_half_normal, &mixture_of_log_normal,
    &mixture_of_student_t,     &mixture_of_cauchy,      &mixture_of_half_cauchy,
    &mixture_of_laplace,       &mixture_of_exponential, &mixture_of_gamma,
    &mixture_of_inverse_gamma, &mixture_of_beta,        &mixture_of_bernoulli_logit,
    &mixture_of_poisson_log,   &mixture_of_gumbel,
};
const size_t dpi_n_mixtures = sizeof dpi_mixtures / sizeof dpi_mixtures[0];

static const dpi_family no_mixture = {
    .name = "mixture",
    .refused = "dp_mixture takes components of a family of single numbers on a support that no "
               "argument moves, such as dp_normal_v; not uniform, binomial, chance, categorical, "
               "Dirichlet or another mixture",
};

const dpi_family *dpi_mixture_of(const dpi_family *component)
{
    for (size_t i = 0; i < dpi_n_mixtures; i++)
        if (dpi_mixtures[i]->component == component)
            return dpi_mixtures[i];
    return &no_mixture;
}
