/* Layers by sums along the terms.  A dense layer is taken as it lies; of a window, what it sees at
 * each stop is copied into a row first, a line of pixels at a time. */
#include <string.h>

#include <tacit/model.h>

#include "share/kernels-parts.h"

/* Terms first ... last - 1, of `size` bytes each. */
typedef struct slice {
    size_t first, last, size;
} slice;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Elements from ... to - 1 of a line of the image, counted from its padding on; zeros there, and
 * where there is no line. */
static void take_line(const unsigned char *line, size_t left, size_t width, size_t from, size_t to,
                      size_t size, unsigned char *out)
{
    size_t begin = larger(from, left), end = smaller(to, left + width);
    if (line == NULL || begin >= end) {
        memset(out, 0, (to - from) * size);
        return;
    }
    memset(out, 0, (begin - from) * size);
    memcpy(out + (begin - from) * size, line + (begin - left) * size, (end - begin) * size);
    memset(out + (end - from) * size, 0, (to - end) * size);
}

/* A slice of what the window sees at a stop of a record x. */
static void take_stop(const dpi_linear *l, const unsigned char *x, size_t stop, const slice *k,
                      unsigned char *out)
{
    const dp_window *w = l->window;
    size_t channels = l->terms / (w->size[0] * w->size[1]), run = w->size[1] * channels;
    size_t across = (w->image[1] + 2 * w->padding[1] - w->size[1]) / w->stride[1] + 1;
    size_t row = stop / across * w->stride[0], column = stop % across * w->stride[1] * channels;
    size_t width = w->image[1] * channels;
    for (size_t i = k->first / run; i * run < k->last; i++) {
        size_t from = larger(i * run, k->first) - i * run;
        size_t to = smaller((i + 1) * run, k->last) - i * run, line = row + i - w->padding[0];
        const unsigned char *pixels = x + line * width * k->size;
        bool outside = row + i < w->padding[0] || line >= w->image[0];
        take_line(outside ? NULL : pixels, w->padding[1] * channels, width, column + from,
                  column + to, k->size, out);
        out += (to - from) * k->size;
    }
}

size_t dpi_layer_dots_room(const dpi_linear *l)
{
    return l->window != NULL ? (size_t)DPI_TILE_BLOCK * DPI_TILE_DEPTH : 0;
}

/* Rows i ... i + p->rows - 1, of one pair. */
static void add_block(const dpi_layer *y, const dpi_linear_pair *pair, const slice *k, size_t i,
                      dpi_dots *p)
{
    const unsigned char *x = pair->x;
    p->x = x + (i * y->l->inputs + k->first) * k->size;
    p->x_step = y->l->inputs;
    if (y->l->window != NULL) {
        p->x = y->room;
        p->x_step = p->terms;
        for (size_t r = 0; r < p->rows; r++) {
            size_t record = (i + r) / y->l->stops, stop = (i + r) % y->l->stops;
            take_stop(y->l, x + record * y->l->inputs * k->size, stop, k,
                      y->room + r * p->terms * k->size);
        }
    }
    p->w = (const unsigned char *)pair->w + k->first * k->size;
    p->z = (unsigned char *)y->z + (i - y->first) * y->l->outputs * k->size;
    y->kernel->dots[y->ring](p);
}

void dpi_layer_dots(const dpi_layer *y)
{
    slice k = {.size = dpi_ring_bytes(y->ring)};
    const size_t depth = DPI_TILE_DEPTH / k.size;
    for (; k.first < y->l->terms; k.first = k.last) {
        k.last = smaller(k.first + depth, y->l->terms);
        dpi_dots p = {.outputs = y->l->outputs, .terms = k.last - k.first};
        p.w_step = y->l->terms;
        p.z_step = y->l->outputs;
        for (size_t i = y->first; i < y->last; i += DPI_TILE_BLOCK) {
            p.rows = smaller(y->last - i, DPI_TILE_BLOCK);
            for (size_t n = 0; n < y->n_pairs; n++)
                add_block(y, &y->pair[n], &k, i, &p);
        }
    }
}
