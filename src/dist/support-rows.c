/* Bijectors onto rows of numbers, and back; the formulas are in support.h. */
#include "dist/support-rows.h"

#include <float.h>
#include <math.h>

/* ---- the simplex ---- */

/* K numbers, up to a common factor. */
static dpi_id simplex_logits(dpi_graph *g, dpi_id z)
{
    return dpi_unary(g, &dpi_op_contrast, z);
}

dpi_id dpi_simplex_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    dpi_id logits = simplex_logits(g, z);
    dpi_id top = dpi_spread_over(g, dpi_unary(g, &dpi_op_log_sum_exp, logits), logits);
    dpi_id below_one =
        dpi_scale(g, 1 - DBL_EPSILON / 2, dpi_unary(g, &dpi_op_exp, dpi_sub(g, logits, top)));
    return dpi_add(g, below_one, dpi_constant(g, DBL_MIN));
}

dpi_id dpi_simplex_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    dpi_id logits = simplex_logits(g, z);
    if (logits == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, logits)->shape;
    double k = (double)shape.dim[shape.n_dims - 1];
    dpi_id shrink = dpi_scale(g, -k, dpi_unary(g, &dpi_op_log_sum_exp, logits));
    return dpi_add(g, shrink, dpi_constant(g, 0.5 * log(k)));
}

static size_t simplex_n_free(size_t n)
{
    return n - 1;
}

static const char *simplex_wrong(size_t n, const double *x, double off)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    return fabs(sum - 1) <= off ? NULL : "the numbers do not sum to 1";
}

/* z = V' log x: column j of V has j ones and then -j, all over sqrt(j (j + 1)); the columns are
 * orthonormal and orthogonal to 1, so V'(V z + c 1) = z. */
static void simplex_free(size_t n, const double *x, double *z)
{
    double sum = 0;
    for (size_t j = 1; j < n; j++) {
        sum += log(x[j - 1]);
        z[j - 1] = (sum - (double)j * log(x[j])) / sqrt((double)j * (double)(j + 1));
    }
}

const dpi_row_support dpi_simplex_row = {simplex_n_free, simplex_wrong, simplex_free,
                                         "divide them by their sum", false};

/* ---- numbers in order ---- */

/* [n] with `first` at its beginning and `others` behind, along the last dimension of z. */
static dpi_id first_and_others(dpi_graph *g, dpi_id z, double first, double others)
{
    if (z == DPI_NONE)
        return DPI_NONE;
    const dpi_shape of_z = dpi_get(g, z)->shape;
    const dpi_shape shape = {.n_dims = 1, .dim = {of_z.dim[of_z.n_dims - 1]}};
    dpi_id each = dpi_expand(g, dpi_constant(g, others), shape);
    dpi_attr attr = {.number = 0, .inner = 1, .shape = shape};
    dpi_id more = dpi_constant(g, first - others);
    return dpi_add(g, each, dpi_apply(g, &dpi_op_pad, more, DPI_NONE, &attr));
}

/* The step to the first number is z_1 and to others e^z: a z of the others that is far off must not
 * meet the first one's rule, nor the other way about, as infinity times 0 is not a number. */
dpi_id dpi_ordered_constrain(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    dpi_id is_first = first_and_others(g, z, 1, 0), is_other = first_and_others(g, z, 0, 1);
    dpi_id grown = dpi_unary(g, &dpi_op_exp, dpi_times(g, z, is_other));
    dpi_id steps = dpi_add(g, dpi_times(g, z, is_first), dpi_times(g, grown, is_other));
    return dpi_unary(g, &dpi_op_cumulative_sum, steps);
}

dpi_id dpi_ordered_log_jacobian(dpi_graph *g, dpi_id z, const dpi_id arg[])
{
    (void)arg;
    return dpi_unary(g, &dpi_op_sum_last, dpi_times(g, z, first_and_others(g, z, 0, 1)));
}

static size_t ordered_n_free(size_t n)
{
    return n;
}

/* Two that rounding has made equal are in order. */
static const char *ordered_wrong(size_t n, const double *x, double off)
{
    (void)off;
    for (size_t k = 1; k < n; k++)
        if (!(x[k] >= x[k - 1]))
            return "the numbers are not in increasing order";
    return NULL;
}

static void ordered_free(size_t n, const double *x, double *z)
{
    z[0] = x[0];
    for (size_t k = 1; k < n; k++)
        z[k] = log(fmax(x[k] - x[k - 1], DBL_MIN));
}

const dpi_row_support dpi_ordered_row = {ordered_n_free, ordered_wrong, ordered_free,
                                         "put them in increasing order", false};
