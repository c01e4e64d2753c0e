/* Products that are made on the way to the sum that reads them.
 *
 * a b + c, a b - c and c - a b are one call (graph/kernel-taking.c) where nobody else reads the
 * product, which then has no value of its own.  A step of a small model is a few dozen calls on a
 * few hundred numbers each, of which a call costs as much as their arithmetic.  No bit changes: the
 * kernels round as two calls do.
 *
 * The sum's call reads what the product's would have read, and later.  Values of other chains and
 * whole chunks are still there then, but one that is kept for a strip is only there within its
 * chain: so a product is taken out of a chain only where that runs on whole chunks (strips.h). */
#include "exec/taken.h"

#include "exec/strips.h"
#include "graph/op.h"

/* How many read each value, 2 for more and for who is outside of the stages. */
static void count_readers(const dpi_run *run, const bool *needed, const bool *outside,
                          unsigned char *readers)
{
    const dpi_graph *g = run->spec.graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        readers[i] = outside[i] ? 2 : readers[i];
        for (int k = 0; needed[i] && k < g->nodes[i].op->n_inputs; k++) {
            unsigned char *n = &readers[g->nodes[i].in[k]];
            *n = *n < 2 ? *n + 1 : 2;
        }
    }
}

static size_t size_of(const dpi_run *run, dpi_id id)
{
    return dpi_shape_size(&run->spec.graph->nodes[id].shape);
}

static bool fits(const dpi_run *run, dpi_id id, size_t size)
{
    return size_of(run, id) == size || size_of(run, id) == 1;
}

/* Whether what product p reads is there when the call of a sum of the records' stage runs. */
static bool outlasts(const dpi_run *run, dpi_id p)
{
    bool of_its_strip = run->rows[p] < run->spec.chunk; /* and so is the sum, its only reader */
    return !run->spec.single && (of_its_strip || run->strip_of[p] == run->spec.chunk);
}

/* Whether a sum can take in its operand k, which nobody else reads. */
static bool can_take(const dpi_run *run, const unsigned char *stage, dpi_id sum, int k)
{
    const dpi_node *node = &run->spec.graph->nodes[sum];
    const dpi_id p = node->in[k], *factor = run->spec.graph->nodes[p].in;
    const size_t size = size_of(run, sum);
    return dpi_taking_kernels[node->op->id].run[k][0][0] != NULL &&
           dpi_is_product(&run->spec.graph->nodes[p]) && stage[p] == stage[sum] &&
           (stage[sum] != RECORDS || outlasts(run, p)) && size_of(run, p) == size &&
           fits(run, node->in[1 - k], size) && fits(run, factor[0], size) &&
           fits(run, factor[1], size) &&
           (size_of(run, factor[0]) == size || size_of(run, factor[1]) == size);
}

bool dpi_taken_find(dpi_run *run, const bool *needed, const unsigned char *stage)
{
    const dpi_graph *g = run->spec.graph;
    bool *outside = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *outside);
    unsigned char *readers = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *readers);
    run->taken = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->taken);
    if (outside == NULL || readers == NULL || run->taken == NULL)
        return false;
    dpi_strips_mark_read(run, outside);
    count_readers(run, needed, outside, readers);
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; needed[i] && k < g->nodes[i].op->n_inputs; k++)
            if (readers[g->nodes[i].in[k]] == 1 && can_take(run, stage, (dpi_id)i, k)) {
                run->taken[g->nodes[i].in[k]] = (dpi_id)i;
                break;
            }
    return true;
}

/* Whether a value is one number for all numbers of a sum, or for all records. */
static bool is_one(const dpi_run *run, dpi_id id, dpi_id sum)
{
    const dpi_graph *g = run->spec.graph;
    return size_of(run, id) == 1 && (size_of(run, sum) > 1 || (g->nodes[sum].shape.per_record &&
                                                               !g->nodes[id].shape.per_record));
}

dpi_call_reads dpi_call_reads_of(const dpi_run *run, dpi_id id)
{
    const dpi_node *node = &run->spec.graph->nodes[id];
    dpi_call_reads r = {.n = node->op->n_inputs, .in = {node->in[0], node->in[1]}};
    r.forward = dpi_kernels[node->op->id].run;
    for (int k = 0; k < r.n; k++) {
        if (run->taken[node->in[k]] != id)
            continue;
        const dpi_id *factor = run->spec.graph->nodes[node->in[k]].in, other = node->in[1 - k];
        const bool swap = is_one(run, factor[1], id);
        const bool by_one = swap || is_one(run, factor[0], id);
        return (dpi_call_reads){
            .n = 3,
            .in = {factor[swap], factor[!swap], other},
            .forward = dpi_taking_kernels[node->op->id].run[k][by_one][is_one(run, other, id)]};
    }
    return r;
}
