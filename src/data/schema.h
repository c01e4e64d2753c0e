/* Checks of what a caller declares before a table is read. */
#ifndef DPI_DATA_SCHEMA_H
#define DPI_DATA_SCHEMA_H

#include <tacit/status.h>
#include <tacit/table.h>

/* The options with the defaults filled in; `options` may be NULL.  DP_EINVAL the separator. */
dp_status dpi_csv_options_fill(const dp_csv_options *options, dp_csv_options *filled,
                               dp_error *err);

/* DP_EINVAL a column is not allowed, with its name and the remedy; DP_ENAME a name stands twice. */
dp_status dpi_schema_check(size_t n_columns, const dp_column *columns, dp_error *err);

#endif
