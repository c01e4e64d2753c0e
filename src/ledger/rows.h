/* Rows and the structs that they become. */
#ifndef DPI_LEDGER_ROWS_H
#define DPI_LEDGER_ROWS_H

#include "ledger/contents.h"

/* Numbers as 16 hexadecimal digits of their bits, exact and free of any locale. */
enum { DPI_REAL_TEXT = 17 };
void dpi_real_text(double value, char text[DPI_REAL_TEXT]);
bool dpi_real_parse(const char *text, double *value);

/* Read what the query's row holds.  False when a value is out of its range or memory is out (then
 * *nomem). */
bool dpi_data_row(dpi_query *q, dpi_arena *arena, dpi_data *data, bool *nomem);
bool dpi_entry_row(dpi_query *q, dpi_arena *arena, dpi_entry *entry, bool *nomem);
bool dpi_entry_part_row(dpi_query *q, dpi_arena *arena, dpi_entry_part *part, bool *nomem);

/* The columns that these read, in their order. */
extern const char dpi_data_columns[], dpi_entry_columns[], dpi_part_columns[];

/* Hashes of all that is in them. */
void dpi_data_seal(const dp_ledger *ledger, const dpi_data *data, unsigned char seal[DPI_HASH]);
void dpi_entry_seal(const dp_ledger *ledger, const dpi_entry *entry, unsigned char seal[DPI_HASH]);

/* A hash of what an admission rests on: what the data set is known by, its budget, and what its
 * entries cost; of `entry` (nullable), all that is in it.  Steps begun of others are left out,
 * which rise while they run. */
void dpi_data_version(const dp_ledger *ledger, const dpi_data *data, const dpi_entry *entry,
                      unsigned char version[DPI_HASH]);

#endif
