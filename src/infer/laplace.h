/* The shape of a posterior near a point, in which a sampler moves with long steps. */
#ifndef DPI_INFER_LAPLACE_H
#define DPI_INFER_LAPLACE_H

#include "infer/surrogate.h"

/* factor[d][d], lower, of about the covariance at z: (K + minus the second derivatives of the log
 * prior)^-1, mended where that is not positive.  spread[d] are the prior's standard deviations.
 * DP_EDOMAIN where K has a number that is not finite, DP_ENOMEM. */
dp_status dpi_laplace_factor(dpi_surrogate *s, const double *z, const double *spread,
                             double *factor, dp_error *err) DP_MUST_CHECK;

#endif
