/* Tables of typed columns, read from CSV under a public schema.
 *
 * A schema says, before any record is seen, which columns are wanted, between which bounds their
 * numbers lie and which levels they may take.  All of it comes from public knowledge (a code book,
 * a questionnaire): a range, a list of categories or a type that is read off private records leaks
 * them.  What the schema does not name is not read.  A table is data, not a release: whoever holds
 * it holds the records.
 *
 * No message quotes anything that stands in the file, its first line included, because a file
 * without a header has a record there.  Whether reading fails, and on which line, does depend on
 * the records: messages are for the holder of the data.
 *
 * Threads: different tables may be used at the same time; one table by one thread at a time. */
#ifndef TACIT_TABLE_H
#define TACIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_table dp_table;

typedef enum dp_column_kind {
    DP_COLUMN_REAL = 1, /* a number in [low, high]; read with dp_table_real */
    DP_COLUMN_INTEGER,  /* a whole number low..high, as level 0..high - low; dp_table_level */
    DP_COLUMN_LEVEL,    /* one of `levels`, byte for byte, as its place there; dp_table_level */
    DP_COLUMN_UNIT      /* whom the record belongs to, any text, for dp_dataset_unit: records with
                         * the same text, blanks around it aside, have the same number, 0 for the
                         * first in the file, 1 for the next one, ...; dp_table_level */
} dp_column_kind;

/* One wanted column.  Everything is public and borrowed for the call only. */
typedef struct dp_column {
    const char *name;
    dp_column_kind kind;
    double low, high;          /* REAL, INTEGER: finite, low < high (INTEGER: both whole) */
    bool clamp;                /* REAL: a number outside becomes the nearer bound; else an error */
    const char *const *levels; /* [n_levels]  LEVEL: not empty, no two alike */
    size_t n_levels;           /* LEVEL: at least 1 */
} dp_column;

/* How a CSV file is written and how much of it is let in; zero means the default. */
typedef struct dp_csv_options {
    char separator;    /* ',' (default), ';' or '\t' */
    size_t max_bytes;  /* of the file; default 1 TiB, or half of what a size_t counts */
    size_t max_line;   /* bytes of one record, line end not counted; default 1 MiB */
    size_t max_rows;   /* default 2 thousand million */
    bool drop_missing; /* a record in which a wanted column is missing is passed over; else it is an
                        * error.  Each record stays or goes by itself alone, so that tables that
                        * differ by one unit more or less still do, or have become equal.  Not for
                        * batches of fixed size, where the number of units is public: this one is
                        * not */
    size_t threads;    /* that read at the same time; default 1.  Any number of them reads the
                          * same */
    bool unit_texts;   /* keep the texts of UNIT columns, for dp_table_text; in memory */
    const char *scratch; /* folder for columns beyond 256 MiB; borrowed for the call, its name is
                          * kept in the table.  They lie there in a file without a name that only
                          * its owner may read, mapped into memory as far as there is room.  It is
                          * gone when the table is freed or the process ends, but what was written
                          * stays on the medium until something else is written there, as with
                          * every file that is deleted: choose one that is protected as the file
                          * itself is.  NULL: all is kept in memory */
} dp_csv_options;

/* Reads the columns of a schema from a CSV file.
 *   options  nullable; borrowed         columns [n_columns]  the schema; borrowed
 *   *table   [out] owned by the caller (dp_table_free); NULL on any error
 * The format is RFC 4180: a header line with the names, LF or CRLF, fields with separators, line
 * ends or quotes in them quoted.  A UTF-8 byte order mark is skipped, empty lines at the end too.
 * A file that gzip has packed is unpacked as it is read; .max_bytes then counts what comes out.
 * Columns of the file that are not in the schema are passed over.  Numbers are decimal with a
 * point, whatever the locale, and may have blanks around them.  An empty field or NA is missing,
 * which is an error unless .drop_missing is set (NA is a level where the schema declares it).
 * Memory: the columns, 8 bytes a number and 4 a level, which .scratch takes where there are many;
 * some MiB a thread; for a UNIT column its texts and 24 bytes a record, while it is read.
 * DP_EIO the file cannot be read; DP_EDATA the text is broken, empty or too large, or a value is
 * missing or no number; DP_EDOMAIN a value is outside the schema; DP_ENAME the header lacks a
 * column or has it twice; DP_EINVAL the schema or an option is not allowed; DP_ENOMEM.
 * Messages give path, line, column and a remedy.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_table_read_csv(const char *path, const dp_csv_options *options,
                                                 size_t n_columns, const dp_column *columns,
                                                 dp_table **table, dp_error *err);

/* The same from memory: `size` bytes at `text`, borrowed for the call.  Never DP_EIO. */
DP_API DP_MUST_CHECK dp_status dp_table_parse_csv(const char *text, size_t size,
                                                  const dp_csv_options *options, size_t n_columns,
                                                  const dp_column *columns, dp_table **table,
                                                  dp_error *err);

