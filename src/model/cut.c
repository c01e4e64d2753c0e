/* Gradients of the objective, and the nodes at which a record's is cut off from what all share.
 *
 *   at the latents      d record_i / dc for each value c that records read; the released sum comes
 *                       back as `feed`, and the gradient of prior + <feed, c> is taken after the
 *                       release
 *   at the parameters   d (record_i + share prior) / dtheta, share = 1 / N or what the caller puts
 *                       in
 *   at points           nowhere: what reads the objective takes its own derivatives of records */
#include "model/cut.h"

#include <string.h>

#include "graph/gradient.h"

/* Per-record gradients with respect to each of n nodes, kept where there are any. */
static dpi_id *find_parts(dpi_objective *o, dpi_id root, size_t n, dpi_id *wrt)
{
    o->part = dpi_arena_alloc(&o->arena, n, sizeof *o->part);
    o->crossing = dpi_arena_alloc(&o->arena, n, sizeof *o->crossing);
    if (o->part == NULL || o->crossing == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return NULL;
    }
    if (dpi_record_gradient(&o->graph, root, n, wrt, o->part) != DP_OK)
        return NULL;
    for (size_t k = 0; k < n; k++) {
        if (o->part[k] == DPI_NONE)
            continue;
        o->part[o->n_parts] = o->part[k];
        o->crossing[o->n_parts] = wrt[k];
        wrt[o->n_parts++] = wrt[k];
        o->n_release += dpi_shape_size(&dpi_get(&o->graph, o->part[k])->shape);
    }
    return wrt;
}

/* prior + <feed, c>, whose gradient needs no more data. */
static dpi_id pull_back(dpi_objective *o, const dpi_id *crossing)
{
    dpi_graph *g = &o->graph;
    dpi_id total = o->prior;
    o->feed = dpi_arena_alloc(&o->arena, o->n_parts, sizeof *o->feed);
    if (o->feed == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return DPI_NONE;
    }
    for (size_t k = 0; k < o->n_parts; k++) {
        dpi_attr attr = {.shape = dpi_get(g, crossing[k])->shape, .number = DPI_LATE};
        o->feed[k] = dpi_source(g, &dpi_op_input, "release", attr);
        dpi_id term = dpi_sum(g, dpi_times(g, o->feed[k], crossing[k]));
        total = total == DPI_NONE ? term : dpi_add(g, total, term);
    }
    return total;
}

static void say_idle(dpi_objective *o, const dpi_block *block)
{
    (void)dpi_fail(&o->err, DP_EINVAL, "parameter '%s' influences nothing; leave it out",
                   block->name);
}

void dpi_cut_at_latents(dpi_objective *o)
{
    size_t n = 0, most = o->n_latents + o->n_blocks;
    dpi_id *wrt = dpi_arena_alloc(&o->arena, most, sizeof *wrt);
    dpi_id *gradient = dpi_arena_alloc(&o->arena, o->n_blocks, sizeof *gradient);
    if (wrt == NULL || gradient == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    for (size_t k = 0; k < o->n_latents; k++)
        if (!o->latents[k].per_record)
            wrt[n++] = o->latents[k].cut;
    for (size_t k = 0; k < o->n_blocks; k++)
        wrt[n++] = o->blocks[k].node;
    if (find_parts(o, o->record, n, wrt) == NULL)
        return;
    dpi_id total = pull_back(o, wrt);
    for (size_t k = 0; k < o->n_blocks; k++)
        wrt[k] = o->blocks[k].node;
    if (o->err.status != DP_OK ||
        dpi_gradient(&o->graph, total, o->n_blocks, wrt, gradient) != DP_OK)
        return;
    for (size_t k = 0; k < o->n_blocks; k++) {
        o->blocks[k].gradient = gradient[k];
        if (gradient[k] == DPI_NONE)
            say_idle(o, &o->blocks[k]);
    }
}

void dpi_cut_at_points(dpi_objective *o)
{
    dpi_id *wrt = dpi_arena_alloc(&o->arena, o->n_blocks, sizeof *wrt);
    dpi_id *gradient = dpi_arena_alloc(&o->arena, o->n_blocks, sizeof *gradient);
    if (wrt == NULL || gradient == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    for (size_t k = 0; k < o->n_blocks; k++)
        wrt[k] = o->blocks[k].node;
    if (o->prior == DPI_NONE ||
        dpi_gradient(&o->graph, o->prior, o->n_blocks, wrt, gradient) != DP_OK)
        return;
    for (size_t k = 0; k < o->n_blocks; k++)
        o->blocks[k].gradient = gradient[k];
}

void dpi_cut_at_parameters(dpi_objective *o, const dpi_objective_spec *spec)
{
    dpi_graph *g = &o->graph;
    dpi_id *wrt = dpi_arena_alloc(&o->arena, o->n_blocks, sizeof *wrt);
    dpi_id root = o->record;
    if (wrt == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    for (size_t k = 0; k < o->n_blocks; k++)
        wrt[k] = o->blocks[k].node;
    if (spec->shared)
        o->share = dpi_source(g, &dpi_op_input, "share", (dpi_attr){.shape = dpi_scalar(true)});
    if (o->prior != DPI_NONE && spec->shared)
        root = dpi_add(g, root, dpi_times(g, o->share, o->prior));
    else if (o->prior != DPI_NONE)
        root = dpi_add(g, root, dpi_scale(g, 1 / spec->population, o->prior));
    if (find_parts(o, root, o->n_blocks, wrt) == NULL || o->n_parts == o->n_blocks)
        return;
    size_t idle = 0; /* wrt now holds the nodes that have a gradient, in their order */
    while (idle < o->n_parts && wrt[idle] == o->blocks[idle].node)
        idle++;
    say_idle(o, &o->blocks[idle]);
}

/* ---- blocks of a guide ---- */

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

bool dpi_is_location(const dpi_block *block)
{
    return ends_in(block->name, ".loc") && ends_in(block[1].name, ".log_scale") &&
           block->size == block[1].size;
}
