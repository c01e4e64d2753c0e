/* Operations of records' values that are run together, on so few records at a time that what passes
 * between them stays in the cache.
 *
 * An operation on values of records treats every record by itself, to the bit, so any of them may
 * be run on some records first and on the others later.  Products gain by many records at once, and
 * sums over records add to one value; whatever else follows each other between two of these is a
 * chain.  With V numbers a record read and written by a chain of k operations, one after the other
 * over a chunk moves all V through memory or the outer cache; in strips only what comes from before
 * the chain and what is read after it does.  A value that nobody else reads has a buffer of one
 * strip, which the next strip uses again: that is less memory, too.
 *
 * A strip is of as many records as leave V within a part of the cache that every processor has, but
 * a chunk that fits is one strip, so that small models notice nothing of this.  Cost: a copy of a
 * call (100 bytes) for each operation and strip. */
#include "exec/strips.h"

#include "exec/taken.h"

/* Bytes of a strip's values: a quarter of a small second-level cache.  Of 32, 64, 128 and 256 KB
 * measured best. */
static const size_t usual_bytes = (size_t)1 << 16;

void dpi_strips_mark_part(const dpi_run *run, size_t i, bool *read)
{
    const dpi_graph *g = run->spec.graph;
    const dpi_decomposition *d = &run->decompositions[i];
    const dpi_id part = run->spec.parts[i];
    read[part] = true;
    for (size_t t = 0; t < (d->way == DPI_FACTORED ? 1 : d->n_terms); t++) {
        const dpi_node *node = &g->nodes[d->way == DPI_FACTORED ? part : d->term[t].node];
        for (int k = 0; k < node->op->n_inputs && d->way != DPI_MADE; k++)
            read[node->in[k]] = true;
    }
}

void dpi_strips_mark_read(const dpi_run *run, bool *read)
{
    for (size_t i = 0; i < run->spec.n_wanted; i++)
        read[run->spec.wanted[i]] = true;
    for (size_t i = 0; i < run->spec.n_parts; i++)
        dpi_strips_mark_part(run, i, read);
}

/* ---- planning ---- */

typedef struct chain {
    double numbers; /* of a record, that are read and written */
    size_t n_calls, records;
} chain;

typedef struct strip_plan {
    const dpi_graph *g;
    const dpi_run_spec *spec;
    const bool *needed;
    bool *read;     /* [n_nodes] by somebody outside of the node's chain */
    size_t *number; /* [n_nodes] of the node's chain, 0 for none */
    size_t *last;   /* [n_nodes] chain that has counted the node last */
    chain *chains;  /* [n_nodes + 1] by number */
    size_t n_chains;
} strip_plan;

/* Numbers the chains of operations that follow each other, and marks what others read. */
static void find_chains(strip_plan *p, const unsigned char *stage)
{
    bool open = false;
    for (size_t i = 0; i < p->g->n_nodes; i++) {
        const dpi_node *node = &p->g->nodes[i];
        bool of_records = stage[i] == RECORDS || node->op->over_records;
        bool chained = dpi_strip_rules[node->op->id].may;
        if (!p->needed[i] || dpi_is_source(node) || !of_records)
            continue;
        p->n_chains += chained && !open;
        open = chained;
        p->number[i] = open ? p->n_chains : 0;
        for (int k = 0; k < node->op->n_inputs; k++)
            if (!open || p->number[node->in[k]] != p->number[i])
                p->read[node->in[k]] = true;
    }
}

static void count_node(strip_plan *p, size_t id)
{
    const dpi_node *node = &p->g->nodes[id];
    chain *c = &p->chains[p->number[id]];
    c->n_calls++;
    for (int k = -1; k < node->op->n_inputs; k++) {
        size_t of = k < 0 ? id : (size_t)node->in[k];
        if (p->g->nodes[of].shape.per_record && p->last[of] != p->number[id])
            c->numbers += (double)dpi_shape_size(&p->g->nodes[of].shape);
        p->last[of] = p->number[id];
    }
}

/* Records of a strip; a chunk is cut into strips of equal size. */
static size_t strip_size(const dpi_run_spec *spec, const chain *c)
{
    double each = spec->single ? sizeof(float) : sizeof(double);
    double bytes = spec->strip != 0 ? (double)spec->strip : (double)usual_bytes;
    double fit = bytes / (c->numbers * each);
    if (c->n_calls < 2 || fit >= (double)spec->chunk)
        return spec->chunk;
    size_t most = fit < 1 ? 1 : (size_t)fit, strips = (spec->chunk - 1) / most + 1;
    return (spec->chunk - 1) / strips + 1;
}

static bool make_plan(dpi_run *run, strip_plan *p)
{
    size_t n = p->g->n_nodes;
    p->read = dpi_arena_alloc(&run->arena, n, sizeof *p->read);
    p->number = dpi_arena_alloc(&run->arena, n, sizeof *p->number);
    p->last = dpi_arena_alloc(&run->arena, n, sizeof *p->last);
    p->chains = dpi_arena_alloc(&run->arena, n + 1, sizeof *p->chains);
    run->rows = dpi_arena_alloc(&run->arena, n, sizeof *run->rows);
    run->strip_of = dpi_arena_alloc(&run->arena, n, sizeof *run->strip_of);
    return p->read != NULL && p->number != NULL && p->last != NULL && p->chains != NULL &&
           run->rows != NULL && run->strip_of != NULL;
}

bool dpi_strips_plan(dpi_run *run, const bool *needed, const unsigned char *stage)
{
    strip_plan p = {.g = run->spec.graph, .spec = &run->spec, .needed = needed};
    size_t n = p.g->n_nodes;
    if (!make_plan(run, &p))
        return false;
    dpi_strips_mark_read(run, p.read);
    find_chains(&p, stage);
    for (size_t i = 0; i < n; i++)
        if (p.number[i] > 0)
            count_node(&p, i);
    for (size_t k = 1; k <= p.n_chains; k++)
        p.chains[k].records = strip_size(&run->spec, &p.chains[k]);
    p.chains[0].records = run->spec.chunk;
    for (size_t i = 0; i < n; i++) {
        run->strip_of[i] = p.chains[p.number[i]].records;
        run->rows[i] = p.read[i] ? run->spec.chunk : run->strip_of[i];
    }
    return true;
}

/* ---- strips of calls ---- */

static size_t move_of(const dpi_run *run, dpi_id id)
{
    const dpi_shape *shape = &run->spec.graph->nodes[id].shape;
    return shape->per_record && run->rows[id] == run->spec.chunk ? dpi_shape_size(shape) : 0;
}

bool dpi_strips_make(dpi_run *run, const dpi_id *node_of_call)
{
    size_t n = run->n_calls[RECORDS];
    run->strips = dpi_arena_alloc(&run->arena, n, sizeof *run->strips);
    run->moves = dpi_arena_alloc(&run->arena, n, sizeof *run->moves);
    if (run->strips == NULL || run->moves == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const dpi_call_reads reads = dpi_call_reads_of(run, node_of_call[i]);
        size_t records = run->strip_of[node_of_call[i]];
        dpi_strip *last = run->n_strips > 0 ? &run->strips[run->n_strips - 1] : NULL;
        for (int k = 0; k < reads.n; k++)
            run->moves[i].in[k] = move_of(run, reads.in[k]);
        run->moves[i].out = move_of(run, node_of_call[i]);
        if (last == NULL || last->records != records)
            run->strips[run->n_strips++] = (dpi_strip){.first = i, .n = 1, .records = records};
        else
            last->n++;
    }
    return true;
}
