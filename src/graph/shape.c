/* Shapes and the one broadcasting rule. */
#include "graph/shape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

dpi_shape dpi_scalar(bool per_record)
{
    return (dpi_shape){.per_record = per_record};
}

dpi_shape dpi_vector(size_t n, bool per_record)
{
    dpi_shape shape = dpi_scalar(per_record);
    if (n != 1)
        shape.dim[shape.n_dims++] = n;
    return shape;
}

bool dpi_shape_prepend(dpi_shape *shape, size_t n, int plate)
{
    if (shape->n_dims == DPI_MAX_DIMS)
        return false;
    for (int i = shape->n_dims; i > 0; i--) {
        shape->dim[i] = shape->dim[i - 1];
        shape->plate[i] = shape->plate[i - 1];
    }
    shape->n_dims++;
    shape->dim[0] = n;
    shape->plate[0] = plate;
    return true;
}

dpi_shape dpi_shape_drop_first(dpi_shape shape)
{
    for (int i = 1; i < shape.n_dims; i++) {
        shape.dim[i - 1] = shape.dim[i];
        shape.plate[i - 1] = shape.plate[i];
    }
    if (shape.n_dims > 0) {
        shape.n_dims--;
        shape.dim[shape.n_dims] = 0;
        shape.plate[shape.n_dims] = 0;
    }
    return shape;
}

size_t dpi_shape_size(const dpi_shape *shape)
{
    size_t size = 1;
    for (int i = 0; i < shape->n_dims; i++)
        if (!dpi_mul(size, shape->dim[i], &size))
            return SIZE_MAX;
    return size;
}

bool dpi_shape_same(const dpi_shape *a, const dpi_shape *b)
{
    return a->n_dims == b->n_dims &&
           memcmp(a->dim, b->dim, (size_t)a->n_dims * sizeof a->dim[0]) == 0;
}

bool dpi_shape_join(const dpi_shape *a, const dpi_shape *b, dpi_shape *joined)
{
    const dpi_shape *big = a->n_dims >= b->n_dims ? a : b, *small = big == a ? b : a;
    dpi_shape result = *big;
    result.per_record = a->per_record || b->per_record;
    int shift = big->n_dims - small->n_dims;
    for (int i = 0; i < small->n_dims; i++) {
        int *plate = &result.plate[i + shift];
        if (small->dim[i] != big->dim[i + shift])
            return false;
        if (*plate != 0 && small->plate[i] != 0 && *plate != small->plate[i])
            return false;
        if (*plate == 0)
            *plate = small->plate[i];
    }
    *joined = result;
    return true;
}

const char *dpi_shape_text(const dpi_shape *shape, char buffer[DPI_SHAPE_TEXT])
{
    size_t used = 0;
    if (shape->n_dims == 0)
        used = (size_t)snprintf(buffer, DPI_SHAPE_TEXT, "a number");
    for (int i = 0; i < shape->n_dims && used < DPI_SHAPE_TEXT; i++)
        used += (size_t)snprintf(buffer + used, DPI_SHAPE_TEXT - used, "[%zu]", shape->dim[i]);
    if (shape->per_record && used < DPI_SHAPE_TEXT)
        (void)snprintf(buffer + used, DPI_SHAPE_TEXT - used, ", one per record");
    return buffer;
}
