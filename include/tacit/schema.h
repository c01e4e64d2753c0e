/* What is public of a table, in a text file that a person writes and reads.
 *
 *   # contraception.schema
 *   use       level N Y
 *   age       real -20 .. 20 clamp
 *   livch     level 0 1 2 3+
 *   district  integer 1 .. 61
 *   records = 1934
 *
 * A line declares a column of tacit/table.h: its name, its kind and what it may hold.  What is
 * declared comes from public knowledge, a code book or a questionnaire, and never from the records.
 * doc/schema.md has the whole of it.
 *
 * Threads: a schema is const once it is made. */
#ifndef TACIT_SCHEMA_H
#define TACIT_SCHEMA_H

#include <stddef.h>
#include <stdio.h>

#include <tacit/status.h>
#include <tacit/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_schema dp_schema;

/* Reads a schema from a file, or from `size` bytes of text, borrowed for the call; `name` is what
 * messages call it.
 *   *schema  [out] owned by the caller (dp_schema_free); NULL on error
 * At most 1 MiB, 4096 columns, names and levels of at most 200 bytes.
 * DP_EDATA what is no schema, with file, line and a remedy; DP_EIO the file cannot be read;
 * DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_schema_load(const char *path, dp_schema **schema, dp_error *err);
DP_API DP_MUST_CHECK dp_status dp_schema_parse(const char *text, size_t size, const char *name,
                                               dp_schema **schema, dp_error *err);

/* Looks for everything that is wrong with a schema, where dp_schema_parse stops at the first.
 *   faults [most]  [out] in the order of lines, each with its message; *n [out] of them are there,
 *                  0 with DP_OK and DP_ENOMEM; most >= 1
 * DP_EDATA something is wrong; DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_schema_check(const char *text, size_t size, const char *name,
                                               size_t most, dp_error *faults, size_t *n);

/* What a schema is drafted from. */
typedef enum dp_draft_from {
    DP_DRAFT_CODEBOOK = 1, /* a CSV file that describes a column in each line */
    DP_DRAFT_PUBLIC        /* a table as CSV, whose records are public: a draft tells of them */
} dp_draft_from;

/* Writes the draft of a schema to `out`: what dp_schema_parse reads, with comments where somebody
 * must decide, and in comments the columns that cannot be declared yet, with the reason.  Fields
 * are separated by what is most frequent in the first line of , ; and tab.  doc/schema.md has the
 * rules.
 *   path  of at most 1 GiB      out  borrowed; nothing is written on any error
 * DP_EDATA the file is no CSV or no code book, or gives no column that can be declared; DP_EIO;
 * DP_ENOMEM.  Thread-safe. */
DP_API DP_MUST_CHECK dp_status dp_schema_draft(const char *path, dp_draft_from from, FILE *out,
                                               dp_error *err);

/* Frees the schema; NULL is allowed. */
DP_API void dp_schema_free(dp_schema *schema);

/* The columns in the order of the file, for dp_table_read_csv and dp_formula_parse; *n [out] of
 * them, at least 1.  They live as long as the schema, as do the next two. */
DP_API const dp_column *dp_schema_columns(const dp_schema *schema, size_t *n);

/* How the file of the records is written and what is done where a value is missing; limits are the
 * default ones. */
DP_API const dp_csv_options *dp_schema_csv(const dp_schema *schema);

/* Its text without comments, a line a column and one for each setting: equal schemas have equal
 * texts, and the text is read as the same schema again. */
DP_API const char *dp_schema_text(const dp_schema *schema);

/* How many records there are, where the schema says that this is public; else 0. */
DP_API size_t dp_schema_records(const dp_schema *schema);

#ifdef __cplusplus
}
#endif
#endif
