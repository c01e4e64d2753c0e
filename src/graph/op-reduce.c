/* Sums over leading dimensions or records, and their inverses. */
#include "graph/op.h"

/* y = a summed over its leading dimensions, so that y has the dimensions attr.shape; attr.inner is
 * the size of a. */
static const char *sum_to_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    dpi_shape joined;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    if (!dpi_shape_join(a, shape, &joined) || !dpi_shape_same(a, &joined))
        return "it cannot be summed to that shape";
    attr->inner = dpi_shape_size(a);
    return NULL;
}

static void sum_to_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)g;
    (void)y;
    result[0] = adjoint; /* broadcasting does the rest */
}

/* y = a repeated over the leading dimensions of attr.shape. */
static const char *expand_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    dpi_shape joined;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    if (!dpi_shape_join(a, shape, &joined) || !dpi_shape_same(shape, &joined))
        return "it cannot be repeated to that shape";
    return NULL;
}

static void expand_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] =
        dpi_sum_to(g, dpi_full_adjoint(g, y, adjoint), dpi_get(g, dpi_get(g, y)->in[0])->shape);
}

/* y = sum over records of a_i; the executor adds chunk after chunk to the result, which it has set
 * to zero before the first. */
static const char *sum_records_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                     dpi_shape *shape)
{
    (void)b;
    (void)attr;
    if (!a->per_record)
        return "only a value of each record can be summed over records";
    *shape = *a;
    shape->per_record = false;
    return NULL;
}

static void sum_records_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = dpi_times(g, adjoint, dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL));
}

static double sum_to_flops(const dpi_node *node)
{
    return (double)node->attr.inner;
}

const dpi_op dpi_op_sum_to = {.id = DPI_OP_sum_to,
                              .name = "sum",
                              .formula = "sum over leading dimensions of a",
                              .class = DPI_REDUCTION,
                              .given = DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = sum_to_shape,
                              .backward = sum_to_backward,
                              .flops = sum_to_flops};
const dpi_op dpi_op_expand = {.id = DPI_OP_expand,
                              .name = "expand",
                              .formula = "a repeated over leading dimensions",
                              .class = DPI_LAYOUT,
                              .given = DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = expand_shape,
                              .backward = expand_backward,
                              .flops = dpi_flops_none};
const dpi_op dpi_op_sum_records = {.id = DPI_OP_sum_records,
                                   .name = "sum_records",
                                   .formula = "sum_i a_i over records",
                                   .class = DPI_REDUCTION,
                                   .n_inputs = 1,
                                   .shape = sum_records_shape,
                                   .backward = sum_records_backward,
                                   .flops = dpi_flops_cheap,
                                   .over_records = true};

dpi_id dpi_expanded(const dpi_graph *g, dpi_id value)
{
    const dpi_node *node = dpi_get(g, value);
    return node->op == &dpi_op_expand ? node->in[0] : value;
}
