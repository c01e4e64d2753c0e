/* Compiling a graph into call lists, and running them.
 *
 * Legend: m records in a chunk, parts = the per-record gradients, one for each value that crosses
 * from the global side to the records.  A part is made only where that is cheapest
 * (exec/decomposition.h): else its squared norm and weighted sum come from its factors (clip.c,
 * terms.c). */
#include "exec/run.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "exec/factors.h"
#include "exec/run-state.h"
#include "exec/single.h"
#include "exec/strips.h"
#include "exec/taken.h"

/* Chooses the parts' decompositions; what others need is there and read as it is. */
static bool choose_forms(dpi_run *run, bool *needed)
{
    const dpi_run_spec *spec = &run->spec;
    run->decompositions = dpi_arena_alloc(&run->arena, spec->n_parts, sizeof *run->decompositions);
    if (run->decompositions == NULL)
        return false;
    for (size_t i = 0; i < spec->n_parts; i++) {
        dpi_id part = spec->parts[i];
        if (!dpi_get(spec->graph, part)->shape.per_record)
            dpi_misuse("dpi_run_new",
                       "a part of each record's gradient is a value for all records");
        dpi_decompose(spec->graph, part, spec->choice, &run->decompositions[i]);
        dpi_decomposition_mark(spec->graph, part, &run->decompositions[i], needed);
    }
    for (size_t i = 0; i < spec->n_parts; i++)
        if (needed[spec->parts[i]])
            run->decompositions[i].way = DPI_MADE;
    return true;
}

/* The nodes whose values must be made; for a clone, those that its original has. */
static bool *needed_nodes(dpi_run *run)
{
    const dpi_run_spec *spec = &run->spec;
    const dpi_graph *g = spec->graph;
    bool *needed = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *needed);
    if (needed == NULL)
        return NULL;
    for (size_t i = 0; run->of != NULL && i < run->n_nodes; i++)
        needed[i] = run->of->value[i] != NULL || run->of->taken[i] != 0 ||
                    (run->of->narrow != NULL && run->of->narrow[i] != NULL);
    if (run->of != NULL) {
        run->decompositions = run->of->decompositions;
        return needed;
    }
    for (size_t i = 0; i < spec->n_wanted; i++)
        dpi_mark(g, spec->wanted[i], needed);
    return choose_forms(run, needed) ? needed : NULL;
}

/* The stage of every node; false where a record would need what comes only after all records. */
static bool assign_stages(const dpi_graph *g, const bool *needed, unsigned char *stage)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        bool late = node->op->over_records || dpi_is_late(node);
        for (int k = 0; k < node->op->n_inputs; k++)
            late = late || (stage[node->in[k]] == LATE);
        stage[i] = late ? LATE : node->shape.per_record ? RECORDS : GLOBALS;
        if (needed[i] && late && node->shape.per_record)
            return false;
    }
    return true;
}

static bool make_buffers(dpi_run *run, const bool *needed, const bool *wide)
{
    const dpi_graph *g = run->spec.graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        size_t size = dpi_shape_size(&node->shape), count;
        if (!needed[i] || !wide[i] || run->taken[i] != 0 || run->value[i] != NULL)
            continue;
        if (run->of != NULL && !node->shape.per_record) {
            run->value[i] = run->of->value[i];
            continue;
        }
        if (!dpi_mul(size, node->shape.per_record ? run->rows[i] : 1, &count) ||
            (run->value[i] = dpi_arena_alloc(&run->arena, count, sizeof(double))) == NULL)
            return false;
        dpi_put_fixed(node, count, run->value[i]);
    }
    return true;
}

static bool count_numbers(dpi_run *run)
{
    const dpi_graph *g = run->spec.graph;
    if ((run->numbers = dpi_arena_alloc(&run->arena, run->n_nodes, sizeof(size_t))) == NULL)
        return false;
    for (size_t i = 0; i < run->n_nodes; i++) {
        const dpi_shape *shape = &g->nodes[i].shape;
        if (run->value[i] != NULL && run->rows[i] == run->spec.chunk)
            run->numbers[i] = dpi_shape_size(shape) * (shape->per_record ? run->spec.chunk : 1);
    }
    return true;
}

