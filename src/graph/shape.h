/* Shapes: the dimensions of one value, which plates they belong to, and whether there is one value
 * for all records (global) or one for each (per-record).
 *
 * The record axis is not among the dimensions: it is the leading axis of every per-record buffer.
 * Broadcasting has one rule: the smaller value's dimensions must be the last dimensions of the
 * larger one (a scalar fits everything); a per-record value meets a global one freely. */
#ifndef DPI_GRAPH_SHAPE_H
#define DPI_GRAPH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum { DPI_MAX_DIMS = 4, DPI_SHAPE_TEXT = 96 };

typedef struct dpi_shape {
    bool per_record;
    int n_dims;
    size_t dim[DPI_MAX_DIMS];
    int plate[DPI_MAX_DIMS]; /* number of the plate a dimension runs over; 0 for none */
} dpi_shape;

/* Shape with no dimensions. */
dpi_shape dpi_scalar(bool per_record);

/* Shape [n], or a scalar for n = 1. */
dpi_shape dpi_vector(size_t n, bool per_record);

/* Puts a dimension of a plate in front; false when there are too many dimensions. */
bool dpi_shape_prepend(dpi_shape *shape, size_t n, int plate);

/* Takes the first dimension away. */
dpi_shape dpi_shape_drop_first(dpi_shape shape);

/* Number of numbers in one value; SIZE_MAX when it overflows. */
size_t dpi_shape_size(const dpi_shape *shape);

/* Same dimensions (the plates and the record axis are not compared). */
bool dpi_shape_same(const dpi_shape *a, const dpi_shape *b);

/* The shape of an elementwise result; false when the rule above forbids it, also when both sides
 * run over different plates. */
bool dpi_shape_join(const dpi_shape *a, const dpi_shape *b, dpi_shape *joined);

/* "a number", "[60]", "[3][5], one per record"; returns buffer. */
const char *dpi_shape_text(const dpi_shape *shape, char buffer[DPI_SHAPE_TEXT]);

#endif
