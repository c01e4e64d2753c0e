/* Logarithms of probabilities, for distribution functions: y = f(a), number by number.
 *
 * Each keeps its digits where the probability is near 0 and where it is near 1. */
#include <gsl/gsl_math.h>
#include <stdio.h>

#include "graph/op.h"

/* y = log(1 - e^a);  y' = -1 / (e^-a - 1) */
static void log1mexp_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id back = dpi_unary(g, &dpi_op_neg, dpi_get(g, y)->in[0]);
    dpi_id slope = dpi_unary(g, &dpi_op_expm1, back);
    result[0] = dpi_unary(g, &dpi_op_neg, dpi_div(g, adjoint, slope));
}

/* y = log(1 - e^-w), w = e^a;  y' = e^(a - w - y), where a - y is nearly 0 if w is */
static void cloglog_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id a = dpi_get(g, y)->in[0], w = dpi_unary(g, &dpi_op_exp, a);
    dpi_id slope = dpi_unary(g, &dpi_op_exp, dpi_sub(g, dpi_sub(g, a, y), w));
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = erf(a);  y' = 2 e^(-a^2) / sqrt(pi) */
static void erf_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id square = dpi_unary(g, &dpi_op_square, dpi_get(g, y)->in[0]);
    dpi_id bell = dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_neg, square));
    result[0] = dpi_times(g, adjoint, dpi_scale(g, M_2_SQRTPI, bell));
}

/* y = atan(a);  y' = 1 / (1 + a^2) */
static void atan_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id square = dpi_unary(g, &dpi_op_square, dpi_get(g, y)->in[0]);
    result[0] = dpi_div(g, adjoint, dpi_add(g, square, dpi_constant(g, 1)));
}

dpi_id dpi_log_normal_cdf_node(dpi_graph *g, size_t order, dpi_id a)
{
    return dpi_apply(g, &dpi_op_log_normal_cdf, a, DPI_NONE, &(dpi_attr){.number = order});
}

/* y = the derivative of log Phi(a) of order attr.number, 0 to 2;  y' = the next.  With h for the
 * first and h' for the second the third is -h' (a + 2 h) - h. */
static void log_normal_cdf_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    if (node.attr.number < 2) {
        dpi_id next = dpi_log_normal_cdf_node(g, node.attr.number + 1, node.in[0]);
        result[0] = dpi_times(g, adjoint, next);
        return;
    }
    dpi_id h = dpi_log_normal_cdf_node(g, 1, node.in[0]);
    dpi_id sum = dpi_add(g, node.in[0], dpi_scale(g, 2, h));
    dpi_id third = dpi_add(g, dpi_times(g, y, sum), h);
    result[0] = dpi_unary(g, &dpi_op_neg, dpi_times(g, adjoint, third));
}

static void log_normal_cdf_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu", node->attr.number);
}

/* y = log(1/2 + atan(a) / pi);  y' = e^-y / (pi (1 + a^2)) */
static void log_cauchy_cdf_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id square = dpi_unary(g, &dpi_op_square, dpi_get(g, y)->in[0]);
    dpi_id whole = dpi_scale(g, M_PI, dpi_add(g, square, dpi_constant(g, 1)));
    dpi_id inverse = dpi_unary(g, &dpi_op_exp, dpi_unary(g, &dpi_op_neg, y));
    result[0] = dpi_times(g, adjoint, dpi_div(g, inverse, whole));
}

/* attr.number is side + 4 first + 16 second (num/tail.h). */
dpi_id dpi_tail_node(dpi_graph *g, const dpi_op *op, dpi_tail_side side, dpi_id a, dpi_id b)
{
    return dpi_apply(g, op, a, b, &(dpi_attr){.number = side});
}

/* The next derivative of a logarithm of a probability, in a or in b; NaN for order 3 in all. */
static dpi_id next_tail(dpi_graph *g, const dpi_node *node, int k)
{
    size_t unit = k == 0 ? 4 : 16, order = node->attr.number / unit % 4;
    const dpi_attr attr = {.number = node->attr.number + (order < 3 ? unit : 0)};
    return dpi_apply(g, node->op, node->in[0], node->in[1], &attr);
}

/* y = a derivative of a logarithm of a probability of a and b;  dy/da and dy/db = the next ones. */
static void tail_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    for (int k = 0; k < 2; k++)
        result[k] = dpi_times(g, adjoint, next_tail(g, &node, k));
}

/* As above, but the logarithm's own dy/db = the density over the probability, which takes no
 * fraction: 1, -1 or 2 times that of Student's t. */
static void student_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    static const double sign[] = {1, -1, 2};
    const dpi_node node = *dpi_get(g, y);
    const size_t side = node.attr.number;
    if (side > DPI_WITHIN) {
        tail_backward(g, y, adjoint, result);
        return;
    }
    dpi_id over = dpi_sub(g, dpi_log_student_density(g, node.in[0], node.in[1]), y);
    dpi_id slope = dpi_scale(g, sign[side], dpi_unary(g, &dpi_op_exp, over));
    result[0] = dpi_times(g, adjoint, next_tail(g, &node, 0));
    result[1] = dpi_times(g, adjoint, slope);
}

static void tail_detail(const dpi_node *node, char *text, size_t size)
{
    static const char *const side[] = {"lower", "upper", "within"};
    size_t number = node->attr.number;
    (void)snprintf(text, size, " %s %zu %zu", number % 4 < 3 ? side[number % 4] : "?",
                   number / 4 % 4, number / 16 % 4);
}

/* Series and fractions of about a hundred terms. */
static double tail_flops(const dpi_node *node)
{
    return 100 * dpi_flops_transcendental(node);
}

#define ROW(op_name, op_formula)                                                                   \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_ELEMENTWISE,     \
    .n_inputs = 1, .shape = dpi_unary_shape, .flops = dpi_flops_transcendental,                    \
    .backward = op_name##_backward

const dpi_op dpi_op_log1mexp = {ROW(log1mexp, "log(1 - e^a)")};
const dpi_op dpi_op_cloglog = {ROW(cloglog, "log(1 - e^-(e^a))")};
const dpi_op dpi_op_erf = {ROW(erf, "erf a")};
const dpi_op dpi_op_atan = {ROW(atan, "atan a")};
const dpi_op dpi_op_log_cauchy_cdf = {ROW(log_cauchy_cdf, "log(1/2 + atan(a) / pi)")};
const dpi_op dpi_op_log_normal_cdf = {ROW(log_normal_cdf, "log Phi(a), or a derivative"),
                                      .given = DPI_ATTR_NUMBER, .detail = log_normal_cdf_detail};

#define TAIL(op_name, op_backward, op_formula)                                                     \
    {                                                                                              \
        .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_ELEMENTWISE, \
        .given = DPI_ATTR_NUMBER, .n_inputs = 2, .broadcasts = true, .shape = dpi_binary_shape,    \
        .backward = op_backward, .flops = tail_flops, .detail = tail_detail                        \
    }
const dpi_op dpi_op_log_gamma_tail = TAIL(
    log_gamma_tail, tail_backward, "log P(a, b) or log Q(a, b), incomplete gamma, or a derivative");
const dpi_op dpi_op_log_student_tail =
    TAIL(log_student_tail, student_backward,
         "log of a tail of Student's t from b, a its df, or a derivative");
const dpi_op dpi_op_log_skew_tail =
    TAIL(log_skew_tail, tail_backward,
         "log of a tail of the skew normal from b, a its shape, or a derivative");
