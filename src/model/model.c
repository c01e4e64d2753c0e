/* Plates, columns and sites.
 *
 * Every declaring call records the caller's place in graph.where, so that errors of plain
 * arithmetic can say after which declaration they came.  Names of columns, sites and parameters
 * share one space, because they share the names of the data set's columns and of the result. */
#include "model/init.h"

#include <math.h>
#include <string.h>

#include "base/name.h"

dp_model *dp_model_new(void)
{
    dp_model *m = dpi_alloc(1, sizeof *m);
    if (m != NULL)
        dpi_graph_init(&m->graph, &m->arena, &m->err);
    return m;
}

dp_model *dp_guide_new(const dp_model *model)
{
    if (model == NULL)
        dpi_misuse(__func__, "NULL model");
    dp_model *guide = dp_model_new();
    if (guide != NULL) {
        guide->of = model;
        if (model->err.status != DP_OK)
            (void)dpi_fail(&guide->err, model->err.status, "%s", model->err.text);
    }
    return guide;
}

void dp_model_free(dp_model *m)
{
    if (m == NULL)
        return;
    dpi_arena_free(&m->arena);
    dpi_free(m);
}

dp_status dp_model_status(const dp_model *m)
{
    return m->err.status;
}

const char *dp_model_error(const dp_model *m)
{
    return m->err.status == DP_OK ? NULL : m->err.text;
}

/* Remembers the caller's place; false when the model already has an error. */
static bool enter(dp_model *m, const char *name, const char *file, int line)
{
    if (m == NULL || name == NULL)
        dpi_misuse("tacit/model.h", "NULL model or name");
    const char *base = strrchr(file, '/');
    m->graph.where = (dpi_where){base != NULL ? base + 1 : file, line};
    return m->err.status == DP_OK;
}

static dp_expr expression(dp_model *m, dpi_id id)
{
    return (dp_expr){.model = m, .id = id};
}

#define FAIL(m, status, text, ...)                                                                 \
    ((void)dpi_fail(&(m)->err, status, "%s:%d: " text, (m)->graph.where.file,                      \
                    (m)->graph.where.line, __VA_ARGS__))

const dpi_site *dpi_find_site(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_sites; i++)
        if (strcmp(m->sites[i].name, name) == 0)
            return &m->sites[i];
    return NULL;
}

/* The source of that name, or DPI_NONE. */
static dpi_id find_source(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->graph.n_nodes; i++) {
        const dpi_node *node = &m->graph.nodes[i];
        if (node->name != NULL && strcmp(node->name, name) == 0)
            return (dpi_id)i;
    }
    return DPI_NONE;
}

/* Where the name was given to a source or site, or NULL. */
static const dpi_where *place_of_name(const dp_model *m, const char *name)
{
    dpi_id id = find_source(m, name);
    const dpi_site *site = dpi_find_site(m, name);
    return id != DPI_NONE ? &dpi_get(&m->graph, id)->where : site != NULL ? &site->where : NULL;
}

/* False, with an error that does not repeat the name, when it is none that messages and files can
 * hold. */
static bool name_is_good(dp_model *m, const char *name)
{
    const char *fault = dpi_name_fault(name);
    if (fault != NULL)
        FAIL(m, DP_ENAME, "a name %s", fault);
    return fault == NULL;
}

static bool name_is_new(dp_model *m, const char *name)
{
    if (!name_is_good(m, name))
        return false;
    const dpi_where *place = place_of_name(m, name);
    if (place != NULL) {
        FAIL(m, DP_ENAME,
             "the name '%s' was used at %s:%d; give this one another name, or use the "
             "expression that the first call returned",
             name, place->file, place->line);
        return false;
    }
    return true;
}

/* ---- plates ---- */

static int find_plate(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_plates; i++)
        if (strcmp(m->plates[i].name, name) == 0)
            return (int)i + 1;
    return 0;
}

static dp_plate add_plate(dp_model *m, const char *name, size_t size)
{
    dp_plate none = {m, 0};
    if (!name_is_good(m, name))
        return none;
    /* A guide numbers its plates as its model does. */
    int number = m->of != NULL ? find_plate(m->of, name) : 0;
    if (m->of != NULL && (number == 0 || m->of->plates[number - 1].size != size)) {
        FAIL(m, DP_ENAME, "the guide's plate '%s' is not a plate of the model with the same size",
             name);
        return none;
    }
    if (number != 0)
        return (dp_plate){m, number};
    if (find_plate(m, name) != 0) {
        FAIL(m, DP_ENAME, "a plate '%s' exists already; keep the one that the first call returned",
             name);
        return none;
    }
    char *copy = dpi_arena_strdup(&m->arena, name);
    if (copy == NULL || !dpi_arena_grow(&m->arena, (void **)&m->plates, &m->plate_capacity,
                                        m->n_plates + 1, sizeof *m->plates)) {
        (void)dpi_fail_nomem(&m->err);
        return none;
    }
    m->plates[m->n_plates++] = (dpi_plate){copy, size};
    return (dp_plate){m, (int32_t)m->n_plates};
}

