/* The clipped sum of a batch, on any number of threads. */
#ifndef DPI_SVI_SUM_H
#define DPI_SVI_SUM_H

#include "svi/svi.h"

/* A sum that waits for its turn. */
typedef struct dpi_parked {
    double *part;    /* [n_release]; NULL where there is no parking */
    bool full, last; /* of the batch */
} dpi_parked;

/* What one thread has of its own. */
struct dpi_worker {
    dpi_run *run;     /* the first worker's is the run itself, the others' are clones */
    double *scratch;  /* [2][chunk] */
    double *part;     /* [n_release] the clipped sum of a task; zero between tasks; NULL in waves */
    double *to;       /* where that of its task goes: part, or for the first task svi.sum */
    double score;     /* of the rows so far of a unit of several chunks; for extras.h */
    double *unit;     /* [n_release] the sum of a unit's rows; only where units have several */
    uint64_t dropped; /* units that added nothing, where svi.counts */
    dpi_parked parked[2]; /* room that all threads share */
    size_t *row;          /* [chunk] rows of a chunk, and */
    size_t *rows;         /* [chunk] how many each unit has; both as above */
};

/* Makes the workers of s, whose units, objective, run and chunk are there.  DP_ENOMEM. */
dp_status dpi_workers_init(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* Ends the threads and frees the workers' runs, after wiping what they hold of records.  Allowed
 * however far dpi_workers_init has come. */
void dpi_workers_free(dp_svi *s);

/* Draws the guide's noise of m records for a run, and what decides their drawn columns; the caller
 * sees to it that one thread at a time does. */
dp_status dpi_draw_records(dp_svi *s, dpi_run *run, size_t m, dp_error *err) DP_MUST_CHECK;

/* Makes the sum over `size` units of a batch, numbers batch[] or 0 ... size - 1 for NULL, of each
 * unit's gradient clipped to `clip`: it is s->sum, and where s->last is not NULL s->last more, to
 * which belongs s->lost where s->has_lost.  The same to the bit for any number of threads.  All of
 * these must be zero and NULL before, as dpi_finish leaves them.  s->dropped_now is how many units
 * added nothing, where they are counted.
 * Errors of the source of noise; they are wiped then. */
dp_status dpi_sum_batch(dp_svi *s, size_t size, const size_t *batch, double clip,
                        dp_error *err) DP_MUST_CHECK;

/* Counts, where s->counts, how many of n units of one row each add nothing, by their factors. */
void dpi_count_dropped(const dp_svi *s, dpi_worker *w, size_t n);

/* Overwrites all sums, after an error. */
void dpi_sum_wipe(dp_svi *s);

#endif
