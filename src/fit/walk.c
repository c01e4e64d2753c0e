/* Setting what the wanted nodes depend on, and nothing else.
 *
 * In the model's graph latents and parameters are inputs.  Global ones come from the draw and from
 * the fit.  Those of records come from a graph in which they have arguments (the guide's or the
 * model's own), one after the other in the order of their sites: ancestral sampling.  A site's
 * arguments stand before it, so one pass from the last site to the first finds all that are
 * needed. */
#include "fit/walk.h"

#include <math.h>
#include <string.h>

#include "random/gsl.h"

static dp_status make_side(dpi_walk *w, dpi_walk_side *side, const dp_model *m, size_t n_sites,
                           size_t n_wanted, dp_error *err)
{
    size_t n = m->graph.n_nodes;
    *side = (dpi_walk_side){.m = m, .n_sites = n_sites};
    side->needed = dpi_arena_alloc(&w->arena, n, sizeof *side->needed);
    /* what is asked for, and of each site its value, its arguments or its mean */
    side->wanted =
        dpi_arena_alloc(&w->arena, n_wanted + (DPI_MAX_ARGS + 2) * n_sites, sizeof *side->wanted);
    side->globals = dpi_arena_alloc(&w->arena, n_sites, sizeof *side->globals);
    return side->needed == NULL || side->wanted == NULL || side->globals == NULL
               ? dpi_fail_nomem(err)
               : DP_OK;
}

static void want(dpi_walk_side *side, dpi_id id)
{
    side->wanted[side->n_wanted++] = id;
    dpi_mark(&side->m->graph, id, side->needed);
}

static const dpi_shape *shape_of(const dpi_walk_side *side, dpi_id id)
{
    return &dpi_get(&side->m->graph, id)->shape;
}

/* ---- global inputs ---- */

static dp_status add_global(dpi_walk *w, dpi_walk_side *side, const dpi_site *site, dp_error *err)
{
    size_t size = dpi_shape_size(shape_of(side, site->value));
    dpi_global *global = &side->globals[side->n_globals++];
    *global = (dpi_global){.node = site->value, .size = size};
    if (site->kind == DPI_PARAM) {
        const dpi_block *block = dpi_fit_block(w->fit, site->name);
        if (block == NULL || block->size != size)
            dpi_misuse("dp_fit", "a parameter of the model has no value");
        global->first = block->offset;
        return DP_OK;
    }
    const dpi_drawn *drawn = dpi_draws_find(w->draws, site->name);
    if (drawn == NULL)
        return dpi_fail(err, DP_ENAME,
                        "the draws have no latent '%s'; take draws of this fit (dp_fit_draw)",
                        site->name);
    if (drawn->size != size)
        return dpi_fail(err, DP_ESHAPE, "latent '%s' has %zu numbers, and %zu in the draws",
                        site->name, size, drawn->size);
    global->first = drawn->first;
    global->of_draw = true;
    return DP_OK;
}

static dp_status add_globals(dpi_walk *w, dpi_walk_side *side, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t i = 0; status == DP_OK && i < side->n_sites; i++) {
        const dpi_site *site = &side->m->sites[i];
        bool input = site->kind == DPI_LATENT || site->kind == DPI_PARAM;
        if (!input || !side->needed[site->value] || shape_of(side, site->value)->per_record)
            continue;
        side->wanted[side->n_wanted++] = site->value;
        status = add_global(w, side, site, err);
    }
    return status;
}

/* Nothing is wanted that has come to the graph since the fit was made and has no value: a latent or
 * a parameter that was added to the fit's model. */
static dp_status check_inputs(const dpi_walk_side *side, dp_error *err)
{
    const dpi_graph *g = &side->m->graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        bool known = !side->needed[i] || !dpi_is_input(&g->nodes[i]);
        for (size_t k = 0; !known && k < side->n_sites; k++)
            known = side->m->sites[k].value == (dpi_id)i;
        if (!known)
            return dpi_fail(err, DP_ENAME,
                            "'%s' was added to the model after it was fitted and has no value",
                            g->nodes[i].name);
    }
    return DP_OK;
}

