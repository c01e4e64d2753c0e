/* Clipped sums of the gradients of a chunk's records. */
#ifndef DPI_EXEC_CLIP_H
#define DPI_EXEC_CLIP_H

#include "exec/run.h"

/* After dpi_run_records(m): adds to sum[] the parts of each record, laid side by side in the order
 * of spec.parts, each record scaled so that its joint Euclidean norm is at most `clip` (INFINITY:
 * not scaled).  A record whose norm is not finite adds zero.  scratch[2 * chunk]; scratch[chunk +
 * r] is the factor of record r afterwards: 1 when its norm is at most `clip`, else less. */
void dpi_run_clip_sum(dpi_run *run, size_t m, double clip, double *scratch, double *sum);

/* The same for units of several records: the chunk's first rows[0] records are one unit, the next
 * rows[1] the next one, rows[] >= 1 and m in all.  A unit's records are added up before they are
 * clipped, in unit[], which has the length of sum[]; a unit's factor is where that of its first
 * record would be.  Where rows[] is 1 throughout the result is that of
 * dpi_run_clip_sum, to the bit. */
void dpi_run_clip_units(dpi_run *run, size_t n_units, const size_t *rows, double clip,
                        double *scratch, double *unit, double *sum);

/* Room for sums of `run`, a run in single precision, to go through chains of floats (chains.c);
 * without, and in double precision, where this does nothing, they are added up in double.
 * DP_ENOMEM. */
dp_status dpi_run_chains_new(dpi_run *run, dp_error *err) DP_MUST_CHECK;

/* To be called before the first records of n units in all, which are clipped to `clip`: chains are
 * as long as they may be for that. */
void dpi_run_chains_set(dpi_run *run, size_t n, double clip);

/* The two halves of dpi_run_clip_sum: the factors of m records, weight[m], from their norms, whose
 * squares go to norm2[m]; and one part's sum with them, of records first ... first + m - 1 by
 * weight[m], added to sum[]. */
void dpi_run_weights(dpi_run *run, size_t m, double clip, double *norm2, double *weight);
void dpi_run_add_part(const dpi_run *run, size_t part, size_t first, size_t m, const double *weight,
                      double *sum);

/* For a unit of more records than a chunk holds.  After dpi_run_records of at least first + m
 * records: adds to unit[] the parts of records first ... first + m - 1, not scaled. */
void dpi_run_add_rows(const dpi_run *run, size_t first, size_t m, double *unit);

/* The same of one part of record r alone. */
void dpi_run_add_row(const dpi_run *run, size_t part, size_t r, double *unit);

/* What unit[n] is scaled by so that its norm is at most `clip`; 0 when the norm, or the sum of
 * squares behind it, is not finite. */
double dpi_clip_weight(size_t n, const double *unit, double clip);

/* Adds unit[n] to sum[n], scaled so that its norm is at most `clip`; nothing when the norm, or the
 * sum of squares behind it, is not finite.  Returns the factor. */
double dpi_clip_add(size_t n, const double *unit, double clip, double *sum);

#endif
