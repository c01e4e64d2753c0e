/* Kernels of operations that move numbers; op-layout.c says what goes where.
 *
 * Runs of kw c numbers of a window are neighbours in the image and in the patches and are moved
 * together. */
#include <string.h>

#include "base/compiler.h"
#include "graph/kernel.h"

/* What is done with `count` numbers that stand together in the image and in the patches. */
typedef void move(const void *from, void *to, size_t count);

/* Values of `size` bytes go from images to patches, or the other way. */
typedef struct route {
    const dpi_attr *attr;
    size_t size, n, image_size, patches_size; /* n images; numbers in one, and in its patches */
    bool folds;
    const char *from;
    char *to;
} route;

/* Calls f for each run of the window whose first number is the `patch`-th, at row y and column x of
 * the image that begins at number `image`; rows and columns count the padding. */
DPI_INLINE void move_window(const route *r, size_t y, size_t x, size_t image, size_t patch, move *f)
{
    const dpi_window *w = &r->attr->window;
    size_t c = r->attr->inner, left = x < w->padding[1] ? w->padding[1] - x : 0;
    size_t end = w->image[1] + w->padding[1] - x; /* first column of the window beyond the image */
    end = end < w->size[1] ? end : w->size[1];
    for (size_t k = 0; k < w->size[0]; k++) {
        if (y + k < w->padding[0] || y + k >= w->image[0] + w->padding[0] || left >= end)
            continue;
        size_t row = y + k - w->padding[0], column = x + left - w->padding[1];
        size_t in_image = image + (row * w->image[1] + column) * c;
        size_t in_patch = patch + (k * w->size[1] + left) * c;
        f(r->from + (r->folds ? in_patch : in_image) * r->size,
          r->to + (r->folds ? in_image : in_patch) * r->size, (end - left) * c);
    }
}

/* All windows of all images. */
DPI_INLINE void move_all(const route *r, move *f)
{
    const dpi_window *w = &r->attr->window;
    size_t rows = dpi_window_stops(w, 0), columns = dpi_window_stops(w, 1);
    size_t step = r->patches_size / (rows * columns);
    memset(r->to, 0, r->n * (r->folds ? r->image_size : r->patches_size) * r->size);
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                move_window(r, i * w->stride[0], j * w->stride[1], k * r->image_size,
                            k * r->patches_size + (i * columns + j) * step, f);
}

DPI_INLINE void copy_double(const void *from, void *to, size_t count)
{
    memcpy(to, from, count * sizeof(double));
}

DPI_INLINE void copy_float(const void *from, void *to, size_t count)
{
    memcpy(to, from, count * sizeof(float));
}

DPI_INLINE void add_double(const void *from, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((double *)to)[i] += ((const double *)from)[i];
}

DPI_INLINE void add_float(const void *from, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((float *)to)[i] += ((const float *)from)[i];
}

void dpi_double_patches(const dpi_call *c)
{
    move_all(&(route){c->attr, sizeof(double), c->n, c->in_size[0], c->out_size, false,
                      (const char *)c->in[0], (char *)c->out},
             copy_double);
}

void dpi_single_patches(const dpi_call_single *c)
{
    move_all(&(route){c->attr, sizeof(float), c->n, c->in_size[0], c->out_size, false,
                      (const char *)c->in[0], (char *)c->out},
             copy_float);
}

void dpi_double_fold(const dpi_call *c)
{
    move_all(&(route){c->attr, sizeof(double), c->n, c->out_size, c->in_size[0], true,
                      (const char *)c->in[0], (char *)c->out},
             add_double);
}

void dpi_single_fold(const dpi_call_single *c)
{
    move_all(&(route){c->attr, sizeof(float), c->n, c->out_size, c->in_size[0], true,
                      (const char *)c->in[0], (char *)c->out},
             add_float);
}

void dpi_double_reshape(const dpi_call *c)
{
    memcpy(c->out, c->in[0], c->n * c->out_size * sizeof *c->out);
}

void dpi_single_reshape(const dpi_call_single *c)
{
    memcpy(c->out, c->in[0], c->n * c->out_size * sizeof *c->out);
}
