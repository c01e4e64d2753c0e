/* The clipped sum of a batch where the release is long. */
#ifndef DPI_SVI_WAVES_H
#define DPI_SVI_WAVES_H

#include "svi/sum.h"

/* Whether sums of s may be made in waves, by its objective and its units: then nothing else asks its
 * run for sums (dpi_run_spec.kept). */
bool dpi_waves_may(const dpi_summation *s);

/* Makes s->factors if sums of s, whose workers are there, are made in waves; else leaves it NULL.
 * DP_ENOMEM. */
dp_status dpi_waves_init(dpi_summation *s, dpi_arena *arena, dp_error *err) DP_MUST_CHECK;

/* Wipes what is kept of records. */
void dpi_waves_free(dpi_summation *s);

/* As dpi_sum_batch. */
dp_status dpi_sum_waves(dpi_summation *s, size_t size, const size_t *batch, double clip,
                        dp_error *err) DP_MUST_CHECK;

#endif