/* ---- latents of records ---- */

static dp_status add_column(dpi_walk *w, dpi_own *own, dp_error *err)
{
    const dp_dataset *data = w->given->data;
    const dpi_column *column = dpi_dataset_find(data, own->site->name);
    if (column == NULL || column->real == NULL)
        return dpi_fail(err, DP_ENAME,
                        "the data set has no real column '%s', which is to be the latent of that "
                        "name; add it, or take another source of latents",
                        own->site->name);
    if (column->size != own->size)
        return dpi_fail(err, DP_ESHAPE, "latent '%s' has %zu numbers, and its column %zu",
                        own->site->name, own->size, column->size);
    for (size_t i = 0; i < data->n * column->size; i++)
        if (!isfinite(column->real[i]))
            return dpi_fail(err, DP_EDATA, "column '%s', record %zu (from 0): not a finite number",
                            column->name, i / column->size);
    own->column = column;
    return DP_OK;
}

static dp_status add_own(dpi_walk *w, const dpi_site *site, dp_error *err)
{
    const dpi_walk_side *source = &w->source;
    dpi_own *own = &w->own[w->n_own++];
    dpi_id node = dpi_find_site(w->fit->model, site->name)->value;
    *own = (dpi_own){.site = site,
                     .mean = DPI_NONE,
                     .node = w->model.needed[node] ? node : DPI_NONE,
                     .size = dpi_shape_size(shape_of(source, site->value))};
    if (w->given->latents == DP_LATENTS_COLUMN)
        return add_column(w, own, err);
    if (w->given->latents == DP_LATENTS_GUIDE_MEAN)
        own->mean = w->fit->mean[1][site - source->m->sites];
    return own->mean == DPI_NONE ? dpi_walk_room(w, source, site, err) : DP_OK;
}

/* Whether the model's graph needs the latent of that name. */
static bool model_needs(const dpi_walk *w, const char *name)
{
    const dpi_site *site = dpi_find_site(w->fit->model, name);
    return site != NULL && w->model.needed[site->value];
}

/* Wants, in the source, what every latent of records that is needed is made from. */
static void want_sources(dpi_walk *w)
{
    dpi_walk_side *source = &w->source;
    bool means = w->given->latents == DP_LATENTS_GUIDE_MEAN;
    if (w->given->latents == DP_LATENTS_COLUMN)
        return;
    for (size_t i = source->n_sites; i-- > 0;) {
        const dpi_site *site = &source->m->sites[i];
        if (site->kind != DPI_LATENT || !shape_of(source, site->value)->per_record ||
            (!model_needs(w, site->name) && !source->needed[site->value]))
            continue;
        source->needed[site->value] = true;
        source->wanted[source->n_wanted++] = site->value;
        for (int k = 0; !means && k < site->family->n_args; k++)
            want(source, site->arg[k]);
        if (means)
            want(source, w->fit->mean[1][i]);
    }
}

static dp_status add_latents(dpi_walk *w, dp_error *err)
{
    const dpi_walk_side *source = &w->source;
    size_t largest = 0;
    dp_status status = DP_OK;
    w->own = dpi_arena_alloc(&w->arena, source->n_sites, sizeof *w->own);
    if (w->own == NULL)
        return dpi_fail_nomem(err);
    want_sources(w);
    for (size_t i = 0; status == DP_OK && i < source->n_sites; i++) {
        const dpi_site *site = &source->m->sites[i];
        bool from_column = w->given->latents == DP_LATENTS_COLUMN;
        if (site->kind != DPI_LATENT || !shape_of(source, site->value)->per_record ||
            !(from_column ? w->model.needed[site->value] : source->needed[site->value]))
            continue;
        status = add_own(w, site, err);
        largest = w->own[w->n_own - 1].size > largest ? w->own[w->n_own - 1].size : largest;
    }
    size_t room;
    if (status != DP_OK)
        return status;
    if (!dpi_mul(largest, w->chunk, &room) ||
        (w->values = dpi_arena_alloc(&w->arena, room, sizeof *w->values)) == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < w->n_own; k++)
        if (w->own[k].node != DPI_NONE)
            w->model.wanted[w->model.n_wanted++] = w->own[k].node;
    return DP_OK;
}

