/* Sums over leading dimensions or records, and their inverses. */
#include <string.h>

#include "graph/op-numbers.h"
#include "graph/op-single.h"

/* y = a summed over its leading dimensions, so that y has the dimensions attr.shape; attr.inner is
 * the size of a. */
static const char *sum_to_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    dpi_shape joined;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    if (!dpi_shape_join(a, shape, &joined) || !dpi_shape_same(a, &joined))
        return "it cannot be summed to that shape";
    attr->inner = dpi_shape_size(a);
    return NULL;
}

enum { COLUMNS = 64 }; /* sums at a time */

/* The sums of `count` columns from a on, of rows of `width` numbers. */
DPI_INLINE void sum_columns(const dpi_numbers *t, size_t size, size_t width, size_t count,
                            const void *a, void *y)
{
    double sum[COLUMNS] = {0};
    for (size_t start = 0; start < size; start += width)
        for (size_t e = 0; e < count; e++)
            sum[e] += t->get(a, start + e);
    for (size_t e = 0; e < count; e++)
        t->put(y, e, sum[e]);
}

DPI_INLINE void sum_to(const dpi_any_call *c)
{
    size_t width = c->out_size, size = c->in_size[0], left;
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < width; e += COLUMNS) {
            left = width - e;
            const void *a = dpi_from(c, 0, r * size + e);
            void *y = dpi_to(c, r * width + e);
            if (width == 1)
                sum_columns(&c->type, size, 1, 1, a, y);
            else
                sum_columns(&c->type, size, width, left < COLUMNS ? left : COLUMNS, a, y);
        }
}
DPI_BOTH(sum_to, DPI_LOOPS)

static void sum_to_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)g;
    (void)y;
    result[0] = adjoint; /* broadcasting does the rest */
}

/* y = a repeated over the leading dimensions of attr.shape. */
static const char *expand_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                dpi_shape *shape)
{
    (void)b;
    dpi_shape joined;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    if (!dpi_shape_join(a, shape, &joined) || !dpi_shape_same(shape, &joined))
        return "it cannot be repeated to that shape";
    return NULL;
}

static void expand_forward(const dpi_call *c)
{
    size_t repeats = c->in_size[0] == 0 ? 0 : c->out_size / c->in_size[0];
    for (size_t r = 0; r < c->n; r++)
        for (size_t k = 0; k < repeats; k++)
            memcpy(c->out + r * c->out_size + k * c->in_size[0], c->in[0] + r * c->in_size[0],
                   c->in_size[0] * sizeof *c->out);
}

static void expand_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    result[0] =
        dpi_sum_to(g, dpi_full_adjoint(g, y, adjoint), dpi_get(g, dpi_get(g, y)->in[0])->shape);
}

/* y = sum over records of a_i; the executor adds chunk after chunk to the result, which it has set
 * to zero before the first. */
static const char *sum_records_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                     dpi_shape *shape)
{
    (void)b;
    (void)attr;
    if (!a->per_record)
        return "only a value of each record can be summed over records";
    *shape = *a;
    shape->per_record = false;
    return NULL;
}

static void sum_records_forward(const dpi_call *c)
{
    for (size_t r = 0; r < c->n; r++)
        for (size_t e = 0; e < c->out_size; e++)
            c->out[e] += c->in[0][r * c->in_size[0] + e];
}

static void sum_records_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    (void)y;
    result[0] = dpi_times(g, adjoint, dpi_apply(g, &dpi_op_ones, DPI_NONE, DPI_NONE, NULL));
}

static double sum_to_flops(const dpi_node *node)
{
    return (double)node->attr.inner;
}

const dpi_op dpi_op_sum_to = {.id = DPI_OP_sum_to,
                              .name = "sum",
                              .formula = "sum over leading dimensions of a",
                              .class = DPI_REDUCTION,
                              .given = DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = sum_to_shape,
                              .forward = sum_to_forward,
                              .single = sum_to_single,
                              .backward = sum_to_backward,
                              .flops = sum_to_flops};
const dpi_op dpi_op_expand = {.id = DPI_OP_expand,
                              .name = "expand",
                              .formula = "a repeated over leading dimensions",
                              .class = DPI_LAYOUT,
                              .given = DPI_ATTR_SHAPE,
                              .n_inputs = 1,
                              .shape = expand_shape,
                              .forward = expand_forward,
                              .single = dpi_single_expand,
                              .backward = expand_backward,
                              .flops = dpi_flops_none};
const dpi_op dpi_op_sum_records = {.id = DPI_OP_sum_records,
                                   .name = "sum_records",
                                   .formula = "sum_i a_i over records",
                                   .class = DPI_REDUCTION,
                                   .n_inputs = 1,
                                   .shape = sum_records_shape,
                                   .forward = sum_records_forward,
                                   .backward = sum_records_backward,
                                   .flops = dpi_flops_cheap};
