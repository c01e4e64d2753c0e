/* Reverse accumulation over the ids in falling order.
 *
 * Invariant: the adjoint kept for a node broadcasts to the node's shape (it may be smaller: a
 * number standing for an equal value everywhere) and, below a global root, is per-record when the
 * node is; below a per-record one it may be global, for what is equal for all records.  `fit`
 * restores it after a backward rule: it sums over the dimensions and records over which the input
 * was broadcast.  In a per-record gradient the record axis is not summed.
 *
 * An adjoint that is 0 wherever a value was not chosen (op-keep.c) stays apart from that choice as
 * long as numbers only meet numbers in their own places: the rule is applied to what was kept, and
 * what comes out is kept.  So the exact 0 meets no slope of what was not chosen, which may be
 * infinite. */
#include "graph/gradient.h"

#include <string.h>

#include "graph/op.h"

typedef struct backward_pass {
    dpi_graph *g;
    bool sum_records; /* the root is global */
    bool *active;     /* depends on a node of wrt */
    dpi_id *adjoint;
} backward_pass;

/* Turns the adjoint that a rule gave for an input into one that fits the input. */
static dpi_id fit(const backward_pass *p, dpi_id input, dpi_id adjoint)
{
    dpi_graph *g = p->g;
    if (adjoint == DPI_NONE)
        return DPI_NONE;
    const dpi_shape wanted = dpi_get(g, input)->shape, found = dpi_get(g, adjoint)->shape;
    if (found.n_dims > wanted.n_dims)
        adjoint = dpi_sum_to(g, adjoint, wanted);
    if (p->sum_records && adjoint != DPI_NONE && found.per_record && !wanted.per_record) {
        /* A smaller adjoint stands for a repeated value: repetition and summing commute. */
        adjoint = dpi_apply(g, &dpi_op_sum_records, adjoint, DPI_NONE, NULL);
    }
    return adjoint;
}

/* a + b, within one choice where both are made of it. */
static dpi_id sum_of(dpi_graph *g, dpi_id a, dpi_id b)
{
    dpi_mask of_a, of_b;
    dpi_id in_a, in_b;
    if (a == DPI_NONE || b == DPI_NONE)
        return a == DPI_NONE ? b : a;
    bool same = dpi_kept(g, a, &in_a, &of_a) && dpi_kept(g, b, &in_b, &of_b) &&
                of_a.condition == of_b.condition && of_a.where_zero == of_b.where_zero;
    return same ? dpi_keep(g, dpi_add(g, in_a, in_b), of_a) : dpi_add(g, a, b);
}

/* The backward rule of y; choices within more than MOST_MASKS others stay in the adjoint. */
static void go_back(backward_pass *p, dpi_id y, const dpi_node *node, dpi_id result[2])
{
    enum { MOST_MASKS = 8 };
    dpi_mask mask[MOST_MASKS];
    dpi_id adjoint = p->adjoint[y];
    int n = 0;
    if (node->op->backward == NULL)
        return;
    while (n < MOST_MASKS && dpi_is_numberwise(node->op) &&
           dpi_kept(p->g, adjoint, &adjoint, &mask[n]))
        n++;
    node->op->backward(p->g, y, adjoint, result);
    for (int k = 0; k < node->op->n_inputs; k++)
        for (int i = n - 1; i >= 0 && result[k] != DPI_NONE; i--)
            result[k] = dpi_keep(p->g, result[k], mask[i]);
}

static void accumulate(backward_pass *p, const dpi_node *node, dpi_id input, dpi_id adjoint)
{
    if (!p->active[input] || adjoint == DPI_NONE)
        return;
    /* A repeated input collects from every repetition, so these must be there to be summed. */
    if (node->op->broadcasts && dpi_get(p->g, input)->shape.n_dims < node->shape.n_dims)
        adjoint = dpi_expand(p->g, adjoint, node->shape);
    adjoint = fit(p, input, adjoint);
    dpi_id *sum = &p->adjoint[input];
    *sum = sum_of(p->g, *sum, adjoint);
}

static void mark_active(backward_pass *p, size_t n_nodes, size_t n, const dpi_id *wrt)
{
    for (size_t k = 0; k < n; k++)
        p->active[wrt[k]] = true;
    for (size_t i = 0; i < n_nodes; i++) {
        const dpi_node *node = &p->g->nodes[i];
        for (int k = 0; k < node->op->n_inputs; k++)
            p->active[i] = p->active[i] || p->active[node->in[k]];
    }
}

