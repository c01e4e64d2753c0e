/* Checks of what a caller says: every field of a mechanism, epsilon and delta. */
#ifndef DPI_ACCOUNTANT_ANSWERS_CHECK_H
#define DPI_ACCOUNTANT_ANSWERS_CHECK_H

#include <stdbool.h>

#include <tacit/accountant.h>

/* DP_OK when all fields of `m` are in range and there is an account for it: dpi_pair_of answers or
 * runs out of memory.  DP_EDOMAIN a field is out of its domain, or belongs to another mechanism;
 * DP_EMISMATCH no account for this combination; DP_EACCURACY a field outside of what the engines
 * cover. */
dp_status dpi_check_mechanism(const dp_mechanism *m, dp_error *err);

/* Sampler, rate and number of releases alone. */
dp_status dpi_check_sampling(dp_sampling sampling, double rate, uint64_t steps, dp_error *err);

/* Finite and above 0, or 0 where that is allowed. */
dp_status dpi_check_epsilon(double epsilon, bool zero_allowed, dp_error *err);

/* In (0, 1), and not below DPI_LEAST_DELTA. */
dp_status dpi_check_delta(double delta, dp_error *err);

#endif
