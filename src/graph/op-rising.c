/* y = log Gamma(a + b) - log Gamma(a), the logarithm of the rising factorial a (a + 1) ... (a + b -
 * 1) where b is a count, and its derivatives with respect to a, of order n = attr.number:
 *
 *   y_n = psi_(n-1)(a + b) - psi_(n-1)(a),   dy_n/da = y_(n+1),   dy_n/db = psi_n(a + b).
 *
 * Densities of counts whose chance itself varies are made of it; in the difference of two lgamma
 * all digits cancel where a is large (num/rising.h). */
#include <stdio.h>

#include "graph/op.h"

dpi_id dpi_rising_node(dpi_graph *g, size_t order, dpi_id a, dpi_id b)
{
    return dpi_apply(g, &dpi_op_rising, a, b, &(dpi_attr){.number = order});
}

static void rising_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_id a = node.in[0], b = node.in[1];
    size_t order = node.attr.number;
    result[0] = dpi_times(g, adjoint, dpi_rising_node(g, order + 1, a, b));
    result[1] = dpi_times(g, adjoint, dpi_polygamma_node(g, order, dpi_add(g, a, b)));
}

static void rising_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu", node->attr.number);
}

const dpi_op dpi_op_rising = {.id = DPI_OP_rising,
                              .name = "rising",
                              .formula = "log Gamma(a + b) - log Gamma(a), or psi_(n-1) of both",
                              .class = DPI_ELEMENTWISE,
                              .given = DPI_ATTR_NUMBER,
                              .n_inputs = 2,
                              .broadcasts = true,
                              .shape = dpi_binary_shape,
                              .backward = rising_backward,
                              .flops = dpi_flops_transcendental,
                              .detail = rising_detail};
