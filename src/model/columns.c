/* Columns of the records: numbers, and numbers of groups.
 *
 * A column may be read and observed, in either order; both are then one node. */
#include "model/declare.h"

bool dpi_same_column(dp_model *m, const char *name, const dpi_op *op, const dpi_attr *attr,
                     dpi_id *id)
{
    *id = dpi_find_source(m, name);
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

bool dpi_is_observed(const dp_model *m, const char *name)
{
    const dpi_site *site = dpi_find_site(m, name);
    return site != NULL && site->kind == DPI_OBSERVED;
}

dp_expr dp_data_at(dp_plate rows, const char *name, size_t d, const char *file, int line)
{
    dp_model *m = rows.model;
    dpi_id seen = DPI_NONE;
    if (!dpi_enter(m, name, file, line) || !dpi_need_unit(&rows, "a data column") ||
        (!dpi_is_observed(m, name) && !dpi_name_is_new(m, name)))
        return dpi_expression(m, DPI_NONE);
    if (d == 0) {
        FAIL(m, DP_ESHAPE, "column '%s' has no numbers; d is at least 1", name);
        return dpi_expression(m, DPI_NONE);
    }
    dpi_attr attr = {.shape = dpi_vector(d, true)};
    if (!dpi_same_column(m, name, &dpi_op_data, &attr, &seen) || seen != DPI_NONE)
        return dpi_expression(m, m->err.status == DP_OK ? seen : DPI_NONE);
    return dpi_expression(m, dpi_source(&m->graph, &dpi_op_data, name, attr));
}

/* A column of categories that was observed first is told now which groups they are. */
static dp_expr groups_of_observed(dp_model *m, dpi_id id, const char *name, size_t plate)
{
    size_t *known = &m->graph.nodes[id].attr.rows;
    if (*known != 0 && *known != plate) {
        FAIL(m, DP_EINVAL, "column '%s' is read over one plate of groups already; use that one",
             name);
        return dpi_expression(m, DPI_NONE);
    }
    *known = plate;
    return dpi_expression(m, id);
}

dp_expr dp_indices_at(dp_plate rows, const char *name, size_t d, dp_plate groups, const char *file,
                      int line)
{
    dp_model *m = rows.model;
    dpi_id seen = DPI_NONE;
    if (!dpi_enter(m, name, file, line) || !dpi_need_unit(&rows, "an index column") ||
        (!dpi_is_observed(m, name) && !dpi_name_is_new(m, name)))
        return dpi_expression(m, DPI_NONE);
    if (groups.model != m || dpi_get_plate(&groups) == NULL || dpi_is_unit(&groups)) {
        FAIL(m, DP_EINVAL, "index '%s' needs a plate of groups of the same model (dp_plate_new)",
             name);
        return dpi_expression(m, DPI_NONE);
    }
    if (d == 0) {
        FAIL(m, DP_ESHAPE, "column '%s' has no numbers; d is at least 1", name);
        return dpi_expression(m, DPI_NONE);
    }
    /* The plate's number rides along in `rows`, for dp_pick to compare. */
    dpi_attr attr = {.shape = dpi_vector(d, true),
                     .number = dpi_get_plate(&groups)->size,
                     .rows = (size_t)groups.id};
    if (!dpi_same_column(m, name, &dpi_op_index, &attr, &seen))
        return dpi_expression(m, DPI_NONE);
    if (seen != DPI_NONE)
        return groups_of_observed(m, seen, name, attr.rows);
    return dpi_expression(m, dpi_source(&m->graph, &dpi_op_index, name, attr));
}

dp_expr dp_index_at(dp_plate rows, const char *name, dp_plate groups, const char *file, int line)
{
    return dp_indices_at(rows, name, 1, groups, file, line);
}
