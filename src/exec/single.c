/* Records in single precision.
 *
 * The values of records are floats, and so are copies of the global values that they meet.  Every
 * operation on them has a kernel for floats; what is added up over records is widened and added in
 * double.  What comes from outside (data, draws) is narrowed, what goes out (values that are
 * wanted, and the factors of the gradients) is widened, exactly, and norms, clipping and sums are
 * those of double precision (clip.c).  So a record's gradient is, as before, a function of that
 * record alone, to the bit, which is clipped as it is: rounding to floats costs accuracy and never
 * privacy.  A float that overflows makes a norm that is not finite, and the record adds zero. */
#include "exec/single.h"

#include <sodium.h>

#include "base/compiler.h"
#include "exec/factors.h"
#include "exec/strips.h"

/* A group number below this is a float. */
static const size_t most_groups = (size_t)1 << 24;

/* Numbers that stay in the innermost cache as doubles and as floats. */
enum { PIECE = 2048 };

size_t dpi_single_rows(size_t size)
{
    return size < PIECE ? PIECE / size : 1;
}

DPI_LOOPS static void narrow(size_t n, const double *restrict in, float *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)in[i];
}

void dpi_single_narrow(size_t n, const double *in, float *out)
{
    narrow(n, in, out);
}

DPI_LOOPS static void widen(size_t n, const float *restrict in, double *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i];
}

/* Whether a part is a value that is summed as it is, and comes from a kernel for floats. */
static bool is_made_of_floats(const dpi_run *run, size_t part)
{
    return run->spec.single && run->decompositions[part].way == DPI_MADE &&
           !dpi_is_source(dpi_get(run->spec.graph, run->spec.parts[part]));
}

void dpi_single_mark_wide(const dpi_run *run, bool *wide)
{
    const dpi_graph *g = run->spec.graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        wide[i] = !run->spec.single || !g->nodes[i].shape.per_record ||
                  (dpi_is_source(&g->nodes[i]) && !dpi_is_column(&g->nodes[i]));
    for (size_t i = 0; i < run->spec.n_wanted; i++)
        wide[run->spec.wanted[i]] = true;
    for (size_t i = 0; i < run->spec.n_parts; i++)
        if (!dpi_factors_are_floats(run, i) && !is_made_of_floats(run, i))
            dpi_strips_mark_part(run, i, wide);
}

/* Where parts are whose factors, or which themselves, are read as floats. */
static void list_parts(dpi_run *run)
{
    for (size_t i = 0; i < run->spec.n_parts; i++) {
        for (int k = 0; k < 2 && dpi_factors_are_floats(run, i); k++)
            run->parts[i].kept[k] =
                run->narrow[dpi_get(run->spec.graph, run->spec.parts[i])->in[k]];
        if (is_made_of_floats(run, i))
            run->parts[i].made = run->narrow[run->spec.parts[i]];
    }
}

/* Makes the float buffers: of records' values, and of what else they read. */
static bool make_floats(dpi_run *run, const bool *needed)
{
    const dpi_graph *g = run->spec.graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        for (int k = -1; k < node->op->n_inputs; k++) {
            dpi_id id = k < 0 ? (dpi_id)i : node->in[k];
            const dpi_shape *shape = &g->nodes[id].shape;
            size_t count = dpi_shape_size(shape);
            if (!needed[i] || !node->shape.per_record || run->narrow[id] != NULL)
                continue;
            if (run->of != NULL && !shape->per_record) {
                run->narrow[id] = run->of->narrow[id];
                continue;
            }
            if (shape->per_record && !dpi_mul(count, run->rows[id], &count))
                return false;
            run->narrow[id] = dpi_arena_alloc(&run->arena, count, sizeof(float));
            if (run->narrow[id] == NULL)
                return false;
        }
    }
    return true;
}

static bool is_lent(const dpi_run *run, dpi_id node)
{
    bool found = false;
    for (size_t i = 0; i < run->spec.n_lent; i++)
        found = found || run->spec.lent[i].node == node;
    return found;
}

/* Makes the list of values that are narrowed. */
static bool make_copies(dpi_run *run)
{
    const dpi_graph *g = run->spec.graph;
    run->copies = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->copies);
    if (run->copies == NULL)
        return false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        bool of_record = node->shape.per_record;
        if (run->narrow[i] == NULL || run->value[i] == NULL || (of_record && !dpi_is_source(node)))
            continue;
        run->copies[run->n_copies++] = (dpi_copy){.node = (dpi_id)i,
                                                  .size = dpi_shape_size(&node->shape),
                                                  .of_record = of_record,
                                                  .of_lent = is_lent(run, (dpi_id)i),
                                                  .from = run->value[i],
                                                  .to = run->narrow[i]};
    }
    return true;
}

static void make_single(const dpi_run *run, dpi_id id, const dpi_call *call, dpi_single *s)
{
    const dpi_node *node = &run->spec.graph->nodes[id];
    s->forward = dpi_kernels_single[node->op->id].run;
    s->wide = call;
    s->call = (dpi_call_single){.out = run->narrow[id],
                                .in_size = {call->in_size[0], call->in_size[1]},
                                .out_size = call->out_size,
                                .in_step = {call->in_step[0], call->in_step[1]},
                                .attr = &node->attr};
    for (int k = 0; k < node->op->n_inputs; k++)
        s->call.in[k] = run->narrow[node->in[k]];
}

