/* Which reader reads a table.  A file is known by its first bytes and not by its name, which may
 * say anything. */
#define _POSIX_C_SOURCE 200809L
#include "tools/table-source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/options.h"
#include "tools/postgresql.h"

enum { FIRST = 16 };

typedef enum format { CSV, NPY, SQLITE, COLUMNAR, ARCHIVE } format;

static const struct {
    const char *bytes;
    size_t n;
    format format;
} beginnings[] = {
    {"\x93NUMPY", 6, NPY},
    {"SQLite format 3", 16, SQLITE},
    {"PAR1", 4, COLUMNAR},
    {"ARROW1", 6, COLUMNAR},
    {"PK\x03\x04", 4, ARCHIVE},
    {"\x89HDF", 4, ARCHIVE},
    {"\xd0\xcf\x11\xe0", 4, ARCHIVE},
};

/* Words and values as libpq takes them, too ("host=db dbname=clinic password=..."). */
static bool is_connection(const char *source)
{
    static const char *const words[] = {"host=", "dbname=", "password=", "service="};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(source, words[i]) != NULL)
            return access(source, F_OK) != 0;
    return false;
}

bool table_on_server(const char *source)
{
    return source != NULL && (strncmp(source, "postgresql:", 11) == 0 ||
                              strncmp(source, "postgres:", 9) == 0 || is_connection(source));
}

const char *table_shown(const char *source)
{
    return table_on_server(source) ? "a PostgreSQL server" : source;
}

TOOLS_PRINTF(3, 4)
static dp_status refuse(dp_error *err, dp_status status, const char *form, ...)
{
    va_list list;
    va_start(list, form);
    err->status = status;
    (void)vsnprintf(err->text, sizeof err->text, form, list);
    va_end(list);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Of what is no file that can be looked at twice, as a pipe, nothing is known: it is CSV. */
static format format_of(const char *path)
{
    unsigned char first[FIRST];
    struct stat about;
    if (ends_with(path, ".npy.gz"))
        return NPY;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return CSV;
    FILE *file = fopen(path, "rb");
    const size_t n = file != NULL ? fread(first, 1, sizeof first, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (n >= beginnings[i].n && memcmp(first, beginnings[i].bytes, beginnings[i].n) == 0)
            return beginnings[i].format;
    return CSV;
}

bool table_is_database(const char *source)
{
    return source != NULL && (table_on_server(source) || format_of(source) == SQLITE);
}

bool table_is_opaque(const char *path)
{
    return path != NULL && format_of(path) != CSV;
}

/* The end of a path, which tells more than its beginning. */
static const char *path_end(const char *path)
{
    const size_t n = strlen(path);
    return n > 60 ? path + n - 60 : path;
}

dp_status table_read(const char *source, const char *query, const dp_csv_options *options,
                     size_t n_columns, const dp_column *columns, dp_table **table, dp_error *err)
{
    static const char *const which =
        "--query is missing: it says which records of the database, as in --query 'SELECT * FROM "
        "visits'; each row of the answer must be of one person alone";
    *table = NULL;
    if (table_on_server(source))
        return query == NULL
                   ? refuse(err, DP_EINVAL, "%s", which)
                   : postgresql_read(source, query, options, n_columns, columns, table, err);
    const format f = format_of(source);
    if (f == COLUMNAR)
        return refuse(err, DP_EUNSUPPORTED,
                      "%s is a Parquet or Arrow file, which is not read; write it as CSV, as in: "
                      "python3 -c \"import pandas; "
                      "pandas.read_parquet('IN').to_csv('OUT.csv', index=False)\"",
                      path_end(source));
    if (f == ARCHIVE)
        return refuse(err, DP_EUNSUPPORTED,
                      "%s is a spreadsheet, an archive or HDF5, which are not read; save the table "
                      "as CSV",
                      path_end(source));
    if (f == SQLITE)
        return query == NULL
                   ? refuse(err, DP_EINVAL, "%s", which)
                   : dp_table_read_sqlite(source, query, options, n_columns, columns, table, err);
    if (query != NULL)
        return refuse(err, DP_EINVAL, "--query is of databases, and %s is none; leave it out",
                      path_end(source));
    return f == NPY ? dp_table_read_npy(source, options, n_columns, columns, table, err)
                    : dp_table_read_csv(source, options, n_columns, columns, table, err);
}
