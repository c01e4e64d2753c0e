/* Layers by vectors of outputs.
 *
 * Weights are turned over once a call: a panel has a few vectors of outputs, one term after the
 * other.  Of images, whole lines are copied with their padding, and tables say where a row begins
 * and where, from there, its terms lie: what a window sees is not copied.  A dense layer is an
 * image of one column, a record a line, seen by a window of one pixel.  The terms of several pairs
 * follow each other where they are few. */
#include <string.h>

#include <tacit/model.h>

#include "base/compiler.h"
#include "share/kernels-parts.h"

/* A layer as a window over images.  Counts are in elements. */
typedef struct scene {
    dp_window w;
    size_t stops, across, channels; /* stops of an image, and of a line of it */
    size_t size;                    /* bytes of an element */
    size_t line;                    /* of an image, with its padding */
    size_t pairs, depth;            /* pairs at a time; terms at a time, of all of these */
    size_t lines, images;           /* lines of stops at a time; images, where these are all */
    size_t band;                    /* what the stops of an image see, of these */
} scene;

/* Offsets of what the room holds. */
typedef struct furniture {
    size_t band, base, place, end; /* after the panels */
} furniture;

/* Terms first ... last - 1 of some pairs. */
typedef struct part {
    const dpi_linear_pair *pair;
    size_t pairs, first, last;
} part;

/* Rows first ... last - 1, which see `images` images from the line of their first stop on. */
typedef struct chunk {
    size_t first, last, image, images, line;
} chunk;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t up(size_t n)
{
    return (n + DPI_TILE_BYTES - 1) / DPI_TILE_BYTES * DPI_TILE_BYTES;
}

/* As much of images at a time as a band has room for, and one line of stops at least. */
static void find_band(scene *s)
{
    const size_t all = s->stops / s->across, fit = DPI_TILE_BAND / (s->line * s->size * s->pairs);
    s->lines = fit <= s->w.size[0] ? 1 : (fit - s->w.size[0]) / s->w.stride[0] + 1;
    s->lines = smaller(s->lines, all);
    const size_t seen = (s->lines - 1) * s->w.stride[0] + s->w.size[0];
    s->band = seen * s->line;
    s->images = s->lines < all ? 1 : larger(1, fit / seen);
}

static scene scene_of(dpi_ring ring, const dpi_linear *l, size_t n_pairs)
{
    scene s = {.w = {{l->records, 1}, {1, 1}, {1, 1}, {0, 0}}, .stops = l->records};
    if (l->window != NULL) {
        s.w = *l->window;
        s.stops = l->stops;
    }
    s.size = dpi_ring_bytes(ring);
    s.channels = l->terms / (s.w.size[0] * s.w.size[1]);
    s.across = (s.w.image[1] + 2 * s.w.padding[1] - s.w.size[1]) / s.w.stride[1] + 1;
    s.line = (s.w.image[1] + 2 * s.w.padding[1]) * s.channels;
    s.pairs = larger(1, smaller(n_pairs, DPI_TILE_DEPTH / s.size / l->terms));
    s.depth = smaller(DPI_TILE_DEPTH / s.size, l->terms * s.pairs);
    find_band(&s);
    return s;
}

static furniture furnish(const scene *s, const dpi_linear *l)
{
    furniture f = {.band = s->depth * up(l->outputs * s->size)};
    f.base = f.band + up(s->pairs * s->images * s->band * s->size);
    f.place = f.base + up(s->images * s->lines * s->across * sizeof(size_t));
    f.end = f.place + up(s->depth * sizeof(size_t));
    return f;
}

size_t dpi_layer_panels_room(dpi_ring ring, const dpi_linear *l, size_t n_pairs)
{
    scene s = scene_of(ring, l, n_pairs);
    return furnish(&s, l).end;
}

/* ---- weights ---- */

/* to[k][o] = w[o][k], of `count` terms. */
DPI_INLINE void turn_some(size_t size, size_t outputs, size_t count, const unsigned char *w,
                          size_t w_step, size_t columns, unsigned char *to)
{
    for (size_t o = 0; o < outputs; o++, w += w_step * size, to += size)
        for (size_t k = 0; k < count; k++)
            memcpy(to + k * columns * size, w + k * size, size);
}

/* Eight terms at a time: lines of both stay in cache. */
DPI_INLINE void turn(size_t size, size_t outputs, size_t terms, const unsigned char *w,
                     size_t w_step, size_t columns, unsigned char *to)
{
    enum { LINE = 8 };
    size_t k = 0;
    for (; k + LINE <= terms; k += LINE)
        turn_some(size, outputs, LINE, w + k * size, w_step, columns, to + k * columns * size);
    turn_some(size, outputs, terms - k, w + k * size, w_step, columns, to + k * columns * size);
}

/* Outputs of a panel, and what its lines have: what lies behind them goes into sums that nobody
 * takes. */
typedef struct extent {
    size_t outputs, columns;
} extent;

static extent extent_of(const dpi_layer *y, size_t o)
{
    const size_t lanes = y->kernel->bytes / dpi_ring_bytes(y->ring);
    extent v = {.outputs = smaller(y->kernel->width[y->ring] * lanes, y->l->outputs - o)};
    v.columns = (v.outputs + lanes - 1) / lanes * lanes;
    return v;
}

