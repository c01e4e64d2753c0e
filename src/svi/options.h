/* Options of a run: checked, completed with defaults, and matched with the accountant. */
#ifndef DPI_SVI_OPTIONS_H
#define DPI_SVI_OPTIONS_H

#include <tacit/svi.h>

/* Completes *opts for n records.  On return everything that has a default is set, rate is the
 * expected share of records in a step, and sigma is calibrated (0 without noise).  *epsilon is an
 * upper bound on what all steps cost, +INFINITY where nothing is accounted for. */
dp_status dpi_options_resolve(dp_svi_opts *opts, size_t n, double *epsilon,
                              dp_error *err) DP_MUST_CHECK;

/* Whether epsilon, or sigma instead, and delta can be a budget: DP_EDOMAIN, DP_EINVAL for both. */
dp_status dpi_options_budget(double epsilon, double delta, double sigma,
                             dp_error *err) DP_MUST_CHECK;

/* Whether what is said of a ledger comes with one: DP_EINVAL.  A name without would be believed to
 * be paid for. */
dp_status dpi_options_ledger(const dp_ledger *ledger, const char *data, const char *label,
                             dp_error *err) DP_MUST_CHECK;

#endif