static dpi_call make_call(const dpi_run *run, dpi_id id)
{
    const dpi_graph *g = run->spec.graph;
    const dpi_node *node = &g->nodes[id];
    const dpi_call_reads reads = dpi_call_reads_of(run, id);
    dpi_call call = {.forward = reads.forward,
                     .n = 1,
                     .out = run->value[id],
                     .out_size = dpi_shape_size(&node->shape),
                     .attr = &node->attr};
    for (int k = 0; k < reads.n; k++) {
        const dpi_shape *shape = &g->nodes[reads.in[k]].shape;
        call.in[k] = run->value[reads.in[k]];
        call.in_size[k] = dpi_shape_size(shape);
        call.in_step[k] = shape->per_record ? call.in_size[k] : 0;
    }
    return call;
}

/* Sums over records belong to the records' stage: each chunk adds to them. */
static int stage_of_call(const dpi_graph *g, dpi_id id, const unsigned char *stage)
{
    return g->nodes[id].op->over_records ? RECORDS : stage[id];
}

/* Also says, in node_of_call, whose the calls of the records' stage are. */
static bool make_calls(dpi_run *run, const bool *needed, const unsigned char *stage,
                       dpi_id *node_of_call)
{
    const dpi_graph *g = run->spec.graph;
    for (int s = 0; s < N_STAGES; s++) {
        run->calls[s] = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->calls[s]);
        if (run->calls[s] == NULL)
            return false;
    }
    run->sums = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->sums);
    if (run->sums == NULL)
        return false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (!needed[i] || run->taken[i] != 0 || dpi_is_source(&g->nodes[i]))
            continue;
        int s = stage_of_call(g, (dpi_id)i, stage);
        dpi_call *call = &run->calls[s][run->n_calls[s]++];
        *call = make_call(run, (dpi_id)i);
        if (s == RECORDS)
            node_of_call[run->n_calls[s] - 1] = (dpi_id)i;
        if (g->nodes[i].op->over_records)
            run->sums[run->n_sums++] = call;
    }
    return true;
}

static bool make_parts(dpi_run *run)
{
    const dpi_run_spec *spec = &run->spec;
    run->parts = dpi_arena_alloc(&run->arena, spec->n_parts, sizeof *run->parts);
    run->ones = dpi_arena_alloc(&run->arena, spec->chunk, sizeof *run->ones);
    if (run->parts == NULL || run->ones == NULL)
        return false;
    for (size_t i = 0; i < spec->chunk; i++)
        run->ones[i] = 1;
    for (size_t i = 0; i < spec->n_parts; i++) {
        const dpi_node *node = dpi_get(spec->graph, spec->parts[i]);
        dpi_part *p = &run->parts[i];
        p->call = make_call(run, spec->parts[i]);
        p->size = p->call.out_size;
        p->factored =
            run->decompositions[i].way == DPI_FACTORED ? &dpi_factored_forms[node->op->id] : NULL;
        if (run->decompositions[i].way != DPI_PRODUCTS &&
            run->decompositions[i].way != DPI_ONE_BY_ONE)
            continue;
        p->terms = dpi_arena_alloc(&run->arena, 1, sizeof *p->terms);
        if (p->terms == NULL || !dpi_terms_init(p->terms, &run->arena, spec->graph,
                                                &run->decompositions[i], run->value, spec->chunk))
            return false;
    }
    return true;
}