/* Room for the widened values of the largest sum over records, and for records of any column. */
static bool make_room(dpi_run *run, const bool *needed)
{
    const dpi_graph *g = run->spec.graph;
    size_t size = 0;
    for (size_t i = 0; i < run->n_sums; i++)
        size = run->sums[i]->in_size[0] > size ? run->sums[i]->in_size[0] : size;
    if (!dpi_mul(size, run->spec.chunk, &run->n_room))
        return false;
    for (size_t i = 0; i < g->n_nodes; i++) {
        size = dpi_shape_size(&g->nodes[i].shape);
        size = needed[i] && dpi_is_column(&g->nodes[i]) ? size * dpi_single_rows(size) : 0;
        run->n_room = size > run->n_room ? size : run->n_room;
    }
    run->room = dpi_arena_alloc(&run->arena, run->n_room, sizeof(double));
    return run->room != NULL;
}

dp_status dpi_single_make(dpi_run *run, const bool *needed, const dpi_id *node_of_call,
                          dp_error *err)
{
    const dpi_graph *g = run->spec.graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (needed[i] && dpi_is_groups(&g->nodes[i]) && g->nodes[i].attr.number > most_groups)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "column '%s' has more groups than single precision can number (%zu); "
                            "use double precision",
                            g->nodes[i].name, most_groups);
    run->narrow = dpi_arena_alloc(&run->arena, g->n_nodes, sizeof *run->narrow);
    run->singles = dpi_arena_alloc(&run->arena, run->n_calls[RECORDS], sizeof *run->singles);
    if (run->narrow == NULL || run->singles == NULL || !make_floats(run, needed) ||
        !make_copies(run))
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < run->n_calls[RECORDS]; i++)
        make_single(run, node_of_call[i], &run->calls[RECORDS][i], &run->singles[i]);
    list_parts(run);
    return make_room(run, needed) ? DP_OK : dpi_fail_nomem(err);
}

void dpi_single_globals(dpi_run *run)
{
    for (size_t i = 0; i < run->n_copies; i++)
        if (!run->copies[i].of_record && !(run->refreshed && run->copies[i].of_lent))
            narrow(run->copies[i].size, run->copies[i].from, run->copies[i].to);
    run->refreshed = false;
}

void dpi_run_refresh(dpi_run *run, dpi_id node, size_t first, size_t n)
{
    for (size_t i = 0; i < run->n_copies; i++)
        if (run->copies[i].node == node)
            narrow(n, run->copies[i].from + first, run->copies[i].to + first);
}

void dpi_run_refreshed(dpi_run *run)
{
    run->refreshed = true;
}

/* A sum over records, of floats in double. */
static void sum_records(const dpi_run *run, const dpi_single *s, size_t m)
{
    dpi_call call = *s->wide;
    call.n = m;
    call.in[0] = run->room;
    widen(m * call.in_size[0], s->call.in[0], run->room);
    call.forward(&call);
}

/* A call on records first ... first + m - 1 of the chunk. */
static void run_some(const dpi_run *run, size_t call, size_t first, size_t m)
{
    const dpi_single *s = &run->singles[call];
    const dpi_move *move = &run->moves[call];
    dpi_call_single c = s->call;
    if (s->forward == NULL) {
        sum_records(run, s, m);
        return;
    }
    c.n = m;
    for (int k = 0; k < 2; k++)
        c.in[k] = move->in[k] != 0 ? c.in[k] + first * move->in[k] : c.in[k];
    c.out += first * move->out;
    s->forward(&c);
    if (s->wide->out != NULL)
        widen(m * c.out_size, c.out, s->wide->out + first * c.out_size);
}

void dpi_single_records(dpi_run *run, size_t m)
{
    for (size_t i = 0; i < run->n_copies; i++)
        if (run->copies[i].of_record)
            narrow(m * run->copies[i].size, run->copies[i].from, run->copies[i].to);
    for (const dpi_strip *s = run->strips; s < run->strips + run->n_strips; s++)
        for (size_t first = 0, n; first < m; first += n) {
            n = m - first < s->records ? m - first : s->records;
            for (size_t k = 0; k < s->n; k++)
                run_some(run, s->first + k, first, n);
        }
}

void dpi_single_wipe(dpi_run *run)
{
    for (size_t i = 0; i < run->n_copies; i++)
        if (run->copies[i].of_record)
            sodium_memzero(run->copies[i].to,
                           run->spec.chunk * run->copies[i].size * sizeof(float));
    for (size_t i = 0; i < run->n_bindings; i++)
        if (run->bindings[i].floats != NULL)
            sodium_memzero(run->bindings[i].floats,
                           run->spec.chunk * run->bindings[i].column->size * sizeof(float));
    if (run->room != NULL)
        sodium_memzero(run->room, run->n_room * sizeof *run->room);
}
