/* Records of one block as rows of typed columns. */
#ifndef DPI_DATA_ROWS_H
#define DPI_DATA_ROWS_H

#include "data/blocks.h"
#include "data/cell.h"
#include "data/csv.h"
#include "data/names.h"

/* What is wanted of each record; the same for all blocks. */
typedef struct dpi_csv_rows_plan {
    const char *source; /* for messages */
    const dp_column *schema;
    size_t n_columns, n_header;
    const size_t *where;      /* [n_columns] position in the header line */
    dpi_level *const *sorted; /* [n_columns] of LEVEL columns */
    char separator;
    size_t max_line;
    bool drop_missing;
} dpi_csv_rows_plan;

typedef struct dpi_csv_rows_column {
    double *real;    /* [capacity] REAL, else NULL */
    int32_t *level;  /* [capacity] LEVEL and INTEGER */
    dpi_names names; /* UNIT */
} dpi_csv_rows_column;

/* A block and what was read of it. */
typedef struct dpi_csv_rows {
    dpi_csv_block block;
    size_t begin, begin_line; /* where its first record begins, which a header line may precede */
    size_t n, capacity, room /* for names */;
    dpi_csv_rows_column *column; /* [n_columns] */
    dpi_csv csv;                 /* with scratch and fields of its own */
    size_t scratch;
    dp_status status; /* of the record after the last one of the n */
    bool in_value;    /* it failed for one of its values and not for its form */
    dp_error err;
} dpi_csv_rows;

/* Reads the block's records.  The calling thread's locale must be C. */
void dpi_csv_rows_read(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan);

void dpi_csv_rows_free(dpi_csv_rows *rows, const dpi_csv_rows_plan *plan);

#endif
