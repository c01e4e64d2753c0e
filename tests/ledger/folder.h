/* A folder of its own for a test, with a ledger and data files. */
#ifndef TESTS_LEDGER_FOLDER_H
#define TESTS_LEDGER_FOLDER_H

#include <tacit/ledger.h>

/* Makes the folder and remembers it; removes it with all files in it. */
int folder_make(void **state);
int folder_remove(void **state);

/* The path of a file there; valid until the eighth call after this one. */
const char *folder_path(const char *name);

void folder_write(const char *name, const char *text);

/* A new ledger "ledger" with the file "data.csv" as data set "d", add or remove, at delta 1e-6. */
dp_ledger *folder_ledger(double epsilon);

/* `steps` full batches of Gaussian noise sigma. */
dp_mechanism gaussian(double sigma, uint64_t steps);

/* Reserves m in "d", which must succeed; tries to, and frees what was reserved; what "d" has spent,
 * from above. */
dp_reservation *reserve(dp_ledger *ledger, dp_mechanism m);
dp_status try_reserve(dp_ledger *ledger, dp_mechanism m, dp_error *err) DP_MUST_CHECK;
double spent(dp_ledger *ledger);

/* Of the second data set, "records": its entries and what is spent; of the first entry, whether it
 * is settled, and the releases that it has reserved and begun. */
typedef struct folder_entry {
    size_t n;
    bool settled;
    uint64_t reserved, begun;
    double spent;
} folder_entry;

folder_entry folder_look(dp_ledger *ledger);

/* Runs SQL on the ledger behind its back. */
void folder_sql(const char *sql);

#endif
