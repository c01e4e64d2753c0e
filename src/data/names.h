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

/* Room for the names of `rows` rows, `bytes` in all with their NULs; in the arena.  DP_ENOMEM. */
dp_status dpi_names_init(dpi_names *names, dpi_arena *arena, size_t rows, size_t bytes,
                         dp_error *err);

/* Keeps the name in the field of a row, blanks around it left out.  DP_EDATA missing. */
dp_status dpi_names_keep(dpi_names *names, size_t row, const char *field,
                         const dpi_field_position *at, dp_error *err);

/* number[row] = 0, 1, ... in the order in which names are first met: equal for equal names, byte
 * for byte.  `source` is for messages.  DP_EDATA more rows than an int32_t numbers; DP_ENOMEM. */
dp_status dpi_names_number(const dpi_names *names, size_t rows, const char *source, int32_t *number,
                           dp_error *err);

#endif
