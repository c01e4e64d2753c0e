/* Reverse mode in two halves.  The values c that all records share and that records read, whatever
 * they are computed from, are a frontier in the graph.  Of each record there is d record_i / dc;
 * the sum over records, which chunks add up in factored form, is fed back, and the gradient of
 * log prior + <feed, c> by the latents is that of the posterior.  So what lies before the frontier,
 * such as a Cholesky factor, is differentiated once, not once for each record. */
#include "infer/posterior.h"

#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "graph/gradient.h"
#include "model/proper.h"
#include "num/linalg.h"
#include "svi/check.h"

enum { CHUNK = 256 };

/* ---- the graph ---- */

static dp_status check_sites(const dp_model *model, dp_error *err)
{
    for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++) {
        bool of_records = dpi_get(&model->graph, site->value)->shape.per_record;
        if (site->kind == DPI_PARAM)
            return dpi_fail(err, DP_EUNSUPPORTED, "parameter '%s' has no prior", site->name);
        if (site->kind == DPI_LATENT && of_records)
            return dpi_fail(err, DP_EUNSUPPORTED, "latent '%s' belongs to each record", site->name);
    }
    return DP_OK;
}

/* Marks what depends on latents, and lists of it what records read and is not of records. */
static size_t find_frontier(const dpi_objective *o, size_t n_nodes, unsigned char *mark,
                            dpi_id *frontier)
{
    enum { DEPENDS = 1, LISTED = 2 };
    const dpi_graph *g = &o->graph;
    size_t n = 0;
    for (size_t b = 0; b < o->n_blocks; b++)
        mark[o->blocks[b].node] = DEPENDS;
    for (size_t i = 0; i < n_nodes; i++) {
        const dpi_node *node = dpi_get(g, (dpi_id)i);
        for (int k = 0; k < node->op->n_inputs; k++) {
            dpi_id in = node->in[k];
            mark[i] |= mark[in] & DEPENDS;
            if (!node->shape.per_record || mark[in] != DEPENDS || dpi_get(g, in)->shape.per_record)
                continue;
            mark[in] |= LISTED;
            frontier[n++] = in;
        }
    }
    return n;
}

/* Of each value on the frontier the gradient of a record, where there is one. */
static dp_status find_parts(dpi_posterior *p, dp_error *err)
{
    dpi_objective *o = &p->objective;
    size_t nodes = o->graph.n_nodes;
    unsigned char *mark = dpi_arena_alloc(&p->arena, nodes, 1);
    p->crossing = dpi_arena_alloc(&p->arena, nodes, sizeof *p->crossing);
    p->part = dpi_arena_alloc(&p->arena, nodes, sizeof *p->part);
    p->feed = dpi_arena_alloc(&p->arena, nodes, sizeof *p->feed);
    if (mark == NULL || p->crossing == NULL || p->part == NULL || p->feed == NULL)
        return dpi_fail_nomem(err);
    size_t n = find_frontier(o, nodes, mark, p->crossing);
    if (dpi_gradient(&o->graph, o->record, n, p->crossing, p->part) != DP_OK)
        return dpi_fail(err, o->err.status, "%s", o->err.text);
    for (size_t k = 0; k < n; k++) {
        if (p->part[k] == DPI_NONE)
            continue;
        p->part[p->n_parts] = p->part[k];
        p->crossing[p->n_parts++] = p->crossing[k];
        p->n_sum += dpi_shape_size(&dpi_get(&o->graph, p->part[k])->shape);
    }
    return DP_OK;
}

static dp_status refuse_idle(const char *name, dp_error *err)
{
    return dpi_fail(err, DP_EINVAL,
                    "latent '%s' has a flat prior and no record reads it, so that it could be "
                    "anything; leave it out, or give it a prior such as dp_normal",
                    name);
}

/* A flat latent on part of the line has the gradient of its Jacobian; what else reads it reads its
 * value. */
static dp_status check_read(dpi_objective *o, dpi_id total, const dp_model *model, dp_error *err)
{
    for (const dpi_latent *l = o->latents; l < o->latents + o->n_latents; l++)
        for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++) {
            dpi_id adjoint;
            if (site->kind != DPI_LATENT || !dpi_is_improper(site->family) ||
                strcmp(site->name, l->name) != 0)
                continue;
            if (dpi_gradient(&o->graph, total, 1, &l->value, &adjoint) != DP_OK)
                return dpi_fail(err, o->err.status, "%s", o->err.text);
            if (adjoint == DPI_NONE)
                return refuse_idle(l->name, err);
        }
    return DP_OK;
}

