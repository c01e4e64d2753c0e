/* Arithmetic of columns: what it may come to by their public ranges, and what it is of records. */
#ifndef DPI_FORMULA_ARITHMETIC_H
#define DPI_FORMULA_ARITHMETIC_H

#include <tacit/table.h>

#include "formula/parse.h"

/* The public columns of a table. */
typedef struct dpi_code_book {
    const dp_column *column; /* [n] */
    size_t n;
} dpi_code_book;

/* The column of that name, or NULL. */
const dp_column *dpi_code_book_find(const dpi_code_book *book, const char *name);

/* The same, which must be there.  DP_ENAME with the place and the names that there are. */
dp_status dpi_code_book_need(const dpi_script *script, const dpi_code_book *book,
                             const dpi_tree *name, const dp_column **column);

/* The levels of a LEVEL or INTEGER column. */
size_t dpi_column_levels(const dp_column *column);

/* Appends the name of one of them: "Y", or the number of an INTEGER column. */
void dpi_level_text(const dp_column *column, size_t level, dpi_bytes *to);

/* What each record has in a LEVEL, INTEGER or UNIT column of a table, whose levels must mean what
 * they mean in the formula's schema: [dp_table_rows], borrowed from the table.  NULL with DP_ENAME
 * where the table has no such column, DP_EDATA where it was declared otherwise. */
const int32_t *dpi_column_read(const dp_column *column, dp_table *table, dp_error *err);

/* Numbers that something may come to. */
typedef struct dpi_span {
    double low, high;
} dpi_span;

dpi_span dpi_range_product(dpi_span a, dpi_span b);

/* The range of a tree that dpi_arithmetic_check has passed, by interval arithmetic; it contains all
 * that the tree comes to, and may be wider where a column stands twice.  DP_ENAME, DP_EINVAL a
 * column without numbers, DP_EDOMAIN where it is not finite for some records that the schema
 * allows; with the place. */
dp_status dpi_arithmetic_range(const dpi_script *script, const dpi_code_book *book,
                               const dpi_tree *tree, dpi_span *range);

/* Some records of a table. */
typedef struct dpi_range_of_records {
    size_t first, n;
} dpi_range_of_records;

/* Values of the tree for records of a table: out[range.n].  The table's own error, DP_ENOMEM. */
dp_status dpi_arithmetic_values(const dpi_tree *tree, const dpi_code_book *book, dp_table *table,
                                dpi_range_of_records range, double *out, dp_error *err);

#endif
