/* What a fit's file holds.  Choices are written as words, so that their numbers may change. */
#include "fit/file-sections.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "graph/op.h"
#include "model/store.h"
#include "svi/sampling.h"

static const char *const forms[] = {
    [DP_FORM_LATENTS] = "latents", [DP_FORM_PARAMETERS] = "parameters"};
static const char *const precisions[] = {[DP_DOUBLE] = "double", [DP_SINGLE] = "single"};
static const char *const kinds[] = {
    [DP_FIT_REAL] = "real", [DP_FIT_INDEX] = "index", [DP_FIT_BYTES] = "bytes"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- pieces ---- */

static dp_status put_word(dpi_bytes *out, const char *const *words, size_t n, size_t choice,
                          dp_error *err)
{
    if (choice >= n || words[choice] == NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "choice %zu of the run has no word in the file format", choice);
    dpi_bytes_text(out, words[choice]);
    return DP_OK;
}

static bool get_flag(dpi_fit_read *read)
{
    return dpi_read_count(&read->r, 1) != 0;
}

static dp_status get_text(dpi_fit_read *read, const char **text, dp_error *err)
{
    return dpi_read_text(&read->r, &read->arena, true, text) ? DP_OK : dpi_fail_nomem(err);
}

static dp_status unknown(const char *word, dp_error *err)
{
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "the fit says '%.64s', which this version of Tacit does not know; take the "
                    "version that saved it, or a later one",
                    word != NULL ? word : "nothing");
}

static dp_status get_word(dpi_fit_read *read, const char *const *words, size_t n, size_t *choice,
                          dp_error *err)
{
    const char *word;
    *choice = 0;
    dp_status status = get_text(read, &word, err);
    if (status != DP_OK || read->r.bad)
        return status;
    for (size_t k = 0; k < n && word != NULL; k++)
        if (words[k] != NULL && strcmp(words[k], word) == 0) {
            *choice = k;
            return DP_OK;
        }
    return unknown(word, err);
}

static bool always(const dp_fit *fit)
{
    (void)fit;
    return true;
}

/* ---- models ---- */

static dp_status put_model(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    dpi_bytes_add(out, fit->parts.image[0], fit->parts.image_size[0]);
    return DP_OK;
}

static bool has_guide(const dp_fit *fit)
{
    return fit->parts.image[1] != NULL;
}

static dp_status put_guide(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    dpi_bytes_add(out, fit->parts.image[1], fit->parts.image_size[1]);
    return DP_OK;
}

static dp_status get_image(dpi_fit_read *read, int which, const dp_model *of, dp_model **m,
                           dp_error *err)
{
    size_t n = read->parts.image_size[which] = read->r.left;
    read->parts.image[which] = dpi_read_bytes(&read->r, n);
    return dpi_model_restore(of, read->parts.image[which], n, m, err);
}

static dp_status get_model(dpi_fit_read *read, dp_error *err)
{
    return get_image(read, 0, NULL, &read->parts.model, err);
}

static dp_status get_guide(dpi_fit_read *read, dp_error *err)
{
    if (read->parts.model == NULL)
        return dpi_fail(err, DP_EDATA, "the fit has a guide and no model; take an intact copy");
    return get_image(read, 1, read->parts.model, &read->parts.guide, err);
}

/* ---- parameters ---- */

/* What the numbers of the next section are called, for readers that do not know models. */
static dp_status put_parameters(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    dpi_bytes_number(out, fit->objective.n_blocks);
    for (size_t k = 0; k < fit->objective.n_blocks; k++) {
        const dpi_block *block = &fit->objective.blocks[k];
        const dpi_shape *shape = &dpi_get(&fit->objective.graph, block->node)->shape;
        dpi_bytes_text(out, block->name);
        dpi_bytes_number(out, block->offset);
        dpi_bytes_number(out, (uint64_t)shape->n_dims);
        for (int i = 0; i < shape->n_dims; i++)
            dpi_bytes_number(out, shape->dim[i]);
    }
    return DP_OK;
}

/* Model and guide say the same, which is compared when the fit is written again. */
static dp_status get_parameters(dpi_fit_read *read, dp_error *err)
{
    (void)err;
    (void)dpi_read_bytes(&read->r, read->r.left);
    return DP_OK;
}

