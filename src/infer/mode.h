/* The top of a log density, by its gradient. */
#ifndef DPI_INFER_MODE_H
#define DPI_INFER_MODE_H

#include "infer/nuts.h"

/* Climbs from z[n], which is where it ends.  *top [out] is the log density there; -INFINITY where
 * the start is outside.  A density without a top is climbed for `steps` steps.  DP_ENOMEM. */
dp_status dpi_climb(const dpi_target *target, size_t steps, double *z, double *top,
                    dp_error *err) DP_MUST_CHECK;

/* Minus the second derivatives at z[n] by central differences of the gradient, made symmetric;
 * spread[n] are the coordinates' scales.  False where a gradient is no number. */
bool dpi_curvature(const dpi_target *target, const double *z, const double *spread, double *room,
                   double *curvature /* [n][n] */);

#endif
