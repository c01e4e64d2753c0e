/* Columns of a data set, for the executor. */
#ifndef DPI_EXEC_DATASET_H
#define DPI_EXEC_DATASET_H

#include <tacit/dataset.h>

#include "base/alloc.h"

/* One column block: real values [n][size], or whole numbers [n]. */
typedef struct dpi_column {
    const char *name;
    size_t size;
    const double *real;
    const int32_t *index;
} dpi_column;

struct dp_dataset {
    dpi_arena arena;
    dp_error err;
    size_t n;
    dpi_column *columns;
    size_t n_columns, capacity;
    const int32_t *unit; /* [n] borrowed: rows with equal values are one unit; NULL: each is one */
};

/* The column of that name, or NULL. */
const dpi_column *dpi_dataset_find(const dp_dataset *data, const char *name);

/* Copies m records into out[m][size]: record index[i], or record first + i when index is NULL. */
void dpi_column_gather(const dpi_column *column, size_t m, const size_t *index, size_t first,
                       double *out);

#endif
