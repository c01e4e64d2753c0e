/* What a fit says of itself: what was released in which phase, what its checks found, what it has
 * names for. */
#ifndef DPI_FIT_REPORT_H
#define DPI_FIT_REPORT_H

#include "fit/fit.h"

/* Copies phases and diagnostics of the parts into the fit.  DP_EINVAL one is none, DP_ENOMEM. */
dp_status dpi_report_copy(dp_fit *fit, const dpi_fit_parts *from, dp_error *err) DP_MUST_CHECK;

/* Lists what the fitted model and guide have names for, once they and the objective are there.
 * DP_ENOMEM. */
dp_status dpi_report_quantities(dp_fit *fit, dp_error *err) DP_MUST_CHECK;

#endif
