/* What each side of a cut runs: the graph of the whole model, differentiated at the cut. */
#include "fit/split.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "exec/clip.h"
#include "fit/fit.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "model/init.h"
#include "model/store.h"
#include "svi/check.h"

enum { CHUNK = 64 };

/* ---- graphs ---- */

/* Gradients of one's own blocks: of <a, cut> where features are, of the log likelihood where
 * outcomes are, which then reads the cut and does not compute it. */
static dp_status differentiate(dp_split *h, dp_error *err)
{
    dpi_objective *o = &h->o;
    dpi_graph *g = &o->graph;
    const bool features = h->side != h->outcome;
    dpi_id *wrt = dpi_arena_alloc(&h->arena, o->n_blocks + 1, sizeof *wrt);
    dpi_id *found = dpi_arena_alloc(&h->arena, o->n_blocks + 1, sizeof *found);
    const dpi_block **of = dpi_arena_alloc(&h->arena, o->n_blocks + 1, sizeof *of);
    size_t n = 0;
    dpi_id root = o->record;
    if (wrt == NULL || found == NULL || of == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < o->n_blocks; k++)
        if (h->owner[k] == h->side) {
            of[n] = &o->blocks[k];
            wrt[n++] = o->blocks[k].node;
        }
    if (features) {
        const dpi_attr attr = {.shape = dpi_get(g, h->cut)->shape};
        h->adjoint = dpi_source(g, &dpi_op_input, "adjoint", attr);
        root = dpi_sum(g, dpi_times(g, h->cut, h->adjoint));
    } else {
        dpi_set_instead(g, h->cut);
        wrt[n] = h->cut;
    }
    dp_status status = dpi_gradient(g, root, features ? n : n + 1, wrt, found);
    if (status != DP_OK || o->err.status != DP_OK)
        return dpi_fail(err, o->err.status, "%s", o->err.text);
    if (!features)
        h->adjoint = dpi_full_adjoint(g, h->cut, found[n]);
    h->part = found;
    h->of = of;
    h->n_parts = n;
    return DP_OK;
}

/* Keeps the gradients that there are, and where their numbers lie. */
static dp_status lay_out(dp_split *h, dp_error *err)
{
    size_t at = 0, n = 0;
    h->at = dpi_arena_alloc(&h->arena, h->n_parts + 1, sizeof *h->at);
    if (h->at == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < h->n_parts; k++) {
        const size_t size = h->of[k]->size;
        if (h->part[k] != DPI_NONE) {
            h->part[n] = h->part[k];
            h->of[n] = h->of[k];
            h->at[n++] = at;
        }
        at += size;
    }
    h->n_parts = n;
    return DP_OK;
}

/* ---- runs ---- */

static dp_status make_runs(dp_split *h, const dp_dataset *data, dp_error *err)
{
    const bool features = h->side != h->outcome;
    dpi_run_spec spec = {
        .graph = &h->o.graph, .wanted = &h->cut, .n_wanted = 1, .data = data, .chunk = CHUNK};
    dp_status status = features ? dpi_run_new(&spec, &h->ahead, err) : DP_OK;
    spec.wanted = &h->adjoint;
    spec.parts = h->part;
    spec.n_parts = h->n_parts;
    if (status == DP_OK)
        status = dpi_run_new(&spec, &h->back, err);
    h->scratch = dpi_arena_alloc(&h->arena, 2 * CHUNK, sizeof *h->scratch);
    h->sum = dpi_arena_alloc(&h->arena, h->numbers[h->side] + 1, sizeof *h->sum);
    if (status == DP_OK && (h->scratch == NULL || h->sum == NULL))
        status = dpi_fail_nomem(err);
    if (status == DP_OK && dpi_run_draws(h->back))
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "a column is drawn afresh for each use, and split learning uses each "
                          "record twice in a step");
    return status;
}

static dp_status make(dp_split *h, const dp_split_opts *spec, const dp_dataset *data, dp_error *err)
{
    const dpi_objective_spec objective = {
        .model = spec->model, .cut = DP_FORM_LATENTS, .points = true, .marked = spec->cut};
    dp_status status = dpi_objective_init(&h->o, &objective, err);
    if (status == DP_OK && h->o.n_latents > 0)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "'%.100s' has a distribution, and split learning fits parameters; declare "
                        "it with dp_param or dp_weights",
                        h->o.latents[0].name);
    if (status == DP_OK)
        status = dpi_split_find(h, spec, err);
    if (status != DP_OK || data == NULL)
        return status;
    if (h->side == h->outcome)
        status = dpi_check_observations(&h->o, data, err);
    if (status == DP_OK)
        status = differentiate(h, err);
    if (status == DP_OK)
        status = lay_out(h, err);
    if (status == DP_OK)
        status = dpi_model_store(spec->model, &h->image, err);
    return status == DP_OK ? make_runs(h, data, err) : status;
}

dp_status dp_split_new(const dp_split_opts *spec, size_t side, const dp_dataset *data,
                       dp_split **half, dp_error *err)
{
    if (side >= DP_SPLIT_SIDES)
        dpi_misuse(__func__, "a side is 0 or 1");
    dp_split *h = dpi_alloc(1, sizeof *h);
    *half = NULL;
    if (h == NULL)
        return dpi_fail_nomem(err);
    h->side = side;
    h->data = data;
    dp_status status = make(h, spec, data, err);
    if (status == DP_OK)
        *half = h;
    else
        dp_split_free(h);
    return status;
}

void dp_split_free(dp_split *h)
{
    if (h == NULL)
        return;
    dpi_run_free(h->ahead);
    dpi_run_free(h->back);
    dpi_bytes_free(&h->image);
    dpi_objective_free(&h->o);
    dpi_arena_free(&h->arena);
    dpi_free(h);
}

