/* Drafts of schemas. */
#ifndef DPI_DATA_DRAFT_H
#define DPI_DATA_DRAFT_H

#include <tacit/schema.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "data/csv.h"

/* A draft that is being written.  The thread's locale is C meanwhile. */
typedef struct dpi_draft {
    dpi_bytes text;
    dpi_arena arena;    /* what ends with the draft */
    dpi_csv csv;        /* what it is made from, behind the header line */
    const char **names; /* [n] of columns that are declared or remarked on */
    size_t n, room, declared;
} dpi_draft;

/* Declares a column, unless its name stands already or is none, which is remarked; the comment is
 * NULL or behind it.  DP_ENOMEM. */
dp_status dpi_draft_column(dpi_draft *d, const dp_column *column, const char *comment,
                           dp_error *err) DP_MUST_CHECK;

/* A comment: why a column is not declared.  DP_ENOMEM. */
dp_status dpi_draft_remark(dpi_draft *d, const char *name, const char *why,
                           dp_error *err) DP_MUST_CHECK;

/* A comment line by a format. */
void dpi_draft_say(dpi_draft *d, const char *format, ...) DPI_PRINTF(2, 3);

/* The two kinds.  DP_EDATA what is read is broken; DP_ENOMEM. */
dp_status dpi_draft_codebook(dpi_draft *d, dp_error *err) DP_MUST_CHECK;
dp_status dpi_draft_records(dpi_draft *d, dp_error *err) DP_MUST_CHECK;

/* dp_schema_draft of a text that messages call `name`.  *draft [out] is freed by dpi_free. */
dp_status dpi_draft_text(const char *text, size_t size, const char *name, dp_draft_from from,
                         char **draft, dp_error *err) DP_MUST_CHECK;

#endif
