/* Running a graph: buffers and calls of the nodes that are wanted, in three stages.
 *
 *   globals   what depends on no record
 *   records   what each record has, a chunk of records at a time
 *   late      what depends on sums over records or on inputs marked late
 *
 * A run is state: one for each thread, over a const graph.  Memory is fixed when it is made: one
 * value of each global node, `chunk` values of each per-record node, or fewer (strips.c).  No stage
 * allocates. */
#ifndef DPI_EXEC_RUN_H
#define DPI_EXEC_RUN_H

#include <tacit/random.h>

#include "data/dataset.h"
#include "exec/decomposition.h"
#include "graph/kernel.h"
#include "random/stream.h"

typedef struct dpi_run dpi_run;

/* A buffer of the caller's for the value of a global input, which outlives the run and its
 * clones. */
typedef struct dpi_lent {
    dpi_id node;
    double *value;
} dpi_lent;

typedef struct dpi_run_spec {
    const dpi_graph *graph;
    const dpi_id *wanted; /* nodes whose values are asked for */
    size_t n_wanted;
    const dpi_id *parts; /* per-record nodes for clip.h; made only if they must be */
    size_t n_parts;
    const dpi_lent *lent; /* read while the run is made; all other buffers are its own */
    size_t n_lent;
    const dp_dataset *data; /* bound to the data and index nodes; NULL when there are none */
    size_t chunk;           /* records at a time, >= 1 */
    dpi_choice choice;      /* of the parts' decompositions */
    bool single;            /* values of records are computed in single precision (single.c) */
    bool kept;        /* clipped sums are of single records, and by factors.h where they may */
    size_t tasks;     /* chunks at once, where most numbers of them are by factors; 0: one */
    size_t strip;     /* bytes of values in a strip (strips.c); 0: as caches are */
    bool all_columns; /* those of the graph that nothing wanted needs are checked too, if there */
} dpi_run_spec;

/* Makes a run.  Fails with DP_ENOMEM; DP_ENAME or DP_ESHAPE when a column is missing or has another
 * size; DP_EDATA when a value is not finite or a group number out of range. */
dp_status dpi_run_new(const dpi_run_spec *spec, dpi_run **run, dp_error *err) DP_MUST_CHECK;

/* A run for another thread: it reads the values of `run`'s global nodes and has its own of the
 * records' nodes.  Only dpi_run_records and the calls of clip.h are for it, between
 * dpi_run_globals and dpi_run_late of `run`, which must outlive it.  A run that sums values over
 * records has none (DP_EUNSUPPORTED); DP_ENOMEM. */
dp_status dpi_run_clone(const dpi_run *run, dpi_run **clone, dp_error *err) DP_MUST_CHECK;

void dpi_run_free(dpi_run *run);

/* ---- values (value.c) ---- */

/* How many numbers of a node can be written and read: its size, or chunk times that for a value of
 * records; 0 when the node is not part of the run, is made on the way to another one (taken.c), or
 * is a record's value that nobody has asked for: in single precision all that are neither wanted
 * nor inputs, columns too, else those that are kept for a strip of records only (strips.c). */
size_t dpi_run_numbers(const dpi_run *run, dpi_id id);

/* Numbers first ... first + n - 1 of a node's value, [size] or [chunk][size].  What the run does
 * not have aborts, as it does in the calls below; inputs are set by writing. */
void dpi_run_write(dpi_run *run, dpi_id id, size_t first, size_t n, const double *values);
void dpi_run_read(const dpi_run *run, dpi_id id, size_t first, size_t n, double *values);

/* Overwrites all numbers of a node, if there are any. */
void dpi_run_wipe(dpi_run *run, dpi_id id);

/* Sets an input to standard normal draws, for m records or, where it is global, m = 1. */
void dpi_run_normal(dpi_run *run, dpi_id id, size_t m, dp_rng *rng);

/* The same for records first ... first + m - 1 of the chunk from the source of noise, whole pairs
 * for each record: numbers are made in pairs (random/normal.c), whose two are independent but for
 * rounding, and records must be so exactly, since a record more or less moves those behind it to
 * other draws.  room[m][room of a record] where dpi_run_noise_room is not 0; wiped.  Errors of the
 * source, with NaN for the draws. */
dp_status dpi_run_noise(dpi_run *run, dpi_id id, size_t first, size_t m, dp_noise *noise,
                        double *room, dp_error *err) DP_MUST_CHECK;
size_t dpi_run_noise_room(const dpi_run *run, dpi_id id);

/* ---- running ---- */

/* Records at a time: spec.chunk, or some times that. */
size_t dpi_run_chunk(const dpi_run *run);

/* Bytes that it has from the system: its own buffers, calls and what belongs to them. */
size_t dpi_run_memory(const dpi_run *run);

void dpi_run_globals(dpi_run *run);

/* For who changes a lent buffer and has its numbers at hand: makes the floats of numbers first ...
 * first + n - 1 that records in single precision read, by any thread; and says that this was done
 * for all numbers of all lent buffers, so that the next dpi_run_globals need not.  Nothing in
 * double precision. */
void dpi_run_refresh(dpi_run *run, dpi_id node, size_t first, size_t n);
void dpi_run_refreshed(dpi_run *run);

/* Sets the sums over records to zero; call before the first chunk. */
void dpi_run_start_records(dpi_run *run);

/* Whether the run reads columns that are drawn (dp_dataset_bernoulli). */
bool dpi_run_draws(const dpi_run *run);

/* Draws for records first ... first + m - 1 of the next chunk what dpi_run_records then makes of
 * such columns; without a call the last draws serve again. */
void dpi_run_draw(dpi_run *run, size_t first, size_t m, dpi_stream *stream);

/* The same for m records with the draws that `other`, a run on the same data set, has made for its
 * columns; those that it does not read keep theirs. */
void dpi_run_draw_as(dpi_run *run, const dpi_run *other, size_t m);

/* Runs m <= chunk records: records index[0..m-1], or first ... first + m - 1 when index is NULL.
 * Per-record inputs must have been set for them. */
void dpi_run_records(dpi_run *run, size_t m, const size_t *index, size_t first);

void dpi_run_late(dpi_run *run);

#endif
