/* Whether rounds agree with each other. */
#ifndef DPI_INFER_DRIFT_H
#define DPI_INFER_DRIFT_H

#include "infer/metric.h"

typedef struct dpi_trace {
    const dpi_metric *metric;
    const double *slope;   /* [d][d] of the sum of scores */
    const double *scores;  /* [rounds][d] as released, in theta's coordinates */
    const double *centres; /* [rounds][d] where they were made */
    size_t rounds;
    double noise;   /* variance of the noise in the metric's coordinates */
    double records; /* their number, as released */
} dpi_trace;

/* How far the halves of the rounds are apart, in standard deviations of what that would be by
 * noise; 0 for one round.  DP_ENOMEM. */
dp_status dpi_drift_of(const dpi_trace *t, double *drift, dp_error *err) DP_MUST_CHECK;

#endif
