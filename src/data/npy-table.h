/* Tables from NPY files of records, wherever their bytes come from. */
#ifndef DPI_DATA_NPY_TABLE_H
#define DPI_DATA_NPY_TABLE_H

#include <tacit/table.h>

#include "data/source.h"

/* dp_table_read_npy of what is left in the source. */
dp_status dpi_npy_table(dpi_source *source, const dp_csv_options *options, size_t n_columns,
                        const dp_column *columns, dp_table **table, dp_error *err) DP_MUST_CHECK;

#endif
