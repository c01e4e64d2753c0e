/* Keeping releases: the journal and, where there is one, the ledger, in an order in which no crash
 * makes a release that nobody counts. */
#ifndef DPI_INFER_KEEPER_H
#define DPI_INFER_KEEPER_H

#include "infer/journal.h"
#include "ledger/reserve.h"

typedef struct dpi_keeper {
    dpi_journal *journal;                /* NULL: nothing is kept */
    dp_reservation *reservation;         /* nullable, borrowed */
    uint64_t before[DPI_JOURNAL_PHASES]; /* begun by the ledger's account when this process took
                                          * over, less what the journal had then */
    bool seeded; /* the noise repeats, and goes on behind that of what was made before */
} dpi_keeper;

/* Whether the next release was made before; NULL and a keeper without a journal: no. */
bool dpi_keeper_is_ahead(const dpi_keeper *k);

/* Keeps a release that was just made and that nothing has seen; with DP_OK it is in the journal,
 * and counted.  Errors of the journal and of the ledger: DP_EPRIVACY where another process has
 * taken over. */
dp_status dpi_keeper_keep(dpi_keeper *k, const dpi_journal_release *what, const double *numbers,
                          dp_error *err) DP_MUST_CHECK;

#endif
