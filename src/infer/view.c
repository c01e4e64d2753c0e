/* From a model to the slopes of what is observed: one reverse pass for each number of eta. */
#include "infer/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dist/veil.h"
#include "graph/gradient.h"
#include "graph/op.h"

enum { DENSE_MOST = 500 }; /* numbers of a latent that all records may read */

/* Refuses the model, and keeps why. */
static dp_status refuse(dpi_model_view *r, dp_error *err, const char *format, ...) DPI_PRINTF(3, 4);

static dp_status refuse(dpi_model_view *r, dp_error *err, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(r->refused, sizeof r->refused, format, rest);
    va_end(rest);
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "%s: dp_fit_private fits such a model by the loop of tacit/svi.h, which has no "
                    "plan; try it on invented records",
                    r->refused);
}

/* The model as it was written: what the objective of points cannot hold, or holds without a
 * prior. */
static dp_status check_sites(dpi_model_view *r, const dp_model *model, dp_error *err)
{
    for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++) {
        bool of_records = dpi_get(&model->graph, site->value)->shape.per_record;
        if (site->kind == DPI_PARAM)
            return refuse(r, err, "parameter '%s' has no prior (as a latent, dp_sample, it has)",
                          site->name);
        if (site->kind == DPI_FACTOR)
            return refuse(r, err, "the log density '%s' is the model's own (dp_factor)",
                          site->name);
        if (site->kind == DPI_LATENT && of_records)
            return refuse(r, err, "latent '%s' belongs to each record", site->name);
    }
    return DP_OK;
}

static dp_status check_model(dpi_model_view *r, dp_error *err)
{
    const dpi_objective *o = &r->objective;
    if (o->n_observations != 1)
        return refuse(r, err, "%zu columns are observed, and not one", o->n_observations);
    const dpi_observation *seen = &o->observations[0];
    size_t size = dpi_shape_size(&dpi_get(&o->graph, seen->value)->shape);
    if (size != 1)
        return refuse(r, err, "column '%s' has %zu numbers a record, and not one", seen->name,
                      size);
    if (!dpi_has_score(seen->family))
        return refuse(r, err, "what is expected of '%s' outcomes has no formula here",
                      seen->family->name);
    return DP_OK;
}

/* ---- slopes ---- */

/* Number `element` of an argument as a node of its own. */
static dpi_id number_of(dpi_graph *g, dpi_id arg, size_t element)
{
    if (dpi_get(g, arg)->shape.n_dims == 0)
        return arg;
    dpi_attr attr = {.number = element, .rows = 1};
    return dpi_apply(g, &dpi_op_slice, arg, DPI_NONE, &attr);
}

/* The slopes of one more number, slope[n_blocks]; those that are all absent are of a constant. */
static dp_status take_number(dpi_model_view *r, int arg, size_t element, const dpi_id *wrt,
                             dpi_id *slope, dp_error *err)
{
    dpi_objective *o = &r->objective;
    dpi_id *mine = slope + r->k * o->n_blocks, root;
    bool depends = false;
    if (r->k == DPI_READ_MOST)
        return refuse(r, err, "column '%s' has more than %d arguments that depend on latents",
                      r->seen->name, DPI_READ_MOST);
    root = number_of(&o->graph, r->seen->arg[arg], element);
    if (root == DPI_NONE || dpi_gradient(&o->graph, root, o->n_blocks, wrt, mine) != DP_OK)
        return dpi_fail(err, o->err.status, "%s", o->err.text);
    for (size_t b = 0; b < o->n_blocks; b++)
        depends = depends || mine[b] != DPI_NONE;
    if (!depends)
        return DP_OK;
    int first;
    (void)dpi_behind(r->seen->family, &first);
    if (arg < first)
        return refuse(r, err, "%s of '%s' outcomes depends on latents",
                      r->seen->family->arg_name[arg], r->seen->family->name);
    r->arg_of[r->k] = arg;
    r->element[r->k++] = element;
    return DP_OK;
}

static dp_status take_slopes(dpi_model_view *r, const dpi_id *wrt, dpi_id *slope, dp_error *err)
{
    const dpi_family *family = r->seen->family;
    dp_status status = DP_OK;
    for (int a = 0; a < family->n_args && status == DP_OK; a++) {
        size_t size = dpi_shape_size(&dpi_get(&r->objective.graph, r->seen->arg[a])->shape);
        for (size_t e = 0; e < size && status == DP_OK; e++)
            status = take_number(r, a, e, wrt, slope, err);
    }
    if (status == DP_OK && r->k == 0)
        return dpi_fail(err, DP_EINVAL, "the observations depend on no latent");
    return status;
}

/* ---- layout ---- */

