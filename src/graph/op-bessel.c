/* y = log(I_0(a) e^-a), the logarithm of a modified Bessel function, or its derivative of order n =
 * attr.number;  y' = that of order n + 1, which is not a number from 5 on (num/bessel.h). */
#include <stdio.h>

#include "graph/op.h"

dpi_id dpi_log_bessel_node(dpi_graph *g, size_t order, dpi_id a)
{
    return dpi_apply(g, &dpi_op_log_bessel, a, DPI_NONE, &(dpi_attr){.number = order});
}

static void log_bessel_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_id slope = dpi_log_bessel_node(g, node.attr.number + 1, node.in[0]);
    result[0] = dpi_times(g, adjoint, slope);
}

static void log_bessel_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu", node->attr.number);
}

const dpi_op dpi_op_log_bessel = {.id = DPI_OP_log_bessel,
                                  .name = "log_bessel",
                                  .formula = "log(I_0(a) e^-a), or a derivative",
                                  .class = DPI_ELEMENTWISE,
                                  .given = DPI_ATTR_NUMBER,
                                  .n_inputs = 1,
                                  .shape = dpi_unary_shape,
                                  .backward = log_bessel_backward,
                                  .flops = dpi_flops_transcendental,
                                  .detail = log_bessel_detail};