static void make_panels(const dpi_layer *y, const part *k)
{
    const size_t size = dpi_ring_bytes(y->ring), terms = k->last - k->first;
    unsigned char *to = y->room;
    extent v;
    for (size_t o = 0; o < y->l->outputs; o += v.outputs) {
        v = extent_of(y, o);
        for (size_t p = 0; p < k->pairs; p++, to += terms * v.columns * size) {
            const unsigned char *w = k->pair[p].w;
            w += (o * y->l->terms + k->first) * size;
            if (y->ring == DPI_RING_64)
                turn(sizeof(uint64_t), v.outputs, terms, w, y->l->terms, v.columns, to);
            else
                turn(sizeof(uint32_t), v.outputs, terms, w, y->l->terms, v.columns, to);
        }
    }
}

/* ---- images ---- */

/* Lines from `line` on that are counted from the padding, as many as a band has. */
static void copy_band(const scene *s, const unsigned char *image, size_t line, unsigned char *to)
{
    const size_t left = s->w.padding[1] * s->channels * s->size;
    const size_t width = s->w.image[1] * s->channels * s->size, all = s->line * s->size;
    for (size_t i = 0; i < s->band / s->line; i++, to += all) {
        const size_t at = line + i - s->w.padding[0];
        if (line + i < s->w.padding[0] || at >= s->w.image[0]) {
            memset(to, 0, all);
            continue;
        }
        memset(to, 0, left);
        memcpy(to + left, image + at * width, width);
        memset(to + left + width, 0, left);
    }
}

static void copy_bands(const scene *s, const dpi_linear *l, const part *k, const chunk *c,
                       unsigned char *to)
{
    for (size_t p = 0; p < k->pairs; p++)
        for (size_t i = 0; i < c->images; i++) {
            const unsigned char *x = k->pair[p].x;
            x += (c->image + i) * l->inputs * s->size;
            copy_band(s, x, c->line * s->w.stride[0], to + (p * s->images + i) * s->band * s->size);
        }
}

/* Divides once: rows come in order. */
static void find_bases(const scene *s, const chunk *c, size_t *base)
{
    const size_t step = s->w.stride[1] * s->channels, down = s->w.stride[0] * s->line;
    size_t stop = c->first % s->stops, column = stop % s->across;
    size_t image = 0, line = (stop / s->across - c->line) * down;
    for (size_t row = c->first; row < c->last; row++) {
        *base++ = image + line + column * step;
        if (++column == s->across) {
            column = 0;
            line += down;
        }
        if (++stop == s->stops) {
            stop = line = 0;
            image += s->band;
        }
    }
}

static void find_places(const scene *s, const part *k, size_t *place)
{
    const size_t run = s->w.size[1] * s->channels;
    for (size_t p = 0; p < k->pairs; p++)
        for (size_t i = k->first; i < k->last; i++)
            *place++ = p * s->images * s->band + i / run * s->line + i % run;
}

/* The rows from `first` on that one band serves. */
static chunk chunk_of(const scene *s, size_t first, size_t last)
{
    chunk c = {.first = first, .image = first / s->stops};
    const size_t stop = first % s->stops;
    if (s->lines * s->across < s->stops) {
        c.line = stop / s->across;
        c.last =
            smaller(c.image * s->stops + (c.line + s->lines) * s->across, (c.image + 1) * s->stops);
    } else {
        c.last = (c.image + s->images) * s->stops;
    }
    c.last = smaller(c.last, last);
    c.images = (c.last - 1) / s->stops - c.image + 1;
    return c;
}

/* ---- both ---- */

static void add_chunk(const dpi_layer *y, const scene *s, const part *k, const chunk *c,
                      const furniture *f)
{
    dpi_panel p = {.rows = c->last - c->first, .terms = k->pairs * (k->last - k->first)};
    const size_t size = dpi_ring_bytes(y->ring);
    const unsigned char *w = y->room;
    p.x = y->room + f->band;
    p.base = (const size_t *)(const void *)(y->room + f->base);
    p.place = (const size_t *)(const void *)(y->room + f->place);
    p.z_step = y->l->outputs;
    copy_bands(s, y->l, k, c, y->room + f->band);
    find_bases(s, c, (size_t *)(void *)(y->room + f->base));
    for (size_t o = 0; o < y->l->outputs; o += p.outputs) {
        const extent v = extent_of(y, o);
        p.outputs = v.outputs;
        p.w = w;
        p.z = (unsigned char *)y->z + ((c->first - y->first) * y->l->outputs + o) * size;
        y->kernel->panel[y->ring](&p);
        w += p.terms * v.columns * size;
    }
}

void dpi_layer_panels(const dpi_layer *y)
{
    const scene s = scene_of(y->ring, y->l, y->n_pairs);
    const furniture f = furnish(&s, y->l);
    for (size_t n = 0; n < y->n_pairs; n += s.pairs) {
        part k = {.pair = y->pair + n, .pairs = smaller(s.pairs, y->n_pairs - n)};
        for (; k.first < y->l->terms; k.first = k.last) {
            k.last = smaller(y->l->terms, k.first + s.depth / s.pairs);
            make_panels(y, &k);
            find_places(&s, &k, (size_t *)(void *)(y->room + f.place));
            for (size_t row = y->first; row < y->last;) {
                const chunk c = chunk_of(&s, row, y->last);
                add_chunk(y, &s, &k, &c, &f);
                row = c.last;
            }
        }
    }
}
