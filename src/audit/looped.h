/* The stage of an audit of whole fits by the loop (infer/loop.h): a small model, its records with
 * and without a canary, and what all releases of one fit tell of it. */
#ifndef DPI_AUDIT_LOOPED_H
#define DPI_AUDIT_LOOPED_H

#include <tacit/dataset.h>
#include <tacit/infer.h>
#include <tacit/model.h>

typedef struct dpi_looped {
    dp_model *model;
    dp_dataset *data[2]; /* without and with the canary */
} dpi_looped;

typedef struct dpi_looped_seen {
    double score;  /* log likelihood ratio of the canary */
    double square; /* of the distance between both worlds' sums, in standard deviations */
} dpi_looped_seen;

/* On failure it is empty.  DP_ENOMEM. */
dp_status dpi_looped_init(dpi_looped *q, dp_error *err) DP_MUST_CHECK;
void dpi_looped_free(dpi_looped *q);

/* One fit in one of the two worlds.  *privacy [out] is what it says of itself. */
dp_status dpi_looped_run(const dpi_looped *q, int world, const dp_fit_opts *opts,
                         dpi_looped_seen *seen, dp_privacy *privacy, dp_error *err) DP_MUST_CHECK;

#endif
