/* Sum, difference, product, quotient and sign, with broadcasting, and what can be left out of them.
 *
 * The larger operand's dimensions are the result's; the smaller one is repeated over its leading
 * dimensions and, when global, over records.
 *
 * Simplifications change no number:
 *
 *   neutral   x + 0, x - 0, x * 1, x / 1 and 1 * x, where the result has x's own shape, are x (but
 *             -0 + 0 stays -0)
 *   signs     -(-x) is x;  x + (-y) and (-y) + x are x - y;  x - (-y) is x + y;  (-1) x is -x, and
 *             of global values (-x) y and (-x) / y are -(x y) and -(x / y), so that a sign comes to
 *             meet a sum or another sign.  Rounding is symmetric, so these are equal to the bit.
 *
 * Signs of records' values stay where they are unless they vanish: a product is a factored form of
 * a gradient (exec/decomposition.c), and its negative would not be one.  0 * x stays, because x may
 * be infinite, and -(x - y) stays, whose zero has another sign than y - x.  Nothing is
 * reordered. */
#include "graph/op.h"

/* ---- what can be left out ---- */

static bool same_kind(const dpi_shape *a, const dpi_shape *b)
{
    return dpi_shape_same(a, b) && a->per_record == b->per_record;
}

/* The other operand of a neutral one, which on the left counts only where operands may change
 * sides. */
static dpi_id without_neutral(const dpi_graph *g, const dpi_node *node, double neutral,
                              bool commutes)
{
    for (int k = 0; k < (commutes ? 2 : 1); k++) {
        dpi_id other = node->in[1 - k];
        bool is_neutral =
            dpi_is_constant(g, other, neutral) || (neutral == 1 && dpi_is_ones(&g->nodes[other]));
        if (is_neutral && same_kind(&g->nodes[node->in[k]].shape, &node->shape))
            return node->in[k];
    }
    return DPI_NONE;
}

/* The x of -x, or DPI_NONE. */
static dpi_id negated(const dpi_graph *g, dpi_id id)
{
    return g->nodes[id].op == &dpi_op_neg ? g->nodes[id].in[0] : DPI_NONE;
}

/* Of products (that commute) and quotients of global values. */
static dpi_id outer_sign(dpi_graph *g, const dpi_node *node, bool commutes)
{
    for (int k = 0; k < 2; k++) {
        dpi_id other = node->in[1 - k], x = negated(g, node->in[k]);
        if (!same_kind(&g->nodes[node->in[k]].shape, &node->shape))
            continue;
        if (dpi_is_constant(g, other, -1) && (commutes || k == 0))
            return dpi_unary(g, &dpi_op_neg, node->in[k]);
        if (x != DPI_NONE)
            return dpi_unary(g, &dpi_op_neg,
                             k == 0 ? dpi_apply(g, node->op, x, other, NULL)
                                    : dpi_apply(g, node->op, other, x, NULL));
    }
    return DPI_NONE;
}

/* -1 for each record, as the adjoint of a loss begins, times a number of each record. */
static dpi_id times_minus_ones(dpi_graph *g, const dpi_node *node)
{
    for (int k = 0; k < 2; k++) {
        dpi_id x = negated(g, node->in[1 - k]);
        if (x != DPI_NONE && dpi_is_ones(&g->nodes[x]) && node->shape.n_dims == 0 &&
            g->nodes[node->in[k]].shape.per_record)
            return dpi_unary(g, &dpi_op_neg, node->in[k]);
    }
    return DPI_NONE;
}

/* ---- y = a + b ---- */

static dpi_id add_simplify(dpi_graph *g, const dpi_node *node)
{
    dpi_id a = node->in[0], b = node->in[1], minus_a = negated(g, a), minus_b = negated(g, b);
    dpi_id same = without_neutral(g, node, 0, true);
    if (same != DPI_NONE)
        return same;
    if (minus_b != DPI_NONE)
        return dpi_sub(g, a, minus_b);
    return minus_a != DPI_NONE ? dpi_sub(g, b, minus_a) : DPI_NONE;
}

static void add_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)g;
    (void)y;
    result[0] = result[1] = adjoint;
}

/* ---- y = a - b ---- */

static dpi_id sub_simplify(dpi_graph *g, const dpi_node *node)
{
    dpi_id same = without_neutral(g, node, 0, false), minus_b = negated(g, node->in[1]);
    if (same != DPI_NONE)
        return same;
    return minus_b != DPI_NONE ? dpi_add(g, node->in[0], minus_b) : DPI_NONE;
}