static dp_status find_gradient(dpi_posterior *p, const dp_model *model, dp_error *err)
{
    dpi_objective *o = &p->objective;
    dpi_graph *g = &o->graph;
    dpi_id total = o->prior, *wrt = dpi_arena_alloc(&p->arena, o->n_blocks, sizeof *wrt);
    p->gradient = dpi_arena_alloc(&p->arena, o->n_blocks, sizeof *p->gradient);
    if (wrt == NULL || p->gradient == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < p->n_parts; k++) {
        dpi_attr attr = {.shape = dpi_get(g, p->crossing[k])->shape, .number = DPI_LATE};
        p->feed[k] = dpi_source(g, &dpi_op_input, "fed back", attr);
        dpi_id term = dpi_sum(g, dpi_times(g, p->feed[k], p->crossing[k]));
        total = total == DPI_NONE ? term : dpi_add(g, total, term);
    }
    for (size_t b = 0; b < o->n_blocks; b++)
        wrt[b] = o->blocks[b].node;
    if (total == DPI_NONE || dpi_gradient(g, total, o->n_blocks, wrt, p->gradient) != DP_OK)
        return dpi_fail(err, o->err.status, "%s", o->err.text);
    for (size_t b = 0; b < o->n_blocks; b++)
        if (p->gradient[b] == DPI_NONE)
            return refuse_idle(o->blocks[b].name, err);
    return check_read(o, total, model, err);
}

/* ---- the evaluator ---- */

static dp_status make_run(dpi_evaluator *e, dp_error *err)
{
    const dpi_posterior *p = e->of;
    const dpi_objective *o = &p->objective;
    dpi_id *wanted = dpi_arena_alloc(&e->arena, 4 * o->n_blocks + p->n_parts + 2, sizeof *wanted);
    size_t n = 0;
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    wanted[n++] = o->record;
    if (o->prior != DPI_NONE)
        wanted[n++] = o->prior;
    for (size_t b = 0; b < o->n_blocks; b++) {
        wanted[n++] = o->blocks[b].node;
        if (p->gradient[b] != DPI_NONE)
            wanted[n++] = p->gradient[b];
        if (p->loose[b])
            wanted[n++] = o->latents[b].value;
        if (o->latents[b].scale != DPI_NONE)
            wanted[n++] = o->latents[b].scale;
    }
    for (size_t k = 0; k < p->n_parts; k++)
        wanted[n++] = p->feed[k];
    const dpi_run_spec spec = {.graph = &o->graph,
                               .wanted = wanted,
                               .n_wanted = n,
                               .parts = p->part,
                               .n_parts = p->n_parts,
                               .data = p->data,
                               .chunk = p->chunk};
    return dpi_run_new(&spec, &e->run, err);
}

dp_status dpi_evaluator_init(dpi_evaluator *e, dpi_posterior *of, dp_error *err)
{
    *e = (dpi_evaluator){.of = of};
    e->sum = dpi_arena_alloc(&e->arena, of->n_sum + 1, sizeof *e->sum);
    e->weight = dpi_arena_alloc(&e->arena, of->chunk, sizeof *e->weight);
    e->record = dpi_arena_alloc(&e->arena, of->chunk, sizeof *e->record);
    bool all = e->sum != NULL && e->weight != NULL && e->record != NULL;
    for (size_t r = 0; all && r < of->chunk; r++)
        e->weight[r] = 1;
    dp_status status = all ? make_run(e, err) : dpi_fail_nomem(err);
    if (status != DP_OK)
        dpi_evaluator_free(e);
    return status;
}

void dpi_evaluator_free(dpi_evaluator *e)
{
    dpi_run_free(e->run);
    dpi_arena_free(&e->arena);
    *e = (dpi_evaluator){.of = NULL};
}

/* The log density of all records, whose parts are added up in e->sum. */
static double run_records(dpi_evaluator *e)
{
    const dpi_posterior *p = e->of;
    double total = 0, lost = 0;
    memset(e->sum, 0, p->n_sum * sizeof *e->sum);
    dpi_run_start_records(e->run);
    for (size_t first = 0, m; first < p->data->n; first += m) {
        double *sum = e->sum;
        m = p->data->n - first < p->chunk ? p->data->n - first : p->chunk;
        dpi_run_records(e->run, m, NULL, first);
        for (size_t k = 0; k < p->n_parts; k++) {
            dpi_run_add_part(e->run, k, 0, m, e->weight, sum);
            sum += dpi_shape_size(&dpi_get(&p->objective.graph, p->part[k])->shape);
        }
        dpi_run_read(e->run, p->objective.record, 0, m, e->record);
        for (size_t r = 0; r < m; r++)
            dpi_add_compensated(1, &e->record[r], &total, &lost);
    }
    return total;
}

