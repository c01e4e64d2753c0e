/* Effects of groups: each ~ N(0, sd), of two or more in one pair of parentheses correlated.
 *
 * Effects are written as what they are; whether they are drawn in units of their scale is for the
 * fit to choose. */
#include <string.h>

#include "formula/walk.h"

static dpi_member *member_of(dpi_formula_walk *k, const dpi_grouping *g, size_t members)
{
    const char *by = dpi_walk_safe(k, dpi_by_name(g, &k->w.arena));
    for (size_t i = 0; i < k->n_members; i++)
        if (strcmp(k->member[i].by, by) == 0)
            return &k->member[i];
    if (!dpi_arena_grow(&k->w.arena, (void **)&k->member, &k->capacity, k->n_members + 1,
                        sizeof *k->member)) {
        k->w.failed = true;
        return NULL;
    }
    dpi_member *one = &k->member[k->n_members++];
    one->by = by;
    one->groups = dpi_write_plate(&k->w, by, members);
    one->index = dpi_write_indices(&k->w, by, g->several ? g->n_by : 1, one->groups);
    return one;
}

/* The value of each record's group; of several groups their mean. */
static dpi_value picked(dpi_formula_walk *k, const dpi_grouping *g, const dpi_member *m,
                        dpi_value effects)
{
    const dpi_value of = DPI_WRITE2(&k->w, dp_pick, effects, m->index);
    return g->several ? dpi_write_scaled(&k->w, 1 / (double)g->n_by, DPI_WRITE1(&k->w, dp_sum, of))
                      : of;
}

/* An effect of groups: its name, its standard deviation, one number for each group. */
typedef struct effect {
    const char *name, *term; /* "g__x", "x" */
    double unit;             /* natural = unit * latent */
    dpi_value sd, value;
} effect;

static effect begin_effect(dpi_formula_walk *k, const dpi_member *m, const dpi_design *d, size_t j,
                           const dpi_predictor_names *names)
{
    const bool first = d->intercept && j == 0;
    const dpi_design_column *c = first ? NULL : &d->column[j - (d->intercept ? 1 : 0)];
    effect e = {.unit = first ? names->unit : names->unit / c->scale};
    e.term = dpi_walk_joined(k, names->infix, first ? "Intercept" : c->name, "");
    e.name = dpi_walk_joined(k, m->by, "__", e.term);
    const dpi_parameter sd = {.name = dpi_walk_joined(k, "sd_", e.name, ""),
                              .classes = {dpi_walk_joined(k, "sd_", m->by, ""), "sd", NULL},
                              .kind = DPI_PARAMETER_POSITIVE,
                              .prior = dpi_prior_make("half_normal", 1, 0, 0),
                              .unit = e.unit};
    e.sd = dpi_walk_parameter(k, &sd);
    return e;
}

/* Draws the effects given their mean and standard deviation. */
static void draw_effect(dpi_formula_walk *k, const dpi_member *m, effect *e, dpi_value mean,
                        dpi_value sd)
{
    const char *name = dpi_walk_joined(k, "r_", e->name, "");
    const char *latent = dpi_walk_latent_name(k, name, e->unit == 1);
    e->value =
        dpi_write_sample(&k->w, &m->groups, latent, 1, DPI_LAW2(&k->w, dp_normal_v, mean, sd));
    if (e->unit == 1)
        return;
    dpi_walk_know(k, latent, name, e->unit);
    dpi_write_deterministic(&k->w, name, dpi_write_scaled(&k->w, e->unit, e->value));
}

static const char *correlation_name(dpi_formula_walk *k, const effect *a, const effect *b)
{
    return dpi_walk_joined(k, dpi_walk_joined(k, "cor_", a->name, "__"), b->term, "");
}

/* Two effects with correlation rho ~ LKJ(1), which for two is uniform: the second one given the
 * first is normal with mean rho sd_2 / sd_1 r_1 and standard deviation sd_2 sqrt(1 - rho^2). */
static void draw_pair(dpi_formula_walk *k, const dpi_member *m, effect e[2])
{
    dpi_writer *w = &k->w;
    const char *name = correlation_name(k, &e[0], &e[1]);
    const dpi_prior flat = dpi_prior_make("uniform", -1, 1, 0);
    dpi_walk_tell(k, name, &flat);
    const dpi_value rho = dpi_write_sample(w, NULL, name, 1, dpi_write_prior(w, &flat));
    const dpi_value zero = dpi_write_number(w, 0), one = dpi_write_number(w, 1);
    draw_effect(k, m, &e[0], zero, e[0].sd);
    const dpi_value slope = DPI_WRITE2(w, dp_mul, rho, DPI_WRITE2(w, dp_div, e[1].sd, e[0].sd));
    const dpi_value rest =
        DPI_WRITE1(w, dp_sqrt, DPI_WRITE2(w, dp_sub, one, DPI_WRITE1(w, dp_square, rho)));
    draw_effect(k, m, &e[1], DPI_WRITE2(w, dp_mul, slope, e[0].value),
                DPI_WRITE2(w, dp_mul, e[1].sd, rest));
}

