/* Kernels of pooling; the formulas are in op-pool.c. */
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

/* What one record's call works on. */
typedef struct images {
    const dpi_window *window;
    size_t channels, stops[2];
    const void *a, *b;
    void *y;
} images;

/* Sums of an image's pixels, or the other way, at stop i. */
DPI_INLINE void sums(const images *m, const numbers *t, const view *v, size_t i, bool back)
{
    size_t width = m->window->image[1];
    for (size_t row = v->row[0]; row < v->row[1]; row++)
        for (size_t column = v->column[0]; column < v->column[1]; column++)
            for (size_t c = 0; c < m->channels; c++) {
                size_t pixel = (row * width + column) * m->channels + c, stop = i * m->channels + c;
                t->add(m->y, back ? pixel : stop, t->get(m->a, back ? stop : pixel));
            }
}

/* Channels that are compared side by side, without branches. */
enum { BESIDE = 16 };

/* Of `count` channels the largest numbers in view so far, and where they are: the pixel, or what b
 * has there. */
typedef struct largest {
    double top[BESIDE], chosen[BESIDE];
    size_t pixel[BESIDE];
} largest;

DPI_INLINE void compare(const images *m, const numbers *t, size_t pixel, size_t first, size_t count,
                        bool back, largest *l)
{
    size_t at = pixel * m->channels + first;
    for (size_t c = 0; c < count; c++) {
        double value = t->get(m->a, at + c), top = l->top[c];
        bool larger = (value > top) | ((value != value) & (top == top));
        l->top[c] = larger ? value : top;
        if (back)
            l->pixel[c] = larger ? pixel : l->pixel[c];
        else
            l->chosen[c] = larger ? t->get(m->b, at + c) : l->chosen[c];
    }
}

/* Back, every pixel in view gets b or 0; y is never -0, which is why 0 changes nothing. */
DPI_INLINE void give_back(const images *m, const numbers *t, size_t pixel, size_t first,
                          size_t count, const largest *l)
{
    size_t at = pixel * m->channels + first;
    for (size_t c = 0; c < count; c++)
        t->add(m->y, at + c, l->pixel[c] == pixel ? l->chosen[c] : 0);
}

/* Channels first ... first + count - 1 at stop i. */
DPI_INLINE void maxima_of(const images *m, const numbers *t, const view *v, size_t i, size_t first,
                          size_t count, bool back)
{
    size_t width = m->window->image[1], start = v->row[0] * width + v->column[0];
    size_t stop = i * m->channels + first, at = start * m->channels + first;
    largest l;
    for (size_t c = 0; c < count; c++) {
        l.top[c] = t->get(m->a, at + c);
        l.chosen[c] = back ? t->get(m->b, stop + c) : t->get(m->b, at + c);
        l.pixel[c] = start;
    }
    for (size_t row = v->row[0]; row < v->row[1]; row++)
        for (size_t column = v->column[0]; column < v->column[1]; column++)
            compare(m, t, row * width + column, first, count, back, &l);
    if (!back)
        for (size_t c = 0; c < count; c++)
            t->add(m->y, stop + c, l.chosen[c]);
    for (size_t row = v->row[0]; back && row < v->row[1]; row++)
        for (size_t column = v->column[0]; column < v->column[1]; column++)
            give_back(m, t, row * width + column, first, count, &l);
}

DPI_INLINE void maxima(const images *m, const numbers *t, const view *v, size_t i, bool back)
{
    size_t c = 0;
    for (; c + BESIDE <= m->channels; c += BESIDE)
        maxima_of(m, t, v, i, c, BESIDE, back);
    if (c < m->channels)
        maxima_of(m, t, v, i, c, m->channels - c, back);
}

typedef enum kind { SUM, MAX } kind;

/* All stops of one record. */
DPI_INLINE void pool(const images *m, const numbers *t, kind how, bool back)
{
    for (size_t row = 0; row < m->stops[0]; row++)
        for (size_t column = 0; column < m->stops[1]; column++) {
            view v;
            look(m->window, 0, row, v.row);
            look(m->window, 1, column, v.column);
            if (how == SUM)
                sums(m, t, &v, row * m->stops[1] + column, back);
            else
                maxima(m, t, &v, row * m->stops[1] + column, back);
        }
}

/* All records of a call, whose buffers hold numbers of type t. */
DPI_INLINE void pool_all(const dpi_attr *attr, size_t n, const void *const in[2],
                         const size_t step[2], void *out, size_t out_size, const numbers *t,
                         kind how, bool back)
{
    images m = {.window = &attr->window,
                .channels = attr->inner,
                .stops = {dpi_window_stops(&attr->window, 0), dpi_window_stops(&attr->window, 1)}};
    memset(out, 0, n * out_size * t->size);
    for (size_t r = 0; r < n; r++) {
        m.a = (const char *)in[0] + r * step[0] * t->size;
        m.b = how == MAX ? (const char *)in[1] + r * step[1] * t->size : NULL;
        m.y = (char *)out + r * out_size * t->size;
        pool(&m, t, how, back);
    }
}

#define KERNELS(name, how, back)                                                                   \
    static DPI_LOOPS void double_##name(const dpi_call *c)                                         \
    {                                                                                              \
        const numbers t = {sizeof(double), get_double, add_double};                                \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }                                                                                              \
    void dpi_double_##name(const dpi_call *c)                                                      \
    {                                                                                              \
        double_##name(c);                                                                          \
    }                                                                                              \
    static DPI_LOOPS void single_##name(const dpi_call_single *c)                                  \
    {                                                                                              \
        const numbers t = {sizeof(float), get_float, add_float};                                   \
        const void *in[2] = {c->in[0], c->in[1]};                                                  \
        pool_all(c->attr, c->n, in, c->in_step, c->out, c->out_size, &t, how, back);               \
    }                                                                                              \
    void dpi_single_##name(const dpi_call_single *c)                                               \
    {                                                                                              \
        single_##name(c);                                                                          \
    }

KERNELS(pool_sum, SUM, false)
KERNELS(unpool_sum, SUM, true)
KERNELS(pool_max, MAX, false)
KERNELS(unpool_max, MAX, true)
