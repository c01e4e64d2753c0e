/* Predictors: coefficients, offsets, and what groups.c and smooth.c add.
 *
 *   p_i = centre + unit * (a + w . (x_i - c) / s + sum over groups of r[group_i] * z_i) + offset_i
 *
 * Latents a, w and the effects' standard deviations are of unit size, whatever the outcome's and
 * the columns' units are: priors, metrics and first guesses of every fit suit them.  What people
 * know by R's names is computed of them:
 *
 *   b_<column> = unit w / s,  b_Intercept = centre + unit (a - w . c / s),  sd_<group>__<column>
 *
 * Intercept is the predictor where every column is in the middle of its range. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formula/walk.h"

/* ---- parameters ---- */

static bool is_of(const dpi_parameter *p, size_t level, const char *name)
{
    return strcmp(level == 0 ? p->name : p->classes[level - 1], name) == 0;
}

/* The number of the caller's prior for p, the narrowest one; n_priors where there is none. */
static size_t find_prior(const dpi_formula_walk *k, const dpi_parameter *p)
{
    size_t best = k->f->n_priors;
    for (size_t level = 0; level == 0 || (level <= 3 && p->classes[level - 1] != NULL); level++)
        for (size_t i = 0; i < k->f->n_priors; i++)
            if (is_of(p, level, k->f->prior[i].of)) {
                k->used[i] = true; /* also of a class all of whose members have their own */
                best = best == k->f->n_priors ? i : best;
            }
    return best;
}

void dpi_walk_tell(dpi_formula_walk *k, const char *name, const dpi_prior *prior)
{
    if (k->told == NULL)
        return;
    dpi_text_add(k->told, "  ");
    dpi_text_add(k->told, name);
    dpi_text_add(k->told, " ~ ");
    dpi_prior_text(prior, k->told);
    dpi_text_add(k->told, "\n");
}

static void tell(dpi_formula_walk *k, const dpi_parameter *p, const dpi_prior *prior)
{
    const dpi_prior own = dpi_prior_rescale(*prior, -p->shift / p->unit, 1 / p->unit);
    dpi_walk_tell(k, p->name, &own);
}

dp_status dpi_walk_prior(dpi_formula_walk *k, const dpi_parameter *p, dpi_prior *prior)
{
    const size_t i = find_prior(k, p);
    dp_status status = DP_OK;
    dpi_text_add(&k->names, k->names.n > 0 ? ", " : "");
    dpi_text_add(&k->names, p->name);
    *prior = p->prior;
    if (i < k->f->n_priors) {
        dpi_script script = k->f->prior[i].script;
        script.err = k->err;
        status = dpi_prior_of_call(&script, k->f->prior[i].call, p->kind, prior);
        if (status == DP_OK)
            *prior = dpi_prior_rescale(*prior, p->shift, p->unit);
    }
    if (status == DP_OK)
        tell(k, p, prior);
    else
        *prior = p->prior; /* the walk goes on, and its result is thrown away */
    return status;
}

static bool is_natural(const dpi_parameter *p)
{
    return p->shift == 0 && p->unit == 1;
}

const char *dpi_walk_latent_name(dpi_formula_walk *k, const char *name, bool natural)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, natural ? "" : "scaled.");
    dpi_text_add(&to, name);
    const char *text = dpi_text_take(&to, &k->w.arena);
    k->w.failed = k->w.failed || text == NULL;
    return text != NULL ? text : "";
}

void dpi_walk_know(dpi_formula_walk *k, const char *latent, const char *name, double unit)
{
    dp_formula *f = k->known;
    if (f == NULL)
        return;
    void *list = f->number;
    const dp_formula_number one = {.latent = dpi_arena_strdup(&f->arena, latent),
                                   .name = dpi_arena_strdup(&f->arena, name),
                                   .unit = unit};
    if (one.latent == NULL || one.name == NULL ||
        !dpi_arena_grow(&f->arena, &list, &f->number_room, f->n_numbers + 1, sizeof one)) {
        k->w.failed = true;
        return;
    }
    f->number = list;
    f->number[f->n_numbers++] = one;
}

