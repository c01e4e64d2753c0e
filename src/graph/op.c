/* The table of operations and the shorthands that add them. */
#include "graph/op.h"

const dpi_op *const dpi_ops[] = {
    &dpi_op_const,      &dpi_op_input,       &dpi_op_data,        &dpi_op_index,
    &dpi_op_ones,       &dpi_op_add,         &dpi_op_sub,         &dpi_op_mul,
    &dpi_op_div,        &dpi_op_neg,         &dpi_op_exp,         &dpi_op_expm1,
    &dpi_op_log,        &dpi_op_log1p,       &dpi_op_sqrt,        &dpi_op_square,
    &dpi_op_logistic,   &dpi_op_softplus,    &dpi_op_tanh,        &dpi_op_abs,
    &dpi_op_sign,       &dpi_op_lgamma,      &dpi_op_polygamma,   &dpi_op_sum_to,
    &dpi_op_expand,     &dpi_op_log_sum_exp, &dpi_op_sum_records, &dpi_op_matmul,
    &dpi_op_outer,      &dpi_op_pick,        &dpi_op_scatter,     &dpi_op_slice,
    &dpi_op_pad,        &dpi_op_sum_last,    &dpi_op_spread,      &dpi_op_contrast,
    &dpi_op_relu,       &dpi_op_step,        &dpi_op_max,         &dpi_op_normal_cdf,
    &dpi_op_group_mean, &dpi_op_reshape,     &dpi_op_patches,     &dpi_op_fold,
    &dpi_op_pool_sum,   &dpi_op_unpool_sum,  &dpi_op_pool_max,    &dpi_op_unpool_max,
};
const size_t dpi_n_ops = sizeof dpi_ops / sizeof dpi_ops[0];

double dpi_flops_none(const dpi_node *node)
{
    (void)node;
    return 0;
}

double dpi_flops_cheap(const dpi_node *node)
{
    return (double)dpi_shape_size(&node->shape);
}

double dpi_flops_transcendental(const dpi_node *node)
{
    return 20 * (double)dpi_shape_size(&node->shape);
}

dpi_id dpi_add(dpi_graph *g, dpi_id a, dpi_id b)
{
    return dpi_apply(g, &dpi_op_add, a, b, NULL);
}

dpi_id dpi_sub(dpi_graph *g, dpi_id a, dpi_id b)
{
    return dpi_apply(g, &dpi_op_sub, a, b, NULL);
}

dpi_id dpi_times(dpi_graph *g, dpi_id a, dpi_id b)
{
    return dpi_apply(g, &dpi_op_mul, a, b, NULL);
}

dpi_id dpi_div(dpi_graph *g, dpi_id a, dpi_id b)
{
    return dpi_apply(g, &dpi_op_div, a, b, NULL);
}

dpi_id dpi_unary(dpi_graph *g, const dpi_op *op, dpi_id a)
{
    return dpi_apply(g, op, a, DPI_NONE, NULL);
}

dpi_id dpi_scale(dpi_graph *g, double factor, dpi_id a)
{
    return dpi_times(g, dpi_constant(g, factor), a);
}

dpi_id dpi_polygamma_node(dpi_graph *g, size_t order, dpi_id a)
{
    return dpi_apply(g, &dpi_op_polygamma, a, DPI_NONE, &(dpi_attr){.number = order});
}

dpi_id dpi_sum_to(dpi_graph *g, dpi_id a, dpi_shape shape)
{
    if (a == DPI_NONE || dpi_shape_same(&dpi_get(g, a)->shape, &shape))
        return a;
    return dpi_apply(g, &dpi_op_sum_to, a, DPI_NONE, &(dpi_attr){.shape = shape});
}

dpi_id dpi_sum(dpi_graph *g, dpi_id a)
{
    return dpi_sum_to(g, a, dpi_scalar(false));
}

dpi_id dpi_expand(dpi_graph *g, dpi_id a, dpi_shape shape)
{
    if (a == DPI_NONE || dpi_shape_same(&dpi_get(g, a)->shape, &shape))
        return a;
    return dpi_apply(g, &dpi_op_expand, a, DPI_NONE, &(dpi_attr){.shape = shape});
}

dpi_id dpi_full_adjoint(dpi_graph *g, dpi_id y, dpi_id adjoint)
{
    return dpi_expand(g, adjoint, dpi_get(g, y)->shape);
}
