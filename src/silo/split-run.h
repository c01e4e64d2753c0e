/* One owner's part of split learning: steps of gradients with momentum, of which each owner has
 * those of its own parameters. */
#ifndef DPI_SILO_SPLIT_RUN_H
#define DPI_SILO_SPLIT_RUN_H

#include "silo/part.h"
#include "silo/post.h"
#include <tacit/split.h>

/* Public, and the same at both.  A step is of `batch` rows (0: of all), g the gradient of the mean
 * loss of these:
 *
 *   v = momentum v + g + ridge theta,   theta -= step v
 *
 * Rows are gone through in an order that is drawn anew for each pass over all of them, from the
 * seed; the last batch of a pass may be smaller. */
typedef struct dpi_split_terms {
    uint64_t steps, seed;
    size_t batch;
    double step, ridge, momentum;
} dpi_split_terms;

typedef struct dpi_split_run_opts {
    const dpi_split_terms *terms;
    const dpi_silo_part *part; /* checked */
    dpi_post *post;
    dp_split *half;
    size_t rows;         /* that both have, in the same order; 1 at least */
    const size_t *index; /* [rows] where the half's data have them */
} dpi_split_run_opts;

/* theta[numbers of the side]: where they start on entry, and after all steps.
 * DP_EACCURACY parameters left all numbers; DP_EPEER the other has sent what is no number;
 * DP_ETIMEOUT; DP_ENOMEM; DP_EUNSUPPORTED.  After an error theta is zeros. */
DP_MUST_CHECK dp_status dpi_split_run(const dpi_split_run_opts *opts, double *theta, dp_error *err);

#endif
