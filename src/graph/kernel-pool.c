/* Kernels of pooling; the formulas are in op-pool.c. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "graph/kernel.h"

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

/* Sums of an image's pixels, or the other way. */
DPI_INLINE void sums(const images *m, const numbers *t, bool back)
{
    size_t width = m->window->image[1];
    for (size_t i = 0; i < m->stops; i++) {
        view v = view_of(m->window, i);
        for (size_t row = v.row[0]; row < v.row[1]; row++)
            for (size_t column = v.column[0]; column < v.column[1]; column++)
                for (size_t c = 0; c < m->channels; c++) {
                    size_t pixel = (row * width + column) * m->channels + c,
                           stop = i * m->channels + c;
                    t->add(m->y, back ? pixel : stop, t->get(m->a, back ? stop : pixel));
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
            size_t pixel = (row * width + column) * m->channels + c;
            double value = t->get(m->a, pixel);
            if (value > top || (isnan(value) && !isnan(top))) {
                top = value;
                at = pixel;
            }
        }
    return at;
}

DPI_INLINE void maxima(const images *m, const numbers *t, bool back)
{
    for (size_t i = 0; i < m->stops; i++) {
        view v = view_of(m->window, i);
        for (size_t c = 0; c < m->channels; c++) {
            size_t pixel = largest(m, t, &v, c), stop = i * m->channels + c;
            t->add(m->y, back ? pixel : stop, t->get(m->b, back ? stop : pixel));
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
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        const numbers t = {sizeof(double), get_double, add_double};                                \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        const numbers t = {sizeof(float), get_float, add_float};                                   \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }

KERNELS(pool_sum, SUM, false)
KERNELS(unpool_sum, SUM, true)
KERNELS(pool_max, MAX, false)
KERNELS(unpool_max, MAX, true)
