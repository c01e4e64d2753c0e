/* Selection along the first dimension: by group numbers, or by position.
 *
 * One number picks a row; d numbers, such as the words of a sentence, pick d rows. */
#include <string.h>

#include "graph/op-numbers.h"
#include "num/copy.h"

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

/* The row that pick k of record r names. */
DPI_INLINE size_t row_of(const dpi_any_call *c, size_t r, size_t k)
{
    return (size_t)c->type.get(c->in[1], r * c->in_step[1] + k);
}

DPI_INLINE void pick(const dpi_any_call *c)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->out_size / picks;
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++)
            dpi_copy_row(size * c->type.size,
                         dpi_from(c, 0, r * c->in_step[0] + row_of(c, r, k) * size),
                         dpi_to(c, (r * picks + k) * size));
}
DPI_BOTH(pick, )

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

DPI_INLINE void scatter(const dpi_any_call *c)
{
    const dpi_numbers *t = &c->type;
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    memset(c->out, 0, c->n * c->out_size * t->size);
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++) {
            const void *from = dpi_from(c, 0, r * c->in_step[0] + k * size);
            void *to = dpi_to(c, r * c->out_size + row_of(c, r, k) * size);
            for (size_t e = 0; e < size; e++)
                t->put(to, e, t->get(to, e) + t->get(from, e));
        }
}
DPI_BOTH(scatter, )

static void scatter_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] =
        dpi_apply(g, &dpi_op_pick, dpi_full_adjoint(g, y, adjoint), dpi_get(g, y)->in[1], NULL);
}

/* The square of the row that pick k names, when no pick before it names it too. */
static double row_norm2(size_t picks, size_t size, const double *a, const double *g, size_t k)
{
    double sum = 0;
    for (size_t l = 0; l < k; l++)
        if (g[l] == g[k])
            return 0;
    for (size_t e = 0; e < size; e++) {
        double x = 0;
        for (size_t l = k; l < picks; l++)
            x += g[l] == g[k] ? a[l * size + e] : 0;
        sum += x * x;
    }
    return sum;
}

/* The same of records that pick one row each. */
static void one_row_norm2(const dpi_call *c, double *norm2)
{
    for (size_t r = 0; r < c->n; r++) {
        const double *a = c->in[0] + r * c->in_step[0];
        double sum = 0;
        for (size_t e = 0; e < c->in_size[0]; e++)
            sum += a[e] * a[e];
        norm2[r] += sum;
    }
}

/* Rows that are picked twice are added up first. */
static void scatter_norm2(const dpi_call *c, double *norm2)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    if (picks == 1) {
        one_row_norm2(c, norm2);
        return;
    }
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks; k++)
            norm2[r] += row_norm2(picks, size, c->in[0] + r * c->in_step[0],
                                  c->in[1] + r * c->in_step[1], k);
}

static void scatter_weighted_sum(const dpi_call *c, const double *weight, double *total)
{
    size_t picks = c->in_size[1], size = picks == 0 ? 0 : c->in_size[0] / picks;
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < picks && weight[r] != 0; k++) {
            const double *from = c->in[0] + r * c->in_step[0] + k * size;
            double *group = total + (size_t)c->in[1][r * c->in_step[1] + k] * size;
            double share = weight[r];
            for (size_t e = 0; e < size; e++)
                group[e] += share * from[e];
        }
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

DPI_INLINE void slice(const dpi_any_call *c)
{
    size_t offset = c->attr->number * (c->out_size / c->attr->rows);
    for (size_t r = 0; r < c->n; r++)
        memcpy(dpi_to(c, r * c->out_size), dpi_from(c, 0, r * c->in_size[0] + offset),
               c->out_size * c->type.size);
}
DPI_BOTH(slice, )

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

DPI_INLINE void pad(const dpi_any_call *c)
{
    size_t offset = c->attr->number * (c->in_size[0] / c->attr->inner);
    memset(c->out, 0, c->n * c->out_size * c->type.size);
    for (size_t r = 0; r < c->n; r++)
        memcpy(dpi_to(c, r * c->out_size + offset), dpi_from(c, 0, r * c->in_size[0]),
               c->in_size[0] * c->type.size);
}
DPI_BOTH(pad, )

static void pad_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.number = node.attr.number, .rows = node.attr.inner};
    result[0] = dpi_apply(g, &dpi_op_slice, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

const dpi_op dpi_op_pick = {.id = DPI_OP_pick,
                            .name = "pick",
                            .formula = "a[g]",
                            .class = DPI_SELECTION,
                            .n_inputs = 2,
                            .shape = pick_shape,
                            .forward = pick_forward,
                            .single = pick_single,
                            .backward = pick_backward,
                            .flops = dpi_flops_none};
const dpi_op dpi_op_scatter = {.id = DPI_OP_scatter,
                               .name = "scatter",
                               .formula = "a in row g of zeros",
                               .class = DPI_SELECTION,
                               .given = DPI_ATTR_NUMBER | DPI_ATTR_SHAPE,
                               .n_inputs = 2,
                               .shape = scatter_shape,
                               .forward = scatter_forward,
                               .single = scatter_single,
                               .backward = scatter_backward,
                               .flops = dpi_flops_none,
                               .norm2 = scatter_norm2,
                               .weighted_sum = scatter_weighted_sum};
const dpi_op dpi_op_slice = {.id = DPI_OP_slice,
                             .name = "slice",
                             .formula = "a[from ... from + m - 1]",
                             .class = DPI_LAYOUT,
                             .given = DPI_ATTR_NUMBER | DPI_ATTR_ROWS,
                             .n_inputs = 1,
                             .shape = slice_shape,
                             .forward = slice_forward,
                             .single = slice_single,
                             .backward = slice_backward,
                             .flops = dpi_flops_none};
const dpi_op dpi_op_pad = {.id = DPI_OP_pad,
                           .name = "pad",
                           .formula = "a in rows from ... from + m - 1 of zeros",
                           .class = DPI_LAYOUT,
                           .given = DPI_ATTR_NUMBER | DPI_ATTR_INNER | DPI_ATTR_SHAPE,
                           .n_inputs = 1,
                           .shape = pad_shape,
                           .forward = pad_forward,
                           .single = pad_single,
                           .backward = pad_backward,
                           .flops = dpi_flops_none};
