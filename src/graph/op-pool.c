/* Pooling: what a window sees of an image, channel by channel, becomes its sum or its largest
 * number.
 *
 *   pool_sum    y_ic = sum over pixels p of the window at stop i of a_pc       [h w][c] ->
 *               [stops][c]
 *   unpool_sum  y_pc = sum over stops i whose window has p of a_ic             [stops][c] -> [h
 *               w][c]
 *   pool_max    y_ic = b_pc at the p of window i where a_pc is largest         two images ->
 *               [stops][c]
 *   unpool_max  y_pc = sum of b_ic over stops i where a_pc is the largest      image, [stops][c] ->
 *               [h w][c]
 *
 * The pairs are each other's transposes, in a for sums and in b for maxima, so each is the other's
 * rule of reverse mode.  Max pooling is pool_max of an image with itself; of equal numbers the
 * first counts, and what is not a number counts as largest.  Which one is largest is found again
 * when it is asked for, from the image: that is cheaper to do than to store.  The pixel is constant
 * between jumps, so a has no gradient of its own.
 *
 * Padding takes part in no sum and no maximum: every window has a pixel in the image, because
 * padding is less than the window. */
#include "base/alloc.h"
#include "graph/op.h"

/* Checks the image and sets attr.inner to its channels and *stops to [stops][channels]. */
static const char *pooled(const dpi_shape *image, dpi_attr *attr, dpi_shape *stops)
{
    const dpi_window *w = &attr->window;
    const char *misfit = dpi_window_misfit(w);
    if (misfit != NULL)
        return misfit;
    attr->inner = dpi_window_channels(w, image);
    if (attr->inner == 0)
        return "an image is [pixels][channels], or a vector of as many numbers, with height times "
               "width pixels";
    *stops = (dpi_shape){.per_record = image->per_record, .n_dims = 2, .dim = {0, attr->inner}};
    return dpi_mul(dpi_window_stops(w, 0), dpi_window_stops(w, 1), &stops->dim[0])
               ? NULL
               : "the window has more stops than can be counted";
}

static const char *pool_sum_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    (void)b;
    *shape = *a;
    return pooled(a, attr, shape);
}

/* The image has the dimensions attr.shape. */
static const char *unpool_sum_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                    dpi_shape *shape)
{
    (void)b;
    dpi_shape stops;
    attr->shape.per_record = a->per_record;
    *shape = attr->shape;
    const char *misfit = pooled(shape, attr, &stops);
    if (misfit == NULL && !dpi_shape_same(a, &stops))
        misfit = "there must be a number for each stop of the window and channel";
    return misfit;
}

static const char *pool_max_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                  dpi_shape *shape)
{
    *shape = *a;
    if (!dpi_shape_same(a, b))
        return "the images must have the same dimensions";
    const char *misfit = pooled(a, attr, shape);
    shape->per_record = a->per_record || b->per_record;
    return misfit;
}

static const char *unpool_max_shape(const dpi_shape *a, const dpi_shape *b, dpi_attr *attr,
                                    dpi_shape *shape)
{
    dpi_shape stops;
    *shape = *a;
    shape->per_record = a->per_record || b->per_record;
    const char *misfit = pooled(a, attr, &stops);
    if (misfit == NULL && !dpi_shape_same(b, &stops))
        misfit = "there must be a number for each stop of the window and channel";
    return misfit;
}

static void pool_sum_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.window = node.attr.window, .shape = dpi_get(g, node.in[0])->shape};
    result[0] = dpi_apply(g, &dpi_op_unpool_sum, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static void unpool_sum_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    dpi_attr attr = {.window = dpi_get(g, y)->attr.window};
    result[0] = dpi_apply(g, &dpi_op_pool_sum, dpi_full_adjoint(g, y, adjoint), DPI_NONE, &attr);
}

static void pool_max_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.window = node.attr.window};
    result[1] =
        dpi_apply(g, &dpi_op_unpool_max, node.in[0], dpi_full_adjoint(g, y, adjoint), &attr);
}

static void unpool_max_backward(dpi_graph *g, dpi_id y, dpi_id adjoint, dpi_id result[2])
{
    const dpi_node node = *dpi_get(g, y);
    dpi_attr attr = {.window = node.attr.window};
    result[1] = dpi_apply(g, &dpi_op_pool_max, node.in[0], dpi_full_adjoint(g, y, adjoint), &attr);
}

static double pool_flops(const dpi_node *node)
{
    const dpi_window *w = &node->attr.window;
    return (double)dpi_window_stops(w, 0) * (double)dpi_window_stops(w, 1) * (double)w->size[0] *
           (double)w->size[1] * (double)node->attr.inner;
}

#define POOL(op_name, op_formula, op_class, fields, inputs)                                        \
    .id = DPI_OP_##op_name, .name = #op_name, .formula = op_formula, .class = op_class,            \
    .given = (fields), .n_inputs = (inputs), .shape = op_name##_shape,                             \
    .backward = op_name##_backward, .flops = pool_flops

const dpi_op dpi_op_pool_sum = {
    POOL(pool_sum, "sum of what a window sees of a", DPI_LINEAR, DPI_ATTR_WINDOW, 1),
    .call = "dp_avg_pool2d"};
const dpi_op dpi_op_unpool_sum = {POOL(unpool_sum, "a in every pixel its window saw", DPI_LINEAR,
                                       DPI_ATTR_WINDOW | DPI_ATTR_SHAPE, 1)};
const dpi_op dpi_op_pool_max = {
    POOL(pool_max, "b where a is largest in a window", DPI_SELECTION, DPI_ATTR_WINDOW, 2),
    .call = "dp_max_pool2d"};
const dpi_op dpi_op_unpool_max = {
    POOL(unpool_max, "b where a was largest in a window", DPI_SELECTION, DPI_ATTR_WINDOW, 2)};
