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

/* The lower Cholesky factor, in square[2], of about the covariance of a density whose negated
 * second derivatives are in square[0]; spread[d] are numbers like its standard deviations.  Wipes
 * square[0], square[1] and room[d].  Each of square is [d][d].  Errors of dpi_matrix_eigen. */
dp_status dpi_curvature_factor(size_t d, const double *spread, double *const square[3],
                               double *room, dp_error *err) DP_MUST_CHECK;

#endif
