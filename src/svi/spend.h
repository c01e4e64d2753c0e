/* A run and its ledger: reserve before the first step, lease after a checkpoint, settle at the end.
 * All of it does nothing, and succeeds, for a run without a ledger. */
#ifndef DPI_SVI_SPEND_H
#define DPI_SVI_SPEND_H

#include "graph/graph.h"
#include "ledger/reserve.h"
#include "svi/checkpoint.h"

enum { DPI_SPEND_MOST = 2 }; /* mechanisms of a run */

typedef struct dpi_spend {
    dp_ledger *ledger;
    dp_reservation *reservation;     /* NULL: no ledger */
    uint64_t from;                   /* step at which this object took over */
    uint64_t before[DPI_SPEND_MOST]; /* steps of each mechanism begun up to then, lost ones too */
    uint64_t leased;                 /* steps of the run that the ledger knows as begun */
    uint64_t block;                  /* length of the next lease */
    double leased_at;                /* seconds; of the last one */
    bool resumed, closed;
} dpi_spend;

/* Says in *what which columns the graph reads: their names, the unit column last, and one text, in
 * the arena.  DP_ENOMEM. */
dp_status dpi_spend_columns(const dpi_graph *g, const dp_dataset *data, dpi_arena *arena,
                            dpi_purpose *what, dp_error *err) DP_MUST_CHECK;

struct dpi_svi_spec; /* svi.h */

/* Reserves all steps, or takes over the entry of spec->resume.  Options and objective are made; the
 * data have not been looked at but for their units. */
dp_status dpi_spend_open(dp_svi *s, const struct dpi_svi_spec *spec, dp_error *err) DP_MUST_CHECK;

/* The run could not be made: a new reservation is given back. */
void dpi_spend_cancel(dp_svi *s);

/* Before the step after the last one done.  DP_ESTATE when the run was settled, and in a child of
 * fork; DP_EPRIVACY when it goes on elsewhere; DP_EIO. */
dp_status dpi_spend_step(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* After the last step; what cannot be written then changes nothing that is spent. */
void dpi_spend_done(dp_svi *s);

/* Writes to the ledger that just the steps done have been begun. */
dp_status dpi_spend_save(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* Epsilon of what was begun under this entry, lost steps included, and the number of these steps;
 * where `resumed`, instead of that of the run's own steps. */
dp_status dpi_spend_epsilon(const dp_svi *s, double *epsilon, double *steps,
                            dp_error *err) DP_MUST_CHECK;

#endif
