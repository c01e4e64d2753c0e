/* Independent numbers of one family, given that they are in increasing order.
 *
 * Of n! orders one is left, so the density is n! times the product of theirs, and a draw is n of
 * them sorted: both hold only where all have the same distribution. */
#include <gsl/gsl_sort.h>
#include <math.h>

#include "dist/family.h"

static dpi_id log_density_of(const dpi_family *base, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id each = base->log_density(g, x, arg);
    if (each == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, x)->shape;
    double n = (double)shape.dim[shape.n_dims - 1];
    return dpi_add(g, dpi_unary(g, &dpi_op_sum_last, each), dpi_constant(g, lgamma(n + 1)));
}

static void draw_of(const dpi_family *base, gsl_rng *rng, const double *const arg[],
                    const size_t arg_size[], size_t n, double *out)
{
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_draw(base, rng, arg, arg_size[0]);
    gsl_sort(out, 1, n);
}

/* clang-format off */
#define LIST(...) __VA_ARGS__

/* A row for numbers of a family, whose arguments it repeats (t-ordered compares them). */
#define ORDERED(of, count, names, domains)                                                         \
    static dpi_id of##_log_density(dpi_graph *g, dpi_id x, const dpi_id arg[])                     \
    {                                                                                              \
        return log_density_of(&dpi_##of, g, x, arg);                                               \
    }                                                                                              \
    static void of##_draw(gsl_rng *rng, const double *const arg[], const size_t arg_size[],        \
                          size_t n, double *out)                                                   \
    {                                                                                              \
        draw_of(&dpi_##of, rng, arg, arg_size, n, out);                                            \
    }                                                                                              \
    static const dpi_family ordered_##of = {                                                       \
        .name = "ordered " #of,                                                                    \
        .formula = "sum_k log p(x_k) + log n! for x_1 <= x_2 <= ..., p " #of,                      \
        .n_args = (count), .arg_name = {LIST names}, .arg_domain = {LIST domains},                 \
        .support = DPI_ORDERED, .each = &dpi_##of,                                                 \
        .arg_kind = {DPI_ONE, DPI_ONE, DPI_ONE}, .takes = "arguments that are numbers",            \
        .log_density = of##_log_density, .draw_joint = of##_draw,                                  \
        .no_mean = "means of numbers in order have no closed form here"}

ORDERED(normal, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
ORDERED(student_t, 3, ("df", "loc", "scale"), (DPI_POSITIVE, DPI_ANY, DPI_POSITIVE));
ORDERED(cauchy, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
ORDERED(laplace, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
ORDERED(logistic_distribution, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
ORDERED(gumbel, 2, ("loc", "scale"), (DPI_ANY, DPI_POSITIVE));
/* clang-format on */

const dpi_family *const dpi_ordered[] = {
    &ordered_normal,
    &ordered_student_t,
    &ordered_cauchy,
    &ordered_laplace,
    &ordered_logistic_distribution,
    &ordered_gumbel,
};
const size_t dpi_n_ordered = sizeof dpi_ordered / sizeof dpi_ordered[0];

static const dpi_family not_ordered = {
    .name = "ordered",
    .refused = "dp_ordered takes a family of single real numbers: dp_normal, dp_student_t, "
               "dp_cauchy, dp_laplace, dp_logistic_distribution or dp_gumbel",
};

const dpi_family *dpi_ordered_of(const dpi_family *each)
{
    for (size_t i = 0; i < dpi_n_ordered; i++)
        if (dpi_ordered[i]->each == each)
            return dpi_ordered[i];
    return &not_ordered;
}