static void feed_back(dpi_evaluator *e)
{
    const dpi_posterior *p = e->of;
    const double *sum = e->sum;
    for (size_t k = 0; k < p->n_parts; k++) {
        size_t size = dpi_shape_size(&dpi_get(&p->objective.graph, p->part[k])->shape);
        if (dpi_run_numbers(e->run, p->feed[k]) > 0)
            dpi_run_write(e->run, p->feed[k], 0, size, sum);
        sum += size;
    }
    dpi_run_late(e->run);
}

static void place(dpi_evaluator *e, const double *z)
{
    const dpi_objective *o = &e->of->objective;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
        dpi_run_write(e->run, b->node, 0, b->size, z + b->offset);
    dpi_run_globals(e->run);
}

void dpi_evaluator_tie(dpi_evaluator *e, const double *z, double *tied)
{
    const dpi_objective *o = &e->of->objective;
    memmove(tied, z, o->n_theta * sizeof *z);
    place(e, z);
    for (size_t k = 0; k < o->n_blocks; k++)
        if (e->of->loose[k])
            dpi_run_read(e->run, o->latents[k].value, 0, o->blocks[k].size,
                         tied + o->blocks[k].offset);
}

void dpi_evaluator_scale(dpi_evaluator *e, const double *z, size_t block, double *scale)
{
    const dpi_objective *o = &e->of->objective;
    place(e, z);
    dpi_run_read(e->run, o->latents[block].scale, 0, o->blocks[block].size, scale);
}

double dpi_evaluate(dpi_evaluator *e, const double *z, double *gradient)
{
    const dpi_posterior *p = e->of;
    const dpi_objective *o = &p->objective;
    double prior = 0;
    place(e, z);
    if (o->prior != DPI_NONE)
        dpi_run_read(e->run, o->prior, 0, 1, &prior);
    double total = prior + run_records(e);
    feed_back(e);
    for (size_t k = 0; k < o->n_blocks; k++) {
        const dpi_block *b = &o->blocks[k];
        memset(gradient + b->offset, 0, b->size * sizeof *gradient);
        if (p->gradient[k] != DPI_NONE)
            dpi_run_read(e->run, p->gradient[k], 0, b->size, gradient + b->offset);
    }
    return isnan(total) ? -INFINITY : total;
}

static double log_density(void *of, const double *z, double *gradient)
{
    return dpi_evaluate(of, z, gradient);
}

dpi_target dpi_evaluator_target(dpi_evaluator *e)
{
    return (dpi_target){.n = e->of->objective.n_theta, .log_density = log_density, .of = e};
}

/* ---- the whole ---- */

/* A block is a latent, in the order of the model. */
static dp_status list_loose(dpi_posterior *p, const dp_model *model, const double *const *loose,
                            const dpi_recorded *told, dp_error *err)
{
    size_t n = 0;
    p->loose = dpi_arena_alloc(&p->arena, p->objective.n_blocks, sizeof *p->loose);
    if (p->loose == NULL)
        return dpi_fail_nomem(err);
    for (size_t s = 0; s < model->n_sites; s++)
        if (model->sites[s].kind == DPI_LATENT)
            p->loose[n++] = loose[s] != NULL || (told != NULL && told[s].precision != NULL);
    return DP_OK;
}

dp_status dpi_posterior_init(dpi_posterior *p, const dp_model *model, const dp_dataset *data,
                             const double *const *loose, const dpi_recorded *told, dp_error *err)
{
    const dpi_objective_spec spec = {
        .model = model, .cut = DP_FORM_LATENTS, .points = true, .loose = loose, .told = told};
    *p = (dpi_posterior){.data = data, .chunk = data->n < CHUNK ? data->n + !data->n : CHUNK};
    if (data->err.status != DP_OK)
        return dpi_fail(err, data->err.status, "%s", data->err.text);
    dp_status status = check_sites(model, err);
    if (status == DP_OK)
        status = dpi_objective_init(&p->objective, &spec, err);
    if (status == DP_OK)
        status = dpi_check_observations(&p->objective, data, err);
    if (status == DP_OK)
        status = find_parts(p, err);
    if (status == DP_OK)
        status = find_gradient(p, model, err);
    if (status == DP_OK)
        status = list_loose(p, model, loose, told, err);
    if (status != DP_OK)
        dpi_posterior_free(p);
    return status;
}

void dpi_posterior_free(dpi_posterior *p)
{
    dpi_objective_free(&p->objective);
    dpi_arena_free(&p->arena);
    *p = (dpi_posterior){.data = NULL};
}
