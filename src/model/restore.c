/* A model from bytes that anybody may have written.
 *
 * First all is read: every count is at most what the bytes left could hold, every text ends.  Then
 * the model is written again, node by node: a site's node by the call that declares such a site,
 * any other by dpi_put_back, each of which must get the id that it was stored under.  At last the
 * model is stored again, and the bytes must be the same: what was read but would not have been
 * written (a shape that is not the rule's, a name on a node that has none) does not pass.
 *
 * A message names what the bytes say, with no more of it than fits. */
#include <tacit/marginal.h>

#include <string.h>

#include "dist/form.h"
#include "graph/op.h"
#include "model/store-form.h"
#include "model/store.h"

/* Numbers of all nodes together: sums of sizes do not overflow. */
static const size_t most_numbers = (size_t)1 << 48;

/* What was read, in an arena of its own. */
typedef struct stored {
    dpi_arena arena;
    dpi_reader r;
    dpi_plate *plates;
    dpi_node *nodes; /* without shapes */
    dpi_site *sites;
    size_t n_plates, n_nodes, n_sites;
    const dp_model *of;
    dp_error *err;
} stored;

static dp_status damaged(const stored *s, const char *what)
{
    return dpi_fail(s->err, DP_EDATA,
                    "the stored %s is damaged (%s); take an intact one, or store it anew",
                    s->of != NULL ? "guide" : "model", what);
}

static dp_status unknown(const stored *s, const char *what, const char *name)
{
    return dpi_fail(s->err, DP_EUNSUPPORTED,
                    "the stored %s has the %s '%.64s', which this version of Tacit does not know; "
                    "take the version that stored it, or a later one",
                    s->of != NULL ? "guide" : "model", what, name);
}

/* ---- reading ---- */

static dp_status read_text(stored *s, bool nullable, const char **text)
{
    if (!dpi_read_text(&s->r, &s->arena, nullable, text))
        return dpi_fail_nomem(s->err);
    return s->r.bad ? damaged(s, "it ends too soon, or a text is none") : DP_OK;
}

/* An id: below INT32_MAX, or DPI_NONE. */
static dpi_id read_id(stored *s)
{
    uint64_t number = dpi_read_number(&s->r);
    if (number != UINT64_MAX && number > INT32_MAX)
        s->r.bad = true;
    return number == UINT64_MAX || s->r.bad ? DPI_NONE : (dpi_id)number;
}

static dp_status read_place(stored *s, dpi_where *where)
{
    dp_status status = read_text(s, true, &where->file);
    uint64_t line = dpi_read_number(&s->r);
    if (status == DP_OK && (s->r.bad || line > INT32_MAX))
        return damaged(s, "a place in the source is none");
    where->line = (int)line;
    return status;
}

/* The node's shape follows from its rule, so that what is stored of it is for other readers. */
static dp_status skip_shape(stored *s)
{
    (void)dpi_read_number(&s->r);
    size_t n = dpi_read_count(&s->r, DPI_MAX_DIMS);
    return dpi_read_bytes(&s->r, 16 * n) == NULL || s->r.bad ? damaged(s, "a shape is none")
                                                             : DP_OK;
}

static dp_status read_array(stored *s, const dpi_op *op, dpi_attr *attr)
{
    double *values;
    if ((op->given & DPI_ATTR_ARRAY) == 0 || attr->shape.per_record)
        return damaged(s, "an array stands where there can be none");
    if (!dpi_read_reals(&s->r, &s->arena, dpi_shape_size(&attr->shape), &values))
        return dpi_fail_nomem(s->err);
    attr->array = values;
    return s->r.bad ? damaged(s, "an array is cut") : DP_OK;
}