dp_plate dp_unit_plate_at(dp_model *m, const char *name, const char *file, int line)
{
    if (!enter(m, name, file, line))
        return (dp_plate){m, 0};
    for (size_t i = 0; i < m->n_plates; i++)
        if (m->plates[i].size == 0) {
            FAIL(m, DP_EPRIVACY,
                 "the model already has the unit plate '%s'; one record is one unit of "
                 "privacy, so there is one plate of records",
                 m->plates[i].name);
            return (dp_plate){m, 0};
        }
    return add_plate(m, name, 0);
}

dp_plate dp_plate_new_at(dp_model *m, const char *name, size_t size, const char *file, int line)
{
    if (!enter(m, name, file, line))
        return (dp_plate){m, 0};
    if (size == 0) {
        FAIL(m, DP_EINVAL,
             "plate '%s' has no members; give its public size, or use dp_unit_plate for "
             "the records",
             name);
        return (dp_plate){m, 0};
    }
    return add_plate(m, name, size);
}

static const dpi_plate *get_plate(const dp_plate *plate)
{
    const dp_model *m = plate->model->of != NULL ? plate->model->of : plate->model;
    return plate->id >= 1 && (size_t)plate->id <= m->n_plates ? &m->plates[plate->id - 1] : NULL;
}

static bool is_unit(const dp_plate *plate)
{
    const dpi_plate *p = get_plate(plate);
    return p != NULL && p->size == 0;
}

/* False, with an error, unless `plate` is the plate of records. */
static bool need_unit(const dp_plate *plate, const char *what)
{
    if (is_unit(plate))
        return true;
    FAIL(plate->model, DP_EINVAL, "%s belongs to the records; give it the plate of dp_unit_plate",
         what);
    return false;
}

/* ---- columns ---- */

/* The node of a column that is read and observed: found under its name, or DPI_NONE.  False, with an
 * error, when the two do not agree. */
static bool same_column(dp_model *m, const char *name, const dpi_op *op, const dpi_attr *attr,
                        dpi_id *id)
{
    *id = find_source(m, name);
    if (*id == DPI_NONE)
        return true;
    const dpi_node *node = dpi_get(&m->graph, *id);
    char text[2][DPI_SHAPE_TEXT];
    if (node->op != op || node->attr.number != attr->number)
        FAIL(m, DP_EINVAL,
             "column '%s' is read as one kind and observed as another (%s:%d); categories are read "
             "by dp_index over a plate of as many groups, all others by dp_data",
             name, node->where.file, node->where.line);
    else if (!dpi_shape_same(&node->shape, &attr->shape))
        FAIL(m, DP_ESHAPE,
             "column '%s' is read and observed with different sizes: %s here, %s at %s:%d", name,
             dpi_shape_text(&attr->shape, text[0]), dpi_shape_text(&node->shape, text[1]),
             node->where.file, node->where.line);
    return m->err.status == DP_OK;
}

static bool is_observed(const dp_model *m, const char *name)
{
    const dpi_site *site = dpi_find_site(m, name);
    return site != NULL && site->kind == DPI_OBSERVED;
}

dp_expr dp_data_at(dp_plate rows, const char *name, size_t d, const char *file, int line)
{
    dp_model *m = rows.model;
    dpi_id seen = DPI_NONE;
    if (!enter(m, name, file, line) || !need_unit(&rows, "a data column") ||
        (!is_observed(m, name) && !name_is_new(m, name)))
        return expression(m, DPI_NONE);
    if (d == 0) {
        FAIL(m, DP_ESHAPE, "column '%s' has no numbers; d is at least 1", name);
        return expression(m, DPI_NONE);
    }
    dpi_attr attr = {.shape = dpi_vector(d, true)};
    if (!same_column(m, name, &dpi_op_data, &attr, &seen) || seen != DPI_NONE)
        return expression(m, m->err.status == DP_OK ? seen : DPI_NONE);
    return expression(m, dpi_source(&m->graph, &dpi_op_data, name, attr));
}

