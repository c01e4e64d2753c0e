/* What stands in a ledger, as structs, each row checked against its seal. */
#ifndef DPI_LEDGER_CONTENTS_H
#define DPI_LEDGER_CONTENTS_H

#include "base/alloc.h"
#include "ledger/hash.h"

enum { DPI_MOST_JUMPS = 64, DPI_MOST_LIST = 1000, DPI_MOST_NAME = 200, DPI_MOST_COLUMNS = 1000 };

/* A mechanism and its steps; mechanism.steps is what is reserved. */
typedef struct dpi_entry_part {
    dp_mechanism mechanism;
    uint64_t planned, begun;
} dpi_entry_part;

typedef struct dpi_entry {
    uint64_t id;
    int64_t data, made, settled;
    const char *label, *columns, *model;
    unsigned char print[DPI_HASH]; /* of the columns in memory; zeros: not known */
    unsigned char owner[DPI_TAG];  /* who may go on; zeros: nobody */
    dpi_entry_part *parts;         /* [n] */
    size_t n;
} dpi_entry;

typedef struct dpi_data {
    int64_t id, added, updated;
    const char *name, *path;
    unsigned char hash[DPI_HASH];
    dp_budget budget;
    bool overlap_allowed; /* when it was added, or in an update */
    dpi_entry *entries;   /* [n] */
    size_t n, capacity;
} dpi_data;

/* Everything, or one data set with its entries; owned by the arena. */
typedef struct dpi_contents {
    dpi_arena arena;
    dpi_data *data; /* [n] */
    size_t n, capacity;
    size_t n_entries; /* of all data sets that were read */
} dpi_contents;

/* Reads the data set `name`, or all for NULL.  To be called in a transaction.  A row that is not as
 * it was written is DP_EDATA; with `faults` not NULL it is left out, counted there and told to
 * `out` (nullable) instead.  An unknown name is DP_ENAME.  *contents is to be freed in any case. */
dp_status dpi_contents_read(dp_ledger *ledger, const char *name, dpi_contents *contents,
                            dp_error *err) DP_MUST_CHECK;
dp_status dpi_contents_survey(dp_ledger *ledger, dpi_contents *contents, FILE *out, size_t *faults,
                              dp_error *err) DP_MUST_CHECK;

/* Reads all, and finds the entry with this number and its data set; DP_EDATA there is none. */
dp_status dpi_contents_find(dp_ledger *ledger, uint64_t id, dpi_contents *present, dpi_data **data,
                            dpi_entry **entry, dp_error *err) DP_MUST_CHECK;

/* DP_EDATA unless the numbers of the rows of a table, "data" or "entry", run from 1, without gaps,
 * to the last that was given.  dpi_contents_read looks for itself. */
dp_status dpi_contents_count(dp_ledger *ledger, const char *table, dp_error *err) DP_MUST_CHECK;

void dpi_contents_free(dpi_contents *contents);

/* Writes a new row, in a transaction; ids are set. */
dp_status dpi_data_insert(dp_ledger *ledger, dpi_data *data, dp_error *err) DP_MUST_CHECK;
dp_status dpi_entry_insert(dp_ledger *ledger, dpi_entry *entry, dp_error *err) DP_MUST_CHECK;

/* Writes what may change: hash, path, time and overlap of data; times, owner and steps of an
 * entry. */
dp_status dpi_data_update(dp_ledger *ledger, const dpi_data *data, dp_error *err) DP_MUST_CHECK;
dp_status dpi_entry_update(dp_ledger *ledger, const dpi_entry *entry, dp_error *err) DP_MUST_CHECK;

#endif
