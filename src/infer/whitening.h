/* The metric: found from scales, and turned by whitening. */
#ifndef DPI_INFER_WHITENING_H
#define DPI_INFER_WHITENING_H

#include "infer/rounds.h"

/* In place of infinity without privacy: releases are sums on a grid (scan.h), whose parts have norm
 * at most 1. */
#define DPI_NO_CLIP 4096.0

/* A question in the metric as it stands, for clip norm `clip`. */
dpi_inquiry dpi_rounds_query(const dpi_rounds *r, double clip);

/* Root mean square of the information of a coordinate, from histogram[DPI_SCALES] whose bins have
 * noise sd: of the three bins in a row that hold most, farther ones standing back where noise may
 * have filled them; `expected`, what a predictor of size 1 has, where noise could have filled all. */
double dpi_scale_from(const double *histogram, double sd, double expected);

/* The number of records, and the first metric.  Errors of passes. */
dp_status dpi_find_scales(dpi_rounds *r, dp_error *err) DP_MUST_CHECK;

/* The releases of a whitening stage: r->metric, r->information, r->told, r->left, r->signal.
 * DP_EPRIVACY where the budget is hopeless and that is not allowed. */
dp_status dpi_whiten_all(dpi_rounds *r, dpi_stage stage, dp_error *err) DP_MUST_CHECK;

#endif