dp_expr dp_indices_at(dp_plate rows, const char *name, size_t d, dp_plate groups, const char *file,
                      int line)
{
    dp_model *m = rows.model;
    if (!enter(m, name, file, line) || !need_unit(&rows, "an index column") ||
        !name_is_new(m, name))
        return expression(m, DPI_NONE);
    if (groups.model != m || get_plate(&groups) == NULL || is_unit(&groups)) {
        FAIL(m, DP_EINVAL, "index '%s' needs a plate of groups of the same model (dp_plate_new)",
             name);
        return expression(m, DPI_NONE);
    }
    if (d == 0) {
        FAIL(m, DP_ESHAPE, "column '%s' has no numbers; d is at least 1", name);
        return expression(m, DPI_NONE);
    }
    /* The plate's number rides along in `rows`, for dp_pick to compare. */
    dpi_attr attr = {.shape = dpi_vector(d, true),
                     .number = get_plate(&groups)->size,
                     .rows = (size_t)groups.id};
    return expression(m, dpi_source(&m->graph, &dpi_op_index, name, attr));
}

dp_expr dp_index_at(dp_plate rows, const char *name, dp_plate groups, const char *file, int line)
{
    return dp_indices_at(rows, name, 1, groups, file, line);
}

/* ---- sites ---- */

dpi_id dpi_expr_id(dp_model *m, dp_expr e)
{
    if (e.model == NULL)
        return dpi_constant(&m->graph, e.value);
    if (e.model != m && m->err.status == DP_OK)
        (void)dpi_fail(&m->err, DP_EINVAL,
                       "after %s:%d: an expression of another model is used here; "
                       "expressions belong to the model that made them",
                       m->graph.where.file != NULL ? m->graph.where.file : "model",
                       m->graph.where.line);
    return e.model != m ? DPI_NONE : e.id;
}

dpi_id dpi_log_density(dpi_graph *g, const dpi_family *family, dpi_id x, const dpi_id arg[])
{
    if (g->err->status != DP_OK)
        return DPI_NONE;
    return dpi_sum(g, family->log_density(g, x, arg));
}

/* Appends a site whose value and name are in place. */
static dpi_id append_site(dp_model *m, dpi_site site)
{
    site.where = m->graph.where;
    if (!dpi_arena_grow(&m->arena, (void **)&m->sites, &m->site_capacity, m->n_sites + 1,
                        sizeof site)) {
        (void)dpi_fail_nomem(&m->err);
        return DPI_NONE;
    }
    m->sites[m->n_sites++] = site;
    return site.value;
}

/* A site whose value is a new source, or the node `value` where that is not DPI_NONE. */
static dpi_id add_site(dp_model *m, dpi_site site, const dpi_op *op, dpi_attr attr)
{
    if (site.value == DPI_NONE)
        site.value = dpi_source(&m->graph, op, site.name, attr);
    if (site.value == DPI_NONE)
        return DPI_NONE;
    site.name = dpi_get(&m->graph, site.value)->name;
    return append_site(m, site);
}

/* The shape of n numbers in a plate, or outside plates when plate is NULL. */
static bool site_shape(dp_model *m, const dp_plate *plate, const char *name, size_t n,
                       dpi_shape *shape)
{
    const dpi_plate *p = plate != NULL ? get_plate(plate) : NULL;
    if (n == 0 || (plate != NULL && p == NULL)) {
        FAIL(m, n == 0 ? DP_ESHAPE : DP_EINVAL, "'%s': %s", name,
             n == 0 ? "n is at least 1" : "the plate is not one of this model");
        return false;
    }
    *shape = dpi_vector(n, p != NULL && p->size == 0);
    if (p != NULL && p->size > 0)
        (void)dpi_shape_prepend(shape, p->size, plate->id);
    return true;
}

/* In a guide: the model has this latent, with this shape. */
static bool matches_model(dp_model *m, const char *name, const dpi_shape *shape)
{
    if (m->of == NULL)
        return true;
    const dpi_site *site = dpi_find_site(m->of, name);
    char wanted[DPI_SHAPE_TEXT], found[DPI_SHAPE_TEXT];
    if (site == NULL || site->kind != DPI_LATENT) {
        FAIL(m, DP_ENAME, "the guide samples '%s', which is no latent of the model", name);
        return false;
    }
    const dpi_shape *other = &dpi_get(&m->of->graph, site->value)->shape;
    if (dpi_shape_same(other, shape) && other->per_record == shape->per_record)
        return true;
    FAIL(m, DP_ESHAPE, "the guide's '%s' is %s, the model's is %s", name,
         dpi_shape_text(shape, found), dpi_shape_text(other, wanted));
    return false;
}

