/* Functions of one number: y = f(a), number by number.
 *
 * Each formula is followed by its rule: a's adjoint is (adjoint of y) * f'(a), written as nodes. */
#include <stdio.h>

#include "graph/op.h"

/* y = e^a;  y' = y */
static void exp_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, y);
}

dpi_id dpi_log_of(dpi_graph *g, dpi_id a)
{
    const dpi_node *node = a != DPI_NONE ? dpi_get(g, a) : NULL;
    const bool is_power = node != NULL && node->op == &dpi_op_exp && !node->closed;
    return is_power ? node->in[0] : dpi_unary(g, &dpi_op_log, a);
}

/* y = e^a - 1;  y' = e^a, which y + 1 has lost where a is far below 0 */
static void expm1_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id slope = dpi_unary(g, &dpi_op_exp, dpi_get(g, y)->in[0]);
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = log a;  y' = 1 / a */
static void log_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_div(g, adjoint, dpi_get(g, y)->in[0]);
}

/* y = log(1 + a);  y' = 1 / (1 + a) */
static void log1p_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_div(g, adjoint, dpi_add(g, dpi_get(g, y)->in[0], dpi_constant(g, 1)));
}

/* y = sqrt a;  y' = 1 / (2 y) */
static void sqrt_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_scale(g, 0.5, dpi_div(g, adjoint, y));
}

/* y = a^2;  y' = 2 a */
static void square_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, dpi_scale(g, 2, adjoint), dpi_get(g, y)->in[0]);
}

/* y = 1 / (1 + e^-a);  y' = y (1 - y) */
static void logistic_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id rest = dpi_unary(g, &dpi_op_logistic, dpi_unary(g, &dpi_op_neg, dpi_get(g, y)->in[0]));
    result[0] = dpi_times(g, adjoint, dpi_times(g, y, rest));
}

/* y = log(1 + e^a);  y' = logistic(a) */
static void softplus_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_unary(g, &dpi_op_logistic, dpi_get(g, y)->in[0]));
}

/* y = tanh a;  y' = 1 - y^2 */
static void tanh_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id slope = dpi_sub(g, dpi_constant(g, 1), dpi_unary(g, &dpi_op_square, y));
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = |a|;  y' = sign(a) */
static void abs_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_unary(g, &dpi_op_sign, dpi_get(g, y)->in[0]));
}

/* y = sin a;  y' = cos a */
static void sin_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_unary(g, &dpi_op_cos, dpi_get(g, y)->in[0]));
}

/* y = cos a;  y' = -sin a */
static void cos_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id slope = dpi_unary(g, &dpi_op_sin, dpi_get(g, y)->in[0]);
    result[0] = dpi_unary(g, &dpi_op_neg, dpi_times(g, adjoint, slope));
}

/* y = log Gamma(a);  y' = digamma(a) */
static void lgamma_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_polygamma_node(g, 0, dpi_get(g, y)->in[0]));
}

/* y = psi_n(a), the derivative of order n of digamma, n = attr.number;  y' = psi_(n+1)(a) */
static void polygamma_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node *node = dpi_get(g, y);
    size_t next = node->attr.number + 1;
    dpi_id a = node->in[0];
    result[0] = dpi_times(g, adjoint, dpi_polygamma_node(g, next, a));
}

static void polygamma_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu", node->attr.number);
}

#define ROW(op_name, op_formula, cost)                                                             \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_ELEMENTWISE,     \
    .n_inputs = 1, .shape = dpi_unary_shape, .flops = cost
#define UNARY(op_name, op_formula, cost)                                                           \
    {                                                                                              \
        ROW(op_name, op_formula, cost), .backward = op_name##_backward                             \
    }

const dpi_op dpi_op_exp = UNARY(exp, "e^a", dpi_flops_transcendental);
const dpi_op dpi_op_expm1 = UNARY(expm1, "e^a - 1", dpi_flops_transcendental);
const dpi_op dpi_op_log = UNARY(log, "log a", dpi_flops_transcendental);
const dpi_op dpi_op_log1p = UNARY(log1p, "log(1 + a)", dpi_flops_transcendental);
const dpi_op dpi_op_sqrt = UNARY(sqrt, "sqrt a", dpi_flops_cheap);
const dpi_op dpi_op_square = UNARY(square, "a^2", dpi_flops_cheap);
const dpi_op dpi_op_logistic = UNARY(logistic, "1 / (1 + e^-a)", dpi_flops_transcendental);
const dpi_op dpi_op_softplus = UNARY(softplus, "log(1 + e^a)", dpi_flops_transcendental);
const dpi_op dpi_op_tanh = UNARY(tanh, "tanh a", dpi_flops_transcendental);
const dpi_op dpi_op_abs = UNARY(abs, "|a|", dpi_flops_cheap);
/* NaN for NaN;  y' = 0 */
const dpi_op dpi_op_sign = {ROW(sign, "sign of a", dpi_flops_cheap)};
const dpi_op dpi_op_sin = UNARY(sin, "sin a", dpi_flops_transcendental);
const dpi_op dpi_op_cos = UNARY(cos, "cos a", dpi_flops_transcendental);
const dpi_op dpi_op_lgamma = UNARY(lgamma, "log Gamma(a)", dpi_flops_transcendental);
const dpi_op dpi_op_polygamma = {ROW(polygamma, "psi_n(a)", dpi_flops_transcendental),
                                 .given = DPI_ATTR_NUMBER, .backward = polygamma_backward,
                                 .detail = polygamma_detail};