static bool is_wrt(size_t n, const dpi_id *wrt, dpi_id id)
{
    for (size_t k = 0; k < n; k++)
        if (wrt[k] == id)
            return true;
    return false;
}

static void walk(backward_pass *p, dpi_id root, size_t n, const dpi_id *wrt)
{
    for (dpi_id y = root; y >= 0; y--) {
        if (p->adjoint[y] == DPI_NONE || !p->active[y] || is_wrt(n, wrt, y))
            continue;
        const dpi_node node = *dpi_get(p->g, y);
        /* Record i's root would depend on record j: no per-record adjoint can hold that. */
        if (node.op->over_records && !p->sum_records) {
            (void)dpi_fail(p->g->err, DP_EUNSUPPORTED,
                           "a value of each record depends on a sum over all records; compute such "
                           "sums beforehand, from public numbers");
            return;
        }
        dpi_id result[2] = {DPI_NONE, DPI_NONE};
        go_back(p, y, &node, result);
        for (int k = 0; k < node.op->n_inputs; k++)
            accumulate(p, &node, node.in[k], result[k]);
    }
}

/* Adjoints from that of the root. */
static dp_status gradient(dpi_graph *g, dpi_id root, dpi_id seed, size_t n, const dpi_id *wrt,
                          dpi_id *adjoint)
{
    for (size_t k = 0; k < n; k++)
        adjoint[k] = DPI_NONE;
    if (g->err->status != DP_OK)
        return g->err->status;
    size_t n_nodes = g->n_nodes;
    backward_pass p = {.g = g, .sum_records = !dpi_get(g, root)->shape.per_record};
    p.active = dpi_alloc(n_nodes, sizeof *p.active);
    p.adjoint = dpi_alloc(n_nodes, sizeof *p.adjoint);
    if (p.active == NULL || p.adjoint == NULL) {
        (void)dpi_fail_nomem(g->err);
        goto out;
    }
    for (size_t i = 0; i < n_nodes; i++)
        p.adjoint[i] = DPI_NONE;
    mark_active(&p, n_nodes, n, wrt);
    p.adjoint[root] = seed;
    walk(&p, root, n, wrt);
    for (size_t k = 0; k < n; k++)
        if (p.adjoint[wrt[k]] != DPI_NONE)
            adjoint[k] = dpi_full_adjoint(g, wrt[k], p.adjoint[wrt[k]]);
    for (size_t k = 0; k < n && g->err->status != DP_OK; k++)
        adjoint[k] = DPI_NONE;
out:
    dpi_free(p.active);
    dpi_free(p.adjoint);
    return g->err->status;
}

static dpi_id ones(dpi_graph *g)
{
    return dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL);
}

dp_status dpi_gradient(dpi_graph *g, dpi_id root, size_t n, const dpi_id *wrt, dpi_id *adjoint)
{
    if (g->err->status == DP_OK && (root == DPI_NONE || dpi_get(g, root)->shape.n_dims != 0))
        dpi_misuse(__func__, "the root of a gradient is one number");
    bool per_record = g->err->status == DP_OK && dpi_get(g, root)->shape.per_record;
    return gradient(g, root, per_record ? ones(g) : dpi_constant(g, 1), n, wrt, adjoint);
}

dp_status dpi_record_gradient(dpi_graph *g, dpi_id root, size_t n, const dpi_id *wrt,
                              dpi_id *adjoint)
{
    if (g->err->status == DP_OK && (root == DPI_NONE || dpi_get(g, root)->shape.n_dims != 0 ||
                                    !dpi_get(g, root)->shape.per_record))
        dpi_misuse(__func__, "the root of a record's gradient is one number of each record");
    dp_status status = gradient(g, root, dpi_constant(g, 1), n, wrt, adjoint);
    for (size_t k = 0; k < n && status == DP_OK; k++)
        if (adjoint[k] != DPI_NONE && !dpi_get(g, adjoint[k])->shape.per_record)
            adjoint[k] = dpi_times(g, adjoint[k], ones(g));
    return g->err->status;
}