static dp_status check_column(const dpi_column *column, const dpi_node *node, size_t n,
                              dp_error *err)
{
    size_t size = dpi_shape_size(&node->shape);
    bool index = dpi_is_groups(node);
    if (column->size != size || (index && column->index == NULL))
        return dpi_fail(
            err, DP_ESHAPE, "column '%s' has %zu %s number(s) a record, %s:%d asks for %zu %s; %s",
            column->name, column->size, column->index != NULL ? "whole" : "real",
            node->where.file != NULL ? node->where.file : "the model", node->where.line, size,
            index ? "group number" : "real number(s)",
            index ? size == 1 ? "use dp_dataset_index" : "use dp_dataset_indices"
                  : "change one of them (a value of each group meets records by dp_pick)");
    for (size_t i = 0; column->real != NULL && i < n * size; i++)
        if (!isfinite(column->real[i]))
            return dpi_fail(err, DP_EDATA,
                            "column '%s', record %zu (from 0): the value is missing or not finite; "
                            "leave the record out or impute it beforehand",
                            column->name, i / size);
    for (size_t i = 0; column->bytes != NULL && i < n * size; i++)
        if (column->bytes[i] > column->most)
            return dpi_fail(err, DP_EDATA,
                            "column '%s', record %zu (from 0): the byte is above %u; leave the "
                            "record out, or give another `most`",
                            column->name, i / size, column->most);
    for (size_t i = 0; index && i < n * size; i++)
        if (column->index[i] < 0 || (size_t)column->index[i] >= node->attr.number)
            return dpi_fail(
                err, DP_EDATA,
                "column '%s', record %zu (from 0): the group number is not in 0 ... %zu; number "
                "groups from 0, or make their plate larger",
                column->name, i / size, node->attr.number - 1);
    return DP_OK;
}

static bool bind(dpi_run *run, const dpi_column *column, const dpi_node *node, dpi_id id)
{
    dpi_binding *b = &run->bindings[run->n_bindings++];
    size_t count;
    *b = (dpi_binding){.column = column, .out = run->value[id]};
    if (b->out == NULL)
        b->floats = run->narrow[id];
    if (dpi_is_groups(node))
        b->groups = node->attr.number;
    if (!column->drawn)
        return true;
    if (!dpi_mul(run->spec.chunk, column->size, &count))
        return false;
    b->chance = dpi_arena_alloc(&run->arena, count, 1);
    return b->chance != NULL;
}

static dp_status bind_data(dpi_run *run, const bool *needed, dp_error *err)
{
    const dpi_graph *g = run->spec.graph;
    const dp_dataset *data = run->spec.data;
    run->bindings = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->bindings);
    if (run->bindings == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        if (!dpi_is_column(node) || !(needed[i] || run->spec.all_columns))
            continue;
        const dpi_column *column = data != NULL ? dpi_dataset_find(data, node->name) : NULL;
        if (column == NULL && needed[i])
            return dpi_fail(err, DP_ENAME,
                            "the data set has no column '%s', which the model or its guide reads; "
                            "add it, or correct the name",
                            node->name);
        if (column == NULL)
            continue;
        dp_status status =
            run->of == NULL ? check_column(column, node, data->n, err) : DP_OK; /* once is enough */
        if (status != DP_OK)
            return status;
        if (needed[i] && !bind(run, column, node, (dpi_id)i))
            return dpi_fail_nomem(err);
    }
    return DP_OK;
}

static dp_status build(dpi_run *run, dp_error *err)
{
    const dpi_run_spec *spec = &run->spec;
    size_t n_nodes = spec->graph->n_nodes;
    if (spec->data != NULL && spec->data->err.status != DP_OK)
        return dpi_fail(err, spec->data->err.status, "%s", spec->data->err.text);
    bool *needed = needed_nodes(run);
    unsigned char *stage = dpi_arena_alloc(&run->arena, n_nodes, sizeof *stage);
    dpi_id *node_of_call = dpi_arena_alloc(&run->arena, n_nodes, sizeof *node_of_call);
    bool *wide = dpi_arena_alloc(&run->arena, n_nodes, sizeof *wide);
    run->value = dpi_arena_alloc(&run->arena, n_nodes, sizeof *run->value);
    if (needed == NULL || stage == NULL || node_of_call == NULL || wide == NULL ||
        run->value == NULL || !dpi_factors_find(run))
        return dpi_fail_nomem(err);
    if (run->mostly_outer && spec->tasks > 1)
        run->spec.chunk *= spec->tasks;
    run->spec.tasks = 1; /* and so it is in clones */
    dpi_single_mark_wide(run, wide);
    for (size_t i = 0; i < spec->n_lent; i++)
        if (run->of == NULL && needed[spec->lent[i].node])
            run->value[spec->lent[i].node] = spec->lent[i].value;
    if (!assign_stages(spec->graph, needed, stage))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a value of each record depends on a sum over all records; "
                        "compute such sums beforehand, from public numbers");
    if (!dpi_strips_plan(run, needed, stage) || !dpi_taken_find(run, needed, stage) ||
        !make_buffers(run, needed, wide) || !count_numbers(run) ||
        !make_calls(run, needed, stage, node_of_call) || !dpi_strips_make(run, node_of_call) ||
        !make_parts(run))
        return dpi_fail_nomem(err);
    dp_status status = spec->single ? dpi_single_make(run, needed, node_of_call, err) : DP_OK;
    return status == DP_OK ? bind_data(run, needed, err) : status;
}