/* In a guide: whatever the family draws is a value that the model's latent can take. */
static bool stays_in_support(dp_model *m, const char *name, const dpi_family *family)
{
    if (m->of == NULL)
        return true;
    const dpi_family *prior = dpi_find_site(m->of, name)->family;
    if (prior->support == DPI_REAL || prior->support == family->support)
        return true;
    FAIL(m, DP_EDOMAIN, "the guide samples '%s' from %s, but the model's %s needs %s; %s", name,
         family->name, prior->name, dpi_supports[prior->support].says,
         prior->support == DPI_ABOVE_ZERO
             ? "use dp_log_normal"
             : "sample a normal latent instead and transform it in the model");
    return false;
}

/* A row of one number, which could only be 1. */
static bool is_short_row(const dpi_shape *shape, const dpi_family *family)
{
    return dpi_supports[family->support].rows &&
           (shape->n_dims == 0 || shape->dim[shape->n_dims - 1] < 2);
}

static dp_expr sample(dp_model *m, const dp_plate *plate, const char *name, size_t n, dp_dist dist)
{
    dpi_shape shape, args, joined;
    dpi_site site = {.kind = DPI_LATENT, .name = name, .value = DPI_NONE, .family = dist.family};
    char text[2][DPI_SHAPE_TEXT];
    if (!name_is_new(m, name) || !site_shape(m, plate, name, n, &shape) ||
        !dpi_take_arguments(m, name, dist, site.arg) || !matches_model(m, name, &shape))
        return expression(m, DPI_NONE);
    if (dist.family->component != NULL)
        FAIL(m, DP_EUNSUPPORTED, "latent '%s' has a mixture as its prior; mixtures can be observed",
             name);
    else if (dpi_supports[dist.family->support].discrete)
        FAIL(m, DP_EUNSUPPORTED, "latent '%s' is discrete (%s); sum it out, or observe it", name,
             dist.family->name);
    else if (m->of != NULL && dist.family->from_normal == NULL)
        FAIL(m, DP_EUNSUPPORTED,
             "a guide cannot sample from %s; use dp_normal or dp_log_normal "
             "and transform",
             dist.family->name);
    else if (is_short_row(&shape, dist.family))
        FAIL(m, DP_ESHAPE, "'%s': %s is of n >= 2 numbers that sum to 1; give their number as n",
             name, dist.family->name);
    else if (!stays_in_support(m, name, dist.family))
        return expression(m, DPI_NONE);
    else if (!dpi_arguments_shape(m, dist.family, site.arg, &args) ||
             !dpi_shape_join(&shape, &args, &joined) || !dpi_shape_same(&shape, &joined))
        FAIL(m, DP_ESHAPE, "'%s' is %s, but the arguments of %s are together %s", name,
             dpi_shape_text(&shape, text[0]), dist.family->name, dpi_shape_text(&args, text[1]));
    else if (args.per_record && !shape.per_record)
        FAIL(m, DP_EPRIVACY,
             "global latent '%s' would depend on single records; put it in the unit "
             "plate, or give it global arguments",
             name);
    if (m->err.status != DP_OK)
        return expression(m, DPI_NONE);
    return expression(m, add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}

dp_expr dp_sample_at(dp_model *m, const char *name, size_t n, dp_dist dist, const char *file,
                     int line)
{
    return enter(m, name, file, line) ? sample(m, NULL, name, n, dist) : expression(m, DPI_NONE);
}

dp_expr dp_sample_in_at(dp_plate plate, const char *name, size_t n, dp_dist dist, const char *file,
                        int line)
{
    return enter(plate.model, name, file, line) ? sample(plate.model, &plate, name, n, dist)
                                                : expression(plate.model, DPI_NONE);
}

/* Whether the name is that of a column which is read and not observed. */
static bool is_read(const dp_model *m, const char *name)
{
    dpi_id id = find_source(m, name);
    return id != DPI_NONE && dpi_is_column(dpi_get(&m->graph, id)) && !is_observed(m, name);
}

void dp_observe_at(dp_plate rows, const char *name, dp_dist dist, const char *file, int line)
{
    dp_model *m = rows.model;
    dpi_shape shape;
    dpi_site site = {.kind = DPI_OBSERVED, .name = name, .value = DPI_NONE, .family = dist.family};
    if (!enter(m, name, file, line) || !need_unit(&rows, "an observation") ||
        (!is_read(m, name) && !name_is_new(m, name)) ||
        !dpi_take_arguments(m, name, dist, site.arg))
        return;
    if (m->of != NULL) {
        FAIL(m, DP_EINVAL, "a guide observes nothing ('%s'); use dp_data to read a column", name);
        return;
    }
    if (!dpi_arguments_shape(m, dist.family, site.arg, &shape)) {
        FAIL(m, DP_ESHAPE, "the arguments of '%s' do not fit together%s", name,
             dist.family->component == NULL
                 ? ""
                 : "; dp_mixture takes weights [K], K at least 2, and components' arguments that "
                   "are numbers, [K] or [K][d]");
        return;
    }
    if (is_short_row(&shape, dist.family)) {
        FAIL(m, DP_ESHAPE, "'%s': %s needs a vector [K] as argument, to tell how many numbers",
             name, dist.family->name);
        return;
    }
    shape.per_record = true;
    bool category = dist.family->support == DPI_CATEGORY;
    dpi_attr attr = {.shape = shape,
                     .number = category ? dpi_get(&m->graph, site.arg[0])->shape.dim[0] : 0};
    const dpi_op *op = category ? &dpi_op_index : &dpi_op_data;
    if (same_column(m, name, op, &attr, &site.value))
        (void)add_site(m, site, op, attr);
}

static dp_expr param(dp_model *m, const dp_plate *plate, const char *name, size_t n, double init)
{
    dpi_shape shape;
    dpi_site site = {
        .kind = DPI_PARAM, .name = name, .value = DPI_NONE, .start.init = dp_init_constant(init)};
    if (!name_is_new(m, name) || !site_shape(m, plate, name, n, &shape))
        return expression(m, DPI_NONE);
    if (shape.per_record || !isfinite(init)) {
        FAIL(m, shape.per_record ? DP_EPRIVACY : DP_EDOMAIN, "parameter '%s': %s", name,
             shape.per_record
                 ? "a parameter of each record would be that record's own secret; compute "
                   "it from the record's data instead"
                 : "its start is not a finite number");
        return expression(m, DPI_NONE);
    }
    return expression(m, add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}

dp_expr dp_param_at(dp_model *m, const char *name, size_t n, double init, const char *file,
                    int line)
{
    return enter(m, name, file, line) ? param(m, NULL, name, n, init) : expression(m, DPI_NONE);
}

dp_expr dp_param_in_at(dp_plate plate, const char *name, size_t n, double init, const char *file,
                       int line)
{
    return enter(plate.model, name, file, line) ? param(plate.model, &plate, name, n, init)
                                                : expression(plate.model, DPI_NONE);
}

dp_expr dp_deterministic_at(dp_model *m, const char *name, dp_expr value, const char *file,
                            int line)
{
    if (!enter(m, name, file, line) || !name_is_new(m, name))
        return expression(m, DPI_NONE);
    if (m->of != NULL) {
        FAIL(m, DP_EINVAL, "a guide names no computed value ('%s'); name it in the model", name);
        return expression(m, DPI_NONE);
    }
    dpi_site site = {.kind = DPI_DETERMINISTIC, .value = dpi_expr_id(m, value)};
    if (site.value == DPI_NONE)
        return expression(m, DPI_NONE);
    /* The name is the site's: the node may be a latent or a value that another name stands for. */
    site.name = dpi_arena_strdup(&m->arena, name);
    if (site.name == NULL) {
        (void)dpi_fail_nomem(&m->err);
        return expression(m, DPI_NONE);
    }
    return expression(m, append_site(m, site));
}

void dp_model_seed(dp_model *m, uint64_t seed)
{
    m->seed = seed;
}

dp_expr dp_weights_at(dp_model *m, const char *name, dp_extent extent, dp_init init,
                      const char *file, int line)
{
    if (!enter(m, name, file, line) || !name_is_new(m, name))
        return expression(m, DPI_NONE);
    const char *wrong = extent.rows == 0 || extent.columns == 0
                            ? "a weight has at least one row and one column"
                            : dpi_init_wrong(&init, extent.rows);
    if (wrong != NULL) {
        FAIL(m, extent.rows == 0 || extent.columns == 0 ? DP_ESHAPE : DP_EDOMAIN,
             "parameter '%s': %s", name, wrong);
        return expression(m, DPI_NONE);
    }
    const dpi_shape shape = {.n_dims = 2, .dim = {extent.rows, extent.columns}};
    const dpi_site site = {
        .kind = DPI_PARAM, .name = name, .value = DPI_NONE, .start = {init, m->seed}};
    return expression(m, add_site(m, site, &dpi_op_input, (dpi_attr){.shape = shape}));
}
