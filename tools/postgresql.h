/* Tables from a PostgreSQL server. */
#ifndef TOOLS_POSTGRESQL_H
#define TOOLS_POSTGRESQL_H

#include <tacit/table.h>

/* Reads the columns of a schema from the answer to a query, one row at a time, in a transaction
 * that only reads.  NULL is missing, truth is t or f.  Of `url`, which may hold a password, nothing
 * is printed.  DP_EIO there is no connection, or it breaks; DP_EDATA the query is refused, or a
 * value; DP_ENAME; DP_EUNSUPPORTED this build has no libpq; those of dp_table_builder_add. */
dp_status postgresql_read(const char *url, const char *query, const dp_csv_options *options,
                          size_t n_columns, const dp_column *columns, dp_table **table,
                          dp_error *err);

#endif