/* A block whose slopes are rows of one member each, by the same group numbers. */
static bool is_plate(const dpi_model_view *r, size_t b, const dpi_id *slope, dpi_read *read)
{
    const dpi_objective *o = &r->objective;
    const dpi_shape *shape = &dpi_get(&o->graph, o->blocks[b].node)->shape;
    dpi_id index = DPI_NONE, row, group;
    if (shape->n_dims == 0 || shape->dim[0] < 2)
        return false;
    for (size_t j = 0; j < r->k; j++) {
        dpi_id mine = slope[j * o->n_blocks + b];
        read->slope[j] = DPI_NONE;
        if (mine == DPI_NONE)
            continue;
        if (!dpi_one_row(&o->graph, mine, &row, &group) || (index != DPI_NONE && group != index))
            return false;
        index = group;
        read->slope[j] = row;
    }
    read->index = index;
    read->members = shape->dim[0];
    read->size = o->blocks[b].size / shape->dim[0];
    return index != DPI_NONE;
}

static void add_read(dpi_model_view *r, size_t b, const dpi_id *slope, bool plates)
{
    const dpi_objective *o = &r->objective;
    dpi_read read = {.block = &o->blocks[b], .size = o->blocks[b].size, .index = DPI_NONE};
    bool used = false;
    if (is_plate(r, b, slope, &read) != plates)
        return;
    for (size_t j = 0; j < r->k; j++) {
        if (!plates)
            read.slope[j] = slope[j * o->n_blocks + b];
        used = used || read.slope[j] != DPI_NONE;
    }
    if (!used)
        return;
    read.at = r->p;
    if (!plates) {
        read.size = o->blocks[b].size;
        read.members = 0;
    }
    r->p += read.size;
    r->n_plates += plates;
    r->reads[r->n_reads++] = read;
}

static dp_status lay_out(dpi_model_view *r, const dpi_id *slope, dp_error *err)
{
    const dpi_objective *o = &r->objective;
    r->reads = dpi_arena_alloc(&r->objective.arena, o->n_blocks, sizeof *r->reads);
    if (r->reads == NULL)
        return dpi_fail_nomem(err);
    for (int plates = 0; plates < 2; plates++)
        for (size_t b = 0; b < o->n_blocks; b++)
            add_read(r, b, slope, plates == 1);
    if (r->p > DENSE_MOST)
        return refuse(r, err,
                      "each record reads %zu latent numbers, and not %d at most (members of a "
                      "plate are to be picked from the latent itself)",
                      r->p, DENSE_MOST);
    r->local = r->n_release = r->p;
    for (dpi_read *d = r->reads; d < r->reads + r->n_reads; d++) {
        if (d->members == 0)
            continue;
        d->first = r->n_release;
        d->local = r->local;
        r->n_release += d->members * d->size;
        r->local += d->size;
    }
    return DP_OK;
}

static dp_status read_model(dpi_model_view *r, dp_error *err)
{
    dpi_objective *o = &r->objective;
    dpi_arena *arena = &o->arena;
    dp_status status = check_model(r, err);
    if (status != DP_OK)
        return status;
    r->seen = &o->observations[0];
    dpi_id *wrt = dpi_arena_alloc(arena, o->n_blocks, sizeof *wrt);
    dpi_id *slope = dpi_arena_alloc(arena, o->n_blocks * (DPI_READ_MOST + 1), sizeof *slope);
    if (wrt == NULL || slope == NULL)
        return dpi_fail_nomem(err);
    for (size_t b = 0; b < o->n_blocks; b++)
        wrt[b] = o->blocks[b].node;
    status = take_slopes(r, wrt, slope, err);
    return status == DP_OK ? lay_out(r, slope, err) : status;
}

dp_status dpi_model_view_init(dpi_model_view *r, const dp_model *model, dp_error *err)
{
    *r = (dpi_model_view){.k = 0};
    dpi_objective_spec spec = {.model = model, .cut = DP_FORM_LATENTS, .points = true};
    dp_status status = model->err.status == DP_OK ? check_sites(r, model, err) : model->err.status;
    if (status == DP_OK || model->err.status != DP_OK)
        status = dpi_objective_init(&r->objective, &spec, err);
    if (status == DP_OK)
        status = read_model(r, err);
    if (status != DP_OK) {
        dpi_model_view none = {.k = 0};
        memcpy(none.refused, r->refused, sizeof none.refused);
        dpi_model_view_free(r);
        *r = none;
    }
    return status;
}

void dpi_model_view_free(dpi_model_view *r)
{
    dpi_objective_free(&r->objective);
    *r = (dpi_model_view){.k = 0};
}

bool dpi_view_has_levels(const dpi_model_view *r)
{
    const dpi_support_kind of = r->seen->family->support;
    return of == DPI_BINARY || of == DPI_CATEGORY || of == DPI_LEVEL;
}
