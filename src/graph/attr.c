/* The table of fields and the walks over it. */
#include "graph/attr.h"

#include <limits.h>
#include <string.h>

#define FIELD(name, kind, member)                                                                  \
    {                                                                                              \
#name, kind, offsetof(dpi_attr, name), 1, member                                           \
    }
#define FIELDS(name, kind, member)                                                                 \
    {                                                                                              \
#name, kind, offsetof(dpi_attr, name),                                                     \
            sizeof(((const dpi_attr *)0)->name) / sizeof(((const dpi_attr *)0)->name[0]), member   \
    }

const dpi_field dpi_attr_fields[] = {
    FIELD(shape.per_record, DPI_FIELD_FLAG, DPI_ATTR_SHAPE),
    FIELD(shape.n_dims, DPI_FIELD_NUMBER, DPI_ATTR_SHAPE),
    FIELDS(shape.dim, DPI_FIELD_COUNT, DPI_ATTR_SHAPE),
    FIELDS(shape.plate, DPI_FIELD_NUMBER, DPI_ATTR_SHAPE),
    FIELD(value, DPI_FIELD_REAL, DPI_ATTR_VALUE),
    FIELD(array, DPI_FIELD_ARRAY, DPI_ATTR_ARRAY),
    FIELD(number, DPI_FIELD_COUNT, DPI_ATTR_NUMBER),
    FIELD(rows, DPI_FIELD_COUNT, DPI_ATTR_ROWS),
    FIELD(inner, DPI_FIELD_COUNT, DPI_ATTR_INNER),
    FIELD(columns, DPI_FIELD_COUNT, DPI_ATTR_COLUMNS),
    FIELDS(transpose, DPI_FIELD_FLAG, DPI_ATTR_TRANSPOSE),
    FIELDS(window.image, DPI_FIELD_COUNT, DPI_ATTR_WINDOW),
    FIELDS(window.size, DPI_FIELD_COUNT, DPI_ATTR_WINDOW),
    FIELDS(window.stride, DPI_FIELD_COUNT, DPI_ATTR_WINDOW),
    FIELDS(window.padding, DPI_FIELD_COUNT, DPI_ATTR_WINDOW),
};
const size_t dpi_n_attr_fields = sizeof dpi_attr_fields / sizeof dpi_attr_fields[0];

size_t dpi_field_size(const dpi_field *field, const dpi_attr *attr)
{
    if (field->kind != DPI_FIELD_ARRAY)
        return field->count;
    return attr->array == NULL ? 0 : dpi_shape_size(&attr->shape);
}

uint64_t dpi_field_get(const dpi_field *field, const dpi_attr *attr, size_t i)
{
    const char *at = (const char *)attr + field->offset;
    uint64_t bits = 0;
    switch (field->kind) {
    case DPI_FIELD_COUNT:
        return ((const size_t *)(const void *)at)[i];
    case DPI_FIELD_NUMBER:
        return (uint64_t)(int64_t)((const int *)(const void *)at)[i];
    case DPI_FIELD_FLAG:
        return ((const bool *)(const void *)at)[i];
    case DPI_FIELD_REAL:
        memcpy(&bits, at + i * sizeof bits, sizeof bits);
        break;
    case DPI_FIELD_ARRAY:
        memcpy(&bits, &attr->array[i], sizeof bits);
        break;
    }
    return bits;
}

bool dpi_field_set(const dpi_field *field, dpi_attr *attr, size_t i, uint64_t bits)
{
    char *at = (char *)attr + field->offset;
    const int64_t number = (int64_t)bits;
    switch (field->kind) {
    case DPI_FIELD_COUNT:
        if (bits <= SIZE_MAX)
            ((size_t *)(void *)at)[i] = (size_t)bits;
        return bits <= SIZE_MAX;
    case DPI_FIELD_NUMBER:
        if (number >= INT_MIN && number <= INT_MAX)
            ((int *)(void *)at)[i] = (int)number;
        return number >= INT_MIN && number <= INT_MAX;
    case DPI_FIELD_FLAG:
        if (bits <= 1)
            ((bool *)(void *)at)[i] = bits != 0;
        return bits <= 1;
    case DPI_FIELD_REAL:
        memcpy(at + i * sizeof bits, &bits, sizeof bits);
        return true;
    case DPI_FIELD_ARRAY:
        break;
    }
    return false;
}

bool dpi_attr_same(const dpi_attr *a, const dpi_attr *b)
{
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        size_t n = dpi_field_size(field, a);
        if (n != dpi_field_size(field, b))
            return false;
        for (size_t i = 0; i < n; i++)
            if (dpi_field_get(field, a, i) != dpi_field_get(field, b, i))
                return false;
    }
    return true;
}

uint64_t dpi_hash_mix(uint64_t hash, uint64_t number)
{
    return (hash ^ number ^ (hash >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t dpi_attr_hash(const dpi_attr *attr, uint64_t hash)
{
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        for (size_t i = 0, n = dpi_field_size(field, attr); i < n; i++)
            hash = dpi_hash_mix(hash, dpi_field_get(field, attr, i));
    }
    return hash;
}
