/* What the loop takes for a guide, and where it begins.
 *
 * Guide.  Models without latents of records have the mean-field guide.  For the others one is
 * written: global latents as there (normal, log-normal where they are above zero), and for the
 * latents of records one encoder, a dense layer of all real columns of the record with a softplus,
 * from which each latent has its location and the logarithm of its scale (Kingma and Welling 2014,
 * arXiv:1312.6114).  Columns x enter as sign(x) log(1 + |x|), whatever their units are.
 *
 * Start.  Latents begin at the medians of their prior.  Components of a mixture would be alike
 * there, and noise alone would tell them apart: those of the first argument of the components that
 * has a row for each of them are spread over two standard deviations of the prior, on a disc, whose
 * pairs of coordinates are turned by the golden angle from component to component (Vogel 1979,
 * Math. Biosci. 44, 179).  Of a discrete latent that a factor sums out the first latent with a row
 * for each of its values is, numbers before chances.  Nothing of it reads a record. */
#include "infer/loop-guide.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "dist/form.h"
#include "infer/prior.h"
#include "model/model.h"

/* Where locations of a written guide begin: at 0 a loading that a record's latent is multiplied by
 * has no slope, nor has the latent. */
static const double off_zero = 0.3;

enum { DRAWS = 100, LEAST_HIDDEN = 16, MOST_HIDDEN = 256 };

/* ---- the guide ---- */

typedef struct writing {
    const dp_model *model;
    dp_model *guide;
    dp_plate rows;
    dp_expr hidden;
    size_t width; /* of hidden */
} writing;

static const dpi_shape *shape_of(const dp_model *m, const dpi_site *site)
{
    return &dpi_get(&m->graph, site->value)->shape;
}

static bool is_of_records(const dp_model *m, const dpi_site *site)
{
    return site->kind == DPI_LATENT && shape_of(m, site)->per_record;
}

/* Numbers of latents that a record has. */
static size_t numbers_of_records(const dp_model *m)
{
    size_t n = 0;
    for (const dpi_site *site = m->sites; site < m->sites + m->n_sites; site++)
        n += is_of_records(m, site) ? dpi_shape_size(shape_of(m, site)) : 0;
    return n;
}

/* A parameter's name, in room of that many bytes. */
static const char *join(const dpi_site *site, const char *suffix, char name[DPI_MOST_NAME + 16])
{
    (void)snprintf(name, DPI_MOST_NAME + 16, "%s.%s", site->name, suffix);
    return name;
}

static dp_expr squashed(dp_expr x)
{
    dp_expr up = dp_log1p(dp_max(x, dp_num(0))), down = dp_log1p(dp_max(dp_neg(x), dp_num(0)));
    return dp_sub(up, down);
}

/* Whether node i is a real column, and the first node that reads it. */
static bool is_new_column(const dpi_graph *g, size_t i)
{
    const dpi_node *node = &g->nodes[i];
    bool is = dpi_is_column(node) && !dpi_is_groups(node);
    for (size_t k = 0; k < i && is; k++)
        is = !dpi_is_column(&g->nodes[k]) || strcmp(g->nodes[k].name, node->name) != 0;
    return is;
}

/* All real columns that the model reads, side by side; *n [out] numbers, 0 where there is none. */
static dp_expr read_columns(const writing *w, size_t *n)
{
    const dpi_graph *g = &w->model->graph;
    dp_expr all = dp_num(0);
    *n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = &g->nodes[i];
        if (!is_new_column(g, i))
            continue;
        size_t size = dpi_shape_size(&node->shape);
        dp_expr x = squashed(dp_data_at(w->rows, node->name, size, "guide", 0));
        all = *n == 0 ? x : dp_concat(all, x);
        *n += size;
    }
    if (*n != 1)
        return all;
    *n = 2; /* a layer reads a vector */
    return dp_concat(all, dp_square(all));
}

static dp_expr layer(const writing *w, const dpi_site *site, const char *of, dp_expr x,
                     dp_extent extent)
{
    char name[2][DPI_MOST_NAME + 16];
    const char *const weights[] = {"weights", "bias"};
    for (int k = 0; k < 2; k++) {
        char suffix[16];
        (void)snprintf(suffix, sizeof suffix, "%s.%s", of, weights[k]);
        (void)join(site, suffix, name[k]);
    }
    dp_expr matrix =
        dp_weights_at(w->guide, name[0], extent, dp_init_glorot(1), site->where.file, 0);
    dp_expr bias = dp_param_at(w->guide, name[1], extent.columns, 0, site->where.file, 0);
    dp_expr made = dp_dense(x, matrix, bias);
    return extent.columns == 1 ? dp_slice(made, 0, 1) : made; /* a number */
}

