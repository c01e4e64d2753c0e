/* The certified bound of a checked mechanism, and the checks. */
#ifndef DPI_ACCOUNTANT_BOUND_H
#define DPI_ACCOUNTANT_BOUND_H

#include <tacit/accountant.h>

#include "accountant/grid.h"

/* DP_OK when the parts of `m` are in range and its sampling has an account. */
dp_status dpi_check_mechanism(const dp_mechanism *m, dp_error *err);
dp_status dpi_check_sampling(dp_sampling sampling, double rate, uint64_t steps, dp_error *err);
dp_status dpi_check_epsilon(double epsilon, bool zero_allowed, dp_error *err);
dp_status dpi_check_delta(double delta, dp_error *err);

/* Upper bound over both directions for a mechanism that passed the checks. */
dp_status dpi_bound(const dp_mechanism *m, dpi_query query, double *answer, dp_error *err);

/* Quick estimate of epsilon (saddle point; not certified), within some percent; NaN when memory is
 * out.  rate < 1. */
double dpi_estimate_epsilon(const dp_mechanism *m, double delta);

#endif