/* shift + unit * a. */
static dpi_value moved(dpi_formula_walk *k, double shift, double unit, dpi_value a)
{
    const dpi_value sized = dpi_write_scaled(&k->w, unit, a);
    return shift == 0 ? sized : DPI_WRITE2(&k->w, dp_add, dpi_write_number(&k->w, shift), sized);
}

dpi_value dpi_walk_parameter(dpi_formula_walk *k, const dpi_parameter *p)
{
    dpi_prior prior;
    (void)dpi_walk_prior(k, p, &prior);
    const char *name = dpi_walk_latent_name(k, p->name, is_natural(p));
    const dpi_value latent = dpi_write_sample(&k->w, NULL, name, 1, dpi_write_prior(&k->w, &prior));
    if (is_natural(p))
        return latent;
    dpi_walk_know(k, name, p->name, p->unit);
    dpi_write_deterministic(&k->w, p->name, moved(k, p->shift, p->unit, latent));
    return latent;
}

/* before + middle + after in the writer's arena. */
const char *dpi_walk_joined(dpi_formula_walk *k, const char *before, const char *middle,
                            const char *after)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, before);
    dpi_text_add(&to, middle);
    dpi_text_add(&to, after);
    const char *text = dpi_text_take(&to, &k->w.arena);
    k->w.failed = k->w.failed || text == NULL;
    return text != NULL ? text : "";
}

/* ---- names of columns ---- */

/* How many kinds of effects of the same groups stand before number g. */
static size_t before(const dpi_predictor *p, size_t g)
{
    size_t n = 0;
    for (size_t h = 0; h < g; h++) {
        bool same = p->grouping[h].n_by == p->grouping[g].n_by &&
                    p->grouping[h].several == p->grouping[g].several;
        for (size_t i = 0; i < p->grouping[g].n_by && same; i++)
            same = strcmp(p->grouping[h].by[i]->name, p->grouping[g].by[i]->name) == 0;
        n += same ? 1 : 0;
    }
    return n;
}

const char *dpi_design_name(const dpi_predictor *p, size_t g, dpi_arena *arena)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, "design(");
    dpi_text_add(&to, p->of);
    if (g < p->n_groupings) {
        const size_t n = before(p, g);
        dpi_text_add(&to, " | ");
        dpi_by_text(&p->grouping[g], &to);
        if (n > 0) {
            dpi_text_add(&to, ", ");
            dpi_text_number(&to, (double)(n + 1));
        }
    }
    dpi_text_add(&to, ")");
    return dpi_text_take(&to, arena);
}

const char *dpi_offset_name(const dpi_predictor *p, dpi_arena *arena)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, "offset(");
    dpi_text_add(&to, p->of);
    dpi_text_add(&to, ")");
    return dpi_text_take(&to, arena);
}

const char *dpi_by_name(const dpi_grouping *g, dpi_arena *arena)
{
    dpi_bytes to = {0};
    dpi_by_text(g, &to);
    return dpi_text_take(&to, arena);
}

const char *dpi_walk_safe(dpi_formula_walk *k, const char *text)
{
    k->w.failed = k->w.failed || text == NULL;
    return text != NULL ? text : "";
}

/* ---- coefficients ---- */

/* The parameter of column j. */
static dpi_parameter coefficient(dpi_formula_walk *k, const dpi_design_column *c,
                                 const dpi_predictor_names *names)
{
    return (dpi_parameter){
        .name = dpi_walk_joined(k, dpi_walk_joined(k, "b_", names->infix, ""), c->name, ""),
        .classes = {dpi_walk_joined(k, "b", names->suffix, ""), NULL},
        .prior = dpi_prior_make("normal", 0, names->spread, 0),
        .unit = names->unit / c->scale};
}