static dp_status put_values(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    for (size_t i = 0; i < fit->parts.n_theta; i++)
        dpi_bytes_real(out, fit->parts.theta[i]);
    return DP_OK;
}

static dp_status get_values(dpi_fit_read *read, dp_error *err)
{
    double *theta;
    read->parts.n_theta = read->r.left / 8;
    if (!dpi_read_reals(&read->r, &read->arena, read->parts.n_theta, &theta))
        return dpi_fail_nomem(err);
    read->parts.theta = theta;
    return DP_OK;
}

/* ---- the statement of privacy ---- */

static dp_status put_privacy(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    const dp_privacy *p = &fit->privacy;
    dpi_bytes_number(out, p->is_private);
    dpi_bytes_text(out, p->why_not);
    dpi_bytes_text(out, p->warning);
    dpi_bytes_text(out, p->adjacency);
    dpi_bytes_real(out, p->epsilon);
    dpi_bytes_real(out, p->delta);
    dpi_bytes_real(out, p->sigma);
    dpi_bytes_real(out, p->clip);
    dpi_bytes_real(out, p->rate);
    dpi_bytes_real(out, p->eta);
    dpi_bytes_real(out, fit->parts.asked_delta);
    dpi_bytes_number(out, p->epoch);
    dpi_bytes_number(out, p->steps);
    const dpi_sampler *sampler = dpi_sampler_of(p->sampling);
    const char *const word = sampler != NULL ? sampler->name : NULL;
    return put_word(out, &word, 1, 0, err);
}

/* A statement that could be one: private means with some epsilon and delta, and without a reason
 * why not. */
static bool is_statement(const dp_privacy *p)
{
    return p->is_private == (p->why_not == NULL) && p->adjacency != NULL &&
           (p->steps > 0 || !p->is_private) && p->epsilon >= 0 && p->delta >= 0 && p->delta <= 1 &&
           (!p->is_private || (isfinite(p->epsilon) && p->delta < 1));
}

/* By the name of its row. */
static dp_status get_sampling(dpi_fit_read *read, dp_sampling *sampling, dp_error *err)
{
    const char *word;
    size_t n;
    const dpi_sampler *const *samplers = dpi_samplers(&n);
    dp_status status = get_text(read, &word, err);
    if (status != DP_OK || read->r.bad)
        return status;
    for (size_t k = 0; k < n && word != NULL; k++)
        if (strcmp(samplers[k]->name, word) == 0) {
            *sampling = samplers[k]->sampling;
            return DP_OK;
        }
    return unknown(word, err);
}

static dp_status get_privacy(dpi_fit_read *read, dp_error *err)
{
    dp_privacy *p = &read->privacy;
    p->is_private = get_flag(read);
    dp_status status = get_text(read, &p->why_not, err);
    if (status == DP_OK)
        status = get_text(read, &p->warning, err);
    if (status == DP_OK)
        status = get_text(read, &p->adjacency, err);
    p->epsilon = dpi_read_real(&read->r);
    p->delta = dpi_read_real(&read->r);
    p->sigma = dpi_read_real(&read->r);
    p->clip = dpi_read_real(&read->r);
    p->rate = dpi_read_real(&read->r);
    p->eta = dpi_read_real(&read->r);
    read->parts.asked_delta = dpi_read_real(&read->r);
    p->epoch = dpi_read_number(&read->r);
    p->steps = dpi_read_number(&read->r);
    if (status == DP_OK)
        status = get_sampling(read, &p->sampling, err);
    read->r.bad = read->r.bad || !is_statement(p);
    read->has_privacy = true;
    return status;
}

/* ---- columns ---- */

static dp_status put_columns(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    dpi_bytes_number(out, fit->parts.n_columns);
    for (size_t k = 0; k < fit->parts.n_columns; k++) {
        const dp_fit_column *c = &fit->parts.columns[k];
        dpi_bytes_text(out, c->name);
        dp_status status = put_word(out, kinds, COUNT(kinds), (size_t)c->kind, err);
        if (status != DP_OK)
            return status;
        dpi_bytes_number(out, c->size);
        dpi_bytes_number(out, c->groups);
        dpi_bytes_number(out, c->most);
        dpi_bytes_number(out, c->drawn);
        dpi_bytes_number(out, c->observed);
    }
    return DP_OK;
}

