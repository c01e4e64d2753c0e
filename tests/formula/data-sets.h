/* Public data sets under public schemas, for formulas to be fitted to. */
#ifndef TESTS_FORMULA_DATA_SETS_H
#define TESTS_FORMULA_DATA_SETS_H

#include <tacit/table.h>

/* A data set: a file, where its folder is there, and its schema, which always is. */
typedef struct data_set {
    const char *name;
    const char *file;   /* within the folder of data sets; NULL: tests/formula/simulated.csv */
    const char *header; /* instead of the file's own first line */
    bool headed;        /* the file has a first line that is no record */
    char separator;
    const dp_column *columns;
    size_t n_columns;
} data_set;

/* The data set of that name; NULL where there is none. */
const data_set *data_set_named(const char *name);

/* Its table, from the folder of data sets or that of the sources.  DP_EIO, without a message, where
 * the file cannot be opened; DP_ENOMEM; the errors of dp_table_parse_csv. */
dp_status data_set_read(const data_set *of, const char *folder, const char *source,
                        dp_table **table, dp_error *err) DP_MUST_CHECK;

#endif