/* Coefficients of priors that are all normal: one vector. */
static dpi_value normal_vector(dpi_formula_walk *k, size_t n, const dpi_prior *prior,
                               const char *name)
{
    double *numbers = dpi_arena_alloc(&k->w.arena, n, 2 * sizeof *numbers);
    bool same = true;
    if (numbers == NULL) {
        k->w.failed = true;
        return dpi_write_number(&k->w, 0);
    }
    for (size_t j = 0; j < n; j++) {
        numbers[j] = prior[j].argument[0];
        numbers[n + j] = prior[j].argument[1];
        same = same && numbers[j] == numbers[0] && numbers[n + j] == numbers[n];
    }
    const dpi_written_law law =
        same ? dpi_write_prior(&k->w, &prior[0])
             : DPI_LAW2(&k->w, dp_normal_v, dpi_write_constant(&k->w, n, numbers),
                        dpi_write_constant(&k->w, n, numbers + n));
    return dpi_write_sample(&k->w, NULL, name, n, law);
}

/* Coefficients of other priors: a latent each, side by side. */
static dpi_value each_alone(dpi_formula_walk *k, size_t n, const dpi_prior *prior,
                            const dpi_design *d, const char *name)
{
    dpi_value all = {0};
    for (size_t j = 0; j < n; j++) {
        const dpi_value one =
            dpi_write_sample(&k->w, NULL, dpi_walk_joined(k, name, "_", d->column[j].name), 1,
                             dpi_write_prior(&k->w, &prior[j]));
        all = j == 0 ? one : dpi_write_let(&k->w, "b", DPI_WRITE2(&k->w, dp_concat, all, one));
    }
    return all;
}

/* Coefficient j, a number of the vector or, with `alone`, a latent of its own. */
static void know_coefficient(dpi_formula_walk *k, const dpi_design *d, size_t j, const char *alone,
                             const dpi_predictor_names *names)
{
    const dpi_design_column *c = &d->column[j];
    char place[32] = "";
    if (d->n > 1)
        (void)snprintf(place, sizeof place, "[%zu]", j);
    const char *latent = alone != NULL ? dpi_walk_joined(k, alone, "_", c->name)
                                       : dpi_walk_joined(k, "scaled.b", names->suffix, place);
    dpi_walk_know(k, latent,
                  dpi_walk_joined(k, dpi_walk_joined(k, "b_", names->infix, ""), c->name, ""),
                  names->unit / c->scale);
}

static dpi_value coefficients(dpi_formula_walk *k, const dpi_design *d,
                              const dpi_predictor_names *names)
{
    dpi_prior *prior = dpi_arena_alloc(&k->w.arena, d->n, sizeof *prior);
    bool normal = true;
    if (prior == NULL) {
        k->w.failed = true;
        return dpi_write_number(&k->w, 0);
    }
    for (size_t j = 0; j < d->n; j++) {
        const dpi_parameter p = coefficient(k, &d->column[j], names);
        (void)dpi_walk_prior(k, &p, &prior[j]);
        normal = normal && strcmp(prior[j].family->name, "normal") == 0;
    }
    const char *name = dpi_walk_joined(k, "scaled.b", names->suffix, "");
    for (size_t j = 0; j < d->n; j++)
        know_coefficient(k, d, j, normal ? NULL : name, names);
    return normal ? normal_vector(k, d->n, prior, name) : each_alone(k, d->n, prior, d, name);
}

/* b_<column> of each. */
static void tell_coefficients(dpi_formula_walk *k, const dpi_design *d, dpi_value b,
                              const dpi_predictor_names *names)
{
    for (size_t j = 0; j < d->n; j++) {
        const dpi_value one = d->n == 1 ? b : dpi_write_slice(&k->w, b, j, 1);
        dpi_write_deterministic(
            &k->w,
            dpi_walk_joined(k, dpi_walk_joined(k, "b_", names->infix, ""), d->column[j].name, ""),
            dpi_write_scaled(&k->w, names->unit / d->column[j].scale, one));
    }
}

