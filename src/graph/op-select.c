/* Selection along the first dimension: by group numbers, or by position.
 *
 * One number picks a row; d numbers, such as the words of a sentence, pick d rows. */
#include <stdio.h>

#include "graph/op.h"

/* A group number that is too large would reach beyond the array: columns are checked against their
 * range when they are bound, so the range must fit here.  Other inputs are their setter's
 * concern. */
static const char *misfit_of_groups(const dpi_node *number, size_t groups)
{
    if (dpi_is_column(number) && !dpi_is_groups(number))
        return "group numbers must come from an index column";
    if (dpi_is_groups(number) && number->attr.number > groups)
        return "the index has more groups than the value";
    return NULL;
}

/* y = a[g]: the row of a that the number g names, or a row for each number. */
static const char *pick_shape(const dpi_shape *a, const dpi_shape *g, dpi_attr *attr,
                              dpi_shape *shape)
{
    if (a->n_dims < 1 || g->n_dims > 1)
        return "dp_pick takes a value per group and a group number, or a vector of them";
    attr->rows = a->dim[0];
    *shape = dpi_shape_drop_first(*a);
    if (g->n_dims == 1)
        (void)dpi_shape_prepend(shape, g->dim[0], g->plate[0]);
    shape->per_record = a->per_record || g->per_record;
    return NULL;
}

static const char *pick_misfit(const dpi_graph *g, const dpi_node *node)
{
    return misfit_of_groups(dpi_get(g, node->in[1]), node->attr.rows);
}

static void pick_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.number = dpi_get(g, node.in[0])->shape.dim[0],
                     .shape.plate[0] = dpi_get(g, node.in[0])->shape.plate[0]};
    result[0] = dpi_apply(g, &dpi_op_scatter, dpi_full_adjoint(g, y, adjoint), node.in[1], &attr);
}

/* y[k] = a for k = g, 0 elsewhere; attr.number groups.  With several numbers, the sum over them of
 * their rows of a. */
static const char *scatter_shape(const dpi_shape *a, const dpi_shape *g, dpi_attr *attr,
                                 dpi_shape *shape)
{
    bool several = g->n_dims == 1;
    *shape = several ? dpi_shape_drop_first(*a) : *a;
    shape->per_record = a->per_record || g->per_record;
    if (g->n_dims > 1 || (several && (a->n_dims == 0 || a->dim[0] != g->dim[0])) ||
        !dpi_shape_prepend(shape, attr->number, attr->shape.plate[0]))
        return "a scatter takes a value and a group number, or as many of both";
    return NULL;
}

static const char *scatter_misfit(const dpi_graph *g, const dpi_node *node)
{
    return misfit_of_groups(dpi_get(g, node->in[1]), node->attr.number);
}

static void scatter_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] =
        dpi_apply(g, &dpi_op_pick, dpi_full_adjoint(g, y, adjoint), dpi_get(g, y)->in[1], NULL);
}

/* The shape of rows from ... from + m - 1 of `whole`; one row has no first dimension.  False when
 * they are not all there. */
static bool rows_of(const dpi_shape *whole, size_t from, size_t m, dpi_shape *rows)
{
    if (whole->n_dims < 1 || m == 0 || from > whole->dim[0] || m > whole->dim[0] - from)
        return false;
    *rows = m == 1 ? dpi_shape_drop_first(*whole) : *whole;
    if (m > 1)
        rows->dim[0] = m;
    return true;
}

/* y = a[from : from + m] along the first dimension, which is dropped for m = 1; attr.number = from,
 * attr.rows = m. */
static const char *slice_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                               dpi_shape *shape)
{
    (void)b;
    return rows_of(a, attr->number, attr->rows, shape)
               ? NULL
               : "the slice must lie inside the first dimension";
}

static void slice_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu ... %zu", node->attr.number,
                   node->attr.number + node->attr.rows - 1);
}

static void slice_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.number = node.attr.number,
                     .inner = node.attr.rows,
                     .shape = dpi_get(g, node.in[0])->shape};
    result[0] = dpi_apply(g, &dpi_op_pad, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

/* y = a at rows from ... from + m - 1 of zeros of shape attr.shape; attr.number = from, attr.inner
 * = m. */
static const char *pad_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                             dpi_shape *shape)
{
    (void)b;
    dpi_shape rows;
    *shape = attr->shape;
    shape->per_record = a->per_record;
    if (!rows_of(shape, attr->number, attr->inner, &rows) || !dpi_shape_same(a, &rows))
        return "what is padded must fit in the padded shape";
    return NULL;
}

static void pad_detail(const dpi_node *node, char *text, size_t size)
{
    (void)snprintf(text, size, " %zu ... %zu", node->attr.number,
                   node->attr.number + node->attr.inner - 1);
}

static void pad_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.number = node.attr.number, .rows = node.attr.inner};
    result[0] = dpi_apply(g, &dpi_op_slice, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

bool dpi_one_row(const dpi_graph *g, dpi_id value, dpi_id *row, dpi_id *group)
{
    const dpi_node *node = dpi_get(g, value);
    bool is = node->op == &dpi_op_scatter && dpi_get(g, node->in[1])->shape.n_dims == 0;
    *row = is ? node->in[0] : DPI_NONE;
    *group = is ? node->in[1] : DPI_NONE;
    return is;
}

const dpi_op dpi_op_pick = {.id = DPI_OP_pick,
                            .name = "pick",
                            .formula = "a[g]",
                            .class = DPI_SELECTION,
                            .n_inputs = 2,
                            .shape = pick_shape,
                            .backward = pick_backward,
                            .flops = dpi_flops_none,
                            .by_groups = true,
                            .misfit = pick_misfit};
const dpi_op dpi_op_scatter = {.id = DPI_OP_scatter,
                               .name = "scatter",
                               .formula = "a in row g of zeros",
                               .class = DPI_SELECTION,
                               .given = DPI_ATTR_NUMBER | DPI_ATTR_SHAPE,
                               .n_inputs = 2,
                               .shape = scatter_shape,
                               .backward = scatter_backward,
                               .flops = dpi_flops_none,
                               .by_groups = true,
                               .misfit = scatter_misfit};
const dpi_op dpi_op_slice = {.id = DPI_OP_slice,
                             .name = "slice",
                             .formula = "a[from ... from + m - 1]",
                             .class = DPI_LAYOUT,
                             .given = DPI_ATTR_NUMBER | DPI_ATTR_ROWS,
                             .n_inputs = 1,
                             .shape = slice_shape,
                             .backward = slice_backward,
                             .flops = dpi_flops_none,
                             .detail = slice_detail};
const dpi_op dpi_op_pad = {.id = DPI_OP_pad,
                           .name = "pad",
                           .formula = "a in rows from ... from + m - 1 of zeros",
                           .class = DPI_LAYOUT,
                           .given = DPI_ATTR_NUMBER | DPI_ATTR_INNER | DPI_ATTR_SHAPE,
                           .n_inputs = 1,
                           .shape = pad_shape,
                           .backward = pad_backward,
                           .flops = dpi_flops_none,
                           .detail = pad_detail};