static dp_status make(const dpi_run_spec *spec, const dpi_run *of, dpi_run **out, dp_error *err)
{
    *out = NULL;
    dpi_run *run = dpi_alloc(1, sizeof *run);
    if (run == NULL)
        return dpi_fail_nomem(err);
    run->spec = *spec;
    run->of = of;
    run->n_nodes = of != NULL ? of->n_nodes : spec->graph->n_nodes;
    dp_status status = build(run, err);
    if (status != DP_OK) {
        dpi_run_free(run);
        return status;
    }
    *out = run;
    return DP_OK;
}

dp_status dpi_run_new(const dpi_run_spec *spec, dpi_run **out, dp_error *err)
{
    return make(spec, NULL, out, err);
}

dp_status dpi_run_clone(const dpi_run *run, dpi_run **clone, dp_error *err)
{
    *clone = NULL;
    if (run->n_sums > 0)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "values are summed over records, which one thread does; use one thread");
    return make(&run->spec, run, clone, err);
}

void dpi_run_free(dpi_run *run)
{
    if (run == NULL)
        return;
    dpi_single_wipe(run);
    for (size_t i = 0; i < run->spec.n_parts && run->parts != NULL; i++)
        if (run->parts[i].chains != NULL)
            dpi_chains_wipe(run->parts[i].chains);
    for (size_t i = 0; i < run->n_bindings; i++)
        if (run->bindings[i].chance != NULL)
            sodium_memzero(run->bindings[i].chance,
                           run->spec.chunk * run->bindings[i].column->size);
    for (size_t i = 0; i < run->n_bindings; i++)
        if (run->bindings[i].out != NULL)
            sodium_memzero(run->bindings[i].out, run->spec.chunk * run->bindings[i].column->size *
                                                     sizeof *run->bindings[i].out);
    dpi_arena_free(&run->arena);
    dpi_free(run);
}

size_t dpi_run_chunk(const dpi_run *run)
{
    return run->spec.chunk;
}

size_t dpi_run_memory(const dpi_run *run)
{
    return sizeof *run + dpi_arena_bytes(&run->arena);
}

static void run_stage(dpi_run *run, int stage)
{
    const dpi_call *end = run->calls[stage] + run->n_calls[stage];
    for (const dpi_call *call = run->calls[stage]; call < end; call++)
        call->forward(call);
}

void dpi_run_globals(dpi_run *run)
{
    run_stage(run, GLOBALS);
    dpi_single_globals(run);
}

void dpi_run_late(dpi_run *run)
{
    run_stage(run, LATE);
}

void dpi_run_start_records(dpi_run *run)
{
    for (size_t i = 0; i < run->n_sums; i++)
        memset(run->sums[i]->out, 0, run->sums[i]->out_size * sizeof(double));
}

bool dpi_run_draws(const dpi_run *run)
{
    bool draws = false;
    for (size_t i = 0; i < run->n_bindings; i++)
        draws = draws || run->bindings[i].chance != NULL;
    return draws;
}

