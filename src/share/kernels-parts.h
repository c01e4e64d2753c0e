/* Products of matrices modulo 2^64 and 2^32, one row of a table for each instruction set, and the
 * two ways in which a layer is made of them.
 *
 * z[i][o] += sum over k of x[i][k] w[o][k].  Vectors go either along k (dots): numbers are taken as
 * they lie, and lanes are summed at the end.  Or along o (panels): w is turned over first, numbers
 * of x are taken one by one from wherever they lie, and nothing is summed across lanes. */
#ifndef DPI_SHARE_KERNELS_PARTS_H
#define DPI_SHARE_KERNELS_PARTS_H

#include "share/kernels.h"

enum {
    DPI_TILE_BYTES = 64,       /* of the widest vector */
    DPI_TILE_DEPTH = 6400,     /* bytes of a row that are summed at a time */
    DPI_TILE_BLOCK = 64,       /* rows that stay in a cache of the second level, at this depth */
    DPI_TILE_BAND = 128 * 1024 /* bytes of an image, with its padding, that are copied at a time */
};

/* Steps are in elements. */
typedef struct dpi_dots {
    size_t rows, outputs, terms;
    const void *x, *w; /* [rows][terms], [outputs][terms] */
    void *z;           /* [rows][outputs] */
    size_t x_step, w_step, z_step;
} dpi_dots;

/* x[i][k] is x[base[i] + place[k]]. */
typedef struct dpi_panel {
    size_t rows, outputs, terms; /* outputs: at most those of a panel */
    const void *x;
    const size_t *base, *place; /* [rows], [terms] */
    const void *w;              /* as `pack` left it */
    void *z;                    /* [rows][outputs] */
    size_t z_step;
} dpi_panel;

typedef struct dpi_tile_kernel {
    const char *name;
    bool (*works)(void); /* on this machine */
    size_t bytes;        /* of a vector */
    /* By ring, DPI_RING_64 and DPI_RING_32. */
    size_t width[2]; /* vectors of a panel; 0: there are no panels */
    void (*dots[2])(const dpi_dots *p);
    void (*panel[2])(const dpi_panel *p);
} dpi_tile_kernel;

/* Fastest first; the last works everywhere. */
extern const dpi_tile_kernel dpi_tile_kernels[];
extern const size_t dpi_n_tile_kernels;

void dpi_dots_avx512_64(const dpi_dots *p);
void dpi_dots_avx512_32(const dpi_dots *p);
void dpi_dots_avx2_64(const dpi_dots *p);
void dpi_dots_avx2_32(const dpi_dots *p);
void dpi_dots_portable_64(const dpi_dots *p);
void dpi_dots_portable_32(const dpi_dots *p);
void dpi_panel_avx512_64(const dpi_panel *p);
void dpi_panel_avx512_32(const dpi_panel *p);
void dpi_panel_avx2_64(const dpi_panel *p);
void dpi_panel_avx2_32(const dpi_panel *p);

/* What a layer is computed with. */
typedef struct dpi_layer {
    const dpi_tile_kernel *kernel;
    dpi_ring ring;
    const dpi_linear *l;
    size_t n_pairs;
    const dpi_linear_pair *pair;
    size_t first, last;
    void *z;
    unsigned char *room; /* aligned to DPI_TILE_BYTES */
} dpi_layer;

/* Vectors along the terms. */
size_t dpi_layer_dots_room(const dpi_linear *l);
void dpi_layer_dots(const dpi_layer *y);

/* Vectors along the outputs; the room serves every kernel. */
size_t dpi_layer_panels_room(dpi_ring ring, const dpi_linear *l, size_t n_pairs);
void dpi_layer_panels(const dpi_layer *y);

/* dpi_linear_run with a kernel and a way of its own, for tests. */
typedef enum dpi_layer_way { DPI_LAYER_BEST, DPI_LAYER_DOTS, DPI_LAYER_PANELS } dpi_layer_way;
void dpi_layer_run(const dpi_layer *y, dpi_layer_way way);

/* ---- planes ---- */

enum { DPI_PLANES_SIDE = 64, DPI_PLANES_SQUARES = 8, DPI_PLANES_BLOCK = 512 };

/* line[k][s]: bit k of numbers 64 s ... 64 s + 63, the first one lowest. */
typedef struct dpi_planes_kernel {
    const char *name;
    bool (*works)(void); /* on this machine */
    void (*split)(const uint64_t x[DPI_PLANES_BLOCK],
                  uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES]);
    void (*join)(uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES] /* is spent */,
                 uint64_t x[DPI_PLANES_BLOCK]);
} dpi_planes_kernel;

/* Fastest first; the last works everywhere. */
extern const dpi_planes_kernel dpi_planes_kernels[];
extern const size_t dpi_n_planes_kernels;

void dpi_planes_gfni_split(const uint64_t x[DPI_PLANES_BLOCK],
                           uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES]);
void dpi_planes_gfni_join(uint64_t line[DPI_PLANES_SIDE][DPI_PLANES_SQUARES],
                          uint64_t x[DPI_PLANES_BLOCK]);

/* dpi_planes_of and dpi_planes_to with a kernel of its own. */
void dpi_planes_split(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, const void *x,
                      size_t n_planes, const int *plane, uint64_t *planes);
void dpi_planes_join(const dpi_planes_kernel *kernel, dpi_ring ring, size_t n, size_t n_planes,
                     const uint64_t *planes, void *x);

#endif
