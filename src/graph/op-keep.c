/* The choice between two values, as a sum of two of these, each 0 where the other is chosen.
 *
 *   keep 0   y = a where b is not 0, else 0;     keep 1   y = a where b is 0, else 0
 *
 * with attr.number for 0 or 1.  A selection and not a product with 0 or 1, so that what is not
 * chosen may be infinite or not a number; where b is not a number, y is none.  The adjoint of a is
 * kept as a was, and b has none.
 *
 * An adjoint that is 0 because its value was not chosen still meets the derivatives of what that
 * value was made of, and 0 times an infinite slope is not a number.  So reverse mode takes an
 * adjoint apart (dpi_kept), goes back number by number from what is kept, and keeps what comes out
 * (graph/gradient.c). */
#include <stdio.h>

#include "graph/op.h"

dpi_id dpi_keep(dpi_graph *g, dpi_id a, dpi_mask mask)
{
    return dpi_apply(g, &dpi_op_keep, a, mask.condition, &(dpi_attr){.number = mask.where_zero});
}

bool dpi_kept(const dpi_graph *g, dpi_id value, dpi_id *a, dpi_mask *mask)
{
    const dpi_node *node = dpi_get(g, value);
    bool is = node->op == &dpi_op_keep;
    *a = is ? node->in[0] : value;
    *mask = (dpi_mask){is ? node->in[1] : DPI_NONE, is && node->attr.number == 1};
    return is;
}

dpi_id dpi_choose(dpi_graph *g, dpi_id chosen, dpi_id a, dpi_id b)
{
    return dpi_add(g, dpi_keep(g, a, (dpi_mask){chosen, false}),
                   dpi_keep(g, b, (dpi_mask){chosen, true}));
}

/* What is kept already is not kept again. */
static dpi_id keep_simplify(dpi_graph *g, const dpi_node *node)
{
    const dpi_node *a = dpi_get(g, node->in[0]);
    bool again =
        a->op == node->op && a->in[1] == node->in[1] && a->attr.number == node->attr.number;
    return again ? node->in[0] : DPI_NONE;
}

static const char *keep_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                              dpi_shape *shape)
{
    return attr->number > 1 ? "values are kept where a condition is not 0 (0) or where it is (1)"
                            : dpi_binary_shape(a, b, attr, shape);
}

static void keep_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    result[0] = dpi_apply(g, &dpi_op_keep, adjoint, node.in[1], &node.attr);
}

static void keep_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu", node->attr.number);
}

const dpi_op dpi_op_keep = {.id = DPI_OP_keep,
                            .name = "keep",
                            .formula = "a where b is not 0 (keep 1: where it is), else 0",
                            .class = DPI_SELECTION,
                            .given = DPI_ATTR_NUMBER,
                            .n_inputs = 2,
                            .broadcasts = true,
                            .shape = keep_shape,
                            .backward = keep_backward,
                            .flops = dpi_flops_cheap,
                            .simplify = keep_simplify,
                            .detail = keep_detail};
