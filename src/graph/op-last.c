/* The last dimension: summed away, summed away in logarithms, put there again, and shortened by
 * one.
 *
 *   sum_last     [..][d] -> [..]     log_sum_exp  [..][d] -> [..]     spread  [..] -> [..][d]
 *   contrast     [..][d] -> [..][d + 1], and transposed [..][d + 1] -> [..][d]
 *
 * Broadcasting repeats over leading dimensions (op-reduce.c); these are for values that have a
 * number for each row: the components of a mixture, each with a density of d numbers. */
#include "graph/op.h"

static const char *drop_last(const dpi_shape *a, dpi_attr *attr, dpi_shape *shape)
{
    *shape = *a;
    shape->n_dims--;
    attr->inner = a->dim[shape->n_dims];
    shape->dim[shape->n_dims] = 0;
    shape->plate[shape->n_dims] = 0;
    return NULL;
}

dpi_id dpi_spread_over(dpi_graph *g, dpi_id y, dpi_id a)
{
    if (y == DPI_NONE || a == DPI_NONE)
        return DPI_NONE;
    const dpi_shape shape = dpi_get(g, a)->shape;
    if (shape.n_dims <= 1)
        return y; /* a number is repeated by broadcasting */
    dpi_attr attr = {.number = shape.dim[shape.n_dims - 1],
                     .shape.plate[0] = shape.plate[shape.n_dims - 1]};
    return dpi_apply(g, &dpi_op_spread, y, DPI_NONE, &attr);
}

/* y = sum_j a_j over the last dimension, of attr.inner numbers. */
static const char *sum_last_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    return a->n_dims > 0 ? drop_last(a, attr, shape) : "a sum over the last dimension needs one";
}

static void sum_last_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    bool is_number = dpi_get(g, adjoint)->shape.n_dims == 0;
    result[0] = is_number
                    ? adjoint
                    : dpi_spread_over(g, dpi_full_adjoint(g, y, adjoint), dpi_get(g, y)->in[0]);
}

/* y = log sum_j e^(a_j) over the last dimension, of attr.inner numbers. */
static const char *log_sum_exp_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                     dpi_shape *shape)
{
    (void)b;
    return a->n_dims > 0 ? drop_last(a, attr, shape) : "log_sum_exp takes a vector or rows";
}

/* dy/da_j = e^(a_j - y) */
static void log_sum_exp_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id a = dpi_get(g, y)->in[0];
    bool is_number = dpi_get(g, adjoint)->shape.n_dims == 0;
    dpi_id share = dpi_unary(g, &dpi_op_exp, dpi_sub(g, a, dpi_spread_over(g, y, a)));
    dpi_id each = is_number ? adjoint : dpi_spread_over(g, dpi_full_adjoint(g, y, adjoint), a);
    result[0] = dpi_times(g, each, share);
}

size_t dpi_log_summed(const dpi_node *node)
{
    return node->op == &dpi_op_log_sum_exp ? node->attr.inner : 0;
}

/* y_j = a for j < attr.number, along a new last dimension of the plate attr.shape.plate[0]. */
static const char *spread_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    if (a->n_dims == DPI_MAX_DIMS || attr->number == 0)
        return "it cannot have one more dimension";
    *shape = *a;
    shape->plate[shape->n_dims] = attr->shape.plate[0];
    shape->dim[shape->n_dims++] = attr->number;
    return NULL;
}

static void spread_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_unary(g, &dpi_op_sum_last, dpi_full_adjoint(g, y, adjoint));
}

/* y = V a, where V is [d + 1][d] with orthonormal columns that sum to 0 (Helmert's):
 *
 *   V_ij = s_j for i <= j,  -(j + 1) s_j for i = j + 1,  else 0,   s_j = 1 / sqrt((j + 1) (j + 2)).
 *
 * Lengths stay as they are.  With attr.transpose[0], y = V^T a, which undoes it. */
static const char *contrast_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    bool back = attr->transpose[0];
    size_t d = a->n_dims > 0 ? a->dim[a->n_dims - 1] : 0;
    if (d < (back ? 2 : 1))
        return "contrasts are of two numbers or more";
    *shape = *a;
    shape->dim[a->n_dims - 1] = attr->inner = back ? d - 1 : d + 1;
    return NULL;
}

static void contrast_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.transpose[0] = !dpi_get(g, y)->attr.transpose[0]};
    result[0] = dpi_apply(g, &dpi_op_contrast, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static double contrast_flops(const dpi_node *node)
{
    return 4 * (double)dpi_shape_size(&node->shape);
}

static double sum_last_flops(const dpi_node *node)
{
    return (double)node->attr.inner * (double)dpi_shape_size(&node->shape);
}

static double log_sum_exp_flops(const dpi_node *node)
{
    return 21 * sum_last_flops(node);
}

const dpi_op dpi_op_sum_last = {.id = DPI_OP_sum_last,
                                .name = "sum_last",
                                .formula = "sum_j a_j over the last dimension",
                                .class = DPI_REDUCTION,
                                .n_inputs = 1,
                                .shape = sum_last_shape,
                                .backward = sum_last_backward,
                                .flops = sum_last_flops};
const dpi_op dpi_op_log_sum_exp = {.id = DPI_OP_log_sum_exp,
                                   .name = "log_sum_exp",
                                   .formula = "log sum_j e^(a_j)",
                                   .class = DPI_REDUCTION,
                                   .n_inputs = 1,
                                   .shape = log_sum_exp_shape,
                                   .backward = log_sum_exp_backward,
                                   .flops = log_sum_exp_flops};
const dpi_op dpi_op_spread = {.id = DPI_OP_spread,
                              .name = "spread",
                              .formula = "a along a new last dimension",
                              .class = DPI_LAYOUT,
                              .given = DPI_ATTR_NUMBER | DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = spread_shape,
                              .backward = spread_backward,
                              .flops = dpi_flops_none};
const dpi_op dpi_op_contrast = {.id = DPI_OP_contrast,
                                .name = "contrast",
                                .formula = "V a, V orthonormal with columns of sum 0",
                                .class = DPI_LINEAR,
                                .given = DPI_ATTR_TRANSPOSE,
                                .n_inputs = 1,
                                .shape = contrast_shape,
                                .backward = contrast_backward,
                                .flops = contrast_flops};
