/* Building the objective: the guide first, then the model with its latents replaced by the guide's
 * values, then scores; gradients are cut.c's.
 *
 * Copying a graph calls dpi_apply again for each node, so that shapes follow from what was put in:
 * the same model text gives global latents under one cut and per-record ones under the other. */
#include "model/objective.h"

#include <gsl/gsl_math.h>
#include <string.h>

#include "dist/form.h"
#include "model/cut.h"
#include "model/divergence.h"
#include "model/loose.h"

/* What the guide says of a latent. */
typedef struct given {
    dpi_id value, free; /* the value in the new graph; under the mean-field guide, unconstrained */
    dpi_gaussian q;
    dpi_loose loose;          /* of points */
    dpi_id scale;             /* likewise: dpi_scale_of */
    const dpi_family *family; /* and arguments, under a written guide */
    dpi_id arg[DPI_MAX_ARGS];
} given;

typedef struct builder {
    dpi_objective *o;
    dpi_graph *g;
    const dpi_objective_spec *spec;
    given *given; /* [sites of the model] */
    dpi_id prior, record;
} builder;

/* Adds a term of the ELBO to the records' side or to the prior's. */
static void add_score(builder *b, bool of_record, dpi_id term)
{
    if (term == DPI_NONE)
        return;
    dpi_id *sum = of_record ? &b->record : &b->prior;
    *sum = *sum == DPI_NONE ? term : dpi_add(b->g, *sum, term);
}

static void *grow(dpi_objective *o, void **array, size_t *capacity, size_t n, size_t size)
{
    if (!dpi_arena_grow(&o->arena, array, capacity, n + 1, size)) {
        (void)dpi_fail_nomem(&o->err);
        return NULL;
    }
    return (char *)*array + n * size;
}

/* Name and suffix in one, of any length; NULL, with the error set, when memory is out. */
static const char *join(dpi_objective *o, const char *name, const char *suffix)
{
    size_t size = strlen(name) + strlen(suffix) + 1;
    char *full = dpi_arena_alloc(&o->arena, size, 1);
    if (full == NULL)
        (void)dpi_fail_nomem(&o->err);
    else
        (void)snprintf(full, size, "%s%s", name, suffix);
    return full;
}

static dpi_id add_block(builder *b, const char *name, const char *suffix, dpi_shape shape,
                        dpi_start start)
{
    dpi_objective *o = b->o;
    const char *full = join(o, name, suffix);
    for (size_t k = 0; full != NULL && k < o->n_blocks; k++)
        if (strcmp(o->blocks[k].name, full) == 0)
            (void)dpi_fail(&o->err, DP_ENAME,
                           "%s:%d: two parameters are called '%s'; rename this one, or the latent "
                           "or parameter of the model or guide that has the name already",
                           b->g->where.file, b->g->where.line, full);
    dpi_id node = dpi_source(b->g, &dpi_op_input, full, (dpi_attr){.shape = shape});
    dpi_block *block = node == DPI_NONE ? NULL
                                        : grow(o, (void **)&o->blocks, &o->block_capacity,
                                               o->n_blocks, sizeof *block);
    if (block == NULL)
        return DPI_NONE;
    *block = (dpi_block){.name = dpi_get(b->g, node)->name,
                         .node = node,
                         .size = dpi_shape_size(&shape),
                         .offset = o->n_theta,
                         .start = start,
                         .gradient = DPI_NONE};
    o->n_blocks++;
    o->n_theta += block->size;
    return node;
}

/* Standard normal noise of a latent's shape; of each record when the cut asks for it. */
static dpi_id add_noise(builder *b, const char *name, dpi_shape shape)
{
    dpi_objective *o = b->o;
    shape.per_record = shape.per_record || o->cut == DP_FORM_PARAMETERS;
    dpi_id node =
        dpi_source(b->g, &dpi_op_input, join(o, name, ".noise"), (dpi_attr){.shape = shape});
    dpi_id *at = node == DPI_NONE
                     ? NULL
                     : grow(o, (void **)&o->noise, &o->noise_capacity, o->n_noise, sizeof *at);
    if (at == NULL)
        return DPI_NONE;
    *at = node;
    o->n_noise++;
    return node;
}

/* Where records are cut off at a latent there is no way around it to what it is made of, which
 * would have to be released, too. */
