/* The clipped sum of a batch, on any number of threads. */
#ifndef DPI_SVI_SUM_H
#define DPI_SVI_SUM_H

#include "base/pool.h"
#include "data/unit.h"
#include "exec/factors.h"
#include "exec/run.h"
#include "model/objective.h"
#include "svi/extras.h"

/* Records of a task, and where this many numbers or more are released; and how many such tasks a
 * run takes at once in waves. */
enum {
    DPI_SVI_CHUNK = 256,
    DPI_SVI_LARGE_CHUNK = 64,
    DPI_SVI_LARGE_RELEASE = 50000,
    DPI_SVI_TASKS = 2
};

/* A sum that waits for its turn. */
typedef struct dpi_parked {
    double *part;    /* [n_release]; NULL where there is no parking */
    bool full, last; /* of the batch */
} dpi_parked;

/* What one thread has of its own. */
typedef struct dpi_worker {
    dpi_run *run;     /* the first worker's is the run itself, the others' are clones */
    double *scratch;  /* [2][rows] */
    double *part;     /* [n_release] the clipped sum of a task; zero between tasks; NULL in waves */
    double *to;       /* where that of its task goes: part, or for the first task summation.total */
    double score;     /* of the rows so far of a unit of several chunks; for extras.h */
    double *unit;     /* [n_release] the sum of a unit's rows; where units have several, or whole */
    uint64_t dropped; /* units that added nothing, where they are counted */
    dpi_parked parked[2]; /* room that all threads share */
    size_t *row;          /* [chunk] rows of a chunk, and */
    size_t *rows;         /* [chunk] how many each unit has; both as above */
} dpi_worker;

/* Sums of a run's batches: what they are made of, who makes them, and the last one. */
typedef struct dpi_summation {
    const dpi_objective *objective; /* this and what follows is the run's, and borrowed */
    const dpi_units *units;
    const dpi_extras *extras;
    dpi_run *run;
    dp_noise *noise; /* for draws of records */
    size_t chunk;    /* records of a task */
    size_t rows;     /* that a run has room for: a chunk, or some in waves */
    bool counts;     /* units that add nothing; without privacy only */
    bool draws;      /* the guide draws for records, or columns are drawn */
    bool whole;      /* sums are whole numbers of steps of the release's grid (exec/whole.h) */
    double steps;    /* of which so many are in 1, in the step at hand */
    dpi_pool *pool;  /* NULL: one thread */
    dpi_worker *workers;
    size_t n_workers;
    double *pairs; /* [chunk][odd + 1] draws of records that have an odd number of them; or NULL */
    dpi_factors *factors; /* of long releases (waves.h), else NULL */
    /* [n_release] the clipped sum; zero between steps, as is what belongs to it.  Where releases
     * are long it is made in `place`, which others have between steps, where there is one. */
    double *total, *place;
    double *lost; /* [n_release] what adding tasks to it has lost to rounding, where has_lost */
    double *last; /* [n_release] of a worker: the last task's sum, still to be added; or NULL */
    bool has_lost;
    uint64_t dropped; /* units of the last batch that added nothing, where they are counted */
} dpi_summation;

/* Makes what s has of its own; what is borrowed is there, but for noise, and so are chunk and
 * counts.  `threads` that sums are made on.  DP_ENOMEM. */
dp_status dpi_summation_init(dpi_summation *s, size_t threads, dpi_arena *arena,
                             dp_error *err) DP_MUST_CHECK;

/* Bytes of the runs of its threads. */
size_t dpi_summation_bytes(const dpi_summation *s);

/* Ends the threads and frees the workers' runs, after wiping what they hold of records.  Allowed
 * however far dpi_summation_init has come. */
void dpi_summation_free(dpi_summation *s);

/* Draws the guide's noise of records first ... first + m - 1 for a run, m at most a chunk, and what
 * decides their drawn columns; the caller sees to it that one thread at a time does. */
dp_status dpi_draw_records(dpi_summation *s, dpi_run *run, size_t first, size_t m,
                           dp_error *err) DP_MUST_CHECK;

/* Makes the sum over `size` units of a batch, numbers batch[] or 0 ... size - 1 for NULL, of each
 * unit's gradient clipped to `clip`: it is s->total, and where s->last is not NULL s->last more, to
 * which belongs s->lost where s->has_lost.  The same to the bit for any number of threads.  All of
 * these must be zero and NULL before, as dpi_finish leaves them, but for s->place.
 * Errors of the source of noise; they are wiped then. */
dp_status dpi_sum_batch(dpi_summation *s, size_t size, const size_t *batch, double clip,
                        dp_error *err) DP_MUST_CHECK;

/* Counts, where s->counts, how many of n units of one row each add nothing, by their factors. */
void dpi_count_dropped(const dpi_summation *s, dpi_worker *w, size_t n);

/* Overwrites all sums, after an error. */
void dpi_sum_wipe(dpi_summation *s);

#endif