static dp_status read_attr(stored *s, const dpi_op *op, dpi_attr *attr)
{
    uint64_t fields = dpi_read_number(&s->r);
    if (!s->r.bad && fields >> dpi_n_attr_fields != 0)
        return unknown(s, "attribute", "of a later version");
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        if ((fields >> k & 1) == 0)
            continue;
        dp_status status = field->kind == DPI_FIELD_ARRAY ? read_array(s, op, attr) : DP_OK;
        for (size_t i = 0; field->kind != DPI_FIELD_ARRAY && i < field->count; i++)
            s->r.bad = !dpi_field_set(field, attr, i, dpi_read_number(&s->r)) || s->r.bad;
        if (status != DP_OK)
            return status;
        if (attr->shape.n_dims < 0 || attr->shape.n_dims > DPI_MAX_DIMS)
            s->r.bad = true;
        if (s->r.bad)
            return damaged(s, "an attribute is none");
    }
    return DP_OK;
}

static const dpi_op *operation_named(const char *name)
{
    for (size_t i = 0; i < DPI_N_OPS; i++)
        if (strcmp(dpi_ops[i]->name, name) == 0)
            return dpi_ops[i];
    return NULL;
}

static dp_status read_node(stored *s, dpi_node *node)
{
    const char *name;
    dp_status status = read_text(s, false, &name);
    if (status == DP_OK && (node->op = operation_named(name)) == NULL)
        status = unknown(s, "operation", name);
    if (status == DP_OK)
        status = read_text(s, true, &node->name);
    if (status == DP_OK)
        status = read_place(s, &node->where);
    node->in[0] = read_id(s);
    node->in[1] = read_id(s);
    if (status == DP_OK)
        status = skip_shape(s);
    return status != DP_OK ? status : read_attr(s, node->op, &node->attr);
}

static dp_status read_kind(stored *s, dpi_site *site)
{
    const char *kind;
    dp_status status = read_text(s, false, &kind);
    for (size_t k = 0; status == DP_OK && k < dpi_n_site_kinds; k++)
        if (strcmp(kind, dpi_site_kinds[k]) == 0) {
            site->kind = (dpi_site_kind)k;
            return DP_OK;
        }
    return status != DP_OK ? status : unknown(s, "kind of site", kind);
}

static dp_status read_family(stored *s, dpi_site *site)
{
    const char *name;
    bool wanted = site->kind == DPI_LATENT || site->kind == DPI_OBSERVED;
    dp_status status = read_text(s, true, &name);
    if (status != DP_OK)
        return status;
    dp_dist dist;
    if (name != NULL && !dpi_form_named(name, &dist))
        return unknown(s, "distribution", name);
    dpi_no_form wrong = {.why = NULL};
    site->family = name == NULL ? NULL : dpi_dist_family(&s->arena, &dist, &wrong);
    if (name != NULL && site->family == NULL)
        return wrong.why != NULL ? unknown(s, "distribution", name) : dpi_fail_nomem(s->err);
    size_t n = dpi_read_count(&s->r, DPI_MAX_ARGS);
    for (size_t k = 0; k < n; k++)
        site->arg[k] = read_id(s);
    if (s->r.bad || wanted != (name != NULL) ||
        n != (name != NULL ? (size_t)site->family->n_args : 0))
        return damaged(s, "a site has not the arguments of its distribution");
    return DP_OK;
}

static dp_status read_site(stored *s, dpi_site *site)
{
    dp_status status = read_kind(s, site);
    if (status == DP_OK)
        status = read_text(s, false, &site->name);
    if (status == DP_OK)
        status = read_place(s, &site->where);
    site->value = read_id(s);
    if (status == DP_OK)
        status = read_family(s, site);
    site->start.init.rule = (dp_init_rule)dpi_read_count(&s->r, DP_INIT_HE);
    site->start.init.value = dpi_of_bits(dpi_read_number(&s->r));
    site->start.init.places = dpi_read_count(&s->r, SIZE_MAX);
    site->start.seed = dpi_read_number(&s->r);
    for (int k = 0; status == DP_OK && site->family != NULL && k < site->family->n_args; k++)
        if (site->arg[k] == DPI_NONE || (size_t)site->arg[k] >= s->n_nodes)
            return damaged(s, "an argument is no node");
    if (status == DP_OK && (s->r.bad || site->value == DPI_NONE || site->where.file == NULL ||
                            (size_t)site->value >= s->n_nodes))
        return damaged(s, "a site has no node or no place");
    return status;
}

