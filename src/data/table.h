/* What a table is made of. */
#ifndef DPI_DATA_TABLE_H
#define DPI_DATA_TABLE_H

#include <tacit/table.h>

#include "base/alloc.h"
#include "base/store.h"

typedef struct dpi_table_column {
    const char *name;
    dp_column_kind kind;
    size_t n_levels;           /* 0 for REAL and UNIT */
    double low;                /* INTEGER: what level 0 stands for */
    const char *const *levels; /* [n_levels] LEVEL: what each stands for, else NULL */
    double *real;              /* [n_rows] REAL, else NULL */
    int32_t *level;            /* [n_rows] LEVEL, INTEGER and UNIT, else NULL */
    const char *const *text;   /* [n_rows] UNIT where texts are kept, else NULL; in the arena */
} dpi_table_column;

struct dp_table {
    dpi_arena arena;
    dpi_store store; /* of the columns; its folder is in the arena */
    dp_error error;
    size_t n_rows, n_columns;
    dpi_table_column *columns; /* [n_columns] in schema order */
};

/* Says of column j what the schema declares, all but its values; what is kept is copied into the
 * table's arena.  DP_ENOMEM. */
dp_status dpi_table_describe(dp_table *table, size_t j, const dp_column *declared,
                             dp_error *err) DP_MUST_CHECK;

#endif
