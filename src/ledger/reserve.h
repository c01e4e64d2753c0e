/* Reservations with a counter: what a run that can be resumed needs.  See doc/design/ledger.md. */
#ifndef DPI_LEDGER_RESERVE_H
#define DPI_LEDGER_RESERVE_H

#include "ledger/contents.h"

/* What a run adds to dp_spending. */
typedef struct dpi_purpose {
    dp_spending spending;
    const char *model;       /* nullable: hash in hexadecimal digits */
    bool tells_size;         /* the number of records is public in the run's guarantee */
    const char *const *used; /* [n_used] columns of spending.records that are read */
    size_t n_used;
} dpi_purpose;

struct dp_reservation {
    dp_ledger *ledger;
    uint64_t id; /* of the entry */
    unsigned char owner[DPI_TAG];
    bool settled;
};

dp_status dpi_reserve(dp_ledger *ledger, const dpi_purpose *what, dp_reservation **reservation,
                      dp_error *err) DP_MUST_CHECK;

/* Takes over entry `id` for remaining[n] more steps of its n mechanisms (what.spending's data and
 * label are not read): columns, mechanisms but for their steps, and the model must be the same.
 * begun[n] [out] the steps that may have been begun so far; the new ones count from there.
 * DP_EMISMATCH, DP_EDATA the entry is not that of the run, or not as far. */
typedef struct dpi_resumption {
    uint64_t id;
    size_t n;
    const uint64_t *done;      /* [n] steps that the run knows of */
    const uint64_t *remaining; /* [n] */
    /* The step that was begun and is not among those done, one of all, is made again as it was: it
     * is among those that remain, and is not paid twice. */
    bool repeats;
} dpi_resumption;

dp_status dpi_reserve_again(dp_ledger *ledger, const dpi_resumption *entry, const dpi_purpose *what,
                            uint64_t *begun, dp_reservation **reservation,
                            dp_error *err) DP_MUST_CHECK;

/* Sets what may have been begun, begun[n]; at most what is reserved, and by the caller's word at
 * least what has been.  DP_EPRIVACY when another has taken over. */
dp_status dpi_reservation_mark(dp_reservation *r, const uint64_t *begun,
                               dp_error *err) DP_MUST_CHECK;

/* Writes the end of a run that has begun all it reserved. */
dp_status dpi_reservation_finish(dp_reservation *r, dp_error *err) DP_MUST_CHECK;

/* DP_ESTATE in a child of fork, which has no right to the steps. */
dp_status dpi_reservation_here(const dp_reservation *r, dp_error *err) DP_MUST_CHECK;

/* The entry's number. */
uint64_t dpi_reservation_id(const dp_reservation *r);

#endif
