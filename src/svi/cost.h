/* What a run costs: its releases as mechanisms of the accountant. */
#ifndef DPI_SVI_COST_H
#define DPI_SVI_COST_H

#include <stddef.h>

#include <tacit/svi.h>

enum { DPI_COST_MOST = 2 };

/* The mechanisms of the first `steps` steps of a run with resolved options; returns how many, which
 * depends on the options alone.  One of several may have 0 steps so far. */
size_t dpi_cost_list(const dp_svi_opts *opts, uint64_t steps, dp_mechanism list[DPI_COST_MOST]);

/* Their epsilon at opts->delta, an upper bound; 0 for 0 steps.  Errors of dp_account_epsilon, and
 * *epsilon is +INFINITY then. */
dp_status dpi_cost_epsilon(const dp_svi_opts *opts, uint64_t steps, double *epsilon,
                           dp_error *err) DP_MUST_CHECK;

/* Sets opts->sigma so that the whole run costs at most opts->epsilon, within 2e-3 of it.
 * DP_EDOMAIN when the loss or the count of norms alone costs more, with the noise that would do;
 * errors of dp_calibrate_sigma. */
dp_status dpi_cost_calibrate(dp_svi_opts *opts, dp_error *err) DP_MUST_CHECK;

/* Noise on the count of norms in units of what one unit of privacy can change it by. */
double dpi_cost_count_sigma(const dp_svi_opts *opts);

#endif
