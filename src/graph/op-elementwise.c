/* Elementwise operations: y = f(a) and y = f(a, b) with broadcasting.
 *
 * The larger operand's dimensions are the result's; the smaller one is repeated over its leading
 * dimensions and, when global, over records.  Each pair of C functions is a formula and its rule:
 * if y = f(a) then a's adjoint is (adjoint of y) * f'(a), written as nodes.  Those of one
 * instruction are compiled for vectors, which changes no bit. */
#include <math.h>

#include "graph/op-loops.h"
#include "graph/op-single.h"
#include "num/linalg.h"
#include "num/map.h"
#include "num/special.h"

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

/* By a kernel for many numbers, whose result for one does not depend on the others. */
static void mapped(const dpi_call *c, dpi_map function)
{
    dpi_map_double(function, c->n * c->out_size, c->in[0], c->out);
}

/* y = a + b */
DPI_INLINE double add(double a, double b)
{
    return a + b;
}
DPI_LOOPS static void add_forward(const dpi_call *c)
{
    dpi_binary_loop(c, add);
}
static void add_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)g;
    (void)y;
    result[0] = result[1] = adjoint;
}

/* y = a - b */
DPI_INLINE double sub(double a, double b)
{
    return a - b;
}
DPI_LOOPS static void sub_forward(const dpi_call *c)
{
    dpi_binary_loop(c, sub);
}
static void sub_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = adjoint;
    result[1] = dpi_unary(g, &dpi_op_neg, adjoint);
}

/* y = a b */
DPI_INLINE double mul(double a, double b)
{
    return a * b;
}
DPI_LOOPS static void mul_forward(const dpi_call *c)
{
    dpi_binary_loop(c, mul);
}
static void mul_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node *node = dpi_get(g, y);
    dpi_id a = node->in[0], b = node->in[1];
    result[0] = dpi_times(g, adjoint, b);
    result[1] = dpi_times(g, adjoint, a);
}

/* y = a b where one factor is a number of each record: |y| = |factor| |other|, multiplied before it
 * is squared, since |other|^2 alone may be 0 where the product is not. */
static bool scaled_operand(const dpi_call *c, int *scale)
{
    *scale = c->in_size[0] == 1 ? 0 : 1;
    return c->in_size[*scale] == 1 && c->in_size[1 - *scale] == c->out_size;
}

static void mul_norm2(const dpi_call *c, double *norm2)
{
    int s;
    bool factored = scaled_operand(c, &s);
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        double norm =
            factored ? dpi_norm_of_scaled(s == 0 ? *a : *b, c->out_size, s == 0 ? b : a) : 0;
        double sum = norm * norm;
        for (size_t e = 0; !factored && e < c->out_size; e++) {
            double product = a[e % c->in_size[0]] * b[e % c->in_size[1]];
            sum += product * product;
        }
        norm2[r] += sum;
    }
}

/* The factors are multiplied before the weight comes in: a small factor times a small weight is
 * rounded coarsely below 1e-308, and a large other factor would bring that back beyond the
 * bound. */
static void mul_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    int s;
    bool factored = scaled_operand(c, &s);
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0], *b = c->in[1] + r * c->in_step[1];
        const double *vector = s == 0 ? b : a;
        if (weight[r] == 0)
            continue;
        double factor = s == 0 ? *a : *b;
        if (factored)
            for (size_t e = 0; e < c->out_size; e++)
                total[e] += weight[r] * (factor * vector[e]);
        else
            for (size_t e = 0; e < c->out_size; e++)
                total[e] += weight[r] * (a[e % c->in_size[0]] * b[e % c->in_size[1]]);
    }
}

/* y = a / b;  dy/db = -y / b */
DPI_INLINE double quotient(double a, double b)
{
    return a / b;
}
DPI_LOOPS static void div_forward(const dpi_call *c)
{
    dpi_binary_loop(c, quotient);
}
static void div_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id b = dpi_get(g, y)->in[1];
    result[0] = dpi_div(g, adjoint, b);
    result[1] = dpi_unary(g, &dpi_op_neg, dpi_times(g, result[0], y));
}

