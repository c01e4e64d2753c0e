/* Random allocation: in one epoch of t steps every record is in exactly one of them. */
#ifndef DPI_ACCOUNTANT_PAIRS_ALLOCATION_H
#define DPI_ACCOUNTANT_PAIRS_ALLOCATION_H

#include <stdint.h>

#include "accountant/pairs/pair.h"

#define DPI_ALLOCATION_LEAST_SIGMA 0.4
#define DPI_ALLOCATION_MOST_SIGMA 1000.0

/* The pair of one whole epoch of t >= 2 steps with noise sigma: add/remove of one record, as atoms
 * (base 0).  The upper pair dominates every adaptive epoch; the lower one is dominated by the
 * worst.
 *   least  P-mass that may be neglected, far below delta / epochs; 0: 1e-22
 *   *pair  [out] owned by the caller, freed with dpi_pair_free; all zero on errors
 * DP_EACCURACY sigma outside these or t above 1e6; DP_ENOMEM.  Takes 0.01 to 0.8 seconds. */
DP_MUST_CHECK dp_status dpi_allocation_pair(double sigma, uint64_t t, dpi_direction direction,
                                            dpi_side side, double least, dpi_pair *pair,
                                            dp_error *err);

#endif
