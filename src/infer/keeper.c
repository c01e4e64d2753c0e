/* Sealed, counted, opened.
 *
 * The release is sealed in the journal first: should the process end there, nobody can read it, and
 * the next one makes it anew.  Then the ledger counts it, and only then its seal is opened, so that
 * the ledger has never fewer releases than anybody can read.  A process that ends between the two
 * leaves one counted that nobody can read; it stays spent, since the ledger cannot know that. */
#include "infer/keeper.h"

bool dpi_keeper_is_ahead(const dpi_keeper *k)
{
    return k != NULL && k->journal != NULL && dpi_journal_is_ahead(k->journal);
}

static dp_status count(dpi_keeper *k, dp_error *err)
{
    uint64_t begun[DPI_JOURNAL_PHASES];
    if (k->reservation == NULL)
        return DP_OK;
    for (uint64_t p = 0; p < DPI_JOURNAL_PHASES; p++)
        begun[p] = k->before[p] + dpi_journal_count_of(k->journal, p);
    dp_status status = dpi_reservation_here(k->reservation, err);
    return status == DP_OK ? dpi_reservation_mark(k->reservation, begun, err) : status;
}

dp_status dpi_keeper_keep(dpi_keeper *k, const dpi_journal_release *what, const double *numbers,
                          dp_error *err)
{
    if (k == NULL || k->journal == NULL)
        return DP_OK;
    dp_status status = dpi_journal_seal(k->journal, what, numbers, err);
    if (status == DP_OK)
        status = count(k, err);
    return status == DP_OK ? dpi_journal_open_seal(k->journal, err) : status;
}