static dp_status get_column(dpi_fit_read *read, dp_fit_column *c, dp_error *err)
{
    size_t kind;
    dp_status status = get_text(read, &c->name, err);
    if (status == DP_OK)
        status = get_word(read, kinds, COUNT(kinds), &kind, err);
    if (status != DP_OK)
        return status;
    c->kind = (dp_fit_kind)kind;
    c->size = dpi_read_count(&read->r, SIZE_MAX);
    c->groups = dpi_read_count(&read->r, SIZE_MAX);
    c->most = (unsigned)dpi_read_count(&read->r, UCHAR_MAX);
    c->drawn = get_flag(read);
    c->observed = get_flag(read);
    bool bytes = c->kind == DP_FIT_BYTES;
    read->r.bad = read->r.bad || c->name == NULL || bytes != (c->most > 0) || (c->drawn && !bytes);
    return DP_OK;
}

static dp_status get_columns(dpi_fit_read *read, dp_error *err)
{
    size_t n = dpi_read_count(&read->r, read->r.left / 64); /* a column takes more */
    dp_fit_column *columns = dpi_arena_alloc(&read->arena, n, sizeof *columns);
    dp_status status = columns != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t k = 0; k < n && status == DP_OK && !read->r.bad; k++)
        status = get_column(read, &columns[k], err);
    read->parts.columns = columns;
    read->parts.n_columns = n;
    return status;
}

static bool is_observed(const dpi_objective *o, const char *name)
{
    for (size_t k = 0; k < o->n_observations; k++)
        if (strcmp(o->observations[k].name, name) == 0)
            return true;
    return false;
}

dp_status dpi_fit_check_columns(const dp_fit *fit, dp_error *err)
{
    const dpi_graph *g = &fit->objective.graph;
    size_t k = 0;
    bool same = true;
    for (size_t i = 0; i < g->n_nodes && same; i++) {
        const dpi_node *node = &g->nodes[i];
        if (!dpi_is_column(node))
            continue;
        const dp_fit_column *c = k < fit->parts.n_columns ? &fit->parts.columns[k++] : NULL;
        same = c != NULL && strcmp(c->name, node->name) == 0 &&
               c->size == dpi_shape_size(&node->shape) &&
               c->groups == (dpi_is_groups(node) ? node->attr.number : 0) &&
               c->observed == is_observed(&fit->objective, c->name);
    }
    return same && k == fit->parts.n_columns
               ? DP_OK
               : dpi_fail(err, DP_EDATA,
                          "the file of the fit is damaged (its columns are not the model's); take "
                          "an intact copy, or save the fit anew");
}

/* ---- how it was run, as far as it matters afterwards ---- */

static dp_status put_run(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    dp_status status = put_word(out, forms, COUNT(forms), (size_t)fit->parts.form, err);
    return status != DP_OK
               ? status
               : put_word(out, precisions, COUNT(precisions), (size_t)fit->parts.precision, err);
}

static dp_status get_run(dpi_fit_read *read, dp_error *err)
{
    size_t form = 0, precision = 0;
    dp_status status = get_word(read, forms, COUNT(forms), &form, err);
    if (status == DP_OK)
        status = get_word(read, precisions, COUNT(precisions), &precision, err);
    read->parts.form = (dp_form)form;
    read->parts.precision = (dp_precision)precision;
    read->has_run = true;
    return status;
}

const dpi_fit_section dpi_fit_sections[] = {
    {"model", always, put_model, get_model},
    {"guide", has_guide, put_guide, get_guide},
    {"parameters", always, put_parameters, get_parameters},
    {"values", always, put_values, get_values},
    {"privacy", always, put_privacy, get_privacy},
    {"columns", always, put_columns, get_columns},
    {"run", always, put_run, get_run},
    {"latents", dpi_has_kept, dpi_put_latents, dpi_get_latents},
    {"draws", dpi_has_kept, dpi_put_draws, dpi_get_draws},
    {"phases", dpi_has_phases, dpi_put_phases, dpi_get_phases},
    {"diagnostics", dpi_has_diagnostics, dpi_put_diagnostics, dpi_get_diagnostics},
    {"source", dpi_has_source, dpi_put_source, dpi_get_source},
};
const size_t dpi_n_fit_sections = sizeof dpi_fit_sections / sizeof dpi_fit_sections[0];