/* y = -a */
DPI_INLINE double negative(double a)
{
    return -a;
}
DPI_LOOPS static void neg_forward(const dpi_call *c)
{
    dpi_unary_loop(c, negative);
}
static void neg_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = dpi_unary(g, &dpi_op_neg, adjoint);
}

/* y = e^a;  y' = y */
static void exp_forward(const dpi_call *c)
{
    mapped(c, DPI_MAP_EXP);
}
static void exp_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, y);
}

/* y = e^a - 1;  y' = e^a, which y + 1 has lost where a is far below 0 */
static void expm1_forward(const dpi_call *c)
{
    dpi_unary_loop(c, expm1);
}
static void expm1_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id slope = dpi_unary(g, &dpi_op_exp, dpi_get(g, y)->in[0]);
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = log a;  y' = 1 / a */
static void log_forward(const dpi_call *c)
{
    dpi_unary_loop(c, log);
}
static void log_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_div(g, adjoint, dpi_get(g, y)->in[0]);
}

/* y = log(1 + a);  y' = 1 / (1 + a) */
static void log1p_forward(const dpi_call *c)
{
    dpi_unary_loop(c, log1p);
}
static void log1p_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_div(g, adjoint, dpi_add(g, dpi_get(g, y)->in[0], dpi_constant(g, 1)));
}

/* y = sqrt a;  y' = 1 / (2 y) */
static void sqrt_forward(const dpi_call *c)
{
    dpi_unary_loop(c, sqrt);
}
static void sqrt_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_scale(g, 0.5, dpi_div(g, adjoint, y));
}

/* y = a^2;  y' = 2 a */
DPI_INLINE double square(double a)
{
    return a * a;
}
DPI_LOOPS static void square_forward(const dpi_call *c)
{
    dpi_unary_loop(c, square);
}
static void square_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, dpi_scale(g, 2, adjoint), dpi_get(g, y)->in[0]);
}

/* y = 1 / (1 + e^-a);  y' = y (1 - y) */
static void logistic_forward(const dpi_call *c)
{
    mapped(c, DPI_MAP_LOGISTIC);
}
static void logistic_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id rest = dpi_unary(g, &dpi_op_logistic, dpi_unary(g, &dpi_op_neg, dpi_get(g, y)->in[0]));
    result[0] = dpi_times(g, adjoint, dpi_times(g, y, rest));
}

/* y = log(1 + e^a);  y' = logistic(a) */
static void softplus_forward(const dpi_call *c)
{
    mapped(c, DPI_MAP_SOFTPLUS);
}
static void softplus_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_unary(g, &dpi_op_logistic, dpi_get(g, y)->in[0]));
}

/* y = tanh a;  y' = 1 - y^2 */
static void tanh_forward(const dpi_call *c)
{
    dpi_unary_loop(c, tanh);
}
static void tanh_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id slope = dpi_sub(g, dpi_constant(g, 1), dpi_unary(g, &dpi_op_square, y));
    result[0] = dpi_times(g, adjoint, slope);
}

/* y = |a|;  y' = sign(a) */
static void abs_forward(const dpi_call *c)
{
    dpi_unary_loop(c, fabs);
}
static void abs_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_unary(g, &dpi_op_sign, dpi_get(g, y)->in[0]));
}

/* y = sign a, NaN for NaN;  y' = 0 */
DPI_INLINE double sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}
static void sign_forward(const dpi_call *c)
{
    dpi_unary_loop(c, sign);
}

/* y = log Gamma(a);  y' = digamma(a) */
static void lgamma_forward(const dpi_call *c)
{
    dpi_unary_loop(c, dpi_lgamma);
}
static void lgamma_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] = dpi_times(g, adjoint, dpi_polygamma_node(g, 0, dpi_get(g, y)->in[0]));
}

/* y = psi_n(a), the derivative of order n of digamma, n = attr.number;  y' = psi_(n+1)(a) */
static void polygamma_forward(const dpi_call *c)
{
    size_t total = c->n * c->out_size;
    for (size_t i = 0; i < total; i++)
        c->out[i] = dpi_polygamma(c->attr->number, c->in[0][i]);
}
static void polygamma_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node *node = dpi_get(g, y);
    size_t next = node->attr.number + 1;
    dpi_id a = node->in[0];
    result[0] = dpi_times(g, adjoint, dpi_polygamma_node(g, next, a));
}

