/* The stage of an audit of one question that dp_fit_private asks all records: a small model, its
 * records with and without a canary, and releases of the answer. */
#ifndef DPI_AUDIT_ASKING_H
#define DPI_AUDIT_ASKING_H

#include <tacit/audit.h>

#include "infer/inquiries.h"

typedef struct dpi_asking {
    dpi_arena arena;
    dp_model *model;
    dpi_model_view view;
    dpi_metric metric;
    dpi_inquiry query;
    dpi_inquiry_kind kind;
    double *theta;       /* [d] where it is asked */
    dp_dataset *data[2]; /* without and with the canary */
    dp_noise *noise[2];
    dpi_scan scan[2];
    size_t n;      /* numbers of a release */
    double *out;   /* [n] scratch */
    double *mean;  /* [n] the sum without the canary, in standard deviations */
    double *shift; /* [n] what the canary adds to that */
} dpi_asking;

/* DP_AUDIT_SCALES and what follows. */
bool dpi_audit_asks(dp_audit_target target);

/* `sigma`: noise multiplier of a release; seed 0: noise that nobody can repeat.  On failure it is
 * empty.  DP_ENOMEM, DP_EENTROPY. */
dp_status dpi_asking_init(dpi_asking *q, dp_audit_target target, double sigma, uint64_t seed,
                          dp_error *err) DP_MUST_CHECK;
void dpi_asking_free(dpi_asking *q);

/* The log likelihood ratio of `steps` releases in one of the two worlds, scores[trials]. */
dp_status dpi_asking_run(dpi_asking *q, int world, double sigma, uint64_t steps, size_t trials,
                         double *scores, dp_error *err) DP_MUST_CHECK;

#endif