/* Number [i][j] of a matrix. */
static dpi_value entry(dpi_writer *w, dpi_value matrix, size_t i, size_t j)
{
    return dpi_write_slice(w, dpi_write_slice(w, matrix, i, 1), j, 1);
}

/* n effects, whose correlations have the prior LKJ(1): a row of each group. */
static dpi_value draw_rows(dpi_formula_walk *k, const dpi_member *m, effect *e, size_t n)
{
    dpi_writer *w = &k->w;
    const dpi_prior lkj = dpi_prior_make("lkj", 1, 0, 0);
    dpi_value sd = e[0].sd;
    for (size_t j = 1; j < n; j++)
        sd = DPI_WRITE2(w, dp_concat, sd, e[j].sd);
    const dpi_value l = dpi_write_sample(w, NULL, dpi_walk_joined(k, "chol_", m->by, ""), n,
                                         DPI_LAW1(w, dp_lkj_cholesky_v, dpi_write_number(w, 1)));
    const dpi_value factor = DPI_WRITE2(w, dp_matmul, DPI_WRITE1(w, dp_diagonal_matrix, sd), l);
    const dpi_value rows = dpi_write_sample(
        w, &m->groups, dpi_walk_joined(k, "scaled.r_", m->by, ""), n,
        DPI_LAW2(w, dp_multivariate_normal_cholesky, dpi_write_number(w, 0), factor));
    const dpi_value c =
        dpi_write_let(w, "cor", DPI_WRITE2(w, dp_matmul, l, DPI_WRITE1(w, dp_transpose, l)));
    const dpi_value columns = dpi_write_let(w, "effects", DPI_WRITE1(w, dp_transpose, rows));
    for (size_t j = 0; j < n; j++) {
        e[j].value = dpi_write_slice(w, columns, j, 1);
        dpi_write_deterministic(w, dpi_walk_joined(k, "r_", e[j].name, ""),
                                dpi_write_scaled(w, e[j].unit, e[j].value));
        for (size_t i = 0; i < j; i++) {
            const char *name = correlation_name(k, &e[i], &e[j]);
            dpi_walk_tell(k, name, &lkj);
            dpi_write_deterministic(w, name, entry(w, c, j, i));
        }
    }
    return rows;
}

/* The effects' values, and the rows of several that are correlated. */
static dpi_value draw_all(dpi_formula_walk *k, const dpi_member *m, bool correlated, effect *e,
                          size_t n)
{
    if (correlated && n > 2)
        return draw_rows(k, m, e, n);
    if (correlated && n == 2)
        draw_pair(k, m, e);
    for (size_t j = 0; j < n && !(correlated && n == 2); j++)
        draw_effect(k, m, &e[j], dpi_write_number(&k->w, 0), e[j].sd);
    return (dpi_value){0};
}

dpi_value dpi_walk_groups(dpi_formula_walk *k, const dpi_predictor *p, const dpi_layout *l,
                          size_t g, const dpi_predictor_names *names, dpi_value eta)
{
    const dpi_grouping *grouping = &p->grouping[g];
    const dpi_design *d = &l->effects[g];
    const size_t n = d->n + (d->intercept ? 1 : 0);
    dpi_member *found = member_of(k, grouping, l->members[g]);
    effect *e = dpi_arena_alloc(&k->w.arena, n, sizeof *e);
    if (e == NULL || found == NULL) {
        k->w.failed = true;
        return eta;
    }
    const dpi_member m = *found;
    dpi_value z = {0};
    if (d->n > 0)
        z = dpi_write_data(&k->w, dpi_walk_safe(k, dpi_design_name(p, g, &k->w.arena)), d->n);
    for (size_t j = 0; j < n; j++)
        e[j] = begin_effect(k, &m, d, j, names);
    const bool rows = grouping->correlated && n > 2;
    dpi_value row = draw_all(k, &m, grouping->correlated, e, n);
    if (rows && !grouping->several)
        row = dpi_write_let(&k->w, "row", DPI_WRITE2(&k->w, dp_pick, row, m.index));
    for (size_t j = 0; j < n; j++) {
        dpi_value one = rows && !grouping->several ? dpi_write_slice(&k->w, row, j, 1)
                                                   : picked(k, grouping, &m, e[j].value);
        const size_t column = j - (d->intercept ? 1 : 0);
        if (!(d->intercept && j == 0))
            one = DPI_WRITE2(&k->w, dp_mul, one,
                             d->n == 1 ? z : dpi_write_slice(&k->w, z, column, 1));
        eta = dpi_write_let(&k->w, "eta", DPI_WRITE2(&k->w, dp_add, eta, one));
    }
    return eta;
}
