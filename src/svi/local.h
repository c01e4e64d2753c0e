/* Steps that each of several owners takes by itself before anything is opened
 * (dp_owners.local_steps). */
#ifndef DPI_SVI_LOCAL_H
#define DPI_SVI_LOCAL_H

#include <tacit/svi.h>

#include "svi/release.h"

/* What such a run has beside others. */
typedef struct dpi_local {
    uint64_t steps;     /* between two openings; 0: each step's gradient is opened */
    double units;       /* of all owners, as opened; 0: not yet */
    dpi_release opened; /* dpi_optimizer_numbers times units, and units; all else of it unused */
    unsigned char question[DP_OWNERS_QUESTION]; /* hash of what the round follows from */
} dpi_local;

/* One round of them: the steps after which it ends. */
typedef struct dpi_local_walk {
    uint64_t from, end;
} dpi_local_walk;

/* The next round of a run. */
dpi_local_walk dpi_local_next(const dp_svi *s);

/* Makes room for a run whose parameters are made.  DP_ENOMEM. */
dp_status dpi_local_init(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* Before the first of these steps: where nobody knows it yet, opens how many units all owners have.
 * Errors of owners->open. */
dp_status dpi_local_begin(dp_svi *s, dpi_local_walk *w, bool *finite, dp_error *err) DP_MUST_CHECK;

/* Hash of what a step follows from but for what this owner has come to by itself in the round,
 * which is a function of its records. */
void dpi_local_describe(const dp_svi *s, unsigned char question[DP_OWNERS_QUESTION]);

/* After the last of them: the mean of all owners' parameters, and of what moves remember, takes the
 * place of this one's.
 *   *finite  [in, out] whether this owner's are finite
 * DP_EPEER the number of all owners' units is not the one of the first opening; errors of
 * owners->open. */
dp_status dpi_local_open(dp_svi *s, const dpi_local_walk *w, bool *finite,
                         dp_error *err) DP_MUST_CHECK;

/* The share of all units that this owner has; 1 where each step's gradient is opened. */
double dpi_local_share(const dp_svi *s);

#endif
