/* Names of units in a column, numbered. */
#ifndef DPI_DATA_NAMES_H
#define DPI_DATA_NAMES_H

#include "base/alloc.h"
#include "data/cell.h"

typedef struct dpi_names {
    char *text;   /* all names, each with its NUL */
    size_t used;  /* bytes of it */
    size_t *from; /* [rows] where a row's name begins */
} dpi_names;

/* Keeps the name in the field of a row, blanks around it left out; there must be room.  DP_EDATA
 * missing. */
dp_status dpi_names_keep(dpi_names *names, size_t row, const char *field,
                         const dpi_field_position *at, dp_error *err);

/* Adds the first n names of `more` as those of rows first, first + 1, ...; there must be room. */
void dpi_names_append(dpi_names *names, size_t first, size_t n, const dpi_names *more);

/* number[row] = 0, 1, ... in the order in which names are first met: equal for equal names, byte
 * for byte.  `source` is for messages.  DP_EDATA more rows than an int32_t numbers; DP_ENOMEM. */
dp_status dpi_names_number(const dpi_names *names, size_t rows, const char *source, int32_t *number,
                           dp_error *err);

/* The names of `rows` rows, [rows], in the arena; NULL when memory is out. */
const char *const *dpi_names_list(const dpi_names *names, size_t rows, dpi_arena *arena);

#endif
