/* Pooling: what a window sees of an image, channel by channel, becomes its sum or its largest
 * number.
 *
 *   pool_sum    y_ic = sum over places p of the window at stop i of a_pc       [h w][c] ->
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
 * when it is asked for, from the image: that is cheaper to do than to store.  The place is constant
 * between jumps, so a has no gradient of its own.
 *
 * Padding takes part in no sum and no maximum: every window has a place in the image, because
 * padding is less than the window. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "graph/op.h"

/* Numbers of either precision; sums of two floats in double round once, as in float. */
typedef struct numbers {
    size_t size;
    double (*get)(const void *a, size_t i);
    void (*add)(void *y, size_t i, double value);
} numbers;

DPI_INLINE double get_double(const void *a, size_t i)
{
    return ((const double *)a)[i];
}

DPI_INLINE void add_double(void *y, size_t i, double value)
{
    ((double *)y)[i] += value;
}

DPI_INLINE double get_float(const void *a, size_t i)
{
    return (double)((const float *)a)[i];
}

DPI_INLINE void add_float(void *y, size_t i, double value)
{
    ((float *)y)[i] = (float)((double)((float *)y)[i] + value);
}

/* The part of a window at a stop that lies in the image: rows and columns, first and behind the
 * last. */
typedef struct view {
    size_t row[2], column[2];
} view;

static void look(const dpi_window *w, int axis, size_t stop, size_t range[2])
{
    size_t from = stop * w->stride[axis], to = from + w->size[axis], padding = w->padding[axis];
    range[0] = from > padding ? from - padding : 0;
    range[1] = to - padding < w->image[axis] ? to - padding : w->image[axis];
}

static view view_of(const dpi_window *w, size_t stop)
{
    size_t columns = dpi_window_stops(w, 1);
    view v;
    look(w, 0, stop / columns, v.row);
    look(w, 1, stop % columns, v.column);
    return v;
}

/* What one record's call works on. */
typedef struct images {
    const dpi_window *window;
    size_t channels, stops;
    const void *a, *b;
    void *y;
} images;

/* Sums of an image's places, or the other way. */
DPI_INLINE void sums(const images *m, const numbers *t, bool back)
{
    size_t width = m->window->image[1];
    for (size_t i = 0; i < m->stops; i++) {
        view v = view_of(m->window, i);
        for (size_t row = v.row[0]; row < v.row[1]; row++)
            for (size_t column = v.column[0]; column < v.column[1]; column++)
                for (size_t c = 0; c < m->channels; c++) {
                    size_t place = (row * width + column) * m->channels + c,
                           stop = i * m->channels + c;
                    t->add(m->y, back ? place : stop, t->get(m->a, back ? stop : place));
                }
    }
}

/* Index of the largest number of channel c in view. */
DPI_INLINE size_t largest(const images *m, const numbers *t, const view *v, size_t c)
{
    size_t width = m->window->image[1];
    size_t at = (v->row[0] * width + v->column[0]) * m->channels + c;
    double top = t->get(m->a, at);
    for (size_t row = v->row[0]; row < v->row[1]; row++)
        for (size_t column = v->column[0]; column < v->column[1]; column++) {
            size_t place = (row * width + column) * m->channels + c;
            double value = t->get(m->a, place);
            if (value > top || (isnan(value) && !isnan(top))) {
                top = value;
                at = place;
            }
        }
    return at;
}

DPI_INLINE void maxima(const images *m, const numbers *t, bool back)
{
    for (size_t i = 0; i < m->stops; i++) {
        view v = view_of(m->window, i);
        for (size_t c = 0; c < m->channels; c++) {
            size_t place = largest(m, t, &v, c), stop = i * m->channels + c;
            t->add(m->y, back ? place : stop, t->get(m->b, back ? stop : place));
        }
    }
}

typedef enum kind { SUM, MAX } kind;

/* All records of a call, whose buffers hold numbers of type t. */
DPI_INLINE void pool_all(const dpi_attr *attr, size_t n, const void *const in[2],
                         const size_t step[2], void *out, size_t out_size, const numbers *t,
                         kind how, bool back)
{
    images m = {.window = &attr->window,
                .channels = attr->inner,
                .stops = dpi_window_stops(&attr->window, 0) * dpi_window_stops(&attr->window, 1)};
    memset(out, 0, n * out_size * t->size);
    for (size_t r = 0; r < n; r++) {
        m.a = (const char *)in[0] + r * step[0] * t->size;
        m.b = how == MAX ? (const char *)in[1] + r * step[1] * t->size : NULL;
        m.y = (char *)out + r * out_size * t->size;
        if (how == SUM)
            sums(&m, t, back);
        else
            maxima(&m, t, back);
    }
}

#define KERNELS(name, how, back)                                                                   \
    static void name##_forward(const dpi_call *c)                                                  \
    {                                                                                              \
        const numbers t = {sizeof(double), get_double, add_double};                                \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }                                                                                              \
    static void name##_single(const dpi_call_single *c)                                            \
    {                                                                                              \
        const numbers t = {sizeof(float), get_float, add_float};                                   \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }

KERNELS(pool_sum, SUM, false)
KERNELS(unpool_sum, SUM, true)
KERNELS(pool_max, MAX, false)
KERNELS(unpool_max, MAX, true)

/* Checks the image and sets attr.inner to its channels and *stops to [stops][channels]. */
static const char *pooled(const dpi_shape *image, dpi_attr *attr, dpi_shape *stops)
{
    const dpi_window *w = &attr->window;
    const char *misfit = dpi_window_misfit(w);
    if (misfit != NULL)
        return misfit;
    attr->inner = dpi_window_channels(w, image);
    if (attr->inner == 0)
        return "an image is [places][channels], or a vector of as many numbers, with height times "
               "width places";
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
    .forward = op_name##_forward, .single = op_name##_single, .backward = op_name##_backward,      \
    .flops = pool_flops

const dpi_op dpi_op_pool_sum = {
    POOL(pool_sum, "sum of what a window sees of a", DPI_LINEAR, DPI_ATTR_WINDOW, 1)};
const dpi_op dpi_op_unpool_sum = {POOL(unpool_sum, "a in every place its window saw", DPI_LINEAR,
                                       DPI_ATTR_WINDOW | DPI_ATTR_SHAPE, 1)};
const dpi_op dpi_op_pool_max = {
    POOL(pool_max, "b where a is largest in a window", DPI_SELECTION, DPI_ATTR_WINDOW, 2)};
const dpi_op dpi_op_unpool_max = {
    POOL(unpool_max, "b where a was largest in a window", DPI_SELECTION, DPI_ATTR_WINDOW, 2)};