static void add_latent(builder *b, const char *name, const given *its, dpi_id cut,
                       const dpi_shape *shape)
{
    dpi_id value = its->value;
    dpi_objective *o = b->o;
    if (value == DPI_NONE || cut == DPI_NONE)
        return;
    dpi_latent *latent =
        grow(o, (void **)&o->latents, &o->latent_capacity, o->n_latents, sizeof *latent);
    char *copy = latent != NULL ? dpi_arena_strdup(&o->arena, name) : NULL;
    if (copy == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    *latent = (dpi_latent){.name = copy,
                           .value = value,
                           .cut = cut,
                           .size = dpi_shape_size(shape),
                           .per_record = shape->per_record,
                           .scale = its->scale};
    b->g->nodes[cut].closed = o->cut == DP_FORM_LATENTS && !b->spec->points && !shape->per_record;
    o->n_latents++;
}

/* ---- copying ---- */

/* The node that a column has in the new graph: model and guide read the same columns. */
static dpi_id copy_column(builder *b, const dpi_node *node)
{
    for (size_t i = 0; i < b->g->n_nodes; i++) {
        const dpi_node *other = &b->g->nodes[i];
        if (other->op != node->op || other->name == NULL || strcmp(other->name, node->name) != 0)
            continue;
        if (!dpi_shape_same(&other->shape, &node->shape) || other->attr.number != node->attr.number)
            (void)dpi_fail(&b->o->err, DP_ESHAPE,
                           "model and guide read column '%s' with different sizes", node->name);
        return (dpi_id)i;
    }
    return dpi_source(b->g, node->op, node->name, node->attr);
}

/* Equal constants of model and guide are one, so that what is computed of them is computed once. */
static dpi_id copy_array(builder *b, const dpi_node *node)
{
    for (size_t i = 0; i < b->g->n_nodes; i++)
        if (b->g->nodes[i].op == node->op && dpi_attr_same(&b->g->nodes[i].attr, &node->attr))
            return (dpi_id)i;
    return dpi_constant_array(b->g, node->shape, node->attr.array);
}

static dpi_id copy_node(builder *b, const dpi_node *node, const dpi_id *map)
{
    b->g->where = node->where;
    if (dpi_is_column(node))
        return copy_column(b, node);
    if (dpi_is_const(node))
        return node->attr.array != NULL ? copy_array(b, node)
                                        : dpi_constant(b->g, node->attr.value);
    dpi_id in[2] = {DPI_NONE, DPI_NONE};
    for (int k = 0; k < node->op->n_inputs; k++)
        in[k] = map[node->in[k]];
    return dpi_apply(b->g, node->op, in[0], in[1], &node->attr);
}

/* The latent, observation or parameter that an input node stands for. */
static const dpi_site *site_of_node(const dp_model *m, dpi_id id)
{
    for (size_t i = 0; i < m->n_sites; i++)
        if (m->sites[i].kind != DPI_DETERMINISTIC && m->sites[i].kind != DPI_FACTOR &&
            m->sites[i].value == id)
            return &m->sites[i];
    return NULL;
}

static void map_arguments(const dpi_site *site, const dpi_id *map, dpi_id arg[])
{
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        arg[k] = k < site->family->n_args ? map[site->arg[k]] : DPI_NONE;
}

/* ---- guides ---- */

static dpi_start starts_at(double value)
{
    return (dpi_start){.init = {.rule = DP_INIT_CONSTANT, .value = value}};
}

/* Which of a latent's numbers are loose, or DPI_NONE. */
static dpi_id add_mask(builder *b, const dpi_site *site, dpi_shape shape)
{
    const double *const *loose = b->spec->loose;
    const double *mask = loose != NULL ? loose[site - b->spec->model->sites] : NULL;
    return mask != NULL ? dpi_constant_array(b->g, shape, mask) : DPI_NONE;
}

/* A latent under the mean-field normal guide: x = constrain(z), z = loc + e^log_scale * noise; of
 * points z is theta. */
static void mean_field(builder *b, const dpi_site *site, const dpi_id arg[], given *its)
{
    dpi_graph *g = b->g;
    const dpi_support *support = &dpi_supports[site->family->support];
    dpi_shape shape = dpi_get(&b->spec->model->graph, site->value)->shape;
    if (shape.per_record) {
        (void)dpi_fail(
            &b->o->err, DP_EUNSUPPORTED,
            "%s:%d: latent '%s' belongs to each record and has no guide; write a guide that "
            "samples it from the record's data (dp_guide_new), or sum it out",
            site->where.file, site->where.line, site->name);
        return;
    }
    if (support->rows != NULL) {
        shape.n_dims -= support->rows->is_matrix;
        shape.dim[shape.n_dims - 1] = support->rows->n_free(shape.dim[shape.n_dims - 1]);
    }
    if (b->spec->points) {
        its->free = add_block(b, site->name, "", shape, starts_at(0));
        its->loose = (dpi_loose){its->free, add_mask(b, site, shape), DPI_NONE};
        const dpi_recorded *told = b->spec->told;
        told = told != NULL ? &told[site - b->spec->model->sites] : NULL;
        its->value = its->free == DPI_NONE ? DPI_NONE
                     : told != NULL && told->precision != NULL
                         ? dpi_steady(g, its->free, its->scale, told, &its->loose.volume)
                     : its->loose.mask != DPI_NONE ? dpi_stretch(g, site->family, &its->loose, arg)
                                                   : support->constrain(g, its->free, arg);
        return;
    }
    its->q.support = site->family->support;
    its->q.loc = add_block(b, site->name, ".loc", shape, starts_at(0));
    its->q.log_scale =
        add_block(b, site->name, ".log_scale", shape, starts_at(log(b->spec->init_scale)));
    its->q.noise = add_noise(b, site->name, shape);
    its->q.scale = dpi_unary(g, &dpi_op_exp, its->q.log_scale);
    its->free = dpi_add(g, its->q.loc, dpi_times(g, its->q.scale, its->q.noise));
    its->value = its->free == DPI_NONE ? DPI_NONE : support->constrain(g, its->free, arg);
}

/* -log q(x) = sum log_scale + log |dx/dz| + (1 + log 2 pi) / 2 for each number of z, the entropy of
 * the normal being taken exactly. */
static void score_mean_field(builder *b, const dpi_site *site, const dpi_id arg[], const given *its)
{
    dpi_graph *g = b->g;
    const dpi_support *support = &dpi_supports[site->family->support];
    const dpi_shape shape = dpi_get(g, its->free)->shape;
    double constant = 0.5 * (1 + log(2 * M_PI)) * (double)dpi_shape_size(&shape);
    if (!b->spec->points) {
        add_score(b, false, dpi_sum(g, its->q.log_scale));
        add_score(b, false, dpi_constant(g, constant));
    }
    if (support->log_jacobian != NULL) {
        dpi_id each = support->log_jacobian(g, its->free, arg);
        if (support->rows == NULL)
            each = dpi_expand(g, each, shape);
        add_score(b, false, dpi_sum(g, each));
    }
}

/* A latent as a written guide samples it, from the family and arguments of *its. */
static void guided(builder *b, const dpi_site *site, given *its)
{
    dpi_id noise = add_noise(b, site->name, dpi_get(&b->spec->guide->graph, site->value)->shape);
    if (noise == DPI_NONE)
        return;
    its->value = site->family->from_normal(b->g, noise, its->arg);
    its->q = (dpi_gaussian){.support = site->family->support,
                            .loc = its->arg[0],
                            .scale = its->arg[1],
                            .log_scale = dpi_log_of(b->g, its->arg[1]),
                            .noise = noise};
}

/* Adds what a latent of the model contributes to the ELBO.  The cut at the parameters is the form
 * of d3p, which draws throughout. */
static void score_latent(builder *b, const dpi_site *site, const dpi_id arg[], const given *its)
{
    dpi_graph *g = b->g;
    const dpi_shape shape = dpi_get(&b->spec->model->graph, site->value)->shape;
    bool of_record = shape.per_record;
    bool draws = b->o->cut == DP_FORM_PARAMETERS || b->spec->points;
    if (its->loose.mask != DPI_NONE) {
        add_score(b, false, dpi_loose_density(g, site->family, &its->loose, its->value, arg));
        return;
    }
    add_score(b, false, its->loose.volume);
    dpi_id closed = draws ? DPI_NONE : dpi_minus_divergence(g, site->family, arg, &its->q, shape);
    if (closed != DPI_NONE) {
        add_score(b, of_record, closed);
        return;
    }
    if (its->family == NULL)
        score_mean_field(b, site, arg, its);
    else
        add_score(b, of_record, dpi_drawn_entropy(g, &its->q));
    add_score(b, of_record, dpi_log_density(g, site->family, its->value, arg));
}

static void build_guide(builder *b)
{
    const dp_model *guide = b->spec->guide, *model = b->spec->model;
    dpi_id *map = dpi_arena_alloc(&b->o->arena, guide->graph.n_nodes, sizeof *map);
    if (map == NULL) {
        (void)dpi_fail_nomem(&b->o->err);
        return;
    }
    for (size_t i = 0; i < guide->graph.n_nodes && b->o->err.status == DP_OK; i++) {
        const dpi_node *node = &guide->graph.nodes[i];
        const dpi_site *site = dpi_is_input(node) ? site_of_node(guide, (dpi_id)i) : NULL;
        if (site == NULL) {
            map[i] = copy_node(b, node, map);
            continue;
        }
        b->g->where = site->where;
        if (site->kind == DPI_PARAM) {
            map[i] = add_block(b, site->name, "", node->shape, site->start);
            continue;
        }
        given *its = &b->given[dpi_find_site(model, site->name) - model->sites];
        its->family = site->family;
        map_arguments(site, map, its->arg);
        guided(b, site, its);
        map[i] = its->value;
        add_latent(b, site->name, its, map[i], &node->shape);
    }
}

/* ---- the model ---- */

static dpi_id place_site(builder *b, const dpi_site *site, const dpi_node *node, const dpi_id *map)
{
    given *its = &b->given[site - b->spec->model->sites];
    b->g->where = site->where;
    if (site->kind == DPI_PARAM)
        return add_block(b, site->name, "", node->shape, site->start);
    dpi_id arg[DPI_MAX_ARGS];
    map_arguments(site, map, arg);
    dpi_id scale = b->spec->points ? dpi_scale_of(b->spec->model, site) : DPI_NONE;
    its->scale = scale != DPI_NONE ? map[scale] : DPI_NONE;
    if (b->spec->guide == NULL) {
        mean_field(b, site, arg, its);
        bool is_row = dpi_supports[site->family->support].rows != NULL;
        add_latent(b, site->name, its, is_row ? its->free : its->value, &node->shape);
    } else if (its->value == DPI_NONE)
        (void)dpi_fail(
            &b->o->err, DP_ENAME,
            "latent '%s' (%s:%d) is not in the guide; add a dp_sample of that name to it",
            site->name, site->where.file, site->where.line);
    if (its->value != DPI_NONE)
        score_latent(b, site, arg, its);
    return its->value;
}

/* The site's family; that of a form is in the model's memory, which may go before this one's. */
static const dpi_family *keep_family(dpi_objective *o, const dpi_family *family)
{
    dpi_no_form wrong;
    if (family->form == NULL)
        return family;
    const dp_dist dist = dpi_dist_of(family);
    const dpi_family *copy = dpi_dist_family(&o->arena, &dist, &wrong);
    if (copy == NULL)
        (void)dpi_fail_nomem(&o->err);
    return copy;
}

static void observe(builder *b, const dpi_site *site, const dpi_id *map)
{
    dpi_objective *o = b->o;
    const dpi_family *family = keep_family(o, site->family);
    if (family == NULL)
        return;
    dpi_observation *seen = grow(o, (void **)&o->observations, &o->observation_capacity,
                                 o->n_observations, sizeof *seen);
    if (seen == NULL)
        return;
    *seen = (dpi_observation){.family = family, .value = map[site->value]};
    seen->name = dpi_get(b->g, seen->value)->name;
    map_arguments(site, map, seen->arg);
    o->n_observations++;
    add_score(b, true, dpi_log_density(b->g, site->family, seen->value, seen->arg));
}

static void build_model(builder *b)
{
    const dp_model *model = b->spec->model;
    dpi_objective *o = b->o;
    dpi_id *map = dpi_arena_alloc(&o->arena, model->graph.n_nodes, sizeof *map);
    if (map == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    for (size_t i = 0; i < model->graph.n_nodes && o->err.status == DP_OK; i++) {
        const dpi_node *node = &model->graph.nodes[i];
        const dpi_site *site = dpi_is_input(node) ? site_of_node(model, (dpi_id)i) : NULL;
        map[i] = site != NULL ? place_site(b, site, node, map) : copy_node(b, node, map);
    }
    for (size_t i = 0; i < model->n_sites && o->err.status == DP_OK; i++) {
        const dpi_site *site = &model->sites[i];
        b->g->where = site->where;
        if (site->kind == DPI_DETERMINISTIC && b->spec->marked != NULL &&
            strcmp(site->name, b->spec->marked) == 0)
            o->marked = map[site->value];
        if (site->kind == DPI_OBSERVED)
            observe(b, site, map);
        else if (site->kind == DPI_FACTOR)
            add_score(b, true, map[site->value]);
    }
}

/* ---- the whole ---- */

static bool says_something(const dp_model *m)
{
    for (size_t i = 0; i < m->n_sites; i++)
        if (m->sites[i].kind == DPI_OBSERVED || m->sites[i].kind == DPI_FACTOR)
            return true;
    return false;
}

static void build(builder *b)
{
    dpi_objective *o = b->o;
    const dp_model *model = b->spec->model, *guide = b->spec->guide;
    b->given = dpi_arena_alloc(&o->arena, model->n_sites, sizeof *b->given);
    if (b->given == NULL) {
        (void)dpi_fail_nomem(&o->err);
        return;
    }
    for (size_t i = 0; i < model->n_sites; i++)
        b->given[i] = (given){.value = DPI_NONE,
                              .free = DPI_NONE,
                              .scale = DPI_NONE,
                              .loose = {DPI_NONE, DPI_NONE, DPI_NONE}};
    if (guide != NULL)
        build_guide(b);
    build_model(b);
    if (o->err.status != DP_OK)
        return;
    if (!says_something(model) || b->record == DPI_NONE || o->n_blocks == 0) {
        (void)dpi_fail(&o->err, DP_EINVAL,
                       o->n_blocks > 0 ? "the model observes nothing; add dp_observe"
                       : guide != NULL
                           ? "neither guide nor model has a parameter; add dp_param to the guide "
                             "for what is to be learnt"
                           : "the model has no latent and no parameter; there is nothing to fit");
        return;
    }
    o->prior = b->prior;
    o->record = b->record;
    if (b->spec->points)
        dpi_cut_at_points(o);
    else if (o->cut == DP_FORM_LATENTS)
        dpi_cut_at_latents(o);
    else
        dpi_cut_at_parameters(o, b->spec);
    if (o->err.status == DP_OK && o->n_parts == 0 && !b->spec->points)
        (void)dpi_fail(&o->err, DP_EINVAL, "the observations depend on no latent and no parameter");
    o->n_release += b->spec->n_extra;
}

dp_status dpi_objective_init(dpi_objective *o, const dpi_objective_spec *spec, dp_error *err)
{
    const dp_model *broken = spec->model->err.status != DP_OK                          ? spec->model
                             : spec->guide != NULL && spec->guide->err.status != DP_OK ? spec->guide
                                                                                       : NULL;
    *o = (dpi_objective){.cut = spec->cut, .marked = DPI_NONE, .share = DPI_NONE};
    if (broken != NULL)
        return dpi_fail(err, broken->err.status, "%s", broken->err.text);
    if (spec->guide != NULL && spec->guide->of != spec->model)
        return dpi_fail(err, DP_EINVAL,
                        "the guide was made for another model; use dp_guide_new(model)");
    dpi_graph_init(&o->graph, &o->arena, &o->err);
    builder b = {.o = o, .g = &o->graph, .spec = spec, .prior = DPI_NONE, .record = DPI_NONE};
    build(&b);
    if (o->err.status == DP_OK)
        return DP_OK;
    dp_status status = dpi_fail(err, o->err.status, "%s", o->err.text);
    dpi_objective_free(o);
    return status;
}

const char *dpi_objective_name(const dpi_objective *o, size_t part)
{
    for (size_t k = 0; k < o->n_latents; k++)
        if (o->latents[k].cut == o->crossing[part])
            return o->latents[k].name;
    const char *name = dpi_get(&o->graph, o->crossing[part])->name;
    return name != NULL ? name : "-";
}

void dpi_objective_free(dpi_objective *o)
{
    dpi_arena_free(&o->arena);
    *o = (dpi_objective){0};
}
