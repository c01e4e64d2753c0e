/* What a schema's text is made of. */
#ifndef DPI_DATA_SCHEMA_TEXT_H
#define DPI_DATA_SCHEMA_TEXT_H

#include <stdbool.h>

#include <tacit/schema.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { DPI_MOST_COLUMNS = 4096, DPI_MOST_SCHEMA = 1024 * 1024 };

struct dp_schema {
    dpi_arena arena;
    dp_column *column; /* [n] */
    size_t n, room;
    size_t records; /* 0: not told */
    dp_csv_options csv;
    const char *text;
};

/* A word of a line; in quotes it is never a sign or a keyword. */
typedef struct dpi_schema_word {
    const char *text;
    bool quoted;
} dpi_schema_word;

/* The reader of a text, and the line that it has read. */
typedef struct dpi_schema_lines {
    const char *at; /* what is left, `left` bytes, borrowed */
    size_t left;
    const char *file;      /* its name, for messages */
    size_t number;         /* of the line that was read last, from 1 */
    dpi_schema_word *word; /* [n] of that line */
    size_t n, room;
    dpi_arena *arena; /* of the words */
    dp_error *err;
} dpi_schema_lines;

/* Reads the next line with a word in it; *there is false at the end.  DP_EDATA a quote or a control
 * character that does not belong there; DP_ENOMEM. */
dp_status dpi_schema_next(dpi_schema_lines *l, bool *there) DP_MUST_CHECK;

/* DP_EDATA, with file and line in front and, unless NULL, the word that was found behind. */
dp_status dpi_schema_fail(const dpi_schema_lines *l, const char *what, const char *found);

/* Whether the word is this sign or keyword. */
bool dpi_schema_is(const dpi_schema_word *word, const char *text);

/* Appends the line of a column, without its end.  The thread's locale must be C. */
void dpi_schema_write_column(dpi_bytes *to, const dp_column *column);

/* Writes the schema's text from its columns and settings.  DP_ENOMEM. */
dp_status dpi_schema_write(dp_schema *schema, dp_error *err) DP_MUST_CHECK;

#endif