/* Counts, and room for what is counted: each item takes some bytes, so no more than are left. */
static dp_status read_head(stored *s)
{
    uint64_t magic = dpi_read_number(&s->r), version = dpi_read_number(&s->r);
    if (s->r.bad || magic != DPI_MODEL_MAGIC)
        return damaged(s, "it is no model");
    if (version != DPI_MODEL_VERSION)
        return dpi_fail(s->err, DP_EUNSUPPORTED,
                        "the stored model is of version %llu, and this version of Tacit reads %d; "
                        "take the version that stored it, or a later one",
                        (unsigned long long)version, DPI_MODEL_VERSION);
    if (dpi_read_number(&s->r) != (s->of != NULL))
        return damaged(s, "a model stands where a guide is wanted, or a guide where a model is");
    s->n_plates = dpi_read_count(&s->r, s->r.left / 16);
    s->n_nodes = dpi_read_count(&s->r, s->r.left / DPI_MODEL_NODE_BYTES);
    s->n_sites = dpi_read_count(&s->r, s->r.left / DPI_MODEL_SITE_BYTES);
    if (s->r.bad)
        return damaged(s, "it has more plates, nodes or sites than bytes");
    s->plates = dpi_arena_alloc(&s->arena, s->n_plates, sizeof *s->plates);
    s->nodes = dpi_arena_alloc(&s->arena, s->n_nodes, sizeof *s->nodes);
    s->sites = dpi_arena_alloc(&s->arena, s->n_sites, sizeof *s->sites);
    return s->plates == NULL || s->nodes == NULL || s->sites == NULL ? dpi_fail_nomem(s->err)
                                                                     : DP_OK;
}

static dp_status read_all(stored *s)
{
    dp_status status = read_head(s);
    for (size_t i = 0; status == DP_OK && i < s->n_plates; i++) {
        status = read_text(s, false, &s->plates[i].name);
        s->plates[i].size = dpi_read_count(&s->r, SIZE_MAX);
    }
    for (size_t i = 0; status == DP_OK && i < s->n_nodes; i++)
        status = read_node(s, &s->nodes[i]);
    for (size_t i = 0; status == DP_OK && i < s->n_sites; i++)
        status = read_site(s, &s->sites[i]);
    if (status == DP_OK && (s->r.bad || s->r.left > 0))
        status = damaged(s, "it ends too soon or too late");
    return status;
}

/* ---- writing it again ---- */

static dp_plate unit_plate(dp_model *m)
{
    const dp_model *of = m->of != NULL ? m->of : m;
    for (size_t i = 0; i < of->n_plates; i++)
        if (of->plates[i].size == 0)
            return (dp_plate){m, (int32_t)i + 1};
    return (dp_plate){m, 0};
}

/* How many numbers a row has. */
static size_t row_of(const dpi_shape *shape)
{
    return shape->n_dims > 0 ? shape->dim[shape->n_dims - 1] : 1;
}

/* A copy of the file's name that lives as long as the model. */
static const char *keep_file(dp_model *m, const char *file)
{
    if (file == NULL || (m->graph.where.file != NULL && strcmp(m->graph.where.file, file) == 0))
        return file == NULL ? NULL : m->graph.where.file;
    char *copy = dpi_arena_strdup(&m->arena, file);
    if (copy == NULL)
        (void)dpi_fail_nomem(&m->err);
    return copy;
}

static void put_column(dp_model *m, const dpi_node *node)
{
    dp_plate rows = unit_plate(m);
    const dpi_where *where = &m->graph.where;
    size_t d = row_of(&node->attr.shape);
    if (node->name == NULL || where->file == NULL)
        (void)dpi_fail(&m->err, DP_EDATA, "a column has no name or no place");
    else if (!dpi_is_groups(node))
        (void)dp_data_at(rows, node->name, d, where->file, where->line);
    else if (node->attr.rows > INT32_MAX)
        (void)dpi_fail(&m->err, DP_EDATA, "a column of group numbers has no plate");
    else
        (void)dp_indices_at(rows, node->name, d, (dp_plate){m, (int32_t)node->attr.rows},
                            where->file, where->line);
}