/* The same from an NPY file of records, as numpy.save writes a structured array: one dimension,
 * fields with names, of f4, f8, i1 to i8, u1 to u8, b1 (0 and 1), S or U, little-endian.  Arrays of
 * numbers alone have no names and are refused.  NaN and empty texts are missing.  gzip may have
 * packed it.  .max_rows, .drop_missing and .scratch count. */
DP_API DP_MUST_CHECK dp_status dp_table_read_npy(const char *path, const dp_csv_options *options,
                                                 size_t n_columns, const dp_column *columns,
                                                 dp_table **table, dp_error *err);

/* The same from an SQLite database, by a query.
 *   query  one SELECT; its columns have the names of the schema's.  A record of the table is a row
 *          that it gives: what a fit protects is such a row, so that each must come of one person's
 *          records alone, as rows of joins with other people's, or of window functions, do not
 * NULL is missing; texts and numbers are taken, bytes (BLOB) are not.  Nothing is written, and what
 * is read is what the file's bytes say: where a journal stands beside it, or it changes meanwhile,
 * DP_EDATA.  .max_bytes (of the file), .max_rows, .drop_missing and .scratch count. */
DP_API DP_MUST_CHECK dp_status dp_table_read_sqlite(const char *path, const char *query,
                                                    const dp_csv_options *options, size_t n_columns,
                                                    const dp_column *columns, dp_table **table,
                                                    dp_error *err);

/* ---- from elsewhere ---- */

/* A value of a record: a text, or where that is NULL a number.  Missing are NaN and what is missing
 * in a CSV file. */
typedef struct dp_cell {
    const char *text;
    double number;
} dp_cell;

/* Takes records one by one, from wherever they come, and keeps their columns alone: for databases
 * and formats that this library does not read. */
typedef struct dp_table_builder dp_table_builder;

/* Begins a table.
 *   source   what messages call the source of the records; copied
 *   options  nullable; .max_rows, .drop_missing and .scratch count, the others are of CSV
 *   columns [n_columns]  the schema; borrowed until the builder is freed
 *   *builder  [out] owned by the caller (dp_table_builder_free); NULL on any error
 * DP_EINVAL, DP_ENAME the schema or an option is not allowed; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_table_builder_new(const char *source,
                                                    const dp_csv_options *options, size_t n_columns,
                                                    const dp_column *columns,
                                                    dp_table_builder **builder, dp_error *err);

/* Adds a record: cells [n_columns] in the order of the schema, borrowed for the call.  A text is
 * taken as a field of a CSV file would be; a number in a LEVEL or UNIT column is the text that it
 * is written as in the fewest digits: 1, 0.5.
 * Errors are those of dp_table_read_csv, of a record's number in place of its line; afterwards
 * the builder gives the same error again. */
DP_API DP_MUST_CHECK dp_status dp_table_builder_add(dp_table_builder *builder, const dp_cell *cells,
                                                    dp_error *err);

/* Ends the table, *table [out] owned by the caller (dp_table_free), NULL on any error; the builder
 * is then empty, and can only be freed.  DP_EDATA there is no record; DP_ENOMEM.
 * Memory: up to twice that of dp_table_read_csv. */
DP_API DP_MUST_CHECK dp_status dp_table_builder_finish(dp_table_builder *builder, dp_table **table,
                                                       dp_error *err);

/* NULL is allowed. */
DP_API void dp_table_builder_free(dp_table_builder *builder);

/* ---- what is in it ---- */

/* Frees the table with everything in it; NULL is allowed. */
DP_API void dp_table_free(dp_table *table);

/* Records in the table, at least 1. */
DP_API size_t dp_table_rows(const dp_table *table);

/* [dp_table_rows] numbers of a REAL column, in [low, high], in file order; borrowed from the table.
 * NULL when there is no such REAL column (DP_ENAME) or an earlier call on this table failed. */
DP_API const double *dp_table_real(dp_table *table, const char *name);

/* [dp_table_rows] levels 0..n_levels - 1 of a LEVEL or INTEGER column, or numbers of units of a
 * UNIT column; as dp_table_real. */
DP_API const int32_t *dp_table_level(dp_table *table, const char *name);

/* [dp_table_rows] texts of a UNIT column, blanks around them left out, of a table that was read
 * with .unit_texts; borrowed from the table.  NULL when there is no such column (DP_ENAME), its
 * texts were not kept (DP_ESTATE), or an earlier call on this table failed. */
DP_API const char *const *dp_table_text(dp_table *table, const char *name);

/* The declared number of levels of a LEVEL or INTEGER column, seen in the records or not; 0 where
 * dp_table_level gives NULL, and for a UNIT column, whose number of units nobody has declared. */
DP_API size_t dp_table_n_levels(dp_table *table, const char *name);

/* The first error of the calls on this table, DP_OK while there is none. */
DP_API dp_status dp_table_status(const dp_table *table);

/* Its message, NULL while there is none; borrowed from the table. */
DP_API const char *dp_table_error(const dp_table *table);

#ifdef __cplusplus
}
#endif
#endif
