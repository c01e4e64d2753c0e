/* The file of a ledger: connection, transactions, statements that remember their first error. */
#ifndef DPI_LEDGER_STORE_H
#define DPI_LEDGER_STORE_H

#include <sqlite3.h>
#include <stdbool.h>

#include <tacit/ledger.h>

#include "base/fork.h"

enum { DPI_KEY = 32, DPI_HASH = 32, DPI_TAG = 16 };

struct dp_ledger {
    sqlite3 *db;
    unsigned char key[DPI_KEY];      /* of all hashes */
    unsigned char identity[DPI_TAG]; /* which ledger this is, for checkpoints */
    dpi_fork *opener;                /* marks the process that opened it */
};

/* A status for what SQLite says, with a message about `doing`. */
dp_status dpi_store_fail(sqlite3 *db, int code, const char *doing, dp_error *err);

/* DP_ESTATE in a child of fork: SQLite's locks belong to the parent, and so do reservations. */
dp_status dpi_store_here(const dp_ledger *ledger, dp_error *err) DP_MUST_CHECK;

/* BEGIN IMMEDIATE: waits for other writers, at most a minute.  Every begin is followed by one end:
 * COMMIT when status is DP_OK, else ROLLBACK.  dpi_store_end gives the status of both. */
dp_status dpi_store_begin(dp_ledger *ledger, dp_error *err) DP_MUST_CHECK;
dp_status dpi_store_end(dp_ledger *ledger, dp_status status, dp_error *err) DP_MUST_CHECK;

/* A statement.  Values are bound in the order of the question marks; the first error of SQLite
 * stays and comes out at the end. */
typedef struct dpi_query {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int code, bound;
} dpi_query;

dpi_query dpi_query_new(dp_ledger *ledger, const char *sql);
void dpi_bind_number(dpi_query *q, int64_t value);
void dpi_bind_text(dpi_query *q, const char *text); /* nullable; must outlive the query */
void dpi_bind_bytes(dpi_query *q, const void *bytes, size_t n); /* NULL for NULL; likewise */

/* The next row, if any. */
bool dpi_query_row(dpi_query *q);

/* Columns of the row, from 0.  Bytes are copied; false (with zeros) unless there are just n. */
int64_t dpi_row_number(dpi_query *q, int column);
const char *dpi_row_text(dpi_query *q, int column); /* NULL for NULL; until the next row */
bool dpi_row_bytes(dpi_query *q, int column, void *out, size_t n);

/* Frees the statement and gives the first error of it. */
dp_status dpi_query_end(dpi_query *q, dp_error *err) DP_MUST_CHECK;

/* Runs a statement without rows. */
dp_status dpi_query_run(dpi_query *q, dp_error *err) DP_MUST_CHECK;

#endif