/* A node that belongs to no site. */
static void put_node(dp_model *m, const dpi_node *node)
{
    m->graph.where = (dpi_where){keep_file(m, node->where.file), node->where.line};
    if (m->err.status != DP_OK)
        return;
    if (dpi_is_column(node))
        put_column(m, node);
    else if (dpi_is_input(node))
        (void)dpi_fail(&m->err, DP_EDATA, "an input belongs to no site");
    else if (node->op->over_records)
        (void)dpi_fail(&m->err, DP_EDATA, "a model has no sums over records");
    else if (dpi_is_number(node))
        (void)dpi_constant(&m->graph, node->attr.value);
    else if (dpi_is_const(node))
        (void)dpi_constant_array(&m->graph, node->attr.shape, node->attr.array);
    else
        (void)dpi_put_back(&m->graph, node);
}

/* Numbers stay numbers, as the calls check more of them; they are nodes already. */
static dp_dist distribution(dp_model *m, const dpi_site *site)
{
    dp_dist dist = {0};
    if (site->family != NULL)
        dist = dpi_dist_of(site->family);
    for (int k = 0; site->family != NULL && k < site->family->n_args; k++) {
        dpi_id id = site->arg[k];
        const dpi_node *node = dpi_get(&m->graph, id);
        dist.arg[k] =
            dpi_is_number(node) ? dp_num(node->attr.value) : (dp_expr){.model = m, .id = id};
    }
    return dist;
}

static void put_weights(dp_model *m, const dpi_site *site, const dpi_shape *shape)
{
    dp_model_seed(m, site->start.seed);
    (void)dp_weights_at(m, site->name, dp_extent_of(shape->dim[0], shape->dim[1]), site->start.init,
                        m->graph.where.file, m->graph.where.line);
    dp_model_seed(m, 0);
}

/* Latents and parameters: n numbers, perhaps in a plate. */
static void put_block(dp_model *m, const dpi_site *site, const dpi_shape *shape, dp_dist dist)
{
    const char *file = m->graph.where.file;
    int line = m->graph.where.line;
    bool in_plate = shape->per_record || (shape->n_dims > 0 && shape->plate[0] != 0);
    dp_plate plate = shape->per_record ? unit_plate(m) : (dp_plate){m, shape->plate[0]};
    size_t n = in_plate && !shape->per_record && shape->n_dims == 1 ? 1 : row_of(shape);
    double start = site->start.init.value;
    if (site->kind == DPI_LATENT)
        (void)(in_plate ? dp_sample_in_at(plate, site->name, n, dist, file, line)
                        : dp_sample_at(m, site->name, n, dist, file, line));
    else if (!in_plate && shape->n_dims == 2)
        put_weights(m, site, shape);
    else
        (void)(in_plate ? dp_param_in_at(plate, site->name, n, start, file, line)
                        : dp_param_at(m, site->name, n, start, file, line));
}

static void put_site(dp_model *m, const stored *s, const dpi_site *site)
{
    m->graph.where = (dpi_where){keep_file(m, site->where.file), site->where.line};
    dp_dist dist = distribution(m, site);
    if (m->err.status != DP_OK)
        return;
    if (site->kind == DPI_OBSERVED)
        dp_observe_at(unit_plate(m), site->name, dist, m->graph.where.file, m->graph.where.line);
    else if (site->kind == DPI_DETERMINISTIC)
        (void)dp_deterministic_at(m, site->name, (dp_expr){.model = m, .id = site->value},
                                  m->graph.where.file, m->graph.where.line);
    else if (site->kind == DPI_FACTOR)
        dp_factor_at(unit_plate(m), site->name, (dp_expr){.model = m, .id = site->value},
                     m->graph.where.file, m->graph.where.line);
    else
        put_block(m, site, &s->nodes[site->value].attr.shape, dist);
}

