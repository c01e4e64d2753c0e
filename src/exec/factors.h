/* Clipped sums of long releases in two passes.
 *
 *   keep   for each chunk of records: what the clipped gradients of outer products a b^T are made
 *          of, the weighted factors, is kept in a slot
 *   add    for each block of the release: the products of all slots
 *
 * So every number of the release is written once for many chunks, a block stays in cache, and
 * threads share out chunks in the first pass and blocks in the second. */
#ifndef DPI_EXEC_FACTORS_H
#define DPI_EXEC_FACTORS_H

#include "exec/run.h"

typedef struct dpi_factors dpi_factors;

/* Finds, while a run is made, which parts of its release are outer products of records' values, and
 * whether most numbers of it are; its decompositions are there.  False when memory is out. */
bool dpi_factors_find(dpi_run *run);

/* Whether they are. */
bool dpi_factors_pay(const dpi_run *run);

/* Whether the factors of a part are read as floats alone; while the run is made. */
bool dpi_factors_are_floats(const dpi_run *run, size_t part);

/* Room in `arena` for `slots` times `records` of run's records, each with n_extra numbers more.
 * DP_ENOMEM. */
dp_status dpi_factors_new(dpi_arena *arena, const dpi_run *run, size_t slots, size_t records,
                          size_t n_extra, dpi_factors **factors, dp_error *err) DP_MUST_CHECK;

/* How sums of n records are made in single precision: numbers of a chain of floats, or 0 where
 * doubles have to do.  A function of n and of the clip norm alone (factors.c). */
size_t dpi_factors_chain(const dpi_run *run, size_t n, double clip);

/* After dpi_run_records(m) of `run` or a clone of it: finds what the records' gradients are to be
 * clipped with, as dpi_run_clip_sum does; `chain` as above; scratch[2 * chunk] likewise. */
void dpi_factors_weigh(dpi_run *run, size_t m, double clip, size_t chain, double *scratch);

/* And fills a slot with those of records first ... first + m - 1, at most `records`.  What a slot
 * held is overwritten.  Slots may be filled by several threads at once. */
void dpi_factors_keep(dpi_factors *factors, const dpi_run *run, size_t first, size_t m,
                      size_t chain, const double *scratch, size_t slot);

/* The slot's extra[n_extra], zero after dpi_factors_keep. */
double *dpi_factors_extra(dpi_factors *factors, size_t slot);

/* Adds block number `block` of the slots 0 ... n_slots - 1, filled with the same `chain`, to sum[],
 * which starts from zero, whatever it holds, where `fresh`; extras come last.  lost[] has the
 * length of sum[]: what was lost to rounding, kept between calls; it may be NULL where one call
 * adds all.  Blocks may be added by several threads at once. */
void dpi_factors_add(dpi_factors *factors, size_t block, size_t n_slots, size_t chain, bool fresh,
                     double *sum, double *lost);
size_t dpi_factors_blocks(const dpi_factors *factors);

/* Overwrites the sums in all slots, the extras among them; what stays are values of records. */
void dpi_factors_wipe_sums(dpi_factors *factors);

/* Overwrites all slots. */
void dpi_factors_wipe(dpi_factors *factors);

#endif
