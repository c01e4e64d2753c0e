/* One field of a record as a number or a level of its column. */
#ifndef DPI_DATA_CELL_H
#define DPI_DATA_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/status.h>
#include <tacit/table.h>

#include "base/alloc.h"

/* A declared level and its number in the schema. */
typedef struct dpi_level {
    const char *name;
    int32_t number;
} dpi_level;

/* Where a field stands, for messages. */
typedef struct dpi_field_position {
    const char *source;
    size_t line;
    const char *column;
    bool record; /* `line` is the number of a record of a source that has no lines */
} dpi_field_position;

/* "line" or "record". */
const char *dpi_position_word(const dpi_field_position *at);

/* The levels of a LEVEL column in the order of strcmp, for dpi_cell_level; arena-owned.
 * DP_EINVAL a level is empty or declared twice; DP_ENOMEM. */
dp_status dpi_levels_sort(const dp_column *column, dpi_arena *arena, dpi_level **sorted,
                          dp_error *err);

/* Whether a field is a finite number by the grammar; *value is NaN where not.  The calling thread's
 * locale must be C. */
bool dpi_cell_number(const char *field, double *value);

/* Whether a field is missing: empty or NA, blanks aside. */
bool dpi_cell_missing(const char *field);

/* The number in a field of a REAL column, in [low, high].  The calling thread's locale must be C.
 * DP_EDATA missing or no finite number; DP_EDOMAIN outside.  *value is NaN on error. */
dp_status dpi_cell_real(const dp_column *column, const char *field, const dpi_field_position *at,
                        double *value, dp_error *err);

/* The same of a number that is there already; NaN is missing. */
dp_status dpi_cell_real_number(const dp_column *column, double number, const dpi_field_position *at,
                               double *value, dp_error *err);

/* The same for an INTEGER column; *level = number - low, -1 on error. */
dp_status dpi_cell_integer(const dp_column *column, const char *field, const dpi_field_position *at,
                           int32_t *level, dp_error *err);

dp_status dpi_cell_integer_number(const dp_column *column, double number,
                                  const dpi_field_position *at, int32_t *level, dp_error *err);

/* The number of a field among the n levels of dpi_levels_sort; *level is -1 on error.
 * DP_EDATA missing; DP_EDOMAIN not declared. */
dp_status dpi_cell_level(const dpi_level *sorted, size_t n, const char *field,
                         const dpi_field_position *at, int32_t *level, dp_error *err);

#endif
