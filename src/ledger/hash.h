/* Keyed hashes: of data, which tell a data set without telling what is in it to who lacks the key,
 * and of rows, which tell a row that has changed. */
#ifndef DPI_LEDGER_HASH_H
#define DPI_LEDGER_HASH_H

#include <sodium.h>

#include "data/dataset.h"
#include "ledger/store.h"

/* A hash under the ledger's key; `what` keeps hashes of different things apart. */
void dpi_hash_begin(crypto_generichash_state *h, const dp_ledger *ledger, const char *what);
void dpi_hash_number(crypto_generichash_state *h, uint64_t value);
void dpi_hash_real(crypto_generichash_state *h, double value);     /* its bits */
void dpi_hash_text(crypto_generichash_state *h, const char *text); /* nullable */
void dpi_hash_bytes(crypto_generichash_state *h, const void *bytes, size_t n);
void dpi_hash_end(crypto_generichash_state *h, unsigned char hash[DPI_HASH]);

/* Of a file's bytes.  DP_EIO. */
dp_status dpi_hash_file(const dp_ledger *ledger, const char *path, unsigned char hash[DPI_HASH],
                        dp_error *err) DP_MUST_CHECK;

/* Of a column: name, kind, numbers a record, records, values (the same on every machine). */
void dpi_hash_column(const dp_ledger *ledger, const dpi_column *column, size_t n,
                     unsigned char hash[DPI_HASH]);

#endif