/* ---- runs ---- */

static dp_status make_run(dpi_walk *w, dpi_walk_side *side, dp_error *err)
{
    dp_status status = add_globals(w, side, err);
    if (status == DP_OK)
        status = check_inputs(side, err);
    dpi_run_spec spec = {.graph = &side->m->graph,
                         .wanted = side->wanted,
                         .n_wanted = side->n_wanted,
                         .data = w->n_records > 0 ? w->given->data : NULL,
                         .chunk = w->chunk,
                         .single = w->fit->parts.precision == DP_SINGLE && w->n_records > 0};
    if (status == DP_OK)
        status = dpi_run_new(&spec, &side->run, err);
    for (size_t k = 0; status == DP_OK && k < side->n_globals; k++)
        if (!side->globals[k].of_draw)
            dpi_run_write(side->run, side->globals[k].node, 0, side->globals[k].size,
                          w->fit->parts.theta + side->globals[k].first);
    return status;
}

static dp_status check_random(const dpi_walk *w, dp_error *err)
{
    bool drawn =
        dpi_run_draws(w->model.run) || (w->source.run != NULL && dpi_run_draws(w->source.run));
    for (size_t k = 0; k < w->n_own; k++)
        drawn = drawn || (w->own[k].column == NULL && w->own[k].mean == DPI_NONE);
    return !drawn || w->given->rng != NULL
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "latents or columns of records are drawn here, and rng is NULL; give a "
                          "dp_rng, or DP_LATENTS_GUIDE_MEAN");
}

