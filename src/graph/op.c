/* The table of operations, the rules that rows share, and the shorthands that add nodes. */
#include "graph/op.h"

#define ROW(name) [DPI_OP_##name] = &dpi_op_##name,
const dpi_op *const dpi_ops[DPI_N_OPS] = {DPI_OPS(ROW)};

const char *dpi_binary_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                             dpi_shape *shape)
{
    (void)attr;
    if (dpi_shape_join(a, b, shape))
        return NULL;
    if (a->per_record != b->per_record)
        return "the smaller must be the last dimensions of the larger; a value per group meets "
               "records by dp_pick(value, index)";
    return "the shapes must be equal, or the smaller one the last dimensions of the larger";
}

const char *dpi_unary_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                            dpi_shape *shape)
{
    (void)b;
    (void)attr;
    *shape = *a;
    return NULL;
}

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
