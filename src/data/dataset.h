/* Columns of a data set, for the executor. */
#ifndef DPI_DATA_DATASET_H
#define DPI_DATA_DATASET_H

#include <tacit/dataset.h>

#include "base/alloc.h"
#include "base/store.h"

/* One column block: real values [n][size], whole numbers [n][size], or bytes [n][size] out of
 * `most`: the numbers bytes / most, or in each use 1 with that probability and else 0. */
typedef struct dpi_column {
    const char *name;
    size_t size;
    const double *real;
    const int32_t *index;
    const unsigned char *bytes;
    unsigned most;
    bool drawn;
} dpi_column;

/* What tells a data set from all others: a block without content, whose address no other data set
 * can have while somebody holds it, also when its own is freed.  Holding is thread-safe. */
typedef struct dpi_identity dpi_identity;

/* Holds it once more, or once less; NULL is allowed. */
dpi_identity *dpi_identity_hold(dpi_identity *identity);
void dpi_identity_release(dpi_identity *identity);

struct dp_dataset {
    dpi_arena arena;
    dpi_store store; /* of columns that the data set owns; its folder is in the arena */
    dpi_identity *identity;
    dp_error err;
    size_t n;
    dpi_column *columns;
    size_t n_columns, capacity;
    const int32_t *unit; /* [n] borrowed: rows with equal values are one unit; NULL: each is one */
};

/* The column of that name, or NULL. */
const dpi_column *dpi_dataset_find(const dp_dataset *data, const char *name);

/* Begins to bring records index[0 ... m - 1] into the cache, where each is more than a line of it
 * and no more than a page: they lie anywhere, and who gathers them soon would wait for one line
 * after the other.  The processor follows longer ones by itself. */
void dpi_column_fetch(const dpi_column *column, size_t m, const size_t *index);

/* Copies m records into out[m][size]: record index[i], or record first + i when index is NULL. */
void dpi_column_gather(const dpi_column *column, size_t m, const size_t *index, size_t first,
                       double *out);

/* Below what the bytes are that decide a drawn column: a multiple of `most`, at most 256. */
static inline unsigned dpi_column_chances(const dpi_column *column)
{
    return column->most * (256 / column->most);
}

/* The same for a drawn column, whose numbers are decided by chance[m][size], uniform below
 * dpi_column_chances. */
void dpi_column_draw(const dpi_column *column, size_t m, const size_t *index, size_t first,
                     const unsigned char *chance, double *out);

/* The least and the greatest value that number e of a record may have: the same unless it is
 * drawn. */
void dpi_column_range(const dpi_column *column, size_t record, size_t e, double range[2]);

#endif