/* Nodes up to `end`, each under its number. */
static void put_nodes(dp_model *m, const stored *s, size_t end)
{
    while (m->err.status == DP_OK && m->graph.n_nodes < end) {
        size_t i = m->graph.n_nodes;
        put_node(m, &s->nodes[i]);
        if (m->err.status == DP_OK && m->graph.n_nodes != i + 1)
            (void)dpi_fail(&m->err, DP_EDATA, "node %zu is there already", i);
    }
}

/* Whether the node was made where the site was written; a column may have been read before it was
 * observed, and a computed value or a factor always was there. */
static bool makes_node(const stored *s, const dpi_site *site)
{
    const dpi_node *node = &s->nodes[site->value];
    return site->kind != DPI_DETERMINISTIC && site->kind != DPI_FACTOR &&
           (site->kind != DPI_OBSERVED ||
            (node->where.line == site->where.line && node->where.file != NULL &&
             strcmp(node->where.file, site->where.file) == 0 && node->attr.rows == 0));
}

/* How many nodes come before the site. */
static size_t nodes_before(const stored *s, const dpi_site *site)
{
    size_t end = (size_t)site->value + !makes_node(s, site);
    for (int k = 0; site->family != NULL && k < site->family->n_args; k++)
        if ((size_t)site->arg[k] >= end)
            end = (size_t)site->arg[k] + 1;
    return end;
}

static void put_plates(dp_model *m, const stored *s)
{
    for (size_t i = 0; i < s->n_plates; i++)
        if (s->plates[i].size == 0)
            (void)dp_unit_plate_at(m, s->plates[i].name, "plates", 0);
        else
            (void)dp_plate_new_at(m, s->plates[i].name, s->plates[i].size, "plates", 0);
}

static void write_again(dp_model *m, const stored *s)
{
    size_t numbers = 0;
    put_plates(m, s);
    for (size_t i = 0; i < s->n_sites && m->err.status == DP_OK; i++) {
        const dpi_site *site = &s->sites[i];
        put_nodes(m, s, nodes_before(s, site));
        if (m->err.status == DP_OK)
            put_site(m, s, site);
        if (m->err.status == DP_OK && m->sites[i].value != site->value)
            (void)dpi_fail(&m->err, DP_EDATA, "site '%.64s' has another node", site->name);
    }
    put_nodes(m, s, s->n_nodes);
    for (size_t i = 0; i < m->graph.n_nodes && m->err.status == DP_OK; i++) {
        size_t size = dpi_shape_size(&dpi_get(&m->graph, (dpi_id)i)->shape);
        if (size > most_numbers || numbers + size > most_numbers)
            (void)dpi_fail(&m->err, DP_EDATA, "it has more numbers than any machine");
        numbers += size;
    }
}

/* Storing the model gives the bytes it came from. */
static dp_status compare(const stored *s, const dp_model *m, const unsigned char *bytes, size_t n)
{
    dpi_bytes again = {0};
    dp_status status = dpi_model_store(m, &again, s->err);
    if (status == DP_OK && (again.n != n || memcmp(again.at, bytes, n) != 0))
        status = damaged(s, "it is not written as this version writes it");
    dpi_bytes_free(&again);
    return status;
}

dp_status dpi_model_restore(const dp_model *of, const unsigned char *bytes, size_t n, dp_model **m,
                            dp_error *err)
{
    stored s = {.r = {.at = bytes, .left = n}, .of = of, .err = err};
    *m = NULL;
    dp_status status = read_all(&s);
    dp_model *made = status != DP_OK ? NULL : of != NULL ? dp_guide_new(of) : dp_model_new();
    if (status == DP_OK && made == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK) {
        write_again(made, &s);
        dp_status wrong = made->err.status;
        if (wrong == DP_ENOMEM)
            status = dpi_fail_nomem(err);
        else
            status = wrong != DP_OK ? damaged(&s, made->err.text) : compare(&s, made, bytes, n);
    }
    dpi_arena_free(&s.arena);
    if (status != DP_OK) {
        dp_model_free(made);
        return status;
    }
    *m = made;
    return DP_OK;
}
