/* Operations that networks put between their products: rectifiers, the normal distribution
 * function, and the larger of two numbers.
 *
 * Where a derivative jumps, it is that of the side below: of relu at 0 the slope s for numbers
 * below 0, of max of equal numbers that of the right one.  The derivatives are nodes too (step),
 * whose own derivative is 0.  What is not a number stays so.  GELU is a Phi(a) (Hendrycks and
 * Gimpel 2016, arXiv:1606.08415). */
#include <gsl/gsl_math.h>
#include <math.h>

#include "graph/op.h"

/* y = a for a > 0, else s a, s = attr.value;  y' = step(a, 0) */
static void relu_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.value = node.attr.value};
    dpi_id slope = dpi_apply(g, &dpi_op_step, node.in[0], dpi_constant(g, 0), &attr);
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = the larger of a and b;  dy/da = step(a, b), dy/db = 1 - step(a, b) */
static void max_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_id left = dpi_apply(g, &dpi_op_step, node.in[0], node.in[1], NULL);
    result[0] = dpi_times(g, adjoint, left);
    result[1] = dpi_times(g, adjoint, dpi_sub(g, dpi_constant(g, 1), left));
}

/* y = Phi(a) = erfc(-a / sqrt 2) / 2, which keeps its digits far below 0;  y' = e^(-a^2 / 2) /
 * sqrt(2 pi) */
static void normal_cdf_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id half = dpi_scale(g, -0.5, dpi_unary(g, &dpi_op_square, dpi_get(g, y)->in[0]));
    dpi_id density = dpi_scale(g, 1 / sqrt(2 * M_PI), dpi_unary(g, &dpi_op_exp, half));
    result[0] = dpi_times(g, adjoint, density);
}

const dpi_op dpi_op_relu = {.id = DPI_OP_relu,
                            .name = "relu",
                            .formula = "a for a > 0, else s a",
                            .class = DPI_ELEMENTWISE,
                            .given = DPI_ATTR_VALUE,
                            .n_inputs = 1,
                            .shape = dpi_unary_shape,
                            .backward = relu_backward,
                            .flops = dpi_flops_cheap};
/* s = attr.value;  y' = 0 */
const dpi_op dpi_op_step = {.id = DPI_OP_step,
                            .name = "step",
                            .formula = "1 for a > b, else s",
                            .class = DPI_ELEMENTWISE,
                            .given = DPI_ATTR_VALUE,
                            .n_inputs = 2,
                            .broadcasts = true,
                            .shape = dpi_binary_shape,
                            .flops = dpi_flops_cheap};
const dpi_op dpi_op_max = {.id = DPI_OP_max,
                           .name = "max",
                           .formula = "the larger of a and b",
                           .class = DPI_ELEMENTWISE,
                           .n_inputs = 2,
                           .broadcasts = true,
                           .shape = dpi_binary_shape,
                           .backward = max_backward,
                           .flops = dpi_flops_cheap};
const dpi_op dpi_op_normal_cdf = {.id = DPI_OP_normal_cdf,
                                  .name = "normal_cdf",
                                  .formula = "Phi(a)",
                                  .class = DPI_ELEMENTWISE,
                                  .n_inputs = 1,
                                  .shape = dpi_unary_shape,
                                  .backward = normal_cdf_backward,
                                  .flops = dpi_flops_transcendental};
