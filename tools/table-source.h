/* Where a table comes from: a file of one of several formats, or a database. */
#ifndef TOOLS_TABLE_SOURCE_H
#define TOOLS_TABLE_SOURCE_H

#include <stdbool.h>

#include <tacit/table.h>

/* Whether this names a server and no file.  Then it may hold a password, and is never printed. */
bool table_on_server(const char *source);

/* Whether a query says which records of it. */
bool table_is_database(const char *source);

/* Whether it is a file in which a ledger sees bytes and no records. */
bool table_is_opaque(const char *path);

/* What is shown of a table's source. */
const char *table_shown(const char *source);

/* Reads the columns of a schema from a CSV file, which gzip may have packed, an NPY file of
 * records, or by `query` from an SQLite database or a PostgreSQL server; what a file is tells its
 * first bytes.  Errors as those of dp_table_read_csv; DP_EUNSUPPORTED a format that is not read,
 * with the way out; DP_EINVAL a query where there is no database, or none where there is one. */
dp_status table_read(const char *source, const char *query, const dp_csv_options *options,
                     size_t n_columns, const dp_column *columns, dp_table **table, dp_error *err);

#endif
