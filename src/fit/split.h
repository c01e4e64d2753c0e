/* One side of a model that is cut in two. */
#ifndef DPI_FIT_SPLIT_H
#define DPI_FIT_SPLIT_H

#include <tacit/split.h>

#include "base/bytes.h"
#include "exec/run.h"
#include "model/objective.h"

struct dp_split {
    dpi_arena arena;
    dpi_objective o;
    size_t side, outcome, width;
    dpi_id cut, adjoint; /* adjoint: of features an input, of outcomes what is told */
    size_t *owner;       /* [n_blocks] */
    size_t numbers[DP_SPLIT_SIDES];
    size_t n_parts;
    dpi_id *part;          /* [n_parts] gradients of one's own blocks, of each record, */
    const dpi_block **of;  /* [n_parts] and these */
    size_t *at;            /* [n_parts] where they are among one's own numbers */
    dpi_run *ahead, *back; /* features: to the cut, and back; outcomes: back alone */
    double *scratch, *sum; /* [2 chunk], [numbers of the parts] */
    dpi_bytes image;       /* of the model */
    const dp_dataset *data;
};

/* Finds whose columns are whose, who has outcomes, the cut and its width, and whose parameters are
 * whose, in split->o, which is there.  Errors of dp_split_new. */
dp_status dpi_split_find(dp_split *split, const dp_split_opts *opts, dp_error *err) DP_MUST_CHECK;

#endif
