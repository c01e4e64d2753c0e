/* What networks put between their products, made of several operations each: activations that need
 * more than one, and normalisation.
 *
 * Normalisation is of a record's own numbers.  Statistics of a batch would make the gradient of one
 * record depend on others: clipping it would no longer bound what one record can change. */
#include <math.h>

#include "model/model.h"

/* Added to a variance before its root is taken (Ba, Kiros and Hinton 2016, arXiv:1607.06450, leave
 * it open; 1e-5 is what is used). */
static const double variance_floor = 1e-5;

/* File of the last declaration, for messages. */
static const char *location(const dp_model *m)
{
    return m->graph.where.file != NULL ? m->graph.where.file : "model";
}

dp_expr dp_leaky_relu(double slope, dp_expr a)
{
    if (!isfinite(slope) && a.model != NULL)
        (void)dpi_fail(&a.model->err, DP_EDOMAIN,
                       "after %s:%d: dp_leaky_relu: the slope is %g; it must be a finite number",
                       location(a.model), a.model->graph.where.line, slope);
    return dpi_expr_unary(&dpi_op_relu, a, &(dpi_attr){.value = slope});
}

dp_expr dp_gelu(dp_expr a)
{
    return dp_mul(a, dp_normal_cdf(a));
}

dp_expr dp_log_softmax(dp_expr a)
{
    dp_model *m = dpi_expr_model(a, a, __func__);
    dpi_graph *g = &m->graph;
    dpi_id total = dpi_spread_over(g, dpi_unary(g, &dpi_op_log_sum_exp, a.id), a.id);
    return (dp_expr){.model = m, .id = dpi_sub(g, a.id, total)};
}

dp_expr dp_softmax(dp_expr a)
{
    (void)dpi_expr_model(a, a, __func__);
    return dp_exp(dp_log_softmax(a));
}

/* (a - mean) / sqrt(variance + floor) scale + shift. */
static dp_expr normalise(dp_model *m, dpi_id a, const dpi_attr *groups, dp_expr scale,
                         dp_expr shift)
{
    dpi_graph *g = &m->graph;
    dpi_id mean = dpi_apply(g, &dpi_op_group_mean, a, DPI_NONE, groups);
    dpi_id centred = dpi_sub(g, a, mean);
    dpi_id variance =
        dpi_apply(g, &dpi_op_group_mean, dpi_unary(g, &dpi_op_square, centred), DPI_NONE, groups);
    dpi_id root = dpi_unary(g, &dpi_op_sqrt, dpi_add(g, variance, dpi_constant(g, variance_floor)));
    dp_expr normal = {.model = m, .id = dpi_div(g, centred, root)};
    return dp_add(dp_mul(normal, scale), shift);
}

/* All that is not the last dimension. */
static size_t leading(const dp_model *m, dpi_id a)
{
    if (a == DPI_NONE || dpi_get(&m->graph, a)->shape.n_dims == 0)
        return 1;
    const dpi_shape *shape = &dpi_get(&m->graph, a)->shape;
    return dpi_shape_size(shape) / shape->dim[shape->n_dims - 1];
}

dp_expr dp_layer_norm(dp_expr a, dp_expr scale, dp_expr shift)
{
    dp_model *m = dpi_expr_model(a, a, __func__);
    if (a.id != DPI_NONE && dpi_get(&m->graph, a.id)->shape.n_dims == 0)
        (void)dpi_fail(
            &m->err, DP_ESHAPE,
            "after %s:%d: dp_layer_norm: a number is given, which has no dimension to be "
            "normalised over; give a vector or rows",
            m->graph.where.file != NULL ? m->graph.where.file : "the start", m->graph.where.line);
    return normalise(m, a.id, &(dpi_attr){.rows = leading(m, a.id), .number = 1}, scale, shift);
}

dp_expr dp_group_norm(dp_expr a, size_t groups, dp_expr scale, dp_expr shift)
{
    dp_model *m = dpi_expr_model(a, a, __func__);
    const dpi_shape *shape = a.id != DPI_NONE ? &dpi_get(&m->graph, a.id)->shape : NULL;
    const size_t channels = shape != NULL && shape->n_dims > 0 ? shape->dim[shape->n_dims - 1] : 1;
    if (shape != NULL && (groups == 0 || channels % groups != 0))
        (void)dpi_fail(&m->err, DP_ESHAPE,
                       "after %s:%d: dp_group_norm: %zu channels are no whole number of %zu "
                       "groups; give a number of groups that divides them",
                       m->graph.where.file != NULL ? m->graph.where.file : "the start",
                       m->graph.where.line, channels, groups);
    return normalise(m, a.id, &(dpi_attr){.rows = 1, .number = groups}, scale, shift);
}
