/* A release as the bytes of a journal:
 *
 *   place, phase, n, rest, sigma   8 bytes each: public, or of options alone
 *   question [32], numbers [n]     under the key of its group
 *   hash [32]                      of all that and of the hash before it, under the key
 *
 * `rest` is how many of the group follow.  What a key hides differs from release to release of a
 * group by its place, which no other one of the journal has. */
#ifndef DPI_INFER_JOURNAL_RECORD_H
#define DPI_INFER_JOURNAL_RECORD_H

#include "infer/journal.h"

enum { DPI_JOURNAL_RECORD_KEY = 32, DPI_JOURNAL_RECORD_HEAD = 40 };

typedef struct dpi_journal_record {
    dpi_journal_release what; /* its question where the record is open */
    uint64_t place, rest;
    size_t size; /* bytes in all; 0: there is no such one */
} dpi_journal_record;

size_t dpi_journal_record_size(uint64_t n);

/* What stands before the key's part. */
void dpi_journal_record_head(const unsigned char *bytes, dpi_journal_record *r);

/* Writes one in the clear, without rest and hash; its size. */
size_t dpi_journal_record_put(unsigned char *bytes, uint64_t place, const dpi_journal_release *what,
                              const double *numbers);

/* Puts it under the key; chain: from the hash before to its own. */
void dpi_journal_record_seal(unsigned char *bytes, uint64_t rest,
                             const unsigned char key[DPI_JOURNAL_RECORD_KEY],
                             unsigned char chain[DPI_JOURNAL_HASH]);

/* The other way round, r having its head; false: something was changed. */
bool dpi_journal_record_open(unsigned char *bytes, const unsigned char key[DPI_JOURNAL_RECORD_KEY],
                             unsigned char chain[DPI_JOURNAL_HASH],
                             dpi_journal_record *r) DP_MUST_CHECK;

#endif