static void sub_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = adjoint;
    result[1] = dpi_unary(g, &dpi_op_neg, adjoint);
}

/* ---- y = a b ---- */

static dpi_id mul_simplify(dpi_graph *g, const dpi_node *node)
{
    dpi_id same = without_neutral(g, node, 1, true);
    if (same != DPI_NONE)
        return same;
    return node->shape.per_record ? times_minus_ones(g, node) : outer_sign(g, node, true);
}

static void mul_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node *node = dpi_get(g, y);
    dpi_id a = node->in[0], b = node->in[1];
    result[0] = dpi_times(g, adjoint, b);
    result[1] = dpi_times(g, adjoint, a);
}

/* ---- y = a / b;  dy/db = -y / b ---- */

static dpi_id div_simplify(dpi_graph *g, const dpi_node *node)
{
    dpi_id same = without_neutral(g, node, 1, false);
    if (same != DPI_NONE)
        return same;
    return node->shape.per_record ? DPI_NONE : outer_sign(g, node, false);
}

static void div_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_id b = dpi_get(g, y)->in[1];
    result[0] = dpi_div(g, adjoint, b);
    result[1] = dpi_unary(g, &dpi_op_neg, dpi_times(g, result[0], y));
}

/* ---- y = -a ---- */

static dpi_id neg_simplify(dpi_graph *g, const dpi_node *node)
{
    return negated(g, node->in[0]);
}

static void neg_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = dpi_unary(g, &dpi_op_neg, adjoint);
}

bool dpi_is_numberwise(const dpi_op *op)
{
    return op->broadcasts || op->class == DPI_ELEMENTWISE || op == &dpi_op_neg;
}

#define BINARY(op_name, op_class, op_formula)                                                      \
    {                                                                                              \
        .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = op_class,        \
        .n_inputs = 2, .broadcasts = true, .shape = dpi_binary_shape,                              \
        .backward = op_name##_backward, .flops = dpi_flops_cheap, .simplify = op_name##_simplify   \
    }

const dpi_op dpi_op_add = BINARY(add, DPI_LINEAR, "a + b");
const dpi_op dpi_op_sub = BINARY(sub, DPI_LINEAR, "a - b");
const dpi_op dpi_op_mul = BINARY(mul, DPI_BILINEAR, "a * b");
const dpi_op dpi_op_div = BINARY(div, DPI_ELEMENTWISE, "a / b");
const dpi_op dpi_op_neg = {.id = DPI_OP_neg,
                           .name = "neg",
                           .formula = "-a",
                           .class = DPI_LINEAR,
                           .n_inputs = 1,
                           .shape = dpi_unary_shape,
                           .backward = neg_backward,
                           .flops = dpi_flops_cheap,
                           .simplify = neg_simplify};

dpi_id dpi_unshifted(const dpi_graph *g, dpi_id value)
{
    const dpi_node *node = dpi_get(g, value);
    if (node->op != &dpi_op_sub || dpi_get(g, dpi_expanded(g, node->in[1]))->shape.n_dims > 0 ||
        dpi_get(g, node->in[0])->shape.n_dims != node->shape.n_dims)
        return value;
    return node->in[0];
}

/* The r of x = a + r, or of a r, where r has x's own shape; or DPI_NONE. */
static dpi_id beside(const dpi_graph *g, dpi_id x, const dpi_op *op, dpi_id a)
{
    const dpi_node *node = dpi_get(g, x);
    bool found =
        node->op == op && node->in[0] == a && same_kind(&g->nodes[node->in[1]].shape, &node->shape);
    return found ? node->in[1] : DPI_NONE;
}

dpi_id dpi_standardized(dpi_graph *g, dpi_id x, dpi_id loc, dpi_id scale)
{
    if (g->err->status != DP_OK)
        return DPI_NONE;
    dpi_id rest = beside(g, x, &dpi_op_add, loc);
    if (rest == DPI_NONE)
        rest = dpi_sub(g, x, loc);
    dpi_id noise = rest != DPI_NONE ? beside(g, rest, &dpi_op_mul, scale) : DPI_NONE;
    return noise != DPI_NONE ? noise : dpi_div(g, rest, scale);
}

bool dpi_is_product(const dpi_node *node)
{
    return node->op == &dpi_op_mul;
}