void dpi_run_draw(dpi_run *run, size_t first, size_t m, dpi_stream *stream)
{
    for (size_t i = 0; i < run->n_bindings; i++) {
        const dpi_binding *b = &run->bindings[i];
        if (b->chance != NULL)
            dpi_stream_bytes_below(stream, dpi_column_chances(b->column), m * b->column->size,
                                   b->chance + first * b->column->size);
    }
}

void dpi_run_draw_as(dpi_run *run, const dpi_run *other, size_t m)
{
    for (size_t i = 0; i < run->n_bindings; i++)
        for (size_t k = 0; run->bindings[i].chance != NULL && k < other->n_bindings; k++)
            if (other->bindings[k].column == run->bindings[i].column &&
                other->bindings[k].chance != NULL)
                memcpy(run->bindings[i].chance, other->bindings[k].chance,
                       m * run->bindings[i].column->size);
}

/* Group numbers are indices of arrays.  They were checked where they lie, which may be a file that
 * has been changed since: one that is out of range by now is 0. */
DPI_LOOPS static void keep_below(double groups, size_t n, double *number)
{
    for (size_t i = 0; i < n; i++)
        number[i] = number[i] >= 0 && number[i] < groups ? number[i] : 0;
}

/* A call on records first ... first + m - 1 of the chunk. */
static void run_some(const dpi_run *run, size_t call, size_t first, size_t m)
{
    const dpi_move *move = &run->moves[call];
    dpi_call c = run->calls[RECORDS][call];
    c.n = m;
    for (int k = 0; k < 3; k++)
        c.in[k] = move->in[k] != 0 ? c.in[k] + first * move->in[k] : c.in[k];
    c.out += first * move->out;
    c.forward(&c);
}

static void run_strip(dpi_run *run, const dpi_strip *s, size_t m)
{
    if (m <= s->records) {
        for (dpi_call *c = run->calls[RECORDS] + s->first, *end = c + s->n; c < end; c++) {
            c->n = m;
            c->forward(c);
        }
        return;
    }
    for (size_t first = 0, n; first < m; first += n) {
        n = m - first < s->records ? m - first : s->records;
        for (size_t k = 0; k < s->n; k++)
            run_some(run, s->first + k, first, n);
    }
}

/* Records that are on their way while some are gathered. */
enum { AHEAD = 16 };

/* Records number `at` on of the chunk, m of them. */
static void gather(const dpi_binding *b, size_t at, size_t m, const size_t *index, size_t first,
                   double *out)
{
    const size_t *some = index != NULL ? index + at : NULL;
    if (b->chance != NULL)
        dpi_column_draw(b->column, m, some, first + at, b->chance + at * b->column->size, out);
    else
        dpi_column_gather(b->column, m, some, first + at, out);
    if (b->groups > 0)
        keep_below((double)b->groups, m * b->column->size, out);
}

/* All m records, a few at a time while others are on their way. */
static void gather_all(const dpi_run *run, const dpi_binding *b, size_t m, const size_t *index,
                       size_t first)
{
    const size_t size = b->column->size, some = dpi_single_rows(size);
    size_t fetched = 0;
    for (size_t at = 0, n; at < m; at += n) {
        n = m - at < some ? m - at : some;
        size_t far = at + n + AHEAD < m ? at + n + AHEAD : m;
        if (index != NULL)
            dpi_column_fetch(b->column, far - fetched, index + fetched);
        fetched = far;
        gather(b, at, n, index, first, b->floats != NULL ? run->room : b->out + at * size);
        if (b->floats != NULL)
            dpi_single_narrow(n * size, run->room, b->floats + at * size);
    }
}

void dpi_run_records(dpi_run *run, size_t m, const size_t *index, size_t first)
{
    for (size_t i = 0; i < run->n_bindings; i++)
        gather_all(run, &run->bindings[i], m, index, first);
    if (run->spec.single) {
        dpi_single_records(run, m);
        return;
    }
    for (const dpi_strip *s = run->strips; s < run->strips + run->n_strips; s++)
        run_strip(run, s, m);
}