#define BINARY(op_name, op_class, op_formula)                                                      \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = op_class,            \
    .n_inputs = 2, .broadcasts = true, .shape = dpi_binary_shape, .forward = op_name##_forward,    \
    .backward = op_name##_backward, .flops = dpi_flops_cheap
#define UNARY(op_name, op_formula, cost)                                                           \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = DPI_ELEMENTWISE,     \
    .n_inputs = 1, .shape = dpi_unary_shape, .forward = op_name##_forward,                         \
    .backward = op_name##_backward, .flops = cost

const dpi_op dpi_op_add = {BINARY(add, DPI_LINEAR, "a + b"), .single = dpi_single_add};
const dpi_op dpi_op_sub = {BINARY(sub, DPI_LINEAR, "a - b"), .single = dpi_single_sub};
const dpi_op dpi_op_mul = {BINARY(mul, DPI_BILINEAR, "a * b"), .single = dpi_single_mul,
                           .norm2 = mul_norm2, .weighted_sum = mul_weighted_sum};
const dpi_op dpi_op_div = {BINARY(div, DPI_ELEMENTWISE, "a / b"), .single = dpi_single_div};
const dpi_op dpi_op_neg = {.id = DPI_OP_neg,
                           .name = "neg",
                           .formula = "-a",
                           .class = DPI_LINEAR,
                           .n_inputs = 1,
                           .shape = dpi_unary_shape,
                           .forward = neg_forward,
                           .single = dpi_single_neg,
                           .backward = neg_backward,
                           .flops = dpi_flops_cheap};
const dpi_op dpi_op_exp = {UNARY(exp, "e^a", dpi_flops_transcendental), .single = dpi_single_exp};
const dpi_op dpi_op_expm1 = {UNARY(expm1, "e^a - 1", dpi_flops_transcendental),
                             .single = dpi_single_expm1};
const dpi_op dpi_op_log = {UNARY(log, "log a", dpi_flops_transcendental), .single = dpi_single_log};
const dpi_op dpi_op_log1p = {UNARY(log1p, "log(1 + a)", dpi_flops_transcendental),
                             .single = dpi_single_log1p};
const dpi_op dpi_op_sqrt = {UNARY(sqrt, "sqrt a", dpi_flops_cheap), .single = dpi_single_sqrt};
const dpi_op dpi_op_square = {UNARY(square, "a^2", dpi_flops_cheap), .single = dpi_single_square};
const dpi_op dpi_op_logistic = {UNARY(logistic, "1 / (1 + e^-a)", dpi_flops_transcendental),
                                .single = dpi_single_logistic};
const dpi_op dpi_op_softplus = {UNARY(softplus, "log(1 + e^a)", dpi_flops_transcendental),
                                .single = dpi_single_softplus};
const dpi_op dpi_op_tanh = {UNARY(tanh, "tanh a", dpi_flops_transcendental),
                            .single = dpi_single_tanh};
const dpi_op dpi_op_abs = {UNARY(abs, "|a|", dpi_flops_cheap), .single = dpi_single_abs};
const dpi_op dpi_op_sign = {.id = DPI_OP_sign,
                            .name = "sign",
                            .formula = "sign of a",
                            .class = DPI_ELEMENTWISE,
                            .n_inputs = 1,
                            .shape = dpi_unary_shape,
                            .forward = sign_forward,
                            .single = dpi_single_sign,
                            .flops = dpi_flops_cheap};
const dpi_op dpi_op_lgamma = {UNARY(lgamma, "log Gamma(a)", dpi_flops_transcendental),
                              .single = dpi_single_lgamma};
const dpi_op dpi_op_polygamma = {UNARY(polygamma, "psi_n(a)", dpi_flops_transcendental),
                                 .given = DPI_ATTR_NUMBER, .single = dpi_single_polygamma};
