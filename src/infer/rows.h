/* Square matrices laid out for products with many vectors. */
#ifndef DPI_INFER_ROWS_H
#define DPI_INFER_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

typedef enum dpi_rows_shape {
    DPI_ROWS_WHOLE,
    DPI_ROWS_LOWER, /* row i has numbers 0 ... i */
    DPI_ROWS_UPPER  /* row i has numbers i ... n - 1 */
} dpi_rows_shape;

typedef struct dpi_rows {
    size_t n, stride; /* stride: n and what fills up the last vector */
    dpi_rows_shape shape;
    double *a;         /* [stride][stride], 0 where nothing was set */
    double *from, *to; /* [stride] scratch */
} dpi_rows;

/* A matrix of zeros; false when memory is out. */
bool dpi_rows_init(dpi_rows *r, size_t n, dpi_rows_shape shape, dpi_arena *arena);

/* Takes the numbers of its shape from a[n][n]; the others are not read. */
void dpi_rows_set(dpi_rows *r, const double *a);

/* The same from the transpose of a. */
void dpi_rows_set_across(dpi_rows *r, const double *a);

/* out[n] = sum of weight[i] times row i; may alias.  For a matrix A that is A' weight. */
void dpi_rows_combine(const dpi_rows *r, const double *weight /* [n] */, double *out);

#endif
