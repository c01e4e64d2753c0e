/* Records of a CSV text, one at a time. */
#ifndef DPI_DATA_CSV_H
#define DPI_DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

#include "base/alloc.h"

typedef struct dpi_csv {
    const char *name; /* of the source, for messages */
    const char *text; /* [size] not NUL-terminated; no NUL in it */
    size_t size;
    char separator;
    size_t max_line;
    size_t at, limit;    /* next byte; first byte that the current record may not reach */
    size_t line;         /* of the next byte, from 1 */
    size_t record_line;  /* where the current record begins */
    char *scratch;       /* the current record's fields, decoded, each NUL-terminated */
    const char **fields; /* [n_header] the current record's fields, in scratch */
    size_t n_fields;     /* fields of the current record; only the first n_header are stored */
    size_t n_header;     /* fields of the header line */
} dpi_csv;

/* Sets up the reader over csv->name, text, size, separator and max_line, which the caller has
 * filled in, and reads the header line into csv->fields, behind a byte order mark, which it takes
 * off the text.  Working memory comes from the arena.
 * DP_EDATA the text is empty or has a broken header; DP_ENOMEM. */
dp_status dpi_csv_open(dpi_csv *csv, dpi_arena *arena, dp_error *err);

/* Reads the next record into csv->fields; *found is false at the end of the text.
 * DP_EDATA the record is broken, too long or has not n_header fields. */
dp_status dpi_csv_next(dpi_csv *csv, bool *found, dp_error *err);

/* DP_EDATA: there is a NUL byte in that line. */
dp_status dpi_csv_nul(const dpi_csv *csv, size_t line, dp_error *err);

#endif
