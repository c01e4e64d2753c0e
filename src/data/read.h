/* Reading a CSV text with blocks of any size. */
#ifndef DPI_DATA_READ_H
#define DPI_DATA_READ_H

#include <tacit/table.h>

#include "data/source.h"

/* dp_table_read_csv of what is left in the source, with options that are filled in and a schema
 * that is checked; `block` bytes, at least 1, are a block if records are not longer. */
dp_status dpi_table_read(dpi_source *source, size_t block, const dp_csv_options *options,
                         size_t n_columns, const dp_column *columns, dp_table **table,
                         dp_error *err);

#endif
