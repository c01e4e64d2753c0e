/* Means over groups of a record's own numbers, from which layer and group normalisation are made.
 *
 * The numbers of a value are read as [rows][inner][groups][columns].  Each is replaced by the mean
 * of those that share its row and group:
 *
 *   y_rigj = mean over i and j of a_rigj.
 *
 * This is a projection and its own transpose, so it is its own rule of reverse mode.  With c = a -
 * mean(a), normalised values are c / sqrt(mean(c^2) + epsilon); all of it keeps the shape of a. */
#include "graph/op.h"

/* Given attr.rows and attr.number = groups, sets attr.inner and attr.columns. */
static const char *group_mean_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                    dpi_shape *shape)
{
    (void)b;
    *shape = *a;
    size_t last = a->n_dims > 0 ? a->dim[a->n_dims - 1] : 0;
    if (last == 0 || attr->number == 0 || last % attr->number != 0)
        return "the last dimension must be a whole number of groups";
    size_t leading = dpi_shape_size(a) / last;
    if (attr->rows == 0 || leading % attr->rows != 0)
        return "the rows that are kept apart must divide the leading dimensions";
    attr->inner = leading / attr->rows;
    attr->columns = last / attr->number;
    return NULL;
}

static void group_mean_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.rows = dpi_get(g, y)->attr.rows, .number = dpi_get(g, y)->attr.number};
    result[0] = dpi_apply(g, &dpi_op_group_mean, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static double group_mean_flops(const dpi_node *node)
{
    return 2 * (double)dpi_shape_size(&node->shape);
}

const dpi_op dpi_op_group_mean = {.id = DPI_OP_group_mean,
                                  .name = "group_mean",
                                  .formula = "mean of a over its row and group",
                                  .class = DPI_LINEAR,
                                  .given = DPI_ATTR_NUMBER | DPI_ATTR_ROWS,
                                  .n_inputs = 1,
                                  .shape = group_mean_shape,
                                  .backward = group_mean_backward,
                                  .flops = group_mean_flops};