/* *centre = b . c / s; false where that is 0. */
static bool centre_of(dpi_formula_walk *k, const dpi_design *d, dpi_value b, dpi_value *centre)
{
    double *shift = dpi_arena_alloc(&k->w.arena, d->n, sizeof *shift);
    bool any = false;
    if (shift == NULL) {
        k->w.failed = true;
        return false;
    }
    for (size_t j = 0; j < d->n; j++) {
        shift[j] = d->column[j].centre / d->column[j].scale;
        any = any || shift[j] != 0;
    }
    if (any)
        *centre = dpi_write_dot(&k->w, d->n, b, dpi_write_constant(&k->w, d->n, shift));
    return any;
}

/* b_Intercept = centre + unit (a - b . c / s). */
static void tell_intercept(dpi_formula_walk *k, const dpi_design *d, dpi_value a, dpi_value b,
                           const dpi_predictor_names *names)
{
    dpi_value centre;
    if (centre_of(k, d, b, &centre))
        a = DPI_WRITE2(&k->w, dp_sub, a, centre);
    dpi_write_deterministic(&k->w, dpi_walk_joined(k, "b_", names->infix, "Intercept"),
                            moved(k, names->centre, names->unit, a));
}

/* a + w . x. */
static dpi_value population(dpi_formula_walk *k, const dpi_predictor *p, const dpi_design *d,
                            const dpi_predictor_names *names)
{
    const bool intercept = d->intercept && names->intercept;
    dpi_value a = {0}, b = {0}, eta = dpi_write_number(&k->w, 0);
    if (intercept) {
        const dpi_parameter own = {
            .name = dpi_walk_joined(k, "Intercept", names->suffix, ""),
            .classes = {dpi_walk_joined(k, "b_", names->infix, "Intercept"), NULL},
            .prior = dpi_prior_make("normal", 0, names->reach, 0),
            .shift = names->centre,
            .unit = names->unit};
        eta = a = dpi_walk_parameter(k, &own);
    }
    if (d->n > 0) {
        const dpi_value x = dpi_write_data(
            &k->w, dpi_walk_safe(k, dpi_design_name(p, SIZE_MAX, &k->w.arena)), d->n);
        b = coefficients(k, d, names);
        const dpi_value sum = dpi_write_dot(&k->w, d->n, x, b);
        eta = intercept ? DPI_WRITE2(&k->w, dp_add, a, sum) : sum;
        tell_coefficients(k, d, b, names);
        if (!names->intercept)
            k->has_centre = centre_of(k, d, b, &k->centre);
    }
    if (intercept)
        tell_intercept(k, d, a, b, names);
    return dpi_write_let(&k->w, "eta", eta);
}

/* ---- the whole ---- */

dpi_value dpi_walk_predictor(dpi_formula_walk *k, const dpi_predictor *p, const dpi_layout *l,
                             const dpi_predictor_names *names)
{
    dpi_value eta = population(k, p, &l->design, names);
    for (size_t g = 0; g < p->n_groupings; g++)
        eta = dpi_walk_groups(k, p, l, g, names, eta);
    for (size_t i = 0; i < p->n_smooths; i++)
        eta = DPI_WRITE2(&k->w, dp_add, eta, dpi_walk_smooth(k, p, i, names));
    eta = moved(k, l->design.intercept ? names->centre : 0, names->unit, eta);
    if (p->n_offsets > 0)
        eta =
            DPI_WRITE2(&k->w, dp_add, eta,
                       dpi_write_data(&k->w, dpi_walk_safe(k, dpi_offset_name(p, &k->w.arena)), 1));
    return dpi_write_let(&k->w, "predictor", eta);
}
