/* Cumulative sums over the last dimension:
 *
 *   y_j = a_0 + ... + a_j,     with attr.transpose[0] from behind:  y_j = a_j + ... + a_(d-1).
 *
 * The one is the transpose of the other, so each is the other's rule of reverse mode.  A number is
 * a row of one.  A random walk is the cumulative sum of its steps (tacit/model.h). */
#include <stdio.h>

#include "graph/op.h"

/* attr.inner is the length of a row. */
static const char *cumulative_sum_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                        dpi_shape *shape)
{
    (void)b;
    attr->inner = a->n_dims > 0 ? a->dim[a->n_dims - 1] : 1;
    *shape = *a;
    return NULL;
}

/* Rows of one number are their own sums. */
static dpi_id cumulative_sum_simplify(dpi_graph *g, const dpi_node *node)
{
    (void)g;
    return node->attr.inner == 1 ? node->in[0] : DPI_NONE;
}

static void cumulative_sum_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.transpose[0] = !dpi_get(g, y)->attr.transpose[0]};
    result[0] =
        dpi_apply(g, &dpi_op_cumulative_sum, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static void cumulative_sum_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, "%s", node->attr.transpose[0] ? " from behind" : "");
}

const dpi_op dpi_op_cumulative_sum = {.id = DPI_OP_cumulative_sum,
                                      .name = "cumulative_sum",
                                      .formula = "a_0 + ... + a_j over the last dimension",
                                      .class = DPI_LINEAR,
                                      .given = DPI_ATTR_TRANSPOSE,
                                      .n_inputs = 1,
                                      .shape = cumulative_sum_shape,
                                      .backward = cumulative_sum_backward,
                                      .flops = dpi_flops_cheap,
                                      .simplify = cumulative_sum_simplify,
                                      .detail = cumulative_sum_detail};