/* The record's columns in one layer, the first time that a latent of records asks. */
static void make_hidden(writing *w, const dpi_site *site)
{
    size_t n, asked = 2 * numbers_of_records(w->model);
    if (w->width > 0)
        return;
    w->width = asked < LEAST_HIDDEN ? LEAST_HIDDEN : asked > MOST_HIDDEN ? MOST_HIDDEN : asked;
    dp_expr columns = read_columns(w, &n);
    w->hidden = dp_softplus(layer(w, site, "code", columns, dp_extent_of(n, w->width)));
}

static void guide_record(writing *w, const dpi_site *site, bool positive)
{
    size_t n = dpi_shape_size(shape_of(w->model, site));
    make_hidden(w, site);
    dp_expr loc = layer(w, site, "loc", w->hidden, dp_extent_of(w->width, n));
    dp_expr scale = dp_exp(layer(w, site, "scale", w->hidden, dp_extent_of(w->width, n)));
    dp_dist dist = positive ? dp_log_normal_v(loc, scale) : dp_normal_v(loc, scale);
    (void)dp_sample_in_at(w->rows, site->name, n, dist, site->where.file, site->where.line);
}

static void guide_global(writing *w, const dpi_site *site, bool positive)
{
    const dpi_shape *shape = shape_of(w->model, site);
    char name[2][DPI_MOST_NAME + 16];
    const char *file = site->where.file;
    const dpi_plate *plate =
        shape->n_dims > 0 && shape->plate[0] > 0 ? &w->model->plates[shape->plate[0] - 1] : NULL;
    size_t n = plate != NULL ? dpi_shape_size(shape) / plate->size : dpi_shape_size(shape);
    double start = positive ? 0 : off_zero;
    (void)join(site, "loc", name[0]), (void)join(site, "log_scale", name[1]);
    dp_plate groups = {NULL, 0};
    if (plate != NULL)
        groups = dp_plate_new_at(w->guide, plate->name, plate->size, file, 0);
    dp_expr loc = plate != NULL ? dp_param_in_at(groups, name[0], n, start, file, 0)
                                : dp_param_at(w->guide, name[0], n, start, file, 0);
    dp_expr scale = dp_exp(plate != NULL ? dp_param_in_at(groups, name[1], n, log(0.1), file, 0)
                                         : dp_param_at(w->guide, name[1], n, log(0.1), file, 0));
    dp_dist dist = positive ? dp_log_normal_v(loc, scale) : dp_normal_v(loc, scale);
    if (plate != NULL)
        (void)dp_sample_in_at(groups, site->name, n, dist, file, site->where.line);
    else
        (void)dp_sample_at(w->guide, site->name, n, dist, file, site->where.line);
}

static dp_status guide_latent(writing *w, const dpi_site *site, dp_error *err)
{
    dpi_support_kind support = site->family->support;
    if (support != DPI_REAL && support != DPI_ABOVE_ZERO)
        return dpi_fail(
            err, DP_EUNSUPPORTED,
            "%s:%d: latent '%s' is %s, and where records have latents an automatic fit "
            "takes real and positive ones; make it of a normal latent (dp_logistic), or "
            "fit the model by dp_svi_new with a guide",
            site->where.file, site->where.line, site->name, dpi_supports[support].says);
    if (is_of_records(w->model, site))
        guide_record(w, site, support == DPI_ABOVE_ZERO);
    else
        guide_global(w, site, support == DPI_ABOVE_ZERO);
    return DP_OK;
}

static const char *name_of_rows(const dp_model *m)
{
    for (size_t k = 0; k < m->n_plates; k++)
        if (m->plates[k].size == 0)
            return m->plates[k].name;
    return "rows";
}

