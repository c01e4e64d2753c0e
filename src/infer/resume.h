/* Fits that go on: the journal is compared with what is asked, the ledger's entry taken over. */
#ifndef DPI_INFER_RESUME_H
#define DPI_INFER_RESUME_H

#include <tacit/infer.h>

#include "infer/keeper.h"

typedef struct dpi_resume {
    const dp_model *model;
    const dp_fit_opts *opts;  /* checked */
    const dp_mechanism *list; /* [n] the releases of each phase */
    size_t n;                 /* 1 ... DPI_JOURNAL_PHASES */
    uint64_t rounds;          /* releases of the phase that the fit is of */
    dpi_keeper *keeper;       /* its journal is the caller's to free, with dpi_journal_free */
    uint64_t random;          /* seed of what is no noise */
} dpi_resume;

/* Options of a journal and of a ledger together.  DP_EINVAL. */
dp_status dpi_resume_check(const dp_fit_opts *o, dp_error *err) DP_MUST_CHECK;

/* Where a fit goes on: opens its journal, and sets `random` to what it has; else draws it, or takes
 * the seed.  DP_EMISMATCH the journal is of another fit, DP_EPRIVACY of another ledger's; errors of
 * dpi_journal_open; DP_EENTROPY. */
dp_status dpi_resume_open(dpi_resume *r, dp_error *err) DP_MUST_CHECK;

/* Reserves, or takes over.  what->spending has all but data, label, list and n.  *reservation [out]
 * the caller's; NULL without a ledger.  Errors of dpi_reserve and dpi_reserve_again. */
dp_status dpi_resume_reserve(dpi_resume *r, dpi_purpose *what, dp_reservation **reservation,
                             dp_error *err) DP_MUST_CHECK;

/* Before the first release: makes the journal of a fit that begins.  Errors of dpi_journal_new. */
dp_status dpi_resume_begin(dpi_resume *r, dp_error *err) DP_MUST_CHECK;

#endif