static dp_status check_given(dpi_walk *w, bool of_records, dp_error *err)
{
    const dp_given *given = w->given;
    if (of_records && given->data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a value of each record is asked for without records; give a data set");
    if ((unsigned)given->latents > DP_LATENTS_COLUMN)
        return dpi_fail(err, DP_EINVAL, "there is no source of latents %d", (int)given->latents);
    dp_status status = of_records ? dpi_fit_may_read(w->fit, given->data, err) : DP_OK;
    if (status == DP_OK && given->draws == NULL)
        status = dpi_fit_centre(w->fit, &w->centre, err);
    w->draws = given->draws != NULL ? given->draws : w->centre;
    w->n_records = of_records ? given->data->n : 0;
    size_t most = dpi_fit_chunk(w->fit);
    w->chunk = w->n_records < most ? w->n_records : most;
    w->chunk = w->chunk > 0 ? w->chunk : 1;
    return status;
}

dp_status dpi_walk_init(dpi_walk *w, const dp_fit *fit, const dp_given *given, bool of_records,
                        const dpi_id *wanted, size_t n_wanted, dp_error *err)
{
    static const dp_given nothing = {0};
    *w = (dpi_walk){.fit = fit, .given = given != NULL ? given : &nothing};
    bool from_guide =
        w->given->latents == DP_LATENTS_GUIDE || w->given->latents == DP_LATENTS_GUIDE_MEAN;
    const int from = from_guide && fit->guide != NULL;
    dp_status status = check_given(w, of_records, err);
    if (status == DP_OK)
        status = make_side(w, &w->model, fit->model, fit->n_sites[0], n_wanted, err);
    if (status == DP_OK)
        status =
            make_side(w, &w->source, from ? fit->guide : fit->model, fit->n_sites[from], 0, err);
    if (status != DP_OK)
        return status;
    for (size_t k = 0; k < n_wanted; k++)
        want(&w->model, wanted[k]);
    if (of_records)
        status = add_latents(w, err);
    if (status == DP_OK)
        status = make_run(w, &w->model, err);
    if (status == DP_OK && w->source.n_wanted > 0)
        status = make_run(w, &w->source, err);
    return status == DP_OK ? check_random(w, err) : status;
}

void dpi_walk_free(dpi_walk *w)
{
    dpi_run_free(w->model.run);
    dpi_run_free(w->source.run);
    dp_draws_free(w->centre);
    dpi_arena_free(&w->arena);
}

static void draw_side(dpi_walk *w, dpi_walk_side *side, size_t d)
{
    if (side->run == NULL)
        return;
    for (size_t k = 0; k < side->n_globals; k++)
        if (side->globals[k].of_draw)
            dpi_run_write(side->run, side->globals[k].node, 0, side->globals[k].size,
                          w->draws->values + d * w->draws->size + side->globals[k].first);
    dpi_run_globals(side->run);
}

void dpi_walk_draw(dpi_walk *w, size_t d)
{
    draw_side(w, &w->model, d);
    draw_side(w, &w->source, d);
}

static void set_latent(dpi_walk *w, const dpi_own *own, size_t first, size_t m)
{
    if (own->column == NULL)
        dpi_run_records(w->source.run, m, NULL, first);
    if (own->column != NULL)
        dpi_column_gather(own->column, m, NULL, first, w->values);
    else if (own->mean != DPI_NONE)
        dpi_run_read(w->source.run, own->mean, 0, m * own->size, w->values);
    else
        dpi_walk_sample(w, &w->source, own->site, m, w->values, own->size);
    if (own->column == NULL)
        dpi_run_write(w->source.run, own->site->value, 0, m * own->size, w->values);
    if (own->node != DPI_NONE)
        dpi_run_write(w->model.run, own->node, 0, m * own->size, w->values);
}

void dpi_walk_records(dpi_walk *w, size_t first, size_t m)
{
    if (w->given->rng != NULL) {
        dpi_run_draw(w->model.run, 0, m, dpi_rng_stream(w->given->rng));
        if (w->source.run != NULL) {
            dpi_run_draw(w->source.run, 0, m, dpi_rng_stream(w->given->rng));
            dpi_run_draw_as(w->source.run, w->model.run, m);
        }
    }
    for (size_t k = 0; k < w->n_own; k++)
        set_latent(w, &w->own[k], first, m);
    dpi_run_records(w->model.run, m, NULL, first);
}

/* ---- draws ---- */

dp_status dpi_walk_room(dpi_walk *w, const dpi_walk_side *side, const dpi_site *site, dp_error *err)
{
    for (int k = 0; k < site->family->n_args; k++) {
        size_t size = dpi_shape_size(shape_of(side, site->arg[k])), room;
        if (!dpi_mul(size, w->chunk, &room))
            return dpi_fail_nomem(err);
        if (room <= w->arg_room[k])
            continue;
        w->arg[k] = dpi_arena_alloc(&w->arena, room, sizeof *w->arg[k]);
        if (w->arg[k] == NULL)
            return dpi_fail_nomem(err);
        w->arg_room[k] = room;
    }
    return DP_OK;
}

void dpi_walk_sample(dpi_walk *w, const dpi_walk_side *side, const dpi_site *site, size_t m,
                     double *out, size_t step)
{
    const dpi_family *family = site->family;
    const dpi_shape *shape = shape_of(side, site->value);
    size_t size = dpi_shape_size(shape), arg_size[DPI_MAX_ARGS] = {0}, move[DPI_MAX_ARGS] = {0};
    size_t row = dpi_value_size(family, shape);
    gsl_rng source = dpi_rng_gsl(w->given->rng);
    for (int k = 0; k < family->n_args; k++) {
        const dpi_shape *of_arg = shape_of(side, site->arg[k]);
        arg_size[k] = dpi_shape_size(of_arg);
        move[k] = of_arg->per_record ? arg_size[k] : 0;
        dpi_run_read(side->run, site->arg[k], 0, of_arg->per_record ? m * arg_size[k] : arg_size[k],
                     w->arg[k]);
    }
    for (size_t r = 0; r < m; r++) {
        const double *arg[DPI_MAX_ARGS] = {NULL};
        for (int k = 0; k < family->n_args; k++)
            arg[k] = w->arg[k] + r * move[k];
        dpi_draw_site(family, &source, arg, arg_size, size, row, out + r * step);
    }
}