dp_status dpi_loop_guide(const dp_model *model, dp_model **guide, dp_error *err)
{
    *guide = NULL;
    if (numbers_of_records(model) == 0)
        return DP_OK;
    writing w = {.model = model, .guide = dp_guide_new(model)};
    if (w.guide == NULL)
        return dpi_fail_nomem(err);
    w.rows = dp_unit_plate_at(w.guide, name_of_rows(model), "guide", 0);
    dp_status status = DP_OK;
    for (const dpi_site *site = model->sites;
         status == DP_OK && site < model->sites + model->n_sites; site++)
        if (site->kind == DPI_LATENT)
            status = guide_latent(&w, site, err);
    if (status == DP_OK && dp_model_status(w.guide) != DP_OK)
        status = dpi_fail(err, dp_model_status(w.guide), "%s", dp_model_error(w.guide));
    if (status == DP_OK)
        *guide = w.guide;
    else
        dp_model_free(w.guide);
    return status;
}

/* ---- the start ---- */

/* The mixture that an observation is, or NULL. */
static const dpi_family *mixture_of(const dpi_site *site)
{
    const bool is_one = site->kind == DPI_OBSERVED && site->family->form == &dpi_mixture;
    return is_one ? site->family : NULL;
}

/* Marks, in reached[nodes], what node `id` is computed from, or what it is computed from without a
 * log-sum-exp between, up to those. */
static void reach(const dp_model *m, dpi_id id, bool through_sums, bool *reached)
{
    memset(reached, 0, m->graph.n_nodes * sizeof *reached);
    reached[id] = true;
    for (size_t i = (size_t)id + 1; i-- > 0;) {
        const dpi_node *node = &m->graph.nodes[i];
        if (!reached[i] || (!through_sums && dpi_log_summed(node) > 0))
            continue;
        for (int k = 0; k < node->op->n_inputs; k++)
            reached[node->in[k]] = true;
    }
}

/* Whether a latent has a row for each of K components: of numbers, or of chances where simplexes
 * are asked for.  A square of chances is no such latent: it says how one component leads to
 * another. */
static bool has_rows(const dpi_site *site, const dpi_shape *shape, size_t components,
                     bool simplexes)
{
    if (shape->per_record || shape->n_dims == 0 || shape->dim[0] != components)
        return false;
    const bool of_chances = dpi_supports[site->family->support].rows;
    if (!simplexes || !of_chances)
        return simplexes == of_chances;
    return shape->n_dims == 2 && shape->dim[1] != components;
}

/* Marks the latents with a row for each of K components among what is reached; false where there is
 * none. */
static bool mark_rows(const dp_model *m, const bool *reached, size_t components, bool *marked)
{
    bool any = false;
    for (size_t s = 0; s < m->n_sites; s++) {
        const dpi_site *site = &m->sites[s];
        if (site->kind == DPI_LATENT && reached[site->value] &&
            has_rows(site, shape_of(m, site), components, false))
            any = marked[s] = true;
    }
    return any;
}

/* Whether a latent keeps K components apart by itself. */
static bool is_order(const dpi_site *site, const dpi_shape *shape, size_t components)
{
    return site->family->support == DPI_ORDERED && shape->n_dims == 1 &&
           shape->dim[0] == components;
}

/* Marks the first such latent alone: the next may be scales, which had better be alike.  Where the
 * first is in increasing order there is nothing to mark. */
static bool mark_first(const dp_model *m, const bool *reached, size_t components, bool simplexes,
                       bool *marked)
{
    for (size_t s = 0; s < m->n_sites; s++) {
        const dpi_site *site = &m->sites[s];
        if (site->kind != DPI_LATENT || !reached[site->value])
            continue;
        if (is_order(site, shape_of(m, site), components))
            return true;
        if (has_rows(site, shape_of(m, site), components, simplexes))
            return marked[s] = true;
    }
    return false;
}

/* Of a factor: its components are what its outermost sums in logarithms go over. */
static void mark_summed(const dp_model *m, dpi_id factor, bool *outer, bool *reached, bool *marked)
{
    reach(m, factor, false, outer);
    for (size_t i = 0; i < m->graph.n_nodes; i++) {
        const dpi_node *node = &m->graph.nodes[i];
        const size_t components = dpi_log_summed(node);
        if (!outer[i] || components < 2)
            continue;
        reach(m, (dpi_id)i, true, reached);
        if (!mark_first(m, reached, components, false, marked))
            (void)mark_first(m, reached, components, true, marked);
    }
}

