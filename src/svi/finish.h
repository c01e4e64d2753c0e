/* From the clipped sum of a batch to the next parameters. */
#ifndef DPI_SVI_FINISH_H
#define DPI_SVI_FINISH_H

#include "svi/svi.h"

/* Makes what this needs beside the optimiser; before the run, which reads parameters and release
 * where they are (dpi_finish_lent).  DP_ENOMEM. */
dp_status dpi_finish_init(dp_svi *s, dp_error *err) DP_MUST_CHECK;

/* Places in theta and release for nodes of the run: n_blocks of parameters, and n_parts of feeds
 * for DP_FORM_LATENTS.  NULL when memory is out. */
dpi_lent *dpi_finish_lent(const dpi_objective *o, double *theta, double *release, dpi_arena *arena,
                          size_t *n);

/* The standard deviation of the noise in the step at hand, of one owner's share where there are
 * several. */
double dpi_finish_sd(const dp_svi *s);

/* Turns the sum that dpi_sum_batch has left into the release and that into an estimate of the full
 * sum, pulls it back to the parameters and moves them.  *finite is false when they no longer all
 * are.
 *   mine  whether there is such a sum; where not, it is returned, and the other ranks of a group
 *         are told
 * Errors of dpi_release_begin, dpi_group_add and where releases are kept; the sum is wiped then,
 * and nothing has changed. */
dp_status dpi_finish(dp_svi *s, dp_status mine, bool *finite, dp_error *err) DP_MUST_CHECK;

/* A step up what no record is in: prior, entropy, and the factors that stand beside the prior.  Of
 * runs with a guide's parameters in pairs alone (factor.h).  *finite is false when the parameters
 * no longer all are. */
void dpi_finish_without_records(dp_svi *s, bool *finite);

#endif
