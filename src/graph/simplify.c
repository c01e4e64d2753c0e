/* Simplifications that change no number.
 *
 *   neutral   x + 0, x - 0, x * 1, x / 1 and 1 * x, where the result has x's own shape, are x (but
 *             -0 + 0 stays -0)
 *   signs     -(-x) is x;  x + (-y) and (-y) + x are x - y;  x - (-y) is x + y;  (-1) x is -x, and
 *             of global values (-x) y and (-x) / y are -(x y) and -(x / y), so that a sign comes to
 *             meet a sum or another sign.  Rounding is symmetric, so these are equal to the bit.
 *
 * Signs of records' values stay where they are unless they vanish: a product is a factored form of
 * a gradient (form.c), and its negative would not be one.  0 * x stays, because x may be infinite,
 * and -(x - y) stays, whose zero has another sign than y - x.  Nothing is reordered. */
#include "graph/simplify.h"

#include "graph/op.h"

static bool same_kind(const dpi_shape *a, const dpi_shape *b)
{
    return dpi_shape_same(a, b) && a->per_record == b->per_record;
}

static dpi_id without_neutral(const dpi_graph *g, const dpi_node *node)
{
    const dpi_op *op = node->op;
    bool additive = op == &dpi_op_add || op == &dpi_op_sub;
    bool multiplicative = op == &dpi_op_mul || op == &dpi_op_div;
    double neutral = additive ? 0 : 1;
    for (int k = 0; k < 2 && (additive || multiplicative); k++) {
        dpi_id other = node->in[1 - k];
        bool is_neutral = dpi_is_constant(g, other, neutral) ||
                          (multiplicative && g->nodes[other].op == &dpi_op_ones);
        bool commutes = k == 0 || op == &dpi_op_add || op == &dpi_op_mul;
        if (is_neutral && commutes && same_kind(&g->nodes[node->in[k]].shape, &node->shape))
            return node->in[k];
    }
    return DPI_NONE;
}

/* The x of -x, or DPI_NONE. */
static dpi_id negated(const dpi_graph *g, dpi_id id)
{
    return g->nodes[id].op == &dpi_op_neg ? g->nodes[id].in[0] : DPI_NONE;
}

static dpi_id sum_of_signs(dpi_graph *g, const dpi_node *node)
{
    dpi_id a = node->in[0], b = node->in[1], minus_a = negated(g, a), minus_b = negated(g, b);
    if (minus_b != DPI_NONE)
        return node->op == &dpi_op_add ? dpi_sub(g, a, minus_b) : dpi_add(g, a, minus_b);
    return minus_a != DPI_NONE && node->op == &dpi_op_add ? dpi_sub(g, b, minus_a) : DPI_NONE;
}

/* Of products and quotients of global values. */
static dpi_id product_of_signs(dpi_graph *g, const dpi_node *node)
{
    for (int k = 0; k < 2; k++) {
        dpi_id other = node->in[1 - k], x = negated(g, node->in[k]);
        if (!same_kind(&g->nodes[node->in[k]].shape, &node->shape))
            continue;
        if (dpi_is_constant(g, other, -1) && (node->op == &dpi_op_mul || k == 0))
            return dpi_unary(g, &dpi_op_neg, node->in[k]);
        if (x != DPI_NONE)
            return dpi_unary(g, &dpi_op_neg,
                             k == 0 ? dpi_apply(g, node->op, x, other, NULL)
                                    : dpi_apply(g, node->op, other, x, NULL));
    }
    return DPI_NONE;
}

/* -1 for each record, as the adjoint of a loss begins, times a number of each record. */
static dpi_id product_with_minus_ones(dpi_graph *g, const dpi_node *node)
{
    for (int k = 0; k < 2; k++) {
        dpi_id x = negated(g, node->in[1 - k]);
        if (x != DPI_NONE && g->nodes[x].op == &dpi_op_ones && node->shape.n_dims == 0 &&
            g->nodes[node->in[k]].shape.per_record)
            return dpi_unary(g, &dpi_op_neg, node->in[k]);
    }
    return DPI_NONE;
}

dpi_id dpi_simplify(dpi_graph *g, const dpi_node *node)
{
    const dpi_op *op = node->op;
    if (op == &dpi_op_neg)
        return negated(g, node->in[0]);
    if (op != &dpi_op_add && op != &dpi_op_sub && op != &dpi_op_mul && op != &dpi_op_div)
        return DPI_NONE;
    dpi_id same = without_neutral(g, node);
    if (same != DPI_NONE)
        return same;
    if (op == &dpi_op_add || op == &dpi_op_sub)
        return sum_of_signs(g, node);
    if (!node->shape.per_record)
        return product_of_signs(g, node);
    return op == &dpi_op_mul ? product_with_minus_ones(g, node) : DPI_NONE;
}
