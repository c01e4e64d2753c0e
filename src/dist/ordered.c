/* Independent numbers of one family, given that they are in increasing order.
 *
 * Of n! orders one is left, so the density is n! times the product of theirs, and a draw is n of
 * them sorted: both hold only where all have the same distribution. */
#include <gsl/gsl_sort.h>
#include <math.h>

#include "dist/form.h"

static dpi_id log_density(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id each = dpi_family_log_density(row->base, g, x, arg);
    if (each == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, x)->shape;
    double n = (double)shape.dim[shape.n_dims - 1];
    return dpi_add(g, dpi_unary(g, &dpi_op_sum_last, each), dpi_constant(g, lgamma(n + 1)));
}

static void draw(const dpi_family *row, gsl_rng *rng, const double *const arg[],
                 const size_t arg_size[], size_t n, double *out)
{
    for (size_t k = 0; k < n; k++)
        out[k] = dpi_draw(row->base, rng, arg, arg_size[0]);
    gsl_sort(out, 1, n);
}

static const char *refuses(const dpi_family *base)
{
    return dpi_mixes(base) && base->form == NULL && base->support == DPI_REAL && !base->improper
               ? NULL
               : "its numbers are of a family of single real numbers, such as dp_normal or "
                 "dp_student_t";
}

static void fill(const dpi_family *base, dpi_family *row)
{
    (void)base;
    row->support = DPI_ORDERED;
    row->takes = "arguments that are numbers";
    row->no_mean = "means of numbers in order have no closed form here";
    for (int k = 0; k < row->n_args; k++)
        row->arg_kind[k] = DPI_ONE;
}

const dpi_form dpi_ordered = {
    .code = DPI_IN_ORDER,
    .name = "ordered",
    .in_words = true,
    .formula = "sum_k log f(x_k) + log n! for x_1 <= x_2 <= ..., f of the base",
    .refuses = refuses,
    .fill = fill,
    .log_density = log_density,
    .draw_joint = draw,
};
