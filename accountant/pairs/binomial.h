/* Tails of the binomial distribution, rounded outward. */
#ifndef DPI_ACCOUNTANT_PAIRS_BINOMIAL_H
#define DPI_ACCOUNTANT_PAIRS_BINOMIAL_H

#include <stdint.h>

#include "accountant/pairs/pair.h"

/* Most trials. */
#define DPI_MAX_TRIALS 10000000000u

/* Pr(Bin(n, p) >= k), a bound on it from the given side, within 1e-8 relative of the smaller of it
 * and its complement, or 1e-290.  n at most DPI_MAX_TRIALS, 0 < p < 1. */
double dpi_binomial_tail(uint64_t n, double p, uint64_t k, dpi_side side);

#endif
