/* Public data sets under public schemas, for formulas to be fitted to. */
#ifndef TESTS_FORMULA_TABLES_H
#define TESTS_FORMULA_TABLES_H

#include <tacit/table.h>

/* A data set: a file, where its folder is there, and its schema, which always is. */
typedef struct data_set {
    const char *name;
    const char *file;   /* within the folder of data sets, or of the sources */
    const char *header; /* instead of the file's own first line */
    bool headed;        /* the file has a first line that is no record */
    char separator;
    const dp_column *columns;
    size_t n_columns;
} data_set;

/* The data set of that name, which must be there. */
const data_set *find_data_set(const char *name);

/* Its table; NULL where the file cannot be opened. */
dp_table *read_data_set(const data_set *of);

#endif
