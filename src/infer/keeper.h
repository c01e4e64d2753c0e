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
    bool seeded;     /* the noise repeats, and goes on behind that of what was made before */
    double pause;    /* seconds between two groups, of releases that nobody but this process sees
                      * before its call ends; 0: each is one by itself */
    double kept_at;  /* when the last group was */
    dp_error failed; /* the first one: nothing is kept any more */
} dpi_keeper;

/* Whether the next release was made before; NULL and a keeper without a journal: no. */
bool dpi_keeper_is_ahead(const dpi_keeper *k);

/* Keeps a release that was just made and that nothing has seen.  With DP_OK it is in the journal,
 * and counted; where there is a pause it may be so only after dpi_keeper_end, until which it must
 * not leave this process, nor anything that follows from it.  Errors of the journal and of the
 * ledger: DP_EPRIVACY where another process has taken over. */
dp_status dpi_keeper_keep(dpi_keeper *k, const dpi_journal_release *what, const double *numbers,
                          dp_error *err) DP_MUST_CHECK;

/* After the last release, and before anything is told of why there is no other: `status` and its
 * message in err, where all is kept, or else the error of keeping instead. */
dp_status dpi_keeper_end(dpi_keeper *k, dp_status status, dp_error *err) DP_MUST_CHECK;

#endif
