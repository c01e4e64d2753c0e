/* Sealed, counted, opened: a group of releases at a time.
 *
 * The group is sealed in the journal first: should the process end there, nobody can read it, and
 * the next one makes its releases anew.  Then the ledger counts them, and only then their seal is
 * opened, so that the ledger has never fewer releases than anybody can read.  A process that ends
 * between the two leaves some counted that nobody can read; they stay spent, since the ledger
 * cannot know that.
 *
 * Releases wait for their group in memory, and what this process computes from them does, too.
 * Nothing of that leaves it before they are kept (doc/design/resume.md): where the process ends, no
 * release was made. */
#define _POSIX_C_SOURCE 200809L
#include "infer/keeper.h"

#include <time.h>

#include "base/error.h"

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

/* Keeps those that wait. */
static dp_status keep_group(dpi_keeper *k)
{
    dp_error *err = &k->failed;
    dp_status status = err->status;
    if (status != DP_OK || dpi_journal_waiting(k->journal) == 0)
        return status;
    status = dpi_journal_seal(k->journal, err);
    if (status == DP_OK)
        status = count(k, err);
    if (status == DP_OK)
        status = dpi_journal_open_seal(k->journal, err);
    k->kept_at = now();
    return status;
}

/* Puts it to those that wait. */
static dp_status add(dpi_keeper *k, const dpi_journal_release *what, const double *numbers)
{
    dp_status status = dpi_journal_has_room(k->journal, what->n) ? k->failed.status : keep_group(k);
    return status == DP_OK ? dpi_journal_add(k->journal, what, numbers, &k->failed) : status;
}

dp_status dpi_keeper_keep(dpi_keeper *k, const dpi_journal_release *what, const double *numbers,
                          dp_error *err)
{
    if (k == NULL || k->journal == NULL)
        return DP_OK;
    dp_status status = add(k, what, numbers);
    if (status == DP_OK && !(now() - k->kept_at < k->pause))
        status = keep_group(k);
    return status == DP_OK ? status : dpi_fail(err, status, "%s", k->failed.text);
}

dp_status dpi_keeper_end(dpi_keeper *k, dp_status status, dp_error *err)
{
    dp_status kept = k->journal != NULL ? keep_group(k) : DP_OK;
    if (kept != DP_OK && err != NULL)
        *err = k->failed;
    return kept != DP_OK ? kept : status;
}
