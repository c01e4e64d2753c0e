#include "model/loose.h"

bool dpi_may_loosen(const dp_model *model, const dpi_site *site)
{
    const dpi_family *family = site->family;
    bool location = false, scale = false, computed = false;
    if (site->kind != DPI_LATENT || family->support != DPI_REAL || family->log_density == NULL)
        return false;
    for (int k = 0; k < family->n_args; k++) {
        location = location || family->role[k] == DPI_LOCATION;
        scale = scale || family->role[k] == DPI_SCALE;
        computed = computed || ((family->role[k] != DPI_SHAPE || family->stretch != NULL) &&
                                !dpi_is_const(dpi_get(&model->graph, site->arg[k])));
    }
    return ((location && scale) || family->stretch != NULL) && computed;
}

/* An argument where the mask is 1, and another one where it is 0. */
static dpi_id either(dpi_graph *g, dpi_id mask, dpi_id at_one, dpi_id at_zero)
{
    dpi_id rest = dpi_sub(g, dpi_constant(g, 1), mask);
    return dpi_add(g, dpi_times(g, mask, at_one), dpi_times(g, rest, at_zero));
}

/* location + scale z where z is loose, else z; rows know their own way. */
dpi_id dpi_stretch(dpi_graph *g, const dpi_family *family, dpi_loose *l, const dpi_id arg[])
{
    dpi_id x = l->free;
    if (family->stretch != NULL)
        return family->stretch(g, x, l->mask, arg, &l->volume);
    for (int k = 0; k < family->n_args; k++)
        if (family->role[k] == DPI_SCALE)
            x = dpi_times(g, either(g, l->mask, arg[k], dpi_constant(g, 1)), x);
    for (int k = 0; k < family->n_args; k++)
        if (family->role[k] == DPI_LOCATION)
            x = dpi_add(g, dpi_times(g, l->mask, arg[k]), x);
    return x;
}

/* Of z = (x - location) / scale the family's own, at 0 and 1; of rows that of x, with the
 * volume. */
dpi_id dpi_loose_density(dpi_graph *g, const dpi_family *family, const dpi_loose *l, dpi_id value,
                         const dpi_id arg[])
{
    dpi_id own[DPI_MAX_ARGS];
    if (family->stretch != NULL)
        return dpi_add(g, dpi_sum(g, l->volume), dpi_log_density(g, family, value, arg));
    for (int k = 0; k < family->n_args; k++) {
        dpi_id standard = dpi_constant(g, family->role[k] == DPI_SCALE);
        own[k] = family->role[k] == DPI_SHAPE ? arg[k] : either(g, l->mask, standard, arg[k]);
    }
    return dpi_log_density(g, family, l->free, own);
}

/* ---- standard normal numbers of a computed scale ---- */

enum { MOST_STEADY = 200 };

static bool is_standard_normal(const dp_model *model, const dpi_site *site)
{
    return site->kind == DPI_LATENT && site->family == &dpi_normal &&
           dpi_is_constant(&model->graph, site->arg[0], 0) &&
           dpi_is_constant(&model->graph, site->arg[1], 1);
}

/* The one product that reads a value, or NULL. */
static const dpi_node *only_product(const dp_model *model, dpi_id value)
{
    const dpi_node *found = NULL;
    for (size_t i = 0; i < model->graph.n_nodes; i++) {
        const dpi_node *node = dpi_get(&model->graph, (dpi_id)i);
        for (int k = 0; k < node->op->n_inputs; k++) {
            if (node->in[k] != value)
                continue;
            if (found != NULL || !dpi_is_product(node))
                return NULL;
            found = node;
        }
    }
    for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++)
        for (int k = 0; site->family != NULL && k < site->family->n_args; k++)
            if (site->arg[k] == value)
                return NULL;
    return found;
}

dpi_id dpi_scale_of(const dp_model *model, const dpi_site *site)
{
    const dpi_shape *shape = &dpi_get(&model->graph, site->value)->shape;
    if (!is_standard_normal(model, site) || shape->per_record || shape->n_dims != 1 ||
        shape->dim[0] > MOST_STEADY)
        return DPI_NONE;
    const dpi_node *product = only_product(model, site->value);
    if (product == NULL)
        return DPI_NONE;
    dpi_id scale = product->in[product->in[0] == site->value];
    const dpi_node *node = dpi_get(&model->graph, scale);
    return scale < site->value && !dpi_is_const(node) && dpi_shape_same(&node->shape, shape)
               ? scale
               : DPI_NONE;
}

static dpi_id solved(dpi_graph *g, dpi_id l, bool transposed, dpi_id b)
{
    return dpi_apply(g, &dpi_op_triangular_solve, l, b, &(dpi_attr){.transpose = {transposed}});
}

dpi_id dpi_steady(dpi_graph *g, dpi_id x, dpi_id scale, const dpi_recorded *told, dpi_id *volume)
{
    *volume = DPI_NONE;
    if (x == DPI_NONE || scale == DPI_NONE)
        return DPI_NONE;
    const dpi_shape vector = dpi_get(g, x)->shape;
    const dpi_shape square = {.n_dims = 2, .dim = {vector.dim[0], vector.dim[0]}};
    const dpi_id ones = dpi_expand(g, dpi_constant(g, 1), vector);
    const dpi_id precision = dpi_constant_array(g, square, told->precision);
    const dpi_id of_records =
        dpi_times(g, precision, dpi_apply(g, &dpi_op_outer, scale, scale, NULL));
    const dpi_id a = dpi_add(g, dpi_unary(g, &dpi_op_diagonal_matrix, ones), of_records);
    const dpi_id l = dpi_unary(g, &dpi_op_cholesky, a);
    const dpi_id pull = dpi_times(g, scale, dpi_constant_array(g, vector, told->pull));
    const dpi_id logs = dpi_unary(g, &dpi_op_log, dpi_unary(g, &dpi_op_diagonal, l));
    *volume = dpi_unary(g, &dpi_op_neg, dpi_sum(g, logs));
    return solved(g, l, true, dpi_add(g, x, solved(g, l, false, pull)));
}