size_t dp_split_width(const dp_split *h)
{
    return h->width;
}

size_t dp_split_numbers(const dp_split *h, size_t side)
{
    return h->numbers[side];
}

size_t dp_split_outcome(const dp_split *h)
{
    return h->outcome;
}

/* ---- parameters ---- */

dp_status dp_split_start(const dp_split *h, double *theta, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < h->o.n_blocks && status == DP_OK; k++) {
        const dpi_block *b = &h->o.blocks[k];
        if (h->owner[k] != h->side)
            continue;
        status =
            dpi_start_values(&b->start, b->name, &dpi_get(&h->o.graph, b->node)->shape, theta, err);
        theta += b->size;
    }
    return status;
}

static void place(const dp_split *h, size_t side, const double *theta, double *whole)
{
    for (size_t k = 0; k < h->o.n_blocks; k++) {
        const dpi_block *b = &h->o.blocks[k];
        if (h->owner[k] != side)
            continue;
        memcpy(whole + b->offset, theta, b->size * sizeof *theta);
        theta += b->size;
    }
}

static void set(const dp_split *h, dpi_run *run, const double *theta)
{
    for (size_t k = 0; k < h->o.n_blocks; k++) {
        const dpi_block *b = &h->o.blocks[k];
        if (h->owner[k] != h->side)
            continue;
        if (dpi_run_numbers(run, b->node) > 0)
            dpi_run_write(run, b->node, 0, b->size, theta);
        theta += b->size;
    }
    dpi_run_globals(run);
}

void dp_split_set(dp_split *h, const double *theta)
{
    if (h->ahead != NULL)
        set(h, h->ahead, theta);
    set(h, h->back, theta);
}

/* ---- records ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void dp_split_embed(dp_split *h, size_t m, const size_t *index, double *e)
{
    for (size_t i = 0; i < m; i += CHUNK) {
        const size_t some = least(m - i, CHUNK);
        dpi_run_records(h->ahead, some, index + i, 0);
        dpi_run_read(h->ahead, h->cut, 0, some * h->width, e + i * h->width);
    }
}

/* Of a chunk whose records have run.  One whose squares overflow adds nothing there, and is not to
 * be missed: the sum is no number then. */
static void add_up(dp_split *h, size_t some)
{
    if (h->n_parts == 0)
        return;
    dpi_run_clip_sum(h->back, some, INFINITY, h->scratch, h->sum);
    for (size_t i = 0; i < some; i++)
        if (h->scratch[CHUNK + i] == 0)
            h->sum[0] = (double)NAN;
}

static void begin_sum(dp_split *h, double *gradient)
{
    memset(gradient, 0, h->numbers[h->side] * sizeof *gradient);
    memset(h->sum, 0, h->numbers[h->side] * sizeof *h->sum);
}

static void end_sum(const dp_split *h, double *gradient)
{
    const double *from = h->sum;
    for (size_t k = 0; k < h->n_parts; k++) {
        memcpy(gradient + h->at[k], from, h->of[k]->size * sizeof *from);
        from += h->of[k]->size;
    }
}

void dp_split_adjoint(dp_split *h, size_t m, const size_t *index, const double *e, double *a,
                      double *gradient)
{
    begin_sum(h, gradient);
    for (size_t i = 0; i < m; i += CHUNK) {
        const size_t some = least(m - i, CHUNK);
        dpi_run_write(h->back, h->cut, 0, some * h->width, e + i * h->width);
        dpi_run_records(h->back, some, index + i, 0);
        dpi_run_read(h->back, h->adjoint, 0, some * h->width, a + i * h->width);
        add_up(h, some);
    }
    end_sum(h, gradient);
}

void dp_split_pull_back(dp_split *h, size_t m, const size_t *index, const double *a,
                        double *gradient)
{
    begin_sum(h, gradient);
    for (size_t i = 0; i < m; i += CHUNK) {
        const size_t some = least(m - i, CHUNK);
        dpi_run_write(h->back, h->adjoint, 0, some * h->width, a + i * h->width);
        dpi_run_records(h->back, some, index + i, 0);
        add_up(h, some);
    }
    end_sum(h, gradient);
}

/* ---- the whole ---- */

dp_status dp_split_fit(const dp_split *h, const double *own, const double *others, dp_fit **fit,
                       dp_error *err)
{
    const dp_privacy privacy = {.why_not = "fitted without privacy",
                                .adjacency = "add or remove one record",
                                .epsilon = INFINITY,
                                .delta = 1,
                                .clip = INFINITY,
                                .rate = 1,
                                .sampling = DP_SAMPLING_FULL};
    const dpi_bytes image[2] = {h->image, {NULL, 0, 0, false}};
    dpi_fit_parts parts = {.form = DP_FORM_LATENTS, .privacy = &privacy, .n_theta = h->o.n_theta};
    dpi_arena arena = {NULL};
    double *theta = dpi_arena_alloc(&arena, h->o.n_theta, sizeof *theta);
    *fit = NULL;
    if (theta == NULL)
        return dpi_fail_nomem(err);
    place(h, h->side, own, theta);
    place(h, 1 - h->side, others, theta);
    parts.theta = theta;
    dp_status status = dpi_fit_list_columns(&h->o, h->data, &arena, &parts, err);
    if (status == DP_OK)
        status = dpi_fit_restore_models(image, &parts, err);
    if (status == DP_OK)
        status = dpi_fit_new(&parts, fit, err);
    dpi_arena_free(&arena);
    return status;
}