/* Marks the latents that tell the components of mixtures apart: marked[n_sites]. */
static dp_status mark_components(const dp_model *m, dpi_arena *arena, bool *marked, dp_error *err)
{
    bool *reached = dpi_arena_alloc(arena, m->graph.n_nodes, 2 * sizeof *reached);
    if (reached == NULL)
        return dpi_fail_nomem(err);
    for (size_t s = 0; s < m->n_sites; s++) {
        if (m->sites[s].kind == DPI_FACTOR)
            mark_summed(m, m->sites[s].value, reached + m->graph.n_nodes, reached, marked);
        const dpi_family *mixture = mixture_of(&m->sites[s]);
        if (mixture == NULL)
            continue;
        size_t components = dpi_shape_size(&dpi_get(&m->graph, m->sites[s].arg[0])->shape);
        bool done = false;
        for (int a = 1; a < mixture->n_args && !done; a++) {
            reach(m, m->sites[s].arg[a], true, reached);
            done = mark_rows(m, reached, components, marked);
        }
    }
    return DP_OK;
}

/* Coordinate j of component k of K, in standard deviations of the prior. */
static double on_disc(size_t k, size_t components, size_t j)
{
    static const double golden = 2.39996322972865332, quarter = 1.57079632679489662;
    double angle = golden * (double)(k * (j / 2 + 1)) - quarter * (double)(j % 2);
    return 2 * sqrt(((double)k + 0.5) / (double)components) * cos(angle);
}

/* Medians, and half of what lies between the 16th and the 84th of a hundred, of draws[DRAWS][d]. */
static void middle_of(const double *draws, size_t d, size_t i, double *median, double *sd)
{
    double one[DRAWS];
    size_t n = 0;
    for (size_t k = 0; k < DRAWS; k++)
        if (isfinite(draws[k * d + i]))
            one[n++] = draws[k * d + i];
    gsl_sort(one, 1, n);
    *median = n > 0 ? one[n / 2] : 0;
    *sd = n > 0 ? (one[n * 84 / 100] - one[n * 16 / 100]) / 2 : 1;
}

/* Free numbers of all latents; a block of the objective belongs to each latent and parameter, and
 * latents have a second one. */
static size_t count_free(const dp_model *model, const dpi_objective *o)
{
    const dpi_block *block = o->blocks;
    size_t d = 0;
    for (size_t s = 0; s < model->n_sites; s++) {
        d += model->sites[s].kind == DPI_LATENT ? block->size : 0;
        block += model->sites[s].kind == DPI_LATENT ? 2 : model->sites[s].kind == DPI_PARAM;
    }
    return d;
}

/* loc[n] of a latent with that many components that are to lie apart (1: none), from the first n
 * columns of draws[DRAWS][d]. */
static void place(size_t components, size_t n, const double *draws, size_t d, double *loc)
{
    size_t row = n / components;
    for (size_t e = 0; e < n; e++) {
        double sd;
        middle_of(draws, d, e, &loc[e], &sd);
        loc[e] += components > 1 ? sd * on_disc(e / row, components, e % row) : 0;
    }
}

dp_status dpi_loop_start(const dp_model *model, const dpi_objective *o, dp_rng *rng, double *theta,
                         dp_error *err)
{
    dpi_arena arena = {0};
    const dpi_block *block = o->blocks;
    size_t d = count_free(model, o), at = 0;
    double *draws = dpi_arena_alloc(&arena, DRAWS, (d + 1) * sizeof *draws);
    bool *apart = dpi_arena_alloc(&arena, model->n_sites, sizeof *apart);
    dp_status status = draws == NULL || apart == NULL ? dpi_fail_nomem(err) : DP_OK;
    if (status == DP_OK)
        status = mark_components(model, &arena, apart, err);
    if (status == DP_OK && d > 0)
        status = dpi_prior_draw(model, d, DRAWS, rng, draws, err);
    for (size_t s = 0; s < model->n_sites && status == DP_OK; s++) {
        bool latent = model->sites[s].kind == DPI_LATENT;
        if (latent) {
            size_t components = apart[s] ? shape_of(model, &model->sites[s])->dim[0] : 1;
            place(components, block->size, draws + at, d, theta + block->offset);
            at += block->size;
        }
        block += latent ? 2 : model->sites[s].kind == DPI_PARAM;
    }
    dpi_arena_free(&arena);
    return status;
}
