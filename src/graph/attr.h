/* What an operation needs besides its inputs, and the one description of it: a table of fields that
 * comparing, hashing and storing walk, so that none of them can leave a field out.
 *
 * A field is read and written as 64 bits an element, whatever its type: counts and whole numbers as
 * they are, real numbers by their bits (so -0 differs from 0, and what is not a number equals
 * itself), yes and no as 1 and 0.  Padding of the struct is never looked at. */
#ifndef DPI_GRAPH_ATTR_H
#define DPI_GRAPH_ATTR_H

#include <stdint.h>

#include "graph/shape.h"

/* A window that moves over an image in strides, with zeros around the image; rows come before
 * columns. */
typedef struct dpi_window {
    size_t image[2], size[2], stride[2], padding[2];
} dpi_window;

/* Each operation says in its row which members it is given.  A member that is added here is added
 * to the table of attr.c; t-attr fails until it is. */
typedef struct dpi_attr {
    dpi_shape shape;             /* of a source, or the wanted shape */
    double value;                /* of a constant number; slope of a rectifier below 0 */
    const double *array;         /* of a constant array; lives as long as the graph */
    size_t number;               /* range of an index, offset of a slice, order of a polygamma */
    size_t rows, inner, columns; /* of a product: [rows][inner] * [inner][columns] */
    bool transpose[2];
    dpi_window window;
} dpi_attr;

/* The members, as sets of them. */
enum {
    DPI_ATTR_NONE = 0,
    DPI_ATTR_SHAPE = 1 << 0,
    DPI_ATTR_VALUE = 1 << 1,
    DPI_ATTR_ARRAY = 1 << 2,
    DPI_ATTR_NUMBER = 1 << 3,
    DPI_ATTR_ROWS = 1 << 4,
    DPI_ATTR_INNER = 1 << 5,
    DPI_ATTR_COLUMNS = 1 << 6,
    DPI_ATTR_TRANSPOSE = 1 << 7,
    DPI_ATTR_WINDOW = 1 << 8,
};

typedef enum dpi_field_kind {
    DPI_FIELD_COUNT,  /* size_t */
    DPI_FIELD_NUMBER, /* int */
    DPI_FIELD_REAL,   /* double */
    DPI_FIELD_FLAG,   /* bool */
    DPI_FIELD_ARRAY   /* const double *: its elements are the numbers it points to */
} dpi_field_kind;

typedef struct dpi_field {
    const char *name;
    dpi_field_kind kind;
    size_t offset, count; /* in dpi_attr; elements */
    unsigned member;      /* that it is part of */
} dpi_field;

extern const dpi_field dpi_attr_fields[];
extern const size_t dpi_n_attr_fields;

/* Number of elements: the field's count, or what an array holds (attr->shape says how many). */
size_t dpi_field_size(const dpi_field *field, const dpi_attr *attr);

/* Element i < dpi_field_size as 64 bits. */
uint64_t dpi_field_get(const dpi_field *field, const dpi_attr *attr, size_t i);

/* Writes element i; false, and nothing is written, for bits that the type cannot hold, and for
 * arrays, whose numbers are const. */
bool dpi_field_set(const dpi_field *field, dpi_attr *attr, size_t i, uint64_t bits);

/* Every field has the same elements. */
bool dpi_attr_same(const dpi_attr *a, const dpi_attr *b);

/* A hash of all elements that goes on from `hash`: equal attributes have equal hashes. */
uint64_t dpi_attr_hash(const dpi_attr *attr, uint64_t hash);

/* One more number into a hash. */
uint64_t dpi_hash_mix(uint64_t hash, uint64_t number);

#endif
